"""Where the host's files come from: a folder or the live kernel (``dir_root``), or memory (``memory_root``).

Everything above reads through a ``Root`` and takes absolute paths of the host it looks at (``/proc/mdstat``).
Only a live root can be written to, and only ``raidtui.jobs`` does so.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from msgspec import Struct

from raidtui.host.tools import ToolOutput, output_path

LINKS = "/.raidtui/links"
"""A capture's links to folders: path, tab, target."""
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

    def apart(self) -> Root | None:
        """Return a root that any thread may read, or None where one thread alone may read."""
        return None

    def forget(self, prefix: str) -> None:
        """Close what is kept open under a folder."""

    def exists(self, path: str) -> bool:
        """Whether a file can be read or a folder listed."""
        return self.text(path) is not None or bool(self.names(path))

    def is_there(self, path: str) -> bool:
        """Whether there is anything of this path: a file, a link, a folder, be it empty."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def now_s(self) -> float:
        """Epoch seconds of what is read: the clock's, or when a capture was made."""
        return time.time()

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call back when a host that lives in this process (the demo) tells something; return the way out.

        A live kernel is listened to by ``raidtui.monitor.kernel_watch`` instead.
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


def captured_links(root: Root) -> dict[str, str]:
    """Return a capture's links to what it holds as folders: an archive has one of both by one name."""
    lines = (line.partition("\t") for line in (root.text(LINKS) or "").split("\n"))
    return {path: target for path, _, target in lines if target}


def captured_time(root: Root) -> float | None:
    """Return when a capture was made, epoch seconds."""
    text = root.text("/.raidtui/taken_s") or ""
    try:
        taken_s = float(text)
    except ValueError:
        return None
    return taken_s if 0 < taken_s < _END_OF_TIME_S else None  # NaN is neither
