"""DEVICE lines of mdadm.conf, as mdadm 4.2 reads them."""

from __future__ import annotations

import pytest

from raidtui.host.md.conf_devices import device_words, left_out
from raidtui.host.md.configured import conf_entries, entries_in
from raidtui.host.readers.memory_reader import MemoryReader

DISKS = {
    "/sys/class/block/sda1/dev": "8:1\n",
    "/sys/class/block/sdb1/dev": "8:17\n",
    "/run/udev/data/b8:17": "S:disk/by-id/ata-X-part1\n",
}


@pytest.mark.parametrize(
    ("conf", "out"),
    [
        ("", ()),
        ("MAILADDR root\n", ()),
        ("DEVICE partitions containers\n", ()),
        ("DEVICE containers\n", ("sda1", "sdb1")),
        ("DEVICE /dev/sda*\n", ("sdb1",)),
        ("DEV /dev/sd[ab]1\n", ()),
        ("devices /dev/sda1\n\t/dev/disk/by-id/ata-*\n", ()),
        ("DEVICE /dev/sda1\nDEVICE partitions\n", ()),
        ("DEVICE /dev/*\n", ()),
        ("DEVICE /dev/disk/*\n", ("sda1", "sdb1")),  # no slash is meant by the star
    ],
)
def test_what_is_left_out(conf: str, out: tuple[str, ...]) -> None:
    root = MemoryReader(DISKS | {"/etc/mdadm/mdadm.conf": conf})
    words = device_words(conf_entries(root)[1])
    assert words == device_words(entries_in(conf))
    assert left_out(root, words, ("sda1", "sdb1", "sda1")) == out
