"""Jobs on disk: the journal and what it says, the lock."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.lock import BusyError, JobError, boot_id, only_worker, process_of, started_s, worker_of
from raidtui.jobs.plan_file import load_plan
from raidtui.jobs.rollback import is_final, refuse_late
from raidtui.jobs.spawn import refuse_busy
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs, find_job, foreign_jobs, jobs_folder
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, RunTool, Write
from tests.jobs.test_plan_file import PLAN, STEPS
from tests.places import FIXTURES

SMALL = Plan(title="max limit 200 → 500 MB/s", subject="system", steps=STEPS[:1])
HOLDER = """
import sys
from pathlib import Path
from raidtui.jobs.lock import only_worker
with only_worker(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""

Hold = Callable[[Path, str], int]


@pytest.fixture(autouse=True)
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ada's jobs, made at one moment."""
    monkeypatch.setenv("SUDO_USER", "ada")
    monkeypatch.setattr("raidtui.jobs.store.time.time", lambda: 1_795_209_900.1239)
    monkeypatch.setattr("raidtui.jobs.store.time.strftime", lambda _: "20261121-100000")


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Return what lets another process hold the lock, until the test ends; it gives its number."""
    processes: list[subprocess.Popen[str]] = []

    def start(folder: Path, job_id: str) -> int:
        argv = (sys.executable, "-c", HOLDER, str(folder), job_id)
        processes.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert processes[-1].stdout is not None
        assert processes[-1].stdout.readline() == "held\n"
        return processes[-1].pid

    yield start
    for process in processes:
        process.communicate("")


def made(folder: Path, *events: dict[str, Any]) -> Job:
    """Return a new job in whose journal these entries are."""
    job = Job.create(SMALL, host="nas", folder=folder)
    for event in events:
        job.note(**event)
    return job


def named(folder: Path, *names: str) -> None:
    """Make folders that look like jobs."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "plan.json").touch()


def test_text_that_is_none_is_refused(tmp_path: Path) -> None:
    plan = Plan(title="x", subject="y", steps=(Write(why="z", path="/\udce9", text=""),))
    with pytest.raises(JobError) as caught:
        Job.create(plan, host="nas", folder=tmp_path)
    assert str(caught.value) == "this plan cannot be saved: '/\\udce9' is not UTF-8"
    assert list(tmp_path.iterdir()) == []


def test_a_new_job(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "jobs"
    job = Job.create(PLAN, host="nas", folder=folder)
    assert (job.id, job.folder, job.plan) == (
        "20261121-100000-create-data",
        folder / "20261121-100000-create-data",
        PLAN,
    )
    assert load_plan((job.folder / "plan.json").read_bytes()).host == "nas"
    assert job.entries() == [
        {"at_s": 1_795_209_900.124, "who": "ada", "event": "made", "title": PLAN.title, "subject": "data"}
    ]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, job.folder, job.folder / "journal.jsonl")]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Stop data", "stop-data"),
        ("max limit 200 → 500 MB/s", "max-limit-200---500-mb-s"),
        ("a title that goes on and on and on", "a-title-that-goes-on-and"),
        ("../../etc", "etc"),
        ("", ""),
    ],
)
def test_a_job_is_called_after_its_plan(tmp_path: Path, title: str, words: str) -> None:
    job = Job.create(msgspec.structs.replace(SMALL, title=title), host="nas", folder=tmp_path)
    assert job.folder == tmp_path / f"20261121-100000-{words}"


def test_jobs_of_the_same_second(tmp_path: Path) -> None:
    ids = [Job.create(PLAN, host="nas", folder=tmp_path).id for _ in range(3)]
    stem = "20261121-100000-create-data"
    assert ids == [stem, f"{stem}-2", f"{stem}-3"]
    assert [job.id for job in all_jobs(tmp_path)] == ids


def test_jobs_of_the_same_second_are_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    """Whatever their plans are called: what was changed last is put back first."""
    titles = ("replace: data", "add: data", "replace: data", "bitmap: data")
    plans = [Plan(title=title, subject="data", steps=STEPS[:1]) for title in titles]
    ids = [Job.create(plan, host="nas", folder=tmp_path).id for plan in plans]
    assert [job.id for job in all_jobs(tmp_path)] == ids


def test_no_job_takes_anothers_place(tmp_path: Path) -> None:
    stem = "20261121-100000-create-data"
    named(tmp_path, stem, *(f"{stem}-{number}" for number in range(2, 100)))
    with pytest.raises(JobError) as caught:
        Job.create(PLAN, host="nas", folder=tmp_path)
    assert str(caught.value) == (
        f"a job cannot be created in {tmp_path}: too many jobs in this second; nothing was started"
    )
    assert {(job.folder / "plan.json").read_bytes() for job in all_jobs(tmp_path)} == {b""}


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "jobs"
    with pytest.raises(JobError) as caught:
        Job.create(PLAN, host="nas", folder=folder)
    assert str(caught.value) == f"a job cannot be created in {folder}: Not a directory; nothing was started"
    assert all_jobs(folder) == []


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(JobError) as caught:
        Job.create(PLAN, host="nas", folder=tmp_path)
    assert str(caught.value) == (
        f"a job cannot be created in {tmp_path}: No space left on device; nothing was started"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_job_without_a_plan(tmp_path: Path) -> None:
    with pytest.raises(JobError) as caught:
        _ = Job(tmp_path / "x").plan
    assert str(caught.value) == "job x has no plan: No such file or directory"


def test_where_jobs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert jobs_folder() == tmp_path / "state" / "raidtui" / "jobs"
    job = Job.create(PLAN, host="nas")
    assert (job.folder.parent, find_job("create-data").folder) == (jobs_folder(), job.folder)


def test_a_job_is_on_disk_when_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files first, then the folders that know of them; the plan last: a folder without one is no job."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    job = made(tmp_path)
    kept = job.folder.stat().st_ino
    journal, room, plan = (
        (job.folder / name).stat().st_ino for name in ("journal.jsonl", "room", "plan.json")
    )
    assert synced == [journal, room, kept, plan, kept, job.folder.parent.stat().st_ino]


def test_each_entry_is_synced_before_the_next_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = made(tmp_path)
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    job.note(event="work")
    job.note(event="output", text="é\n\udce9")
    assert sizes[-1] == (job.folder / "journal.jsonl").stat().st_size
    assert sizes == sorted(set(sizes))
    assert len(sizes) == 2
    assert [entry.get("text") for entry in job.entries()] == [None, None, "é\n?"]


def test_a_journal_cut_short_anywhere(tmp_path: Path) -> None:
    job = made(tmp_path, {"event": "begin", "step": 0, "command": "echo é → x"})
    journal = job.folder / "journal.jsonl"
    whole = journal.read_bytes()
    first, last = job.entries()
    assert "→".encode() in whole.splitlines()[1]
    for size in range(whole.index(b"\n") + 1, len(whole) - 1):
        journal.write_bytes(whole[:size])
        assert job.entries() == [first]
        job.note(event="work")
        assert [entry["event"] for entry in job.entries()] == ["made", "work"]
    journal.write_bytes(whole[:-1])
    assert job.entries() == [first, last]


def test_lines_that_are_no_entries_are_passed_over(tmp_path: Path) -> None:
    job = made(tmp_path)
    with (job.folder / "journal.jsonl").open("a") as file:
        file.write('\n[]\n1\n{"event": \n')
    job.note(event="work")
    assert [entry["event"] for entry in job.entries()] == ["made", "work"]
    assert Job(tmp_path / "none").entries() == []


def test_a_journal_of_an_older_raidtui_is_read(tmp_path: Path) -> None:
    """Its lines have no checksum, and come before all that have one; its plan is of that time, too."""
    job = made(tmp_path)
    (job.folder / "plan.json").write_bytes((FIXTURES / "plans" / "first-form.json").read_bytes())
    journal = job.folder / "journal.jsonl"
    journal.write_text(
        '{"at_s": 1.0, "who": "root", "event": "made"}\n{"at_s": 2.0, "event": "begin", "step": 0}\n'
    )
    assert [entry["event"] for entry in job.entries()] == ["made", "begin"]
    job.note(event="step done", step=0)
    with journal.open("a") as file:
        file.write('{"at_s": 3.0, "event": "undone", "step": 0}\n')
    assert [entry["event"] for entry in job.entries()] == ["made", "begin", "step done"]
    sealed_line = journal.read_text().splitlines()[2]
    journal.write_text(sealed_line.replace('"step done"', '"step dune"').replace("sum", "sun") + "\n")
    assert job.entries() == []


def test_a_line_without_its_checksum_is_none_of_a_job_of_today(tmp_path: Path) -> None:
    """Also where it is the first: it was taken for a line of an older raidtui."""
    job = made(tmp_path)
    job.note(event="work")
    journal = job.folder / "journal.jsonl"
    first, *others = journal.read_text().splitlines(keepends=True)
    cut = first.partition(', "sum"')[0] + "}\n"
    journal.write_text("".join((cut, *others)))
    assert [entry["event"] for entry in job.entries()] == ["work"]


def test_a_short_write_stops_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = made(tmp_path)
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:20]))
    with pytest.raises(OSError, match="No space left on device"):
        job.note(event="work")
    monkeypatch.undo()
    assert [entry["event"] for entry in job.entries()] == ["made"]


WORK, MADE = {"event": "work"}, {"event": "made"}


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((), "made"),
        (({"event": "not begun", "reason": "another job is running"},), "made"),
        (({"event": "not begun", "reason": "another job is running", "busy": True},), "not begun"),
        ((WORK, {"event": "not begun", "reason": "another job is running", "busy": True}), "interrupted"),
        ((WORK,), "interrupted"),
        ((WORK, {"event": "begin", "step": 0}), "interrupted"),
        ((WORK, {"event": "begin", "step": 0}, {"event": "step failed", "step": 0}), "interrupted"),
        ((WORK, {"event": "going back"}, {"event": "undo", "of": 0}), "interrupted"),
        *(
            ((WORK, {"event": state}), state)
            for state in ("done", "failed", "cancelled", "rolled back", "stuck")
        ),
        ((WORK, {"event": "failed"}, {"event": "not begun"}), "failed"),
        ((WORK, {"event": "failed"}, WORK), "interrupted"),
        ((WORK, {"event": "failed"}, WORK, {"event": "done"}), "done"),
        ((WORK, {"event": "cancelled"}, {"event": "work", "back": True}, {"event": "stuck"}), "stuck"),
    ],
)
def test_state(tmp_path: Path, events: tuple[dict[str, Any], ...], state: str) -> None:
    assert made(tmp_path, *events).state == state


def test_state_without_a_journal(tmp_path: Path) -> None:
    named(tmp_path, "x")
    assert find_job("x", tmp_path).state == "made"


@pytest.mark.parametrize(
    ("events", "state"),
    [((WORK,), "running"), ((WORK, {"event": "failed"}, WORK), "running"), ((), "running")],
)
def test_state_while_it_is_worked_on(
    tmp_path: Path, hold: Hold, events: tuple[dict[str, Any], ...], state: str
) -> None:
    job, other = made(tmp_path, *events), made(tmp_path, WORK)
    assert worker_of(tmp_path) is None
    hold(tmp_path, job.id)
    assert (job.state, other.state) == (state, "interrupted")
    assert worker_of(tmp_path) == job.id


def living(job: Job, **more: object) -> psutil.Popen:
    """Note another process as the job's worker."""
    worker = psutil.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    work = {"pid": worker.pid, "started_s": started_s(worker.pid), "boot": boot_id()}
    job.note(event="work", **work | more)
    return worker


def test_a_worker_that_lives_is_known_without_the_lock(tmp_path: Path) -> None:
    """Somebody removed the lock's file: no other worker begins beside the one that holds it."""
    job = made(tmp_path)
    with living(job) as worker:
        assert (job.worker(), job.state) == (psutil.Process(worker.pid), "running")
        with pytest.raises(BusyError) as caught:
            refuse_busy(tmp_path)
        assert str(caught.value) == f"another job is running: {job.id}; wait for it, or cancel it"
        worker.kill()
        worker.wait()
        assert (job.worker(), job.state) == (None, "interrupted")
    refuse_busy(tmp_path)


@pytest.mark.parametrize("other", [{"started_s": 1e6}, {"started_s": None}, {"boot": "an earlier one"}])
def test_another_process_with_the_workers_number(tmp_path: Path, other: dict[str, Any]) -> None:
    """The number alone says nothing: it was used again."""
    job = made(tmp_path)
    with living(job, **other) as worker:
        assert (job.worker(), job.state) == (None, "interrupted")
        worker.kill()


@pytest.mark.parametrize("name", ["", "plan.json", "journal.jsonl"])
def test_a_job_that_another_user_could_have_written_is_refused(tmp_path: Path, name: str) -> None:
    """Root would carry it out."""
    tmp_path.chmod(0o700)
    job, other = made(tmp_path), made(tmp_path)
    (job.folder / name).chmod(0o766)
    assert [each.id for each in all_jobs(tmp_path)] == [other.id]
    (line,) = foreign_jobs(tmp_path)
    assert (line.id, line.state) == (job.id, "not trusted")
    assert line.title.startswith(f"{job.folder / name} is writable by others than root (user ")
    with pytest.raises(JobError, match=f"{job.id} cannot be trusted: .* is writable by others than root"):
        find_job(job.id, tmp_path)
    with pytest.raises((JobError, OSError), match="is writable by others") if name else nullcontext():
        _ = job.plan, job.entries()


def test_no_such_process() -> None:
    for pid, at_s in ((0, 1.0), (-1, 1.0), ("1", 1.0), (1 << 62, 1.0), (1, "now"), (None, None)):
        assert process_of(pid, at_s, boot_id()) is None


def test_a_worker_is_known_whatever_the_clock_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The epoch time of a start moves with the clock; the ticks since the boot do not."""
    job = made(tmp_path)
    with living(job) as worker:
        moved_s = worker.create_time() + 86_400.0
        monkeypatch.setattr(psutil.Process, "create_time", lambda _: moved_s)
        found = job.worker()
        assert found is not None
        assert (found.pid, job.state) == (worker.pid, "running")
        worker.kill()


def test_a_process_that_has_ended_and_is_not_reaped_is_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        begun_s = started_s(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert started_s(process.pid) is None
        assert process_of(process.pid, begun_s, boot_id()) is None


def test_a_job_that_has_ended_does_not_run(tmp_path: Path, hold: Hold) -> None:
    job = made(tmp_path, WORK, {"event": "done"})
    hold(tmp_path, job.id)
    assert job.state == "done"


def begin(step: int) -> dict[str, Any]:
    return {"event": "begin", "step": step}


def done(step: int) -> dict[str, Any]:
    return {"event": "step done", "step": step}


UNDO_1, UNDONE_1 = {"event": "undo", "of": 1, "command": "x"}, {"event": "undone", "step": 1}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), (set(), set())),
        ((begin(0),), (set(), {0})),
        ((begin(0), done(0), begin(1)), ({0}, {1})),
        ((begin(0), {"event": "step failed", "step": 0}), (set(), {0})),
        ((begin(0), {"event": "step failed", "step": 0}, begin(0), done(0)), ({0}, set())),
        ((begin(0), done(0), begin(1), done(1), UNDO_1), ({0}, {1})),
        ((begin(0), done(0), begin(1), done(1), UNDO_1, {"event": "undo failed", "of": 1}), ({0}, {1})),
        ((begin(0), done(0), begin(1), done(1), UNDO_1, UNDONE_1), ({0}, set())),
        ((begin(0), done(0), begin(1), UNDONE_1), ({0}, set())),
        ((begin(1), done(1), UNDO_1, UNDONE_1, begin(1)), (set(), {1})),
        (({"event": "begin", "step": "0"}, {"event": "begin"}), (set(), set())),
    ],
)
def test_done_steps(
    tmp_path: Path, events: tuple[dict[str, Any], ...], expected: tuple[set[int], set[int]]
) -> None:
    assert made(tmp_path, *events).done_steps() == expected


IDS = ("20261121-100000-stop-data", "20261121-100000-stop-data-2", "20261122-090000-create-root")


@pytest.mark.parametrize(
    ("name", "job_id"),
    [
        (IDS[0], IDS[0]),
        (IDS[1], IDS[1]),
        ("20261122", IDS[2]),
        ("stop-data", IDS[0]),
        ("data-2", IDS[1]),
        ("root", IDS[2]),
    ],
)
def test_find_job(tmp_path: Path, name: str, job_id: str) -> None:
    named(tmp_path, *IDS)
    (tmp_path / "no-job-but-root").mkdir()
    assert find_job(name, tmp_path).id == job_id


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("20261121", "more than one job matches '20261121': raidtui jobs lists them"),
        ("", "more than one job matches '': raidtui jobs lists them"),
        ("data-3", "no job matches 'data-3': raidtui jobs lists them"),
        ("create", "no job matches 'create': raidtui jobs lists them"),
        ("../jobs", "no job matches '../jobs': raidtui jobs lists them"),
    ],
)
def test_a_name_that_is_no_jobs(tmp_path: Path, name: str, sentence: str) -> None:
    named(tmp_path, *IDS)
    with pytest.raises(JobError) as caught:
        find_job(name, tmp_path)
    assert str(caught.value) == sentence


def test_no_jobs_at_all(tmp_path: Path) -> None:
    assert all_jobs(tmp_path / "none") == []


def test_one_worker_at_a_time(tmp_path: Path, hold: Hold) -> None:
    pid = hold(tmp_path, "first")
    with pytest.raises(JobError) as caught, only_worker(tmp_path, "second"):
        pytest.fail("both work")
    assert str(caught.value) == (
        f"another job is running: first (pid {pid}, by ada); wait for it, or cancel it"
    )
    assert worker_of(tmp_path) == "first"


def test_the_lock_is_free_afterwards(tmp_path: Path) -> None:
    with only_worker(tmp_path, "a-job-with-a-long-name"):
        assert worker_of(tmp_path) == "a-job-with-a-long-name"
    assert worker_of(tmp_path) is None
    with only_worker(tmp_path, "b"):
        assert (tmp_path / "lock").read_text() == f"b (pid {os.getpid()}, by ada)"
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_whoever_only_looks_is_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock's file still names the last job: one that looks must not take another one for it."""
    with only_worker(tmp_path, "last"):
        pass
    looking = os.open(tmp_path / "lock", os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert worker_of(tmp_path) is None

    def pause(seconds: float) -> None:
        if seconds:
            fcntl.flock(looking, fcntl.LOCK_UN)

    monkeypatch.setattr("raidtui.jobs.state_files.time.sleep", pause)
    with only_worker(tmp_path, "next"):
        assert worker_of(tmp_path) == "next"
    os.close(looking)


def test_a_job_that_no_worker_has_begun(tmp_path: Path) -> None:
    """Its whole journal is of the present, and nothing of it is too late to be undone."""
    job = Job.create(SMALL, host="nas", folder=tmp_path)
    assert job.since_work() == job.entries()
    refuse_late(MemoryReader({}), job, SMALL)


def test_a_worker_that_was_killed_right_after_the_point_of_no_return(tmp_path: Path) -> None:
    """Whether the step was done is what the host says, but only of a step that was begun."""
    host = MemoryReader({})
    gone = Fact(kind=FactKind.GONE, subject="md9")
    there = Fact(kind=FactKind.ARRAY, subject="md9", value="x")
    for proof, final in ((gone, True), (there, False)):
        step = RunTool(argv=("mdadm",), why="w", final=True, proves=(proof,))
        plan = Plan(title=f"no way back {final}", subject="data", steps=(step,))
        job = Job.create(plan, host="nas", folder=tmp_path)
        assert not is_final(host, job, plan)
        job.note(event="begin", step=0)
        assert is_final(host, job, plan) is final


def test_each_state_is_a_sentence() -> None:
    assert all(isinstance(state.sentence, str) and state.sentence for state in JobState)
