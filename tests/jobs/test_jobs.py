"""What writes: order, identity, outcomes, and the journal of it."""

from __future__ import annotations

import errno
import json
import os
import pwd
import stat
from pathlib import Path

import pytest

from raidtui.jobs.journal import Journal, journal_path, who
from raidtui.jobs.runner import PlanOutcome, run_plan, undo_of
from raidtui.jobs.spawn import follow
from raidtui.jobs.state_files import ROOT_STATE
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, RunTool, Write
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid10

MD = "/sys/class/block/md127/md"
UUID = raid10().array_uuid
FIRST = Write(path=f"{MD}/sync_min", text="0", why="from the start", identity=(f"{MD}/uuid", UUID))
SECOND = Write(path=f"{MD}/sync_action", text="check", why="read", identity=(f"{MD}/uuid", UUID))
PLAN = Plan(title="check started", subject="data", steps=(FIRST, SECOND), undo=(SECOND,))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "deep" / "er" / "journal.jsonl")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each file (folders aside) at the moment it was synced to disk."""
    sizes: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            sizes.append(found.st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return sizes


@pytest.fixture(autouse=True)
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines for the system log."""
    lines: list[str] = []
    monkeypatch.setattr("syslog.syslog", lambda _, line: lines.append(line))
    monkeypatch.setattr("syslog.openlog", lambda *_: None)
    return lines


def entries(journal: Journal) -> list[dict[str, object]]:
    """What the journal holds."""
    assert journal._path is not None
    return [json.loads(line) for line in journal._path.read_text().splitlines()]


def test_all_steps_in_order(journal: Journal) -> None:
    kernel = Kernel(raid10(), raid1())
    assert run_plan(kernel, PLAN, journal) == PlanOutcome(plan=PLAN, done=(FIRST, SECOND))
    assert kernel.writes == [(FIRST.path, "0"), (SECOND.path, "check")]
    assert run_plan(kernel, PLAN, journal).sentence == "check started"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.EBUSY, "the kernel is busy with another sync action"),
        (errno.EINVAL, "the kernel refuses this value"),
        (errno.EACCES, "permission denied: needs root"),
        (errno.EPERM, "permission denied: needs root"),
        (errno.ENOENT, "the file is not there: the array was stopped, or its level has none"),
        (errno.ENODEV, "the array was stopped meanwhile"),
        (errno.EROFS, "a captured tree is never written to"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_the_first_refusal_ends_it(journal: Journal, code: int, reason: str) -> None:
    kernel = Kernel(raid10())
    kernel.refuses["sync_min"] = code
    outcome = run_plan(kernel, PLAN, journal)
    assert outcome == PlanOutcome(plan=PLAN, done=(), failed=FIRST, reason=reason)
    assert outcome.sentence == f"not done: {reason} (check started; {FIRST.path})"
    assert kernel.writes == [(FIRST.path, "0")]
    assert [entry["error"] for entry in entries(journal)] == [reason]


def test_what_was_done_before_a_refusal_is_reported(journal: Journal) -> None:
    kernel = Kernel(raid10())
    kernel.refuses["sync_action"] = errno.EBUSY
    outcome = run_plan(kernel, PLAN, journal)
    assert (outcome.done, outcome.failed) == ((FIRST,), SECOND)
    assert [(entry["path"], entry["error"]) for entry in entries(journal)] == [
        (FIRST.path, None),
        (SECOND.path, "the kernel is busy with another sync action"),
    ]


def test_another_array_under_the_name(journal: Journal) -> None:
    kernel = Kernel(raid10(label="other"))
    outcome = run_plan(kernel, PLAN, journal)
    assert outcome.reason == "another array has this name now"
    assert kernel.writes == []
    assert len(entries(journal)) == 1


def test_an_array_that_is_gone(journal: Journal) -> None:
    outcome = run_plan(Kernel(raid1()), PLAN, journal)
    assert (outcome.reason, outcome.done) == ("the array is gone", ())


def test_the_identity_is_read_before_each_step(journal: Journal) -> None:
    kernel = Kernel(raid10())

    def swap(path: str, _: str) -> None:
        assert path == FIRST.path
        kernel.on_write = None
        kernel.arrays = {"md127": raid10(label="other")}

    kernel.on_write = swap
    outcome = run_plan(kernel, PLAN, journal)
    assert (outcome.done, outcome.failed) == ((FIRST,), SECOND)
    assert kernel.writes == [(FIRST.path, "0")]


def test_undo() -> None:
    undo = undo_of(PLAN)
    assert undo == Plan(title="undone: check started", subject="data", steps=PLAN.undo, undo=PLAN.steps)
    assert undo_of(Plan(title="x", subject="y", steps=(FIRST,))) is None
    other = undo_of(PLAN, [FIRST])
    assert other is not None
    assert other.steps == (FIRST,)


def test_a_line_a_write_each_synced(
    journal: Journal, synced: list[int], logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_USER", "ada")
    monkeypatch.setattr("raidtui.jobs.journal.time.time", lambda: 1_795_209_900.1239)
    run_plan(Kernel(raid10()), PLAN, journal)
    common = {
        "at_s": 1_795_209_900.124,
        "who": "ada",
        "subject": "data",
        "plan": "check started",
        "error": None,
    }
    assert entries(journal) == [
        {**common, "wrote": "0", "path": FIRST.path},
        {**common, "wrote": "check", "path": SECOND.path},
    ]
    assert journal._path is not None
    text = journal._path.read_text()
    assert text.splitlines() == logged
    assert synced == [len(logged[0]) + 1, len(text)]
    assert stat.S_IMODE(journal._path.stat().st_mode) == 0o600
    assert journal.trouble == ""


def test_it_is_appended_to(journal: Journal) -> None:
    journal.note(subject="first")
    Journal(journal._path).note(subject="sécond\n")
    assert [entry["subject"] for entry in entries(journal)] == ["first", "sécond\n"]


def test_a_journal_that_cannot_be_written_is_reported_and_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    journal = Journal(tmp_path / "file" / "journal.jsonl")
    kernel = Kernel(raid10())
    assert run_plan(kernel, PLAN, journal).failed is None
    assert len(kernel.writes) == 2
    assert journal.trouble == f"journal {tmp_path}/file/journal.jsonl: File exists"


def test_permission_trouble_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    journal = Journal(tmp_path / "journal.jsonl")
    monkeypatch.setattr("raidtui.jobs.journal.os.open", refuse)
    journal.note(subject="x")
    assert journal.trouble == f"journal {tmp_path}/journal.jsonl: Permission denied"


@pytest.mark.parametrize(
    ("flags", "free", "why"),
    [(0, 1 << 20, ""), (os.ST_RDONLY, 1 << 20, "Read-only file system"), (0, 1, "No space left on device")],
)
def test_it_is_known_before_that_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, free: int, why: str
) -> None:
    path = tmp_path / "journal.jsonl"
    real = os.statvfs(tmp_path)

    def found(_: Path) -> os.statvfs_result:
        return os.statvfs_result((4096, 4096, 1 << 20, free, free, *real[5:8], flags, 255))

    monkeypatch.setattr(os, "statvfs", found)
    assert Journal(path).look() == (f"journal {path}: {why}" if why else "")
    assert not path.exists()


def test_a_folder_that_is_none_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "journal.jsonl"
    assert Journal(path).look() == f"journal {path}: File exists"
    assert Journal(None).look() == ""


def test_half_a_line_is_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that runs full takes the beginning of it."""
    journal = Journal(tmp_path / "journal.jsonl")
    monkeypatch.setattr(os, "write", lambda *_: 3)
    journal.note(subject="x")
    assert journal.trouble == f"journal {tmp_path}/journal.jsonl: No space left on device"


def test_no_journal_at_all(logged: list[str]) -> None:
    journal = Journal(None)
    journal.note(subject="demo")
    assert logged == []
    assert journal.trouble == ""


def test_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("raidtui.jobs.state_files.ROOT_STATE", ROOT_STATE)
    assert journal_path() == Path("/var/lib/raidtui/journal.jsonl")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert journal_path() == tmp_path / "state" / "raidtui" / "journal.jsonl"
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert journal_path() == tmp_path / ".local/state/raidtui/journal.jsonl"


def test_who(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SUDO_USER", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    assert who() == pwd.getpwuid(os.getuid()).pw_name
    for name, value in (("USER", "user"), ("LOGNAME", "login"), ("SUDO_USER", "ada")):
        monkeypatch.setenv(name, value)
        assert who() == value


def test_a_worker_that_begins_between_two_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock was free a moment ago, and its first word is there now: it works, it is not gone."""
    plan = Plan(title="t", subject="s", steps=(RunTool(argv=("true",), why="w"),))
    job = Job.create(plan, host="nas", folder=tmp_path)
    looks = iter(["", job.id, job.id])

    def worker_of(_: Path) -> str:
        word = next(looks, "")
        if not word:  # the first look, and the last one
            job.note(event="work" if len(job.entries()) == 1 else "done")
        return word

    for module in ("spawn", "store"):
        monkeypatch.setattr(f"raidtui.jobs.{module}.worker_of", worker_of)
    assert [entry["event"] for entry in follow(job)] == ["made", "work", "done"]
