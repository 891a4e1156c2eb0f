"""Copies as jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from raidtui.features.rescue.copying.copy_map import read_map
from raidtui.features.rescue.records import MadeCopy
from raidtui.host.maps import read_loops
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import COPY_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_with, refuse_busy
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs, jobs_folder
from raidtui.model.plan import FactKind, Plan, Step
from raidtui.model.survey import Survey


def other_source(map_path: str, identity: str) -> str:
    """Return the disk that an earlier copy with this map file has read, where it is another one; else "".

    Args:
        map_path: the map file.
        identity: the serial number or WWN of the disk that is to be read; "" where it is not known.
    """
    for job in reversed(all_jobs()):
        if not (job.folder / COPY_FILE).is_file():
            continue
        plan = job.plan
        if not any(step.argv[:1] == ("ddrescue",) and step.argv[-1] == map_path for step in plan.steps):
            continue
        facts = (fact for step in plan.steps for fact in step.needs)
        serials = {
            fact.value for fact in facts if fact.kind is FactKind.SERIAL and fact.subject == plan.subject
        }
        if serials == ({identity} if identity else set()):
            return ""
        return f"{plan.subject} ({', '.join(serials) or 'without serial number'})"
    return ""


def known_copies(root: HostReader, survey: Survey) -> Mapping[str, MadeCopy]:
    """Return the copies that are here, by the kernel's name of the copy; of each, the newest job counts.

    Disks are known by their serial numbers, those without one by their name in this boot. An image file
    counts as the loop device that is set up on it.
    """
    loops = {file: name for name, file in read_loops(root).items() if file}
    found: dict[str, MadeCopy] = {}
    for job in reversed(all_jobs()):
        if not (job.folder / COPY_FILE).is_file():
            continue
        try:
            plan = job.plan
        except JobError:
            continue
        step = next((step for step in plan.steps if step.argv[:1] == ("ddrescue",)), None)
        if step is None:
            continue
        *_, image, map_path = step.argv
        target = loops.get(image, "") if len(plan.devices) == 1 else _now(survey, step, plan.devices[1])
        if target and target not in found:
            found[target] = MadeCopy(
                source=_now(survey, step, plan.devices[0]),
                complete=job.state is JobState.DONE,
                bad_bytes=_bad_bytes(map_path),
            )
    return found


def _now(survey: Survey, step: Step, name: str) -> str:
    """Return what a device of a step is called now; "" where it is not here, or cannot be identified."""
    known = {fact.kind: fact.value for fact in step.needs if fact.subject == name}
    serial, seen = known.get(FactKind.SERIAL), known.get(FactKind.APPEARANCE)
    here = [
        device.disk.name
        for device in survey.devices.values()
        if str(device.disk.size_bytes) == known.get(FactKind.SIZE)
        and (device.disk.identity == serial if serial else device.appearance == seen)
    ]
    return name if name in here and (serial or seen) else here[0] if len(here) == 1 and serial else ""


def _bad_bytes(map_path: str) -> int | None:
    try:
        found = read_map(Path(map_path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found.bad_bytes if found is not None else None


def begin_copy(root: HostReader, plan: Plan) -> Job:
    """Make a job of a copy, and start its worker.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    refuse_busy(jobs_folder())
    return begin_with(plan, host=root.hostname or "", name=COPY_FILE, data=b"{}\n")
