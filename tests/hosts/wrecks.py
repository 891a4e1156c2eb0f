"""Hosts with a wreck that tests/lab/guests/wrecks made: what its diagnosis read there, held in memory."""

import json

from raidtui.host.readers.memory_reader import MemoryReader
from tests.places import FIXTURES

WRECKED = FIXTURES / "rescue"
KEPT = ("/proc/mdstat", "/sys/", "/run/udev/data/b", "/.raidtui/")
"""The paths that are kept; the configuration of the machine that they were made on is not."""


def wrecked(id: str, *, taken_s: float | None = None) -> MemoryReader:  # noqa: A002
    """The host with this wreck, at the present time or at another: its disks are ubda, ubdb, ..."""
    files = json.loads((WRECKED / f"{id}.json").read_text())
    return MemoryReader(files, source=id, still=True, taken_s=taken_s)
