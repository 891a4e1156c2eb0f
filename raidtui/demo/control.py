"""Writes to the simulated kernel, accepted or refused with md's error numbers; and changes of members.

Sources: action_store, state_store, sync_min_store and min_sync_store and their kin in drivers/md/md.c.
"""

from __future__ import annotations

import errno
import os

from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.demo.sim_bcache import NAME as BCACHE
from raidtui.demo.sim_bcache import write_bcache
from raidtui.demo.sim_cpufreq import CPU, write_cpufreq
from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import RAID_SYSCTL

_UINT_MAX = 2**32 - 1
_ULL_MAX = 2**64 - 1
_INT_MAX = 2**31 - 1
_STATES_OF_ARRAY = frozenset({"clear", "inactive", "readonly", "read-auto", "clean", "active"})
KNOB_RANGES = {
    "stripe_cache_size": (17, 32768),
    "group_thread_cnt": (0, 8192),
    "preread_bypass_threshold": (0, 32768),
    "skip_copy": (0, 1),
    "rmw_level": (0, 2),
    "max_read_errors": (0, _UINT_MAX),
    "queue/nr_requests": (4, 4096),
    "queue/read_ahead_kb": (0, _INT_MAX),
    "device/queue_depth": (1, 32),
    "device/timeout": (1, _INT_MAX),
}
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")


def write(kernel: SimKernel, path: str, text: str) -> None:
    """Write to an existing file.

    Raises:
        OSError: as from the kernel: EINVAL, EBUSY, ERANGE, EACCES for a read-only file.
    """
    word = text.removesuffix("\n")
    if path.startswith(f"{RAID_SYSCTL}/speed_limit_"):
        _write_system_limit(kernel, path, word)
    elif path.startswith(f"{BLOCK}/"):
        name, _, attribute = path.removeprefix(f"{BLOCK}/").partition("/")
        array = kernel.array(name) if attribute.startswith("md/") else None
        if array is not None:
            _write_array(kernel, array, attribute.removeprefix("md/"), word)
        elif name == BCACHE:
            write_bcache(kernel, attribute, word)
        else:
            _write_knob(kernel.knobs, f"{name}/", attribute, word)
    elif path.startswith(f"{CPU}/"):
        write_cpufreq(kernel, path, word)
    else:
        raise _error(errno.EACCES)
    kernel.generation += 1


def _write_system_limit(kernel: SimKernel, path: str, word: str) -> None:
    first = (word.split() or [""])[0]
    digits = first[1:] if first[:1] in {"-", "+"} else first
    if not (digits.isascii() and digits.isdigit()) or not -_INT_MAX - 1 <= int(first) <= _INT_MAX:
        raise _error(errno.EINVAL)
    if path.endswith("_min"):
        kernel.low_kib_s = int(first)
    elif path.endswith("_max"):
        kernel.high_kib_s = int(first)


def _write_array(kernel: SimKernel, array: SimArray, attribute: str, word: str) -> None:
    if attribute == "sync_action":
        _write_action(kernel, array, word)
    elif attribute == "sync_speed_min":
        array.low_kib_s = _local_limit(word)
    elif attribute == "sync_speed_max":
        array.high_kib_s = _local_limit(word)
    elif attribute == "sync_min":
        _write_sync_min(array, word)
    elif attribute == "sync_max":
        _write_sync_max(array, word)
    elif attribute == "sync_force_parallel":
        array.parallel = bool(_unsigned(word, 1))
        kernel.wake()
    elif attribute == "reshape_direction":
        if word not in {"forwards", "backwards"}:
            raise _error(errno.EINVAL)
        if array.reshape is not None:
            raise _error(errno.EBUSY)
        array.backwards = word == "backwards"
    elif attribute == "array_state":
        if word not in _STATES_OF_ARRAY:
            raise _error(errno.EINVAL)
        if word not in {"clean", "active"}:
            raise _error(errno.EBUSY)  # it is mounted
    elif attribute.startswith("dev-") and attribute.endswith("/state"):
        device = attribute.removeprefix("dev-").removesuffix("/state").replace("!", "/")
        _write_member(kernel, array, device, word)
    else:
        _write_knob(array.knobs, "", attribute, word)


def _write_action(kernel: SimKernel, array: SimArray, word: str) -> None:
    """``idle`` and ``frozen`` stop a running sync; everything else is refused while one runs."""
    if word in {"idle", "frozen"}:
        array.frozen = word == "frozen"
        kernel.interrupt(array)
    elif array.sync is not None:
        raise _error(errno.EBUSY)
    elif word in {"check", "repair"}:
        array.frozen, array.requested = False, word
    elif word in {"resync", "recover"}:
        array.frozen = False
    else:
        raise _error(errno.EINVAL)  # reshape, too: there is no new shape
    kernel.emit(array.name, "sync_action")
    kernel.settle(array)


def _write_member(kernel: SimKernel, array: SimArray, device: str, word: str) -> None:
    member = array.member(device)
    if member is None:
        raise _error(errno.ENOENT)
    if word == "faulty":
        fail_member(kernel, array, device)
    elif word == "remove":
        remove_member(kernel, array, device)
    elif word == "re-add":
        re_add_member(kernel, array, device)
    elif not _set_flag(member, word):
        raise _error(errno.EINVAL)
    else:
        kernel.emit(array.name, f"dev-{device}/state")
        kernel.settle(array)


def _set_flag(member: SimMember, word: str) -> bool:
    flag = word.removeprefix("-")
    on = flag == word
    if flag == "writemostly":
        member.write_mostly = on
    elif flag == "failfast":
        member.failfast = on
    elif flag == "want_replacement":
        member.wanted_gone = on and member.slot is not None and not member.replacement
    else:
        return False
    return True


def _local_limit(word: str) -> int | None:
    if word.startswith("system"):
        return None
    return _unsigned(word, _UINT_MAX, low=1)


def _write_sync_min(array: SimArray, word: str) -> None:
    value = _unsigned(word, _ULL_MAX)
    if array.sync_max is not None and value > array.sync_max:
        raise _error(errno.EINVAL)
    if array.sync is not None:
        raise _error(errno.EBUSY)
    array.sync_min = value // 8 * 8


def _write_sync_max(array: SimArray, word: str) -> None:
    if word == "max":
        array.sync_max = None
        return
    value = _unsigned(word, _ULL_MAX)
    if value < array.sync_min:
        raise _error(errno.EINVAL)
    if array.sync is not None and (array.sync_max is None or value < array.sync_max):
        raise _error(errno.EBUSY)
    if array.chunk_kib and value % (array.chunk_kib * 2):
        raise _error(errno.EINVAL)
    array.sync_max = value


def _write_knob(knobs: dict[str, str], prefix: str, attribute: str, word: str) -> None:
    if attribute == "queue/scheduler":
        if word.strip() not in SCHEDULERS:
            raise _error(errno.EINVAL)
        knobs[prefix + attribute] = word.strip()
        return
    if attribute not in KNOB_RANGES:
        raise _error(errno.EACCES)
    low, high = KNOB_RANGES[attribute]
    knobs[prefix + attribute] = str(_unsigned(word, high, low=low))


def _unsigned(word: str, high: int, *, low: int = 0) -> int:
    """Return a number as kstrtouint reads it: EINVAL for anything but digits, ERANGE beyond the type."""
    digits = word.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise _error(errno.EINVAL)
    value = int(digits) if len(digits) < 30 else _ULL_MAX + 1
    if (value > _UINT_MAX and high <= _UINT_MAX) or value > _ULL_MAX:
        raise _error(errno.ERANGE)
    if not low <= value <= high:
        raise _error(errno.EINVAL)
    return value


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def fail_member(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Mark a member faulty (md_error).

    Raises:
        OSError: EBUSY where the array fails without it; it is broken then.
        OSError: ENODEV for no such member.
    """
    member = _member(array, device)
    if member.faulty:
        return
    needed = member.in_sync and member.slot is not None and not member.replacement
    fatal = needed and member.slot is not None and not array.survives_without(member.slot)
    if fatal:
        array.broken = True
    if not fatal or array.level == "raid5":  # RAID-1 and RAID-10 keep the last copy, RAID-0 keeps all members
        kernel.interrupt(array)
        member.faulty, member.in_sync, member.replacement = True, False, False
        kernel.emit(array.name, f"dev-{device}/state")
        kernel.settle(array)
    else:
        kernel.emit(array.name, "array_state")
    if fatal:
        raise _error(errno.EBUSY)


def remove_member(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Remove a member (md_kick_rdev_from_array).

    Raises:
        OSError: EBUSY where it has a slot and has not failed.
        OSError: ENODEV for no such member.
    """
    member = _member(array, device)
    if member.slot is not None and not member.faulty:
        raise _error(errno.EBUSY)
    array.members.remove(member)
    array.left[device] = member
    kernel.emit(array.name, "degraded")


def add_member(
    kernel: SimKernel, array: SimArray, device: str, disk: str, *, number: int | None = None
) -> None:
    """Add a device as a spare; an empty slot is filled at once.

    Raises:
        OSError: EBUSY where an array has it already, ENOENT where there is no such disk.
    """
    if any(other.member(device) for other in kernel.arrays):
        raise _error(errno.EBUSY)
    if disk not in kernel.disks or not array.redundant:
        raise _error(errno.ENOENT if disk not in kernel.disks else errno.EINVAL)
    taken = {member.number for member in array.members}
    if number is None or number in taken:
        number = next(each for each in range(array.raid_disks, 4096) if each not in taken)
    for each in (*kernel.arrays, *kernel.stopped):
        each.left.pop(device, None)
    array.members.append(SimMember(device=device, disk=disk, number=number, slot=None))
    kernel.emit(array.name, f"dev-{device}/state")
    kernel.settle(array)


def re_add_member(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Re-add a failed member, as ``re-add`` in its state file does.

    With a bitmap, only what has been written meanwhile is copied.

    Raises:
        OSError: EBUSY where it has not failed or still has its slot.
        OSError: ENODEV for no such member.
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
    kernel.emit(array.name, f"dev-{device}/state")
    kernel.settle(array)


def take_back(kernel: SimKernel, array: SimArray, device: str) -> None:
    """Re-add a former member that was removed: with a bitmap, only what has been written since is copied.

    Raises:
        OSError: EINVAL where that is not possible (ADD_NEW_DISK in drivers/md/md.c).
    """
    member = array.left.get(device)
    held = {each.slot for each in array.members if each.slot is not None}
    slot = None if member is None else member.saved_slot
    if member is None or not array.bitmap or slot is None or slot in held or array.sync is not None:
        raise _error(errno.EINVAL)
    del array.left[device]
    member.faulty, member.in_sync, member.slot, member.saved_slot = False, False, slot, None
    member.recovered_sectors = array.component_kib * 2 * 95 // 100
    array.members.append(member)
    kernel.emit(array.name, f"dev-{device}/state")
    kernel.settle(array)


def replace_member(kernel: SimKernel, array: SimArray, old: str, new: str) -> None:
    """Have a spare take the place of a member that still serves (Manage_replace, Manage_with in Manage.c).

    Raises:
        OSError: EBUSY while something is synced, after the old member was marked; EINVAL for no spare.
        OSError: ENODEV for no such member.
    """
    leaving, spare = _member(array, old), _member(array, new)
    if leaving.faulty or leaving.slot is None or not array.redundant:
        raise _error(errno.EINVAL)
    leaving.wanted_gone = True
    kernel.emit(array.name, f"dev-{old}/state")
    if array.sync is not None:
        raise _error(errno.EBUSY)
    if not spare.is_spare:
        raise _error(errno.EINVAL)
    spare.slot, spare.replacement, spare.recovered_sectors = leaving.slot, True, 0
    kernel.emit(array.name, f"dev-{new}/state")
    kernel.settle(array)


def _member(array: SimArray, device: str) -> SimMember:
    member = array.member(device)
    if member is None:
        raise _error(errno.ENODEV)
    return member
