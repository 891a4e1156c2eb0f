"""Where the host's files come from: the live kernel, a directory, or a tree held in memory.

Everything above reads through a ``Root`` and takes absolute paths of the host it looks at (``/proc/mdstat``).
Only a live root can be written to, and only ``raidtui.jobs`` does so.
"""

from __future__ import annotations

import errno
import os
import resource
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from raidtui.host.tools import ToolOutput, output_path, run_tool

_CHUNK = 65536
_SPARE_DESCRIPTORS = 128
_END_OF_TIME_S = 1 << 36  # some 2000 years; calendars end at the year 9999


class RootError(Exception):
    """A root cannot be opened; the message says what to do."""


class Happening(Struct, frozen=True, kw_only=True):
    """What a kernel tells by itself.

    Args:
        source: ``poll`` (POLLPRI on /proc/mdstat and md's sysfs files) or ``uevent``.
        device: md125, sde.
        what: the sysfs file that changed, or the uevent's action (add, remove, change).
    """

    source: str
    device: str
    what: str


Listener = Callable[[Happening], None]


class Root(ABC):
    """One host's files and tools."""

    live: bool = False
    """Whether this is the machine that the program runs on."""
    still: bool = False
    """Whether nothing moves here any more: a capture, in which time stands."""
    source: str = ""
    """What is looked at instead of the live host; empty for the live one."""

    @abstractmethod
    def read(self, path: str, *, keep: bool = False) -> bytes:
        """Return a file's bytes.

        Args:
            path: absolute path on the host.
            keep: keep it open; the next reading then costs one system call.

        Raises:
            OSError: as the kernel gave it.
        """

    @abstractmethod
    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; empty where there is none."""

    @abstractmethod
    def link(self, path: str) -> str | None:
        """Return a symbolic link's target as it is written, or None."""

    @abstractmethod
    def write(self, path: str, text: str) -> None:
        """Write ``text`` in one system call.

        Raises:
            OSError: as the kernel gave it; EROFS where the root is not to be written to.
        """

    @abstractmethod
    def run(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """Run a tool of the host, or return what a capture holds of it. Only ``jobs`` runs what changes."""

    def text(self, path: str, *, keep: bool = False) -> str | None:
        """Return a file's text without the last newline, or None where it cannot be read."""
        try:
            return self.read(path, keep=keep).decode("utf-8", "replace").rstrip("\n")
        except (OSError, ValueError):  # a name from outside may hold what no path can, a NUL
            return None

    def read_many(self, paths: tuple[str, ...]) -> tuple[bytes | None, ...]:
        """Return the bytes of small files that are read again and again, None for what cannot be read."""
        return tuple(self._read_or_none(path) for path in paths)

    def _read_or_none(self, path: str) -> bytes | None:
        try:
            return self.read(path, keep=True)
        except (OSError, ValueError):
            return None

    def forget(self, prefix: str) -> None:
        """Close what is kept open under a folder."""

    def exists(self, path: str) -> bool:
        """Whether a file can be read or a folder listed."""
        return self.text(path) is not None or bool(self.names(path))

    def now_s(self) -> float:
        """Epoch seconds of what is read: the clock's, or when a capture was made."""
        return time.time()

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call back when a host that lives in this process (the demo) tells something; return the way out.

        A live kernel is listened to by ``raidtui.monitor.watch`` instead.
        """
        del callback
        return lambda: None

    def next_event_s(self) -> float | None:
        """Seconds until something is known to happen (the demo's story), or None."""
        return None

    @property
    def writable(self) -> bool:
        """Whether changes can be made at all (root on the live host, or the demo)."""
        return False

    @property
    def hostname(self) -> str | None:
        """The host's name as the kernel has it."""
        return self.text("/proc/sys/kernel/hostname") or None

    @property
    def kernel(self) -> str | None:
        """The kernel's release."""
        return self.text("/proc/sys/kernel/osrelease") or None

    def close(self) -> None:
        """Let go of kept descriptors."""


class DirRoot(Root):
    """A folder that is a host's root; ``/`` is the live host itself."""

    def __init__(self, path: str = "/") -> None:
        self._prefix = path.rstrip("/")
        self.live = not self._prefix
        self.source = "" if self.live else path
        self._kept: dict[str, int] = {}
        self._may_keep = _raise_descriptor_limit() if self.live else 0
        self.still = not self.live and captured_time(self) is not None

    def read(self, path: str, *, keep: bool = False) -> bytes:
        """See ``Root.read``."""
        descriptor = self._kept.get(path)
        if descriptor is not None:
            try:
                return _pread_all(descriptor, path)
            except OSError as error:  # an array that was stopped and started again has new files
                os.close(self._kept.pop(path))
                if error.errno != errno.ENODEV:
                    raise
        descriptor = os.open(self._prefix + path, os.O_RDONLY | os.O_CLOEXEC)
        kept = False
        try:
            data = _pread_all(descriptor, path)
            if kept := keep and len(self._kept) < self._may_keep:
                self._kept[path] = descriptor
        finally:
            if not kept:
                os.close(descriptor)
        return data

    def read_many(self, paths: tuple[str, ...]) -> tuple[bytes | None, ...]:
        """See ``Root.read_many``: one system call a file."""
        kept, pread = self._kept, os.pread
        found: list[bytes | None] = []
        for path in paths:
            descriptor = kept.get(path)
            try:
                found.append(
                    pread(descriptor, 4096, 0) if descriptor is not None else self._read_or_none(path)
                )
            except OSError:
                found.append(self._read_or_none(path))
        return tuple(found)

    def names(self, path: str) -> tuple[str, ...]:
        """See ``Root.names``."""
        try:
            return tuple(sorted(os.listdir(self._prefix + path)))
        except (OSError, ValueError):
            return ()

    def link(self, path: str) -> str | None:
        """See ``Root.link``."""
        try:
            return str(Path(self._prefix + path).readlink())
        except (OSError, ValueError):
            return None

    def write(self, path: str, text: str) -> None:
        """See ``Root.write``."""
        if not self.live:
            raise OSError(errno.EROFS, "a captured tree is never written to", path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)

    def run(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``Root.run``."""
        if self.live:
            return run_tool(argv, timeout_s, stdin)
        return captured_output(self, argv)

    def now_s(self) -> float:
        """See ``Root.now_s``."""
        if self.live:
            return time.time()
        return captured_time(self) or time.time()

    @property
    def writable(self) -> bool:
        """See ``Root.writable``."""
        return self.live and os.geteuid() == 0

    @property
    def hostname(self) -> str | None:
        """See ``Root.hostname``."""
        return os.uname().nodename if self.live else super().hostname

    def forget(self, prefix: str) -> None:
        """Close what is kept open under a folder."""
        for path in [path for path in self._kept if path.startswith(prefix)]:
            os.close(self._kept.pop(path))

    def close(self) -> None:
        """See ``Root.close``."""
        self.forget("")


class MemoryRoot(Root):
    """A tree held in memory: an opened capture, a lone mdstat text, a test's host.

    Args:
        files: absolute path -> content.
        links: absolute path -> target.
        source: what the header calls it.
        taken_s: epoch seconds at which the tree was taken.
        still: whether time stands in it.
    """

    def __init__(
        self,
        files: Mapping[str, bytes | str],
        *,
        links: Mapping[str, str] | None = None,
        source: str = "",
        taken_s: float | None = None,
        still: bool = False,
    ) -> None:
        self.source = source
        self.still = still
        self._taken_s = taken_s
        self._links = dict(links or {})
        self._files: dict[str, bytes] = {}
        self._folders: dict[str, set[str]] = {}
        for path, content in files.items():
            self.put(path, content)
        for path in self._links:
            self._enter(path)

    def put(self, path: str, content: bytes | str) -> None:
        """Set a file's content."""
        self._enter(path)
        self._files[path] = content.encode() if isinstance(content, str) else content

    def drop(self, path: str) -> None:
        """Remove a file or a whole folder."""
        for each in [each for each in self._files if each == path or each.startswith(path + "/")]:
            del self._files[each]
        for each in [each for each in self._folders if each == path or each.startswith(path + "/")]:
            del self._folders[each]
        folder, _, name = path.rpartition("/")
        self._folders.get(folder, set()).discard(name)

    def _enter(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        while name:
            names = self._folders.setdefault(folder, set())
            if name in names:
                return
            names.add(name)
            folder, _, name = folder.rpartition("/")

    def read(self, path: str, *, keep: bool = False) -> bytes:
        """See ``Root.read``."""
        del keep
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "not in this tree", path) from None

    def names(self, path: str) -> tuple[str, ...]:
        """See ``Root.names``."""
        return tuple(sorted(self._folders.get(path.rstrip("/"), ())))

    def link(self, path: str) -> str | None:
        """See ``Root.link``."""
        return self._links.get(path)

    def write(self, path: str, text: str) -> None:
        """See ``Root.write``."""
        del text
        raise OSError(errno.EROFS, "a captured tree is never written to", path)

    def run(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``Root.run``."""
        del timeout_s, stdin
        return captured_output(self, argv)

    def now_s(self) -> float:
        """See ``Root.now_s``."""
        return self._taken_s or captured_time(self) or time.time()


def captured_output(root: Root, argv: tuple[str, ...]) -> ToolOutput:
    """Return a tool's output from a capture. The first line is "exit N", what follows is its output."""
    text = root.text(output_path(argv))
    if text is None:
        return ToolOutput(
            argv=argv, status=None, stdout="", stderr="", why_not=f"{argv[0]} was not run for this capture"
        )
    head, _, body = text.partition("\n")
    status = head.removeprefix("exit ")
    return ToolOutput(
        argv=argv,
        status=int(status) if status.isascii() and status.isdigit() and len(status) < 4 else None,
        stdout=body,
        stderr="",
        why_not="",
    )


def captured_time(root: Root) -> float | None:
    """Return when a capture was made, epoch seconds."""
    text = root.text("/.raidtui/taken_s") or ""
    try:
        taken_s = float(text)
    except ValueError:
        return None
    return taken_s if 0 < taken_s < _END_OF_TIME_S else None  # NaN is neither


def _pread_all(descriptor: int, path: str) -> bytes:
    data = os.pread(descriptor, _CHUNK, 0)
    if path.startswith("/sys/"):  # one page at most; seq files of /proc end anywhere short of one
        return data
    parts = [data]
    offset = len(data)
    while data:
        data = os.pread(descriptor, _CHUNK, offset)
        parts.append(data)
        offset += len(data)
    return b"".join(parts)


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
