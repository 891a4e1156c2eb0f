"""Members that no array uses, by their arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from raidtui.host.md.configured import ConfiguredArray
from raidtui.host.md.superblock import FoundMember, MemberScan, Superblocks
from raidtui.model.survey import Superblock

Blocks = dict[str, Superblock | None]
_PUNCTUATION = str.maketrans("", "", "-:")


def free_members(
    scan: MemberScan,
    superblocks: Superblocks,
    *,
    taken: Collection[str],
    running: Collection[str],
    ignored: Sequence[ConfiguredArray],
    ask: bool,
) -> tuple[dict[str, list[FoundMember]], Blocks]:
    """Return the members by the UUID of their array, and the superblocks that were read, by device.

    udev knows most of them. A superblock that was written while udev read the device is not in its database:
    the ends of devices on which it has found nothing are read, too.

    Args:
        scan: what udev knows.
        superblocks: reads them.
        taken: names of devices that something uses.
        running: UUIDs of arrays that run.
        ignored: arrays that the configuration says to ignore.
        ask: whether to read what was not read yet.
    """
    free: dict[str, list[FoundMember]] = {}
    for each in scan.without_twins(scan.read()):
        if each.uuid not in running and each.name not in taken and not _is_ignored(each, ignored):
            free.setdefault(each.uuid, []).append(each)
    empty = [each for each in scan.empty() if each.name not in taken]
    at_rest = [each for group in free.values() for each in group]
    blocks = superblocks.read([*at_rest, *empty], ask=ask)
    for each in empty:
        block = blocks.pop(each.name, None)
        if block is None or block.uuid is None or block.uuid in running or block.volumes:
            continue
        full_name = block.name or ""
        member = replace(each, uuid=block.uuid, device_uuid=block.device_uuid or "", full_name=full_name)
        group = free.get(block.uuid, [])
        if not _is_ignored(member, ignored) and not any(_is_same(member, one) for one in group):
            free[block.uuid] = sorted([*group, member], key=lambda one: (len(one.name), one.name))
            blocks[each.name] = block
    return free, blocks


def _is_same(one: FoundMember, other: FoundMember) -> bool:
    """Whether two devices show one superblock: a path of a multipath, a disk and its copy."""
    first, second = (each.device_uuid.translate(_PUNCTUATION) for each in (one, other))
    return bool(first) and first == second


def _is_ignored(member: FoundMember, ignored: Sequence[ConfiguredArray]) -> bool:
    return any(
        member.uuid == each.uuid or (member.full_name and member.full_name == each.full_name)
        for each in ignored
    )
