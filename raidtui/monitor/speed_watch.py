"""Watches how fast the members of arrays are against each other, and keeps a record of it.

It reads /proc/diskstats once a minute, for all arrays, and writes a small file for each of them once an hour.
What is judged is in ``raidtui.model.member_speed``, what is kept in ``raidtui.model.speed_record``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import BLOCK, kind_of
from raidtui.host.diskstats import read_io
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.speed_book import SpeedBook
from raidtui.model.array import Array
from raidtui.model.disk import Disk
from raidtui.model.member_speed import (
    MINUTES,
    Compared,
    SlowMember,
    compare_both,
    is_slow_no_more,
    peers,
    slow_member,
)
from raidtui.model.snapshot import Snapshot
from raidtui.model.speed_record import (
    DAY_S,
    MARK_S,
    Readings,
    SpeedMark,
    SpeedRecord,
    done_between,
    has_changed,
    marked,
    slow_by_weeks,
)

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_MINUTE_S = 60.0
_LONGEST_S = 5 * _MINUTE_S
"""Two readings that are further apart are no minute: the machine slept, or the kernel did not answer."""
_EARLY_S = 300.0
"""A timer that runs each hour is not always on time."""
_HOUR_S = 3600.0
_KEEP = 4 * MINUTES.stretches


class _Peers(Struct, frozen=True, kw_only=True):
    """Members that may be compared.

    Args:
        names: kernel names by what the members are known by: a disk's identity, or a name in this boot.
        disks: their whole disks.
        rotates: whether these do.
        odd: those whose model none of the others has.
    """

    names: Mapping[str, str]
    disks: Mapping[str, str]
    rotates: bool
    odd: frozenset[str]


class _Followed:
    """One array."""

    def __init__(self, record: SpeedRecord) -> None:
        self.record = record
        self.seen: tuple[Array, Mapping[str, Disk]] | None = None
        self.peers: _Peers | None = None
        self.read_s = 0.0
        self.before: Readings = {}
        self.compared: deque[tuple[float, Compared]] = deque(maxlen=_KEEP)
        self.by_weeks: SlowMember | None = None


class SpeedWatch:
    """The members of one host's arrays.

    Args:
        reader: the host; only the thread that samples may use it.
        book: where records are kept.
        keeps: whether this watcher reads counters and adds to the records; else it says what they hold.
    """

    def __init__(self, reader: HostReader, book: SpeedBook, *, keeps: bool) -> None:
        self._reader = reader
        self._book = book
        self._keeps = keeps
        self._boot = (reader.text(_BOOT_ID) or "").strip()
        self._followed: dict[str, _Followed] = {}
        self._connections: dict[str, tuple[Disk, str]] = {}
        self._looked_s: float | None = None
        self._slow: dict[str, SlowMember] = {}

    def see(self, snapshot: Snapshot) -> Mapping[str, SlowMember]:
        """Take a snapshot; return the members that are slower than their siblings, by the keys of arrays."""
        if snapshot.stale is not None or not snapshot.readable:
            return {}
        changed = [array for array in snapshot.arrays if self._prepare(array, snapshot)]
        for key in self._followed.keys() - {array.key for array in snapshot.arrays}:
            del self._followed[key]
        due = self._looked_s is None or snapshot.clock_s - self._looked_s >= _MINUTE_S
        if due:
            self._looked_s = snapshot.clock_s
            self._look(snapshot)
        if due or changed or len(self._slow) > len(self._followed):
            said = {key: self._said(each, snapshot.taken_s) for key, each in self._followed.items()}
            self._slow = {key: slow for key, slow in said.items() if slow is not None}
        return self._slow

    def _prepare(self, array: Array, snapshot: Snapshot) -> bool:
        """Note which members may be compared now; return whether that has changed.

        What is compared begins anew then.
        """
        followed = self._followed.get(array.key)
        if followed is None:
            record = self._book.read(array.key) or SpeedRecord(uuid=array.key)
            followed = self._followed[array.key] = _Followed(record)
        seen = followed.seen
        if seen is not None and seen[0] is array and seen[1] is snapshot.disks:
            return False
        found = self._peers(array, snapshot.disks)
        followed.seen = array, snapshot.disks
        if seen is not None and found == followed.peers:
            return False
        followed.peers, followed.before = found, {}
        followed.compared.clear()
        followed.by_weeks = slow_by_weeks(followed.record, snapshot.taken_s)
        if found is None and self._keeps and followed.record.mark is not None:
            self._update(followed, lambda record: replace(record, mark=None))
        return True

    def _peers(self, array: Array, disks: Mapping[str, Disk]) -> _Peers | None:
        """Return the members that may be compared; None where the medium of one is another, or not known."""
        members = peers(array)
        known = [disks[each.name] for each in members if each.name in disks]
        media = {(disk.rotational, self._connection(disk)) for disk in known}
        rotates = known[0].rotational if known else None
        if len(known) != len(members) or len(media) != 1 or rotates is None:
            return None
        keys = [disk.identity or f"{disk.name} {self._boot}" for disk in known]
        models = [disk.model for disk in known]
        if len(set(keys)) != len(keys):
            return None  # two members on one disk, or disks that cannot be told apart
        return _Peers(
            names=dict(zip(keys, (disk.name for disk in known), strict=True)),
            disks=dict(zip(keys, (disk.disk for disk in known), strict=True)),
            rotates=rotates,
            odd=frozenset(key for key, model in zip(keys, models, strict=True) if models.count(model) == 1)
            if None not in models
            else frozenset(),
        )

    def _connection(self, disk: Disk) -> str:
        known = self._connections.get(disk.name)
        if known is None or known[0] is not disk:
            known = self._connections[disk.name] = (disk, self._connected(disk.disk))
        return known[1]

    def _connected(self, name: str) -> str:
        """Return how a disk is connected, with the kind of its driver; of a map, how what is below it is."""
        below = {self._connected(each) for each in self._reader.names(f"{BLOCK}/{name}/slaves")}
        kind = kind_of(name, self._reader.link(f"{BLOCK}/{name}") or "")
        return f"{name[:2]} {kind} {sorted(below)}"

    def _look(self, snapshot: Snapshot) -> None:
        """Read the counters, and compare."""
        fit = [
            (array, self._followed[array.key], found)
            for array in snapshot.arrays
            if (found := self._followed[array.key].peers) is not None
        ]
        wanted = {name for _, _, found in fit for name in (*found.names.values(), *found.disks.values())}
        if not self._keeps or not wanted:
            return
        io = read_io(self._reader, wanted, keep=True)
        for array, followed, found in fit:
            if all(name in io for name in (*found.names.values(), *found.disks.values())):
                now = {key: (io[name], io[found.disks[key]]) for key, name in found.names.items()}
                self._compare(array, followed, found, now, snapshot.clock_s)
                self._keep(array, followed, found, now, snapshot.taken_s)

    def _compare(
        self, array: Array, followed: _Followed, found: _Peers, now: Readings, clock_s: float
    ) -> None:
        before, took_s = followed.before, clock_s - followed.read_s
        followed.before, followed.read_s = now, clock_s
        done = done_between(before, now) if before and took_s <= _LONGEST_S else None
        if done is not None:
            compared = compare_both(done, MINUTES, level=array.level or "", rotates=found.rotates)
            followed.compared.extend((clock_s, each) for each in compared)
        while followed.compared and followed.compared[0][0] < clock_s - _HOUR_S:
            followed.compared.popleft()

    def _keep(self, array: Array, followed: _Followed, found: _Peers, now: Readings, at_s: float) -> None:
        """Note what the last minutes show, and once an hour what was done."""
        minutes, former = [each for _, each in followed.compared], followed.record.slow
        slow = slow_member(minutes, MINUTES, at_s)
        if slow is None and former is not None:
            over = is_slow_no_more(former, minutes) or at_s - former.at_s > DAY_S
            slow = None if over else former
        last = followed.record.mark
        if last is None or last.boot != self._boot or not 0 <= at_s - last.at_s < MARK_S - _EARLY_S:
            mark, level = SpeedMark(at_s=at_s, boot=self._boot, io=now), array.level or ""
            add = partial(marked, now=mark, level=level, rotates=found.rotates)
            self._update(followed, lambda record: replace(add(record), slow=slow))
            followed.by_weeks = slow_by_weeks(followed.record, at_s)
        elif (slow is None) != (former is None):
            self._update(followed, lambda record: replace(record, slow=slow))
        else:
            followed.record = replace(followed.record, slow=slow)

    def _update(self, followed: _Followed, change: Callable[[SpeedRecord], SpeedRecord]) -> None:
        """Change the record, or what another watcher has made of it meanwhile, and keep it."""
        key = followed.record.uuid
        with self._book.turn():
            others = self._book.read(key) if self._book.changed(key) else None
            followed.record = change(others or followed.record)
            self._book.write(followed.record)

    def _said(self, followed: _Followed, at_s: float) -> SlowMember | None:
        """Return what is said of an array now: by the last minutes, else by the last weeks."""
        found, slow = followed.peers, followed.record.slow
        if found is None:
            return None
        if slow is None or at_s - slow.at_s > DAY_S or slow.member not in found.names:
            slow = followed.by_weeks
        if slow is None or slow.member not in found.names:
            return None
        odd = slow.member in found.odd
        if slow.hourly and odd and not has_changed(slow):
            return None  # disks of its model are slower, and always were
        return replace(slow, member=found.names[slow.member], other_model=odd)
