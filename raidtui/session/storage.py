"""The desk of whoever changes storage from the screen: surveys, jobs begun, followed, and found again."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.reading import Reading, ReadingScope
from raidtui.host.roots.root import Root
from raidtui.jobs import journal
from raidtui.jobs.lock import JobError, worker_of
from raidtui.jobs.spawn import begin_job, cancel, start_worker
from raidtui.jobs.states import FINAL, UNFINISHED, JobState
from raidtui.jobs.store import all_jobs, find_job
from raidtui.model.array import Array
from raidtui.model.plan import Plan
from raidtui.model.snapshot import Snapshot
from raidtui.plans.shell_script import shell_script

_RECENT = 40
_MOST_SCRIPTS = 99


class JobNews(Struct, frozen=True, kw_only=True):
    """What a job's journal says beyond what was seen.

    Args:
        entries: the new entries.
        state: ``running`` while it runs, also before its worker has started.
    """

    entries: tuple[Mapping[str, Any], ...]
    state: JobState = JobState.RUNNING


_OF_MEMBERS = frozenset({"fail", "remove", "locate"})
_EXAMINED = frozenset({"add", "re-add", "replace", "grow-chunk"})
_OF_ALL = frozenset({"assemble", "zero-superblock"})
_ASKED = frozenset({"add", "create", "fail", "re-add", "remove", "replace"})
_WITHOUT_MDADM = frozenset({"check", "locate", "read-only", "read-write", "rename", "repair", "stop"})


def scope_of(
    verb: str, array: Array | None = None, names: Collection[str] = (), *, on_top: bool = False
) -> ReadingScope:
    """Return what a verb has to know of the host: no device is read that it does not concern.

    Args:
        verb: as in ``raidtui plan``.
        array: what it is done to.
        names: kernel names of the devices that were given.
        on_top: whether something is put on a new array.
    """
    members = tuple(member.name for member in array.members) if array is not None else ()
    of_members = verb in _OF_MEMBERS
    closely = () if of_members else (*(members if verb in _EXAMINED else ()), *names)
    return ReadingScope(
        closely=tuple(dict.fromkeys(closely)),
        lightly=tuple(dict.fromkeys((*members, *names))) if of_members else (),
        everything=verb in _OF_ALL,
        parts=verb in _EXAMINED or verb == "create",
        mdadm=verb not in _WITHOUT_MDADM,
        on_top=on_top,
        wear=verb in _ASKED,
    )


def form_scope(verb: str, array: Array | None, snapshot: Snapshot) -> ReadingScope:
    """Return the same for a form: it offers all devices, and reads again what is chosen."""
    if verb == "build":
        arrays = tuple(each.name for each in snapshot.arrays)  # they could join the new one's volume group
        return ReadingScope(everything=True, closely=arrays, digests=False, on_top=True, wear=True)
    scope = replace(scope_of(verb, array), digests=False)
    return replace(scope, everything=True) if verb in {"add", "replace"} else scope


def read(
    root: Root, snapshot: Snapshot, scope: ReadingScope, *, told: Callable[[], None] = lambda: None
) -> Reading:
    """Return what reads what a plan is made from; it is not begun yet."""
    from raidtui.wear.survey_wear import PlanAsker  # noqa: PLC0415  (jobs are asked about at the start, disks are not)

    return Reading(root, snapshot, scope, told=told, asker=PlanAsker() if scope.wear else None)


def begin(root: Root, plan: Plan) -> str:
    """Make a job of a plan and start its worker; return the job's id.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if not root.live:
        raise JobError("the simulated host has no jobs: there is nothing to change here")
    return begin_job(plan, host=root.hostname or "").id


def again(job_id: str, *, back: bool) -> int:
    """Let a job go on, or undo what it has done; return how many entries its journal had before.

    Raises:
        JobError: another job is running.
    """
    job = find_job(job_id)
    before = len(job.entries())
    start_worker(job, back=back)
    return before


def news(job_id: str, since: int, begun_after: int = 0) -> JobNews:
    """Return what a job has noted since, and how it ended, if it has.

    Args:
        job_id: the job.
        since: how many entries to pass over.
        begun_after: how many entries there were before the worker was started whose end is waited for.
    """
    job = find_job(job_id)
    running = worker_of(job.folder.parent) == job.id
    entries = job.entries()
    begun = any(each.get("event") in {"work", "not begun"} for each in entries[begun_after:])
    last = next((str(each.get("event")) for each in reversed(entries) if each.get("event") != "output"), "")
    if not begun:
        state = JobState.RUNNING
    elif last in FINAL or (last == JobState.GOES_ON and job.is_followed):
        state = JobState(last)
    else:
        state = JobState.RUNNING if running else job.state
    return JobNews(entries=tuple(entries[since:]), state=state)


def new_uuid() -> str:
    """Return a UUID for a new array, in mdadm's form."""
    return canonical_uuid(uuid.uuid4().hex) or ""


def new_file_system_uuid() -> str:
    """Return a UUID for a new file system, in the usual form."""
    return str(uuid.uuid4())


def state_trouble() -> str:
    """See to the owner and mode of the state folder; return what is wrong with it, or ""."""
    return journal.state_trouble()


def stop_job(job_id: str) -> None:
    """Ask a job to end after its present step.

    Raises:
        JobError: it is not running.
    """
    cancel(find_job(job_id))


def unfinished() -> tuple[tuple[str, JobState, str], ...]:
    """Return (id, state, title) of the jobs that run, or were interrupted."""
    found = []
    for job in all_jobs()[-20:]:
        state = job.state
        if state in UNFINISHED:
            title = next((str(e.get("title", "")) for e in job.entries() if e.get("event") == "made"), "")
            found.append((job.id, state, title))
    return tuple(found)


class JobLine(Struct, frozen=True, kw_only=True):
    """A job in the list of jobs.

    Args:
        id: the job's.
        state: as ``Job.state``.
        title: of its plan.
        made_s: epoch seconds; None where its journal does not say.
    """

    id: str
    state: JobState
    title: str
    made_s: float | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing is left to do about it."""
        return self.state not in UNFINISHED


def recent() -> tuple[JobLine, ...]:
    """Return the last jobs: those that run, or want something, first; then the newest first."""
    found = []
    for job in reversed(all_jobs()[-_RECENT:]):
        made = next((entry for entry in job.entries() if entry.get("event") == "made"), {})
        at = made.get("at_s")
        found.append(
            JobLine(
                id=job.id,
                state=job.state,
                title=str(made.get("title", "")),
                made_s=float(at) if isinstance(at, int | float) else None,
            )
        )
    return tuple(sorted(found, key=lambda each: each.ended))


def save_script(plan: Plan) -> str:
    """Write a plan as a shell script into a new file in the current folder; return its path.

    What is there already stays as it is, whoever it belongs to: the next free name is taken.

    Raises:
        OSError: it cannot be written.
    """
    words = "".join(char if char.isalnum() else "-" for char in plan.title.lower()).strip("-")[:40]
    data = shell_script(plan).encode("utf-8")
    for number in range(1, _MOST_SCRIPTS + 1):
        path = Path.cwd() / f"raidtui-{words}{'' if number == 1 else f'-{number}'}.sh"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o700)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o700)
            file.write(data)
        return str(path)
    raise FileExistsError(
        errno.EEXIST, f"{_MOST_SCRIPTS} scripts of this name are there already", str(path.parent)
    )
