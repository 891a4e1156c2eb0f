"""Jobs started from the screen, what is new of them, and which of them are unfinished."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.jobs.lock import BusyError, JobError, only_worker
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.model.plan import Plan, RunTool
from raidtui.plans.shell_script import shell_script
from raidtui.watch import storage
from tests.hosts.kernel import Kernel
from tests.hosts.trees import host_tree, raid1, snapshot_of

STEP = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="x")
PLAN = Plan(title="stop: data → gone", subject="data", steps=(STEP,))
WORK, OUTPUT = {"event": "work"}, {"event": "output", "text": "mdadm: stopped\n"}
BEGIN, FAILED = {"event": "begin", "step": 0}, {"event": "failed", "reason": "busy"}
ENDS = ("done", "failed", "cancelled", "rolled back", "stuck")


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the jobs are."""
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    monkeypatch.setattr("raidtui.jobs.store.time.strftime", lambda _: "20261121-100000")
    return tmp_path / "lib" / "jobs"


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """(job, back) of every worker that was started; none is."""
    started: list[tuple[str, bool]] = []
    for module in ("watch.storage", "jobs.spawn"):
        monkeypatch.setattr(
            f"raidtui.{module}.start_worker", lambda job, *, back=False: started.append((job.id, back))
        )
    return started


def made(*events: Mapping[str, Any], plan: Plan = PLAN) -> Job:
    """Return a new job with these entries after its first."""
    job = Job.create(plan, host="nas")
    for event in events:
        job.note(**event)
    return job


def live() -> Kernel:
    """This machine."""
    kernel = Kernel(raid1())
    kernel.live = True
    return kernel


def test_a_job_is_begun(workers: list[tuple[str, bool]]) -> None:
    job_id = storage.start_job(live(), PLAN)
    (job,) = all_jobs()
    assert (job.id, job.plan, job.state, workers) == (job_id, PLAN, "made", [(job_id, False)])


def test_a_host_that_is_none_has_no_jobs(workers: list[tuple[str, bool]]) -> None:
    with pytest.raises(JobError) as caught:
        storage.start_job(Kernel(raid1()), PLAN)
    assert str(caught.value) == "a simulated or captured host is never changed"
    assert (workers, all_jobs()) == ([], [])


@pytest.mark.parametrize("kept", [True, False])
def test_one_job_at_a_time(jobs: Path, workers: list[tuple[str, bool]], *, kept: bool) -> None:
    """Also where the other one's folder is gone already."""
    jobs.mkdir(parents=True)
    name = made(WORK).id if kept else "other"
    with only_worker(jobs, name), pytest.raises(BusyError) as caught:
        storage.start_job(live(), PLAN)
    assert str(caught.value) == f"another job is running: {name}; wait for it, or cancel it"
    assert (workers, len(all_jobs())) == ([], int(kept))


@pytest.mark.parametrize("back", [True, False])
def test_again(workers: list[tuple[str, bool]], *, back: bool) -> None:
    job = made(WORK, BEGIN)
    assert storage.restart_job(job.id, back=back) == 3
    assert workers == [(job.id, back)]


def test_a_job_that_is_not_there() -> None:
    for ask in (
        lambda: storage.job_news("x", 0),
        lambda: storage.restart_job("x", back=False),
        lambda: storage.cancel_job("x"),
    ):
        with pytest.raises(JobError, match=r"^no job matches 'x': raidtui jobs lists them$"):
            ask()


def test_what_does_not_run_cannot_be_stopped() -> None:
    job = made(WORK)
    with pytest.raises(JobError) as caught:
        storage.cancel_job(job.id)
    assert str(caught.value) == f"job {job.id} was interrupted: there is nothing to cancel"


@pytest.mark.parametrize(
    ("events", "at_rest", "at_work"),
    [
        ((), "running", "running"),
        ((OUTPUT,), "running", "running"),
        ((WORK,), "interrupted", "running"),
        ((WORK, BEGIN, OUTPUT), "interrupted", "running"),
        *(((WORK, {"event": end}), end, end) for end in ENDS),
        ((WORK, FAILED, OUTPUT), "failed", "failed"),
        ((WORK, FAILED, WORK), "interrupted", "running"),
        ((WORK, FAILED, WORK, {"event": "done"}), "done", "done"),
        (({"event": "not begun", "reason": "busy"},), "not begun", "not begun"),
    ],
)
def test_how_it_is(jobs: Path, events: tuple[Mapping[str, Any], ...], at_rest: str, at_work: str) -> None:
    job = made(*events)
    assert storage.job_news(job.id, 0) == storage.JobNews(
        entries=tuple(job.entries()), state=JobState(at_rest)
    )
    with only_worker(jobs, job.id):
        assert storage.job_news(job.id, 0).state == at_work


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((), "running"),
        ((OUTPUT,), "running"),
        ((WORK,), "interrupted"),
        ((WORK, BEGIN), "interrupted"),
        ((WORK, {"event": "rolled back"}), "rolled back"),
        (({"event": "not begun", "reason": "busy"},), "failed"),
    ],
)
def test_an_end_before_the_worker_that_is_waited_for(
    events: tuple[Mapping[str, Any], ...], state: str
) -> None:
    job = made(WORK, BEGIN, FAILED)
    before = len(job.entries())
    for event in events:
        job.note(**event)
    news = storage.job_news(job.id, 0, begun_after=before)
    assert (news.state, len(news.entries)) == (state, before + len(events))


def test_what_was_seen_is_passed_over() -> None:
    job = made(WORK, BEGIN, {"event": "done"})
    assert [entry["event"] for entry in storage.job_news(job.id, 2).entries] == ["begin", "done"]
    assert storage.job_news(job.id, 4) == storage.JobNews(entries=(), state=JobState.DONE)


def test_unfinished(jobs: Path) -> None:
    running = made(WORK, plan=Plan(title="a", subject="x", steps=()))
    found = {state: made(WORK, {"event": state}) for state in ENDS}
    made()
    interrupted = made(WORK)
    with only_worker(jobs, running.id):
        assert {(job.id, job.state, job.title) for job in storage.unfinished_jobs()} == {
            (running.id, "running", "a"),
            (found["stuck"].id, "stuck", "stop: data → gone"),
            (interrupted.id, "interrupted", "stop: data → gone"),
        }


def test_nothing_unfinished() -> None:
    assert storage.unfinished_jobs() == ()


def test_a_survey_of_all_devices_or_of_some() -> None:
    tree = host_tree(raid1(), disks={"sdg1": {}, "loop0": {}})
    snapshot = snapshot_of(tree)
    for scope, names in (
        (storage.form_scope("add", snapshot.arrays[0], snapshot), {"sde", "sdf", "sdg", "sdg1"}),
        (storage.scope_of("fail", snapshot.arrays[0], ["sde"]), {"sde", "sdf"}),
        (storage.scope_of("create", None, ["sdg"]), {"sdg", "sdg1"}),
        (storage.scope_of("zero-superblock", None, ["sdg"]), {"sde", "sdf", "sdg", "sdg1"}),
        (storage.scope_of("stop", snapshot.arrays[0]), set()),
        (storage.form_scope("rename", snapshot.arrays[0], snapshot), set()),
    ):
        assert set(storage.reading_of(tree.root(), snapshot, scope).start().wait().devices) == names


def test_a_survey_for_building_has_the_arrays_too() -> None:
    """They cannot be members, but they can join a volume group."""
    tree = host_tree(raid1(), disks={"sdg1": {}, "loop0": {}})
    snapshot = snapshot_of(tree)
    found = (
        storage.reading_of(tree.root(), snapshot, storage.form_scope("build", None, snapshot)).start().wait()
    )
    assert set(found.devices) == {"sde", "sdf", "sdg", "sdg1", "md126"}


def test_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(storage.save_script(PLAN))
    assert path == tmp_path / "raidtui-stop--data---gone.sh"
    assert path.read_text(encoding="utf-8") == shell_script(PLAN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_script_takes_a_free_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has the name already is left as it is: a file, a link under a name that others can guess."""
    monkeypatch.chdir(tmp_path)
    first, second, third = (tmp_path / f"raidtui-stop--data---gone{end}.sh" for end in ("", "-2", "-3"))
    first.write_text("a stranger's\n")
    (tmp_path / "fstab").write_text("mine\n")
    second.symlink_to("fstab")
    assert storage.save_script(PLAN) == str(third)
    assert first.read_text() == "a stranger's\n"
    assert (tmp_path / "fstab").read_text() == "mine\n"
    for number in range(4, 100):
        (tmp_path / f"raidtui-stop--data---gone-{number}.sh").mkdir()
    with pytest.raises(FileExistsError, match="File exists"):
        storage.save_script(PLAN)


def test_a_script_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "gone")
    with pytest.raises(FileNotFoundError):
        storage.save_script(PLAN)


def test_recent_jobs_the_ended_ones_too(jobs: Path) -> None:
    """What runs, or wants something, stands first; else the newest."""
    ended = made(WORK, {"event": "done"}, plan=Plan(title="a", subject="x", steps=()))
    interrupted = made(WORK)
    later = made(WORK, {"event": "failed", "reason": "busy"})
    running = made(WORK)
    foreign = made(WORK)
    (jobs / foreign.id).chmod(0o777)
    with only_worker(jobs, running.id):
        *found, last = storage.recent_jobs()
    assert (last.id, last.state) == (foreign.id, "not trusted")
    assert [(job.id, job.state) for job in found] == [
        (running.id, "running"),
        (interrupted.id, "interrupted"),
        (later.id, "failed"),
        (ended.id, "done"),
    ]
    assert found[-1].title == "a"
    assert all(job.made_s == job_made_s(job.id) for job in found)


def job_made_s(job_id: str) -> object:
    """When a job was made, by its journal."""
    [job] = [each for each in all_jobs() if each.id == job_id]
    return job.entries()[0]["at_s"]


def test_a_job_that_is_done_says_whether_it_can_be_undone(jobs: Path) -> None:
    undo = RunTool(argv=("mdadm", "--stop", "/dev/md1"), why="it is stopped again")
    step = RunTool(argv=("mdadm", "--assemble", "/dev/md1"), why="it starts", undo=(undo,))
    done = ({"event": "begin", "step": 0}, {"event": "step done", "step": 0}, {"event": "done"})
    back = made(WORK, *done, plan=Plan(title="a", subject="x", steps=(step,)))
    assert storage.job_news(back.id, 0).backs
    failed = made(WORK, *done[:2], {"event": "failed"}, plan=Plan(title="a", subject="x", steps=(step,)))
    assert storage.job_news(failed.id, 0).backs
    for_good = made(WORK, *done, plan=Plan(title="b", subject="x", steps=(replace(step, undo=()),)))
    assert not storage.job_news(for_good.id, 0).backs


@pytest.mark.parametrize("end", ["done", "failed", "goes on"])
def test_a_grow_that_was_not_rolled_back_is_what_it_was(jobs: Path, end: str) -> None:
    """What md has begun has no way back: it is not offered, and a worker that refuses it is no end."""
    grow = RunTool(argv=("mdadm", "--grow", "/dev/md1", "--raid-devices=4"), why="begins", final=True)
    resize = RunTool(argv=("resize2fs", "/dev/md1"), why="the file system takes the new room")
    refused = {"event": "not begun", "reason": "no", "again": True, "back": True}
    events = ({"event": "begin", "step": 0}, {"event": "step done", "step": 0}, {"event": end}, refused)
    job = made(WORK, *events, plan=Plan(title="grow", subject="x", steps=(grow, resize)))
    with job.following():
        news = storage.job_news(job.id, 0)
    assert (news.state, news.backs) == (end, False)


def test_a_job_that_has_begun_to_wipe_says_so(jobs: Path) -> None:
    """Of such a job nobody may say that nothing is lost."""
    wipe = RunTool(argv=("wipefs", "--all", "/dev/sda"), why="x", destroys=True)
    plan = Plan(title="a", subject="x", steps=(RunTool(argv=("true",), why="y"), wipe))
    failed = {"event": "failed"}
    first, second = ({"event": "begin", "step": number} for number in (0, 1))
    assert not storage.job_news(made(WORK, failed, plan=plan).id, 0).destroyed
    assert not storage.job_news(made(WORK, first, failed, plan=plan).id, 0).destroyed
    assert storage.job_news(made(WORK, first, second, failed, plan=plan).id, 0).destroyed
