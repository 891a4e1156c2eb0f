"""Members written by a description of md's layouts of its own: rows of cells, drawn one after the other.

Nothing of it is shared with raidtui: what both say alike is what md(4) and the kernel say.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from raidtui.model.striping import RAID5_LAYOUTS

MIB = 1 << 20
RAID6_LAYOUTS = (
    *RAID5_LAYOUTS,
    "ddf-zero-restart",
    "ddf-N-restart",
    "ddf-N-continue",
    "left-symmetric-6",
    "left-asymmetric-6",
    "right-symmetric-6",
    "right-asymmetric-6",
    "parity-first-6",
)


def parity_row(level: int, layout: str, slots: int, row: int) -> list[str]:
    """The cells of a row: "D0", "D1", ..., "P", "Q", by slot, as the tables in md(4) draw them."""
    if level == 4 or layout in {"parity-last", "parity-first"}:
        signs = ["P"] if level < 6 else ["P", "Q"]
        data = [f"D{number}" for number in range(slots - len(signs))]
        return data + signs if level == 4 or layout == "parity-last" else signs + data
    if layout.endswith("-6"):
        return [*parity_row(5, layout[:-2], slots - 1, row), "Q"]
    if level == 5:
        return _turned(layout, ["P"], slots, row)
    if layout == "ddf-zero-restart":
        return _turned("right-asymmetric", ["P", "Q"], slots, row)
    if layout == "ddf-N-restart":
        return _turned("left-asymmetric", ["P", "Q"], slots, row + 1)
    if layout == "ddf-N-continue":
        cells = _turned("left-symmetric", ["P"], slots, row)
        parity = cells.index("P")
        cells[(parity - 1) % slots] = "Q"
        return cells
    return _turned(layout, ["P", "Q"], slots, row)


def _turned(layout: str, signs: list[str], slots: int, row: int) -> list[str]:
    """Parity starts at the last (left) or first slot, and moves by one; data restart or continue after it."""
    side, _, manner = layout.partition("-")
    first = (slots - 1 - row) % slots if side == "left" else row % slots
    cells = [""] * slots
    for step, sign in enumerate(signs):
        cells[(first + step) % slots] = sign
    start = (first + len(signs)) % slots if manner == "symmetric" else 0
    number = 0
    for step in range(slots):
        slot = (start + step) % slots
        if not cells[slot]:
            cells[slot] = f"D{number}"
            number += 1
    return cells


def gmul(one: int, two: int) -> int:
    """Multiply in the field of 256 elements, bit by bit."""
    result = 0
    while two:
        if two & 1:
            result ^= one
        one <<= 1
        if one & 0x100:
            one ^= 0x11D
        two >>= 1
    return result


def q_exponents(layout: str, cells: Sequence[str]) -> dict[int, int]:
    """For each slot with data, the power of two that Q has it with."""
    slots = len(cells)
    if layout.startswith("ddf"):
        return {slot: slot for slot, cell in enumerate(cells) if cell.startswith("D")}
    after = (cells.index("Q") + 1) % slots
    sequence = [(after + step) % slots for step in range(slots)]
    data = [slot for slot in sequence if cells[slot].startswith("D")]
    return {slot: power for power, slot in enumerate(data)}


def raid10_cells(layout: str, slots: int, used_rows: int) -> Iterator[tuple[int, int, int]]:
    """Chunk, slot and row of each copy, laid down as one would by hand, for as long as rows are free."""
    letter, copies = layout[0], int(layout[1:])
    if letter == "n":
        cell = chunk = 0
        while (cell + copies - 1) // slots < used_rows:
            for _ in range(copies):
                yield chunk, cell % slots, cell // slots
                cell += 1
            chunk += 1
        return
    section = used_rows // copies
    for row in range(section):
        for column in range(slots):
            for copy in range(copies):
                line = row * copies + copy if letter == "o" else row + copy * section
                yield row * slots + column, (column + copy) % slots, line


def write_members(
    folder: Path,
    content: bytes,
    *,
    level: int,
    slots: int = 0,
    order: Sequence[int] = (),
    layout: str = "",
    chunk: int = 64 << 10,
    offset: int = MIB,
    size: int = 32 * MIB,
    noise: int | None = None,
) -> list[Path]:
    """Write the members of an array; slot s is the file ``m<order[s]>``. Return the files by their number.

    Without an order each member's number is its slot.

    ``content`` is the array's from its first byte; ``noise`` seeds what stands before the data.
    """
    order = order or range(slots)
    slots = len(order)
    rows = (size - offset) // chunk
    areas = [bytearray(rows * chunk) for _ in range(slots)]

    def piece(number: int) -> bytes:
        data = content[number * chunk : (number + 1) * chunk]
        return data + bytes(chunk - len(data))

    count = -(-len(content) // chunk)
    if level == 1:
        for area in areas:
            area[: len(content)] = content
    elif level == 0:
        for number in range(count):
            row, slot = divmod(number, slots)
            areas[slot][row * chunk : (row + 1) * chunk] = piece(number)
    elif level == 10:
        for number, slot, row in raid10_cells(layout, slots, rows):
            if number < count:
                areas[slot][row * chunk : (row + 1) * chunk] = piece(number)
    else:
        _parity(areas, piece, level=level, layout=layout, chunk=chunk, count=count)
    paths = [folder / f"m{number}" for number in range(slots)]
    for slot, area in enumerate(areas):
        with paths[order[slot]].open("wb") as stream:
            if noise is not None:
                before = random.Random(noise + slot)
                stream.write(before.randbytes(min(offset, MIB)))
            stream.truncate(size)
            for start in range(0, len(area), MIB):
                if any(part := area[start : start + MIB]):
                    stream.seek(offset + start)
                    stream.write(part)
    return paths


def _parity(
    areas: list[bytearray],
    piece: Callable[[int], bytes],
    *,
    level: int,
    layout: str,
    chunk: int,
    count: int,
) -> None:
    slots = len(areas)
    width = slots - (2 if level == 6 else 1)
    tables = [bytes(gmul(byte, power(exponent)) for byte in range(256)) for exponent in range(slots)]
    for row in range(-(-count // width)):
        cells = parity_row(level, layout, slots, row)
        total = 0
        syndrome = 0
        exponents = q_exponents(layout, cells) if level == 6 else {}
        for slot, cell in enumerate(cells):
            if not cell.startswith("D"):
                continue
            data = piece(row * width + int(cell[1:]))
            areas[slot][row * chunk : (row + 1) * chunk] = data
            total ^= int.from_bytes(data, "little")
            if level == 6:
                syndrome ^= int.from_bytes(data.translate(tables[exponents[slot]]), "little")
        for sign, value in (("P", total), ("Q", syndrome)):
            if sign in cells:
                slot = cells.index(sign)
                areas[slot][row * chunk : (row + 1) * chunk] = value.to_bytes(chunk, "little")


def power(exponent: int) -> int:
    """Two to a power, in the field."""
    value = 1
    for _ in range(exponent):
        value = gmul(value, 2)
    return value
