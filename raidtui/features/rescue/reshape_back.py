"""The ways back for an array that stopped in the middle of a reshape. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.rescue.back_refusals import DIRTY, blocked, whole_members
from raidtui.features.rescue.groups import MemberGroup
from raidtui.features.rescue.records import WayBack, WayCode
from raidtui.features.rescue.reshape_backup import is_needed, new_backup
from raidtui.model.reshape_place import needs_backup, place_of
from raidtui.view.units import SECTOR_BYTES, binary_size, joined


def reshape_ways(group: MemberGroup) -> Iterator[WayBack]:
    """Yield to go on with it, without its backup file, and to revert it; nothing without a reshape."""
    reshape = group.newest.reshape
    if reshape is None:
        return
    names = whole_members(group)
    short = group.standing.enough is False
    why = blocked(group) or ("too few members are whole" if short else "")
    needs = needs_backup(group.newest)
    file, filed = group.backup if needs else None, ""
    if needs and file is None:
        filed = "its backup file was not found: raidtui rescue try continue-reshape --backup-file FILE"
    elif file is not None and not is_needed(file, reshape.position_kib):
        filed = f"{file.path} is not needed any more, and mdadm refuses it: continue without it"
    yield WayBack(
        code=WayCode.CONTINUE,
        text=f"Continue the reshape with {joined(names)}"
        + (", with the backup file that was given to mdadm --grow (--backup-file)." if needs else ".")
        + (DIRTY if group.standing.unwritten else ""),
        writes="the data of all members, moved to their new places",
        possible=not why and not filed,
        why_not=why or filed,
        devices=names,
        backup=file.path if file is not None else "",
    )
    if needs:
        early = "" if reshape.in_place else "md refuses to go on from so early a place: revert it instead"
        yield WayBack(
            code=WayCode.CONTINUE_WITHOUT,
            text="Continue the reshape without its backup file (--invalid-backup, with a new file that"
            " exists), on overlays first. Where no more was moved than is recorded, that loses nothing, and"
            " mdadm does not take even the right file.",
            writes="the data of all members, moved to their new places",
            possible=not why and not early,
            why_not=why or early,
            forgives="what was moved beyond the recorded place: up to 10 s of the reshape",
            devices=names,
            backup=new_backup(group.uuid),
        )
    misaligned, fresh = _unaligned(group), new_backup(group.uuid)
    yield WayBack(
        code=WayCode.REVERT,
        text="Revert the reshape (--update=revert-reshape): what was moved is moved back. On overlays"
        " first: the command writes also where it fails."
        + (f" It needs a backup file, a new one: --backup-file={fresh}." if needs else ""),
        writes="superblocks at once, then the data of all members",
        possible=not why and not misaligned,
        why_not=why or misaligned,
        devices=names,
        backup=fresh if needs else "",
    )


def _unaligned(group: MemberGroup) -> str:
    """Return why mdadm does not revert a reshape here, or ""."""
    found = place_of(group.newest)
    if found is None or found.reverts:
        return ""
    stripe = binary_size(found.chunk * found.old_data_disks * SECTOR_BYTES)
    return (
        f"mdadm reverts only at multiples of {stripe}, where whole stripes of the old form end: let it"
        " continue a little, and stop"
    )
