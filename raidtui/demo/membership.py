"""Members come, fail and go: what ``mdadm --fail``, ``--remove``, ``--add`` and ``--re-add`` make md do."""

from __future__ import annotations

import errno
import os

from raidtui.demo.array import SimArray, SimMember
from raidtui.demo.kernel import SimKernel


def fail(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Mark a member faulty (md_error).

    Raises:
        OSError: EBUSY where the array cannot do without it; it is broken then.
        OSError: ENODEV where there is no such member.
    """
    member = _member(array, device)
    if member.faulty:
        return
    needed = member.in_sync and member.slot is not None and not member.replacement
    fatal = needed and member.slot is not None and not array.survives_without(member.slot)
    if fatal:
        array.broken = True
    if not fatal or array.level == "raid5":  # RAID-1 and RAID-10 keep the last copy, RAID-0 all of them
        kernel.interrupt(array)
        member.faulty, member.in_sync, member.replacement = True, False, False
        kernel.tell(array.name, f"dev-{device}/state")
        kernel.settle(array)
    else:
        kernel.tell(array.name, "array_state")
    if fatal:
        raise _error(errno.EBUSY)


def remove(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Take a member out (md_kick_rdev_from_array).

    Raises:
        OSError: EBUSY where it holds a slot and has not failed.
        OSError: ENODEV where there is no such member.
    """
    member = _member(array, device)
    if member.slot is not None and not member.faulty:
        raise _error(errno.EBUSY)
    array.members.remove(member)
    kernel.tell(array.name, "degraded")


def add(kernel: SimKernel, array: SimArray, device: str, disk: str, *, number: int | None = None) -> None:
    """Add a device as a spare; a hole is filled at once.

    Raises:
        OSError: EBUSY where an array has it already, ENOENT where the disk is not there.
    """
    if any(other.member(device) for other in kernel.arrays):
        raise _error(errno.EBUSY)
    if disk not in kernel.disks or not array.redundant:
        raise _error(errno.ENOENT if disk not in kernel.disks else errno.EINVAL)
    taken = {member.number for member in array.members}
    if number is None or number in taken:
        number = next(each for each in range(array.raid_disks, 4096) if each not in taken)
    array.members.append(SimMember(device=device, disk=disk, number=number, slot=None))
    kernel.tell(array.name, f"dev-{device}/state")
    kernel.settle(array)


def re_add(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Take a failed member back, as writing ``re-add`` to its state does.

    With a bitmap only what was written meanwhile is copied.

    Raises:
        OSError: EBUSY where it has not failed or still holds its slot.
        OSError: ENODEV where there is no such member.
    """
    member = _member(array, device)
    if not member.faulty or member.slot is not None or member.saved_slot is None:
        raise _error(errno.EBUSY)
    held = {each.slot for each in array.members if each.slot is not None}
    member.faulty = False
    at_rest = array.sync is None and not array.broken and not array.frozen
    if array.bitmap and at_rest and member.saved_slot not in held:
        member.slot = member.saved_slot
        member.recovered_sectors = array.component_kib * 2 * 95 // 100
    member.saved_slot = None
    kernel.tell(array.name, f"dev-{device}/state")
    kernel.settle(array)


def _member(array: SimArray, device: str) -> SimMember:
    member = array.member(device)
    if member is None:
        raise _error(errno.ENODEV)
    return member


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))
