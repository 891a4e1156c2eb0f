"""Notifications of the kernel: md's poll events and uevents, through one descriptor.

/proc/mdstat and md's sysfs files are always readable, so an event loop that waits for "readable" would spin.
They are registered for EPOLLPRI in a separate epoll, whose descriptor is readable only after a change
(drivers/md/md.c mdstat_poll; fs/kernfs/file.c kernfs_fop_poll).
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from typing import Any

from msgspec import Struct

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.snapshot import Snapshot

_PRIORITY = select.EPOLLPRI | select.EPOLLERR
# array_state is left out: it changes between clean and active with every burst of writes. Its other changes
# (start, stop, read-only, broken) also notify /proc/mdstat.
_ARRAY_FILES = ("sync_action", "degraded")
_ENOUGH = 1
"""Bytes to read for the next notification: of mdstat no more than its head, which waits for no array."""


class Uevent(Struct, frozen=True, kw_only=True):
    """A device was added, changed or removed."""

    action: str
    name: str


class KernelWatch:
    """Waits for changes. It does nothing for a root that is not live.

    ``fileno()`` becomes readable on a change; ``drain()`` says which; ``follow()`` adjusts to a snapshot.
    """

    def __init__(self, reader: HostReader) -> None:
        self._epoll = select.epoll()
        self._live = reader.live
        self._paths: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._monitor: Any = None
        self._open("/proc/mdstat", "")

    def fileno(self) -> int:
        """The descriptor to wait for (readable)."""
        return self._epoll.fileno()

    def follow(self, snapshot: Snapshot) -> None:
        """Watch the files of the arrays in a snapshot, and close those of other arrays."""
        if not self._live:
            return
        wanted = {"/proc/mdstat": ""}
        for array in snapshot.arrays:
            base = f"{BLOCK}/{array.name}/md"
            wanted.update({f"{base}/{file}": array.name for file in _ARRAY_FILES})
            wanted.update(
                {f"{base}/dev-{member.name.replace('/', '!')}/state": array.name for member in array.members}
            )
        for path in self._paths.keys() - wanted.keys():
            self._close(path)
        for path, name in wanted.items():
            if path not in self._paths:
                self._open(path, name)

    def _open(self, path: str, name: str) -> None:
        if not self._live:
            return
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return  # no md, a level without this file, or just removed: the next snapshot tries again
        try:
            os.pread(descriptor, _ENOUGH, 0)  # the kernel notifies only after a first read
            self._epoll.register(descriptor, _PRIORITY)
        except OSError:
            os.close(descriptor)
            return
        self._paths[path] = descriptor
        self._names[descriptor] = name

    def _close(self, path: str) -> None:
        descriptor = self._paths.pop(path)
        self._names.pop(descriptor, None)
        with contextlib.suppress(OSError):  # the files of a stopped array have left the epoll already
            self._epoll.unregister(descriptor)
        os.close(descriptor)

    def start_udev(self) -> str | None:
        """Listen to uevents of block devices; return why that fails, or None.

        It loads pyudev, which takes some 25 ms: call it after the first frame.
        """
        if not self._live or self._monitor is not None:
            return None
        try:
            import pyudev  # noqa: PLC0415  (after the first frame)

            source = "udev" if os.path.exists("/run/udev/control") else "kernel"  # noqa: PTH110
            self._monitor = pyudev.Monitor.from_netlink(pyudev.Context(), source)
            self._monitor.filter_by("block")
            self._monitor.start()
            self._epoll.register(self._monitor.fileno(), select.EPOLLIN)
        except (ImportError, OSError) as error:
            self._monitor = None
            return f"udev's events cannot be received: {error}"
        return None

    def drain(self) -> tuple[frozenset[str], tuple[Uevent, ...]]:
        """Return the names of arrays with a change ("" for mdstat) and the uevents, and rearm."""
        names: set[str] = set()
        uevents: list[Uevent] = []
        monitor = self._monitor.fileno() if self._monitor is not None else -1
        for descriptor, _ in self._epoll.poll(0):
            if descriptor == monitor:
                uevents += self._drain_udev()
                continue
            names.add(self._names.get(descriptor, ""))
            try:
                os.pread(descriptor, _ENOUGH, 0)
            except OSError:
                for path in [path for path, each in self._paths.items() if each == descriptor]:
                    self._close(path)
        return frozenset(names), tuple(uevents)

    def _drain_udev(self) -> list[Uevent]:
        found: list[Uevent] = []
        while True:
            try:
                device = self._monitor.poll(timeout=0)
            except OSError:
                # The queue has overflowed. poll() fails until the error of the socket is read.
                with socket.socket(fileno=os.dup(self._monitor.fileno())) as netlink:
                    netlink.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                return [*found, Uevent(action="overflow", name="")]
            if device is None:
                return found
            found.append(Uevent(action=device.action or "change", name=device.sys_name))

    def close(self) -> None:
        """Close everything."""
        for path in list(self._paths):
            self._close(path)
        self._epoll.close()
