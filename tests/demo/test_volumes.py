"""The demo's volumes: a linear one that one array carries, and one with a cache."""

from __future__ import annotations

from raidtui.demo.demo_host import demo_root
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
    }
    assert [(each.code, each.node) for each in look.findings] == [(StackCode.ONE_CARRIES_ALL, "dm-0")]
    delta = look.meter.cache("dm-1", MINUTES_S)
    assert delta is not None
    assert delta.hits > delta.misses > 0
    shares = look.meter.shares("dm-0", MINUTES_S)
    assert (shares["md125"].requests, shares["md124"].requests) == (1.0, 0.0)
