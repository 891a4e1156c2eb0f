"""A host with arrays, volumes, caches and encryption on top, as it was captured in the laboratory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from raidtui.host.diskstats import DISKSTATS
from raidtui.host.readers.host_reader import captured_links
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.stack.device_mapper import STATUS
from raidtui.host.tools import output_path
from tests.places import FIXTURES

CAPTURE = FIXTURES / "stack" / "laboratory.json"
STATUS_FILE = output_path(STATUS)


@cache
def captured_files() -> Mapping[str, str]:
    """Return the files of the capture, by path."""
    files: dict[str, str] = json.loads(CAPTURE.read_text())
    return files


class StackHost(MemoryReader):
    """The captured host; its time passes, and its counters go on, when a test says so."""

    def __init__(self) -> None:
        files = captured_files()
        super().__init__(files, links=captured_links(MemoryReader(files)))
        self._now_s = 1000.0
        self.asked: list[tuple[str, ...]] = []

    def now_s(self) -> float:
        return self._now_s

    def text_of(self, path: str) -> str:
        """A file that is there."""
        text = self.text(path)
        assert text is not None, path
        return text

    def change(self, path: str, old: str, new: str) -> None:
        """Change a file."""
        text = self.text_of(path)
        assert old in text, f"{old} is not in {path}"
        self.put(path, text.replace(old, new) + "\n")

    def work(self, seconds: float, moved: Mapping[str, tuple[int, int, int, int]]) -> None:
        """Let time pass.

        Args:
            seconds: how long.
            moved: by device, requests and sectors read, requests and sectors written; 1 ms for each request.
        """
        self._now_s += seconds
        lines = []
        for line in self.text_of(DISKSTATS).split("\n"):
            words = line.split()
            if words and words[2] in moved:
                reads, read, writes, written = moved[words[2]]
                for at, more in (
                    (3, reads),
                    (5, read),
                    (6, reads),
                    (7, writes),
                    (9, written),
                    (10, writes),
                    (12, 10),
                    (13, reads + writes),
                ):
                    words[at] = str(int(words[at]) + more)
            lines.append(" ".join(words))
        self.put(DISKSTATS, "\n".join(lines) + "\n")
