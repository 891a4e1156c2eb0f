"""Parts of block devices, read only; in a tree that is not live, a file stands for the device."""

from __future__ import annotations

import os

from raidtui.host.readers.host_reader import HostReader

_MOST_BYTES = 64 << 20


class DeviceBytesError(Exception):
    """A device cannot be read; the message says why, a clause."""


class DeviceBytes:
    """One block device.

    Args:
        reader: the host.
        name: the kernel's name.
    """

    def __init__(self, reader: HostReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._known: dict[tuple[int, int], bytes] = {}

    def read(self, at: int, size: int) -> bytes:
        """Return ``size`` bytes from byte ``at`` on; fewer at the end of the device.

        Raises:
            DeviceBytesError: it cannot be read.
        """
        if not 0 <= size <= _MOST_BYTES or at < 0:
            raise DeviceBytesError(f"{self._name} is to be read at an impossible place")
        if (at, size) not in self._known:
            try:
                self._known[at, size] = self._read(at, size)
            except PermissionError:
                raise DeviceBytesError(f"{self._name} can only be read by root") from None
            except FileNotFoundError:
                why = "is not there" if self._reader.live else "is not part of this capture"
                raise DeviceBytesError(f"{self._name} {why}") from None
            except (OSError, OverflowError) as error:
                raise DeviceBytesError(f"{self._name} cannot be read: {error}") from None
        return self._known[at, size]

    def _read(self, at: int, size: int) -> bytes:
        if not self._reader.live:
            return self._reader.read(f"/dev/{self._name}")[at : at + size]
        descriptor = os.open(f"/dev/{self._name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            parts, left = [], size
            while left and (data := os.pread(descriptor, left, at + size - left)):
                parts.append(data)
                left -= len(data)
            return b"".join(parts)
        finally:
            os.close(descriptor)
