"""The stages to another layout or chunk of the same level, and why md does not give some of them safely."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_plan import refuse_level
from raidtui.features.reshape.plan.grow_shape import GrowShape
from raidtui.features.reshape.plan.grow_stages import GrowStage
from raidtui.model.array import Array
from raidtui.model.levels import PARITY_LAYOUTS, SIX, Raid10Layout
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

_LEAST_CHUNK, _MOST_CHUNK = 4, 1 << 20


def same_level_stages(array: Array, old: GrowShape, layout: str, chunk_kib: int) -> list[GrowStage] | Refusal:
    """Return the stages for another layout and another chunk, or why there are none.

    Args:
        array: the array as it is now.
        old: its shape before these stages.
        layout: in mdadm's words, or ``preserve``; "" as it is.
        chunk_kib: 0 as it is.
    """
    stages: list[GrowStage] = []
    if layout and old.level == "raid10" and layout not in PARITY_LAYOUTS.values():
        if refusal := _refuse_raid10_layout(old, layout):
            return refusal
    elif layout and layout != "preserve":
        wanted = next((key for key, name in PARITY_LAYOUTS.items() if name == layout), None)
        if old.level not in {"raid5", "raid6"} or wanted is None or (wanted >= SIX and old.level != "raid6"):
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"a {old.level} cannot be given the layout {layout!r} while it runs",
                remedy="choose left-symmetric, left-asymmetric, right-symmetric or right-asymmetric (raid5,"
                " raid6)",
            )
        if wanted != old.layout:
            stages.append(layout_stage(old, wanted))
    if chunk_kib and chunk_kib * KIB != old.chunk_bytes:
        now = stages[-1].new if stages else old
        if refusal := _refuse_chunk(array, now, chunk_kib):
            return refusal
        stages.append(
            GrowStage(
                options=(f"--chunk={chunk_kib}",),
                old=now,
                new=replace(now, chunk_bytes=chunk_kib * KIB),
                why="begins the reshape",
                moves="md moves every block to its new place",
            )
        )
    return stages


def _refuse_chunk(array: Array, old: GrowShape, chunk_kib: int) -> Refusal | None:
    if old.level not in {"raid4", "raid5", "raid6", "raid10"}:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"raidtui cannot change the chunk of a {old.level}")
    if old.level == "raid10" and (refusal := refuse_level(array) or _refuse_offset_chunk(array)):
        return refusal
    if not _LEAST_CHUNK <= chunk_kib <= _MOST_CHUNK or chunk_kib & (chunk_kib - 1):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{chunk_kib} KiB is not a valid chunk size",
            remedy="choose a power of two of at least 4 KiB",
        )
    if (array.component_kib or 0) % chunk_kib:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{array.component_kib} KiB of each member is not a multiple of {chunk_kib} KiB",
            remedy="choose a smaller chunk",
        )
    return None


def _refuse_offset_chunk(array: Array) -> Refusal | None:
    """Linux 6.1 gives other data afterwards (measured): its reshape mixes the copies of both chunks up."""
    decoded = Raid10Layout.decode(array.layout) if array.layout is not None else None
    if decoded is not None and not decoded.offset:
        return None
    return Refusal(
        code=RefusalCode.UNSUPPORTED,
        why="Linux loses the data of a raid10 with offset copies as its chunk changes",
        remedy="make a new array and copy",
    )


def _refuse_raid10_layout(old: GrowShape, wanted: str) -> Refusal | None:
    """Only what is so already is not refused.

    mdadm changes near to offset copies and back, and md (Linux 6.1) keeps the data where they move further
    than they are long. Where they fill the members it writes over what it has not moved, reads beyond the
    members' ends and fails two of four (measured).
    """
    decoded = Raid10Layout.decode(old.layout) if old.layout is not None else None
    if decoded is not None and wanted == decoded.short:
        return None
    return Refusal(
        code=RefusalCode.UNSUPPORTED,
        why="Linux loses the data of a raid10 as its layout changes between near and offset copies, and does"
        " not change it from or to far copies, or to another number of copies",
        remedy="make a new array and copy",
    )


def layout_stage(old: GrowShape, layout: int) -> GrowStage:
    """Return the stage to another layout of RAID 5 or 6, by md's number."""
    return GrowStage(
        options=(f"--layout={PARITY_LAYOUTS[layout]}",),
        old=old,
        new=replace(old, layout=layout),
        why="begins the reshape",
        moves="md moves every block to its new place",
    )
