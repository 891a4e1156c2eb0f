"""What state an array was left in, and what its devices are: causes that one superblock shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.rescue.groups import MemberGroup, is_too_small, needed_sectors
from raidtui.features.rescue.loose_devices import SECTOR_BYTES
from raidtui.features.rescue.mdadm_words import EXTERNAL, is_needed
from raidtui.features.rescue.records import Cause, CauseCode, RescueFacts
from raidtui.model.geometry import slots_words
from raidtui.model.reshape_place import needs_backup, place_of, waiting_words
from raidtui.model.start_obstacle import lacks_raid0_layout
from raidtui.model.survey import MemberRole, Superblock
from raidtui.plans.whole import MARGIN_EVENTS
from raidtui.view.moments import moment
from raidtui.view.units import binary_size, counted, joined, short_binary

_JOURNAL = 0x200  # MD_FEATURE_JOURNAL (md_p.h)
_MAKERS = {
    "diskstation": "Synology",
    "rackstation": "Synology",
    "synologynas": "Synology",
    "mycloud": "Western Digital",
    "wdmycloud": "Western Digital",
    "readynas": "Netgear",
}


def find_state_causes(group: MemberGroup) -> Iterator[Cause]:
    """Yield the causes, the most important first."""
    if group.external:
        yield _external(group)
        if lack := group.lacking_disks:
            was = "was" if lack == 1 else "were"
            text = f"{counted(lack, 'disk')} of the container {was} not found."
            yield Cause(code=CauseCode.MISSING, text=text)
    yield from _rebuilds(group)
    yield from _reshape(group)
    yield from _dirty(group)
    yield from _journal(group)
    yield from _layout(group)
    yield from _spares(group)
    yield from _damage(group)
    yield from _duplicates(group)
    yield from _disk_trouble(group)
    yield from _foreign(group)


def _rebuilds(group: MemberGroup) -> Iterator[Cause]:
    for each in group.rebuilding:
        block = group.blocks[each.name]
        whole = block.used_sectors
        done = binary_size((block.recovery_sectors or 0) * SECTOR_BYTES)
        of = f" of {binary_size(whole * SECTOR_BYTES)}" if whole else ""
        yield Cause(
            code=CauseCode.RECOVERY_CUT,
            text=f"{each.name} (slot {each.slot}) was being rebuilt, and {done}{of} were done"
            f" {moment(block.updated_s)}: beyond that, it has none of the array's data.",
            devices=(each.name,),
        )
    for name, block in group.blocks.items():
        if block.role is MemberRole.SPARE and (source := _lost_source(group, block)):
            yield Cause(
                code=CauseCode.RECOVERY_CUT,
                text=f"{name} was being rebuilt when {source} failed: it is a spare again,"
                " and holds an unknown part of the array's data. Its data do not count.",
                devices=(name,),
            )
        if block.role is MemberRole.REPLACEMENT:
            done = binary_size((block.recovery_sectors or 0) * SECTOR_BYTES)
            yield Cause(
                code=CauseCode.RECOVERY_CUT,
                text=f"{name} was becoming the replacement for slot {block.replaces}, and"
                f" {done} were copied.",
                devices=(name,),
            )

    roles = group.newest.roles or ""
    there = {block.replaces for block in group.blocks.values() if block.role is MemberRole.REPLACEMENT}
    if gone := [slot for slot, role in enumerate(roles) if role == "R" and slot not in there]:
        yield Cause(
            code=CauseCode.RECOVERY_CUT,
            text=f"A replacement for slot {slots_words(gone)} was being made, and was not found: mdadm waits"
            " for it, but it alone holds no data.",
        )


def _reshape(group: MemberGroup) -> Iterator[Cause]:
    reshape = group.newest.reshape
    if reshape is None:
        return
    newest = group.newest
    changes = []
    if reshape.delta_disks:
        changes.append(f"from {group.disks - reshape.delta_disks} to {group.disks} slots")
    if reshape.new_level:
        changes.append(f"from {newest.level} to {reshape.new_level}")
    if reshape.new_chunk_bytes and newest.chunk_bytes:
        changes.append(
            f"from {short_binary(newest.chunk_bytes)} to {short_binary(reshape.new_chunk_bytes)} chunks"
        )
    if reshape.new_layout:
        changes.append(f"to the layout {reshape.new_layout}")
    moves = "the data offset moves, so no backup file is needed"
    if reshape.new_offset_sectors is None:
        moves = f"the data offset stays, so mdadm backs up what is being moved: {_backup_words(group)}"
        if reshape.delta_disks > 0 and not needs_backup(newest):
            moves = "the data offset stays, but the first stripes, which needed a backup, lie behind it"
        elif reshape.delta_disks > 0:
            moves = (
                "the data offset stays, and the place lies in the first stripes, which are"
                f" moved onto themselves: it does not continue without a backup file; {_backup_words(group)}"
            )
    back = ", backwards" if reshape.backwards else ""
    waiting = waiting_words(place_of(newest))
    yield Cause(
        code=CauseCode.RESHAPE_CUT,
        text=f"A reshape {joined(changes) or 'of an unknown kind'} was interrupted at"
        f" {binary_size(reshape.position_kib << 10)} of the array{back}; {moves}. Before and after that"
        " place, the data lie differently: only a reshape joins them again."
        + (f" {waiting}" if waiting else ""),
        devices=tuple(group.blocks),
    )


def _backup_words(group: MemberGroup) -> str:
    """Return what is known of the backup file of a reshape in place, a clause."""
    reshape, backup = group.newest.reshape, group.backup
    behind = (
        "as md records the place only every 10 s, more may have been moved, and only a trial shows"
        " what is intact"
    )
    if reshape is None or backup is None:
        return f"the file that was given to mdadm --grow was not found in the usual places; {behind}"
    if not is_needed(backup, reshape.position_kib):
        return f"everything that {backup.path} holds lies before that place, so it is not needed; {behind}"
    held = joined(
        [
            f"{binary_size(start * SECTOR_BYTES)} to {binary_size(end * SECTOR_BYTES)}"
            for start, end in backup.parts
        ]
    )
    return f"{backup.path} holds {held} of the array; {behind}"


def _dirty(group: MemberGroup) -> Iterator[Cause]:
    if group.standing.unwritten:
        yield Cause(
            code=CauseCode.DIRTY_DEGRADED,
            text=f"It was being written to when it stopped {moment(group.newest.updated_s)}, with members"
            " missing: parity may not fit in the stripes that were being written, and the kernel does"
            " not start it like that.",
            devices=tuple(sorted(group.standing.whole.values())),
        )


def _journal(group: MemberGroup) -> Iterator[Cause]:
    if group.newest.replays:
        log = f"write journal ({group.journal})" if group.journal else "partial parity log"
        if group.journal or not (group.newest.features or 0) & _JOURNAL:
            yield Cause(
                code=CauseCode.REPLAYED,
                text=f"md replays its {log} when it starts it, even read-only and"
                " onto read-only members: only overlays keep them unchanged. A trial shows how much that is.",
            )
    if not (group.newest.features or 0) & _JOURNAL:
        return
    stale = group.journal and group.events_behind(group.journal) > MARGIN_EVENTS
    if not group.journal or stale:
        what = f"Its write journal ({group.journal}) is outdated" if stale else "Its write journal is missing"
        yield Cause(
            code=CauseCode.JOURNAL_LOST,
            text=f"{what}: writes that it alone held are lost, and parity may not fit there.",
            devices=(group.journal,) if group.journal else (),
        )


def _layout(group: MemberGroup) -> Iterator[Cause]:
    if group.usable and lacks_raid0_layout(group.usable.values()):
        yield Cause(
            code=CauseCode.RAID0_LAYOUT,
            text="RAID 0 of members of different size, and its layout is not recorded: Linux 5.4 and newer do"
            " not start it until the layout is given. Linux 3.14 and newer wrote"
            " alternate, older kernels original. Until that is recorded, raid0.default_layout=2 or =1 on the"
            " kernel's command line starts it.",
            devices=tuple(group.usable),
        )


def _lost_source(group: MemberGroup, spare: Superblock) -> str:
    """Return which member failed while a spare was being rebuilt; "" where none did.

    md makes the target of a rebuild a spare again when a source fails. The source, not written to any more,
    still has the target in a slot that is empty since then. Or bad blocks record what could not be read.
    """
    if group.events_behind_of(spare) > MARGIN_EVENTS:
        return ""
    for each in sorted(group.stale, key=lambda stale: -(group.blocks[stale.name].events or 0)):
        then, now = group.blocks[each.name].roles or "", group.standing.latest.roles or ""
        filled = [
            slot for slot in group.absent if then[slot : slot + 1] == "A" and now[slot : slot + 1] == "."
        ]
        return each.name if filled or spare.bad_blocks else ""
    return "its source" if spare.bad_blocks else ""


def _spares(group: MemberGroup) -> Iterator[Cause]:
    spares = sorted(
        name
        for name, block in group.blocks.items()
        if block.role is MemberRole.SPARE and not _lost_source(group, block)
    )
    if spares and (group.absent or group.standing.not_whole):
        yield Cause(
            code=CauseCode.SPARE,
            text=_spare_words(group, spares),
            devices=tuple(spares),
        )


def _spare_words(group: MemberGroup, spares: list[str]) -> str:
    """Return what spares may be: never used, overwritten, being filled, or members but for their role."""
    are = f"{joined(spares)} {'is recorded as a spare' if len(spares) == 1 else 'are recorded as spares'}, in"
    its = "Its data do" if len(spares) == 1 else "Their data do"
    if group.standing.latest.role is MemberRole.SPARE and group.forced is not None:
        return (
            f"{are} no slot, and newer than all members, like a disk that was being rebuilt when"
            f" they dropped out. {its} not count."
        )
    if group.standing.enough or group.forced is not None or not group.enough_with_lost:
        return f"{are} no slot: never used, or overwritten by mdadm --add. {its} not count."
    gap = max(abs(group.events_behind(name)) for name in spares)
    many = (
        "as many as slots are absent"
        if len(spares) == len(group.absent)
        else f"{counted(len(group.absent), 'slot')} {'is' if len(group.absent) == 1 else 'are'} absent"
    )
    return (
        f"{are} no slot, but {many}, and their event counts are within {gap} of the newest: they may be"
        " former members whose role alone was rewritten, by mdadm --add or when a bridge or enclosure came"
        f" back.{_number_words(group, spares)} Their data decide it: search for them. Never try mdadm"
        " --create by hand."
    )


def _number_words(group: MemberGroup, spares: list[str]) -> str:
    """Return what the kernel's numbers of spares say: a device that is added later gets a further one."""
    members = group.array.members if group.array is not None else ()
    found = {each.name: each.number for each in members if each.name in spares and each.number is not None}
    early = [f"{name}[{number}]" for name, number in sorted(found.items()) if number < group.disks]
    if not early:
        return ""
    return (
        f" /proc/mdstat numbers {joined(early)}, below {group.disks}, as for members since creation: a"
        " device that is added later usually gets a higher number."
    )


def _damage(group: MemberGroup) -> Iterator[Cause]:
    for name, block in group.blocks.items():
        size, needed = group.facts.survey.devices[name].disk.size_bytes or 0, needed_sectors(block) or 0
        if is_too_small(name, block, group.facts, group.starts.get(name, 0)):
            yield Cause(
                code=CauseCode.SMALLER,
                text=f"{name} has {binary_size(size)}, and its superblock says"
                f" {binary_size(needed * SECTOR_BYTES)}: a host protected area, another controller, or a"
                " copy to a smaller disk. mdadm refuses it.",
                devices=(name,),
            )
        if block.checksum_ok is False:
            yield Cause(
                code=CauseCode.CHECKSUM,
                text=f"The checksum of the superblock on {name} is wrong: mdadm does not accept it.",
                devices=(name,),
            )
        if block.bitmap_damaged:
            yield Cause(
                code=CauseCode.BITMAP,
                text=f"The write-intent bitmap of {name} is damaged. mdadm --examine therefore calls the"
                " superblock's checksum wrong, which it is not; the kernel reads the bitmap of one member,"
                " and does not start the array if that is this one.",
                devices=(name,),
            )
        if block.bad_blocks:
            yield Cause(
                code=CauseCode.BAD_BLOCKS,
                text=f"Bad blocks are recorded on {name}: reads of these places fail, although the disk may"
                f" read them. mdadm --examine-badblocks /dev/{name} lists them.",
                devices=(name,),
            )


def _duplicates(group: MemberGroup) -> Iterator[Cause]:
    devices = group.facts.survey.devices
    for name, other in group.same_as.items():
        if devices[name].disk.disk == devices[other].disk.disk:
            text = f"{name} shows the superblock of {other}, which is at its end: name only {other}."
            yield Cause(code=CauseCode.TWIN, text=text, devices=(name, other))
        else:
            yield Cause(
                code=CauseCode.CLONE, text=_copy_words(group.facts, name, other), devices=(name, other)
            )


def _copy_words(facts: RescueFacts, left: str, kept: str) -> str:
    """Return with which of two devices with one superblock the work continues, and why."""
    copy, unfinished = facts.copies.get(kept), facts.copies.get(left)
    rule = "name one of the two, never both"
    if copy is not None and copy.source == left and copy.complete:
        lacks = (
            f", which lacks {binary_size(copy.bad_bytes)} that could not be read" if copy.bad_bytes else ""
        )
        return f"{kept} is the copy of {left}{lacks}: continue with {kept}, and leave {left} out."
    if unfinished is not None and unfinished.source == kept and not unfinished.complete:
        return f"{left} is an incomplete copy of {kept}: finish it before anything else; {rule}."
    if facts.medium(left).error or facts.medium(left).dying:
        return f"{left} and {kept} have the same superblock, and {left} fails: continue with {kept} alone."
    return f"{left} is a copy of {kept} (the same superblock): {rule}."


def _disk_trouble(group: MemberGroup) -> Iterator[Cause]:
    for name in group.blocks:
        medium = group.medium(name)
        if words := medium.dying or medium.link:
            what = "The disk of" if medium.dying else "The cable or controller of"
            yield Cause(code=CauseCode.DISK, text=f"{what} {name}: {words}.", devices=(name,))


def _foreign(group: MemberGroup) -> Iterator[Cause]:
    newest = group.newest
    before, colon, _ = (newest.name or "").partition(":")
    host = before if colon else ""
    if newest.own_host is not False or not (host or (newest.metadata or "").startswith("0.9")):
        return
    if host and host == group.facts.survey.homehost:
        return
    maker = _MAKERS.get(host.lower().partition("-")[0], "")
    whose = f"the host {host}" if host else "another host"
    yield Cause(
        code=CauseCode.FOREIGN,
        text=f"It belongs to {whose}{f' ({maker}, by its name)' if maker else ''}, not to"
        " this one. It can still be assembled by name.",
    )


def _external(group: MemberGroup) -> Cause:
    kind = EXTERNAL[group.newest.metadata or ""]
    volumes = [
        f"{each.name or 'one without a name'} ({each.level or 'level not known'},"
        f" {each.state or 'state not known'})"
        for each in group.newest.volumes
    ]
    known = group.newest.raid_disks
    count = (
        f"{len(group.blocks)} of {counted(known, 'disk')}" if known else counted(len(group.blocks), "disk")
    )
    holds = f" with {joined(volumes)}" if volumes else ""
    return Cause(
        code=CauseCode.EXTERNAL,
        text=f"A container of {kind} metadata, {count} found{holds}. Its disks appear as spares of"
        " an inactive array: that is not a fault.",
        devices=tuple(group.blocks),
    )
