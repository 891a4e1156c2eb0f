"""Changing storage from a front end: reading what plans are made from; starting, following, listing jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.opening import open_root
from raidtui.host.reading import Reading, ReadingScope
from raidtui.jobs import journal
from raidtui.jobs.lock import JobError, worker_of
from raidtui.jobs.new_files import create_file, free_path
from raidtui.jobs.spawn import begin_job, cancel, start_worker
from raidtui.jobs.states import FINAL, UNFINISHED, JobState
from raidtui.jobs.store import JobLine, all_jobs, find_job, foreign_jobs
from raidtui.jobs.waiting import JobWait, wait_of
from raidtui.model.array import Array
from raidtui.model.plan import Plan
from raidtui.model.snapshot import Snapshot
from raidtui.plans.shell_script import shell_script

_RECENT = 40
_MOST_SCRIPTS = 99


class JobNews(Struct, frozen=True, kw_only=True):
    """The new entries of a job's journal, and the job's state.

    Args:
        entries: the new entries.
        state: ``running`` while it runs, also before its worker has started.
        wait: what it waits for, if it does.
        backs: whether it has done steps that can be undone, and none that has no way back.
        destroyed: whether a step that destroys was begun.
    """

    entries: tuple[Mapping[str, Any], ...]
    state: JobState = JobState.RUNNING
    wait: JobWait | None = None
    backs: bool = False
    destroyed: bool = False


_OF_MEMBERS = frozenset({"fail", "remove", "locate"})
_EXAMINED = frozenset({"add", "convert", "grow", "grow-chunk", "journal", "re-add", "replace", "shrink"})
_OF_ALL = frozenset({"assemble", "zero-superblock"})
_ASKED = frozenset({"add", "convert", "create", "fail", "grow", "journal", "re-add", "remove", "replace"})
_WITHOUT_MDADM = frozenset({"check", "locate", "read-only", "read-write", "rename", "repair", "stop"})


def scope_of(
    verb: str, array: Array | None = None, names: Collection[str] = (), *, on_top: bool = False
) -> ReadingScope:
    """Return what a verb has to know of the host. A device that it does not concern is not read.

    Args:
        verb: as in ``raidtui plan``.
        array: its array, if it has one.
        names: kernel names of the devices it is given.
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
    """Return the same for a form, which offers all devices and reads the chosen one again."""
    if verb == "build":
        arrays = tuple(each.name for each in snapshot.arrays)  # they could join the new one's volume group
        return ReadingScope(everything=True, closely=arrays, digests=False, on_top=True, wear=True)
    scope = replace(scope_of(verb, array), digests=False)
    return replace(scope, everything=True) if verb in {"add", "grow", "replace"} else scope


def reading_of(
    reader: HostReader, snapshot: Snapshot, scope: ReadingScope, *, notify: Callable[[], None] = lambda: None
) -> Reading:
    """Return the reading that a plan is made from. It is not started yet."""
    from raidtui.monitor.wear.survey_wear import PlanAsker  # noqa: PLC0415  (the start asks for jobs, not for disks)

    return Reading(reader, snapshot, scope, notify=notify, asker=PlanAsker() if scope.wear else None)


def start_job(reader: HostReader, plan: Plan) -> str:
    """Make a job of a plan, start its worker, and return the job's id.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if not reader.live:
        raise JobError("a simulated or captured host is never changed")
    return begin_job(plan, host=reader.hostname or "").id


def restart_job(job_id: str, *, back: bool) -> int:
    """Resume a job, or roll it back; return how many entries its journal had before.

    Raises:
        JobError: another job is running.
    """
    job = find_job(job_id)
    before = len(job.entries())
    start_worker(job, back=back)
    return before


def job_news(job_id: str, since: int, begun_after: int = 0) -> JobNews:
    """Return the entries of a job's journal beyond the first ``since``, and the job's state.

    Args:
        job_id: the job.
        since: how many entries were seen.
        begun_after: how many entries there were before the worker was started that is waited for.
    """
    job = find_job(job_id)
    running = worker_of(job.folder.parent) == job.id
    entries = job.entries()
    begun = any(each.get("event") in {"work", "not begun"} for each in entries[begun_after:])
    last = next((str(each.get("event")) for each in reversed(entries) if each.get("event") != "output"), "")
    if not begun:
        state = JobState.RUNNING
    elif last == JobState.NOT_BEGUN and any(each.get("event") == "work" for each in entries):
        state = job.state  # a worker too many changes nothing about how it ended
    elif last in FINAL or (last == JobState.GOES_ON and job.is_followed):
        state = JobState(last)
    else:
        state = JobState.RUNNING if running else job.state
    wait = wait_of(open_root(), job) if state is JobState.GOES_ON else None
    may = state is not JobState.RUNNING and (state is not JobState.DONE or job.command == "jobs")
    backs = may and job.goes_back
    begun_steps = {each["step"] for each in entries if each.get("event") == "begin"}
    destroyed = any(job.plan.steps[number].destroys for number in begun_steps) if begun_steps else False
    return JobNews(entries=tuple(entries[since:]), state=state, wait=wait, backs=backs, destroyed=destroyed)


def new_uuid() -> str:
    """Return a UUID for a new array, in mdadm's form."""
    return canonical_uuid(uuid.uuid4().hex) or ""


def new_file_system_uuid() -> str:
    """Return a UUID for a new file system, in the usual form."""
    return str(uuid.uuid4())


def state_trouble() -> str:
    """Correct the mode of the state folder; return its trouble, or ""."""
    return journal.state_trouble()


def cancel_job(job_id: str) -> None:
    """Ask a job to end after the step it is at.

    Raises:
        JobError: it is not running.
    """
    cancel(find_job(job_id))


def unfinished_jobs() -> tuple[JobLine, ...]:
    """Return the recent jobs that are running or need attention, oldest first."""
    lines = (job.line for job in all_jobs()[-_RECENT:])
    return tuple(line for line in lines if line.state in UNFINISHED)


def opening_words() -> tuple[str, ...]:
    """Return what a console says of the past as it opens, the most important last.

    That is trouble with the state folder, and an unfinished job.
    """
    found = [trouble] if (trouble := state_trouble()) else []
    if jobs := unfinished_jobs():
        found.append(f"{jobs[-1].title} {jobs[-1].state.sentence}; J shows it")
    return tuple(found)


def recent_jobs() -> tuple[JobLine, ...]:
    """Return the recent jobs: unfinished ones first, then the newest first, then those of other users."""
    lines = (job.line for job in reversed(all_jobs()[-_RECENT:]))
    return (*sorted(lines, key=lambda line: line.state not in UNFINISHED), *foreign_jobs())


def save_script(plan: Plan) -> str:
    """Write a plan as a shell script into a new file in the current folder; return its path.

    A file of that name is left as it is, and the next free name is used.

    Raises:
        OSError: it cannot be written.
    """
    words = "".join(char if char.isalnum() else "-" for char in plan.title.lower()).strip("-")[:40]
    path = free_path(Path.cwd(), f"raidtui-{words}", "sh")
    with create_file(path, 0o700) as file:
        file.write(shell_script(plan).encode("utf-8"))
    return str(path)
