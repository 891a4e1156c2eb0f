"""The benchmark's worker: telemetry of runs, knobs of arrays that it makes, and a device that is held."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import PARTIAL, WHOLE, RunSample
from raidtui.features.bench.run import measure
from raidtui.features.bench.run.bench_jobs import make_job, news, restore
from raidtui.features.bench.run.bench_progress import last_run
from raidtui.features.bench.run.bench_worker import BenchWorker
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.features.bench.run.stage import Holder, Stage
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule, Scratch
from raidtui.features.bench.telemetry import TelemetryRange
from raidtui.model.plan import Plan
from tests.features.bench.host import DISKS, Host
from tests.features.bench.recorded import MIXED, dumps_of
from tests.features.bench.working import Killed, feeding, journal, kept, last, schedule
from tests.lab.guests.deadline import wait_until

pytestmark = pytest.mark.usefixtures("kept_here")


def slow(live: Path, died: Callable[[], None] = lambda: None) -> Callable[..., FioEnd]:
    """A fio that runs until its surroundings were noted twice."""

    def fake(argv: Any, folder: Path, take: Callable[[RunSample], None], stopped: Any, **_: Any) -> FioEnd:
        del argv, folder, stopped
        take(RunSample(t_s=0.5, ios=(100, 0), size_bytes=(819200, 0)))
        wait_until(lambda: live.read_text().count('"telemetry"') >= 2, 30, "two readings of the surroundings")
        died()
        return FioEnd(status=0, dump=dumps_of(MIXED)[-1], raw=b"{}", said=())

    return fake


@pytest.fixture
def warm(host: Host, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A host that is looked at all the time, while its array is checked."""
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 0.0)
    monkeypatch.setattr("raidtui.features.bench.run.measure.EACH_S", 0.0)
    host.put("/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "2600000\n")
    host.put("/sys/class/hwmon/hwmon3/name", "drivetemp\n")
    host.put("/sys/class/hwmon/hwmon3/device/block/sdb/dev", "8:16\n")
    host.put("/sys/class/hwmon/hwmon3/temp1_input", "43500\n")
    host.put("/sys/class/block/md127/md/sync_action", "check\n")
    return host


SURROUNDED = TelemetryRange(mhz=(2600, 2600), celsius={"sdb": 43.5})
CHECKED = ("A check of data started during the run.",)


def test_what_surrounds_a_run_is_noted(warm: Host, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(warm, schedule(srv, axes=()))
    monkeypatch.setattr(measure, "run_fio", slow(job.folder / "live.jsonl"))
    assert BenchWorker(warm, job).work() == "done"
    (run,) = kept()
    assert (run.state, run.during, run.remarks) == (WHOLE, SURROUNDED, CHECKED)
    last = last_run(news(job).lines)[2][-1]
    assert (last.celsius, [array.sync for array in last.arrays]) == ({"sdb": 43.5}, ["check"])


def test_what_surrounded_a_run_that_was_killed(
    warm: Host, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies() -> None:
        raise Killed

    job = make_job(warm, schedule(srv, axes=()))
    monkeypatch.setattr(measure, "run_fio", slow(job.folder / "live.jsonl", dies))
    with pytest.raises(Killed):
        BenchWorker(warm, job).work()
    assert restore(warm) == [job.id]
    (run,) = kept()
    assert (run.state, run.during, run.remarks) == (PARTIAL, SURROUNDED, CHECKED)


@pytest.fixture
def made_before(host: Host, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A host whose scratch array is md127, whatever is asked for."""
    here = Place(device="md127", writes=True, disks=DISKS, members=DISKS, arrays=("md127",))

    def build(stage: Stage, key: str, scratch: Scratch) -> None:
        stage._changes.make(key, Plan(title="made", subject=scratch.level, steps=()))
        stage._place = here

    monkeypatch.setattr(Stage, "_build", build)
    monkeypatch.setattr("raidtui.features.bench.run.stage.run_fio", feeding(*[1.0] * 9))
    monkeypatch.setattr(measure, "run_fio", feeding(1.0, 2.0, 3.0))
    host.put("/sys/class/block/md127/queue/read_ahead_kb", "512\n")
    return host


def on_scratch(srv: Path, name: str, *values: str) -> Schedule:
    """A schedule that turns a knob of arrays that it makes."""
    axis = Axis(kind=AxisKind.KNOB, name=name, values=values)
    scratch = Scratch(devices=("sde",), level="raid10")
    return schedule(srv, place=Place(members=("sde",)), scratch=scratch, axes=(axis,))


def test_a_knob_of_an_array_that_is_made_for_it(made_before: Host, srv: Path) -> None:
    """It is set when the array is there, and goes with it: nothing is written back."""
    job = make_job(made_before, on_scratch(srv, "read_ahead_kb", "64", "512", "1024"))
    assert BenchWorker(made_before, job).work() == "done"
    assert made_before.writes == [f"md127/queue/read_ahead_kb {value}" for value in ("64", "512", "1024")]
    assert [run.point for run in kept()] == [{"read_ahead_kb": value} for value in ("64", "512", "1024")]
    assert [entry for entry in journal(job) if entry.startswith("change")] == [
        "change read_ahead_kb 512 → 64 (data)",
        "change read_ahead_kb 64 → 512 (data)",
        "change read_ahead_kb 512 → 1024 (data)",
    ]


def test_a_knob_that_the_array_does_not_have(made_before: Host, srv: Path) -> None:
    job = make_job(made_before, on_scratch(srv, "stripe_cache_size", "512"))
    assert BenchWorker(made_before, job).work() == "failed"
    assert last(job) == (
        "failed",
        "raid10 has no stripe_cache_size: only RAID 4, 5 and 6 have a stripe cache",
    )
    assert kept() == ()


def test_a_knob_that_the_array_does_not_take(made_before: Host, srv: Path) -> None:
    made_before.fails["md127/queue/read_ahead_kb"] = errno.EINVAL
    job = make_job(made_before, on_scratch(srv, "read_ahead_kb", "64"))
    assert BenchWorker(made_before, job).work() == "failed"
    assert last(job) == ("failed", "read_ahead_kb 512 → 64 (data): the kernel refuses this value")


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def test_held_and_let_go() -> None:
    holder = Holder()
    assert (holder.take("null"), holder.name) == ("", "null")
    first = holder._number
    assert Path(f"/proc/self/fd/{first}").readlink() == Path("/dev/null")
    assert not os.get_inheritable(first)
    assert (holder.take("null"), holder._number) == ("", first)
    assert (holder.take("zero"), holder.name) == ("", "zero")
    assert Path(f"/proc/self/fd/{holder._number}").readlink() == Path("/dev/zero")
    holder.let_go()
    assert (holder.name, is_open(first)) == ("", False)
    holder.let_go()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (errno.EBUSY, "sda is in use now; nothing more is written to it"),
        (errno.ENOENT, "sda cannot be opened exclusively: No such file or directory"),
    ],
)
def test_what_cannot_be_held(monkeypatch: pytest.MonkeyPatch, code: int, why: str) -> None:
    holder = Holder()
    assert holder.take("null") == ""

    def fails(path: str, flags: int) -> int:
        assert (path, bool(flags & os.O_EXCL)) == ("/dev/sda", True)
        raise OSError(code, os.strerror(code), path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fails)
        assert holder.take("sda") == why
    assert holder.name == ""
