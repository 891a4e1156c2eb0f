"""A host in a folder; the folder / is the live host. Files that are read often are kept open."""

from __future__ import annotations

import errno
import os
import resource
import time
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import IO

from raidtui.host.mdstat_apart import MDSTAT, read_mdstat
from raidtui.host.readers.host_reader import HostReader, captured_links, captured_output, captured_time
from raidtui.host.regular_files import open_regular, read_all
from raidtui.host.tools import ToolOutput, run_tool

_CHUNK = 65536
_JOURNAL = "/var/log/journal"
_SPARE_DESCRIPTORS = 128
_LEADS_OUT = "a link leads out of this folder"


class FolderReader(HostReader):
    """A folder with a host's files; ``/`` is the live host itself."""

    def __init__(self, path: str = "/") -> None:
        self._prefix = path.rstrip("/")
        self._inside = f"{os.path.realpath(self._prefix or '/')}/"
        self.live = not self._prefix
        self.source = "" if self.live else path
        self._kept: dict[str, int] = {}
        self._may_keep = _raise_descriptor_limit()
        self._lasting = self.live  # no file is replaced by another one of its name
        self._taken_s = None if self.live else captured_time(self)
        self.still = self._taken_s is not None
        self._links = captured_links(self) if self.still else {}

    def read(self, path: str, *, keep: bool = False) -> bytes:
        """See ``HostReader.read``; the live host's mdstat is read by another process (mdstat_apart)."""
        if self.live and path == MDSTAT:
            return read_mdstat()
        descriptor = self._kept.get(path)
        if descriptor is not None:
            try:
                if self._lasting or os.fstat(descriptor).st_nlink:  # else it was replaced
                    return _pread_all(descriptor, path)
                os.close(self._kept.pop(path))
            except OSError as error:  # the array was stopped and started again: its files are new
                os.close(self._kept.pop(path))
                if error.errno != errno.ENODEV:
                    raise
        descriptor = self._open(path)
        kept = False
        try:
            data = _pread_all(descriptor, path)
            if kept := keep and len(self._kept) < self._may_keep:
                self._kept[path] = descriptor
        finally:
            if not kept:
                os.close(descriptor)
        return data

    def _open(self, path: str) -> int:
        """Open a file. Those of the kernel are regular; others may be of any kind."""
        if self.live and path.startswith(("/sys/", "/proc/")):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        if self.live:
            return open_regular(path)
        handle = os.open(self._prefix + path, os.O_PATH | os.O_CLOEXEC)
        try:
            itself = f"/proc/self/fd/{handle}"
            if not os.readlink(itself).startswith(self._inside):  # noqa: PTH115
                raise OSError(errno.EXDEV, _LEADS_OUT, path)
            return open_regular(itself)
        finally:
            os.close(handle)

    def _place(self, path: str) -> str:
        """Return where a file of the host is on this machine.

        Raises:
            OSError: it is not there, or a link on the way leads out of the folder, to what belongs to this
                machine.
        """
        if self.live:
            return path
        handle = os.open(self._prefix + path, os.O_PATH | os.O_CLOEXEC)
        try:  # by one call: realpath takes one for each part of the path
            place = os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115
        finally:
            os.close(handle)
        if not f"{place}/".startswith(self._inside):
            raise OSError(errno.EXDEV, _LEADS_OUT, path)
        return place

    def read_many(self, paths: tuple[str, ...]) -> tuple[bytes | None, ...]:
        """See ``HostReader.read_many``: one system call a file."""
        kept, lasting = self._kept, self._lasting
        found: list[bytes | None] = []
        for path in paths:
            descriptor = kept.get(path)
            try:
                if descriptor is None or not (lasting or os.fstat(descriptor).st_nlink):
                    found.append(self._read_or_none(path))
                else:
                    found.append(os.pread(descriptor, 4096, 0))
            except OSError:
                found.append(self._read_or_none(path))
        return tuple(found)

    def names(self, path: str) -> tuple[str, ...]:
        """See ``HostReader.names``."""
        try:
            return tuple(sorted(os.listdir(self._place(path))))
        except (OSError, ValueError):
            return ()

    def link(self, path: str) -> str | None:
        """See ``HostReader.link``."""
        try:
            return str(Path(self._prefix + path).readlink())
        except (OSError, ValueError):
            return self._links.get(path)

    def is_there(self, path: str) -> bool:
        """See ``HostReader.is_there``; here without listing the folder."""
        try:
            return os.path.lexists(self._prefix + path)
        except ValueError:
            return False

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if self.live:
            return run_tool(argv, timeout_s, stdin)
        return captured_output(self, argv)

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        """See ``HostReader.pieces``."""
        self._refuse_change(argv)
        if not self.live:
            folder = self._journal() if argv[0] == "journalctl" else None
            if folder is None:
                return super().pieces(*argv, stall_s=stall_s, ended=ended)
            argv = (argv[0], f"--directory={folder}", *argv[1:])
        from raidtui.host.tool_pieces import tool_pieces  # noqa: PLC0415  (the first frame needs none)

        return tool_pieces(argv, stall_s=stall_s, ended=ended)

    def _journal(self) -> str | None:
        """Return where the host in this folder keeps its journal; None where it has none of its own."""
        folders = [f"{_JOURNAL}/{name}" for name in self.names(_JOURNAL)]
        files = [f"{folder}/{name}" for folder in folders for name in self.names(folder)]
        try:
            for path in (*folders, *files):  # journalctl follows links
                self._place(path)
            return self._place(_JOURNAL) if files else None
        except OSError:
            return None

    def open(self, path: str) -> IO[bytes]:
        """See ``HostReader.open``."""
        return os.fdopen(open_regular(self._place(path)), "rb")

    def may_read(self, path: str) -> bool:
        """See ``HostReader.may_read``; here without reading it."""
        try:
            return os.access(self._place(path), os.R_OK)
        except (OSError, ValueError):
            return False

    def modified_s(self, path: str) -> float | None:
        """See ``HostReader.modified_s``."""
        try:
            return os.stat(self._place(path)).st_mtime  # noqa: PTH116  (no Path is needed for one call)
        except (OSError, ValueError):
            return None

    def now_s(self) -> float:
        """See ``HostReader.now_s``."""
        return time.time() if self._taken_s is None else self._taken_s

    @property
    def writable(self) -> bool:
        """See ``HostReader.writable``."""
        return self.live and os.geteuid() == 0 and not self.readonly

    @property
    def hostname(self) -> str | None:
        """See ``HostReader.hostname``."""
        return os.uname().nodename if self.live else super().hostname

    def thread_safe_copy(self) -> FolderReader:
        """See ``HostReader.apart``: it keeps nothing open: no thread closes what another one reads."""
        other = copy(self)
        other.keep_nothing()
        return other

    def keep_nothing(self) -> None:
        """Forget the descriptors without closing them, and keep none open from now on."""
        self._kept, self._may_keep = {}, 0

    def forget(self, prefix: str) -> None:
        """See ``HostReader.forget``."""
        for path in [path for path in self._kept if path.startswith(prefix)]:
            os.close(self._kept.pop(path))

    def close(self) -> None:
        """See ``HostReader.close``."""
        self.forget("")

    def __del__(self) -> None:
        """Close the files that are kept open, as Python closes a file object that is no longer used."""
        for descriptor in getattr(self, "_kept", {}).values():
            os.close(descriptor)


def _pread_all(descriptor: int, path: str) -> bytes:
    data = os.pread(descriptor, _CHUNK, 0)
    if path.startswith("/sys/"):  # one page at most; seq files of /proc end anywhere short of one
        return data
    return read_all(descriptor, path, first=data) if data else b""


def _raise_descriptor_limit() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError):
            wanted = soft
    return max(0, soft - _SPARE_DESCRIPTORS)
