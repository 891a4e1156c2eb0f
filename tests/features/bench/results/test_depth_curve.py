"""Figures against depth: where more requests in flight gain little."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.results.compare import series_of
from raidtui.features.bench.results.depth_curve import DepthCurve, depth_curves
from raidtui.features.bench.results.run_record import RunRecord
from tests.features.bench.records import RANDOM, measured


def runs(rates: dict[int, float], **more: object) -> list[RunRecord]:
    """One run at each depth."""
    return [
        measured(replace(RANDOM, depth=depth), iops, id=depth, point={"depth": str(depth), **more})
        for depth, iops in rates.items()
    ]


def curve(rates: dict[int, float]) -> DepthCurve:
    (found,) = depth_curves(series_of(runs(rates)))
    return found


def test_the_knee_is_where_no_deeper_queue_gains() -> None:
    found = curve({1: 8_000, 2: 15_000, 4: 28_000, 8: 50_000, 16: 52_000, 32: 51_000})
    assert (found.knee, [point.flight for point in found.points]) == (8, [1, 2, 4, 8, 16, 32])
    assert found.sentence == "saturated at 8 in flight: more of them gain less than 10 % (by one run each)."


def test_a_dip_is_no_knee() -> None:
    assert curve({1: 8_000, 2: 8_100, 4: 28_000, 8: 50_000}).knee is None
    assert curve({1: 8_000, 2: 8_100, 4: 28_000, 8: 50_000}).sentence == (
        "not saturated at 8 in flight, the most that was measured (by one run each)."
    )


def test_where_rate_times_latency_is_not_the_depth() -> None:
    lone, *rest = runs({1: 8_000, 2: 15_000, 4: 28_000})
    lone = replace(lone, read=replace(lone.read, mean_ns=(lone.read.mean_ns or 0) * 0.9))
    (found,) = depth_curves(series_of([lone, *rest]))
    assert [point.follows_little for point in found.points] == [False, True, True]
    assert found.sentence.endswith(
        "; at 1, rate times latency is not the depth: fio itself may be the limit (by one run each)."
    )


def test_each_workload_has_its_own() -> None:
    """Two depths are no curve."""
    two = [*runs({1: 10, 2: 20, 4: 40}, bitmap="none"), *runs({1: 10, 2: 10, 4: 10}, bitmap="internal")]
    first, second = depth_curves(series_of(two))
    assert (first.knee, second.knee) == (None, 1)
    assert "bitmap none" in first.label
    assert depth_curves(series_of(runs({1: 10, 2: 20}))) == ()
