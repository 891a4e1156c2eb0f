"""What is recognised on devices, with a checksum and without one, and what follows from it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from raidtui.features.rescue.search.block_facts import BlockFact, on
from raidtui.features.rescue.search.crc32c import crc32c
from raidtui.features.rescue.search.exploration import Exploration
from raidtui.features.rescue.search.ext4_blocks import Ext4Inodes
from raidtui.features.rescue.search.hypothesis import Evidence, Hypothesis, Recogniser
from raidtui.features.rescue.search.members import SearchWatch
from raidtui.features.rescue.search.results import CheckResult, SearchOutcome
from raidtui.features.rescue.session_search import OpenMember
from raidtui.model.striping import StripeShape
from tests.extent import later
from tests.features.rescue.images import ext4, search
from tests.features.rescue.striping import MIB, write_members

SIZE, SEED, NUMBER = 1024, 7, 12
LIMIT, COUNT = (SIZE - 32 - 24) // 8, 2
LEAF_TAIL = b"\0\0\0\0\x0c\0\0\xde" + struct.pack("<I", 99)
INODES = Ext4Inodes(seed=1, block_bytes=SIZE, inode_bytes=256, blocks=1000, first_inode=11, clustered=False)
WITHOUT = "^metadata_csum,^uninit_bg"
OLD = f"{WITHOUT},^extent,^64bit"
EXT2 = ("-O", f"{OLD},^has_journal", "-b", "4096")
SMALL = ("-O", f"{OLD},^flex_bg", "-I", "128")
BLOCK = 4096
EARLY, LATE, STEPS = range(1, 101), range(101, 301), range(301, 305)
SHAPE = StripeShape(level=0, layout="", slots=1, chunk_bytes=BLOCK)


def index_root(end: bytes) -> bytearray:
    """A directory's first block once it has an index; its last bytes are in no use."""
    head = struct.pack("<IHBB4s", NUMBER, 12, 1, 2, b".") + struct.pack("<IHBB4s", 2, SIZE - 12, 2, 2, b"..")
    head += struct.pack("<IBBBB", 0, 1, 8, 0, 0) + struct.pack("<HH", LIMIT, COUNT)
    block = bytearray(head.ljust(SIZE, b"\0"))
    block[SIZE - len(end) :] = end
    tail = 32 + LIMIT * 8
    crc = crc32c(SEED, bytes(block[: 32 + COUNT * 8] + block[tail : tail + 4] + bytes(4)))
    struct.pack_into("<I", block, tail + 4, crc)
    return block


@pytest.mark.parametrize("end", [b"", LEAF_TAIL], ids=["new", "once-a-leaf"])
def test_the_root_of_an_index(end: bytes) -> None:
    block = index_root(end)
    assert INODES._is_directory(bytes(block), 0, NUMBER, SEED)
    block[40] ^= 1
    assert not INODES._is_directory(bytes(block), 0, NUMBER, SEED)


@pytest.mark.parametrize(
    ("options", "level", "layout", "order", "dropped"),
    [
        pytest.param(("-O", f"{OLD},orphan_file"), 5, "left-symmetric", [2, 0, 3, 1], (), id="orphan-file"),
        pytest.param(("-O", OLD), 5, "left-symmetric", [2, 0, 1, 3], (0,), id="one-missing"),
        pytest.param(EXT2, 5, "left-symmetric", [2, 0, 3, 1], (), id="ext2"),
        pytest.param(SMALL, 5, "left-symmetric", [2, 0, 3, 1], (), id="small"),
        pytest.param(("-O", f"{OLD},orphan_file"), 10, "f2", [2, 0, 3, 1], (), id="raid10-f2"),
        later(("-O", WITHOUT), 10, "o2", [2, 0, 3, 1], (), id="raid10-o2"),
        pytest.param(("-O", OLD), 4, "", [1, 0, 3, 2], (), id="raid4"),
        later(("-O", WITHOUT), 0, "", [2, 0, 1], (), id="raid0"),
    ],
)  # fmt: skip
def test_the_truth_is_found_alone(  # noqa: PLR0917
    base: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    level: int,
    layout: str,
    order: list[int],
    dropped: tuple[int, ...],
) -> None:
    paths = write_members(
        tmp_path,
        ext4(base, *options),
        level=level,
        layout=layout,
        order=order,
        size=(64 if level in {6, 10} else 32) * MIB,
    )
    result = search([path for number, path in enumerate(paths) if number not in dropped])
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (level, layout)
    assert first.geometry.order == tuple("missing" if each in dropped else f"m{each}" for each in order)
    assert (first.geometry.chunk_bytes, first.geometry.data_offset_sectors) == (65536, 2048)
    assert first.proof.check is CheckResult.CLEAN


@pytest.mark.parametrize("wanted", [{"slots": 5}, {"levels": (6,)}])
def test_two_members_of_raid6_are_missing(base: Path, tmp_path: Path, wanted: dict[str, Any]) -> None:
    """Parity in the place of a missing member looks like much that is soft: that outdoes no wrong block."""
    order = [2, 4, 3, 1, 0]
    paths = write_members(
        tmp_path, ext4(base, "-O", OLD), level=6, layout="left-symmetric", order=order, size=64 * MIB
    )
    result = search([paths[1], paths[3], paths[4]], **wanted)
    first = result.candidates[0]
    assert (result.outcome, first.proof.check) == (SearchOutcome.UNIQUE, CheckResult.CLEAN), result.text
    assert first.geometry.order == ("missing", "m4", "m3", "m1", "missing")


def fact(kind: str, *, loose: bool = False, premise: tuple[BlockFact, bytes] | None = None) -> BlockFact:
    return BlockFact(address=0, length=4, kind=kind, verify=bool, loose=loose, premise=premise)


def has(*places: int) -> list[tuple[int, frozenset[int]]]:
    """What was found for a block in slot 0."""
    return [(0, frozenset(places))]


def test_of_two_readings_that_counts_which_the_rest_speaks_for() -> None:
    table = fact("table", loose=True)
    true, parity = (table, b"true"), (table, b"parity")
    found = Evidence(1, 2)
    found.note(table, has(0, 1))
    found.read_as(table, [b"parity", b"true"])
    found.note(fact("file", premise=parity), has())
    found.note(fact("file", premise=parity), has())
    found.note(fact("file", premise=true), has(1))
    assert found.total.tests == [2]  # the table, and the file that the true reading names
    assert found.total.hits == [[1, 2]]
    assert found.total.asked == 2
    for _ in range(3):  # what speaks for the other one now turns it over
        found.note(fact("file", premise=parity), has(0))
    found.note(fact("file", premise=true), has())
    assert found.total.tests == [6]
    assert found.total.hits == [[4, 1]]


def test_a_member_that_has_missed_writes_keeps_an_older_reading() -> None:
    """Such as a journal's first header: as much follows from it, which the right member does not have."""
    header = msgspec.structs.replace(fact("header", loose=True), age=int.from_bytes)
    later, older, wrong = ((header, bytes([number])) for number in (2, 1, 3))
    found = Evidence(1, 2)
    found.note(header, has(0, 1))
    found.read_as(header, [older[1], later[1], wrong[1]])
    for _ in range(3):
        found.note(fact("block", premise=older), has(1))
    assert found.total.hits == [[1, 4]]
    found.note(fact("block", premise=later), has(0))
    assert (found.total.tests, found.total.hits) == ([2], [[2, 1]])


def test_what_follows_from_a_reading_that_does_not_count_does_not_count_either() -> None:
    start, table = fact("start", loose=True), fact("table", loose=True)
    within = fact("table", loose=True, premise=(start, b"parity"))
    found = Evidence(1, 1)
    found.note(start, has(0))
    found.read_as(start, [b"parity", b"true"])
    found.note(within, has(0))
    found.read_as(within, [b"table"])
    found.note(fact("file", premise=(within, b"table")), has(0))
    assert found.total.tests == [3]
    for _ in range(2):
        found.note(fact("superblock", premise=(start, b"true")), has(0))
    assert found.total.tests == [3]  # the start, and what the other reading says of it
    assert found.holds((within, b"table"))
    assert not found.holds((table, b"table"))


def test_the_sum_is_that_of_what_counts_whatever_the_order() -> None:
    chance = random.Random(7)
    tables = [fact("table", loose=True) for _ in range(4)]
    readings = [(table, bytes([number])) for table in tables for number in range(3)]
    once, stepwise = Evidence(2, 3), Evidence(2, 3)
    for table in tables:
        for evidence in (once, stepwise):
            evidence.read_as(table, [bytes([number]) for number in range(3)])
    for _ in range(300):
        file, places = fact("file", premise=chance.choice(readings)), chance.sample(range(3), 2)
        where = [(chance.randrange(2), frozenset(places if chance.random() < 0.5 else ()))]
        once.note(file, where)
        stepwise.note(file, where)
        assert len(stepwise.total.tests) == 2  # summed at each step
    assert (once.total.tests, once.total.hits) == (stepwise.total.tests, stepwise.total.hits)
    assert sum(once.total.tests) < 300


def _is(data: bytes, number: int) -> bool:
    return data[:8] == number.to_bytes(8, "little")


def _fact(number: int, kind: str, learn: Callable[[bytes], Iterable[BlockFact]] | None = None) -> BlockFact:
    return BlockFact(
        address=number * BLOCK,
        length=BLOCK,
        kind=kind,
        verify=on(_is, number),
        learn=learn,
        must=kind == "early",
        loose=kind == "step",
    )


def _next(_data: bytes, number: int) -> Iterator[BlockFact]:
    """A table, its entries, a label, a text: each leads to the next one, the last to all others."""
    if number + 1 in STEPS:
        yield _fact(number + 1, "step", on(_next, number + 1))
    else:
        yield from (_fact(late, "late") for late in LATE)


@pytest.mark.parametrize("seed", range(6))
def test_what_follows_a_round_later_is_waited_for(tmp_path: Path, seed: int) -> None:
    """A wrong data offset has all early blocks; the right one an eighth less, and all its table leads to."""
    right, wrong = 0, 4 * MIB
    path = tmp_path / "member"
    with path.open("wb") as stream:
        stream.truncate(8 * MIB)
        for number in (*EARLY, *LATE, *STEPS):
            for offset in (right, wrong):
                if number % 8 if offset == right and number in EARLY else offset == right or number in EARLY:
                    stream.seek(offset + number * BLOCK)
                    stream.write(number.to_bytes(8, "little"))
    member = OpenMember(str(path))
    hypotheses = [Hypothesis(SHAPE, offset, Recogniser([member]), (0,)) for offset in (wrong, right)]
    facts = [_fact(number, "early") for number in EARLY]
    facts.append(_fact(STEPS[0], "step", on(_next, STEPS[0])))
    left = Exploration(facts, hypotheses, SearchWatch(), seed).run()
    member.close()
    assert left[0].offset == right
