"""fio's stream in pieces: whatever is broken in it, nothing is raised and nothing made up."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.bench.run import fio_stream as stream
from raidtui.features.bench.run.fio_stream import Dump, StreamParser
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
