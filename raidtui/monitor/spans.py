"""Syncs from start to end, with the kernel's write counters of the members at the start. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.snapshot import Snapshot
from raidtui.view.units import SECTOR_BYTES


class Begun(Struct, frozen=True, kw_only=True):
    """The start of a sync.

    Args:
        array: the array at the start.
        action: resync, recover, check, repair, reshape.
        at_s: epoch seconds.
        disks: the whole disk of each member.
        written_bytes: the kernel's write counter of each member, where there is one.
        seen: whether its start was seen; if not, it was already running.
    """

    array: Array
    action: str
    at_s: float
    disks: Mapping[str, str]
    written_bytes: Mapping[str, int]
    seen: bool


class Ended(Struct, frozen=True, kw_only=True):
    """A sync that no longer runs, completed or interrupted.

    Args:
        begun: its start.
        array: the array now.
    """

    begun: Begun
    array: Array


class SyncSpans:
    """Follows the syncs of a host. A sync that is paused or delayed has not ended."""

    def __init__(self) -> None:
        self._running: dict[str, Begun] = {}
        self._first = True

    def see(self, snapshot: Snapshot) -> tuple[Begun | Ended, ...]:
        """Return the syncs that have started and ended since the last snapshot."""
        if not self._running and not snapshot.syncing:
            self._first = False
            return ()
        changes = tuple(self._changes(snapshot))
        self._first = False
        return changes

    def _changes(self, snapshot: Snapshot) -> Iterator[Begun | Ended]:
        arrays = {array.key: array for array in snapshot.arrays}
        for key, begun in tuple(self._running.items()):
            array = arrays.get(key)
            if array is None:
                del self._running[key]  # stopped: its disks may be used for something else now
            elif array.sync is None or array.sync.action != begun.action:
                del self._running[key]
                yield Ended(begun=begun, array=array)
        for key, array in arrays.items():
            if key not in self._running and array.sync is not None and array.sync.phase is Phase.RUNNING:
                begun = _begun(snapshot, array, array.sync.action, seen=not self._first)
                self._running[key] = begun
                yield begun


def _begun(snapshot: Snapshot, array: Array, action: str, *, seen: bool) -> Begun:
    names = [member.name for member in array.members]
    disks = {name: disk.disk for name in names if (disk := snapshot.disks.get(name)) is not None}
    written = {
        name: io.written_sectors * SECTOR_BYTES for name in names if (io := snapshot.io.get(name)) is not None
    }
    return Begun(
        array=array, action=action, at_s=snapshot.taken_s, disks=disks, written_bytes=written, seen=seen
    )
