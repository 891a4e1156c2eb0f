"""fio's stream in pieces: whatever is broken in it, nothing is raised and nothing made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.bench.results.run_record import Figures, Flow, RunSample
from raidtui.features.bench.run import fio_stream as stream
from raidtui.features.bench.run.fio_stream import (
    Dump,
    JobPart,
    Latency,
    Meter,
    Side,
    StreamParser,
    figures,
    percentiles,
)
from tests.features.bench.recorded import ALL, IN_TURN, MIXED, NO_SPACE, STOPPED, TWO_JOBS, dumps_of, objects


@pytest.mark.parametrize(
    ("data", "count", "jobs"),
    [(MIXED, 4, 1), (TWO_JOBS, 4, 2), (IN_TURN, 5, 2), (STOPPED, 3, 1), (NO_SPACE, 1, 1)],
)
def test_objects_as_json_reads_them(data: bytes, count: int, jobs: int) -> None:
    found, expected = dumps_of(data), objects(data)
    assert (len(found), {len(dump.jobs) for dump in found}) == (count, {jobs})
    for dump, plain in zip(found, expected, strict=True):
        assert dump.version == "fio-3.33"
        for job, other in zip(dump.jobs, plain["jobs"], strict=True):
            assert (job.jobname, job.groupid, job.error) == (
                other["jobname"],
                other["groupid"],
                other["error"],
            )
            for side, raw in ((job.read, other["read"]), (job.write, other["write"])):
                assert (side.io_bytes, side.total_ios, side.runtime) == (
                    raw["io_bytes"],
                    raw["total_ios"],
                    raw["runtime"],
                )
                assert (side.iops, side.bw_bytes) == (raw["iops"], raw["bw_bytes"])
                bins = raw["clat_ns"].get("bins", {})
                assert side.latency.bins == {int(place): number for place, number in bins.items()}


def test_messages_between_objects() -> None:
    parser = StreamParser()
    assert len(parser.feed(STOPPED)) == 3
    assert (list(parser.said), parser.broken) == (["fio: terminating on signal 2"], 0)
    parser = StreamParser()
    (dump,) = parser.feed(NO_SPACE)
    assert dump.jobs[0].error == 28
    assert list(parser.said) == [
        "fio: pid=27360, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device"
    ]


@given(st.sampled_from(ALL), st.lists(st.integers(1, 20_000), max_size=40))
def test_pieces_make_no_difference(data: bytes, sizes: list[int]) -> None:
    parser, found, place = StreamParser(), list[Dump](), 0
    for size in sizes:
        found += parser.feed(data[place : place + size])
        place += size
    found += parser.feed(data[place:])
    assert found + parser.close() == dumps_of(data)
    assert parser.broken == 0


@given(st.sampled_from(ALL), st.data())
def test_cut_anywhere(data: bytes, draw: st.DataObject) -> None:
    """A stream that ends in the middle has the objects that were whole; a new one after it is whole again."""
    cut = draw.draw(st.integers(0, len(data)))
    parser = StreamParser()
    found = parser.feed(data[:cut])
    assert found == dumps_of(data)[: len(found)]
    again = parser.feed(b"\n" + data)
    # What was cut may have ended: only the last "}" and the line's end were missing.
    assert again[-len(dumps_of(data)) :] == dumps_of(data)
    assert parser.broken <= 1


@given(st.sampled_from(ALL), st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=30)), max_size=5))
def test_noise_is_survived(data: bytes, noise: list[tuple[float, bytes]]) -> None:
    spoiled = data
    for part, junk in noise:
        place = int(part * len(spoiled))
        spoiled = spoiled[:place] + junk + spoiled[place + len(junk) :]
    parser = StreamParser()
    found = parser.feed(spoiled) + parser.close()
    good = dumps_of(data)
    assert len(found) <= len(good) + len(noise)
    if not noise:
        assert found == good


@given(st.binary(max_size=4000))
def test_anything_at_all(data: bytes) -> None:
    parser = StreamParser()
    parser.feed(data)
    parser.close()
    assert len(parser.said) <= 200


@pytest.mark.parametrize(
    "text",
    [
        b"{\n}x\n}\n",
        b'{\n "jobs" : 1\n}\n',
        b'{\n "jobs" : [{"read": {"iops": nan}}]\n}\n',
        b'{\n "jobs" : [{"read": {"clat_ns": {"bins": {"many": 1}}}}]\n}\n',
        b'{\n "jobs" : [{"read": {"total_ios": 9999999999999999999}}]\n}\n',
        b'{\n "jobs" : [{"read": {"total_ios": -1}}]\n}\n',
        b'{\n "jobs" : [{"read": {"iops": 1e999}}]\n}\n',
        b'{\n "fio version" : "\xff"\n}\n',
        b"{\n" + b"[" * 2000 + b"\n}\n",
    ],
)
def test_an_object_that_is_none_is_counted(text: bytes) -> None:
    parser = StreamParser()
    assert parser.feed(text + MIXED) == dumps_of(MIXED)
    assert parser.broken == 1
    assert parser.last == MIXED[MIXED.rindex(b"\n{\n") + 1 :]


def test_an_object_without_an_end_takes_no_memory() -> None:
    with patch.object(stream, "_MOST_BYTES", 5000):
        parser = StreamParser()
        parser.feed(b"{\n" + b' "a" : 1,\n' * 2000)
        assert (parser.broken, parser._lines) == (1, None)
        parser.feed(b"x" * 6000)
        assert parser._rest == b""


def test_an_object_that_is_open_at_the_end_is_broken() -> None:
    parser = StreamParser()
    parser.feed(MIXED[:-200])
    assert (len(parser.close()), parser.broken) == (0, 1)


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
