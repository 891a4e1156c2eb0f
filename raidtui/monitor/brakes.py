"""What limits the speed of a sync, or keeps it from running."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Sync
from raidtui.model.member_speed import MINUTES
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sync_end import SATURATED
from raidtui.monitor.sync_track import SyncTrack
from raidtui.view.units import joined, rate_mb_s

_BLOCK_S = 5.0
"""Over so long it is measured how busy the members are, and who else uses the array."""
_USED_A_S, _SLOWED = 5.0, 0.7
_STILL_S = 3.0
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
    MEMBERS = "members"
    HALTED = "halted"
    STALLED = "stalled"


_FACTS = frozenset({Brake.STALLED, Brake.MEMBERS, Brake.HALTED})
"""Those whose words say what is the case, not what holds it back."""


class DeviceLoad(Struct, frozen=True, kw_only=True):
    """What a device did in the last seconds.

    Args:
        busy: the part of the time, 0 to 1, in which it had requests in flight.
        wait_ms: the mean time of a request; None where there was none.
        requests_a_s: reads and writes.
    """

    busy: float
    wait_ms: float | None
    requests_a_s: float


class Stood(Struct, frozen=True, kw_only=True):
    """A sync that could move, and does not.

    Args:
        since_s: epoch seconds at which it moved last.
        silent: members that have finished no request since then, where others have.
    """

    since_s: float
    silent: Collection[str] = ()


class HeldBack(Struct, frozen=True, kw_only=True):
    """The brake, and a short phrase for people."""

    brake: Brake
    words: str

    @property
    def sentence(self) -> str:
        """The phrase with what it is, for a line of its own."""
        return self.words if self.brake in _FACTS else f"held back by: {self.words}"


def held_back_by(
    array: Array,
    snapshot: Snapshot,
    track: SyncTrack | None = None,
    loads: Mapping[str, DeviceLoad] | None = None,
    stood: Stood | None = None,
) -> HeldBack | None:
    """Return what holds the array's sync back, or None where nothing is found.

    Args:
        array: with a ``sync``.
        snapshot: the other arrays and the limits.
        track: how the sync has moved; None where no one has watched it.
        loads: what the members and the array itself did lately.
        stood: since when it stands, where it could move.
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
    if halt := _by_halt(array, sync):
        return halt
    if track is None:
        return None
    if stood is not None:
        return HeldBack(brake=Brake.STALLED, words=_stall_words(array, snapshot, stood))
    if track.pauses:
        return HeldBack(brake=Brake.MAX_LIMIT, words="max limit: md waits until its mean speed is below it")
    loads = loads or {}
    if limit := _by_limit(array, track):
        return limit
    if track.now.clock_s - track.moved_s >= _STILL_S:
        return None  # nothing moves, and it is too early to call it a stall: what is slow is not known
    return _by_users(array, track, loads.get(array.name)) or _by_members(
        array, {name: each for name, each in loads.items() if name != array.name}
    )


def _stall_words(array: Array, snapshot: Snapshot, stood: Stood) -> str:
    """Return since when a sync stands still, and which members do not answer, where that shows.

    Requests in flight show it; none in flight shows nothing: a device mapper that is suspended holds them
    before it counts them.
    """
    words = f"has not moved since {time.strftime('%H:%M', time.localtime(stood.since_s))}"
    names = [each.name for each in array.members]
    if flying := [name for name in names if name in snapshot.io and snapshot.io[name].in_flight]:
        return f"{words}; {joined(flying)} {'has' if len(flying) == 1 else 'have'} requests in flight"
    if quiet := [name for name in names if name in stood.silent]:
        return (
            f"{words}; {joined(quiet)} {'has' if len(quiet) == 1 else 'have'} finished no request since then"
        )
    return f"{words}; the cause is not known"


def sharing(array: Array, snapshot: Snapshot) -> list[tuple[Array, str]]:
    """Return the other arrays with a running sync on one of the same whole disks, and that disk."""
    return _beside(array, snapshot, Phase.RUNNING)


def waiting_beside(array: Array, snapshot: Snapshot) -> list[Array]:
    """Return the other arrays whose sync is delayed, too, on one of the same whole disks."""
    return [other for other, _ in _beside(array, snapshot, Phase.DELAYED)]


def _beside(array: Array, snapshot: Snapshot, phase: Phase) -> list[tuple[Array, str]]:
    own = _whole_disks(array, snapshot)
    found = []
    for other in snapshot.arrays:
        if other.key == array.key or other.sync is None or other.sync.phase is not phase:
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


def _by_halt(array: Array, sync: Sync) -> HeldBack | None:
    """Return that a sync stands where md is to stop it: of a reshape, its job does not run."""
    halt = array.halts_at_kib
    if halt is None or sync.done_kib is None or sync.done_kib < halt or halt >= (sync.total_kib or halt + 1):
        return None
    if sync.action == "reshape":
        return HeldBack(brake=Brake.HALTED, words="stopped at sync_max: resume its job (raidtui jobs)")
    return HeldBack(brake=Brake.HALTED, words=f"stopped at sync_max: write max to {array.name}/md/sync_max")


def _by_limit(array: Array, track: SyncTrack) -> HeldBack | None:
    limit = array.speed_limit
    if limit is None or not limit.ceiling_kib_s or not track.now.binds:
        return None
    if limit.min_kib_s is not None and limit.max_kib_s is not None and limit.min_kib_s > limit.max_kib_s:
        return HeldBack(brake=Brake.MIN_LIMIT, words="min limit (above max: min wins)")
    return HeldBack(brake=Brake.MAX_LIMIT, words="max limit")


def _by_users(array: Array, track: SyncTrack, own: DeviceLoad | None) -> HeldBack | None:
    """Return that applications use the array, and that it is slower than without them, or at md's minimum."""
    speed = track.speed(_BLOCK_S)
    if own is None or own.requests_a_s < _USED_A_S or speed is None:
        return None
    low = array.speed_limit.min_kib_s if array.speed_limit else None
    if low and 0.7 * low <= speed <= 1.3 * low:
        return HeldBack(brake=Brake.OTHER_IO, words="other I/O: md yields down to min")
    alone = track.unused_kib_s
    if alone is None or speed >= _SLOWED * alone:
        return None
    words = f"other I/O: {own.requests_a_s:.0f} requests a second; without them it reached {rate_mb_s(alone)}"
    return HeldBack(brake=Brake.OTHER_IO, words=words)


def _by_members(array: Array, loads: Mapping[str, DeviceLoad]) -> HeldBack | None:
    """Return which members are saturated. An NVMe device that is always busy may still have room."""
    found = [(loads[each.name], each.name) for each in array.members if each.name in loads]
    if len(found) < 2 or any(name.startswith("nvme") for _, name in found):
        return None
    found.sort(key=lambda each: -each[0].busy)
    (first, name), (second, _) = found[:2]
    if first.busy < SATURATED:
        return None
    others = [load.wait_ms for load, _ in found[1:] if load.wait_ms is not None]
    slower = first.wait_ms is not None and first.wait_ms >= MINUTES.slower * max(others, default=0.0)
    if first.busy >= MINUTES.busier * second.busy and slower:
        words = f"slow member {name} ({first.busy:.0%} busy, {first.wait_ms:.0f} ms a request)"
        return HeldBack(brake=Brake.SLOW_MEMBER, words=words)
    if all(load.busy >= SATURATED for load, _ in found) and first.busy <= MINUTES.busier * found[-1][0].busy:
        words = joined([f"{each} {load.busy:.0%} busy" for load, each in found])
        return HeldBack(brake=Brake.MEMBERS, words=f"the disks are the limit: {words}")
    return None
