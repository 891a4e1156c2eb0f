"""What limits the speed of a sync, or keeps it from running."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from raidtui.model.array import Array, Phase, Sync
from raidtui.model.snapshot import Snapshot

_NEAR_LIMIT = 0.85
_OVER_LIMIT = 1.15
_BUSY, _AT_EASE = 0.9, 0.7
_PENDING_WORDS = {
    "auto-read-only": "auto-read-only until the first write",
    "read-only": "read-only until it is made writable",
    "": "not started yet",
}


class Brake(StrEnum):
    """What holds a sync back, for programs."""

    MAX_LIMIT = "max_limit"
    MIN_LIMIT = "min_limit"
    OTHER_IO = "other_io"
    DELAYED = "delayed"
    PENDING = "pending"
    FROZEN = "frozen"
    SLOW_MEMBER = "slow_member"
    HALTED = "halted"


class HeldBack(Struct, frozen=True, kw_only=True):
    """The brake, and a short phrase for people."""

    brake: Brake
    words: str


def held_back_by(
    array: Array, snapshot: Snapshot, speed_kib_s: float | None, busy: Mapping[str, float] | None = None
) -> HeldBack | None:
    """Return what holds the array's sync back, or None where nothing is found.

    Args:
        array: with a ``sync``.
        snapshot: the other arrays and the limits.
        speed_kib_s: the measured speed.
        busy: the part of the time, 0 to 1, in which each disk had requests in flight.
    """
    sync = array.sync
    if sync is None:
        return None
    if sync.phase is Phase.FROZEN:
        return HeldBack(brake=Brake.FROZEN, words="until it is resumed")
    if sync.phase is Phase.PENDING:
        return HeldBack(brake=Brake.PENDING, words=_PENDING_WORDS[array.read_only])
    if sync.phase is Phase.DELAYED:
        return HeldBack(brake=Brake.DELAYED, words=_delay_words(array, snapshot))
    if sync.phase is not Phase.RUNNING:
        return None
    if _sleeps_off(array, sync):
        return HeldBack(brake=Brake.MAX_LIMIT, words="max limit: md waits until its mean speed is below it")
    if not speed_kib_s:
        return _by_halt(array, sync)
    return _by_limit(array, speed_kib_s) or _by_member(array, busy or {}) or _by_load(array, speed_kib_s)


def sharing(array: Array, snapshot: Snapshot) -> list[tuple[Array, str]]:
    """Return the other arrays with a running sync on one of the same whole disks, and that disk."""
    own = _whole_disks(array, snapshot)
    found = []
    for other in snapshot.arrays:
        if other.key == array.key or other.sync is None or other.sync.phase is not Phase.RUNNING:
            continue
        if common := sorted(own & _whole_disks(other, snapshot)):
            found.append((other, common[0]))
    return found


def _whole_disks(array: Array, snapshot: Snapshot) -> set[str]:
    return {
        snapshot.disks[member.name].disk if member.name in snapshot.disks else member.name
        for member in array.members
    }


def _delay_words(array: Array, snapshot: Snapshot) -> str:
    for other, disk in sharing(array, snapshot):
        return f"waits for {other.title}: both use {disk}"
    return "waits for another array on the same disks"


def _sleeps_off(array: Array, sync: Sync) -> bool:
    """Whether the kernel's own mean of about 30 s is above the limit: md_do_sync sleeps until it is not.

    That is so after a limit was lowered; the speed is 0 meanwhile.
    """
    ceiling = array.speed_limit.ceiling_kib_s if array.speed_limit else None
    return bool(ceiling) and (sync.kernel_speed_kib_s or 0) > _OVER_LIMIT * (ceiling or 0)


def _by_halt(array: Array, sync: Sync) -> HeldBack | None:
    """Return that a reshape stands where md is to halt: the job that lets it on does not run."""
    halt = array.reshape.halts_at_sectors if array.reshape is not None else None
    if halt is None or sync.done_kib is None or 2 * sync.done_kib < halt:
        return None
    return HeldBack(brake=Brake.HALTED, words="its limit, sync_max: resume its job (raidtui jobs)")


def _by_limit(array: Array, speed_kib_s: float) -> HeldBack | None:
    limit = array.speed_limit
    ceiling = limit.ceiling_kib_s if limit else None
    if limit is None or ceiling is None or ceiling <= 0 or speed_kib_s < _NEAR_LIMIT * ceiling:
        return None
    if limit.min_kib_s is not None and limit.max_kib_s is not None and limit.min_kib_s > limit.max_kib_s:
        return HeldBack(brake=Brake.MIN_LIMIT, words="min limit (above max: min wins)")
    return HeldBack(brake=Brake.MAX_LIMIT, words="max limit")


def _by_member(array: Array, busy: Mapping[str, float]) -> HeldBack | None:
    known = sorted(((busy[m.name], m.name) for m in array.members if m.name in busy), reverse=True)
    if len(known) < 2 or known[0][0] < _BUSY or known[1][0] > _AT_EASE:
        return None
    return HeldBack(brake=Brake.SLOW_MEMBER, words=f"slow member {known[0][1]} ({known[0][0]:.0%} busy)")


def _by_load(array: Array, speed_kib_s: float) -> HeldBack | None:
    low = array.speed_limit.min_kib_s if array.speed_limit else None
    if low and 0.7 * low <= speed_kib_s <= 1.3 * low:
        return HeldBack(brake=Brake.OTHER_IO, words="other I/O: md yields down to min")
    return None
