"""A disk that runs full: a job is not begun, or it stops, says so, and goes back, by room that was kept."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.jobs import job_journal, spawn
from raidtui.jobs import state_files as files
from raidtui.jobs.lock import JobError
from raidtui.jobs.store import Job
from raidtui.jobs.worker import Worker, work_on
from raidtui.model.plan import Plan
from tests.jobs.test_worker import (
    BACK,
    PATHS,
    PLAN,
    TOOL,
    A,
    B,
    Host,
    handlers,
    host,
    job_of,
    journal,
    reason,
    up,
)

__all__ = ["handlers", "host"]

NO_SPACE = "No space left on device"


class Disk:
    """The disk that jobs are on; of ``full``, nothing more can be appended before its room is given up."""

    def __init__(self) -> None:
        self.full: Job | None = None
        self._real = os.write

    def write(self, descriptor: int, data: bytes) -> int:
        """As os.write."""
        if self.full is not None and (self.full.folder / "room").exists():
            self._real(descriptor, data[:7])  # what is left takes some of it
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._real(descriptor, data)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    found = Disk()
    monkeypatch.setattr(os, "write", found.write)
    return found


def fill_at(host: Host, disk: Disk, job: Job, when: str) -> None:
    """Let the disk run full when something is done."""

    def before(what: str) -> None:
        if what == when:
            disk.full = job

    host.before = before


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_room_is_kept_while_a_job_may_need_it(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    room = job.folder / "room"
    assert room.stat().st_size == (32 << 10) + 6 * (8 << 10)  # three steps, each with an undo
    assert len(set(room.read_bytes())) == 256  # a file system that compresses keeps room, too
    assert Worker(host, job).work() == "done"
    assert not room.exists()
    sizes: list[int] = []
    host.before = lambda _: sizes.append(room.stat().st_size)
    assert Worker(host, job).roll_back() == "rolled back"
    assert sizes == [(32 << 10) + 6 * (8 << 10)] * 3
    assert not room.exists()


def test_room_is_kept_for_a_job_that_failed(tmp_path: Path, host: Host) -> None:
    host.fails[f"{B} 1"] = errno.EBUSY
    job = job_of(tmp_path, PLAN)
    assert Worker(host, job).work() == "failed"
    assert (job.folder / "room").exists()


@pytest.mark.parametrize("done", [0, 1, 2])
@pytest.mark.parametrize("plan", [PLAN, BACK])
def test_a_disk_that_runs_full(tmp_path: Path, host: Host, disk: Disk, plan: Plan, done: int) -> None:
    """The step that is under way ends, no other one is begun; and the journal says all of it."""
    job = job_of(tmp_path, plan)
    if done == 0:
        disk.full = job
    fill_at(host, disk, job, f"{PATHS[done - 1]} 1")
    state = "rolled back" if plan is BACK else "failed"
    assert Worker(host, job).work() == state
    assert host.did[:done] == [f"{path} 1" for path in PATHS[:done]]
    assert host.state == ("000" if plan is BACK else "1" * done + "0" * (3 - done))
    why = f"{tmp_path}: {NO_SPACE}; make room there, then resume the job"
    assert reason(job) == f"stopped before step {done + 1}: {why}"
    assert (job.state, journal(job)[-1], (job.folder / "room").exists()) == (state, state, False)


def test_the_entry_that_did_not_fit_was_the_beginning_of_a_step(
    tmp_path: Path, host: Host, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot be noted that a step is begun, it is not."""
    job = job_of(tmp_path, PLAN)
    real = Job.note

    def note(self: Job, **entry: object) -> None:
        if entry.get("event") == "begin":
            disk.full = job
        real(self, **entry)

    monkeypatch.setattr(Job, "note", note)
    assert Worker(host, job).work() == "failed"
    why = f"{tmp_path}: {NO_SPACE}; make room there, then resume the job"
    assert (host.did, reason(job)) == ([], f"step 1: {why}")
    assert journal(job) == ["made", "work", "begin 0", "step failed 0", "failed"]


def test_what_a_tool_printed_does_not_stop_the_job(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, replace(PLAN, steps=(TOOL,)))
    host.answers[TOOL.argv] = (0, "stopped\n", "")
    (job.folder / "output.log").unlink()
    (job.folder / "output.log").mkdir()
    assert Worker(host, job).work() == "done"
    assert journal(job) == ["made", "work", "begin 0", "output", "step done 0", "done"]


def test_going_on_when_there_is_room_again(
    tmp_path: Path, host: Host, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, PLAN)
    fill_at(host, disk, job, f"{A} 1")
    assert Worker(host, job).work() == "failed"
    host.before = lambda _: None
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", no_room)
        for back in (False, True):
            with pytest.raises(JobError) as caught:
                spawn.start_worker(job, back=back)
            assert str(caught.value) == (
                f"there is no room for the journal of job {job.id} in {tmp_path}: {NO_SPACE};"
                " make room there first; nothing was started"
            )
            assert work_on(host, job.folder, back=back) == 1
        assert not (job.folder / "room").exists()
    assert host.did == [f"{A} 1"]
    disk.full = None
    assert Worker(host, Job(job.folder)).work() == "done"
    assert host.state == "111"


def test_a_journal_that_cannot_be_written_at_all(
    tmp_path: Path, host: Host, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody took the room, too: what was under way is known, and nothing is done that cannot be noted."""
    job = job_of(tmp_path, PLAN)

    def take(what: str) -> None:
        if what == f"{B} 1":
            monkeypatch.setattr(Job, "_append", no_room)

    host.before = take
    assert work_on(host, job.folder) == 1
    monkeypatch.undo()
    assert capfd.readouterr().err == (
        f"raidtui: job {job.id} stopped: its journal in {job.folder} cannot be written: {NO_SPACE};"
        " make room there, then resume it\n"
    )
    assert (host.state, job.state, job.done_steps()) == ("110", "interrupted", ({0}, {1}))
    host.before = lambda _: None
    assert Worker(host, Job(job.folder)).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1", f"{PLAN.steps[2].path} 1"]


def test_no_job_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = files.write_synced
    monkeypatch.setattr(
        job_journal, "write_synced", lambda path, data: no_room() if path.name == "room" else real(path, data)
    )
    with pytest.raises(JobError) as caught:
        Job.create(PLAN, host="nas", folder=tmp_path)
    assert str(caught.value) == f"a job cannot be created in {tmp_path}: {NO_SPACE}; nothing was started"
    assert list(tmp_path.iterdir()) == []


def test_another_error_does_not_give_the_room_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(tmp_path, PLAN)

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", broken)
    with pytest.raises(OSError, match="Input/output error"):
        job.note(event="work")
    assert (job.folder / "room").exists()


def test_the_lock_is_written_over(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk there is no room for what was cut off before."""
    job = job_of(tmp_path, PLAN)
    lengths: list[int] = []
    real = os.pwrite
    (tmp_path / "lock").write_text("x" * 200)

    def write(descriptor: int, data: bytes, offset: int) -> int:
        lengths.append(os.fstat(descriptor).st_size)
        return real(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", write)
    host.before = lambda _: lengths.append((tmp_path / "lock").stat().st_size)
    assert Worker(host, job).work() == "done"
    text = (tmp_path / "lock").read_text()
    assert lengths == [200, len(text), len(text), len(text)]
    assert text.startswith(f"{job.id} (pid {os.getpid()}, by ")


def test_what_depends_on_an_undo_that_failed_is_not_tried(tmp_path: Path, host: Host) -> None:
    """The first one says whether a step can be undone at all; after it, all are tried."""
    other = replace(TOOL, argv=("mdadm", "--zero-superblock", "/dev/sda"))
    first, second = up(A), up(B)
    plan = replace(
        PLAN,
        steps=(replace(first, undo=(*first.undo, TOOL)), replace(second, undo=(TOOL, *second.undo, other))),
    )
    job = job_of(tmp_path, plan)
    assert Worker(host, job).work() == "done"
    host.did.clear()
    host.answers[TOOL.argv] = (1, "", "mdadm: busy\n")
    assert Worker(host, job).roll_back() == "stuck"
    assert host.did == ["mdadm --stop /dev/md127", f"{A} 0", "mdadm --stop /dev/md127"]
    assert reason(job) == "requested; step 2 cannot be undone: mdadm failed (1): mdadm: busy"
    host.did.clear()
    host.answers.clear()
    host.fails[f"{B} 0"] = errno.EBUSY
    assert Worker(host, job).roll_back() == "stuck"
    assert host.did == [
        "mdadm --stop /dev/md127",
        f"{B} 0",
        "mdadm --zero-superblock /dev/sda",
        "mdadm --stop /dev/md127",
    ]
