"""Take samples: the state of the host as a Snapshot."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from msgspec.structs import replace

from raidtui.host.block import BLOCK, DiskReader
from raidtui.host.diskstats import read_io
from raidtui.host.md.array_attributes import read_limits
from raidtui.host.md.arrays import ArrayReader
from raidtui.host.md.mdstat import Mdstat, MdstatArray, parse_mdstat
from raidtui.host.md.mdstat_silent import silent_entries
from raidtui.host.mdstat_apart import MDSTAT
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import tool_path
from raidtui.host.udev import DATA as UDEV_DATA
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Stale
from raidtui.model.disk import DiskIo
from raidtui.model.snapshot import Host, Lack, Snapshot
from raidtui.monitor.absent_arrays import AbsentArrays

SYNCING_S = 1.0
IDLE_S = 5.0


class Sampler:
    """Takes snapshots of one host. Not thread-safe: one thread samples.

    Args:
        reader: the host.
        clock: monotonic seconds.
        absent: whether to look for arrays that should run and do not.
        patient: whether to wait for mdadm's answers about them, for a single report.
    """

    def __init__(
        self,
        reader: HostReader,
        *,
        clock: Callable[[], float] = time.monotonic,
        absent: bool = False,
        patient: bool = False,
    ) -> None:
        self._reader = reader
        self._clock = clock
        may_ask = not reader.live or os.geteuid() == 0
        self._arrays = ArrayReader(reader, use_mdadm=may_ask)
        self._disks = DiskReader(reader)
        self._absent = AbsentArrays(reader, may_ask=may_ask, patient=patient) if absent else None
        self._host = Host(
            name=reader.hostname,
            kernel=reader.kernel,
            is_root=reader.writable and not reader.readonly,
            source=reader.source,
            readonly=reader.readonly,
        )
        self._tools = _tool_lacks(reader)
        self._last: Snapshot | None = None
        self._text = ""
        self._mdstat: Mdstat | None = None
        self._stuck: dict[str, DiskIo] = {}

    def forget(self, name: str | None = None) -> None:
        """Read a device, or everything, again next time, after an event."""
        self._arrays.forget(name)
        self._disks.forget(name)
        if self._absent is not None:
            self._absent.forget(name)

    def look_for_members(self) -> None:
        """Look at the next sample whether all members are there: one may have left without an event."""
        self._arrays.look_for_members()

    @property
    def unsettled(self) -> bool:
        """Whether the next sample may differ without any event."""
        return self._absent is not None and self._absent.unsettled

    def sample(self) -> Snapshot:
        """Read the host. It never raises: unreadable parts are in ``lacks`` or ``stale``."""
        taken_s, clock_s = self._reader.now_s(), 0.0 if self._reader.still else self._clock()
        try:
            text = self._reader.read(MDSTAT, keep=True).decode("utf-8", "replace")
        except FileNotFoundError:
            return self._remember(self._with_absent(self._without_md(taken_s, clock_s)))
        except TimeoutError as error:
            return self._remember(self._with_absent(self._by_sysfs(taken_s, clock_s, str(error.strerror))))
        except OSError as error:
            return self._remember(self._unreadable(taken_s, clock_s, error.strerror or str(error)))
        return self._remember(self._with_absent(self._whole(taken_s, clock_s, self._parse(text))))

    def _with_absent(self, snapshot: Snapshot) -> Snapshot:
        if self._absent is None:
            return snapshot
        found = self._absent.read(snapshot.arrays, snapshot.taken_s, snapshot.clock_s)
        trials, stale = self._absent.trials, self._absent.stale_lines
        if not (found or trials or stale):
            return snapshot
        return replace(snapshot, absent=found, trials=trials, stale_lines=stale)

    def _parse(self, text: str) -> Mdstat:
        """Parse mdstat, unless it has not changed.

        The kernel prints a long mdstat in pieces, and an array may be skipped between two pieces while others
        start and stop. If one is missing but still in sysfs, mdstat is read once more.
        """
        if text == self._text and self._mdstat is not None:
            return self._mdstat
        mdstat = parse_mdstat(text, self._mdstat)
        named = {entry.name for entry in (*mdstat.arrays, *mdstat.unread)}
        gone = [] if self._mdstat is None else [e.name for e in self._mdstat.arrays if e.name not in named]
        if any(self._reader.text(f"{BLOCK}/{name}/md/array_state") not in {None, "clear"} for name in gone):
            again = self._reader.text(MDSTAT, keep=True)
            if again is not None:
                text = again + "\n"
                mdstat = parse_mdstat(text)
        self._text, self._mdstat = text, mdstat
        return mdstat

    def _remember(self, snapshot: Snapshot) -> Snapshot:
        if snapshot.stale is None:
            self._last = snapshot
        return snapshot

    def _whole(self, taken_s: float, clock_s: float, mdstat: Mdstat) -> Snapshot:
        read = tuple(self._arrays.read(entry) for entry in mdstat.arrays)
        self._arrays.keep_only({entry.name for entry in (*mdstat.arrays, *mdstat.unread)})
        kept = tuple(self._keep_unread(entry, taken_s) for entry in mdstat.unread)
        problems = [
            Lack(part=MDSTAT, reason=problem, remedy="please report it: raidtui capture FILE")
            for problem in mdstat.problems
        ]
        problems += [_foreign_lack(entry) for entry in mdstat.arrays if entry.foreign]
        arrays = _mark_twins(read + kept)
        names = {array.name for array in arrays} | {m.name for array in arrays for m in array.members}
        disks = self._disks.read(names)
        return Snapshot(
            taken_s=taken_s,
            clock_s=clock_s,
            host=self._host,
            md_loaded=True,
            readable=True,
            arrays=arrays,
            disks=disks,
            limits=read_limits(self._reader),
            lacks=(*problems, *_sysfs_lack(read), *self._tools),
            io=self._io(arrays),
        )

    def _by_sysfs(self, taken_s: float, clock_s: float, reason: str) -> Snapshot:
        """Return what sysfs says while mdstat does not answer."""
        found = self._whole(taken_s, clock_s, silent_entries(self._reader, self._mdstat))
        names = {member.name for array in found.arrays for member in array.members}
        before, self._stuck = self._stuck, read_io(self._reader, names)
        stuck = [
            name
            for name, io in self._stuck.items()
            if io.in_flight and name in before and io.requests == before[name].requests
        ]
        if stuck:
            reason += f"; {', '.join(sorted(stuck))}: requests are in flight, and none completes"
        lack = Lack(
            part=MDSTAT,
            reason=f"{reason}. What is shown comes from sysfs, without the progress of syncs",
            remedy="find the member that does not answer: iostat -x 1; dmesg -T",
        )
        return replace(found, lacks=(lack, *found.lacks))

    def _io(self, arrays: tuple[Array, ...]) -> dict[str, DiskIo]:
        """Read the counters of arrays and members while a sync runs; otherwise they are not used."""
        syncing = [each for each in arrays if each.sync is not None and each.sync.phase is Phase.RUNNING]
        names = {name for array in syncing for name in (array.name, *(each.name for each in array.members))}
        return read_io(self._reader, names, keep=True) if names else {}

    def _keep_unread(self, entry: MdstatArray, taken_s: float) -> Array:
        """Return an array whose lines are not understood: its last value, marked stale.

        If they have never been understood, it has its name and the values of sysfs and udev.
        """
        before = next((a for a in self._last.arrays if a.name == entry.name), None) if self._last else None
        if before is not None and before.understood and self._last is not None:
            since_s = before.stale.since_s if before.stale else self._last.taken_s
            return replace(before, stale=Stale(since_s=since_s, reason=entry.trouble))
        since_s = before.stale.since_s if before is not None and before.stale is not None else taken_s
        return replace(self._arrays.read(entry), stale=Stale(since_s=since_s, reason=entry.trouble))

    def _without_md(self, taken_s: float, clock_s: float) -> Snapshot:
        self._arrays.forget()
        lack = Lack(
            part=MDSTAT,
            reason="not there: the kernel has no md loaded",
            remedy="load it with modprobe md_mod; mdadm loads it itself",
        )
        return Snapshot(
            taken_s=taken_s,
            clock_s=clock_s,
            host=self._host,
            md_loaded=False,
            readable=True,
            arrays=(),
            lacks=(lack, *self._tools),
        )

    def _unreadable(self, taken_s: float, clock_s: float, reason: str) -> Snapshot:
        lack = Lack(part=MDSTAT, reason=f"cannot be read: {reason}")
        if self._last is not None:
            since_s = self._last.stale.since_s if self._last.stale else self._last.taken_s
            stale = Stale(since_s=since_s, reason=f"{MDSTAT}: {reason}")
            return replace(self._last, taken_s=taken_s, clock_s=clock_s, readable=False, stale=stale)
        return Snapshot(
            taken_s=taken_s,
            clock_s=clock_s,
            host=self._host,
            md_loaded=True,
            readable=False,
            arrays=(),
            lacks=(lack, *self._tools),
        )


def _foreign_lack(entry: MdstatArray) -> Lack:
    """Return what is not known of an array whose slots have letters that Linux does not print."""
    counted = f"[{entry.raid_disks}/{entry.working}]"
    reason = f"[{entry.foreign}] has letters of another kernel (Synology's E: a member with read errors)"
    lost = "" if entry.up else ", not which slots"
    return Lack(part=entry.name, reason=f"{reason}; {counted} says how many members serve{lost}")


def _mark_twins(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Mark arrays with the same UUID, such as halves of a mirror assembled apart: their keys must differ."""
    uuids = [array.uuid for array in arrays if array.uuid is not None]
    if len(uuids) == len(set(uuids)):
        return tuple(replace(array, twin=False) if array.twin else array for array in arrays)
    doubled = {uuid for uuid in uuids if uuids.count(uuid) > 1}
    return tuple(
        array if array.twin == (array.uuid in doubled) else replace(array, twin=not array.twin)
        for array in arrays
    )


def _sysfs_lack(arrays: tuple[Array, ...]) -> tuple[Lack, ...]:
    if not arrays or any(array.array_state is not None for array in arrays):
        return ()
    return (
        Lack(
            part="/sys/class/block/md*/md",
            reason="not there: slots, limits, counters and UUIDs are unknown",
        ),
    )


def _tool_lacks(reader: HostReader) -> tuple[Lack, ...]:
    lacks: list[Lack] = []
    if reader.live and os.geteuid() != 0:
        lacks.append(Lack(part="changes", reason="need root", remedy="run it as: sudo raidtui"))
    if reader.live and tool_path("mdadm") is None:
        lacks.append(Lack(part="mdadm", reason="not installed", remedy="install the package mdadm"))
    if not reader.names(UDEV_DATA):
        lacks.append(Lack(part="udev", reason="no database: serial numbers and labels may be missing"))
    return tuple(lacks)


def interval_s(snapshot: Snapshot) -> float:
    """Return the seconds until the next sample without an event: a timer only follows progress."""
    return SYNCING_S if snapshot.syncing else IDLE_S
