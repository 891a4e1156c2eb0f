"""What a probe must not read through; what it reads is in tests/lab/test_pace.py."""

from raidtui.host.array_probe import suspended_below
from raidtui.host.readers.memory_reader import MemoryReader


def test_a_suspended_map_is_found_at_any_depth() -> None:
    files = {
        "/sys/class/block/md0/slaves/dm-1/dev": "254:1",
        "/sys/class/block/dm-1/dm/suspended": "0\n",
        "/sys/class/block/dm-1/slaves/dm-0/dev": "254:0",
        "/sys/class/block/dm-0/dm/suspended": "1\n",
    }
    assert suspended_below(MemoryReader(files), "md0") == "dm-0"
    assert suspended_below(MemoryReader({**files, "/sys/class/block/dm-0/dm/suspended": "0\n"}), "md0") == ""
