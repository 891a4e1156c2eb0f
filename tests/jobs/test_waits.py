"""Steps that wait for md: the next step begins when the kernel says so, whoever was killed meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.jobs import worker
from raidtui.jobs.lock import JobError, only_worker, worker_of
from raidtui.jobs.spawn import cancel
from raidtui.jobs.states import entry_text
from raidtui.jobs.store import Job
from raidtui.jobs.waiting import wait_of
from raidtui.jobs.worker import Worker, work_on
from raidtui.model.plan import Plan, Step, WaitUntil
from tests.jobs.test_worker import A, B, C, Host, Pauses, job_of, journal, kill_at, reads, reason, up

SIZE, SHAPE = "/sys/size", "/sys/shape"
HERE = (reads("/sys/array", "there"),)
WAITS = tuple(
    WaitUntil(why=f"md works on {path}", until=(reads(path, "new"),), as_long_as=HERE)
    for path in (SHAPE, SIZE)
)
CHAIN = Plan(title="1 to 6", subject="data", steps=(up(A), WAITS[0], up(B), WAITS[1], up(C)))
FINAL_STEP = replace(up(B), final=True)


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Host, Job, Pauses]]:
    """Make a host and a job with steps between which md works; each pause, the next thing happens."""

    def make(*happenings: Callable[[Host, Job], None], plan: Plan = CHAIN) -> tuple[Host, Job, Pauses]:
        host = Host()
        host.put("/sys/array", "there\n")
        monkeypatch.setattr("raidtui.jobs.runner._PROOF_S", 0.0)
        job = job_of(tmp_path, plan)
        pauses = Pauses(job, *((lambda each=each: each(host, job)) for each in happenings))
        monkeypatch.setattr(worker, "time", pauses)
        return host, job, pauses

    return make


Chain = Callable[..., tuple[Host, Job, Pauses]]


def shaped(host: Host, job: Job) -> None:
    del job
    host.put(SHAPE, "new\n")


def sized(host: Host, job: Job) -> None:
    del job
    host.put(SIZE, "new\n")


def killed(host: Host, job: Job) -> None:
    del host, job
    raise SystemExit


def nothing(host: Host, job: Job) -> None:
    del host, job


def test_a_step_begins_when_md_has_finished(chain: Chain) -> None:
    """What waits has no lock, so that other jobs can run; what is done has it."""
    seen: list[tuple[str, str | None, str]] = []

    def look(host: Host, job: Job) -> None:
        seen.append((host.state, worker_of(job.folder.parent), job.state))

    host, job, _ = chain(look, shaped, look, sized)
    held: list[str | None] = []
    host.before = lambda _: held.append(worker_of(job.folder.parent))
    assert Worker(host, job).work() == "done"
    assert seen == [("100", None, "goes on"), ("110", None, "goes on")]
    assert (host.state, held, job.state) == ("111", [job.id] * 3, "done")
    steps = [entry["step"] for entry in job.entries() if entry["event"] == "step done"]
    assert steps == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("then", [(), (up(B),)])
def test_whether_anything_follows_a_wait(chain: Chain, then: tuple[Step, ...]) -> None:
    follows: list[bool] = []

    def look(host: Host, job: Job) -> None:
        found = wait_of(host, job)
        assert found is not None
        follows.append(found.more)

    host, job, _ = chain(look, shaped, plan=replace(CHAIN, steps=(up(A), WAITS[0], *then)))
    assert Worker(host, job).work() == "done"
    assert follows == [bool(then)]


def test_a_worker_that_is_killed_as_it_waits(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one finds by the kernel which step it is: nothing is done twice, nothing is left out."""
    host, job, _ = chain(killed)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert (job.state, host.state) == ("interrupted", "100")
    shaped(host, job)  # and md has finished meanwhile, over a reboot
    monkeypatch.setattr(worker, "time", Pauses(job, lambda: sized(host, job)))
    assert Worker(host, job).work() == "done"
    assert (host.state, host.did) == ("111", [f"{path} 1" for path in (A, B, C)])


@pytest.mark.parametrize("done", [False, True])
def test_a_worker_that_is_killed_after_a_wait(chain: Chain, *, done: bool) -> None:
    host, job, _ = chain(shaped, sized)
    kill_at(host, f"{B} 1", done=done)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert (job.state, host.state) == ("interrupted", "110" if done else "100")
    host.before = lambda _: None
    assert Worker(host, job).work() == "done"
    assert host.state == "111"


def test_what_a_job_waits_for(chain: Chain) -> None:
    """With how far the kernel is; nothing before and afterwards."""
    seen: list[object] = []

    def look(host: Host, job: Job) -> None:
        found = wait_of(host, job)
        seen.append(found and found.words)

    def begun(host: Host, job: Job) -> None:
        look(host, job)
        host.put("/sys/class/block/md127/md/sync_completed", "27264 / 129024\n")
        look(host, job)
        shaped(host, job)
        sized(host, job)

    host, job, _ = chain(begun, plan=replace(CHAIN, arrays=("md127",)))
    look(host, job)
    assert Worker(host, job).work() == "done"
    look(host, job)
    why = f"md works on {SHAPE}"
    assert seen == [None, why, f"{why}: 21.1 %", None]


def test_another_job_that_runs_when_md_has_finished(chain: Chain) -> None:
    """The next step waits for its end, and is not lost."""
    with contextlib.ExitStack() as locked:

        def other(host: Host, job: Job) -> None:
            shaped(host, job)
            sized(host, job)
            locked.enter_context(only_worker(job.folder.parent, "other"))

        def over(host: Host, job: Job) -> None:
            assert (host.state, job.state) == ("100", "goes on")
            locked.close()

        host, job, _ = chain(other, over)
        assert Worker(host, job).work() == "done"
    assert host.state == "111"


def test_a_job_that_waits_is_cancelled_before_its_next_step(chain: Chain) -> None:
    """Md continues; resuming continues with the job."""
    host, job, _ = chain(nothing, lambda _, job: cancel(job))
    assert Worker(host, job).work() == "cancelled"
    assert (host.state, reason(job)) == ("100", f"cancelled before step 3; md works on {SHAPE}")
    shaped(host, job)
    sized(host, job)
    assert Worker(host, job).work() == "done"
    assert host.state == "111"


def test_a_job_that_only_waits_is_not_cancelled(chain: Chain) -> None:
    """No step is left that could be left out."""
    said: list[str] = []

    def try_it(host: Host, job: Job) -> None:
        with pytest.raises(JobError) as error:
            cancel(job)
        said.append(str(error.value))
        shaped(host, job)

    host, job, _ = chain(try_it, plan=replace(CHAIN, steps=CHAIN.steps[:2]))
    assert Worker(host, job).work() == "done"
    assert said == [
        f"job {job.id} has done its steps, and md is at work; to end that: raidtui jobs rollback {job.id}"
    ]
    assert host.state == "100"


def test_what_cannot_come_to_its_end_is_not_followed_by_a_step(chain: Chain) -> None:
    host, job, _ = chain(lambda host, _: host.put("/sys/array", "gone\n"))
    assert Worker(host, job).work() == "failed"
    assert (host.state, reason(job)) == (
        "100",
        f"md works on {SHAPE}, but has not finished: /sys/array reads 'gone'",
    )


def test_a_wait_that_cannot_come_to_its_end_takes_nothing_back(chain: Chain) -> None:
    """Neither as it is followed nor when the job is resumed: the array may come back."""
    host, job, _ = chain(
        lambda host, _: host.put("/sys/array", "gone\n"), plan=replace(CHAIN, rolls_back=True)
    )
    for _ in range(2):
        assert Worker(host, job).work() == "failed"
        assert (host.state, "going back" in journal(job)) == ("100", False)


@pytest.mark.parametrize("done", [False, True])
def test_what_a_reboot_takes_back_is_done_again(chain: Chain, *, done: bool) -> None:
    """As long as the step that needs it has not been done; not afterwards."""
    steps = (up(A), replace(up(B), volatile=True), up(C), WAITS[0])
    host, job, _ = chain(killed, plan=replace(CHAIN, steps=steps))
    kill_at(host, f"{C} 1", done=done)
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    host.before = lambda _: None
    host.put(B, "0\n")
    shaped(host, job)
    assert Worker(host, job).work() == "done"
    assert host.state == ("101" if done else "111")
    assert host.did.count(f"{B} 1") == (1 if done else 2)


@pytest.mark.parametrize("begun", [False, True])
def test_no_way_back(chain: Chain, *, begun: bool) -> None:
    """A step that has no way back bars the way of those before it; one that failed does not."""
    host, job, _ = chain(shaped, killed, plan=replace(CHAIN, steps=(up(A), WAITS[0], FINAL_STEP, WAITS[1])))
    if not begun:
        host.fails[f"{B} 1"] = 22
        assert Worker(host, job).work() == "failed"
        assert (Worker(host, job).roll_back(), host.state) == ("rolled back", "000")
        return
    with pytest.raises(SystemExit):
        Worker(host, job).work()
    assert work_on(host, job.folder, back=True) == 1
    assert (host.state, journal(job)[-1]) == ("110", "not begun")
    why = f"job {job.id} cannot be rolled back: the way back, where there is one, is another plan"
    assert reason(job) == why
    assert entry_text(job.entries()[-1]) == f"not rolled back: {why}"
    with pytest.raises(JobError, match="is another plan"):
        job.refuse_back()
    assert not job.goes_back


def test_a_failure_after_what_has_no_way_back(chain: Chain) -> None:
    """A plan that goes back by itself stays where it is then."""
    plan = replace(CHAIN, steps=(replace(up(A), final=True), up(B)), rolls_back=True)
    host, job, _ = chain(plan=plan)
    host.fails[f"{B} 1"] = 22
    assert Worker(host, job).work() == "failed"
    assert (host.state, "going back" in journal(job)) == ("100", False)


EARLY = replace(CHAIN, steps=(up(A), replace(up(B), awaits=(reads(SHAPE, "new"),)), up(C)))


def test_a_step_is_begun_when_md_has_ended_what_it_does(chain: Chain) -> None:
    """After a crash it is a resync, of which no plan knows: mdadm refuses to reshape meanwhile."""
    seen: list[tuple[str, str, str]] = []

    def look(host: Host, job: Job) -> None:
        found = wait_of(host, job)
        seen.append((host.state, job.state, found.words if found is not None else ""))

    host, job, _ = chain(look, shaped, plan=EARLY)
    assert Worker(host, job).work() == "done"
    assert seen == [("100", "goes on", f"md first finishes what it is doing, then: {EARLY.steps[1].why}")]
    assert (host.state, host.did) == ("111", [f"{path} 1" for path in (A, B, C)])


def test_the_last_step_is_done_after_what_md_does(chain: Chain) -> None:
    """It is no wait itself, with whose end the job would be done."""
    host, job, _ = chain(nothing, shaped, plan=replace(EARLY, steps=EARLY.steps[:2]))
    assert Worker(host, job).work() == "done"
    assert host.did == [f"{A} 1", f"{B} 1"]


def test_a_job_is_cancelled_while_md_ends_what_it_does(chain: Chain) -> None:
    host, job, _ = chain(nothing, lambda _, job: cancel(job), plan=EARLY)
    assert Worker(host, job).work() == "cancelled"
    assert (host.state, str(reason(job)).partition(";")[0]) == ("100", "cancelled before step 2")
