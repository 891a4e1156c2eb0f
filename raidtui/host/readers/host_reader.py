"""The source of a host's files: a folder or the live host (``folder_reader``), or memory (``memory_reader``).

Everything above reads through a ``HostReader`` and uses absolute paths of that host (``/proc/mdstat``). It
cannot write: that is what ``raidtui.jobs.host_writer`` is for.
"""

from __future__ import annotations

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import IO

from msgspec import Struct

from raidtui.host.readers.questions import only_asks
from raidtui.host.tools import ToolOutput, output_path
from raidtui.model.answer import AnswerKind

READONLY = "read-only: started with --readonly"
"""Why nothing is done that could be done without it."""
LINKS = "/.raidtui/links"
"""A file with a capture's links to folders: path, tab, target."""
_SILENCES = frozenset({AnswerKind.NO_TOOL, AnswerKind.TIMED_OUT, AnswerKind.REFUSED, AnswerKind.FAILED})
_END_OF_TIME_S = 1 << 36  # some 2000 years; calendars end at the year 9999


class ReaderError(Exception):
    """A root cannot be opened; the message says why."""


class KernelEvent(Struct, frozen=True, kw_only=True):
    """A notification from the kernel.

    Args:
        source: ``poll`` (POLLPRI on /proc/mdstat and md's sysfs files) or ``uevent``.
        device: md125, sde.
        what: the sysfs file that changed, or the uevent's action (add, remove, change).
    """

    source: str
    device: str
    what: str


Listener = Callable[[KernelEvent], None]


class HostReader(ABC):
    """One host's files and tools."""

    live: bool = False
    """Whether this is the machine that raidtui runs on."""
    still: bool = False
    """Whether this is a capture, in which nothing changes."""
    readonly: bool = False
    """Whether nothing is to be written, whoever runs it (``--readonly``)."""
    source: str = ""
    """What is shown instead of the live host; empty for the live host."""

    @abstractmethod
    def read(self, path: str, *, keep: bool = False) -> bytes:
        """Return a file's bytes.

        Args:
            path: absolute path on the host.
            keep: keep the file open; the next read then costs one system call.

        Raises:
            OSError: as the kernel gave it.
        """

    @abstractmethod
    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; () where there is no such folder."""

    @abstractmethod
    def link(self, path: str) -> str | None:
        """Return the target of a symbolic link, unresolved, or None."""

    def ask(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """Run a tool that only asks (``questions``), or return its output in a capture.

        Raises:
            ValueError: the tool may change something.
        """
        self._refuse_change(argv)
        return self._asked(*argv, timeout_s=timeout_s, stdin=stdin)

    @abstractmethod
    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """Run it."""

    def _refuse_change(self, argv: tuple[str, ...]) -> None:
        if not only_asks(argv):
            raise ValueError(f"a reader does not run this: {' '.join(argv)}")

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        """Yield what a tool prints, as it comes; in a capture, all of it at once.

        Args:
            argv: the tool and its arguments. It changes nothing.
            stall_s: how long it may print nothing.
            ended: whether no more is wanted.

        Raises:
            PiecesError: the tool is missing, hangs or failed.
        """
        from raidtui.host.tool_pieces import PiecesError  # noqa: PLC0415  (few readers need it)

        del ended
        output = self.ask(*argv, timeout_s=stall_s)
        if output.status != 0:
            raise PiecesError(output.why, kind=output.kind)
        yield output.stdout.encode()

    def open(self, path: str) -> IO[bytes]:
        """Open a regular file of any size for reading.

        Raises:
            OSError: as the kernel gave it.
        """
        return io.BytesIO(self.read(path))

    def may_read(self, path: str) -> bool:
        """Whether a file can be read by this user."""
        return self.text(path) is not None

    def modified_s(self, path: str) -> float | None:
        """Return when a file was last written, epoch seconds; None where that is not known."""
        del path
        return None

    def text(self, path: str, *, keep: bool = False) -> str | None:
        """Return a file's text without trailing newlines, or None where it cannot be read."""
        try:
            return self.read(path, keep=keep).decode("utf-8", "replace").rstrip("\n")
        except (OSError, ValueError):  # a foreign name may contain what no path can, a NUL
            return None

    def byte_text(self, path: str) -> str | None:
        """Return a file as it is, each byte a character, or None where it cannot be read."""
        try:
            return self.read(path).decode("latin-1")
        except OSError:
            return None

    def read_many(self, paths: tuple[str, ...]) -> tuple[bytes | None, ...]:
        """Return the bytes of small files that are read often; None for those that cannot be read."""
        return tuple(self._read_or_none(path) for path in paths)

    def _read_or_none(self, path: str) -> bytes | None:
        try:
            return self.read(path, keep=True)
        except (OSError, ValueError):
            return None

    def thread_safe_copy(self) -> HostReader | None:
        """Return a root that any thread may read, or None if only one thread may read."""
        return None

    def forget(self, prefix: str) -> None:
        """Close the files under a folder that are kept open."""

    def exists(self, path: str) -> bool:
        """Whether a file can be read or a folder listed."""
        return self.text(path) is not None or bool(self.names(path))

    def is_there(self, path: str) -> bool:
        """Whether a path exists: a file, a link or a folder, even an empty one."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def now_s(self) -> float:
        """Return the present time, or when a capture was made, epoch seconds."""
        return time.time()

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call ``callback`` at notifications of a host in this process, the demo; return what ends that.

        ``raidtui.monitor.kernel_watch`` receives those of a live host.
        """
        del callback
        return lambda: None

    def next_event_s(self) -> float | None:
        """Return the seconds until the next known event (the demo's story), or None."""
        return None

    @property
    def writable(self) -> bool:
        """Whether changes can be made: as root on the live host, or in the demo."""
        return False

    @property
    def hostname(self) -> str | None:
        """The host's name, by the kernel."""
        return self.text("/proc/sys/kernel/hostname") or None

    @property
    def kernel(self) -> str | None:
        """The kernel's release."""
        return self.text("/proc/sys/kernel/osrelease") or None

    def close(self) -> None:
        """Close all files that are kept open."""


def whole_number(text: str | None) -> int | None:
    """Return a count as the kernel and its tools write it, stripped of blanks; None for anything else."""
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else None


def captured_output(reader: HostReader, argv: tuple[str, ...]) -> ToolOutput:
    """Return a tool's output from a capture: the line "exit N", then the output; or "KIND", then why not."""
    text = reader.text(output_path(argv))
    if text is None:
        why = f"{argv[0]} was not run for this capture"
        return _unanswered(argv, AnswerKind.NOT_ASKED, why)
    head, _, body = text.partition("\n")
    status = head.removeprefix("exit ")
    if status.isascii() and status.isdigit() and len(status) < 4:
        return ToolOutput(argv=argv, status=int(status), stdout=body, stderr="")
    if head in _SILENCES:
        return _unanswered(argv, AnswerKind(head), body)
    why = f"the capture's output of {argv[0]} is damaged"
    return _unanswered(argv, AnswerKind.NOT_UNDERSTOOD, why)


def captured_words(output: ToolOutput) -> str:
    """Return the text of a tool's output in a capture."""
    if output.status is None:
        return f"{output.silence}\n{output.why_not}"
    return f"exit {output.status}\n{output.stdout}{output.stderr}"


def _unanswered(argv: tuple[str, ...], kind: AnswerKind, why: str) -> ToolOutput:
    return ToolOutput(argv=argv, status=None, stdout="", stderr="", why_not=why, silence=kind)


def captured_links(reader: HostReader) -> dict[str, str]:
    """Return a capture's links to folders: an archive has either a link or a folder of one name."""
    lines = (line.partition("\t") for line in (reader.text(LINKS) or "").split("\n"))
    return {path: target for path, _, target in lines if target}


def captured_time(reader: HostReader) -> float | None:
    """Return when a capture was made, epoch seconds, or None."""
    text = reader.text("/.raidtui/taken_s") or ""
    try:
        taken_s = float(text)
    except ValueError:
        return None
    return taken_s if 0 < taken_s < _END_OF_TIME_S else None  # NaN is neither
