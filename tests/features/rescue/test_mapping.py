"""Where bytes of an array are, against the tables of striping.py, which were drawn apart from it."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtui.features.rescue.search.logical_array import LogicalArray
from raidtui.features.rescue.search.members import Source
from raidtui.model.striping import (
    RAID5_LAYOUTS,
    RAID10_LAYOUTS,
    StripeShape,
    compute_far_stride,
    syndrome,
    xor,
)
from tests.features.rescue.striping import RAID6_LAYOUTS, gmul, parity_row, power, q_exponents, raid10_cells

CHUNK = 4096


class Held:
    """A member in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.name = "held"
        self.size_bytes = len(data)

    def read(self, offset: int, length: int) -> bytes:
        data = self.data[offset : offset + length]
        return data if len(data) == length else b""


@pytest.mark.parametrize("slots", range(3, 9))
@pytest.mark.parametrize("layout", RAID5_LAYOUTS)
def test_raid5_rows_are_as_drawn(layout: str, slots: int) -> None:
    _compare(5, layout, slots)


@pytest.mark.parametrize("slots", range(4, 9))
@pytest.mark.parametrize("layout", RAID6_LAYOUTS)
def test_raid6_rows_are_as_drawn(layout: str, slots: int) -> None:
    _compare(6, layout, slots)


def test_raid4_has_its_parity_last() -> None:
    _compare(4, "", 4)


def _compare(level: int, layout: str, slots: int) -> None:
    shape = StripeShape(level=level, layout=layout, slots=slots, chunk_bytes=CHUNK)
    address = 0
    for number in range(3 * slots * slots):
        cells = parity_row(level, layout, slots, number)
        row = shape.row(number)
        data = sorted(
            (slot for slot, cell in enumerate(cells) if cell[0] == "D"), key=lambda slot: int(cells[slot][1:])
        )
        assert (row.p, row.data) == (cells.index("P"), tuple(data)), (number, cells)
        for slot in data:
            assert shape.places(address + 5) == ((slot, number * CHUNK + 5),), (number, cells)
            address += CHUNK
        if level == 6:
            assert row.q == cells.index("Q"), (number, cells)
            exponents = {slot: power for slot, power in enumerate(row.exponents) if power >= 0}
            assert exponents == q_exponents(layout, cells), (number, cells)


@pytest.mark.parametrize(
    ("layout", "slots"),
    [(layout, slots) for layout in RAID10_LAYOUTS for slots in range(2, 8) if slots >= int(layout[1:])],
)
def test_raid10_copies_are_where_they_are_laid_down(layout: str, slots: int) -> None:
    rows = 24
    shape = StripeShape(
        level=10,
        layout=layout,
        slots=slots,
        chunk_bytes=CHUNK,
        stride_bytes=compute_far_stride(layout, slots, CHUNK, rows * CHUNK),
    )
    laid: dict[int, list[tuple[int, int]]] = {}
    for chunk, slot, row in raid10_cells(layout, slots, rows):
        laid.setdefault(chunk, []).append((slot, row * CHUNK))
    for chunk, cells in laid.items():
        assert sorted(shape.places(chunk * CHUNK)) == sorted(cells), chunk
    assert shape.capacity(rows * CHUNK) == len(laid) * CHUNK


@pytest.mark.parametrize("slots", [1, 2, 3, 5])
def test_raid0_goes_round(slots: int) -> None:
    shape = StripeShape(level=0, layout="", slots=slots, chunk_bytes=CHUNK)
    for chunk in range(20):
        assert shape.places(chunk * CHUNK + 7) == ((chunk % slots, chunk // slots * CHUNK + 7),)


def test_the_syndrome_is_the_sum_over_the_field() -> None:
    blocks = [random.Random(seed).randbytes(64) for seed in range(6)]
    expected = bytes(64)
    for exponent, block in enumerate(blocks):
        times = bytes(gmul(byte, power(exponent)) for byte in block)
        expected = bytes(one ^ two for one, two in zip(expected, times, strict=True))
    assert syndrome(list(enumerate(blocks))) == expected
    assert xor([b"ab", b"a"]) == b""


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(
        [(5, layout) for layout in RAID5_LAYOUTS] + [(6, layout) for layout in RAID6_LAYOUTS] + [(4, "")]
    ),
    slots=st.integers(4, 7),
    seed=st.integers(0, 1 << 16),
    lost=st.sets(st.integers(0, 6), max_size=2),
)
def test_what_is_missing_is_rebuilt(kind: tuple[int, str], slots: int, seed: int, lost: set[int]) -> None:
    level, layout = kind
    chance = random.Random(seed)
    shape = StripeShape(level=level, layout=layout, slots=slots, chunk_bytes=CHUNK)
    rows = slots
    content = chance.randbytes(rows * shape.data_slots * CHUNK)
    areas = [bytearray(rows * CHUNK) for _ in range(slots)]
    for number in range(rows):
        cells = parity_row(level, layout, slots, number)
        first = number * shape.data_slots
        data = {
            slot: content[(first + int(cell[1:])) * CHUNK : (first + int(cell[1:]) + 1) * CHUNK]
            for slot, cell in enumerate(cells)
            if cell[0] == "D"
        }
        for slot, block in data.items():
            areas[slot][number * CHUNK : (number + 1) * CHUNK] = block
        areas[cells.index("P")][number * CHUNK : (number + 1) * CHUNK] = xor(data.values())
        if level == 6:
            powers = q_exponents(layout, cells)
            value = syndrome([(powers[slot], block) for slot, block in data.items()])
            areas[cells.index("Q")][number * CHUNK : (number + 1) * CHUNK] = value
    gone = set(sorted(slot for slot in lost if slot < slots)[: 2 if level == 6 else 1])
    members: list[Source | None] = [
        None if slot in gone else Held(bytes(area)) for slot, area in enumerate(areas)
    ]
    array = LogicalArray(shape, 0, members)
    assert array.read(0, len(content)) == content
    expected = None if len(gone) > (level == 6) else True
    assert {array.row_fits(number * CHUNK, CHUNK) for number in range(rows)} == {expected}
    whole = LogicalArray(shape, 0, [Held(bytes(area)) for area in areas])
    areas[0][5] ^= 1
    broken = LogicalArray(shape, 0, [Held(bytes(area)) for area in areas])
    assert whole.row_fits(0, CHUNK)
    assert not broken.row_fits(0, CHUNK)
    far = shape.data_slots * rows * CHUNK
    assert array.read(far, 512) == b""
