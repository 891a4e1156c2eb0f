"""Hosts with a wreck that tests/lab/guests/wrecks made: what its diagnosis read there, held in memory."""

import json

from raidtui.host.readers.memory_reader import MemoryReader
from tests.places import FIXTURES

WRECKED = FIXTURES / "rescue"
KEPT = ("/proc/mdstat", "/sys/", "/run/udev/data/b", "/.raidtui/")
"""The paths that are kept; the configuration of the machine that they were made on is not."""


def wrecked(id: str) -> MemoryReader:  # noqa: A002
    """The host with this wreck: its disks are ubda, ubdb, ..."""
    return MemoryReader(json.loads((WRECKED / f"{id}.json").read_text()), source=id, still=True)
