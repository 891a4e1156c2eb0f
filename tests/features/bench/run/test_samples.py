"""What happened between two objects, and the figures of a whole run: equal to fio's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.bench.results.run_record import Figures, Flow, RunSample
from raidtui.features.bench.run.fio_stream import Dump, JobPart, Latency, Meter, Side, figures, percentiles
from tests.features.bench.recorded import IN_TURN, MIXED, NO_SPACE, STOPPED, TWO_JOBS, dumps_of, objects


def samples_of(dumps: Iterable[Dump]) -> tuple[RunSample, ...]:
    """Return the samples of a whole stream, without those before fio last reset its counters."""
    meter = Meter()
    found: list[RunSample] = []
    for dump in dumps:
        sample = meter.take(dump)
        if sample is not None:
            found = [sample] if sample.anew else [*found, sample]
    return tuple(found)


def test_intervals() -> None:
    assert samples_of(dumps_of(STOPPED)) == (
        RunSample(
            t_s=0.126,
            read=Flow(iops=198.413, bytes_s=812698.413, p50_ns=185344, p99_ns=1728512, p999_ns=1728512),
            ios=(25, 0),
            size_bytes=(102400, 0),
            anew=True,
        ),
    )
    first, second, third = samples_of(dumps_of(MIXED))
    assert (first.t_s, second.t_s, third.t_s) == (0.129, 0.382, 0.631)
    assert second.read == Flow(
        iops=407.115, bytes_s=1651351.779, p50_ns=156672, p99_ns=782336, p999_ns=1155072
    )
    assert (second.ios, second.size_bytes) == ((156, 78), (630784, 319488))


def test_several_jobs_add_up() -> None:
    last = samples_of(dumps_of(TWO_JOBS))[-1]
    assert (last.ios, last.read.iops, last.write.iops) == ((194, 194), 300.0, 304.0)
    turns = samples_of(dumps_of(IN_TURN))
    assert [sample.t_s for sample in turns] == [0.138, 0.391, 0.686, 0.792]
    assert (turns[-1].read, turns[-1].write.iops) == (Flow(), 283.019)


@pytest.mark.parametrize("data", [MIXED, TWO_JOBS, IN_TURN])
def test_nothing_is_counted_twice(data: bytes) -> None:
    samples, spans = samples_of(dumps_of(data)), [0.0]
    spans += [sample.t_s for sample in samples]
    done = sum(
        (sample.read.iops + sample.write.iops) * (now - then)
        for sample, then, now in zip(samples, spans, spans[1:], strict=False)
    )
    assert done == pytest.approx(sum(samples[-1].ios), rel=1e-4)


def test_an_interval_that_is_too_short_is_added_to_the_next() -> None:
    meter = Meter()

    def dump(runtime: int, ios: int) -> Dump:
        side = Side(runtime=runtime, total_ios=ios, io_bytes=ios * 4096)
        return Dump(jobs=(JobPart(jobname="bench", read=side),))

    assert meter.take(dump(250, 100)) == RunSample(
        t_s=0.25, read=Flow(iops=400.0, bytes_s=1638400.0), ios=(100, 0), size_bytes=(409600, 0)
    )
    assert meter.take(dump(260, 105)) is None
    assert meter.take(dump(500, 200)) == RunSample(
        t_s=0.5, read=Flow(iops=400.0, bytes_s=1638400.0), ios=(200, 0), size_bytes=(819200, 0)
    )


def test_other_jobs_are_a_new_start() -> None:
    meter = Meter()
    one = Dump(jobs=(JobPart(jobname="a", read=Side(runtime=500, total_ios=50)),))
    two = Dump(jobs=(JobPart(jobname="b", read=Side(runtime=600, total_ios=90)),))
    meter.take(one)
    sample = meter.take(two)
    assert sample is not None
    assert (sample.anew, sample.t_s, sample.ios) == (True, 0.6, (90, 0))


@pytest.mark.parametrize("data", [MIXED, TWO_JOBS, NO_SPACE])
def test_figures_are_fios_own(data: bytes) -> None:
    ours = figures(dumps_of(data)[-1])
    for side, name in zip(ours, ("read", "write"), strict=True):
        theirs = [job[name] for job in objects(data)[-1]["jobs"] if job[name]["total_ios"]]
        if not theirs:
            assert side == Figures()
            continue
        (only,) = theirs
        assert (side.iops, side.bytes_s) == (only["iops"], only["bw_bytes"])
        assert (side.ios, side.size_bytes) == (only["total_ios"], only["io_bytes"])
        assert side.mean_ns == pytest.approx(only["clat_ns"]["mean"])
        known = only["clat_ns"].get("percentile", {})
        assert side.p50_ns == known["50.000000"]
        assert side.p99_ns == known["99.000000"]
        assert side.p999_ns == known["99.900000"]


def test_groups_one_after_another_take_their_time_together() -> None:
    """Two jobs that do the same in turn are no faster than one."""
    side = Side(runtime=1000, total_ios=500, io_bytes=500 * 4096, iops=500.0, bw_bytes=2048000)
    together = Dump(jobs=(JobPart(groupid=0, read=side), JobPart(groupid=0, read=side)))
    in_turn = Dump(jobs=(JobPart(groupid=0, read=side), JobPart(groupid=1, read=side)))
    assert (figures(together)[0].iops, figures(in_turn)[0].iops) == (1000.0, 500.0)
    assert (figures(together)[0].bytes_s, figures(in_turn)[0].bytes_s) == (4096000, 2048000.0)


def test_an_old_fio_without_bytes_a_second() -> None:
    side = Side(runtime=500, total_ios=100, io_bytes=409600, iops=200.0)
    assert figures(Dump(jobs=(JobPart(read=side),)))[0].bytes_s == 819200.0


def test_total_latency_where_fio_keeps_that() -> None:
    side = Side(runtime=500, total_ios=2, lat_ns=Latency(bins={1000: 1, 2000: 1}, mean=1500.0))
    found = figures(Dump(jobs=(JobPart(read=side),)))[0]
    assert (found.mean_ns, found.p50_ns, found.p99_ns) == (1500.0, 1000, 2000)


@given(st.dictionaries(st.integers(1, 10**9), st.integers(0, 1000), max_size=30), st.integers(1, 999))
def test_percentiles(bins: dict[int, int], permille: int) -> None:
    (found,) = percentiles(bins, (permille,))
    total = sum(bins.values())
    if not total:
        assert found is None
        return
    assert found is not None
    values = sorted(Counter(bins).elements())
    rank = -(-total * permille // 1000)
    assert found == values[max(0, rank - 1)]
