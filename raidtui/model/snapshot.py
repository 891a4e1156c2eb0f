"""All that the host said at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from raidtui.model.array import Array, Stale
from raidtui.model.disk import Disk, DiskIo


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """A part that could not be read: what, why, and what would help."""

    part: str
    reason: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f"{self.part}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine: name, kernel release, and whether this process may write."""

    name: str | None
    kernel: str | None
    is_root: bool
    source: str = ""
    """Empty for the live host, else what is looked at instead: "demo", "capture host.tar.gz"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLimits:
    """/proc/sys/dev/raid/speed_limit_min and _max, KiB/s."""

    min_kib_s: int | None = None
    max_kib_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is, at ``taken_s`` (epoch seconds; ``clock_s`` is monotonic). Times and counters do not compare.

    Args:
        md_loaded: whether /proc/mdstat is there.
        readable: whether it could be read; False makes every verdict "cannot tell".
        lacks: parts that could not be read.
    """

    taken_s: float = field(compare=False)
    clock_s: float = field(compare=False)
    host: Host
    md_loaded: bool
    readable: bool
    arrays: tuple[Array, ...]
    disks: Mapping[str, Disk] = field(default_factory=dict)
    limits: SystemLimits = SystemLimits()
    lacks: tuple[Lack, ...] = ()
    stale: Stale | None = None
    io: Mapping[str, DiskIo] = field(default_factory=dict, compare=False)

    def array(self, key: str | None) -> Array | None:
        """Return the array with this key (UUID, or name where it has none)."""
        return next((each for each in self.arrays if each.key == key), None)

    @property
    def syncing(self) -> bool:
        """Whether any array syncs now."""
        return any(array.sync is not None and array.sync.phase == "running" for array in self.arrays)
