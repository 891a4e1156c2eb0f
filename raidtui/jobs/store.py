"""Jobs on disk: a folder each, with the plan, the journal, what the tools printed, and the black box.

The journal is JSON lines, each synced before the next thing happens: whatever is killed, whenever, it says
which step was under way. Where the disk runs full, room that was kept is given up for it: a job can always
say how it ended, and go back.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from raidtui.jobs.journal import journal_path, who
from raidtui.jobs.lock import JobError, process_of, refuse_folder, started_s, worker_of
from raidtui.jobs.state_files import PRIVATE_MODE, own_folder, sync_folder, write_synced
from raidtui.jobs.states import ENDED, JobState
from raidtui.model.plan import Plan

if TYPE_CHECKING:
    import psutil

SCHEMA = 1
# Of a step's entries, with what the tools print, most take a tenth of that.
_ROOM_BYTES, _STEP_BYTES = 32 << 10, 8 << 10
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_ENDS = ENDED | {JobState.GOES_ON}
_STEPS = ("step", "of")
_MOST_STEPS = 1 << 20
_END_OF_TIME_S = 1 << 36  # some 2000 years; calendars end at the year 9999
COURSE_FILE = "bench.json"
"""Beside the plan of a benchmark's job, which has no steps: what the benchmark does (``raidtui.bench``)."""


class PlanFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan as it is saved. ``raidtui_plan`` is the version of the form."""

    raidtui_plan: int
    host: str
    made_s: float
    plan: Plan


def save_plan(plan: Plan, *, host: str, made_s: float) -> bytes:
    """Return a plan as JSON.

    Raises:
        JobError: it holds text that is none (a name of bytes that are not UTF-8).
    """
    file = PlanFile(raidtui_plan=SCHEMA, host=host, made_s=made_s, plan=plan)
    try:
        return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"
    except UnicodeEncodeError as error:
        raise JobError(f"this plan cannot be saved: {error.object!r} is not UTF-8") from error


def load_plan(data: bytes) -> PlanFile:
    """Return a saved plan.

    Raises:
        JobError: it is none, or of another version.
    """
    try:
        head = msgspec.json.decode(data)
        version = head.get("raidtui_plan") if isinstance(head, dict) else None
        if version != SCHEMA:
            raise JobError(f"this is no plan of version {SCHEMA}: make it with raidtui plan ... --json")
        return msgspec.json.decode(data, type=PlanFile)
    except RecursionError as error:  # Python's own words for it differ from version to version
        raise JobError("this is no plan: it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JobError(f"this is no plan: {error}") from error


def jobs_folder() -> Path:
    """Return the folder of all jobs."""
    return journal_path().parent / "jobs"


class JobLine(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a list of jobs.

    Args:
        id: the job's.
        state: its state.
        title: its plan's.
        who: the person who made it.
        made_s: when it was made, epoch seconds; 0 where its journal does not say.
    """

    id: str
    state: JobState
    title: str = ""
    who: str = ""
    made_s: float = 0.0


class Job:
    """One job.

    Args:
        folder: its folder; the name is the job's id.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.full = ""
        """Why the journal could be written to only by giving up the room that was kept for it, if so."""

    @classmethod
    def create(cls, plan: Plan, *, host: str, folder: Path | None = None) -> Job:
        """Put a plan on disk as a new job.

        Raises:
            JobError: it cannot be written; nothing was started.
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
            job._fill_room(plan)
            write_synced(place / "plan.json", data)  # last: with it, there is a job
            sync_folder(parent)  # else a crash could forget that
        except OSError as error:
            if place is not None:
                shutil.rmtree(place, ignore_errors=True)
            raise JobError(
                f"a job cannot be kept in {parent}: {error.strerror}; nothing was started"
            ) from error
        return job

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.folder.name

    def keep(self, name: str, data: bytes) -> None:
        """Put a file beside the plan, and wait until it is on disk.

        Raises:
            OSError: it cannot be written.
        """
        write_synced(self.folder / name, data)

    def discard(self) -> None:
        """Remove a job whose worker was never started."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def order(self) -> str:
        """Whose ``work`` carries it out, on the command line: jobs, or bench."""
        return "bench" if (self.folder / COURSE_FILE).is_file() else "jobs"

    @property
    def plan(self) -> Plan:
        """The plan.

        Raises:
            JobError: it cannot be read.
        """
        try:
            return load_plan((self.folder / "plan.json").read_bytes()).plan
        except OSError as error:
            raise JobError(f"job {self.id} has no plan: {error.strerror}") from error

    def keep_room(self) -> None:
        """Keep room for the journal, where none is kept.

        Raises:
            JobError: there is none, or the plan cannot be read.
        """
        if (self.folder / "room").exists():
            return
        try:
            self._fill_room(self.plan)
        except OSError as error:
            (self.folder / "room").unlink(missing_ok=True)
            why = f"job {self.id} cannot be kept in {self.folder.parent}: {error.strerror}"
            raise JobError(f"{why}; make room there first; nothing was started") from error

    def _fill_room(self, plan: Plan) -> None:
        steps = sum(1 + len(step.undo) for step in plan.steps)
        # Noise: a file system that compresses would keep nothing for zeros.
        write_synced(self.folder / "room", os.urandom(_ROOM_BYTES + steps * _STEP_BYTES))

    def give_room_up(self) -> bool:
        """Give the room back that was kept; return whether there was any."""
        try:
            (self.folder / "room").unlink()
        except OSError:
            return False
        return True

    def note(self, **entry: object) -> None:
        """Append to the journal, and wait until it is on disk.

        Raises:
            OSError: it could not be written: the job must not go on.
        """
        line = json.dumps({"at_s": round(time.time(), 3), "who": who(), **entry}, ensure_ascii=False)
        try:
            self._append(line)
        except OSError as error:
            if error.errno not in _FULL or not self.give_room_up():
                raise
            self.full = f"{self.folder.parent}: {error.strerror}"
            self._append(line)

    def _append(self, line: str) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.folder / "journal.jsonl", flags, 0o600)
        try:
            data = line.encode("utf-8", "replace") + b"\n"
            end = os.fstat(descriptor).st_size
            if end and os.pread(descriptor, 1, end - 1) != b"\n":  # a crash cut the last line short
                data = b"\n" + data
            if os.write(descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def entries(self) -> list[Mapping[str, Any]]:
        """Return the journal's entries: ``event`` is a text, ``at_s`` a time, a step is a number.

        What is none is left out: a last line that was cut short by a crash, what somebody else wrote.
        """
        found: list[Mapping[str, Any]] = []
        with contextlib.suppress(FileNotFoundError):
            text = (self.folder / "journal.jsonl").read_text(encoding="utf-8", errors="replace")
            found += (entry for line in text.split("\n") if (entry := _entry(line)) is not None)
        return found

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """Be the one who follows what goes on in the kernel; the lock of all jobs is not needed for that.

        Raises:
            OSError: the file cannot be opened.
        """
        descriptor = os.open(self.folder / "follower", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)  # one may begin before another one has seen it
            yield
        finally:
            os.close(descriptor)

    @property
    def is_followed(self) -> bool:
        """Whether somebody follows what goes on in the kernel."""
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
        """The state, by the journal, and by whether its worker lives."""
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
            # A lock file that somebody removed is held all the same, by a worker that lives.
            return JobState.RUNNING if self.worker() is not None else JobState.INTERRUPTED
        # Of two that were applied at once, one comes too late: what it found then is not the host of later.
        late = any(each["event"] == "not begun" and each.get("busy") for each in entries)
        return JobState.NOT_BEGUN if late else JobState.MADE

    @property
    def line(self) -> JobLine:
        """The job in a list of jobs."""
        found = (entry for entry in self.entries() if entry["event"] == "made")
        made: Mapping[str, Any] = next(found, {"at_s": 0.0})
        return JobLine(
            id=self.id,
            state=self.state,
            title=str(made.get("title", "")),
            who=str(made.get("who", "")),
            made_s=made["at_s"],
        )

    def note_work(self, **more: object) -> None:
        """Note that this process works on the job.

        Raises:
            OSError: it could not be noted.
        """
        self.note(event="work", pid=os.getpid(), started_s=round(started_s(), 2), **more)

    def worker(self) -> psutil.Process | None:
        """Return the process that noted last that it works on the job, if it is another one and lives."""
        found = (each for each in reversed(self.entries()) if each["event"] == "work")
        work: Mapping[str, Any] = next(found, {})
        pid, at_s = work.get("pid"), work.get("started_s")
        if pid == os.getpid() or (at_s is None and worker_of(self.folder.parent) != self.id):
            return None  # without a time (an older raidtui noted none) the lock alone says that it lives
        return process_of(pid, at_s)

    def done_steps(self) -> tuple[set[int], set[int]]:
        """Return (steps done, steps begun and not known to be done), less what was undone since."""
        done: set[int] = set()
        begun: set[int] = set()
        for entry in self.entries():
            step = entry.get("of" if entry.get("event") == "undo" else "step")
            if not isinstance(step, int):
                continue
            if entry.get("event") == "begin":
                begun.add(step)
            elif entry.get("event") == "step done":
                done.add(step)
                begun.discard(step)
            elif entry.get("event") == "undo":  # until it is undone, nobody knows how much of it is left
                done.discard(step)
                begun.add(step)
            elif entry.get("event") == "undone":
                done.discard(step)
                begun.discard(step)
        return done, begun

    def refuse_back(self) -> None:
        """Refuse to undo where no step that was done, or begun, can be undone.

        Raises:
            JobError: that is so, or the plan cannot be read.
        """
        if self.order == "bench":  # what it changed is in jobs of its own
            return
        done, begun = self.done_steps()
        steps = self.plan.steps
        if not any(step.undo for number, step in enumerate(steps) if number in done | begun):
            raise JobError(f"job {self.id} has done nothing that could be undone")


def _entry(line: str) -> Mapping[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        return None
    for key in _STEPS:
        if key in entry and (not isinstance(entry[key], int) or not 0 <= entry[key] <= _MOST_STEPS):
            return None
    at_s = entry.get("at_s")
    known = isinstance(at_s, int | float) and 0 <= at_s < _END_OF_TIME_S
    return {**entry, "at_s": float(at_s) if known and at_s is not None else 0.0}


def find_job(name: str, folder: Path | None = None) -> Job:
    """Return the job with this id, or whose id alone begins or ends so.

    Raises:
        JobError: there is none, or more than one; or the folder is not ours: a plan in it may be anybody's.
    """
    refuse_folder(folder or jobs_folder())
    jobs = all_jobs(folder)
    exact = [job for job in jobs if job.id == name]
    close = [job for job in jobs if job.id.startswith(name) or job.id.endswith(name)]
    found = exact or close
    if len(found) != 1:
        what = "no job" if not found else "more than one job"
        raise JobError(f"{what} is called {name!r}: raidtui jobs lists them")
    return found[0]


def all_jobs(folder: Path | None = None) -> list[Job]:
    """Return all jobs, oldest first."""
    parent = folder or jobs_folder()
    with contextlib.suppress(OSError):
        return [Job(place) for place in sorted(parent.iterdir()) if (place / "plan.json").is_file()]
    return []


def _new_place(parent: Path, plan: Plan) -> Path:
    """Make a job's folder, called after the time and the plan."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    words = "".join(char if char.isalnum() else "-" for char in plan.title.partition(":")[0].lower())[:24]
    for number in range(1, 100):
        place = parent / f"{stamp}-{words.strip('-')}{'' if number == 1 else f'-{number}'}"
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
            return place
    raise JobError(f"a job cannot be kept in {parent}: too many of this second; nothing was started")
