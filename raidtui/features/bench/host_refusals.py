"""What this host cannot measure now, and why: a capture, the demo, fio and its sandbox, noise."""

from __future__ import annotations

from raidtui.features.bench.place import is_simulated
from raidtui.features.bench.request import FieldRefusal, Request
from raidtui.features.bench.run.fio_process import read_fio_version, refuse_fio
from raidtui.features.bench.run.quiet import noise
from raidtui.features.bench.schedule import Schedule
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.sandbox import NOT_KNOWN, PARTS, missing_parts
from raidtui.model.plan import Refusal, RefusalCode


def refuse_host(root: HostReader, request: Request) -> Refusal | None:
    """Return why nothing can be measured on a host; on the demo host, why it is not simulated; or None."""
    if root.live:
        return refuse_fio(read_fio_version(root)) or _refuse_sandbox(request.conditions.without)
    if not is_simulated(root):
        return Refusal(
            code=RefusalCode.NOT_HERE,
            why="a capture is read-only",
            remedy="leave --root and --demo out",
        )
    if request.job_file or request.scratch or request.write:
        parts = ("job_file", "scratch", "write")
        return FieldRefusal(
            code=RefusalCode.NOT_HERE,
            part=next(part for part in parts if getattr(request, part)),
            why="the demo host is simulated: it plays what fio does in a folder, or what only reads a device",
            remedy="choose a folder, and a preset or a workload",
        )
    conditions = request.conditions
    for part, wanted in (
        ("trim", conditions.trim),
        ("cool", conditions.cool_s > 0),
        ("precondition", conditions.precondition > 0),
        ("steady", conditions.steady),
    ):
        if wanted:
            return FieldRefusal(
                code=RefusalCode.NOT_HERE,
                part=part,
                why="the demo host is simulated: it plays the runs, and nothing before or between them",
                remedy="leave this as it was",
            )
    return None


def _refuse_sandbox(without: tuple[str, ...]) -> Refusal | None:
    """Return why fio cannot be started without root's powers here, or None."""
    lost = {name: why for name, why in missing_parts().items() if name not in without}
    if not lost or {*PARTS} <= {*without}:
        return None
    apart = "kept apart from the rest of this host"
    if NOT_KNOWN in lost:
        why = f"it is not known whether fio can be {apart}: {lost[NOT_KNOWN]}"
        return Refusal(code=RefusalCode.NOT_HERE, why=why, remedy="try again; the host may be too busy now")
    reasons = "; ".join(f"{name}: {why}" for name, why in lost.items())
    return Refusal(
        code=RefusalCode.NOT_HERE,
        why=f"fio cannot be {apart} ({reasons})",
        remedy=f"to run it with more of root's powers: --fio-without={','.join(lost)}",
    )


def refuse_engine(root: HostReader, schedule: Schedule) -> Refusal | None:
    """Return why io_uring cannot be used by the user that fio is, or None."""
    works = [schedule.work_at(point) for point in schedule.points]
    wanted = any(work is not None and work.engine == "io_uring" for work in works)
    if not wanted and "ioengine=io_uring\n" not in (schedule.job_file.text if schedule.job_file else ""):
        return None
    if root.text("/proc/sys/kernel/io_uring_disabled") in {None, "0"}:
        return None
    return FieldRefusal(
        code=RefusalCode.NOT_HERE,
        part="engine",
        why="io_uring is disabled on this host (kernel.io_uring_disabled)",
        remedy="choose libaio",
    )


def refuse_noise(root: HostReader, schedule: Schedule) -> Refusal | None:
    """Return a refusal where other activity would distort the figures, or None."""
    if not schedule.conditions.quiet_check or is_simulated(root):  # the model counts what else is done
        return None
    found = noise(root, schedule.place)
    if not found:
        return None
    return FieldRefusal(
        code=RefusalCode.BUSY,
        part="quiet",
        why=f"the machine is not quiet: {', '.join(found)}",
        remedy="wait until it is, or measure in any case: --no-quiet-check",
        form_remedy="wait until it is, or choose no at only if quiet",
    )
