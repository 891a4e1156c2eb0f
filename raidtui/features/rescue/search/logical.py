"""A candidate as one logical device: reads of the array's bytes, with missing members rebuilt."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.search.galois import one_lost, syndrome, two_lost, xor
from raidtui.features.rescue.search.mapping import Row, StripeShape
from raidtui.features.rescue.search.members import Source


class LogicalArray:
    """Reads an array without md.

    Args:
        shape: how the bytes lie over the slots.
        offset: the byte on each member at which the data begin.
        members: by slot; None for a missing one.
    """

    def __init__(self, shape: StripeShape, offset: int, members: Sequence[Source | None]) -> None:
        self.shape = shape
        self._offset = offset
        self._members = tuple(members)

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of the array; b"" where one of them cannot be had."""
        parts = []
        chunk = self.shape.chunk_bytes if self.shape.level != 1 else length
        while length > 0:
            size = min(length, chunk - address % chunk) if self.shape.level != 1 else length
            data = self._piece(address, size)
            if not data:
                return b""
            parts.append(data)
            address += size
            length -= size
        return b"".join(parts)

    def _piece(self, address: int, length: int) -> bytes:
        places = self.shape.places(address)
        for slot, byte in places:
            data = self._slot(slot, byte, length)
            if data:
                return data
        if self.shape.level in {4, 5, 6}:
            slot, byte = places[0]
            return self._rebuilt(slot, byte, length)
        return b""

    def _slot(self, slot: int, byte: int, length: int) -> bytes:
        member = self._members[slot]
        return member.read(self._offset + byte, length) if member is not None else b""

    def _rebuilt(self, slot: int, byte: int, length: int) -> bytes:
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        lost = {each for each in row.data if not blocks[each]}
        if lost == {slot} and blocks[row.p]:
            return xor([blocks[row.p], *(blocks[each] for each in row.data if each != slot)])
        if row.q < 0 or not blocks[row.q] or len(lost) > 2:
            return b""
        rest = [(row.exponents[each], blocks[each]) for each in row.data if blocks[each]]
        q_rest = xor([blocks[row.q], syndrome(rest)]) if rest else blocks[row.q]
        if lost == {slot}:
            return one_lost(row.exponents[slot], q_rest)
        if not blocks[row.p]:
            return b""
        other = next(each for each in lost if each != slot)
        p_rest = xor([blocks[row.p], *(block for _, block in rest)])
        return two_lost(row.exponents[slot], row.exponents[other], p_rest, q_rest)[0]

    def copies_differ(self, address: int, length: int) -> bool:
        """Whether two copies of these bytes differ: RAID 1 and 10, with more than one copy that can be read.

        Args:
            address: byte of the array.
            length: bytes; those in the chunk of the first byte are compared.
        """
        return len(set(self.copies(address, length).values())) > 1

    def copies(self, address: int, length: int) -> dict[int, bytes]:
        """Return the copies of these bytes that can be read, by slot: RAID 1 and 10; {} for other levels.

        Args:
            address: byte of the array.
            length: bytes; those in the chunk of the first byte are returned.
        """
        if self.shape.level not in {1, 10}:
            return {}
        if self.shape.level == 10:
            length = min(length, self.shape.chunk_bytes - address % self.shape.chunk_bytes)
        found = {slot: self._slot(slot, byte, length) for slot, byte in self.shape.places(address)}
        return {slot: block for slot, block in found.items() if block}

    def row_fits(self, byte: int, length: int) -> bool | None:
        """Whether parity, or the copies, of a row agree; None where too much is missing or zero to say.

        Args:
            byte: in the data area of each member.
            length: bytes, within a chunk.
        """
        if self.shape.level not in {4, 5, 6}:
            return None
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        if sum(any(block) for block in blocks.values()) < min(3, self.shape.slots):
            return None
        return self._parity_fits(row, blocks)

    def odd_one(self, byte: int, length: int) -> int | None:
        """Return the slot without which a row of RAID 6 fits; None where that is not one alone.

        Args:
            byte: in the data area of each member.
            length: bytes, within a chunk.
        """
        row = self.shape.row(byte // self.shape.chunk_bytes)
        blocks = {each: self._slot(each, byte, length) for each in range(self.shape.slots)}
        if row.q < 0 or not all(blocks.values()):
            return None
        without = [slot for slot in blocks if self._parity_fits(row, {**blocks, slot: b""})]
        return without[0] if len(without) == 1 else None

    def _parity_fits(self, row: Row, blocks: dict[int, bytes]) -> bool | None:
        lost = [each for each, block in blocks.items() if not block]
        if len(lost) > (row.q >= 0):
            return None
        if lost and lost[0] in row.data:  # by P, and then checked by Q
            rest = [blocks[each] for each in (*row.data, row.p) if each != lost[0]]
            blocks = {**blocks, lost[0]: xor(rest)}
        if row.p not in lost and xor([blocks[each] for each in (*row.data, row.p)]).strip(b"\0"):
            return False
        if row.q < 0 or row.q in lost:
            return True
        return syndrome([(row.exponents[each], blocks[each]) for each in row.data]) == blocks[row.q]
