"""What a cache costs the disks that it lies on."""

from __future__ import annotations

import pytest

from raidtui.features.stack.stack_lines import stack_lines
from raidtui.monitor.stack.cache_wear import cache_disks, yearly_wear
from raidtui.monitor.stack.stack_reader import StackReader
from tests.hosts.stack_host import StackHost
from tests.monitor.stack.test_stack_nodes import called

YEAR_S = 365.25 * 86_400


def test_a_mirror_is_written_whole() -> None:
    """vc/wslow has its write cache on a RAID 1, vc/slow its cache on a disk, bcache0 on another."""
    stack = StackReader(StackHost()).look({}).meter.now
    assert set(cache_disks(stack)) == {"ubdd", "ubde", "ubdf", "ubdg"}


@pytest.mark.parametrize("seconds", [5.0, 20.0])
def test_a_year(seconds: float) -> None:
    """What was written in 20 s is the life's part in a year; 5 s are too short to say."""
    host = StackHost()
    reader = StackReader(host)
    slow = called(reader.look({}).meter.now, "vc/slow")
    assert slow.cache is not None
    data = next(name for name in slow.cache.devices if called(reader.meter.now, name).label.endswith("cdata"))
    words = host.text_of(f"/sys/class/block/{data}/stat").split()
    words[6] = str(int(words[6]) + 2000)
    host.put(f"/sys/class/block/{data}/stat", " ".join(words) + "\n")
    host.work(seconds, {})
    meter = reader.look({}).meter
    life = 1 << 40
    worn = yearly_wear(meter, slow.name, {"ubdf": life, "ubda": life})
    assert worn == ({"ubdf": pytest.approx(2000 * 512 / 20 * YEAR_S / life)} if seconds == 20 else {})
    text = " ".join(text for line in stack_lines(meter, (), 400, "", {"ubdf": life}) for text, _ in line)
    assert ("of the life of ubdf in a year" in text) == (seconds == 20)
