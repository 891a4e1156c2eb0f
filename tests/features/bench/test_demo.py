"""What the demo host remembers of benchmarks."""

from __future__ import annotations

import msgspec

from raidtui.features.bench.demo_fio import demo_runs
from raidtui.features.bench.results.compare import hits_over_time, series_of
from raidtui.features.bench.results.published import cache_remarks
from raidtui.features.bench.results.run_record import decode


def test_two_runs_over_a_cache() -> None:
    """The first one on a cold cache: its hits rise, and with them the IOPS; the second has them at once."""
    (cold, first), (filled, second) = demo_runs(2e9)
    assert (cold.cold, filled.cold) == (True, False)
    assert cold.iops < filled.iops
    rising = [ratio for _, ratio in hits_over_time(cold, first)]
    steady = [ratio for _, ratio in hits_over_time(filled, second)]
    assert (rising[0] < 0.3, rising[-1] > 0.9, min(steady) > 0.9) == (True, True, True)
    assert first[0].read.iops < first[-1].read.iops
    assert [decode(msgspec.json.encode(each)) for each in (cold, filled)] == [cold, filled]
    remarks = cache_remarks(series_of([cold, filled]))
    assert remarks[0].startswith("#1 cold cache began with a cold cache, #2 again did not")
    for run, samples in ((cold, first), (filled, second)):
        (cache,) = run.caches
        assert (cache.hits or 0) + (cache.misses or 0) == samples[-1].ios[0] == run.read.ios
