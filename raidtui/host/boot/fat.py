"""A FAT file system, read only and without a mount (Microsoft's FAT specification 1.03; UEFI, 13.3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct

from raidtui.host.boot.device_bytes import DeviceBytes

_ENTRY = 32
_LONG, _FOLDER, _LABEL = 0x0F, 0x10, 0x08
_MOST_CLUSTERS, _MOST_ENTRIES = 4096, 4096
_ENDS = {12: 0xFF8, 16: 0xFFF8, 32: 0x0FFFFFF8}
_READ_AT_ONCE = 1 << 16


class FatError(Exception):
    """It is no FAT, or damaged; the message says so, a clause."""


class FatEntry(Struct, frozen=True, kw_only=True):
    """A file or a folder."""

    name: str
    folder: bool
    cluster: int
    size_bytes: int


class Fat:
    """A FAT on a device.

    Args:
        device: the device.

    Raises:
        FatError: it is none.
        DeviceBytesError: it cannot be read.
    """

    def __init__(self, device: DeviceBytes) -> None:
        self._device = device
        head = device.read(0, 512)
        if len(head) < 512 or head[0x1FE:] != b"\x55\xaa":
            raise FatError("it has no FAT file system")
        sector, per_cluster, reserved, copies, entries, small = struct.unpack_from("<HBHBHH", head, 11)
        small_table, large, large_table = struct.unpack_from("<H8xII", head, 22)
        table = small_table or large_table
        if (
            sector not in {512, 1024, 2048, 4096}
            or not per_cluster
            or not copies
            or not table
            or not reserved
        ):
            raise FatError("it has no FAT file system")
        self._sector, self._cluster_bytes = sector, sector * per_cluster
        self._table_at = reserved * sector
        self._table_bytes = table * sector
        self._root_at = self._table_at + copies * self._table_bytes
        self._root_bytes = -(-entries * _ENTRY // sector) * sector
        self._data_at = self._root_at + self._root_bytes
        count = ((small or large) * sector - self._data_at) // self._cluster_bytes
        self._bits = 12 if count < 4085 else 16 if count < 65525 else 32
        self._root_cluster = struct.unpack_from("<I", head, 44)[0] if self._bits == 32 else 0

    def names(self, path: str) -> tuple[FatEntry, ...]:
        """Return what is in a folder, names in upper case; () where there is no such folder.

        Raises:
            FatError: it is damaged.
            DeviceBytesError: it cannot be read.
        """
        found = self._find(path)
        if found is None or not found.folder:
            return ()
        return tuple(self._entries(self._folder_data(found)))

    def read(self, path: str, most_bytes: int) -> bytes | None:
        """Return the beginning of a file; None where there is none.

        Raises:
            FatError: it is damaged.
            DeviceBytesError: it cannot be read.
        """
        found = self._find(path)
        if found is None or found.folder:
            return None
        size = min(found.size_bytes, most_bytes)
        return b"".join(self._pieces(found.cluster, size))[:size]

    def _find(self, path: str) -> FatEntry | None:
        here = FatEntry(name="", folder=True, cluster=self._root_cluster, size_bytes=0)
        for word in path.upper().strip("/").split("/") if path.strip("/") else ():
            if not here.folder:
                return None
            inside = self._entries(self._folder_data(here))
            found = next((each for each in inside if each.name == word), None)
            if found is None:
                return None
            here = found
        return here

    def _folder_data(self, folder: FatEntry) -> bytes:
        if not folder.cluster:  # the root of FAT12 and FAT16, also as a parent
            return self._device.read(self._root_at, self._root_bytes)
        return b"".join(self._pieces(folder.cluster, _MOST_ENTRIES * _ENTRY))

    def _pieces(self, cluster: int, size: int) -> Iterator[bytes]:
        """Yield at least ``size`` bytes of a chain, or all of it; neighbours are read at once."""
        clusters = self._chain(cluster, -(-size // self._cluster_bytes))
        at = 0
        while at < len(clusters):
            end = at + 1
            while end < len(clusters) and clusters[end] == clusters[end - 1] + 1:
                end += 1
            start = self._data_at + (clusters[at] - 2) * self._cluster_bytes
            yield self._device.read(start, (end - at) * self._cluster_bytes)
            at = end

    def _chain(self, cluster: int, most: int) -> list[int]:
        found: list[int] = []
        while 2 <= cluster < _ENDS[self._bits] and len(found) < min(most, _MOST_CLUSTERS):
            found.append(cluster)
            cluster = self._next(cluster)
        return found

    def _next(self, cluster: int) -> int:
        at = cluster * self._bits // 8
        if at + 4 > self._table_bytes:
            raise FatError("its allocation table is damaged")
        first = at // _READ_AT_ONCE * _READ_AT_ONCE
        data = self._device.read(self._table_at + first, min(_READ_AT_ONCE + 4, self._table_bytes - first))
        if at - first + 4 > len(data):
            raise FatError("its allocation table is damaged")
        number: int = struct.unpack_from("<I", data, at - first)[0]
        if self._bits == 12:
            return (number >> 4 if cluster & 1 else number) & 0xFFF
        return number & (0xFFFF if self._bits == 16 else 0x0FFFFFFF)

    def _entries(self, data: bytes) -> Iterator[FatEntry]:
        long: dict[int, str] = {}
        for at in range(0, len(data) - _ENTRY + 1, _ENTRY):
            entry = data[at : at + _ENTRY]
            if entry[0] == 0:
                return
            if entry[0] == 0xE5:
                long = {}
            elif entry[11] & 0x3F == _LONG:
                part = entry[1:11] + entry[14:26] + entry[28:32]
                long[entry[0] & 0x3F] = part.decode("utf-16-le", "replace").partition("\0")[0]
            else:
                name = "".join(long[number] for number in sorted(long)) or _short(entry)
                long = {}
                if not entry[11] & _LABEL and name not in {".", ".."}:
                    high, low, size = struct.unpack_from("<H4xHI", entry, 20)
                    yield FatEntry(
                        name=name.upper(),
                        folder=bool(entry[11] & _FOLDER),
                        cluster=high << 16 | low if self._bits == 32 else low,
                        size_bytes=size,
                    )


def _short(entry: bytes) -> str:
    name, ending = (part.decode("latin-1").rstrip(" ") for part in (entry[:8], entry[8:11]))
    return f"{name}.{ending}" if ending else name
