"""A root that notes what is read through it, so that a capture holds what the readers need and no more."""

from __future__ import annotations

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput


class NotingReader(HostReader):
    """Another root, and what was read through it.

    The names in a folder are not noted: what counts is which of them is read then.

    Args:
        reader: the host.
    """

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self.live, self.still, self.source = reader.live, reader.still, reader.source
        self.links: dict[str, str] = {}
        """Links that were asked for, with their targets."""
        self.outputs: list[ToolOutput] = []
        """What tools have printed."""
        self._read: dict[str, bytes] = {}
        self._there: set[str] = set()

    @property
    def files(self) -> dict[str, bytes]:
        """What was read, by path; what was found to be there, and not read, is without content."""
        return dict.fromkeys(sorted(self._there), b"") | self._read

    def read(self, path: str, *, keep: bool = False) -> bytes:
        """See ``HostReader.read``."""
        del keep  # it is read once
        self._read[path] = self._reader.read(path)
        return self._read[path]

    def names(self, path: str) -> tuple[str, ...]:
        """See ``HostReader.names``."""
        return self._reader.names(path)

    def link(self, path: str) -> str | None:
        """See ``HostReader.link``."""
        target = self._reader.link(path)
        if target is not None:
            self.links[path] = target
        return target

    def is_there(self, path: str) -> bool:
        """See ``HostReader.is_there``."""
        there = self._reader.is_there(path)
        if there:
            self._there.add(path)
        return there

    def exists(self, path: str) -> bool:
        """See ``HostReader.exists``."""
        there = super().exists(path)
        if there:
            self._there.add(path)
        return there

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        output = self._reader.ask(*argv, timeout_s=timeout_s, stdin=stdin)
        self.outputs.append(output)
        return output

    def thread_safe_copy(self) -> HostReader | None:
        """See ``HostReader.apart``: both note in the same place."""
        other = self._reader.thread_safe_copy()
        if other is None:
            return None
        twin = NotingReader(other)
        twin.links, twin.outputs, twin._read, twin._there = self.links, self.outputs, self._read, self._there
        return twin

    @property
    def writable(self) -> bool:
        """See ``HostReader.writable``."""
        return self._reader.writable

    def now_s(self) -> float:
        """See ``HostReader.now_s``."""
        return self._reader.now_s()
