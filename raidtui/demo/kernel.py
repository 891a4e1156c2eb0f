"""The simulated kernel: md's sync thread and its bookkeeping, advanced by its caller.

Deterministic: the same seed, writes and times give the same files. Source: drivers/md/md.c of 6.12
(md_do_sync, md_check_recovery, md_choose_sync_action).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from raidtui.demo.disks import SimCounters, SimDisk, SimPartition, SimSelfTest
from raidtui.demo.rates import account_load, account_sync, natural_kib_s, running, speed_kib_s
from raidtui.demo.sim_array import SimArray, SimSync, activate_spares, end_reshape, place_spares
from raidtui.host.readers.host_reader import KernelEvent, Listener

_MISMATCH_AT = 0.4


class SimMount(Struct, frozen=True, kw_only=True):
    """A mounted file system.

    Args:
        device: the kernel's name of what it is on.
        source: as mount prints it, without /dev.
        dev: major and minor number.
    """

    device: str
    source: str
    dev: tuple[int, int]
    where: str
    kind: str


class SimKernel:
    """Disks, arrays and time.

    Args:
        disks: the disks that are plugged in.
        arrays: newest first, as in /proc/mdstat.
        seed: the seed of the noise.
        low_kib_s, high_kib_s: the system's speed limits.

    Attributes:
        stopped: arrays that do not run, and whose members still have their superblocks.
        texts: configuration files that have been written, by path.
        failing: serial numbers of disks whose SMART says that they fail.
    """

    def __init__(
        self,
        *,
        disks: Iterable[SimDisk],
        arrays: Iterable[SimArray],
        seed: int,
        low_kib_s: int = 1000,
        high_kib_s: int = 200000,
    ) -> None:
        self.disks: dict[str, SimDisk] = {}
        self.counters: dict[str, SimCounters] = {}
        self.sequences: dict[str, int] = {}
        self.arrays: list[SimArray] = []
        self.stopped: list[SimArray] = []
        self.mounts: list[SimMount] = []
        self.texts: dict[str, str] = {}
        self.failing: set[str] = set()
        self.low_kib_s = low_kib_s
        self.high_kib_s = high_kib_s
        self.knobs: dict[str, str] = {}
        self.self_tests: dict[str, list[SimSelfTest]] = {}
        self.now_s = 0.0
        self.generation = 0
        self._seed = seed
        self._listeners: list[Listener] = []
        for disk in disks:
            self.plug(disk)
        for array in arrays:
            self.start(array)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` at each event; return a function that ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def emit(self, device: str, what: str, *, source: str = "poll") -> None:
        """Notify the listeners of a change."""
        self.generation += 1
        for listener in tuple(self._listeners):
            listener(KernelEvent(source=source, device=device, what=what))

    def array(self, name: str) -> SimArray | None:
        """Return the array with this kernel name or label."""
        return next((array for array in self.arrays if name in {array.name, array.label}), None)

    def start(self, array: SimArray, *, newest: bool = False) -> None:
        """Assemble and start an array.

        Args:
            array: the array.
            newest: whether /proc/mdstat lists it first, as md does; else last, as at the start of the story.
        """
        self.arrays.insert(0 if newest else len(self.arrays), array)
        self.counters[array.name] = SimCounters()
        self.settle(array)

    def stop(self, array: SimArray) -> None:
        """Stop an array. Its sync continues from the same place when it is assembled again."""
        self.interrupt(array)
        self.arrays.remove(array)
        self.stopped.append(array)
        del self.counters[array.name]
        self.emit(array.name, "remove", source="uevent")
        self.wake()

    def plug(self, disk: SimDisk) -> None:
        """Add a disk."""
        if disk.name in self.disks:
            return
        self.disks[disk.name] = disk
        if disk.fresh:
            for name in (disk.name, *(disk.partition_name(each.number) for each in disk.partitions)):
                self.counters[name] = SimCounters()
        self.sequences[disk.name] = 1 + max(self.sequences.values(), default=0)
        for name in (disk.name, *(disk.partition_name(each.number) for each in disk.partitions)):
            self.counters.setdefault(name, SimCounters())
        self.emit(disk.name, "add", source="uevent")

    def part(self, name: str, *parts: SimPartition) -> None:
        """Give a disk these partitions in place of those that it has; nothing for another name."""
        disk = self.disks.get(name)
        if disk is None or disk.partitions == parts:
            return
        self.disks[name] = replace(disk, partitions=parts)
        for each in parts:
            self.counters[disk.partition_name(each.number)] = SimCounters()
        self.emit(name, "change", source="uevent")

    def unplug(self, name: str) -> None:
        """Remove a disk, unless an array uses it. What was on it leaves with it."""
        used = {member.disk for array in (*self.arrays, *self.stopped) for member in array.members}
        if name in self.disks and name not in used:
            for array in (*self.arrays, *self.stopped):
                array.left = {device: each for device, each in array.left.items() if each.disk != name}
            del self.disks[name]
            self.emit(name, "remove", source="uevent")

    def limits(self, array: SimArray) -> tuple[int, int]:
        """Return the (min, max) limit in force, KiB/s."""
        low = self.low_kib_s if array.low_kib_s is None else array.low_kib_s
        high = self.high_kib_s if array.high_kib_s is None else array.high_kib_s
        return low, high

    def speed_kib_s(self, array: SimArray) -> float:
        """Return the speed of an array's sync; 0 where none runs."""
        sync = array.sync
        if sync is None or sync.delayed or self._left(array) < 1:  # md counts whole sectors
            return 0.0
        natural = natural_kib_s(array, self.arrays, self.disks)
        return speed_kib_s(array, natural, self.limits(array), now_s=self.now_s, seed=self._seed)

    def next_end_s(self) -> float | None:
        """Return the seconds to the end of the next sync, at the current speeds; None without one."""
        ends = [
            (array.sync.total_sectors - array.sync.done_sectors) / 2 / speed
            for array in running(self.arrays)
            if array.sync is not None and (speed := self.speed_kib_s(array)) > 0
        ]
        return min(ends, default=None)

    def advance(self, seconds: float, *, tick_s: float = 1.0) -> None:
        """Advance the time; speeds are constant within a tick. Listeners are notified meanwhile."""
        target = self.now_s + max(0.0, seconds)
        while self.now_s < target:
            speeds = {array.name: self.speed_kib_s(array) for array in running(self.arrays)}
            stop = target
            if speeds:
                stop = min(stop, (math.floor(self.now_s / tick_s) + 1) * tick_s)
            for array in running(self.arrays):
                if speeds[array.name] > 0:
                    stop = min(stop, self.now_s + self._left(array) / 2 / speeds[array.name])
            self._step(stop, speeds)
        for array in self.arrays:
            self._watch_degraded(array)

    def _left(self, array: SimArray) -> float:
        """Return the sectors to the end, or to sync_max, where md waits."""
        if array.sync is None:
            return 0.0
        end = array.sync.total_sectors
        if array.sync_max is not None:
            end = min(end, array.sync_max)
        return end - array.sync.done_sectors

    def _step(self, stop: float, speeds: dict[str, float]) -> None:
        elapsed_s = stop - self.now_s
        busy_s: dict[str, float] = {}
        for array in self.arrays:
            account_load(
                array, self.now_s, elapsed_s, disks=self.disks, counters=self.counters, busy_s=busy_s
            )
        for array in running(self.arrays):
            moved_kib = speeds[array.name] * elapsed_s
            account_sync(array, moved_kib, disks=self.disks, counters=self.counters, busy_s=busy_s)
            if array.sync is not None:
                array.sync.move(stop, moved_kib * 2)
                self._find_mismatches(array)
        for name, spent_s in busy_s.items():
            self._busy(name, min(elapsed_s, spent_s) * 1000)
        self.now_s = stop
        for array in running(self.arrays):
            sync = array.sync
            if sync is not None and sync.total_sectors - sync.done_sectors < 1:
                self.finish(array)

    def _busy(self, disk: str, spent_ms: float) -> None:
        self.counters[disk].busy_ms += spent_ms
        for array in self.arrays:
            for member in array.members:
                if member.disk == disk and member.device != disk:
                    self.counters[member.device].busy_ms += spent_ms

    def _find_mismatches(self, array: SimArray) -> None:
        sync = array.sync
        if sync is None or sync.action not in {"check", "repair"} or array.mismatches:
            return
        if array.latent_mismatches and sync.done_sectors > _MISMATCH_AT * sync.total_sectors:
            array.mismatches = array.latent_mismatches
            self.generation += 1

    def _watch_degraded(self, array: SimArray) -> None:
        if not array.degraded:
            array.degraded_since_s = None
        elif array.degraded_since_s is None:
            array.degraded_since_s = self.now_s

    # -- decisions of md's threads

    def settle(self, array: SimArray) -> None:
        """Remove failed members from their slots and start pending work (md_check_recovery)."""
        if array.sync is not None or array.frozen or not array.redundant:
            return
        for member in array.members:
            if member.faulty and member.slot is not None:
                member.saved_slot, member.slot = member.slot, None
        if array.broken:
            return
        action = self._wanted(array)
        if action is not None:
            self._start(array, action)

    def _wanted(self, array: SimArray) -> str | None:
        if array.reshape is not None:
            return "reshape"
        if array.recovery_cp is not None:
            return "resync"
        place_spares(array)
        if any(member.is_target for member in array.members):
            return "recover"
        wanted, array.requested = array.requested, None
        return wanted

    def _start(self, array: SimArray, action: str) -> None:
        done = array.recovery_cp or 0
        if action == "reshape":
            done = array.reshape.done_sectors if array.reshape is not None else 0
        elif action == "recover":
            done = min(member.recovered_sectors for member in array.members if member.is_target)
            array.requested = None
        elif action != "resync":
            done, array.mismatches = array.sync_min, 0
        total = array.total_sectors(action)
        array.sync = SimSync(action=action, total_sectors=total, done_sectors=min(done, total))
        array.last_action = action
        if self._conflicts(array):
            array.sync.delayed = True
        else:
            array.sync.begin(self.now_s)
        self.emit(array.name, "sync_action")

    def _conflicts(self, array: SimArray) -> bool:
        own = {member.disk for member in array.members}
        others = [other for other in running(self.arrays) if other is not array]
        shared = any(own & {member.disk for member in other.members} for other in others)
        return shared and not array.parallel

    def wake(self) -> None:
        """Start DELAYED syncs whose disks are free now."""
        for array in self.arrays:
            if array.sync is not None and array.sync.delayed and not self._conflicts(array):
                array.sync.begin(self.now_s)
                self.emit(array.name, "sync_action")

    def finish(self, array: SimArray) -> None:
        """Complete a sync."""
        sync, array.sync = array.sync, None
        if sync is None:
            return
        if sync.action == "reshape":
            end_reshape(array)
            self.emit(array.name, "change", source="uevent")
        elif sync.action == "recover":
            activate_spares(array)
        elif sync.action == "resync":
            array.recovery_cp = None
        else:
            array.sync_min, array.sync_max = 0, None
            if sync.action == "repair":
                array.latent_mismatches = 0
        self._watch_degraded(array)
        self.emit(array.name, "sync_action")
        self.settle(array)
        self.wake()

    def interrupt(self, array: SimArray) -> None:
        """Interrupt a sync. It keeps its position; a check keeps it in sync_min."""
        sync, array.sync = array.sync, None
        array.requested = None
        if sync is None:
            return
        done = int(sync.done_sectors)
        if sync.action == "reshape" and array.reshape is not None:
            array.reshape.done_sectors = done
        elif sync.action == "resync":
            array.recovery_cp = done
        elif sync.action == "recover":
            for member in array.members:
                if member.is_target:
                    member.recovered_sectors = done
        elif not sync.delayed:
            array.sync_min = done // 8 * 8
        self.emit(array.name, "sync_action")
        self.wake()
