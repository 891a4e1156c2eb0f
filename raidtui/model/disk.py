"""Block devices: what they are and what uses them."""

from __future__ import annotations

from msgspec import Struct

_IN_USE = frozenset({"mount", "swap", "holder"})


class Use(Struct, frozen=True, kw_only=True):
    """One use of a device: kind is mount, swap, holder, signature or partition."""

    kind: str
    what: str
    detail: str = ""

    @property
    def words(self) -> str:
        """The use as a phrase."""
        if self.kind == "mount":
            return f"{self.detail or 'file system'} mounted at {self.what}"
        if self.kind == "swap":
            return "swap in use"
        if self.kind == "holder":
            return f"held by {self.what}{f' ({self.detail})' if self.detail else ''}"
        if self.kind == "partition":
            return f"partition {self.what}"
        named = f' "{self.detail}"' if self.detail else ""
        return f"{self.what} signature{named}"


class Disk(Struct, frozen=True, kw_only=True):
    """A block device that is, or holds, a member.

    Args:
        disk: the whole disk's name for a partition, else the own name.
        serial, wwn, model: of the whole disk.
        dev: "major:minor".
    """

    name: str
    disk: str
    dev: str | None = None
    size_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    wwn: str | None = None
    rotational: bool | None = None
    uses: tuple[Use, ...] = ()

    @property
    def users(self) -> str:
        """What is mounted from, swapped to, or holds it, in words; "" for nothing."""
        return ", ".join(use.words for use in self.uses if use.kind in _IN_USE)

    @property
    def identity(self) -> str:
        """What tells its disk from all others: the serial number, or the WWN."""
        return self.serial or self.wwn or ""


class DiskIo(Struct, frozen=True, kw_only=True):
    """Counters of one device from /proc/diskstats (Documentation/admin-guide/iostats.rst).

    ``*_ms`` are milliseconds summed over requests, ``busy_ms`` is wall time with any request in flight.
    ``discarded_sectors`` is None where the kernel does not count discards.
    """

    reads: int
    read_sectors: int
    read_ms: int
    writes: int
    written_sectors: int
    write_ms: int
    busy_ms: int
    discarded_sectors: int | None = None
