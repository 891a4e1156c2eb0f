"""The benchmark's worker: what surrounds a run is noted, and kept with it, also when it is killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.bench.results.run_record import PARTIAL, WHOLE, RunSample
from raidtui.features.bench.run import measure
from raidtui.features.bench.run.bench_jobs import make_job, news, restore
from raidtui.features.bench.run.bench_progress import last_run
from raidtui.features.bench.run.bench_worker import BenchWorker
from raidtui.features.bench.run.fio_process import FioEnd
from raidtui.features.bench.telemetry import TelemetryRange
from tests.features.bench.host import Host
from tests.features.bench.recorded import MIXED, dumps_of
from tests.features.bench.working import Killed, kept, schedule
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
