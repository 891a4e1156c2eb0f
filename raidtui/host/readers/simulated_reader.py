"""A host in memory that can be changed: the demo's, and those of tests."""

from __future__ import annotations

import errno
import os

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput


class SimulatedReader(MemoryReader):
    """A simulated host. ``raidtui.jobs.host_writer`` carries out on it what it does to a live one."""

    def take_value(self, path: str, text: str) -> None:
        """Take what is written to one of its files.

        Raises:
            OSError: as the kernel would give it.
        """
        del text
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    def take_tool(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """Do what a tool would do; here it answers as if it were asked."""
        return self._asked(*argv, timeout_s=timeout_s, stdin=stdin)
