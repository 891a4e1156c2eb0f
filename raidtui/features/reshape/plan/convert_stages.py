"""The stages from one shape of an array to another level, layout or chunk, each one ``mdadm --grow``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_plan import grow_stages
from raidtui.features.reshape.plan.grow_shape import GrowShape
from raidtui.features.reshape.plan.grow_stages import GrowStage
from raidtui.features.reshape.plan.same_level import layout_stage, same_level_stages
from raidtui.model.array import Array, Member
from raidtui.model.levels import LEFT_SYMMETRIC, PARITY_LAST, PARITY_LAYOUTS, SIX, Raid10Layout
from raidtui.model.plan import NothingToDo, Refusal, RefusalCode
from raidtui.view.units import KIB, counted, joined

_LEVELS = ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10")
_PATHS = {
    ("raid1", "raid5"): ("raid5",),
    ("raid1", "raid6"): ("raid5", "raid6"),
    ("raid1", "raid4"): ("raid5", "raid4"),
    ("raid4", "raid5"): ("raid5",),
    ("raid4", "raid6"): ("raid5", "raid6"),
    ("raid4", "raid0"): ("raid0",),
    ("raid5", "raid4"): ("raid4",),
    ("raid5", "raid6"): ("raid6",),
    ("raid6", "raid5"): ("raid5",),
    ("raid6", "raid4"): ("raid5", "raid4"),
    ("raid6", "raid0"): ("raid5", "raid0"),
    ("raid0", "raid10"): ("raid10",),
    ("raid10", "raid0"): ("raid0",),
    ("raid0", "raid4"): ("raid4",),
    ("raid0", "raid5"): ("raid5",),
    ("raid0", "raid6"): ("raid5", "raid6"),
    ("raid5", "raid0"): ("raid0",),
}
UNSAFE = {
    ("raid1", "raid0"): "the members that leave would still look like its own, and may be started instead",
    ("raid5", "raid1"): "kernels may leave it frozen, all I/O with it (mdadm's pull request 301)",
}
"""What mdadm does, and why it must not."""
_NEAR_2 = 0x102
_FIRST_CHUNKS = (64, 32, 16, 8, 4)


class ConvertRequest(Struct, frozen=True, kw_only=True):
    """What an array is to become.

    Args:
        level: raid0 to raid10; "" as it is.
        layout: in mdadm's words, or ``preserve``; "" as md chooses it.
        chunk_kib: 0 as it is.
        names: kernel names of free devices that are added.
    """

    level: str = ""
    layout: str = ""
    chunk_kib: int = 0
    names: tuple[str, ...] = ()


def layout_name(layout: int | None) -> str:
    """Return a layout of RAID 5 or 6 in mdadm's words."""
    return PARITY_LAYOUTS.get(layout, "?") if layout is not None else "?"


def convert_stages(array: Array, old: GrowShape, request: ConvertRequest) -> tuple[GrowStage, ...] | Refusal:
    """Return the stages from one shape to another, or why there are none."""
    wanted = request.level or old.level
    if wanted not in _LEVELS:
        return Refusal(
            code=RefusalCode.INVALID, why=f"{wanted!r} is not a level", remedy=f"choose {joined(_LEVELS)}"
        )
    path = _PATHS.get((old.level, wanted), ()) if wanted != old.level else ()
    if wanted != old.level and not path:
        unsafe = UNSAFE.get((old.level, wanted), "")
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} is not made a {wanted}: {unsafe}"
            if unsafe
            else f"md cannot make a {wanted} of a {old.level} while it runs",
            remedy="make a new array and copy",
        )
    stages: list[GrowStage] = []
    left = list(request.names)
    for level, after in pairwise((*path, "")):
        keep = 1 if after == "raid6" else 0
        found = _STEPS[level](array, stages[-1].new if stages else old, left, request, keep)
        if isinstance(found, Refusal):
            return found
        stages += found
        used = {name for stage in found for name in (*stage.adds, *stage.takes)}
        left = [name for name in left if name not in used]
    if left:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{joined(left)} {'is' if len(left) == 1 else 'are'} not needed for a {wanted}",
            remedy="name fewer devices, or grow the array",
        )
    further = same_level_stages(array, stages[-1].new if stages else old, request.layout, request.chunk_kib)
    if isinstance(further, Refusal):
        return further
    if not stages and not further:
        has = f"chunks of {request.chunk_kib} KiB" if request.chunk_kib else request.layout or wanted
        return NothingToDo(why=f"{array.title} already has {has}")
    return (*stages, *further)


_Found = list[GrowStage] | Refusal
_Maker = Callable[[Array, GrowShape, Sequence[str], ConvertRequest, int], _Found]


def _to_raid5(
    array: Array, old: GrowShape, names: Sequence[str], request: ConvertRequest, keep: int
) -> _Found:
    """From RAID 0, 1, 4 or 6; further devices are added as RAID 5, but for those that are kept for later.

    A RAID 0 becomes a RAID 4 first, of which nothing moves: md has no ``sync_max`` for a RAID 0, at which the
    reshape that follows has to halt, and mdadm waits for no end.
    """
    names = names[: len(names) - keep] if keep else names
    if old.level == "raid6":
        return _six_to_five(array, old)
    stages: list[GrowStage] = []
    if old.level == "raid0":
        found = _to_raid4(array, old, names[:1], request, keep)
        if isinstance(found, Refusal):
            return found
        stages, old, names = found, found[-1].new, names[1:]
    layout = LEFT_SYMMETRIC if old.level == "raid1" else PARITY_LAST
    if old.level == "raid1":
        if old.disks != 2:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"only a raid1 of 2 devices becomes a raid5; {array.title} has {old.disks}",
                remedy="remove the other mirrors first",
            )
        chunk_kib = next((kib for kib in _FIRST_CHUNKS if not (array.component_kib or 0) % kib), 4)
        new = GrowShape(level="raid5", layout=layout, chunk_bytes=chunk_kib * KIB, disks=2)
    else:
        new = replace(old, level="raid5", layout=layout)
    stages.append(GrowStage(options=("--level=5",), old=old, new=new, why="another level; nothing moves"))
    if names:
        stages += grow_stages(new, names, new.disks + len(names))
    if old.level == "raid4" and request.layout != "parity-last":
        stages.append(layout_stage(stages[-1].new, LEFT_SYMMETRIC))
    return stages


def _six_to_five(array: Array, old: GrowShape) -> _Found:
    layout = old.layout if old.layout is not None else LEFT_SYMMETRIC
    if layout % SIX > 3:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"the layout {layout_name(layout)} has no form as a raid5"
        )
    stages = [layout_stage(old, layout + SIX)] if layout < SIX else []
    flat = stages[-1].new if stages else old
    stages.append(
        GrowStage(
            options=("--level=5",),
            old=flat,
            new=GrowShape(
                level="raid5", layout=layout % SIX, chunk_bytes=old.chunk_bytes, disks=old.disks - 1
            ),
            why="another level; nothing moves",
            drops=tuple(each.name for each in array.members if each.slot == old.disks - 1),
        )
    )
    return stages


def _to_raid4(
    array: Array, old: GrowShape, names: Sequence[str], request: ConvertRequest, keep: int
) -> _Found:
    """From RAID 0, which gets a parity, or RAID 5, whose parity moves to the last device."""
    del array, request, keep
    if old.level == "raid0":
        if not names:
            return _needed(1, "for the parity")
        new = replace(old, level="raid4", layout=PARITY_LAST, disks=old.disks + 1)
        stage = GrowStage(
            options=("--level=4",),
            old=old,
            new=new,
            why="another level; the parity is empty",
            moves="md computes the parity",
            takes=tuple(names[:1]),
        )
        return [stage, *(grow_stages(new, names[1:], new.disks + len(names) - 1) if names[1:] else ())]
    stages = [layout_stage(old, PARITY_LAST)] if old.layout != PARITY_LAST else []
    flat = stages[-1].new if stages else old
    new = replace(flat, level="raid4")
    return [*stages, GrowStage(options=("--level=4",), old=flat, new=new, why="another level; nothing moves")]


def _to_raid6(
    array: Array, old: GrowShape, names: Sequence[str], request: ConvertRequest, keep: int
) -> _Found:
    """From RAID 5: the last device is for the second parity, those before it become members of the RAID 5."""
    del keep
    if not names:
        return _needed(1, "for the second parity of a raid6")
    layout = old.layout if old.layout is not None else LEFT_SYMMETRIC
    if layout > 3:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"a raid5 with the layout {layout_name(layout)} does not become a raid6 in one step",
            remedy="convert it to left-symmetric first",
        )
    stages = list(grow_stages(old, names[:-1], old.disks + len(names) - 1)) if names[:-1] else []
    before = stages[-1].new if stages else old
    if before.disks < 3:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"a raid6 needs 4 devices; {array.title} would have {before.disks + 1}",
            remedy="name one more device",
        )
    keeps = request.layout == "preserve"
    new = GrowShape(
        level="raid6",
        layout=layout + SIX if keeps else layout,
        chunk_bytes=before.chunk_bytes,
        disks=before.disks + 1,
    )
    stages.append(
        GrowStage(
            options=(
                "--level=6",
                f"--raid-devices={new.disks}",
                *(("--layout=preserve",) if keeps else ()),
            ),
            old=before,
            new=new,
            why="begins the recovery" if keeps else "begins the reshape",
            moves=f"md writes the second parity to {names[-1]}"
            if keeps
            else "md moves every block and computes the second parity",
            adds=tuple(names[-1:]),
        )
    )
    return stages


def _to_raid10(
    array: Array, old: GrowShape, names: Sequence[str], request: ConvertRequest, keep: int
) -> _Found:
    """From RAID 0: each member gets a mirror."""
    del array, request, keep
    if len(names) < old.disks:
        return _needed(old.disks - len(names), f"to mirror {counted(old.disks, 'member')}")
    new = GrowShape(level="raid10", layout=_NEAR_2, chunk_bytes=old.chunk_bytes, disks=old.disks * 2)
    return [
        GrowStage(
            options=("--level=10",),
            old=old,
            new=new,
            why="another level; the mirrors are empty",
            moves="md copies to the mirrors",
            takes=tuple(names[: old.disks]),
        )
    ]


def _by_slot(array: Array) -> list[Member]:
    return sorted((each for each in array.members if each.slot is not None), key=lambda each: each.slot or 0)


def _to_raid0(
    array: Array, old: GrowShape, names: Sequence[str], request: ConvertRequest, keep: int
) -> _Found:
    """From RAID 10 near 2, RAID 4 or RAID 5: what is redundant leaves the array."""
    del names, request, keep
    if old.level == "raid10":
        decoded = Raid10Layout.decode(old.layout) if old.layout is not None else None
        if old.layout != _NEAR_2 or decoded is None or old.disks % 2:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"only a raid10 of the layout n2 on an even number of devices becomes a raid0:"
                f" {array.title} is {decoded.short if decoded is not None else 'not known'} on {old.disks}",
            )
        new = GrowShape(level="raid0", layout=0, chunk_bytes=old.chunk_bytes, disks=old.disks // 2)
        frees = tuple(each.name for each in _by_slot(array) if each.slot is not None and each.slot % 2)
        return [
            GrowStage(
                options=("--level=0",), old=old, new=new, why="another level; nothing moves", frees=frees
            )
        ]
    moved = old.level == "raid5" and old.layout != PARITY_LAST
    stages = [layout_stage(old, PARITY_LAST)] if moved else []
    flat = stages[-1].new if stages else old
    new = GrowShape(level="raid0", layout=0, chunk_bytes=old.chunk_bytes, disks=old.disks - 1)
    # Of a RAID 6, the member with the second parity is a spare by now; it goes first, or md would use it.
    frees = tuple(each.name for each in reversed(_by_slot(array)) if (each.slot or 0) >= new.disks)
    last = GrowStage(
        options=("--level=0",),
        old=flat,
        new=new,
        why="another level; nothing moves",
        frees=frees,
        again=True,
    )
    return [*stages, last]


_STEPS: dict[str, _Maker] = {
    "raid4": _to_raid4,
    "raid5": _to_raid5,
    "raid6": _to_raid6,
    "raid10": _to_raid10,
    "raid0": _to_raid0,
}


def _needed(count: int, why: str) -> Refusal:
    return Refusal(
        code=RefusalCode.TOO_SMALL,
        why=f"{counted(count, 'device')} more {'is' if count == 1 else 'are'} needed {why}",
        remedy="name free devices with --add",
    )
