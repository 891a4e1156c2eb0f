"""What stands on what, read again and again: files in the caller's thread, tools in threads of their own.

A tool that opens a suspended device hangs and cannot be killed: it is given up, what it would have said is
not known, and everything else continues. Nothing of this is in the watching path: it runs while it is asked
for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct, field

from raidtui.host.diskstats import read_io
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.smart_names import has_smart
from raidtui.host.stack.device_mapper import STATUS, TABLE, MapLine, parse_maps
from raidtui.host.stack.lvm_report import LVS, LvmVolume, parse_volumes
from raidtui.host.stack.stack_nodes import MapFacts, read_nodes
from raidtui.host.thread_pool import ThreadPool
from raidtui.host.tools import ToolOutput
from raidtui.model.array import Array
from raidtui.model.stack import Stack
from raidtui.monitor.stack.cache_wear import cache_disks
from raidtui.monitor.stack.load import StackMeter
from raidtui.monitor.stack.stack_findings import StackFinding, stack_findings

TOOL_S = 10.0
"""A tool that takes longer is given up."""
STATUS_EVERY_S, VOLUMES_EVERY_S, LIVES_EVERY_S = 4.0, 60.0, 600.0
_TABLE, _STATUS, _VOLUMES, _ROOMS = "dmsetup table", "dmsetup status", "lvs", "file systems"
_LIVES = "smartctl"
T = TypeVar("T")


class StackLook(Struct, frozen=True, kw_only=True):
    """What is known at one moment.

    Args:
        meter: the readings.
        findings: the worst first.
        lives: of disks on which caches lie, how much may be written to them over their lives, in bytes.
        arrays: md's arrays by kernel name.
    """

    meter: StackMeter
    findings: tuple[StackFinding, ...] = ()
    lives: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)


class StackReader:
    """Reads a host's layers; one thread at a time may call it.

    Args:
        reader: the host.
        clock: seconds; None for a clock that only counts on, of a live host, and for the host's time else.
        limit_s: how long a tool is waited for.
        only_maps: whether to ask for maps alone: not for volumes, rooms of file systems and SMART.
    """

    def __init__(
        self,
        reader: HostReader,
        clock: Callable[[], float] | None = None,
        limit_s: float = TOOL_S,
        *,
        only_maps: bool = False,
    ) -> None:
        apart = reader.thread_safe_copy()
        self._reader = apart or reader
        self._clock = clock or (time.monotonic if reader.live else reader.now_s)
        self._limit_s = limit_s
        self._only_maps = only_maps
        self._threads = apart is not None
        self._crew = ThreadPool(threads=self._threads, limit_s=limit_s)
        self._asked_s: dict[str, float] = {}
        self._tables: Mapping[str, list[MapLine]] | None = None
        self._statuses: Mapping[str, list[MapLine]] | None = None
        self._volumes: Mapping[str, LvmVolume] | None = None
        self._rooms: Mapping[str, tuple[int, int]] = {}
        self._cache_disks: tuple[str, ...] = ()
        self._lives: Mapping[str, int] = {}
        self._silent: dict[str, str] = {}
        self._turn = 0
        self._maps: frozenset[str] = frozenset()
        self._mounts: tuple[str, ...] = ()
        self.meter = StackMeter()

    def look(self, arrays: Mapping[str, Array], *, wait: bool = False) -> StackLook:
        """Read all layers once more.

        Args:
            arrays: md's arrays by kernel name.
            wait: whether to ask for the state of maps in any case, and to wait for the tools, as far as they
                answer in time.
        """
        if wait:  # an answer that is on its way may be from before what has just been changed
            self._crew.wait(lambda: not self._crew.open)
            self._turn += 1
        self._ask(fresh=wait)
        if wait or not self._threads:
            self._crew.wait(lambda: not self._crew.open)
        stack = self._stack()
        rooms = wait and not self._only_maps
        if rooms and self._mounts_of(stack) != self._mounts:  # sizes of what is mounted: now it is known
            self._mounts = self._mounts_of(stack)
            self._put(_ROOMS, 0.0, self._read_rooms)
            self._crew.wait(lambda: not self._crew.open)
            stack = self._stack()
        self._mounts = self._mounts_of(stack)
        self._cache_disks = tuple(name for name in cache_disks(stack) if has_smart(name))
        self.meter.add(stack)
        findings = stack_findings(self.meter, arrays)
        return StackLook(meter=self.meter, findings=findings, lives=self._lives, arrays=arrays)

    def _stack(self) -> Stack:
        late = self._crew.late  # what was said before is no answer to what was asked since
        facts = MapFacts(
            tables=self._tables,
            statuses=None if _STATUS in late else self._statuses,
            volumes=self._volumes,
            rooms=self._rooms,
        )
        nodes = read_nodes(self._reader, facts)
        counters = read_io(self._reader, nodes.keys())
        return Stack(nodes=nodes, counters=counters, clock_s=self._clock(), unknown=self._unknown())

    @staticmethod
    def _mounts_of(stack: Stack) -> tuple[str, ...]:
        """Return where file systems are mounted that do not stand on what is suspended: statvfs may hang."""
        found = []
        for node in stack.nodes.values():
            below = (stack.nodes[each] for each in stack.below(node.name))
            if node.file_system.mounts and not node.suspended and not any(each.suspended for each in below):
                found.append(node.file_system.mounts[0])
        return tuple(found)

    def _ask(self, *, fresh: bool) -> None:
        """Ask the tools again whose answers are old."""
        names = self._reader.names("/sys/class/block")
        maps = frozenset(name for name in names if name.startswith("dm-"))
        if maps:
            changed = maps != self._maps
            self._maps = maps
            self._put(_TABLE, 0.0 if changed else VOLUMES_EVERY_S, self._read_tables)
            every_s = 0.0 if changed or fresh else STATUS_EVERY_S
            self._put(_STATUS, every_s, partial(self._read_statuses, self._turn))
            if not self._only_maps and any(
                (self._reader.text(f"/sys/class/block/{name}/dm/uuid") or "").startswith("LVM-")
                for name in maps
            ):
                self._put(_VOLUMES, VOLUMES_EVERY_S, self._read_volumes)
        if self._only_maps:
            return
        if self._cache_disks:
            self._put(_LIVES, LIVES_EVERY_S, self._read_lives)
        if self._mounts:
            self._put(_ROOMS, VOLUMES_EVERY_S, self._read_rooms)

    def _put(self, key: str, every_s: float, work: Callable[[], None]) -> None:
        """Put work into the crew, unless its last answer is fresh, or it has not come back yet."""
        now_s = self._clock()
        asked_s = self._asked_s.get(key)
        if key in self._crew.late or key in self._crew.open:
            return
        if asked_s is None or now_s - asked_s >= every_s:
            self._asked_s[key] = now_s
            self._crew.put(key, work)

    def _unknown(self) -> tuple[str, ...]:
        late = {
            key: f"{key} has not answered within {self._limit_s:.3g} s"
            for key in self._crew.late
            if isinstance(key, str)
        }
        return tuple(f"{words}: its answer is not known" for words in {**self._silent, **late}.values())

    # -- by the crew

    def _run(self, key: str, argv: tuple[str, ...]) -> ToolOutput | None:
        output = self._reader.ask(*argv, timeout_s=self._limit_s)
        if output.status == 0:
            self._silent.pop(key, None)
            return output
        first = next(iter(output.stderr.strip().split("\n")), "")
        self._silent[key] = (
            output.why_not or f"{key} failed with status {output.status} ({first or 'no message'})"
        )
        return None

    def _read_tables(self) -> None:
        output = self._run(_TABLE, TABLE)
        self._tables = parse_maps(output.stdout) if output is not None else None

    def _read_statuses(self, turn: int) -> None:
        """Keep the states of maps, unless they were asked for before a change that is to be seen."""
        output = self._run(_STATUS, STATUS)
        self._statuses = parse_maps(output.stdout) if output is not None and turn == self._turn else None

    def _read_volumes(self) -> None:
        output = self._run(_VOLUMES, LVS)
        self._volumes = parse_volumes(output.stdout) if output is not None else None

    def _read_lives(self) -> None:
        """Ask SMART; a disk that sleeps is not woken."""
        from raidtui.monitor.wear.readings import WearReader  # noqa: PLC0415
        from raidtui.monitor.wear.survey_wear import life_bytes  # noqa: PLC0415

        found = WearReader(self._reader, timeout_s=self._limit_s).read(self._cache_disks)
        lives = {name: life_bytes(wear) for name, wear in found.items()}
        self._lives = {name: life for name, life in lives.items() if life is not None}

    def _read_rooms(self) -> None:
        if not self._reader.live:
            return
        found = {}
        for where in self._mounts:
            try:
                seen = os.statvfs(where)
            except OSError:
                continue
            found[where] = (seen.f_blocks * seen.f_frsize, seen.f_bavail * seen.f_frsize)
        self._rooms = found
