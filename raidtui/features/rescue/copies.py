"""Copies of disks that fail: ddrescue's map file, the jobs, their worker, and what a front end asks for.

GNU ddrescue manual, "Mapfile structure": a line of the current position, then lines of position, size and
status.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from raidtui.features.rescue.copy_plan import CopyRequest, ImageFile
from raidtui.features.rescue.mdadm_words import FOLDER
from raidtui.features.rescue.records import MadeCopy
from raidtui.features.rescue.trial.trials import free_bytes
from raidtui.host.block import DiskReader
from raidtui.host.maps import read_loops
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import tool_path
from raidtui.jobs.job_kinds import COPY_FILE
from raidtui.jobs.lock import JobError
from raidtui.jobs.patient_tool import run_patiently
from raidtui.jobs.spawn import begin_with, refuse_busy
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs, jobs_folder
from raidtui.jobs.worker import Worker
from raidtui.model.disk import Disk
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, Step
from raidtui.model.survey import Survey
from raidtui.view.units import binary_size, counted

_KEPT = "what was copied is kept, and resuming continues there"


class CopyProgress(Struct, frozen=True, kw_only=True):
    """How far a copy is.

    Args:
        read_bytes: how much has been copied.
        bad_bytes: how much could not be read.
        bad_places: in how many places that lies.
        left_bytes: how much has not been tried to its end.
    """

    read_bytes: int = 0
    bad_bytes: int = 0
    bad_places: int = 0
    left_bytes: int = 0

    @property
    def percent(self) -> int:
        """How much has been copied, of 100, rounded down."""
        whole = self.read_bytes + self.bad_bytes + self.left_bytes
        return self.read_bytes * 100 // whole if whole else 0

    @property
    def words(self) -> str:
        """The progress in one line."""
        parts = [f"{self.percent} % copied, {binary_size(self.read_bytes)}"]
        if self.bad_bytes:
            places = counted(self.bad_places, "place")
            parts.append(f"{binary_size(self.bad_bytes)} in {places} could not be read")
        return "; ".join(parts)


def read_map(text: str) -> CopyProgress | None:
    """Return the progress that a map file records, or None where it is none."""
    rows = [line.split() for line in text.split("\n") if line and not line.startswith("#")]
    read = bad = left = places = 0
    for row in rows[1:]:
        try:
            size, status = int(row[1], 16), row[2]
        except (IndexError, ValueError):
            return None
        if status == "+":
            read += size
        elif status == "-":
            bad += size
            places += 1
        else:
            left += size
    if not rows:
        return None
    return CopyProgress(read_bytes=read, bad_bytes=bad, bad_places=places, left_bytes=left)


def find_other_source(map_path: str, identity: str) -> str:
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


def find_known_copies(reader: HostReader, survey: Survey) -> Mapping[str, MadeCopy]:
    """Return the copies that are here, by the kernel's name of the copy; of each, the newest job counts.

    Disks are known by their serial numbers, those without one by their name in this boot. An image file
    counts as the loop device that is set up on it.
    """
    loops = {file: name for name, file in read_loops(reader).items() if file}
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
            copied = read_progress(map_path)
            found[target] = MadeCopy(
                source=_now(survey, step, plan.devices[0]),
                complete=job.state is JobState.DONE,
                bad_bytes=copied.bad_bytes if copied is not None else None,
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


def begin_copy(reader: HostReader, plan: Plan) -> Job:
    """Make a job of a copy, and start its worker.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    refuse_busy(jobs_folder())
    return begin_with(plan, host=reader.hostname or "", name=COPY_FILE, data=b"{}\n")


class CopyWorker(Worker):
    """Works on a copy."""

    def _do(self, step: Step) -> str:
        if step.argv[:1] != ("ddrescue",):
            return super()._do(step)
        reported = -1

        def asked() -> bool:
            nonlocal reported
            found = read_progress(step.argv[-1])
            if found is not None and found.percent != reported:
                reported = found.percent
                self._job.note(event="output", text=f"{found.words}\n")
            return self._cancelled

        end = run_patiently(step.argv, self._job.folder / "ddrescue.txt", asked, gently=True)
        if end.status == 0:
            found = read_progress(step.argv[-1])
            self._say(found.words if found is not None else "nothing is known of the copy")
            return ""
        why = end.why or f"ddrescue failed ({end.status})"
        said = end.tail.rpartition("\n")[2]
        return f"{why}: {said}" if said and not end.why else why

    def _end(self, state: JobState, *, reason: str = "") -> JobState:
        if self._cancelled and state is JobState.FAILED:
            return super()._end(JobState.CANCELLED, reason=_KEPT)
        return super()._end(state, reason=reason)


def read_progress(map_path: str) -> CopyProgress | None:
    """Return how far a copy is, by its map file; None where there is none yet."""
    try:
        return read_map(Path(map_path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def copy_request(
    reader: HostReader, source: str, target: str, path: str = "", map_path: str = ""
) -> CopyRequest:
    """Return a copy, as the host has it now.

    Args:
        reader: the host.
        source: a kernel name.
        target: the kernel name of the target; one that no device has stands for the file ``path``.
        path: a file to copy to.
        map_path: ddrescue's map file; "" for the usual one.
    """
    disks = DiskReader(reader).read({source, target})
    found: str | ImageFile = target
    if target not in disks:
        real = os.path.realpath(path)
        found = ImageFile(path=real, room_bytes=free_bytes(str(Path(real).parent)), there=Path(real).exists())
    known = [_known(disks, name) for name in (source, target)]
    usual = f"{FOLDER}/{known[0]}-to-{known[1]}.map" if all(known) else ""
    usual = usual if isinstance(found, str) else f"{found.path}.map"
    map_path = os.path.realpath(map_path) if map_path else usual
    return CopyRequest(
        source=source,
        target=found,
        map_path=map_path,
        map_there=bool(map_path) and Path(map_path).exists(),
        other=find_other_source(map_path, disks[source].identity if source in disks else ""),
        installed=tool_path("ddrescue") is not None,
    )


def start_copy(reader: HostReader, plan: Plan) -> str:
    """Make a job of a copy, start it, and return the job's id.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if not reader.live:
        raise JobError("a simulated or captured host cannot be copied")
    return begin_copy(reader, plan).id


def _known(disks: Mapping[str, Disk], name: str) -> str:
    """Return what a device is known by at the next boot, too; "" where its disk has no serial number."""
    disk = disks.get(name)
    words = f"{disk.identity} {name.removeprefix(disk.disk)}" if disk is not None and disk.identity else ""
    return "".join(char if char.isalnum() else "-" for char in words.strip())
