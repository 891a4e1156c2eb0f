"""All that changes a host: values for the kernel, files, tools.

This room alone imports it (an import contract holds that). Other rooms make plans, which ``runner`` and
``worker`` carry out; what a trial needs beside its plan is ``trial_writer``'s.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import READONLY, HostReader
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput, run_tool
from raidtui.jobs.state_files import sync_folder
from raidtui.jobs.write_apart import may_wait, write_apart
from raidtui.model.answer import AnswerKind

_NEVER = "a captured tree is never written to"


class HostWriter:
    """Writes to the live host, or to a simulated one.

    A capture, a folder and a text refuse it, and so does what was opened with ``--readonly``.

    Args:
        host: what reads it.
    """

    def __init__(self, host: HostReader) -> None:
        may = not host.readonly
        self._simulated = host if isinstance(host, SimulatedReader) and may else None
        self._live = isinstance(host, FolderReader) and host.live and may
        self._why_not = _NEVER if may else READONLY

    def write(self, path: str, text: str) -> None:
        """Write a value in one system call; give up waiting for an array that does not take it.

        Raises:
            OSError: as the kernel gave it; ETIMEDOUT: md has not taken it, and may do so later; EROFS: the
                host cannot be written to.
        """
        if self._simulated is not None:
            self._simulated.take_value(path, text)
        elif not self._live:
            raise OSError(errno.EROFS, self._why_not, path)
        elif may_wait(path):
            write_apart(path, text)
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)

    def run(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """Run a tool that may change the host: no shell, a fixed environment, a time limit."""
        if self._simulated is not None:
            return self._simulated.take_tool(*argv, timeout_s=timeout_s, stdin=stdin)
        if self._live:
            return run_tool(argv, timeout_s, stdin)
        return ToolOutput(
            argv=argv, status=None, stdout="", stderr="", why_not=self._why_not, silence=AnswerKind.REFUSED
        )


def replace_file(path: str, content: str, backup: str) -> str:
    """Replace a file of this machine atomically; return why that failed, or "".

    The new file has the owner and mode of the old one, which is kept.

    Args:
        path: a symbolic link is followed, and kept.
        content: bytes as they are, each a character: see ``Survey.texts``.
        backup: the suffix for the old version; "" to keep none.
    """
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        data = content.encode("latin-1")
        old = target.stat() if target.exists() else None
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o644 if old is None else old.st_mode & 0o7777)
            if old is not None:
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            file.flush()
            os.fsync(file.fileno())
        if old is not None and backup:
            with contextlib.suppress(FileExistsError):
                os.link(target, f"{target}.{backup}")
        Path(temporary).replace(target)
        sync_folder(target.parent)
    except UnicodeEncodeError as error:
        return f"{path} cannot be written: it holds {content[error.start]!r}, which is not a byte"
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        return f"{path} cannot be written: {error.strerror}"
    return ""
