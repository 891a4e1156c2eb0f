"""XOR and the arithmetic of RAID 6 over whole blocks, without a byte loop.

Source: lib/raid6 (the field of 256 elements, polynomial 0x11d, generator 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache


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
