"""The benchmark's worker: run by run, stopped, failing, killed, resumed; what it changed is put back."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.bench.jobfile import JobFile
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import PARTIAL, WHOLE
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run import measure
from raidtui.features.bench.run.bench_jobs import (
    begin,
    find_bench,
    interrupted,
    make_job,
    news,
    restore,
    settle,
)
from raidtui.features.bench.run.bench_worker import BenchWorker, bench_on
from raidtui.features.bench.run.changes import Restored
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.features.bench.schedule import Axis, Conditions, Schedule
from raidtui.features.bench.sweep_knobs import find_knob, knob_axis
from raidtui.jobs.lock import BusyError, JobError, only_worker
from raidtui.jobs.store import Job, jobs_folder
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Refusal
from tests.features.bench.fake_fio import FakeFio
from tests.features.bench.host import AS_BEFORE, DISKS, Host
from tests.features.bench.recorded import MIXED, NO_SPACE, STOPPED
from tests.features.bench.records import READ
from tests.features.bench.working import Killed, feeding, journal, kept, last, schedule

pytestmark = pytest.mark.usefixtures("kept_here")


def turned(host: Host, srv: Path, **more: Any) -> Schedule:
    """A schedule that turns the schedulers."""
    made = schedule(srv)
    knob = find_knob("scheduler", host, made.place)
    assert not isinstance(knob, Refusal)
    axis = knob_axis(knob, ["none", "mq-deadline"])
    assert isinstance(axis, Axis)
    return schedule(srv, axes=(axis,), **more)


def test_run_by_run(host: Host, srv: Path, fio: FakeFio) -> None:
    fio.does(MIXED)
    job = make_job(host, schedule(srv, note="first"))
    assert (job.command, job.state) == ("bench", "made")
    assert BenchWorker(host, job).work() == "done"
    assert journal(job) == ["work", "folder", "run 0", "run done 0", "run 1", "run done 1", "done"]
    first, second = kept()
    assert (first.state, first.point, first.note, first.job) == (WHOLE, {"block": "8192"}, "first", job.id)
    assert second.work == replace(READ, block_bytes=16384)
    assert (first.read.iops, first.write.iops, first.seconds) == (399.429387, 199.714693, 0.701)
    assert first.environment.fio == "3.33"
    assert [disk.scheduler for disk in first.environment.disks] == ["mq-deadline"] * 4
    assert [array.label for array in first.environment.arrays] == ["data"]
    with Results() as results:
        assert results.raw(first.id) == MIXED[MIXED.rindex(b"\n{\n") + 1 :]
        assert [sample.t_s for sample in results.samples(first.id)] == [0.129, 0.382, 0.631]
    assert f"--bs={16384}" in fio.argv
    assert (fio.folder / "cwd").read_text() == f"{srv}/raidtui-{job.id}"
    assert list(srv.iterdir()) == []
    assert not (job.folder / "room").exists()


def test_a_job_file(host: Host, srv: Path, fio: FakeFio) -> None:
    fio.does(MIXED)
    text = "[global]\nrw=randread ; of all\n[a]\nsize=1m\n"
    made = schedule(srv, work=None, axes=(), job_file=JobFile(name="a.fio", text=text, writes=False))
    assert BenchWorker(host, make_job(host, made)).work() == "done"
    assert (fio.argv[-1], fio.job_file) == ("-", "[a]\nrw=randread\nsize=1m\n")
    assert kept()[0].job_file == fio.job_file


def test_a_job_file_is_judged_again(host: Host, srv: Path, fio: FakeFio) -> None:
    """A schedule of an older version, or one that was changed, has a text that was not written here."""
    text = "[a]\nsize=1m\ninclude:/root/x\n"
    made = schedule(srv, work=None, axes=(), job_file=JobFile(name="a.fio", text=text, writes=False))
    job = make_job(host, made)
    assert BenchWorker(host, job).work() == "failed"
    why = "a.fio, line 3, [a] includes another file; copy its contents into this file"
    assert last(job) == ("failed", why)
    assert not (fio.folder / "argv").exists()


def test_no_space(host: Host, srv: Path, fio: FakeFio) -> None:
    """What was measured until then is kept, and says that it is not whole; what comes after is not tried."""
    fio.does(NO_SPACE, behaviour="1")
    job = make_job(host, schedule(srv))
    assert BenchWorker(host, job).work() == "failed"
    why = f"there is no space left at {srv}; choose a smaller size, or make room"
    assert last(job) == ("failed", f"run 1 of 2: {why}")
    (run,) = kept()
    assert (run.state, run.reason, run.write.ios) == (PARTIAL, why, 17)
    assert list(srv.iterdir()) == []


def test_a_file_system_that_becomes_read_only(
    host: Host, srv: Path, fio: FakeFio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fio does not notice: what it did meanwhile is no measurement. What cannot be removed is reported."""

    def touch(path: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    fio.does(MIXED)
    job = make_job(host, schedule(srv, work=replace(READ, rw="randrw")))
    monkeypatch.setattr(Path, "touch", touch)
    monkeypatch.setattr("raidtui.jobs.scratch_folder.shutil.rmtree", lambda *_, **__: None)
    assert BenchWorker(host, job).work() == "failed"
    why = f"the file system at {srv} became read-only during the run; see the kernel log"
    assert last(job) == ("failed", f"run 1 of 2: {why}")
    assert [(run.state, run.reason) for run in kept()] == [(PARTIAL, why)]
    reported = [entry["text"] for entry in job.entries() if entry["event"] == "output"]
    assert reported == [f"{srv}/raidtui-{job.id} cannot be removed: remove it yourself"]


def test_a_device_that_has_come_into_use(
    host: Host, srv: Path, fio: FakeFio, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "sde is in use now; nothing more is written to it"
    monkeypatch.setattr("raidtui.features.bench.run.stage.Holder.take", lambda *_: why)
    job = make_job(host, schedule(srv, place=Place(device="sde", writes=True), axes=()))
    assert BenchWorker(host, job).work() == "failed"
    assert last(job) == ("failed", why)
    assert not (fio.folder / "argv").exists()


def test_an_option_that_fio_does_not_know(host: Host, srv: Path, fio: FakeFio) -> None:
    fio.does(behaviour="1", errors=b"fio: unrecognized option '--overwrite=1'\n")
    job = make_job(host, schedule(srv))
    assert BenchWorker(host, job).work() == "failed"
    assert (
        last(job)[1] == "run 1 of 2: fio does not know the option overwrite; leave it out, or use a newer fio"
    )
    assert [run.state for run in kept()] == ["failed"]


def test_no_fio_any_more(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.run.fio_process.tool_path", lambda _: None)
    job = make_job(host, turned(host, srv))
    assert BenchWorker(host, job).work() == "failed"
    assert last(job) == ("failed", "fio: fio is not installed")
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4


def test_stopped(host: Host, srv: Path, fio: FakeFio) -> None:
    """SIGTERM: fio is asked to report what it has, the knob is put back, the rest is not begun."""
    cut = STOPPED.index(b"\nfio: terminating")
    fio.does(STOPPED[:cut], behaviour="asks", last=STOPPED[cut:])
    job = make_job(host, turned(host, srv))
    assert BenchWorker(host, job).work() == "cancelled"
    assert last(job) == ("cancelled", "run 1 of 2: stopped before it finished")
    (run,) = kept()
    assert (run.state, run.reason, run.read.ios) == (PARTIAL, "stopped before it finished", 25)
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    reported = [entry.split()[0] for entry in journal(job)]
    assert reported == ["work", "folder", "change", "run", "run", "cancelled"]


def test_stopped_within_the_ramp(host: Host, srv: Path, fio: FakeFio) -> None:
    """What fio reports then is what the ramp did: it is no measurement."""
    fio.does(MIXED, behaviour="asks")
    work = replace(READ, runtime_s=60, ramp_s=5)
    assert BenchWorker(host, make_job(host, schedule(srv, axes=(), work=work))).work() == "cancelled"
    (run,) = kept()
    why = "stopped before it finished, during its ramp time: nothing was measured"
    assert (run.state, run.reason, run.iops) == ("failed", why, 0.0)


def test_killed_within_the_ramp(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "run_fio", feeding(dies_at=1))
    work = replace(READ, runtime_s=60, ramp_s=5)
    with pytest.raises(Killed):
        BenchWorker(host, make_job(host, schedule(srv, axes=(), work=work))).work()
    restore(host)
    (run,) = kept()
    why = "its worker was killed, during its ramp time: nothing was measured"
    assert (run.state, run.reason, run.iops) == ("failed", why, 0.0)


def test_killed_and_put_back(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "run_fio", feeding(dies_at=1))
    job = make_job(host, turned(host, srv))
    with pytest.raises(Killed):
        BenchWorker(host, job).work()
    assert host.knobs()["queue/scheduler"] == "[none] mq-deadline"
    assert len(list(srv.iterdir())) == 1
    assert (job.state, [each.id for each in interrupted()]) == ("interrupted", [job.id])
    assert restore(host) == [job.id]
    assert (job.state, restore(host), list(srv.iterdir())) == ("rolled back", [], [])
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    (run,) = kept()
    assert (run.state, run.reason, run.read.iops) == (
        PARTIAL,
        "its worker was killed; the latencies of the whole run are not known",
        200.0,
    )


def test_resumed(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is whole is not measured again, what was cut short is."""
    job = make_job(host, turned(host, srv, repeats=2))
    monkeypatch.setattr(measure, "run_fio", feeding(1.0, dies_at=2))
    with pytest.raises(Killed):
        BenchWorker(host, job).work()
    monkeypatch.setattr(measure, "run_fio", feeding(2.0, 3.0, 4.0))
    assert BenchWorker(host, job).work() == "done"
    assert [(run.number, run.state, run.read.iops) for run in kept()] == [
        (0, WHOLE, 1.0),
        (1, WHOLE, 2.0),
        (2, WHOLE, 3.0),
        (3, WHOLE, 4.0),
    ]
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4


def test_until_it_is_steady(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    falling = [900.0, 700.0, 500.0, 400.0, 402.0, 398.0, 401.0, 399.0]
    monkeypatch.setattr(measure, "run_fio", feeding(*falling, *[100.0] * 5))
    made = schedule(srv, conditions=Conditions(steady=True), repeats=25, grouped=True)
    assert BenchWorker(host, make_job(host, made)).work() == "done"
    runs = kept()
    assert [run.read.iops for run in runs if run.point["block"] == "8192"] == falling
    assert runs[7].steady.startswith("steady: ")
    assert runs[6].steady.startswith("not steady: ")
    assert len(runs) == 13
    assert not any(run.unsteady for run in runs)


def test_one_of_two_points_is_never_steady(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is measured, too, and has its figure; the benchmark has failed."""
    monkeypatch.setattr(measure, "run_fio", feeding(*[100.0 * 2**n for n in range(25)], *[100.0] * 5))
    job = make_job(host, schedule(srv, conditions=Conditions(steady=True), repeats=25, grouped=True))
    assert BenchWorker(host, job).work() == "failed"
    state, reason = last(job)
    assert (state, reason.partition(", over")[0]) == ("failed", "NOT STEADY: block 8K: after 25 rounds")
    assert [run.unsteady for run in kept()] == [True] * 25 + [False] * 5


def test_rounds_of_one_that_was_killed_are_not_steady(
    host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is resumed, which keeps them."""
    monkeypatch.setattr(measure, "run_fio", feeding(*[100.0] * 9, dies_at=4))
    job = make_job(host, schedule(srv, axes=(), conditions=Conditions(steady=True), repeats=25, grouped=True))
    with pytest.raises(Killed):
        BenchWorker(host, job).work()
    assert restore(host) == [job.id]
    assert [(run.state, run.unsteady) for run in kept()] == [*[(WHOLE, True)] * 3, (PARTIAL, True)]
    monkeypatch.setattr(measure, "run_fio", feeding(*[100.0] * 9))
    assert BenchWorker(host, job).work() == "done"
    assert [(run.state, run.unsteady) for run in kept()] == [(WHOLE, False)] * 5


def test_what_is_not_quiet_is_kept_with_the_run(
    host: Host, srv: Path, fio: FakeFio, monkeypatch: pytest.MonkeyPatch
) -> None:
    fio.does(MIXED)
    monkeypatch.setattr(
        "raidtui.features.bench.run.bench_worker.noise", lambda *_, **__: ("sda does 45 MB/s, 90 requests/s",)
    )
    assert BenchWorker(host, make_job(host, schedule(srv))).work() == "done"
    reported = "The machine was not quiet when the run started: sda does 45 MB/s, 90 requests/s."
    assert [run.remarks for run in kept()] == [(reported,)] * 2
    without = schedule(srv, conditions=Conditions(quiet_check=False))
    assert BenchWorker(host, make_job(host, without)).work() == "done"
    assert [run.remarks for run in kept()[2:]] == [()] * 2


def test_a_knob_that_does_not_come_back(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = stuck(host, srv, monkeypatch)
    with pytest.raises(
        JobError, match=f"what benchmark {job.id} changed cannot be put back: .*raidtui bench restore puts"
    ):
        restore(host)
    host.fails.clear()
    assert restore(host) == [job.id]
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4


def stuck(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A benchmark whose schedulers were taken, and from the first run on are not taken back."""
    feed = feeding(1.0, 2.0)

    def run(*arguments: Any, **_: Any) -> FioEnd:
        host.fails["sdb/queue/scheduler"] = errno.EINVAL
        return feed(*arguments)

    monkeypatch.setattr(measure, "run_fio", run)
    job = make_job(host, turned(host, srv))
    assert BenchWorker(host, job).work() == "stuck"
    assert "could not be taken back" in last(job)[1]
    return job


def test_restore_finds_what_to_put_back(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be is put back, the rest is listed with its command, and later benchmarks run."""
    job = stuck(host, srv, monkeypatch)
    left = "echo mq-deadline > /sys/class/block/sdb/queue/scheduler: the kernel refuses this value"
    assert settle(host) == [Restored(job=job.id, left=(left,))]
    now = ["[none] mq-deadline" if disk == "sdb" else "none [mq-deadline]" for disk in DISKS]
    assert [host.knobs(disk)["queue/scheduler"] for disk in DISKS] == now
    assert (last(job), interrupted()) == (("failed", f"not put back: {left}"), [])
    assert (restore(host), settle(host)) == ([], [])


def test_restore_of_one_that_cannot_be_read(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its schedule and the plan of its change are damaged, as after a power cut: it is in nobody's way."""
    job = stuck(host, srv, monkeypatch)
    (job.folder / "bench.json").write_bytes(b"")
    for plan in (job.folder / "changes").glob("*/plan.json"):
        plan.write_bytes(b"")
    (restored,) = settle(host)
    assert (restored.job, restored.back, len(restored.left)) == (job.id, (), 2)
    assert restored.left[0].startswith("not a plan: ")
    assert restored.left[1].startswith("its files, if any: this is not a benchmark schedule: ")
    assert interrupted() == []


def test_a_knob_that_refuses_is_refused_before_fio(
    host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the sweep, and blocks none that comes after it."""
    host.fails["queue/scheduler"] = errno.EBUSY
    job = make_job(host, turned(host, srv))
    assert BenchWorker(host, job).work() == "failed"
    path = "/sys/class/block/sda/queue/scheduler"
    why = "the kernel is busy, or another setting prevents it"
    assert last(job)[1] == (
        f"scheduler cannot be swept: writing the present value to {path} (mq-deadline) is refused: {why};"
        " nothing was measured"
    )
    assert (kept(), interrupted()) == ((), [])


def test_devices_that_are_others_now(host: Host, srv: Path, fio: FakeFio) -> None:
    needs = (Fact(kind=FactKind.SERIAL, subject="sde", value="OTHER"),)
    made = schedule(srv, place=Place(device="sde", writes=True, needs=needs), axes=())
    job = make_job(host, made)
    assert BenchWorker(host, job).work() == "failed"
    assert last(job) == ("failed", "sde is another disk now: SSDE0001, not OTHER")
    assert not (fio.folder / "argv").exists()


def test_one_at_a_time(host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr("raidtui.jobs.spawn.start_worker", lambda job: started.append(job.id))
    job = make_job(host, schedule(srv))
    with only_worker(jobs_folder(), "another"):
        assert bench_on(host, job.folder) == 75
        with pytest.raises(BusyError):
            begin(host, schedule(srv))
    assert job.entries()[-1]["event"] == "not begun"
    assert started == []
    made = begin(host, schedule(srv))
    assert started == [made.id]
    assert find_bench(made.id).id == made.id


def test_a_schedule_that_was_made_before_all_was_put_back(
    host: Host, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its way back would lead to what the interrupted one had set."""
    monkeypatch.setattr(measure, "run_fio", feeding(dies_at=1))
    job = make_job(host, turned(host, srv))
    with pytest.raises(Killed):
        BenchWorker(host, job).work()
    put_back = "raidtui.features.bench.run.bench_jobs.start_worker"
    monkeypatch.setattr(put_back, lambda job, *, back: back and BenchWorker(host, job).put_back())
    with pytest.raises(JobError, match="settings have changed: run the command again"):
        begin(host, turned(host, srv))
    assert job.state == "rolled back"


def test_exit_statuses(host: Host, srv: Path, fio: FakeFio) -> None:
    fio.does(MIXED)
    job = make_job(host, schedule(srv))
    assert (bench_on(host, job.folder), bench_on(host, job.folder, back=True)) == (0, 0)
    fio.does(NO_SPACE, behaviour="1")
    assert bench_on(host, make_job(host, schedule(srv)).folder) == 1
    (job.folder / "bench.json").write_bytes(b"{}")
    assert bench_on(host, job.folder) == 1
    assert job.entries()[-1]["reason"].startswith("this is not a benchmark schedule")


def test_news(host: Host, srv: Path, fio: FakeFio) -> None:
    fio.does(MIXED)
    job = make_job(host, schedule(srv))
    before = news(job)
    assert (before.state, [entry["event"] for entry in before.entries], before.lines) == (
        "made",
        ["made"],
        (),
    )
    BenchWorker(host, job).work()
    after = news(job, len(before.entries), before.offset)
    assert (after.state, len(after.lines)) == ("done", 8)
    assert after.entries[-1]["event"] == "done"
    assert news(job, 99, after.offset).lines == ()


def test_a_host_that_is_none(host: Host, srv: Path) -> None:
    host.live = False
    with pytest.raises(JobError, match="a captured tree is read-only"):
        begin(host, schedule(srv))


def test_no_benchmark_yet() -> None:
    with pytest.raises(JobError) as caught:
        find_bench()
    assert str(caught.value) == "there is no benchmark yet: raidtui bench run starts one"


class Cost:
    """Measures what it is asked to."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.began = False

    def before(self) -> None:
        self.began = True

    def after(self) -> str:
        assert self.began
        return self.words


@pytest.mark.parametrize("words", ["2 GB to sda (0.1 % of its life)", ""])
def test_what_a_benchmark_costs_its_disks(host: Host, srv: Path, fio: FakeFio, words: str) -> None:
    fio.does(MIXED)
    made = schedule(srv)
    job = make_job(host, made)
    asked: list[Schedule] = []

    def measuring(schedule: Schedule) -> Cost:
        asked.append(schedule)
        return Cost(words)

    assert BenchWorker(host, job, measuring).work() == "done"
    assert asked == [made]
    reported = [entry["text"] for entry in job.entries() if entry["event"] == "cost"]
    assert reported == ([words] if words else [])
    assert journal(job)[-1] == "done"
