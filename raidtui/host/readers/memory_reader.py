"""A host in memory. It is read-only."""

from __future__ import annotations

import errno
import time
from collections.abc import Mapping

from raidtui.host.readers.host_reader import HostReader, captured_output, captured_time
from raidtui.host.tools import ToolOutput


class MemoryReader(HostReader):
    """A tree in memory: a capture, a single mdstat text, a test's host.

    Args:
        files: absolute path -> content.
        links: absolute path -> target.
        source: its name in the header.
        taken_s: epoch seconds when the tree was captured.
        still: whether it is a capture, in which nothing changes.
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
        """Create or replace a file."""
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
        """See ``HostReader.read``."""
        del keep
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "not in this tree", path) from None

    def names(self, path: str) -> tuple[str, ...]:
        """See ``HostReader.names``."""
        return tuple(sorted(self._folders.get(path.rstrip("/"), ())))

    def link(self, path: str) -> str | None:
        """See ``HostReader.link``."""
        return self._links.get(path)

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        return captured_output(self, argv)

    def now_s(self) -> float:
        """See ``HostReader.now_s``."""
        return self._taken_s or captured_time(self) or time.time()
