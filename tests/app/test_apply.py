"""``raidtui apply`` and ``raidtui jobs``: what is refused, what is said, and the exit statuses."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from raidtui.app.cli import run
from raidtui.jobs.lock import JobError, only_worker
from raidtui.jobs.plan_file import machine_of, save_plan
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.model.plan import Harm, Plan, PutFile, RunTool
from tests.command.host import Host, opens

BACK = RunTool(argv=("mdadm", "--assemble", "/dev/md127"), why="start it again")
STEP = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="releases its members", undo=(BACK,))
PLAN = Plan(title="stop: data", subject="data", steps=(STEP,), harm=Harm.REDUCES)
DESTROYS = replace(PLAN, title="create: data", harm=Harm.DESTROYS, confirm="data")
NO_UNDO = replace(PLAN, title="fail: sda", steps=(replace(STEP, undo=()),))

WORK, DONE_0 = {"event": "work"}, {"event": "step done", "step": 0}
BEGIN = {"event": "begin", "step": 0, "command": "mdadm --stop /dev/md127"}
NOT_BEGUN = {"event": "not begun", "reason": "another job is running: x", "busy": True}
HINT = "To continue: raidtui jobs resume {0}; to undo: raidtui jobs rollback {0}\n"
GONE = "The worker has ended, the job was interrupted. " + HINT
REPORTED = "  1  mdadm --stop /dev/md127\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Where the jobs are."""
    return tmp_path / "lib" / "jobs"


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch, jobs: Path) -> Host:
    """This machine, root, and the year in which ada makes jobs."""
    real = time.strftime

    def stamp(form: str, *moment: Any) -> str:
        return real(form, *moment) if moment else "20261121-100000"

    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: jobs.parent / "journal.jsonl")
    monkeypatch.setattr("raidtui.jobs.store.time.time", lambda: 1_795_209_900.0)
    monkeypatch.setattr("raidtui.jobs.store.time.strftime", stamp)
    monkeypatch.setattr("raidtui.jobs.spawn._BEGIN_S", 0.0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_USER", "ada")
    return opens(monkeypatch, Host(live=True))


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """(job, back) of every worker that was started; it does what ``ends`` says."""
    started: list[tuple[str, bool]] = []

    def start(job: Job, *, back: bool = False) -> None:
        started.append((job.id, back))
        note(job, WORK, {"event": "rolled back", "reason": "requested"} if back else {"event": "done"})

    for module in ("app.commands.jobs", "jobs.spawn"):
        monkeypatch.setattr(f"raidtui.{module}.start_worker", start)
    return started


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs raidtui and gives (status, stdout, stderr)."""

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run(list(words))
        return (status, *capsys.readouterr())

    return call


def note(job: Job, *events: dict[str, Any]) -> Job:
    """Let these entries be in a job's journal."""
    for event in events:
        job.note(**event)
    return job


def made(*events: dict[str, Any], plan: Plan = PLAN) -> Job:
    """Return a new job with these entries."""
    return note(Job.create(plan, host="nas"), *events)


def saved(folder: Path, plan: Plan = PLAN, host: str = "nas") -> str:
    """Write a plan into a file; return its path."""
    path = folder / "plan.json"
    path.write_bytes(save_plan(plan, host=host, made_s=1.5))
    return str(path)


STOPS = (
    "stop: data (reduces redundancy, or makes the array unavailable for a time)\n"
    "  1  mdadm --stop /dev/md127\n"
    "       releases its members\n"
    "This can be undone.\n"
    "  undo 1: mdadm --assemble /dev/md127\n"
)


def test_applied(tmp_path: Path, call: Run, workers: list[tuple[str, bool]]) -> None:
    assert call("apply", saved(tmp_path)) == (0, f"{STOPS}done\n", "")
    (job,) = all_jobs()
    assert (job.plan, job.state, workers) == (PLAN, "done", [("20261121-100000-stop", False)])


def test_applied_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, call: Run, workers: list[tuple[str, bool]]
) -> None:
    data = io.BytesIO(save_plan(PLAN, host="nas", made_s=1.5))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data))
    assert call("apply", "-")[0] == 0
    assert len(workers) == 1


def test_detached(tmp_path: Path, call: Run, workers: list[tuple[str, bool]]) -> None:
    status, out, err = call("apply", saved(tmp_path), "--detach")
    name = "20261121-100000-stop"
    assert (status, out, err) == (0, f"{STOPS}job {name}: raidtui jobs attach {name}\n", "")
    assert workers == [(name, False)]


ALREADY = Plan(title="already so", subject="", steps=(), notes=("data is already read-only",), already=True)


def test_what_is_so_already(tmp_path: Path, call: Run, workers: list[tuple[str, bool]]) -> None:
    path = saved(tmp_path, ALREADY)
    assert call("apply", path) == (0, "already so: data is already read-only\n", "")
    status, out, err = call("apply", "--json", path)
    assert (status, err) == (0, "already so: data is already read-only\n")
    assert json.loads(out) == {
        "raidtui_apply": 1,
        "changed": False,
        "already": True,
        "title": "already so",
        "job": None,
        "state": None,
    }
    assert (workers, list(all_jobs())) == ([], [])


@pytest.mark.parametrize(
    ("events", "result"),
    [
        ((BEGIN, DONE_0, {"event": "done"}), (0, True, "done")),
        ((BEGIN, {"event": "failed", "reason": "x"}), (1, True, "failed")),
        (({"event": "failed", "reason": "what it needs is not so"},), (1, False, "failed")),
        ((NOT_BEGUN,), (75, False, "not begun")),
    ],
)
def test_what_was_changed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Run,
    events: tuple[dict[str, Any], ...],
    result: tuple[int, bool, str],
) -> None:
    """A step that was begun may have changed the host."""
    work = () if NOT_BEGUN in events else (WORK,)
    monkeypatch.setattr("raidtui.jobs.spawn.start_worker", lambda job, **_: note(job, *work, *events))
    status, out, err = call("apply", "--json", saved(tmp_path))
    found = json.loads(out)
    assert (status, found["changed"], found["state"]) == result
    assert (found["already"], found["job"]) == (False, "20261121-100000-stop")
    assert err.startswith(STOPS)


def test_what_is_no_plan(tmp_path: Path, call: Run, workers: list[tuple[str, bool]]) -> None:
    path = tmp_path / "none.json"
    assert call("apply", str(path)) == (2, "", f"raidtui: {path}: No such file or directory\n")
    path.write_text("rm -rf\n")
    sentence = "not a plan: JSON is malformed: invalid character (byte 0)"
    assert call("apply", str(path)) == (2, "", f"raidtui: {sentence}\n")
    path.write_text("{}")
    sentence = "not a plan of version 2: raidtui plan ... --json prints one"
    assert call("apply", str(path)) == (2, "", f"raidtui: {sentence}\n")
    assert (workers, all_jobs()) == ([], [])


@pytest.mark.parametrize(
    ("plan", "words", "sentence"),
    [
        (DESTROYS, (), "it destroys data: to confirm, give --confirm=data"),
        (DESTROYS, ("--confirm=dat",), "it destroys data: to confirm, give --confirm=data"),
        (
            replace(DESTROYS, confirm="my data"),
            (),
            "it destroys data: to confirm, give --confirm='my data'",
        ),
        (
            replace(DESTROYS, confirm="", subject="sda"),
            (),
            "it destroys data: to confirm, give --confirm=sda",
        ),
    ],
)
@pytest.mark.usefixtures("workers")
def test_what_destroys_is_confirmed(
    tmp_path: Path, call: Run, plan: Plan, words: tuple[str, ...], sentence: str
) -> None:
    path = saved(tmp_path, plan)
    assert call("apply", path, *words) == (2, "", f"raidtui: not done: {sentence}\n")
    assert all_jobs() == []
    assert call("apply", path, f"--confirm={plan.confirm or plan.subject}")[0] == 0


def test_who_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Run, host: Host, workers: list[tuple[str, bool]]
) -> None:
    for other, name in (("else", "else"), ("", "another host"), ("\x1b[2J", "\\x1b[2J")):
        said = f"raidtui: not done: the plan was made on {name}, this is nas\n"
        assert call("apply", saved(tmp_path, host=other)) == (2, "", said)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said = "raidtui: not done: needs root: run it with sudo\n"
    assert call("apply", saved(tmp_path)) == (2, "", said)
    host.live = False
    said = "raidtui: not done: a capture cannot be changed\n"
    assert call("apply", saved(tmp_path)) == (2, "", said)
    assert (workers, all_jobs()) == ([], [])


def test_another_job_runs(tmp_path: Path, call: Run, jobs: Path) -> None:
    """And nothing is left behind of the one that was not begun."""
    jobs.mkdir(parents=True)
    with only_worker(jobs, "other"):
        status, _, err = call("apply", saved(tmp_path))
    assert (status, err) == (75, "raidtui: another job is running: other; wait for it, or cancel it\n")
    assert all_jobs() == []


def test_a_worker_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Run) -> None:
    def start(_: Job) -> None:
        raise JobError("the worker cannot be started: another job of fork failed")

    for module in ("app.commands.jobs", "jobs.spawn"):
        monkeypatch.setattr(f"raidtui.{module}.start_worker", start)
    status, _, err = call("apply", saved(tmp_path))
    assert (status, err) == (2, "raidtui: the worker cannot be started: another job of fork failed\n")
    assert all_jobs() == []


def test_one_that_came_too_late_is_not_resumed(call: Run) -> None:
    """Of two that are applied at once, one worker finds the other: its plan is of a host of before."""
    job = made(NOT_BEGUN)
    assert json.loads(call("jobs", "--json")[1])["jobs"][0]["state"] == "not begun"
    why = f"job {job.id} was not started, because another job was running: apply its plan again"
    assert call("jobs", "resume", job.id) == (2, "", f"raidtui: {why}\n")
    why = f"job {job.id} has done no step that can be undone"
    assert call("jobs", "rollback", job.id) == (2, "", f"raidtui: {why}\n")


def test_no_job_yet(call: Run, jobs: Path) -> None:
    assert call("jobs") == (0, f"No jobs in {jobs}.\n", "")
    assert call("jobs", "--json") == (0, '{\n "jobs": []\n}\n', "")
    sentence = "no job matches 'x': raidtui jobs lists them"
    for order in ("attach", "cancel", "resume", "rollback"):
        assert call("jobs", order, "x") == (2, "", f"raidtui: {sentence}\n")
    assert call("jobs", "attach", "another job")[0] == 2


def test_the_list(call: Run) -> None:
    made(WORK, {"event": "done"})
    made(WORK, plan=replace(PLAN, title="stop: a\x1b[2J"))
    names = ["20261121-100000-stop", "20261121-100000-stop-2"]
    lines = (
        f"{names[0]}  done         2026-11-20 21:25  ada  stop: data\n"
        f"{names[1]}  interrupted  2026-11-20 21:25  ada  stop: a\\x1b[2J\n"
    )
    assert call("jobs") == (0, lines, "")
    common = {"who": "ada", "made_s": 1_795_209_900.0, "waits_for": None, "percent": None}
    assert json.loads(call("jobs", "--json")[1]) == {
        "jobs": [
            {"id": names[0], "state": "done", "title": "stop: data", **common},
            {"id": names[1], "state": "interrupted", "title": "stop: a\x1b[2J", **common},
        ]
    }


@pytest.mark.parametrize(
    ("events", "status", "last"),
    [
        ((DONE_0, {"event": "done"}), 0, "  1  done\ndone\n"),
        (({"event": "failed", "reason": "step 1: busy"},), 1, "failed: step 1: busy\n" + HINT),
        (({"event": "cancelled"},), 1, "cancelled\n" + HINT),
        (({"event": "rolled back", "reason": "requested"},), 1, "rolled back: requested\n"),
        (({"event": "stuck", "reason": "no"},), 1, "stuck: no\n" + HINT),
        ((), 1, GONE),
    ],
)
def test_attach(call: Run, events: tuple[dict[str, Any], ...], status: int, last: str) -> None:
    job = made(WORK, BEGIN, *events)
    assert call("jobs", "attach", "stop") == (status, REPORTED + last.format(job.id), "")


def test_attach_offers_no_way_back_where_there_is_none(call: Run) -> None:
    job = made(WORK, BEGIN, {"event": "failed", "reason": "step 1: busy"}, plan=NO_UNDO)
    hint = f"To continue: raidtui jobs resume {job.id}\n"
    assert call("jobs", "attach", "fail") == (1, f"{REPORTED}failed: step 1: busy\n{hint}", "")


def test_attach_to_one_that_was_not_begun(call: Run) -> None:
    made(NOT_BEGUN)
    said = "not begun: another job is running: x\n"
    assert call("jobs", "attach", "stop") == (75, said, "")
    made({"event": "not begun", "reason": "job x has no plan"}, plan=NO_UNDO)
    assert call("jobs", "attach", "fail") == (1, "not begun: job x has no plan\n", "")


def test_attach_shows_all_that_happened(call: Run) -> None:
    """One that failed and then continued is not one that failed."""
    job = made(WORK, BEGIN, {"event": "failed", "reason": "busy"}, WORK, BEGIN, DONE_0, {"event": "done"})
    said = f"{REPORTED}failed: busy\n{REPORTED}  1  done\ndone\n"
    assert call("jobs", "attach", job.id) == (0, said, "")
    note(job, NOT_BEGUN)
    assert call("jobs", "attach", job.id)[0] == 0
    note(job, WORK)
    assert call("jobs", "attach", job.id)[0] == 1


def test_leaving_leaves_the_job(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("raidtui.command.following.follow", follow)
    job = made(WORK)
    said = f"\nThe job continues. To follow it: raidtui jobs attach {job.id}\n"
    assert call("jobs", "attach", "stop") == (0, said, "")


ENDS = ("done", "failed", "cancelled", "rolled back", "stuck")


@pytest.mark.parametrize("state", ["made", "interrupted", *ENDS])
def test_resume(call: Run, workers: list[tuple[str, bool]], state: str) -> None:
    job = made(*((WORK, BEGIN) if state != "made" else ()), *(({"event": state},) if state in ENDS else ()))
    assert job.state == state
    if state in {"done", "rolled back"}:
        said = f"raidtui: job {job.id} {JobState(state).sentence}: there is nothing to resume\n"
        assert (call("jobs", "resume", "stop"), workers) == ((2, "", said), [])
    else:
        assert call("jobs", "resume", "stop") == (0, "done\n", "")
        assert workers == [(job.id, False)]


@pytest.mark.parametrize("state", ["interrupted", *ENDS])
def test_rollback(call: Run, workers: list[tuple[str, bool]], state: str) -> None:
    job = made(WORK, BEGIN, *(({"event": state},) if state in ENDS else ()))
    assert call("jobs", "rollback", "stop") == (0, "rolled back: requested\n", "")
    assert workers == [(job.id, True)]


@pytest.mark.parametrize(
    ("plan", "events"),
    [
        (PLAN, ()),
        (PLAN, (WORK, {"event": "failed"})),
        (PLAN, (WORK, BEGIN, DONE_0, {"event": "undone", "step": 0}, {"event": "rolled back"})),
        (NO_UNDO, (WORK, BEGIN, DONE_0, {"event": "done"})),
    ],
)
def test_nothing_to_undo(
    call: Run, workers: list[tuple[str, bool]], plan: Plan, events: tuple[dict[str, Any], ...]
) -> None:
    job = made(*events, plan=plan)
    said = f"raidtui: job {job.id} has done no step that can be undone\n"
    assert (call("jobs", "rollback", job.id), workers) == ((2, "", said), [])


def test_a_job_that_runs(call: Run, jobs: Path, workers: list[tuple[str, bool]]) -> None:
    job = made(WORK, BEGIN)
    said = f"raidtui: job {job.id} is running; to follow it: raidtui jobs attach {job.id}\n"
    with only_worker(jobs, job.id):
        for order in ("resume", "rollback"):
            assert call("jobs", order, "stop") == (2, "", said)
    assert workers == []


def test_while_another_one_runs(call: Run, jobs: Path) -> None:
    made(WORK, BEGIN)
    with only_worker(jobs, "other"):
        for order in ("resume", "rollback"):
            said = "raidtui: another job is running: other; wait for it, or cancel it\n"
            assert call("jobs", order, "stop") == (75, "", said)


def test_a_job_whose_plan_cannot_be_read(call: Run, workers: list[tuple[str, bool]]) -> None:
    job = made(WORK, BEGIN)
    (job.folder / "plan.json").write_text("{")
    assert call("jobs", "rollback", "stop") == (
        2,
        "",
        "raidtui: not a plan: Input data was truncated\n",
    )
    assert workers == []


CANCELLED = """
import signal, sys
from pathlib import Path
from raidtui.jobs.lock import only_worker
from raidtui.jobs.store import Job
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
job = Job(Path(sys.argv[1]))
with only_worker(job.folder.parent, job.id):
    job.note_work()
    print("works", flush=True)
    signal.sigwait({signal.SIGTERM})
    job.note(event="step done", step=0)
    job.note(event=sys.argv[2], reason=sys.argv[3])
"""


@contextlib.contextmanager
def working(job: Job, end: str, reason: str) -> Iterator[None]:
    """A worker that ends so when it is asked to."""
    argv = (sys.executable, "-c", CANCELLED, str(job.folder), end, reason)
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"works\n"
        yield
        worker.terminate()


def test_cancel(call: Run) -> None:
    job = made(WORK, BEGIN)
    with working(job, "cancelled", "cancelled before step 2"):
        status, out, err = call("jobs", "cancel", "stop")
    hint = HINT.format(job.id)
    assert (status, out, err) == (0, f"  1  done\ncancelled: cancelled before step 2\n{hint}", "")


def test_a_cancel_that_comes_too_late(call: Run, jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = made(WORK, BEGIN)
    with working(job, "done", ""):
        assert call("jobs", "cancel", "stop") == (1, "  1  done\ndone\n", "")

    def gone(process: psutil.Process) -> None:
        note(job, {"event": "done"})
        raise psutil.NoSuchProcess(process.pid)

    with working(job, "done", ""):
        monkeypatch.setattr(psutil.Process, "terminate", gone)
        said = f"raidtui: job {job.id} is done: there is nothing to cancel\n"
        assert call("jobs", "cancel", "stop") == (2, "", said)


def test_a_worker_of_another_user_is_not_cancelled(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    job = made(WORK, BEGIN)
    with working(job, "done", ""):
        monkeypatch.setattr(psutil.Process, "terminate", denied)
        said = f"raidtui: job {job.id} cannot be cancelled: its worker is another user's process\n"
        assert call("jobs", "cancel", "stop") == (2, "", said)


@pytest.mark.parametrize("state", ["interrupted", *ENDS])
def test_cancel_what_does_not_run(call: Run, state: str) -> None:
    job = made(WORK, *(({"event": state},) if state in ENDS else ()))
    said = f"raidtui: job {job.id} {JobState(state).sentence}: there is nothing to cancel\n"
    assert call("jobs", "cancel", "stop") == (2, "", said)


@pytest.mark.parametrize(
    "words",
    [("attach", "stop"), ("cancel", "stop"), ("resume", "stop"), ("rollback", "stop"), ("work", "/nowhere")],
)
def test_another_host_has_no_jobs(
    call: Run, host: Host, workers: list[tuple[str, bool]], words: tuple[str, ...]
) -> None:
    """``--demo jobs resume`` would change this one; a list of its jobs would show what is not there."""
    made(WORK, BEGIN)
    host.live = False
    said = "raidtui: refused: jobs are of this host, and --root or --demo names another one\n"
    assert (call("jobs", *words), workers) == ((2, "", said), [])
    assert call("jobs") == (0, "No jobs: --root and --demo show another host.\n", "")
    assert json.loads(call("jobs", "--json")[1]) == {"jobs": []}


def test_a_worker_says_how_it_ended(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    def work_on(_: object, folder: Path, *, back: bool, measuring: object) -> int:
        assert callable(measuring)
        asked.append((folder.name, back))
        return 75

    monkeypatch.setattr("raidtui.app.commands.jobs.work_on", work_on)
    assert [call("jobs", "work", "/x/a")[0], call("jobs", "work", "/x/b", "--back")[0]] == [75, 75]
    assert asked == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    "words", [("apply",), ("apply", "a", "b"), ("jobs", "attach"), ("jobs", "undo", "x"), ("jobs", "x")]
)
def test_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(list(words))
    assert (ended.value.code, capsys.readouterr().out) == (64, "")


def written(path: Path, content: str, undo: str | None = None) -> Plan:
    """A plan that writes a file, and what it says of the way back."""
    back = () if undo is None else (PutFile(path=str(path), content=undo, why="back"),)
    step = PutFile(path=str(path), content=content, why="the list of arrays is brought up to date", undo=back)
    return Plan(title="check: data", subject="data", steps=(step,))


def test_all_that_a_file_gets_is_shown(tmp_path: Path, call: Run, workers: list[tuple[str, bool]]) -> None:
    """Whatever the plan says of what was there before."""
    evil = "* * * * * root evil\n" + "# harmless\n" * 6
    path = tmp_path / "cron"
    for undo in (None, evil):
        out = call("apply", saved(tmp_path, written(path, evil, undo)))[1]
        assert "+ * * * * * root evil\n" in out
        assert out.count("+ # harmless\n") == 6
    assert "| * * * * * root evil\n" in out  # what the way back writes
    assert len(workers) == 2


def test_old_and_new_and_what_is_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: Run, workers: list[tuple[str, bool]]
) -> None:
    path, host = tmp_path / "x", Host(live=True)
    host.put(str(path), "one\ntwo\n")
    opens(monkeypatch, host)
    out = call("apply", saved(tmp_path, written(path, "one\n\xff", "one\ntwo\n")))[1]
    assert "       - two\n       + \\xff\n       (no newline at the end)\n       5 bytes, SHA-256 " in out
    assert f"undo 1: write {path} (as it reads now)\n" in out
    out = call("apply", saved(tmp_path, written(path, "x\n" * 600_000, "y" * 70_000)))[1]
    assert "       + 1200000 bytes, SHA-256 " in out
    assert "  | 70000 bytes, SHA-256 " in out
    assert "yyy" not in out
    assert len(workers) == 2


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("\n\n\n", (0, 3, 1)), ("\nq\n", (2, 2, 0)), ("\n", (2, 2, 0)), ("", (2, 1, 0))],
    ids=["read", "stopped", "the input ends", "nobody"],
)
def test_what_a_terminal_does_not_fit_is_read_first(  # noqa: PLR0917  (fixtures)
    typed: str,
    wanted: tuple[int, int, int],
    tmp_path: Path,
    call: Run,
    workers: list[tuple[str, bool]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Page by page; what fits is printed, and carried out as it always was."""
    monkeypatch.setattr("raidtui.command.paging.shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    typing = io.StringIO(typed)
    monkeypatch.setattr(typing, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", typing)
    file = saved(tmp_path, written(tmp_path / "cron", "".join(f"line {n}\n" for n in range(50)), ""))
    status, out, _ = call("apply", file)
    pages = out.split("q: stop -- ")
    assert (status, len(pages) - 1, len(workers)) == wanted
    assert all(len(page.splitlines()) <= 24 for page in pages[:-1])


def test_what_destroys_is_confirmed_whatever_it_says(
    tmp_path: Path, call: Run, workers: list[tuple[str, bool]]
) -> None:
    wipe = replace(
        PLAN, harm=Harm.HARMLESS, steps=(RunTool(argv=("wipefs", "--all", "/dev/sdzz"), why="looks"),)
    )
    path = saved(tmp_path, wipe)
    why = "raidtui: not done: it destroys data: to confirm, give --confirm=data\n"
    assert call("apply", path) == (2, "", why)
    assert call("apply", path, "--confirm=data")[0] == 0
    (job,) = all_jobs()
    assert (job.plan.harm, job.plan.steps[0].destroys) == (Harm.DESTROYS, True)
    assert call("apply", saved(tmp_path, replace(wipe, subject="")))[2].endswith("--confirm=destroy\n")
    assert len(workers) == 1


def test_a_step_that_raidtui_does_not_make(
    tmp_path: Path, call: Run, workers: list[tuple[str, bool]]
) -> None:
    plan = replace(PLAN, steps=(STEP, RunTool(argv=("sh",), stdin="touch /tmp/x", why="looks")))
    why = (
        "raidtui: not done: step 2: 'sh' is not a tool that raidtui's plans run; raidtui makes no such plan\n"
    )
    assert call("apply", saved(tmp_path, plan)) == (2, "", why)
    assert (workers, all_jobs()) == ([], [])


def test_another_host_of_this_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: Run, workers: list[tuple[str, bool]]
) -> None:
    here, there = Host(live=True), Host(live=True)
    here.put("/etc/machine-id", "a1\n")
    there.put("/etc/machine-id", "b2\n")
    path = tmp_path / "plan.json"
    path.write_bytes(save_plan(PLAN, host="nas", made_s=1.5, machine=machine_of(there)))
    opens(monkeypatch, here)
    why = "the plan was made on another host of the name nas: its machine-id is not this one's"
    assert call("apply", str(path)) == (2, "", f"raidtui: not done: {why}\n")
    opens(monkeypatch, there)
    assert call("apply", str(path))[0] == 0
    assert (len(workers), "b2" in path.read_text()) == (1, False)
