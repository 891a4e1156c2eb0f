"""Where a byte of an array is, for each level and layout of md, and what parity says: XOR and RAID 6.

Sources: drivers/md/raid0.c (find_zone, map_sector), drivers/md/raid5.c (raid5_compute_sector, raid6_d0,
raid6_idx_to_slot), drivers/md/raid10.c (calc_sectors, __raid10_find_phys), lib/raid6 (the field of 256
elements, polynomial 0x11d, generator 2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from raidtui.model.geometry import raid10_layout
from raidtui.model.levels import Raid10Layout

RAID5_LAYOUTS = (
    "left-symmetric",
    "left-asymmetric",
    "right-symmetric",
    "right-asymmetric",
    "parity-first",
    "parity-last",
)
RAID10_LAYOUTS = ("n2", "f2", "o2", "n3", "f3", "o3")
_MOST_TURNS, _ROUNDED = 100, 6
PARITY_OF = {4: 1, 5: 1, 6: 2}


class Row(Struct, frozen=True, kw_only=True):
    """The roles of the slots in a row of chunks of RAID 4, 5 or 6.

    Args:
        p: the slot of the parity.
        q: the slot of RAID 6's second syndrome; -1 without one.
        data: the slots of the data, in the array's order.
        exponents: for each slot the power of 2 that Q has its data with; -1 for P and Q.
    """

    p: int
    q: int
    data: tuple[int, ...]
    exponents: tuple[int, ...]


class StripeShape(Struct, frozen=True, kw_only=True):
    """How an array's bytes lie over its slots, whichever device is in which slot.

    Args:
        level: 0, 1, 4, 5, 6 or 10.
        layout: mdadm's word; "" for 0, 1 and 4.
        slots: the number of slots.
        chunk_bytes: a power of two; for RAID 0 any multiple of 4 KiB.
        stride_bytes: between the copies of a far layout; else 0.
    """

    level: int
    layout: str
    slots: int
    chunk_bytes: int
    stride_bytes: int = 0

    @property
    def data_slots(self) -> int:
        """How many slots' worth of data a row has; of RAID 10 rounded down."""
        if self.level == 1:
            return 1
        if self.level == 10:
            return self.slots // _copies(self.layout)
        return self.slots - PARITY_OF.get(self.level, 0)

    @property
    def row_bytes(self) -> int:
        """After how many bytes of the array the data begin with a new row; 4 KiB for RAID 1.

        What begins with a row reads the same from an array that begins with it.
        """
        if self.level == 1:
            return 4096
        if self.level == 10:
            near = _decode(self.layout).near
            return self.slots // (1 if self.slots % near else near) * self.chunk_bytes
        return self.data_slots * self.chunk_bytes

    @property
    def least_slots(self) -> int:
        """The smallest number of slots that mdadm makes an array of, unless it is forced."""
        if self.level == 10:
            return max(2, _copies(self.layout))
        return 4 if self.level == 6 else 2

    def capacity(self, component_bytes: int) -> int:
        """Return the size of the array.

        Args:
            component_bytes: what each member has for data.
        """
        if self.level == 1:
            return component_bytes
        chunks = component_bytes // self.chunk_bytes
        if self.level == 10:
            decoded = _decode(self.layout)
            return chunks // decoded.far * self.slots // decoded.near * self.chunk_bytes
        return chunks * self.chunk_bytes * self.data_slots

    def places(self, address: int) -> tuple[tuple[int, int], ...]:
        """Return slot and byte of each copy of a byte of the array."""
        if self.level == 1:
            return tuple((slot, address) for slot in range(self.slots))
        chunk, within = divmod(address, self.chunk_bytes)
        if self.level == 10:
            return self._copies_of(chunk, within)
        if self.level == 0:
            row, column = divmod(chunk, self.slots)
            return ((column, row * self.chunk_bytes + within),)
        row, column = divmod(chunk, self.slots - PARITY_OF[self.level])
        return ((self.row(row).data[column], row * self.chunk_bytes + within),)

    def row(self, row: int) -> Row:
        """Return the roles of the slots in a row of chunks; only for 4, 5 and 6."""
        rows = _rows(self.level, self.layout, self.slots)
        return rows[row % len(rows)]

    def survives(self, missing: Collection[int]) -> bool:
        """Whether all data are there without these slots."""
        if self.level == 1:
            return len(missing) < self.slots
        if self.level == 10:
            groups = _decode(self.layout).copy_groups(self.slots)
            return all(any(slot not in missing for slot in group) for group in groups)
        return len(missing) <= PARITY_OF.get(self.level, 0)

    @property
    def most_missing(self) -> int:
        """How many slots may be missing at most, if it is the right ones."""
        if self.level == 1:
            return self.slots - 1
        if self.level == 10:
            return self.slots - -(-self.slots // _copies(self.layout))
        return PARITY_OF.get(self.level, 0)

    def _copies_of(self, chunk: int, within: int) -> tuple[tuple[int, int], ...]:
        decoded = _decode(self.layout)
        stripe, slot = divmod(chunk * decoded.near, self.slots)
        if decoded.offset:
            stripe *= decoded.far
        step = self.chunk_bytes if decoded.offset else self.stride_bytes
        found = []
        for _ in range(decoded.near):
            byte = stripe * self.chunk_bytes + within
            found += [
                ((slot + far * decoded.near) % self.slots, byte + far * step) for far in range(decoded.far)
            ]
            slot += 1
            if slot == self.slots:
                slot, stripe = 0, stripe + 1
        return tuple(found)


def compute_far_stride(layout: str, slots: int, chunk_bytes: int, component_bytes: int) -> int:
    """Return the distance between the copies of a far layout in bytes; 0 for others (calc_sectors)."""
    decoded = _decode(layout)
    if decoded.far == 1 or decoded.offset:
        return 0
    chunks = component_bytes // chunk_bytes // decoded.far * slots // decoded.near
    used = -(-chunks * decoded.copies // slots)
    return used // decoded.far * chunk_bytes


def find_far_offsets(shape: StripeShape, copy: int, byte: int, size: int) -> Iterator[int]:
    """Yield the data offsets that a far copy may show: the distance of the copies depends on it.

    Args:
        shape: of a far layout.
        copy: which one, from 1.
        byte: where it is on a device, less where the first copy is in the data area.
        size: of the device; all behind the offset has data.
    """

    def stride(offset: int) -> int:
        return compute_far_stride(shape.layout, shape.slots, shape.chunk_bytes, size - offset)

    offset = 0
    for _ in range(_MOST_TURNS):  # near it; what is rounded may leave several
        before, offset = offset, min(max(0, byte - copy * stride(offset)), size)
        if offset == before:
            break
    near = stride(offset)
    for step in range(-_ROUNDED, _ROUNDED + 1):
        found = byte - copy * (near + step * shape.chunk_bytes)
        if 0 <= found < size and byte - copy * stride(found) == found:
            yield found


def is_far(layout: str) -> bool:
    """Whether the place of the second copies depends on the members' size."""
    return layout.startswith("f")


def _copies(layout: str) -> int:
    return _decode(layout).copies


@cache
def _decode(layout: str) -> Raid10Layout:
    number = raid10_layout(layout)
    decoded = Raid10Layout.decode(number) if number is not None else None
    if decoded is None:
        raise ValueError(layout)
    return decoded


@cache
def _rows(level: int, layout: str, slots: int) -> tuple[Row, ...]:
    """Return the rows of one turn: after it the roles repeat."""
    return tuple(_row(level, layout, slots, row) for row in range(slots * (slots - 1)))


def _row(level: int, layout: str, slots: int, row: int) -> Row:
    if level == 4 or (level == 5 and layout == "parity-last"):
        p, data = slots - 1, tuple(range(slots - 1))
        return Row(p=p, q=-1, data=data, exponents=_exponents(slots, p, -1, ddf=False))
    if level == 5 or layout.endswith("-6"):
        ring = slots if level == 5 else slots - 1
        p, data = _single_parity(layout.removesuffix("-6"), ring, row)
        q = -1 if level == 5 else slots - 1
    else:
        p, q, data = _double_parity(layout, slots, row)
    return Row(p=p, q=q, data=data, exponents=_exponents(slots, p, q, ddf=layout.startswith("ddf")))


def _single_parity(layout: str, ring: int, row: int) -> tuple[int, tuple[int, ...]]:
    p = ring - 1 - row % ring if layout.startswith("left") else row % ring
    if layout == "parity-first":
        p = 0
    if layout.endswith("-symmetric"):
        return p, tuple((p + 1 + data) % ring for data in range(ring - 1))
    return p, tuple(slot for slot in range(ring) if slot != p)


def _double_parity(layout: str, slots: int, row: int) -> tuple[int, int, tuple[int, ...]]:
    if layout == "parity-first":
        p, q = 0, 1
    elif layout == "parity-last":
        p, q = slots - 2, slots - 1
    else:
        turn = (row + 1 if layout == "ddf-N-restart" else row) % slots
        p = turn if layout.startswith("right") or layout == "ddf-zero-restart" else slots - 1 - turn
        q = (p - 1 if layout == "ddf-N-continue" else p + 1) % slots
    if layout.endswith("-symmetric"):
        return p, q, tuple((p + 2 + data) % slots for data in range(slots - 2))
    if layout == "ddf-N-continue":
        return p, q, tuple((p + 1 + data) % slots for data in range(slots - 2))
    return p, q, tuple(slot for slot in range(slots) if slot not in {p, q})


def _exponents(slots: int, p: int, q: int, *, ddf: bool) -> tuple[int, ...]:
    """Return Q's exponents: md counts data from the slot after Q, DDF counts all slots from the first."""
    powers = [-1] * slots
    first = 0 if ddf or q in {-1, slots - 1} else q + 1
    count = 0
    for step in range(slots):
        slot = (first + step) % slots
        if slot not in {p, q}:
            powers[slot] = slot if ddf else count
            count += 1
    return tuple(powers)


def xor(blocks: Iterable[bytes]) -> bytes:
    """Return the XOR of blocks of one length; b"" without a block, or where lengths differ."""
    value, length = 0, -1
    for block in blocks:
        if length not in {-1, len(block)}:
            return b""
        length = len(block)
        value ^= int.from_bytes(block, "little")
    return value.to_bytes(length, "little") if length > 0 else b""


@cache
def power_table(exponent: int) -> bytes:
    """Return the table for ``bytes.translate`` that multiplies each byte by a power of 2."""
    table = bytearray(256)
    for byte in range(256):
        value = byte
        for _ in range(exponent):
            value = (value << 1) ^ (0x11D if value & 0x80 else 0)
        table[byte] = value
    return bytes(table)


@cache
def _inverse_table(value: int) -> bytes:
    """Return the table that divides each byte by a value that is not 0."""
    times = _times_table(value)
    table = bytearray(256)
    for byte in range(256):
        table[times[byte]] = byte
    return bytes(table)


@cache
def _times_table(value: int) -> bytes:
    table = bytearray(256)
    for bit in range(8):
        if value >> bit & 1:
            row = power_table(bit)
            for byte in range(256):
                table[byte] ^= row[byte]
    return bytes(table)


def syndrome(blocks: Sequence[tuple[int, bytes]]) -> bytes:
    """Return Q: the sum of blocks, each times 2 to the power of its exponent.

    Args:
        blocks: exponent and block.
    """
    return xor(block.translate(power_table(exponent)) for exponent, block in blocks)


def two_lost(first: int, second: int, p_rest: bytes, q_rest: bytes) -> tuple[bytes, bytes]:
    """Return two lost data blocks.

    Args:
        first: the exponent of one.
        second: that of the other.
        p_rest: P, XORed with the data that are there: the sum of the two.
        q_rest: Q, XORed with the syndrome of the data that are there.
    """
    ahead, behind = power_table(first)[1], power_table(second)[1]
    mixed = xor((p_rest.translate(_times_table(behind)), q_rest))
    one = mixed.translate(_inverse_table(ahead ^ behind))
    return one, xor((p_rest, one))


def one_lost(exponent: int, q_rest: bytes) -> bytes:
    """Return a lost data block by Q alone.

    Args:
        exponent: the block's.
        q_rest: Q, XORed with the syndrome of the data that are there.
    """
    return q_rest.translate(_inverse_table(power_table(exponent)[1]))
