"""The ways back for an array, from harmless to drastic, with what mdadm and the kernel would refuse. Pure.

What mdadm 4.2 and Linux 6.1 do is in Assemble.c, Grow.c and super1.c; tests/lab/test_rescue_wrecks.py has the
refusals.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.features.rescue.groups import MemberGroup, is_too_small, say_behind
from raidtui.features.rescue.records import STARTS, Cause, CauseCode, WayBack, WayCode
from raidtui.features.rescue.reshapes_halves_containers import (
    bitmap_refusal,
    blocked,
    container_ways,
    halves_refusal,
    journal_refusal,
    look_at_halves,
    reshape_ways,
    take_halves,
    whole_members,
)
from raidtui.model.geometry import slots_words
from raidtui.model.reshape_place import is_cut
from raidtui.model.start_obstacle import lacks_raid0_layout
from raidtui.model.survey import MemberRole
from raidtui.plans.whole import refuse_start
from raidtui.view.units import joined

_SUPERBLOCKS = "the superblocks of its members"
_REBUILT = {CauseCode.SUPERBLOCK_LOST, CauseCode.OVERWRITTEN, CauseCode.NOT_ENOUGH, CauseCode.SPARE}


def find_ways(group: MemberGroup, causes: tuple[Cause, ...]) -> tuple[WayBack, ...]:
    """Return the ways back for an array that is not running; () for one that runs."""
    if group.array is not None and group.array.active:
        return ()
    found = [*_copy(group), *_bring_back(group), *_devices_mended(group)]
    if group.external:
        return (*found, *container_ways(group))
    found += list(look_at_halves(group)) if group.halves else [_look(group)]
    starts = [_start(group), *_degraded(group)]
    if any(each.code is CauseCode.RECREATED for each in causes):
        starts = [_with_doubt(way) for way in starts]
    found += starts
    found += _without_bitmap(group)
    found += _layouts(group)
    found += reshape_ways(group)
    found += take_halves(group)
    found += _force(group)
    found += _search(group, causes)
    return tuple(_with_devices(way) for way in found)


def _with_devices(way: WayBack) -> WayBack:
    """Return a way as it is; one that starts an array is not possible without any device."""
    if not way.possible or way.devices or way.code not in STARTS:
        return way
    return replace(way, why_not="none of its members is intact")


def _copy(group: MemberGroup) -> Iterator[WayBack]:
    failing = [
        name for name in (*group.blocks, *group.lost) if group.medium(name).error or group.medium(name).dying
    ]
    if failing:
        yield WayBack(
            code=WayCode.COPY,
            text=f"Copy {joined(failing)} to another disk or an image file with ddrescue before anything"
            " else, and continue with the copy: every further read may be the last.",
            writes="the other disk or the file; nothing on the members",
            devices=tuple(failing),
        )


def _bring_back(group: MemberGroup) -> Iterator[WayBack]:
    if group.absent:
        several = len(group.absent) > 1
        yield WayBack(
            code=WayCode.BRING_BACK,
            text=f"Reconnect the disk{'s' if several else ''} of slot{'s' if several else ''}"
            f" {slots_words(group.absent)}, if there {'are any' if several else 'is one'}: check power,"
            " cable and controller, and look again.",
        )
    doubtful = [each.name for each in group.stale if not group.medium(each.name).dying]
    if doubtful and not group.absent and group.standing.enough is False:
        yield WayBack(
            code=WayCode.BRING_BACK,
            text=f"Check power and cables of {joined(doubtful)} first: they may drop out again.",
            devices=tuple(doubtful),
        )


def _devices_mended(group: MemberGroup) -> Iterator[WayBack]:
    for name, start in group.starts.items():
        yield WayBack(
            code=WayCode.MAP,
            text=f"Map {name} from sector {start} on as a device of its own (dm-linear, read-only at first),"
            " as the partition was; rewrite the table once the array has been seen.",
            devices=(name,),
        )

    small = [
        name
        for name, block in group.blocks.items()
        if is_too_small(name, block, group.facts, group.starts.get(name, 0))
    ]
    if small:
        yield WayBack(
            code=WayCode.RESTORE_SIZE,
            text=f"Restore {joined(small)} to the size in the superblock: remove a host protected"
            " area (hdparm -N), or connect the disk as before. Never mdadm --grow.",
            writes="a setting of the disk",
            devices=tuple(small),
        )


def _why_not_started(group: MemberGroup, *, run: bool) -> str:
    if not group.usable:
        return blocked(group) or "md accepts none of its members in their present state"
    refusal = refuse_start(group.usable, run=run)
    why = blocked(group) or (refusal.why if refusal is not None else "")
    return why or bitmap_refusal(group) or journal_refusal(group) or halves_refusal(group)


def _start(group: MemberGroup) -> WayBack:
    names = whole_members(group)
    why = _why_not_started(group, run=False)
    return WayBack(
        code=WayCode.START,
        text=f"Start it, with {joined(names) or 'its members'}.",
        writes=f"{_SUPERBLOCKS}, and what an interrupted resync or rebuild has left",
        why_not=why,
        devices=names,
    )


def _look(group: MemberGroup) -> WayBack:
    names = whole_members(group)
    why = _why_not_started(group, run=True)
    how = f"set {joined(names) or 'its members'} read-only (blockdev --setro), assemble with --run --readonly"
    if group.newest.replays:
        how = (
            f"assemble overlays of {joined(names) or 'its members'}: md replays its log"
            " when it starts, which writes to members, even read-only ones"
        )
    elif is_cut(group.newest):
        how = (
            f"assemble overlays of {joined(names) or 'its members'}, and let the reshape continue"
            " to the end of its present stripe, which cannot be read before"
        )
    return WayBack(
        code=WayCode.LOOK,
        text=f"Look first: {how}; check the file system without repair, mount it read-only.",
        why_not=why,
        devices=names,
    )


def _with_doubt(way: WayBack) -> WayBack:
    if not way.possible:
        return way
    why = "its order may be wrong, and then a resync or a write would destroy what is left: look first"
    return replace(way, why_not=why)


def _degraded(group: MemberGroup) -> Iterator[WayBack]:
    if group.usable and refuse_start(group.usable, run=False) is None:
        return  # it starts without --run
    names = whole_members(group)
    why = _why_not_started(group, run=True)
    left = [each.name for each in group.standing.not_whole if not each.rebuilding]
    outside = f" {joined([*left, *group.lost])} must not be named." if names and (left or group.lost) else ""
    yield WayBack(
        code=WayCode.DEGRADED,
        text=f"Start it degraded (--run) with {joined(names) or 'the intact members'}.{outside}",
        writes=f"{_SUPERBLOCKS}; from then on, the others are outdated and have to be rebuilt",
        why_not=why,
        devices=names,
    )


def _without_bitmap(group: MemberGroup) -> Iterator[WayBack]:
    if not bitmap_refusal(group):
        return
    names = whole_members(group)
    refusal = refuse_start(group.usable, run=True)
    why = blocked(group) or (refusal.why if refusal is not None else "") or halves_refusal(group)
    yield WayBack(
        code=WayCode.NO_BITMAP,
        text=f"Start it without its bitmap (--update=no-bitmap) with {joined(names)}, on overlays first; a"
        " new bitmap can be added later.",
        writes=f"{_SUPERBLOCKS}: they no longer use a bitmap",
        why_not=why,
        forgives="where writes were in progress when it stopped: the whole array is then checked",
        devices=names,
    )


def _layouts(group: MemberGroup) -> Iterator[WayBack]:
    if not lacks_raid0_layout(group.usable.values()):
        return
    names = whole_members(group)
    why = blocked(group) or ("" if group.standing.enough else "a RAID 0 needs all its members")
    for code, written in (
        (WayCode.LAYOUT_ALTERNATE, "Linux 3.14 and newer"),
        (WayCode.LAYOUT_ORIGINAL, "Linux before 3.14"),
    ):
        yield WayBack(
            code=code,
            text=f"Start it as {written} have written it (--update={code}) with {joined(names)}, on overlays"
            " first: in the other layout, what lies beyond the end of the smallest member is damaged. Try"
            " both, and compare the contents of files.",
            writes=f"{_SUPERBLOCKS}: they then record the layout",
            why_not=why,
            forgives="everything beyond the end of the smallest member, if it is the other layout",
            devices=names,
        )


def _force(group: MemberGroup) -> Iterator[WayBack]:
    whole = whole_members(group, rebuilding=False)
    forced = group.forced
    if group.standing.enough and group.standing.unwritten:
        yield WayBack(
            code=WayCode.FORCE,
            text=f"Start it degraded by force (--force) with {joined(whole)}, on overlays first.",
            writes=f"{_SUPERBLOCKS}: it is marked as clean",
            why_not=blocked(group),
            forgives="no data, which need no parity: it is a RAID 0 that got more devices"
            if group.standing.lacks_parity_alone
            else "the stripes that were being written when it stopped: their parity may not fit",
            devices=whole,
        )
    elif group.standing.enough and journal_refusal(group):
        yield WayBack(
            code=WayCode.FORCE,
            text=f"Start it without its journal by force (--force) with {joined(whole)}; it starts"
            " read-only.",
            writes=_SUPERBLOCKS,
            why_not=blocked(group),
            forgives="the writes that were in the journal alone",
            devices=whole,
        )
    elif group.standing.enough is False and group.stale:
        chosen = [each.name for each in forced or ()]
        for last in _equally_old(group, chosen) or [""]:
            yield _forced_way(group, [*chosen[:-1], last] if last else chosen)


def _forced_way(group: MemberGroup, chosen: list[str]) -> WayBack:
    """Return the way that takes these outdated members for up to date; [] where all are too few."""
    why = blocked(group) or ("" if chosen else "too few, even with the outdated members")
    names = (*whole_members(group, rebuilding=False), *chosen)
    rest = [each.name for each in group.stale if each.name not in chosen]
    rest += [each.name for each in group.rebuilding]
    rest += [name for name, block in group.blocks.items() if block.role is MemberRole.SPARE]
    them = "them" if len(rest) > 1 else "it"
    leave = f" {joined(rest)} must not be named: --force would count {them} as up to date."
    equal = _equally_old(group, chosen)
    gaps = [f"{name} is {say_behind(group, name)}" for name in chosen]
    if chosen and group.standing.unwritten:
        gaps.append("parity may not fit in the stripes that were being written when it stopped")
    gaps += [
        f"what the reshape moved after {name} had left it: that member records another place"
        for name in chosen
        if group.blocks[name].reshape != group.newest.reshape
    ]
    tie = f" {joined(equal)} are equally old: try each of them on overlays, and compare." if equal else ""
    return WayBack(
        code=WayCode.FORCE,
        text=f"Start it by force (--force) with exactly {joined(names) or 'these'}, on overlays first."
        + (leave if rest and chosen else "")
        + tie,
        writes=f"{_SUPERBLOCKS}: afterwards nothing shows which data are outdated",
        why_not=why,
        forgives="; ".join(gaps),
        devices=names if chosen else (),
    )


def _equally_old(group: MemberGroup, chosen: list[str]) -> list[str]:
    """Return the last of these outdated members, and those that would do as well; [] where none would."""
    if not chosen:
        return []
    last, age = chosen[-1], group.age(chosen[-1])
    slots = {*group.standing.whole, *(each.slot for each in group.stale if each.name in chosen[:-1])}
    equal = [
        each.name
        for each in group.stale
        if each.name not in chosen and group.age(each.name) == age and group.enough({*slots, each.slot})
    ]
    if not equal or any(group.age(each.name) == age for each in group.rebuilding):
        return []
    return sorted([last, *equal], key=lambda name: group.blocks[name].slot or 0)


def _search(group: MemberGroup, causes: tuple[Cause, ...]) -> Iterator[WayBack]:
    codes = {each.code for each in causes}
    short = not group.standing.enough and group.forced is None
    recreated = [name for each in causes if each.code is CauseCode.RECREATED for name in each.devices]
    doubtful = recreated or CauseCode.CHECKSUM in codes or (group.young and CauseCode.COMPLETE in codes)
    if not doubtful and not (short and codes & _REBUILT):
        return
    full = [name for name in group.lost if not group.medium(name).blank]
    names = tuple(dict.fromkeys((*group.blocks, *recreated, *full)))
    why = "a reshape is pending: its data lie in two layouts" if group.newest.reshape is not None else ""
    if not recreated and not group.enough_with_lost:
        why = why or "too few devices hold data"
    ways = search_ways(names, why)
    yield from ways if recreated or CauseCode.COMPLETE not in codes else (next(ways),)


def search_ways(names: tuple[str, ...], why_not: str = "") -> Iterator[WayBack]:
    """Yield the search for a geometry, and what follows it.

    Args:
        names: kernel names of the devices.
        why_not: why it cannot lead to anything, if so.
    """
    yield WayBack(
        code=WayCode.SEARCH,
        text=f"Search for level, order, chunk, layout and offset on {joined(names)}, only by"
        " reading (raidtui rescue search), and prove on overlays what fits.",
        why_not=why_not,
        devices=names,
    )
    yield WayBack(
        code=WayCode.REBUILD,
        text="Write new superblocks (mdadm --create --assume-clean with every option explicit), only"
        " with what the search has proven.",
        writes="the superblocks of all members, which are saved first",
        why_not=why_not,
        forgives="everything, if the geometry is wrong",
        devices=names,
    )
