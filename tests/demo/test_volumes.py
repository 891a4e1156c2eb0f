"""The demo's volumes: a linear one that one array carries, and one with a cache."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from raidtui.demo.demo_host import demo_root
from raidtui.features.stack.plan_caches import plan_detach, plan_flush
from raidtui.features.tune.session import Tuner
from raidtui.host.block import candidate_names
from raidtui.jobs.states import JobState
from raidtui.model.knob import KnobScope, Subject
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import StackKind, StackNode
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.load import MINUTES_S
from raidtui.monitor.stack.stack_findings import StackCode
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.watch.played_jobs import PlayedJobs


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
    maps = [node for node in stack.nodes.values() if node.name.startswith("dm-") and not node.hidden]
    kinds = {node.label: node.kind for node in maps}
    assert kinds["vg0/images"] is StackKind.LINEAR
    assert kinds["vg0/data"] is StackKind.CACHE
    assert kinds["vg0/logs"] is StackKind.STRIPED
    assert kinds["vg0/mail"] is StackKind.WRITECACHE
    assert kinds["vg0/thin"] is StackKind.THIN_POOL
    assert kinds["vg0/vault"] is StackKind.THIN
    assert kinds["vault"] is StackKind.CRYPT
    assert {
        node.title: node.file_system.mounts for node in stack.nodes.values() if node.file_system.mounts
    } == {
        "vg0/images": ("/var/lib/libvirt",),
        "vg0/data": ("/srv/data",),
        "vg0/logs": ("/var/log/vm",),
        "vg0/mail": ("/var/mail",),
        "vault": ("/srv/vault",),
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


def test_the_volumes_lie_beside_each_other() -> None:
    """By their tables: nothing overlaps, nothing is beyond an end of an array, and slaves are the same."""
    root = demo_root()
    nodes = StackReader(root).look({}).meter.now.nodes
    taken: dict[str, list[tuple[int, int]]] = {}
    for node in nodes.values():
        if not node.name.startswith("dm-"):
            continue
        assert node.segments
        assert {name for segment in node.segments for name, _ in segment.parts} == set(node.parents)
        for segment in node.segments:
            for name, start in segment.parts:
                if name.startswith("md"):
                    assert start is not None
                    length = segment.sectors // (len(segment.parts) if segment.target == "striped" else 1)
                    taken.setdefault(name, []).append((start, start + length))
    assert taken.keys() == {"md124", "md125", "md127"}
    for name, spans in taken.items():
        spans.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(spans)), (name, spans)
        assert spans[-1][1] * 512 <= (nodes[name].size_bytes or 0), name


@pytest.mark.parametrize(
    ("volume", "origin", "kind", "below"),
    [
        ("vg0/data", "dm-5", StackKind.LINEAR, "md127"),
        ("vg0/mail", "dm-15", StackKind.LINEAR, "md127"),
        ("bcache0", "sdd3", StackKind.BCACHE, "sdd3"),
    ],
)
def test_a_cache_is_written_back_and_taken_away(
    volume: str, origin: str, kind: StackKind, below: str
) -> None:
    """By the plans that a real host gets; afterwards the volume lies on what was cached, and has its data."""
    now = [0.0]
    root = demo_root(clock=lambda: now[0], now=lambda: 1_700_000_000 + now[0])
    jobs = PlayedJobs(root)
    snapshot = Sampler(root).sample()

    def done(make: Callable[[Snapshot, Subject], Plan | Refusal]) -> None:
        caches = Tuner(root).read(snapshot).of(KnobScope.CACHE)
        plan = make(snapshot, next(each for each in caches if each.title == volume))
        assert isinstance(plan, Plan), plan
        job = jobs.start(plan)
        news = jobs.news(job, 0)
        assert news.state is JobState.DONE, news

    def node() -> StackNode:
        nodes = StackReader(root).look({}).meter.now.nodes
        return next(each for each in nodes.values() if volume in {each.label, each.name})

    before = node()
    assert before.cache is not None
    assert (before.cache.dirty_bytes or 0) > 0
    assert origin in before.parents
    done(plan_flush)
    assert node().cache is not None
    done(plan_detach)
    after = node()
    assert (after.kind, after.parents) == (kind, (below,))
    assert after.cache is None or (after.cache.state, after.cache.mode) == ("no cache", None)
    assert (after.size_bytes, after.file_system) == (before.size_bytes, before.file_system)


def test_what_the_demo_refuses_of_caches() -> None:
    """As LVM and the kernel do."""
    root = demo_root()
    for volume in ("vg0/images", "vg0/none"):
        refused = root.take_tool("lvconvert", "--yes", "--splitcache", volume)
        assert (refused.status, refused.stderr) == (1, f"lvconvert: {volume} is not a volume with a cache\n")
    with pytest.raises(OSError, match="No such file"):
        root.take_value("/sys/class/block/bcache0/bcache/attach", "no set")


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
    root.take_value(f"{folder}/cache_mode", "writethrough")
    assert root.text(f"{folder}/cache_mode") == "[writethrough] writeback writearound none"
    assert root.text(f"{folder}/dirty_data") == "0.0k"
    root.take_value(f"{folder}/sequential_cutoff", "1048576")
    assert root.text(f"{folder}/sequential_cutoff") == "1.0M"
    for attribute, word in (("cache_mode", "none at all"), ("writeback_percent", "41"), ("state", "clean")):
        with pytest.raises(OSError, match=r"Invalid argument|Permission denied"):
            root.take_value(f"{folder}/{attribute}", word)
