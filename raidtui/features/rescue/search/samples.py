"""What the members' content says of the level, whatever the order, chunk, layout and data offset are.

The order of the tests matters: RAID 1 of an even number of members and RAID 10 near 2 give XOR 0, too, so XOR
is asked last. Rows with fewer than two members that are not zero say nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from raidtui.features.rescue.search.members import SearchedMember, SearchStage, SearchWatch
from raidtui.model.striping import xor

BLOCK = 4096
_ZERO = bytes(BLOCK)
_COUNT = 160
_TRIES = 6
_HEAD, _NEAR = 1 << 20, 160 << 20


class SampleRow(Struct, frozen=True, kw_only=True):
    """The same block of every member.

    Args:
        offset: byte on each device.
        blocks: in the members' order; b"" where a device cannot be read.
    """

    offset: int
    blocks: tuple[bytes, ...]


class Samples(Struct, frozen=True, kw_only=True):
    """Rows at random places, and what they say. Shares are of the rows that could say it, 0 to 1.

    Args:
        equal: all members equal.
        pairs: the share of rows in which two members are equal, by their numbers.
        xor: the XOR of all members is 0.
        xor_without: by member, the XOR of all others is 0.
        one_out: the XOR of all members but one, whichever, is 0.
        written: by member, whether one of its blocks is not zero.
    """

    rows: tuple[SampleRow, ...]
    tried: int
    equal: float
    pairs: dict[tuple[int, int], float]
    xor: float
    xor_without: tuple[float, ...]
    one_out: float
    written: tuple[bool, ...]


def take_samples(
    members: Sequence[SearchedMember], watch: SearchWatch, *, seed: int, first: int = 0, count: int = _COUNT
) -> Samples:
    """Read blocks at random places, half of them near the start of the devices.

    Args:
        members: devices.
        watch: receives how far it is.
        seed: of the places.
        first: the byte before which nothing is read.
        count: how many rows are wanted; a sixth of the places may have to do.
    """
    places = random.Random(seed)  # noqa: S311  (places that can be repeated)
    end = min((member.size_bytes for member in members), default=0) - (64 << 10)
    start = min(max(first, _HEAD), max(0, end - BLOCK))
    rows: list[SampleRow] = []
    written = [False] * len(members)
    tried = 0
    while len(rows) < count and tried < count * _TRIES and end > start + BLOCK:
        watch.at(SearchStage.SAMPLES, len(rows), count)
        low, high = (start, min(end, start + _NEAR)) if tried % 2 else (start, end)
        offset = places.randrange(low, high) // BLOCK * BLOCK
        tried += 1
        blocks = tuple(member.read(offset, BLOCK) for member in members)
        full = [bool(block) and block != _ZERO for block in blocks]
        written = [old or new for old, new in zip(written, full, strict=True)]
        if sum(full) >= 2:
            rows.append(SampleRow(offset=offset, blocks=blocks))
    return _judge(rows, len(members), tried, written)


def choose_samples(samples: Samples, chosen: Sequence[int]) -> Samples:
    """Return the samples of some of the devices.

    Args:
        samples: of all devices.
        chosen: their numbers.
    """
    rows = []
    for row in samples.rows:
        blocks = tuple(row.blocks[number] for number in chosen)
        if sum(block not in {b"", _ZERO} for block in blocks) >= min(2, len(blocks)):
            rows.append(SampleRow(offset=row.offset, blocks=blocks))
    return _judge(rows, len(chosen), samples.tried, [samples.written[number] for number in chosen])


def _judge(rows: list[SampleRow], count: int, tried: int, written: list[bool]) -> Samples:
    whole = [row for row in rows if all(row.blocks)]
    rich = [row for row in whole if len({block for block in row.blocks if block != _ZERO}) >= 2]
    pairs: dict[tuple[int, int], float] = {}
    for one, two in combinations(range(count), 2):
        both = [row.blocks for row in rich if row.blocks[one] != _ZERO or row.blocks[two] != _ZERO]
        pairs[one, two] = _share(sum(blocks[one] == blocks[two] for blocks in both), len(both))
    sums = [xor(row.blocks) for row in rich]
    outs = [
        [value == block for block in row.blocks] for value, row in zip(sums, rich, strict=True)
    ]  # the XOR of all but one is 0 where the XOR of all is that one
    return Samples(
        rows=tuple(rows),
        tried=tried,
        equal=_share(sum(len(set(row.blocks)) == 1 for row in whole), len(whole)),
        pairs=pairs,
        xor=_share(sum(value == _ZERO for value in sums), len(rich)),
        xor_without=tuple(_share(sum(out[member] for out in outs), len(rich)) for member in range(count)),
        one_out=_share(sum(any(out) for out in outs), len(rich)),
        written=tuple(written),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
