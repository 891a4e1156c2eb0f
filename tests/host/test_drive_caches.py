"""Write caches, by what the kernel believes and by what the disk says."""

from __future__ import annotations

import pytest

from raidtui.host.drive_caches import read_drive_caches
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.drive_cache import DriveCache

QUEUE = "/sys/class/block/sda/queue/write_cache"
TYPE = "/sys/class/block/sda/device/scsi_disk/0:0:0:0/cache_type"


@pytest.mark.parametrize(
    ("files", "flushed", "caches"),
    [
        ({QUEUE: "write back\n", TYPE: "write back\n"}, True, True),
        ({QUEUE: "write through\n", TYPE: "write back\n"}, False, True),
        ({QUEUE: "write back\n", TYPE: "write back, no read (daft)\n"}, True, True),
        ({QUEUE: "write through\n", TYPE: "write through\n"}, False, False),
        ({QUEUE: "write through\n", TYPE: "none\n"}, False, False),
        ({QUEUE: "write back\n"}, True, None),
        ({TYPE: "write back\n"}, None, True),
        ({QUEUE: "something\n", TYPE: "something\n"}, None, None),
        ({}, None, None),
    ],
)
def test_one_disk(files: dict[str, str], flushed: bool | None, caches: bool | None) -> None:  # noqa: FBT001
    (found,) = read_drive_caches(MemoryReader(files), ["sda"])
    assert found == DriveCache(name="sda", flushed=flushed, caches=caches)
    assert found.loses_writes == (flushed is False and caches is True)
