"""Block devices: identity, size and uses."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

_IN_USE = frozenset({"mount", "swap", "holder"})
_WWN = ("0x", "naa.", "eui.", "nvme.", "uuid.", "t10.")
"""How WWNs of udev and of sysfs begin."""


class Use(Struct, frozen=True, kw_only=True):
    """One use of a device; ``kind`` is mount, swap, holder, signature or partition."""

    kind: str
    what: str
    detail: str = ""

    @property
    def words(self) -> str:
        """The use in words: ``ext4 mounted at /srv``."""
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


def contents_value(uses: Iterable[Use]) -> str:
    """Return the types of signatures as a fact has them: "crypto_LUKS", "ext4 gpt"; "" for none."""
    return " ".join(sorted(use.what for use in uses if use.kind == "signature"))


class Disk(Struct, frozen=True, kw_only=True):
    """A block device that is, or holds, a member.

    Args:
        disk: the name of the whole disk, for a partition as for the disk itself.
        serial, wwn, model: of the whole disk. The serial number is the one on its label.
        identifier: what udev knows the whole disk by (``ID_SERIAL``).
        dev: "major:minor".
    """

    name: str
    disk: str
    dev: str | None = None
    size_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    wwn: str | None = None
    identifier: str | None = None
    rotational: bool | None = None
    uses: tuple[Use, ...] = ()

    @property
    def users(self) -> str:
        """Mounts, swap and holders in words; "" for none."""
        return ", ".join(use.words for use in self.uses if use.kind in _IN_USE)

    @property
    def identity(self) -> str:
        """The identity of its disk: the serial number, or the WWN, or what udev knows it by."""
        return self.serial or self.wwn or self.identifier or ""


def disk_number(serial: str, identity: str) -> str:
    """Return the number that a disk is found by, with its kind; "" where it has none.

    Args:
        serial: the serial number on its label; "" where that is not known.
        identity: ``Disk.identity``.
    """
    if serial or not identity:
        return f"serial {serial}" if serial else ""
    return f"{'WWN' if identity.startswith(_WWN) else 'identifier'} {identity}"


def identity_number(identity: str) -> str:
    """Return ``Disk.identity`` with its kind, where it is all that is known of a disk; "" for none."""
    return disk_number("" if identity.startswith(_WWN) else identity, identity)


class DiskIo(Struct, frozen=True, kw_only=True):
    """Counters of one device from /proc/diskstats (Documentation/admin-guide/iostats.rst).

    ``*_ms`` are milliseconds summed over requests, ``busy_ms`` is wall time with any request in flight.
    ``discarded_sectors`` is None where the kernel does not count discards. ``queued_ms`` is the time that
    requests were in flight, each counted; ``in_flight`` is their number now.
    """

    reads: int
    read_sectors: int
    read_ms: int
    writes: int
    written_sectors: int
    write_ms: int
    busy_ms: int
    discarded_sectors: int | None = None
    in_flight: int = 0
    queued_ms: int = 0

    @property
    def requests(self) -> int:
        """Reads and writes that were done."""
        return self.reads + self.writes
