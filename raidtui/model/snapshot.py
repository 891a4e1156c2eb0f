"""A snapshot: the state of the host at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct, field

from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.array_sync import Stale
from raidtui.model.disk import Disk, DiskIo
from raidtui.model.member_speed import SlowMember
from raidtui.model.sync_record import LastCheck
from raidtui.view.units import counted


class Lack(Struct, frozen=True, kw_only=True):
    """A part that could not be read: which, why, and what would help."""

    part: str
    reason: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Part, reason and remedy in one line."""
        return f"{self.part}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class Host(Struct, frozen=True, kw_only=True):
    """The machine: name, kernel release, and whether this process may write."""

    name: str | None
    kernel: str | None
    is_root: bool
    source: str = ""
    """Empty for the live host, else what is shown instead: "demo", "capture host.tar.gz"."""
    readonly: bool = False
    """Whether it was asked for that nothing is written; ``is_root`` is not set then."""


class SystemLimits(Struct, frozen=True, kw_only=True):
    """/proc/sys/dev/raid/speed_limit_min and _max, KiB/s."""

    min_kib_s: int | None = None
    max_kib_s: int | None = None


class TrialTrace(Struct, frozen=True, kw_only=True):
    """A rescue trial of which something is on the host.

    Args:
        ident: its letters.
        array: the kernel's name of the array that it makes, started or not; "" where that is not known.
    """

    ident: str
    array: str = ""


class StaleLine(Struct, frozen=True, kw_only=True):
    """A line of mdadm.conf that gives the name of an array that runs another UUID.

    Args:
        where: file and line, for people.
        doubled: whether another line has the right UUID.
    """

    where: str
    doubled: bool = False


class Snapshot(Struct, frozen=True, kw_only=True, dict=True):
    """The host at one moment.

    Args:
        taken_s: epoch seconds.
        clock_s: monotonic seconds.
        md_loaded: whether there is a /proc/mdstat.
        readable: whether it could be read; if not, the exit status of a report is 3.
        lacks: parts that could not be read.
        absent: arrays that should run and do not, where they were looked for.
        checks: what is known of the last check of arrays, by their keys, where a record was asked.
        origins: what is older than an array that is filled for the first time, a clause, by its key.
        trials: rescue trials of which something is there, where they were looked for.
        stale_lines: lines of mdadm.conf with another UUID for arrays that run, by their keys, where they were
            looked for.
        slow: members that are slower than their siblings, by the arrays' keys, where that was measured.
    """

    taken_s: float
    clock_s: float
    host: Host
    md_loaded: bool
    readable: bool
    arrays: tuple[Array, ...]
    disks: Mapping[str, Disk] = field(default_factory=dict)
    limits: SystemLimits = SystemLimits()
    lacks: tuple[Lack, ...] = ()
    stale: Stale | None = None
    io: Mapping[str, DiskIo] = field(default_factory=dict)
    absent: tuple[AbsentArray, ...] = ()
    trials: tuple[TrialTrace, ...] = ()
    stale_lines: Mapping[str, tuple[StaleLine, ...]] = field(default_factory=dict)
    checks: Mapping[str, LastCheck] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    slow: Mapping[str, SlowMember] = field(default_factory=dict)

    def is_trial(self, array: Array) -> bool:
        """Whether an array was made by a rescue trial: it, or the container that it is a volume of."""
        return any(each.array and each.array in {array.name, array.container} for each in self.trials)

    def container_words(self, container: Array) -> str:
        """Return a container in words: ``imsm on 2 disks, with the volumes vol, home``."""
        kind = (container.metadata or "").partition(":")[2]
        words = f"{kind} on {counted(len(container.members), 'disk')}"
        volumes = [array.title for array in self.arrays if array.container == container.name]
        if not volumes:
            return f"{words}; none of its volumes runs"
        return f"{words}, with the volume{'s' if len(volumes) > 1 else ''} {', '.join(volumes)}"

    def array(self, key: str | None) -> Array | None:
        """Return the array with this key (UUID, or name where it has none)."""
        return self._by_key.get(key)

    @cached_property
    def _by_key(self) -> Mapping[str | None, Array]:
        """The arrays by their keys; of two with one key the first."""
        return {each.key: each for each in reversed(self.arrays)}

    def absent_array(self, key: str | None) -> AbsentArray | None:
        """Return the array with this key that should run and does not."""
        return next((each for each in self.absent if each.key == key), None)

    @cached_property
    def syncing(self) -> bool:
        """Whether a sync runs on any array."""
        return any(array.sync is not None and array.sync.phase == "running" for array in self.arrays)
