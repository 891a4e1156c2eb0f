"""The ways back of reshapes, halves of mirrors and containers; what keeps any from being possible. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from raidtui.features.rescue.groups import MemberGroup
from raidtui.features.rescue.mdadm_words import EXTERNAL, Assembly, is_needed, new_backup
from raidtui.features.rescue.records import WayBack, WayCode
from raidtui.model.geometry import losses_left
from raidtui.model.reshape_place import needs_backup, place_of
from raidtui.model.survey import Superblock
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined

DIRTY = " The kernel is told to start it although its parity may not fit (start_dirty_degraded)."


def blocked(group: MemberGroup) -> str:
    """Return why no members of an array can be assembled at present; "" where they can."""
    if group.starts:
        return f"{joined(sorted(group.starts))} must first be mapped where the partition was"
    return ""


def bitmap_refusal(group: MemberGroup) -> str:
    """Return that a bitmap keeps the array from starting; "" where none does."""
    damaged = [name for name in group.standing.whole.values() if group.blocks[name].bitmap_damaged]
    return "the kernel does not start it if it reads a bitmap that is damaged" if damaged else ""


def whole_members(group: MemberGroup, *, rebuilding: bool = True) -> tuple[str, ...]:
    """Return the members to name: the whole ones by slot, those that are being rebuilt, and the journal.

    mdadm waits for a replacement as for a member.
    """
    whole = [name for _, name in sorted(group.standing.whole.items())]
    others = [*(each.name for each in group.rebuilding), *group.standing.replacing] if rebuilding else []
    return (*whole, *others, *((group.journal,) if group.journal else ()))


def journal_refusal(group: MemberGroup) -> str:
    """Return that a lost journal keeps it from starting; "" where none does."""
    lost = (group.newest.features or 0) & 0x200 and not group.journal
    return "mdadm does not start it without its journal, except by force" if lost else ""


def reshape_ways(group: MemberGroup) -> Iterator[WayBack]:
    """Yield to continue with it, without its backup file, and to revert it; nothing without a reshape."""
    reshape = group.newest.reshape
    if reshape is None:
        return
    names = whole_members(group)
    short = group.standing.enough is False
    why = blocked(group) or ("too few members are intact" if short else "")
    needs = needs_backup(group.newest)
    file, filed = group.backup if needs else None, ""
    if needs and file is None:
        filed = "its backup file was not found: raidtui rescue try continue-reshape --backup-file FILE"
    elif file is not None and not is_needed(file, reshape.position_kib):
        filed = f"{file.path} is no longer needed, and mdadm refuses it: continue without it"
    yield WayBack(
        code=WayCode.CONTINUE,
        text=f"Continue the reshape with {joined(names)}"
        + (", with the backup file that was given to mdadm --grow (--backup-file)." if needs else ".")
        + (DIRTY if group.standing.unwritten else ""),
        writes="the data of all members, moved to their new places",
        why_not=why or filed,
        devices=names,
        backup=file.path if file is not None else "",
    )
    if needs:
        early = "" if reshape.in_place else "md refuses to continue from so early a place: revert it instead"
        yield WayBack(
            code=WayCode.CONTINUE_WITHOUT,
            text="Continue the reshape without its backup file (--invalid-backup, with a new file that"
            " exists), on overlays first. If no more was moved than is recorded, that loses nothing,"
            " and mdadm does not accept even the right file.",
            writes="the data of all members, moved to their new places",
            why_not=why or early,
            forgives="what was moved beyond the recorded place: up to 10 s of the reshape",
            devices=names,
            backup=new_backup(group.uuid),
        )
    misaligned, fresh = _unaligned(group), new_backup(group.uuid)
    yield WayBack(
        code=WayCode.REVERT,
        text="Revert the reshape (--update=revert-reshape): what was moved is moved back."
        " On overlays first: the command writes even if it fails."
        + (f" It needs a new backup file: --backup-file={fresh}." if needs else ""),
        writes="superblocks at once, then the data of all members",
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


def look_at_halves(group: MemberGroup) -> Iterator[WayBack]:
    """Yield a look at each half alone."""
    for name in dict.fromkeys(name for pair in group.halves for name in pair):
        yield WayBack(
            code=WayCode.LOOK,
            text=f"Look at the half of {name} alone: set it read-only (blockdev --setro), assemble it with"
            " --run --readonly, mount it read-only, and list its newest files.",
            devices=(name,),
        )


def take_halves(group: MemberGroup) -> Iterator[WayBack]:
    """Yield the ways that take one half."""
    for kept in dict.fromkeys(name for pair in group.halves for name in pair):
        others = [name for pair in group.halves if kept in pair for name in pair if name != kept]
        left, is_kept = joined(others), "are kept unchanged" if len(others) > 1 else "is kept unchanged"
        yield WayBack(
            code=WayCode.TAKE_HALF,
            text=f"Take the half of {kept} (event {group.blocks[kept].events}): start it alone"
            f" with --run, after looking at each read-only. {left} {is_kept} until all files there are safe;"
            " then add it again.",
            writes=f"the superblock of {kept}; later all of {left}",
            forgives=f"what was written to {left} alone",
            devices=(kept,),
        )


def halves_refusal(group: MemberGroup) -> str:
    """Return why it is not started as it is; "" where its halves agree."""
    return "its halves disagree: choose one, or mdadm will" if group.halves else ""


def find_container(devices: Sequence[str], blocks: Iterable[Superblock], *, run: bool) -> Assembly | None:
    """Return how a container and its volumes are started; None where these are not disks of one.

    Args:
        devices: kernel names of its disks.
        blocks: their superblocks.
        run: whether volumes are started without all of their disks, too.
    """
    found = [block for block in blocks if block.metadata in EXTERNAL]
    if not found:
        return None
    most = max(found, key=lambda block: len(block.volumes))
    return Assembly(
        devices=tuple(devices),
        uuid=most.uuid or "",
        run=run,
        external=most.metadata or "",
        volumes=tuple(each.name for each in most.volumes),
    )


def container_ways(group: MemberGroup) -> Iterator[WayBack]:
    """Yield the ways back for a container and its volumes; they are carried out by hand."""
    names = tuple(group.blocks)
    lack = group.lacking_disks
    yield WayBack(
        code=WayCode.START,
        text=f"Assemble the container of {joined(names)}, and start its volumes with mdadm --incremental, by"
        " hand. A trial starts them read-only, and shows what is on them.",
        writes="the metadata of the container",
        why_not=f"{counted(lack, 'disk')} {'was' if lack == 1 else 'were'} not found" if lack else "",
        devices=names,
    )
    if lack:
        kept = [each.level for each in group.newest.volumes if not _is_lost(each.level, group.disks, lack)]
        yield WayBack(
            code=WayCode.DEGRADED,
            text=f"Assemble the container of {joined(names)}, and start what has redundancy degraded with"
            " mdadm --incremental --run, by hand. A trial starts it read-only, and shows what is on it.",
            writes="the metadata of the container: the disks that were not found are marked as failed",
            why_not="" if kept else "too many of its disks are missing for any of its volumes",
            devices=names,
        )


def _is_lost(level: str | None, disks: int, lack: int) -> bool:
    left = losses_left(level, None, disks, range(lack))
    return left is not None and left < 0
