"""The demo's volumes: a linear one that one array carries, and one with a cache."""

from __future__ import annotations

import pytest

from raidtui.demo.demo_host import demo_root
from raidtui.host.block import candidate_names
from raidtui.model.stack import StackKind
from raidtui.monitor.sampler import Sampler
from raidtui.session.stack import StackReader
from raidtui.stack.load import MINUTES_S
from raidtui.stack.stack_findings import StackCode


def test_the_stack_of_the_demo() -> None:
    """After a minute, the findings are those of a linear volume that stands on two arrays."""
    now = [0.0]
    root = demo_root(clock=lambda: now[0], now=lambda: 1_700_000_000 + now[0])
    reader = StackReader(root)
    arrays = {array.name: array for array in Sampler(root).sample().arrays}
    first = reader.look(arrays)
    assert first.findings == ()
    now[0] = 60.0
    look = reader.look(arrays)
    stack = look.meter.now
    assert stack.unknown == ()
    kinds = {node.label: node.kind for node in stack.nodes.values() if node.name.startswith("dm-")}
    assert kinds["vg0/images"] is StackKind.LINEAR
    assert kinds["vg0/data"] is StackKind.CACHE
    assert {
        node.title: node.file_system.mounts for node in stack.nodes.values() if node.file_system.mounts
    } == {
        "vg0/images": ("/var/lib/libvirt",),
        "vg0/data": ("/srv/data",),
        "root": ("/",),
        "bcache0": ("/srv/backup",),
    }
    assert stack.nodes["bcache0"].kind is StackKind.BCACHE
    assert [(each.code, each.node) for each in look.findings] == [(StackCode.ONE_CARRIES_ALL, "dm-0")]
    delta = look.meter.cache("dm-1", MINUTES_S)
    assert delta is not None
    assert delta.hits > delta.misses > 0
    shares = look.meter.shares("dm-0", MINUTES_S)
    assert (shares["md125"].requests, shares["md124"].requests) == (1.0, 0.0)


def test_the_bcache_of_the_demo() -> None:
    """Its figures move with the time; it is a disk nowhere; its knobs are those of the kernel."""
    now = [0.0]
    root = demo_root(clock=lambda: now[0], now=lambda: 1_700_000_000 + now[0])
    snapshot = Sampler(root).sample()
    reader = StackReader(root)
    first = reader.look({}).meter.now.nodes["bcache0"].cache
    assert first is not None
    assert (first.mode, first.backing, first.devices) == ("writeback", "sdd3", ("nvme3n1p2",))
    now[0] = 60.0
    later = reader.look({}).meter.now.nodes["bcache0"].cache
    assert later is not None
    assert (later.hits or 0) > (first.hits or 0) > (first.misses or 0) > 0
    assert "bcache0" not in candidate_names(root)
    assert "bcache0" not in snapshot.disks
    folder = "/sys/class/block/bcache0/bcache"
    root.write(f"{folder}/cache_mode", "writethrough")
    assert root.text(f"{folder}/cache_mode") == "[writethrough] writeback writearound none"
    assert root.text(f"{folder}/dirty_data") == "0.0k"
    root.write(f"{folder}/sequential_cutoff", "1048576")
    assert root.text(f"{folder}/sequential_cutoff") == "1.0M"
    for attribute, word in (("cache_mode", "none at all"), ("writeback_percent", "41"), ("state", "clean")):
        with pytest.raises(OSError, match=r"Invalid argument|Permission denied"):
            root.write(f"{folder}/{attribute}", word)
