"""The worker: order, what is on disk when, failures, going back, being cancelled, being killed anywhere."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs import blackbox, runner, spawn, worker
from raidtui.jobs.lock import JobError, only_worker, worker_of
from raidtui.jobs.plan_file import save_plan
from raidtui.jobs.spawn import cancel
from raidtui.jobs.state_files import write_synced
from raidtui.jobs.states import entry_text
from raidtui.jobs.store import Job
from raidtui.jobs.undo_record import UndoRecord, WrittenValue
from raidtui.jobs.worker import Worker, work_on
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, PutFile, RunTool, Step, WaitUntil, Write

PATHS = ("/sys/a", "/sys/b", "/sys/c")
A, B, C = PATHS


def reads(path: str, text: str) -> Fact:
    """Return the fact that a file reads so."""
    return Fact(kind=FactKind.TEXT, subject=path, value=text)


def back(path: str) -> Step:
    """Return the undo of a step."""
    return Write(path=path, text="0", why="as it was", proves=(reads(path, "0"),))


def up(path: str, **more: Any) -> Step:
    """Return a step that writes 1 into a file that reads 0."""
    return Write(path=path, text="1", why="more", proves=(reads(path, "1"),), undo=(back(path),), **more)


PLAN = Plan(title="all up", subject="data", steps=tuple(map(up, PATHS)))
BACK = replace(PLAN, rolls_back=True)
TOOL = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="x")


class Host(SimulatedReader):
    """Takes writes, runs tools as it was asked to, and remembers in which order.

    Attributes:
        did: "path text" of writes that reached it, and the words of tools.
        before: called with each of them before it happens.
        fails: what of them -> the error.
        answers: argv -> exit status, output, error output.
    """

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(PATHS, "0\n"))
        self.did: list[str] = []
        self.before: Callable[[str], None] = lambda _: None
        self.fails: dict[str, int] = {}
        self.answers: dict[tuple[str, ...], tuple[int, str, str]] = {}

    def take_value(self, path: str, text: str) -> None:
        self._happen(f"{path} {text}")
        self.put(path, f"{text}\n")

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        self._happen(" ".join(argv))
        status, out, err = self.answers.get(argv, (0, "", ""))
        return ToolOutput(argv=argv, status=status, stdout=out, stderr=err)

    def _happen(self, what: str) -> None:
        self.before(what)
        self.did.append(what)
        if what in self.fails:
            raise OSError(self.fails[what], os.strerror(self.fails[what]))

    @property
    def state(self) -> str:
        """What the files read."""
        return "".join(self.text(path) or "-" for path in PATHS)


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The signals are put back; and nobody waits for proofs."""
    monkeypatch.setattr(runner, "_PROOF_S", 0.0)
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def host() -> Host:
    return Host()


RULES = "/etc/udev/rules.d/60-raidtui-io.rules"
RELOAD = RunTool(argv=("udevadm", "control", "--reload"), why="x")
KEEPS = Plan(
    title="kept: a",
    subject="sda",
    steps=(up(A), RunTool(argv=("rm", "--force", "--", RULES), why="x", undo=(RELOAD,))),
    undo=(RELOAD, back(A)),
)


@pytest.mark.parametrize("plan", [KEEPS, PLAN], ids=["keeps", "does not"])
def test_what_is_kept_by_a_job_can_be_undone_by_tune_undo(
    plan: Plan, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pane 4's k is a job: a process of its own, and not the one that knows what was tuned."""
    place = tmp_path / "run" / "tune.json"
    monkeypatch.setattr("raidtui.jobs.worker.record_path", lambda: place)
    host.live = True
    job = job_of(tmp_path, plan)
    assert Worker(host, job).work() == "done"
    found = UndoRecord(host, place).load()
    if plan is PLAN:
        assert found == ()
        return
    (done,) = found
    assert (done.undo.title, done.undo.steps) == ("undone: kept: a", plan.undo)
    assert done.writes == (WrittenValue(path=A, before="0", value="1"),)
    assert Worker(host, job).roll_back() == "rolled back"
    assert UndoRecord(host, place).load() == ()


def job_of(folder: Path, plan: Plan, *events: dict[str, Any]) -> Job:
    """Return a new job in whose journal these entries are."""
    job = Job.create(plan, host="nas", folder=folder)
    for event in events:
        job.note(**event)
    return job


def journal(job: Job, *, since: int = 0) -> list[str]:
    """Return the journal in short: "begin 0"."""
    words = ((entry["event"], entry.get("step", entry.get("of", ""))) for entry in job.entries()[since:])
    return [f"{event} {number}".strip() for event, number in words]


def reason(job: Job) -> object:
    """Return the reason in the journal's last entry."""
    return job.entries()[-1].get("reason")


def test_all_steps(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    assert Worker(host, job).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1", f"{C} 1"]
    assert (host.state, job.state, job.done_steps()) == ("111", "done", ({0, 1, 2}, set()))
    keys = [
        {key: value for key, value in entry.items() if key not in {"at_s", "who", "started_s", "boot"}}
        for entry in job.entries()
    ]
    assert keys == [
        {"event": "made", "title": "all up", "subject": "data"},
        {"event": "work", "pid": os.getpid()},
        {"event": "begin", "step": 0, "command": f"echo 1 > {A}"},
        {"event": "step done", "step": 0},
        {"event": "begin", "step": 1, "command": f"echo 1 > {B}"},
        {"event": "step done", "step": 1},
        {"event": "begin", "step": 2, "command": f"echo 1 > {C}"},
        {"event": "step done", "step": 2},
        {"event": "done"},
    ]


def test_what_is_on_disk_when_a_step_happens(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    seen: list[tuple[str, str, str]] = []
    host.before = lambda what: seen.append((what, journal(job)[-1], job.state))
    Worker(host, job).work()
    assert seen == [
        (f"{A} 1", "begin 0", "running"),
        (f"{B} 1", "begin 1", "running"),
        (f"{C} 1", "begin 2", "running"),
    ]


def test_a_step_that_may_fail_and_did_is_noted_as_missed(tmp_path: Path, host: Host) -> None:
    light = replace(TOOL, argv=("ledctl", "--listed-only", "locate=/dev/sdx"), may_fail=True)
    job = job_of(tmp_path, replace(PLAN, steps=(light, up(A))))
    host.answers[light.argv] = (33, "", "ledctl: /dev/sdx: device not supported\n")
    assert Worker(host, job).work() == "done"
    done = [(entry["step"], entry.get("missed")) for entry in job.entries() if entry["event"] == "step done"]
    assert done == [(0, True), (1, None)]


def test_what_tools_print_is_kept(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, replace(PLAN, steps=(TOOL,)))
    host.answers[TOOL.argv] = (0, "stöpped", "mdadm: stopped /dev/md127\n")
    assert Worker(host, job).work() == "done"
    assert (job.folder / "output.log").read_text() == "stöpped\nmdadm: stopped /dev/md127\n"
    assert [entry["text"] for entry in job.entries() if entry["event"] == "output"] == [
        "stöpped",
        "mdadm: stopped /dev/md127\n",
    ]
    assert journal(job) == ["made", "work", "begin 0", "output", "output", "step done 0", "done"]


def test_an_old_file_is_kept_under_the_jobs_name(tmp_path: Path, host: Host) -> None:
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    job = job_of(tmp_path / "jobs", replace(PLAN, steps=(PutFile(path=str(conf), content="new\n", why="x"),)))
    assert Worker(host, job).work() == "done"
    assert {path.name: path.read_text() for path in tmp_path.glob("mdadm*")} == {
        "mdadm.conf": "new\n",
        f"mdadm.conf.{job.id}.bak": "old\n",
    }


@pytest.mark.parametrize(("plan", "state"), [(PLAN, "failed"), (BACK, "rolled back")])
def test_a_need_that_does_not_hold(tmp_path: Path, host: Host, plan: Plan, state: str) -> None:
    first, *others = plan.steps
    needy = replace(first, needs=(reads(B, "1"),))
    job = job_of(tmp_path, replace(plan, steps=(needy, *others)))
    assert Worker(host, job).work() == state
    assert (host.did, job.state, job.done_steps()) == ([], state, (set(), set()))
    assert reason(job) == f"step 1: {B} reads '0'"


def test_what_was_never_begun_is_not_undone(tmp_path: Path, host: Host) -> None:
    """Somebody else changed what the second step would have changed: his change stays."""
    host.put(B, "5\n")
    plan = replace(BACK, steps=(up(A), up(B, needs=(reads(B, "0"),))))
    job = job_of(tmp_path, plan)
    assert Worker(host, job).work() == "rolled back"
    assert (host.did, host.state) == ([f"{A} 1", f"{A} 0"], "050")
    assert journal(job) == [
        "made",
        "work",
        "begin 0",
        "step done 0",
        "step failed 1",
        "going back",
        "undo 0",
        "undone 0",
        "rolled back",
    ]


@pytest.mark.parametrize(
    ("second", "answer", "why"),
    [
        (
            TOOL,
            (1, "", "mdadm: Cannot get exclusive access\n"),
            "mdadm failed (1): mdadm: Cannot get exclusive access",
        ),
        (up(B), None, "the kernel is busy, or another setting prevents it"),
        (replace(up(B), text="2"), (0, "", ""), f"the step ran, but {B} reads '2'"),
    ],
)
def test_a_step_that_fails(
    tmp_path: Path, host: Host, second: Step, answer: tuple[int, str, str] | None, why: str
) -> None:
    if answer is None:
        host.fails[f"{B} 1"] = errno.EBUSY
    else:
        host.answers[TOOL.argv] = answer
    job = job_of(tmp_path, replace(PLAN, steps=(up(A), second, up(C))))
    assert Worker(host, job).work() == "failed"
    assert (reason(job), job.state, job.done_steps()) == (f"step 2: {why}", "failed", ({0}, {1}))
    assert (len(host.did), host.text(C)) == (2, "0")
    assert [line for line in journal(job) if line != "output"] == [
        "made",
        "work",
        "begin 0",
        "step done 0",
        "begin 1",
        "step failed 1",
        "failed",
    ]


def test_going_on_after_a_failure(tmp_path: Path, host: Host) -> None:
    host.fails[f"{B} 1"] = errno.EBUSY
    job = job_of(tmp_path, PLAN)
    assert Worker(host, job).work() == "failed"
    host.fails.clear()
    assert Worker(host, Job(job.folder)).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1", f"{B} 1", f"{C} 1"]
    assert (host.state, job.state) == ("111", "done")


def test_going_back_by_itself(tmp_path: Path, host: Host) -> None:
    """The third one failed, but who knows what it did before it failed."""

    def refuse(what: str) -> None:
        if what == f"{C} 1":
            host.put(C, "half\n")
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    host.before = refuse
    job = job_of(tmp_path, BACK)
    assert Worker(host, job).work() == "rolled back"
    assert host.did == [f"{A} 1", f"{B} 1", f"{C} 0", f"{B} 0", f"{A} 0"]
    assert (host.state, reason(job)) == ("000", "step 3: Input/output error")
    assert (job.state, job.done_steps()) == ("rolled back", (set(), set()))
    assert journal(job, since=6) == [
        "begin 2",
        "step failed 2",
        "going back",
        "undo 2",
        "undone 2",
        "undo 1",
        "undone 1",
        "undo 0",
        "undone 0",
        "rolled back",
    ]


def test_what_is_as_it_was_is_not_undone(tmp_path: Path, host: Host) -> None:
    host.fails[f"{C} 1"] = errno.EINVAL
    job = job_of(tmp_path, BACK)
    assert Worker(host, job).work() == "rolled back"
    assert host.did == [f"{A} 1", f"{B} 1", f"{C} 1", f"{B} 0", f"{A} 0"]


def test_undo_from_first_to_last(tmp_path: Path, host: Host) -> None:
    plan = replace(PLAN, steps=(replace(up(A), undo=(back(A), TOOL)), up(B)))
    job = job_of(tmp_path, plan)
    worker = Worker(host, job)
    assert (worker.work(), worker.roll_back()) == ("done", "rolled back")
    assert host.did == [f"{A} 1", f"{B} 1", f"{B} 0", f"{A} 0", "mdadm --stop /dev/md127"]


def test_an_undo_that_fails(tmp_path: Path, host: Host) -> None:
    """What can be put back is; what could not be is tried again when asked, the rest is not."""
    host.fails = {f"{C} 1": errno.EBUSY, f"{B} 0": errno.EBUSY}
    job = job_of(tmp_path, BACK)
    assert Worker(host, job).work() == "stuck"
    busy = "the kernel is busy, or another setting prevents it"
    assert (reason(job), job.state) == (f"step 3: {busy}; step 2 cannot be undone: {busy}", "stuck")
    assert (host.state, job.done_steps()) == ("010", (set(), {1}))
    assert journal(job, since=9) == ["undone 2", "undo 1", "undo failed 1", "undo 0", "undone 0", "stuck"]

    host.fails.clear()
    host.did.clear()
    assert Worker(host, job).roll_back() == "rolled back"
    assert (host.did, host.state, reason(job)) == ([f"{B} 0"], "000", "requested")


def test_a_stuck_job_that_goes_on_does_again_what_was_undone(tmp_path: Path, host: Host) -> None:
    host.fails = {f"{C} 1": errno.EBUSY, f"{B} 0": errno.EBUSY}
    job = job_of(tmp_path, BACK)
    Worker(host, job).work()
    host.fails.clear()
    host.did.clear()
    assert Worker(host, job).work() == "done"
    assert (host.did, host.state) == ([f"{A} 1", f"{C} 1"], "111")


@pytest.mark.parametrize("plan", [PLAN, BACK])
def test_cancelled(tmp_path: Path, host: Host, plan: Plan) -> None:
    job = job_of(tmp_path, plan)
    worker = Worker(host, job)
    host.before = lambda what: worker._cancel(signal.SIGTERM, None) if what == f"{B} 1" else None
    assert worker.work() == "cancelled"
    assert (host.did, reason(job), job.state) == (
        [f"{A} 1", f"{B} 1"],
        "cancelled before step 3",
        "cancelled",
    )
    assert journal(job, since=4) == ["begin 1", "step done 1", "cancelled"]
    host.before = lambda _: None
    assert Worker(host, job).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1", f"{C} 1"]


def test_cancelled_too_late(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    worker = Worker(host, job)
    host.before = lambda what: worker._cancel(signal.SIGTERM, None) if what == f"{C} 1" else None
    assert worker.work() == "done"


@pytest.mark.parametrize(("plan", "state", "files"), [(PLAN, "failed", "100"), (BACK, "rolled back", "000")])
def test_a_failure_while_it_is_cancelled_is_a_failure(
    tmp_path: Path, host: Host, plan: Plan, state: str, files: str
) -> None:
    job = job_of(tmp_path, plan)
    worker = Worker(host, job)
    host.fails[f"{B} 1"] = errno.EIO
    host.before = lambda what: worker._cancel(signal.SIGTERM, None) if what == f"{B} 1" else None
    assert worker.work() == state
    assert (host.state, reason(job)) == (files, "step 2: Input/output error")


@pytest.mark.parametrize("held", [False, True])
def test_a_cancel_counts_while_the_worker_is_being_started(tmp_path: Path, host: Host, *, held: bool) -> None:
    """It was lost, and the first step wiped the disks."""
    job = job_of(tmp_path, PLAN)
    with only_worker(job.folder.parent, job.id) if held else contextlib.nullcontext():
        cancel(job)
    assert Worker(host, job).work() == "cancelled"
    assert (host.did, reason(job)) == ([], "cancelled before step 1")
    assert Worker(host, job).work() == "done"


def test_a_cancel_counts_until_the_first_step_begins(tmp_path: Path, host: Host) -> None:
    """To look at the devices takes a while."""
    job = job_of(tmp_path, PLAN)

    def look(*_: object) -> str:
        cancel(job)
        return ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "first_trouble", look)
        assert Worker(host, job, listens=False).work() == "cancelled"
    assert (host.did, reason(job)) == ([], "cancelled before step 1")


def test_a_job_that_is_resumed_forgets_an_old_cancel(tmp_path: Path, host: Host) -> None:
    """Its worker was never started, so that nobody has read it."""
    job = job_of(tmp_path, PLAN)
    cancel(job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            spawn, "run_tool", lambda argv, _: ToolOutput(argv=argv, status=0, stdout="", stderr="")
        )
        patch.setattr(subprocess, "Popen", lambda *_, **__: None)
        spawn.start_worker(job)
    assert Worker(host, job).work() == "done"


def test_signals(tmp_path: Path, host: Host) -> None:
    """A terminal that goes is nothing; one that asks the worker to end waits for the step's end."""
    job = job_of(tmp_path, PLAN)

    def ask(what: str) -> None:
        for number in (signal.SIGHUP, signal.SIGINT) if what == f"{A} 1" else (signal.SIGTERM,):
            signal.raise_signal(number)

    host.before = ask
    assert Worker(host, job).work() == "cancelled"
    assert (host.did, reason(job)) == ([f"{A} 1", f"{B} 1"], "cancelled before step 3")


def kill_at(host: Host, where: str, *, done: bool) -> None:
    """Let the worker die in the middle of a step, before or after it came to its end."""

    def die(what: str) -> None:
        if what == where:
            host.before = lambda _: None
            if done:
                path, text = what.split()
                host.put(path, f"{text}\n")
            raise SystemExit

    host.before = die


@pytest.mark.parametrize(
    ("done", "again", "how"),
    [(True, [], ["step done 1"]), (False, [f"{B} 1"], ["begin 1", "step done 1"])],
)
def test_killed_and_resumed(
    tmp_path: Path, host: Host, *, done: bool, again: list[str], how: list[str]
) -> None:
    job = job_of(tmp_path, PLAN)
    kill_at(host, f"{B} 1", done=done)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert (job.state, job.done_steps(), host.did) == ("interrupted", ({0}, {1}), [f"{A} 1"])
    since = len(job.entries())
    assert Worker(host, Job(job.folder)).work() == "done"
    assert (host.did, host.state) == ([f"{A} 1", *again, f"{C} 1"], "111")
    assert journal(job, since=since) == ["work", *how, "begin 2", "step done 2", "done"]


ARRAY = "fbbb2b1c:6dbccfed:d429a0ed:a9ec20ed"
DASHED = "fbbb2b1c-6dbc-cfed-d429-a0eda9ec20ed"
ELSEWHERE = "the array of the plan is md126: assemble it as md127, or make a new plan"


@pytest.mark.parametrize(
    ("there", "why"),
    [
        pytest.param({"md126": DASHED}, f"md127 is not there; {ELSEWHERE}", id="under another name"),
        pytest.param(
            {"md126": DASHED, "md127": DASHED[::-1].replace("-", "")},
            f"md127 is another array now; {ELSEWHERE}",
            id="another array has its name",
        ),
        pytest.param({}, "md127 is not there", id="nowhere"),
    ],
)
def test_a_job_whose_array_came_back_under_another_name_is_refused_and_can_be_resumed(
    tmp_path: Path, host: Host, there: dict[str, str], why: str
) -> None:
    """Plans name arrays by the kernel's name: no other array is touched, and the job waits for its own."""
    same = (Fact(kind=FactKind.ARRAY, subject="md127", value=ARRAY),)
    job = job_of(tmp_path, replace(PLAN, steps=tuple(up(path, needs=same) for path in PATHS)))
    host.put("/sys/class/block/md127/md/uuid", f"{DASHED}\n")
    kill_at(host, f"{B} 1", done=False)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    host.drop("/sys/class/block/md127")
    for name, uuid in there.items():
        host.put(f"/sys/class/block/{name}/md/uuid", f"{uuid}\n")
    assert Worker(host, Job(job.folder)).work() == "failed"
    assert (host.did, host.state, reason(job)) == ([f"{A} 1"], "100", f"step 2: {why}")
    for name in there:
        host.drop(f"/sys/class/block/{name}")
    host.put("/sys/class/block/md127/md/uuid", f"{DASHED}\n")
    assert (Worker(host, Job(job.folder)).work(), host.state) == ("done", "111")


def test_a_step_that_proves_nothing_is_done_again(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, replace(PLAN, steps=(TOOL,)), {"event": "work"}, {"event": "begin", "step": 0})
    assert Worker(host, job).work() == "done"
    assert host.did == ["mdadm --stop /dev/md127"]


def test_a_step_that_was_not_begun_is_done_though_it_proves_true(tmp_path: Path, host: Host) -> None:
    host.put(A, "1\n")
    job = job_of(tmp_path, PLAN)
    assert Worker(host, job).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1", f"{C} 1"]


def test_what_is_so_already_is_no_trouble_where_nothing_undoes_it(tmp_path: Path, host: Host) -> None:
    """After a power cut the boot takes a member back before the job does: the device is in use then."""
    host.put(A, "1\n")
    step = replace(TOOL, needs=(reads(A, "0"),), proves=(reads(A, "1"),))
    job = job_of(tmp_path, replace(PLAN, steps=(step,)))
    assert Worker(host, job).work() == "done"
    assert host.did == []
    undone = job_of(tmp_path / "other", replace(PLAN, steps=(replace(step, undo=(back(A),)),)))
    assert Worker(host, undone).work() == "failed"


@pytest.mark.parametrize("done", [True, False])
def test_an_interrupted_job_is_rolled_back(tmp_path: Path, host: Host, *, done: bool) -> None:
    job = job_of(tmp_path, PLAN)
    kill_at(host, f"{B} 1", done=done)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert Worker(host, job).roll_back() == "rolled back"
    assert host.did == [f"{A} 1", *([f"{B} 0"] if done else []), f"{A} 0"]
    assert (host.state, job.state, job.done_steps()) == ("000", "rolled back", (set(), set()))


def test_killed_while_going_back(tmp_path: Path, host: Host) -> None:
    """A step whose undo had begun is not taken for done by whoever continues."""
    job = job_of(tmp_path, PLAN)
    Worker(host, job).work()
    kill_at(host, f"{B} 0", done=True)
    with pytest.raises(SystemExit):
        Worker(host, job).roll_back()
    assert (job.state, job.done_steps(), host.state) == ("interrupted", ({0}, {1}), "100")
    host.did.clear()
    assert Worker(host, job).work() == "done"
    assert (host.did, host.state) == ([f"{B} 1", f"{C} 1"], "111")


DESTROYS = replace(PLAN, harm=Harm.DESTROYS, arrays=("md127",))


def test_the_black_box_comes_first(tmp_path: Path, host: Host) -> None:
    disk = tmp_path / "disk"
    size = (2 << 20) + 512
    disk.write_bytes(b"first" + bytes(size - 9) + b"last")
    name = f"..{disk}"  # stands for a device's name
    examine = ("mdadm", "--examine", f"/dev/{name}")
    host.answers = {examine: (1, "", "mdadm: No md superblock\n")}
    host.put("/proc/mdstat", "Personalities : [raid1]\n")
    job = job_of(tmp_path / "jobs", replace(DESTROYS, devices=(name,)))
    assert Worker(host, job).work() == "done"
    assert host.did == [
        "lsblk --json --bytes --output-all",
        "mdadm --detail /dev/md127",
        f"mdadm --examine /dev/{name}",
        f"{A} 1",
        f"{B} 1",
        f"{C} 1",
    ]
    flat = name.replace("/", "!")
    found = {path.name: path.read_bytes() for path in (job.folder / "blackbox").iterdir()}
    edges, listed = found.pop(f"edges-{flat}.bin"), json.loads(found.pop("manifest.json"))
    box = job.folder / "blackbox"
    sizes = {path.name: path.stat().st_size for path in box.iterdir() if path.name != "manifest.json"}
    assert {name: entry["bytes"] for name, entry in listed.items()} == sizes
    assert (len(edges), edges[:5], edges[-4:]) == (2 << 20, b"first", b"last")
    assert found == {
        "mdstat.txt": b"Personalities : [raid1]\n",
        "lsblk.json": b"",
        "detail-md127.txt": b"",
        f"examine-{flat}.txt": b"mdadm: No md superblock\n",
    }
    assert blackbox.damage(job.folder / "blackbox") == ""


def test_partition_tables_are_saved(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blackbox, "_edges", str.encode)
    for device in ("sda", "sda1"):
        host.put(f"/sys/class/block/{device}/size", "8\n")
    host.put("/sys/class/block/sda1/partition", "1\n")
    host.put("/sys/class/block/sda/sda1/partition", "1\n")
    dump = ("sfdisk", "--dump", "/dev/sda")
    host.answers[dump] = (0, "label: gpt\n", "")
    assert blackbox.save_black_box(host, replace(DESTROYS, devices=("sda1",)), tmp_path / "box") == ""
    found = {path.name: path.read_text() for path in (tmp_path / "box").iterdir()}
    del found["manifest.json"]
    assert found == {
        "mdstat.txt": "/proc/mdstat could not be read: not in this tree\n",
        "lsblk.json": "",
        "detail-md127.txt": "",
        "examine-sda1.txt": "",
        "table-sda.txt": "label: gpt\n",
        "edges-sda1.bin": "sda1",
    }
    assert host.did.count(" ".join(dump)) == 1


def test_the_black_box_is_on_disk_before_the_first_step(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file, and the folder that names it, was synced when it had its last byte."""
    synced: dict[int, int] = {}

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        synced[found.st_ino] = found.st_size

    def look(_: str) -> None:
        for path in (*box.iterdir(), box):
            assert synced[path.stat().st_ino] == path.stat().st_size, path.name

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(blackbox, "_edges", str.encode)
    job = job_of(tmp_path, replace(DESTROYS, devices=("sda1",)))
    box = job.folder / "blackbox"
    host.before = lambda what: look(what) if what.startswith("/sys/") else None
    assert Worker(host, job).work() == "done"
    assert [path.stat().st_size for path in box.glob("lsblk.json")] == [0]


def test_a_black_box_that_was_not_kept_stops_the_job(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes writes and forgets them."""
    real = write_synced
    monkeypatch.setattr(blackbox, "_edges", str.encode)
    monkeypatch.setattr(
        blackbox,
        "write_synced",
        lambda path, data: real(path, b"" if path.name == "edges-sda1.bin" else data),
    )
    job = job_of(tmp_path, replace(DESTROYS, devices=("sda1",)))
    assert (Worker(host, job).work(), host.state) == ("failed", "000")
    box = job.folder / "blackbox"
    assert reason(job) == f"the black box in {box} differs from what was written: edges-sda1.bin differs"
    (box / "lsblk.json").unlink()
    assert blackbox.damage(box) == "lsblk.json: No such file or directory"
    (box / "manifest.json").write_bytes(b"")
    assert blackbox.damage(box) == "manifest.json cannot be read"


@pytest.mark.parametrize("harm", [Harm.HARMLESS, Harm.REDUCES])
def test_without_destruction_there_is_no_black_box(tmp_path: Path, host: Host, harm: Harm) -> None:
    job = job_of(tmp_path, replace(PLAN, harm=harm))
    assert Worker(host, job).work() == "done"
    assert not (job.folder / "blackbox").exists()


def test_without_a_black_box_nothing_is_done(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, replace(DESTROYS, devices=("no-such-device",)))
    for _ in range(2):
        assert Worker(host, job).work() == "failed"
        assert (host.state, job.done_steps()) == ("000", (set(), set()))
        assert reason(job) == (
            f"the black box cannot be saved in {job.folder}/blackbox:"
            " /dev/no-such-device: No such file or directory"
        )
    assert journal(job) == ["made", "work", "failed", "work", "failed"]


def test_a_device_that_cannot_be_read(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    disk = tmp_path / "disk"
    disk.touch()
    monkeypatch.setattr(os, "pread", broken)
    said = blackbox.save_black_box(host, replace(DESTROYS, devices=(f"..{disk}",)), tmp_path / "box")
    assert said == (f"the black box cannot be saved in {tmp_path}/box: /dev/..{disk}: Input/output error")


@pytest.mark.parametrize("back_first", [False, True])
def test_the_first_black_box_is_kept(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch, *, back_first: bool
) -> None:
    """A job that continues has destroyed something already: what it finds now is not what was there."""
    saved: list[str] = []

    def save(*_: object) -> str:
        saved.append(host.state)
        return ""

    monkeypatch.setattr("raidtui.jobs.worker.save_black_box", save)
    job = job_of(tmp_path, DESTROYS)
    kill_at(host, f"{A} 1", done=False)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    host.put(A, "half\n")
    if back_first:
        Worker(host, job).roll_back()
    assert Worker(host, job).work() == "done"
    assert (saved, host.state) == (["000"], "111")


SAID = "md copies sda to sdb"
WAIT = WaitUntil(why=SAID, until=(reads("/sys/copy", "whole"),), as_long_as=(reads("/sys/array", "there"),))
GOING = replace(PLAN, steps=(*PLAN.steps, WAIT))


class Pauses:
    """Stands for the clock that a follower waits by: each pause, the next thing happens.

    Args:
        job: the job that is worked on; its states are noted.
        happenings: called one after the other.
    """

    def __init__(self, job: Job, *happenings: Callable[[], None]) -> None:
        self.states: list[str] = []
        self._job, self._left, self._now_s = job, list(happenings), 0.0

    def sleep(self, pause_s: float) -> None:
        self._now_s += pause_s
        if pause_s == worker._FOLLOW_PACE_S:
            self.states.append(self._job.state)
            if self._left:
                self._left.pop(0)()

    def monotonic(self) -> float:
        return self._now_s


@pytest.fixture
def going(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Job, Pauses]]:
    """Make a job whose copy continues when its steps are done."""

    def make(*happenings: Callable[[], None]) -> tuple[Job, Pauses]:
        host.put("/sys/array", "there\n")
        job = job_of(tmp_path, GOING)
        pauses = Pauses(job, *happenings)
        monkeypatch.setattr(worker, "time", pauses)
        return job, pauses

    return make


Making = Callable[..., tuple[Job, Pauses]]


def test_a_job_is_done_when_what_it_has_begun_is(host: Host, going: Making) -> None:
    """Meanwhile it says that it continues, and others may work."""
    free: list[str | None] = []

    def look() -> None:
        free.append(worker_of(job.folder.parent))

    job, pauses = going(look, lambda: host.put("/sys/copy", "whole\n"))
    assert Worker(host, job).work() == "done"
    assert (pauses.states, free, job.state) == (["goes on", "goes on"], [None], "done")
    assert journal(job)[-3:] == ["goes on", "step done 3", "done"]
    assert job.entries()[-3]["reason"] == f"{SAID}; other jobs can run meanwhile"


def test_a_job_whose_array_is_auto_read_only_says_so(host: Host, going: Making) -> None:
    """Md copies nothing before the first write: whoever waits learns what for."""
    job, _ = going(lambda: host.put("/sys/copy", "whole\n"))
    for name, state in (("md126", "clean"), ("md127", "read-auto")):
        host.put(f"/sys/class/block/{name}/md/array_state", f"{state}\n")
    plan = replace(GOING, arrays=("md126", "md127"))
    write_synced(job.folder / "plan.json", save_plan(plan, host="nas", made_s=0))
    assert Worker(host, job).work() == "done"
    waits = "md127 is auto-read-only, so md waits for the first write (raidtui plan read-write md127)"
    assert job.entries()[-3]["reason"] == f"{SAID}; {waits}; other jobs can run meanwhile"


def test_what_is_over_at_once(host: Host, going: Making) -> None:
    job, _ = going()
    host.put("/sys/copy", "whole\n")
    assert (Worker(host, job).work(), journal(job)[-1], "goes on" in journal(job)) == ("done", "done", False)


def test_what_cannot_come_to_its_end(host: Host, going: Making) -> None:
    """A moment without the array is none; more is reported, and resume looks again."""
    lost, back = partial(host.put, "/sys/array", "gone\n"), partial(host.put, "/sys/array", "there\n")
    job, pauses = going(lost, back, lost)
    why = f"{SAID}, but has not finished: /sys/array reads 'gone'"
    assert (Worker(host, job).work(), reason(job), len(pauses.states)) == ("failed", why, 9)
    assert (Worker(host, job).work(), reason(job)) == ("failed", why)
    before = len(host.did)
    host.put("/sys/copy", "whole\n")
    assert (Worker(host, job).work(), len(host.did)) == ("done", before)


def test_a_follower_that_is_gone(host: Host, going: Making) -> None:
    """Killed, or asked to end: what it followed continues in the kernel; the job is found as interrupted."""

    def killed() -> None:
        raise SystemExit

    job, _ = going(killed)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert (job.state, journal(job)[-1]) == ("interrupted", "goes on")
    asked: list[Worker] = []
    job, _ = going(lambda: asked[0]._cancel(15, None))
    asked.append(Worker(host, job))
    assert (asked[0].work(), job.state) == ("goes on", "interrupted")


def test_a_follower_leaves_the_job_to_the_next_worker(host: Host, going: Making) -> None:
    def rolled_back() -> None:
        assert Worker(host, Job(job.folder)).roll_back() == "rolled back"
        host.put("/sys/copy", "whole\n")

    job, _ = going(rolled_back)
    assert (Worker(host, job).work(), job.state, host.state) == ("goes on", "rolled back", "000")


def test_a_rollback_that_cannot_be_is_not_begun(host: Host, going: Making) -> None:
    """While the array does not run nothing is tried: the job is not stuck by it."""
    lost = replace(WAIT, as_long_as=(Fact(kind=FactKind.ARRAY, subject="md127", value="x"),))
    plan = replace(GOING, steps=(*PLAN.steps, lost))
    job, _ = going()
    write_synced(job.folder / "plan.json", save_plan(plan, host="nas", made_s=0))
    assert Worker(host, job).work() == "failed"
    assert work_on(host, job.folder, back=True) == 1
    assert (job.state, host.state, journal(job)[-1]) == ("failed", "111", "not begun")
    assert reason(job) == f"job {job.id} cannot be rolled back now: md127 is not there"


def test_what_comes_after_a_plan_is_said_at_its_end(tmp_path: Path, host: Host) -> None:
    """Such as after a rescue: mount it read-only, copy, compare; only then write."""
    job = job_of(tmp_path, replace(PLAN, after="Mount it read-only first."))
    assert Worker(host, job).work() == "done"
    assert entry_text(job.entries()[-1]) == "done: Mount it read-only first."


def test_another_worker(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    with only_worker(tmp_path, "other"):
        for do in (Worker(host, job).work, Worker(host, job).roll_back):
            with pytest.raises(JobError, match=r"^another job is running: other "):
                do()
        assert [work_on(host, job.folder), work_on(host, job.folder, back=True)] == [75, 75]
    assert (host.did, job.state) == ([], "not begun")
    assert journal(job) == ["made", "not begun", "not begun"]
    assert str(reason(job)).startswith("another job is running: other (pid ")


@pytest.mark.parametrize("back", [False, True])
def test_a_plan_that_cannot_be_read(tmp_path: Path, host: Host, *, back: bool) -> None:
    job = job_of(tmp_path, PLAN)
    (job.folder / "plan.json").write_text("{}")
    assert work_on(host, job.folder, back=back) == 1
    assert (host.did, job.state, journal(job)) == ([], "made", ["made", "not begun"])
    assert reason(job) == "not a plan of version 2: raidtui plan ... --json prints one"


@pytest.mark.parametrize("back", [False, True])
def test_a_plan_with_a_step_that_raidtui_does_not_make(tmp_path: Path, host: Host, *, back: bool) -> None:
    """Somebody has edited it in the job's folder."""
    evil = RunTool(argv=("touch-all", "/run/x"), why="looks")
    job = job_of(tmp_path, replace(PLAN, steps=(replace(PLAN.steps[0], undo=(evil,)), evil)))
    job.note(event="begin", step=0)
    assert work_on(host, job.folder, back=back) == 1
    assert (host.did, journal(job)) == ([], ["made", "begin 0", "not begun"])
    assert reason(job) == (
        "step 1, undo 1: 'touch-all' is not a tool that raidtui's plans run; raidtui makes no such plan,"
        " so nothing is done"
    )


def test_a_lock_that_cannot_be_opened(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    (tmp_path / "lock").mkdir()
    assert work_on(host, job.folder) == 1
    assert (host.did, job.state) == ([], "made")
    assert reason(job) == f"the lock {tmp_path}/lock cannot be opened: Is a directory; nothing was started"


def test_a_lock_on_a_full_disk(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(tmp_path, PLAN)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    assert work_on(host, job.folder) == 1
    assert (host.did, journal(job)) == ([], ["made", "not begun"])
    monkeypatch.setattr(os, "write", full)
    assert work_on(host, job.folder) == 1
    assert (host.did, journal(job)) == ([], ["made", "not begun"])


@pytest.mark.parametrize(
    ("plan", "events"),
    [
        (PLAN, ()),
        (PLAN, ({"event": "begin", "step": 0}, {"event": "undone", "step": 0})),
        (replace(PLAN, steps=(TOOL,)), ({"event": "begin", "step": 0}, {"event": "step done", "step": 0})),
        (PLAN, ({"event": "begin", "step": 9},)),
    ],
)
def test_nothing_that_could_be_undone(
    tmp_path: Path, host: Host, plan: Plan, events: tuple[dict[str, Any], ...]
) -> None:
    job = job_of(tmp_path, plan, *events)
    with pytest.raises(JobError) as caught:
        Worker(host, job).roll_back()
    assert str(caught.value) == f"job {job.id} has done no step that can be undone"
    assert work_on(host, job.folder, back=True) == 1
    assert (host.did, journal(job)[-1]) == ([], "not begun")


def test_exit_status(tmp_path: Path, host: Host) -> None:
    job = job_of(tmp_path, PLAN)
    host.fails[f"{C} 1"] = errno.EIO
    assert work_on(host, job.folder) == 1
    host.fails = {f"{B} 0": errno.EIO}
    assert work_on(host, job.folder, back=True) == 1
    host.fails.clear()
    assert work_on(host, job.folder, back=True) == 0
    assert work_on(host, job.folder) == 0
    assert (job.state, host.state) == ("done", "111")


def test_a_journal_that_cannot_be_written_stops_the_job(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, PLAN)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        Worker(host, job).work()
    assert host.did == []


class Cost:
    """Measures nothing, and says so."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.calls: list[str] = []

    def before(self) -> None:
        self.calls.append("before")

    def after(self) -> str:
        self.calls.append("after")
        return self.words


@pytest.mark.parametrize(("destroys", "words"), [(True, "2 GB to sdd"), (True, ""), (False, "2 GB to sdd")])
def test_what_a_plan_has_written_is_noted(tmp_path: Path, host: Host, *, destroys: bool, words: str) -> None:
    """Of a plan that writes to disks, right before its end; it was read before the first step."""
    cost = Cost(words)
    plan = Plan(title="t", subject="s", steps=(RunTool(argv=("tool-1",), why="w", destroys=destroys),))
    job = Job.create(plan, host="nas", folder=tmp_path)
    assert Worker(host, job, lambda _: cost).work() == "done"
    reported = [entry["text"] for entry in job.entries() if entry["event"] == "cost"]
    assert reported == ([words] if destroys and words else [])
    assert cost.calls == (["before", "after"] if destroys else [])
    assert job.state == "done"
