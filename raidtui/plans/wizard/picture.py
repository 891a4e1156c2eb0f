"""What a new array looks like: its first stripes chunk by chunk, how its room is used, what may fail. Pure.

Where a chunk is follows from the same arithmetic that a lost geometry is searched with.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import combinations

from msgspec import Struct

from raidtui.model.geometry import capacity_kib
from raidtui.model.levels import NO_REDUNDANCY
from raidtui.model.plan import Refusal
from raidtui.model.striping import StripeShape
from raidtui.model.survey import Survey
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.wizard.defaults import members_of
from raidtui.plans.wizard.wizard_draft import WizardDraft, usable
from raidtui.view.units import KIB

_MOST_PAIRED = 64


class CellKind(StrEnum):
    """What lies in a chunk of a member."""

    DATA = "data"
    COPY = "copy"
    PARITY = "parity"
    NOTHING = "nothing"


class Cell(Struct, frozen=True):
    """A chunk of a member.

    Args:
        kind: what it is.
        words: the number of the array's chunk, P or Q; "" for nothing.
    """

    kind: CellKind
    words: str = ""


NOTHING = Cell(CellKind.NOTHING)


class RoomUse(Struct, frozen=True, kw_only=True):
    """How the disks' room is used, bytes.

    Args:
        data: what the array holds.
        redundant: copies and parity.
        free: left unused on purpose: spare area, the table, md's superblock and head-room.
        wasted: what larger members have more than the smallest.
    """

    data: int
    redundant: int
    free: int
    wasted: int


def shape_for(draft: WizardDraft, survey: Survey) -> Shape | None:
    """Return the shape of a draft's array, or None where there can be no such array."""
    shape = shape_of(draft.request(survey))
    return None if isinstance(shape, Refusal) else shape


def stripes(shape: Shape, slots: int, rows: int) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
    """Return the first chunks of each slot, a tuple a row; of a far layout, a block of rows for each copy.

    Args:
        shape: of the array.
        slots: their number.
        rows: how many rows a block has.
    """
    level = int(shape.level.removeprefix("raid"))
    blocks = int(shape.layout[1:]) if shape.layout.startswith("f") else 1
    stripe = StripeShape(
        level=level,
        layout=shape.layout if level in {5, 6, 10} else "",
        slots=slots,
        chunk_bytes=1,
        stride_bytes=rows if blocks > 1 else 0,
    )
    cells = [[NOTHING] * slots for _ in range(rows * blocks)]
    if level in {4, 5, 6}:
        for row in range(rows):
            roles = stripe.row(row)
            cells[row][roles.p] = Cell(CellKind.PARITY, "P")
            if roles.q >= 0:
                cells[row][roles.q] = Cell(CellKind.PARITY, "Q")
    for chunk in range(slots * rows):
        for copy, (slot, row) in enumerate(stripe.places(chunk)):
            if row < len(cells) and cells[row][slot] is NOTHING:
                cells[row][slot] = Cell(CellKind.COPY if copy else CellKind.DATA, str(chunk))
    return tuple(
        tuple(tuple(row) for row in cells[start : start + rows]) for start in range(0, len(cells), rows)
    )


def two_losses(shape: Shape, slots: int) -> float | None:
    """Return the share of all pairs of members whose loss is survived; None where that is not counted."""
    if shape.level in NO_REDUNDANCY or slots < 3 or slots > _MOST_PAIRED:
        return None
    level = int(shape.level.removeprefix("raid"))
    stripe = StripeShape(level=level, layout=shape.layout, slots=slots, chunk_bytes=1)
    pairs = list(combinations(range(slots), 2))
    return sum(stripe.survives(pair) for pair in pairs) / len(pairs)


def room_of(draft: WizardDraft, shape: Shape, survey: Survey) -> RoomUse:
    """Return how the room of a draft's members is used."""
    members = members_of(draft, survey)
    holds = usable(draft, draft.request(survey), survey)[: len(members)]
    raw = [(survey.devices[name].disk.size_bytes or 0) for name in draft.devices if name in survey.devices]
    if not holds:
        return RoomUse(data=0, redundant=0, free=0, wasted=0)
    striped = shape.level == "raid0"
    component = min(holds) * draft.size_percent // 100
    data = (
        sum(holds) if striped else capacity_kib(shape.level, shape.layout_number, component, len(draft.slots))
    )
    taken = sum(holds) if striped else component * len(holds)
    wasted = 0 if striped else sum(each - min(holds) for each in holds)
    return RoomUse(
        data=data * KIB,
        redundant=max(0, taken - data) * KIB,
        free=max(0, sum(raw) - (taken + wasted) * KIB),
        wasted=wasted * KIB,
    )
