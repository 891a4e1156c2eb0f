"""Jobs on disk: a folder each, with the plan, the journal, the output of tools, and the black box."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from raidtui.jobs.job_journal import JobJournal
from raidtui.jobs.job_kinds import COMMANDS, NOT_UNDONE, RUN_BESIDE
from raidtui.jobs.journal import journal_path
from raidtui.jobs.lock import JobError, boot_id, process_of, refuse_folder, started_s, worker_of
from raidtui.jobs.plan_file import load_plan, save_plan
from raidtui.jobs.state_files import (
    PRIVATE_MODE,
    own_folder,
    read_own,
    refuse_foreign,
    sync_folder,
    write_synced,
)
from raidtui.jobs.states import AGAIN_EVENT, CANCEL_EVENT, ENDED, NO_WAY_BACK, JobState
from raidtui.model.plan import Plan

if TYPE_CHECKING:
    import psutil

_Form = TypeVar("_Form")
_TURNS = ENDED | {CANCEL_EVENT, AGAIN_EVENT}
_ENDS = ENDED | {JobState.GOES_ON}
_STAMP = len("20261123-070549")


def jobs_folder() -> Path:
    """Return the folder of all jobs."""
    return journal_path().parent / "jobs"


class JobLine(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a list of jobs.

    Args:
        id: the job's.
        state: its state.
        title: its plan's; of one that is not trusted, why.
        who: the person who made it.
        made_s: when it was made, epoch seconds; 0 where its journal does not say.
    """

    id: str
    state: JobState
    title: str = ""
    who: str = ""
    made_s: float = 0.0


class Job(JobJournal):
    """One job.

    Args:
        folder: its folder; the name is the job's id.
    """

    @classmethod
    def create(cls, plan: Plan, *, host: str, folder: Path | None = None) -> Job:
        """Create a job of a plan on disk.

        Raises:
            JobError: it cannot be written. Nothing is left of it.
        """
        parent = folder or jobs_folder()
        data = save_plan(plan, host=host, made_s=time.time())
        place: Path | None = None
        try:
            if folder is None:
                own_folder(parent.parent)
            own_folder(parent, PRIVATE_MODE)
            place = _new_place(parent, plan)
            job = cls(place)
            (place / "output.log").touch(mode=0o600)
            job.note(event="made", title=plan.title, subject=plan.subject)
            job.reserve_room(_steps(plan))
            write_synced(place / "plan.json", data)  # last: a folder with it is a job
            sync_folder(parent)  # else the folder may be missing after a crash
        except OSError as error:
            if place is not None:
                shutil.rmtree(place, ignore_errors=True)
            raise JobError(
                f"a job cannot be created in {parent}: {error.strerror}; nothing was started"
            ) from error
        return job

    @property
    def id(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def keep(self, name: str, data: bytes) -> None:
        """Write a file beside the plan, durably.

        Raises:
            OSError: it cannot be written.
        """
        write_synced(self.folder / name, data)

    def kept(self, name: str, form: type[_Form]) -> _Form:
        """Return what a file beside the plan holds, as JSON.

        Raises:
            JobError: it cannot be read.
        """
        try:
            return msgspec.json.decode(read_own(self.folder / name), type=form)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise JobError(f"{name} of job {self.id} cannot be read: {error}") from error

    def kept_or_none(self, name: str, form: type[_Form]) -> _Form | None:
        """Return what a file beside the plan holds, as JSON; None where it cannot be read."""
        try:
            return self.kept(name, form)
        except JobError:
            return None

    def discard(self) -> None:
        """Remove the job. Its worker was never started."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def command(self) -> str:
        """The subcommand whose ``work`` carries it out: jobs, bench or rescue."""
        return next((name for file, name in COMMANDS.items() if (self.folder / file).is_file()), "jobs")

    @property
    def runs_beside(self) -> bool:
        """Whether it changes nothing of storage, so that others need not wait for it."""
        return any((self.folder / file).is_file() for file in RUN_BESIDE)

    @property
    def plan(self) -> Plan:
        """The plan.

        Raises:
            JobError: it cannot be read.
        """
        try:
            return load_plan(read_own(self.folder / "plan.json")).plan
        except OSError as error:
            raise JobError(f"job {self.id} has no plan: {error.strerror}") from error

    def keep_room(self) -> None:
        """Reserve room for the journal, if none is reserved.

        Raises:
            JobError: there is no room, or the plan cannot be read.
        """
        if (self.folder / "room").exists():
            return
        try:
            self.reserve_room(_steps(self.plan))
        except OSError as error:
            (self.folder / "room").unlink(missing_ok=True)
            why = (
                f"there is no room for the journal of job {self.id} in {self.folder.parent}: {error.strerror}"
            )
            raise JobError(f"{why}; make room there first; nothing was started") from error

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """Mark the job as followed, while md finishes what the steps have started. The lock is not held.

        Raises:
            OSError: the file cannot be opened.
        """
        descriptor = os.open(self.folder / "follower", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)  # the next follower may start before this one ends
            yield
        finally:
            os.close(descriptor)

    @property
    def is_followed(self) -> bool:
        """Whether a worker follows what md has yet to finish."""
        with contextlib.suppress(OSError):
            descriptor = os.open(self.folder / "follower", os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
            finally:
                os.close(descriptor)
        return False

    @property
    def state(self) -> JobState:
        """The state, from the journal and from whether the worker lives."""
        entries = self.entries()
        last = next((each["event"] for each in reversed(entries) if each["event"] in _ENDS), None)
        began = max((i for i, each in enumerate(entries) if each["event"] in {"work", "made"}), default=0)
        ended = max((i for i, each in enumerate(entries) if each["event"] in _ENDS), default=-1)
        if last is not None and ended > began:
            state = JobState(last)
            lost = state is JobState.GOES_ON and not self.is_followed
            return JobState.INTERRUPTED if lost else state
        if worker_of(self.folder.parent) == self.id:
            return JobState.RUNNING
        if any(each["event"] == "work" for each in entries):
            # If someone has removed the lock file, its worker still holds it.
            return JobState.RUNNING if self.worker() is not None else JobState.INTERRUPTED
        # Two were applied at once. The plan of the later one may not fit the host any more.
        late = any(each["event"] == "not begun" and each.get("busy") for each in entries)
        return JobState.NOT_BEGUN if late else JobState.MADE

    @property
    def line(self) -> JobLine:
        """Its line in a list of jobs."""
        found = (entry for entry in self.entries() if entry["event"] == "made")
        made: Mapping[str, Any] = next(found, {"at_s": 0.0})
        return JobLine(
            id=self.id,
            state=self.state,
            title=str(made.get("title", "")),
            who=str(made.get("who", "")),
            made_s=made["at_s"],
        )

    def note_work(self, **more: object) -> bool:
        """Note that this process works on the job.

        Returns:
            Whether someone has cancelled it while this process was being started.

        Raises:
            OSError: the journal cannot be written.
        """
        self.note(event="work", pid=os.getpid(), started_s=started_s(), boot=boot_id(), **more)
        return self.is_cancelled

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled since it was made, has ended, or was last asked to continue."""
        events = (entry["event"] for entry in reversed(self.entries()))
        return next((each for each in events if each in _TURNS), "") == CANCEL_EVENT

    def worker(self) -> psutil.Process | None:
        """Return the process that was the last to work on the job, if it lives and is not this one."""
        found = (each for each in reversed(self.entries()) if each["event"] == "work")
        work: Mapping[str, Any] = next(found, {})
        return None if work.get("pid") == os.getpid() else _worker_in(work)

    def refuse_back(self) -> None:
        """Refuse to roll back a job of which no step can be undone.

        Raises:
            JobError: there is no such step, one has no way back, or the plan cannot be read.
        """
        # A benchmark's changes are jobs of their own; what is left of a trial is found by its names, too.
        if any((self.folder / file).is_file() for file in NOT_UNDONE):
            return
        done, begun = self.done_steps()
        steps = self.plan.steps
        if any(step.final for number, step in enumerate(steps) if number in done):
            raise JobError(f"job {self.id} {NO_WAY_BACK}")
        if not any(step.undo for number, step in enumerate(steps) if number in done | begun):
            raise JobError(f"job {self.id} has done no step that can be undone")

    @property
    def goes_back(self) -> bool:
        """Whether it can be rolled back, as far as its plan and its journal say."""
        with contextlib.suppress(JobError):
            self.refuse_back()
            return True
        return False


def _steps(plan: Plan) -> int:
    return sum(1 + len(step.undo) for step in plan.steps)


def _why_not_trusted(place: Path) -> str:
    """Return why another user than root and this one could have written a job, or ""."""
    try:
        for each in (place, place / "plan.json", place / "journal.jsonl"):
            with contextlib.suppress(FileNotFoundError):
                refuse_foreign(each, each.stat())
    except (OSError, ValueError) as error:  # a name may hold what no path can
        return getattr(error, "strerror", None) or str(error)
    return ""


def _worker_in(work: Mapping[str, Any]) -> psutil.Process | None:
    """Return the process of a journal's entry, if it lives."""
    return process_of(work.get("pid"), work.get("started_s"), work.get("boot"))


def find_job(name: str, folder: Path | None = None) -> Job:
    """Return the job with this id, or the only one whose id begins or ends with it.

    Raises:
        JobError: there is none or more than one, or the folder belongs to another user.
    """
    refuse_folder(folder or jobs_folder())
    if why := _why_not_trusted((folder or jobs_folder()) / Path(name).name):
        raise JobError(f"job {name} cannot be trusted: {why}")
    jobs = all_jobs(folder)
    exact = [job for job in jobs if job.id == name]
    close = [job for job in jobs if job.id.startswith(name) or job.id.endswith(name)]
    found = exact or close
    if len(found) != 1:
        what = "no job matches" if not found else "more than one job matches"
        raise JobError(f"{what} {name!r}: raidtui jobs lists them")
    return found[0]


def all_jobs(folder: Path | None = None) -> list[Job]:
    """Return all jobs, oldest first, but those of ``foreign_jobs``."""
    return [Job(place) for place, why in _places(folder) if not why]


def foreign_jobs(folder: Path | None = None) -> list[JobLine]:
    """Return the jobs that another user could have written, oldest first. Nothing of them is used."""
    return [
        JobLine(id=place.name, state=JobState.NOT_TRUSTED, title=why) for place, why in _places(folder) if why
    ]


def _places(folder: Path | None) -> list[tuple[Path, str]]:
    """Return the folders of jobs, oldest first, each with why it is not trusted, or ""."""
    made: list[tuple[str, int, Path]] = []
    with contextlib.suppress(OSError):
        for place in (folder or jobs_folder()).iterdir():
            with contextlib.suppress(OSError):  # no job, or one that was just removed
                # The name has the second; the plan, which is written once, says who was first in it.
                plan = (place / "plan.json").stat()
                made.append((place.name[:_STAMP], plan.st_mtime_ns, place))
    return [(place, _why_not_trusted(place)) for *_, place in sorted(made)]


def _new_place(parent: Path, plan: Plan) -> Path:
    """Create the folder of a job. Its name has the time and the first word of the plan's title."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    words = "".join(char if char.isalnum() else "-" for char in plan.title.partition(":")[0].lower())[:24]
    for number in range(1, 100):
        place = parent / f"{stamp}-{words.strip('-')}{'' if number == 1 else f'-{number}'}"
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
            return place
    raise JobError(f"a job cannot be created in {parent}: too many jobs in this second; nothing was started")
