"""The layers of the captured host: what they are, what they stand on, what passes through them."""

from __future__ import annotations

import pytest

from raidtui.features.stack.stack_tree import tree_rows
from raidtui.model.stack import Stack, StackKind, StackNode
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.monitor.stack.stack_trim import discards_end
from tests.hosts.stack_host import STATUS_FILE, StackHost


def stack_of(host: StackHost) -> Stack:
    """All layers."""
    return StackReader(host).look({}).meter.now


def called(stack: Stack, label: str) -> StackNode:
    """The layer with a label."""
    (node,) = [each for each in stack.nodes.values() if label in {each.label, each.name}]
    return node


@pytest.mark.parametrize(
    ("label", "kind", "parents"),
    [
        ("ubda", StackKind.DISK, []),
        ("md20", StackKind.MD, ["ubda", "ubdb", "ubdc"]),
        ("vc/slow", StackKind.CACHE, ["vc/slow_corig", "vc/fast_cvol-cdata", "vc/fast_cvol-cmeta"]),
        ("vc/slow_corig", StackKind.LINEAR, ["md20"]),
        ("vc/wslow", StackKind.WRITECACHE, ["vc/wfast_cvol", "vc/wslow_wcorig"]),
        ("vc/str", StackKind.STRIPED, ["md20", "md21"]),
        ("vc/lin", StackKind.LINEAR, ["md20", "md21"]),
        ("vc/th", StackKind.THIN, ["vc/tp"]),
        ("home-crypt", StackKind.CRYPT, ["vc/safe"]),
        ("bcache0", StackKind.BCACHE, ["ubdg", "ubdh"]),
    ],
)
def test_layers(label: str, kind: StackKind, parents: list[str]) -> None:
    stack = stack_of(StackHost())
    node = called(stack, label)
    assert node.kind is kind
    assert sorted(stack.nodes[each].title for each in node.parents) == sorted(parents)


def test_what_stands_on_something_follows_it() -> None:
    seen: set[str] = set()
    for node in stack_of(StackHost()).nodes.values():
        assert set(node.parents) <= seen
        seen.add(node.name)


def test_mounts_and_file_systems() -> None:
    stack = stack_of(StackHost())
    mounted = {node.title: node.file_system for node in stack.nodes.values() if node.file_system.mounts}
    assert {name: (each.kind, each.mounts) for name, each in mounted.items()} == {
        "vc/slow": ("ext4", ("/mnt/s",)),
        "home-crypt": ("ext4", ("/mnt/h",)),
    }
    assert mounted["home-crypt"].label == "home"


def test_the_tree_of_a_cache() -> None:
    """Inner volumes of inner ones, and metadata, are passed over."""
    rows = tree_rows(stack_of(StackHost()), "ubdf")
    shown = [f"{row.branch}{'/' if row.mount else row.node.title} {row.part}".rstrip() for row in rows][:9]
    assert shown == [
        "/",
        "└─ vc/slow",
        "   ├─ vc/slow_corig origin",
        "   │  └─ md20",
        "   │     ├─ ubda",
        "   │     ├─ ubdb",
        "   │     └─ ubdc",
        "   └─ vc/fast_cvol-cdata cache",
        "      └─ ubdf",
    ]


def test_one_disk_alone() -> None:
    """Of a disk only what stands on it is shown, with what else that stands on."""
    rows = tree_rows(stack_of(StackHost()), "ubdh")
    assert [row.node.name for row in rows] == ["bcache0", "ubdh", "ubdg"]


def test_without_tables() -> None:
    """Without root, dmsetup says nothing: the layers are there, and what they are is not guessed."""
    host = StackHost()
    host.drop("/.raidtui/run")
    stack = stack_of(host)
    slow = called(stack, "vc/slow")
    assert slow.kind is StackKind.VOLUME
    assert slow.cache is None
    tools = ("dmsetup", "dmsetup", "lvs")
    assert stack.unknown == tuple(
        f"{tool} was not run for this capture: its answer is not known" for tool in tools
    )
    assert called(stack, "bcache0").cache is not None


@pytest.mark.parametrize(
    ("label", "ends"), [("vc/slow", "md20"), ("home-crypt", "dm-21"), ("vc/r1", None), ("bcache0", None)]
)
def test_where_discards_end(label: str, ends: str | None) -> None:
    stack = stack_of(StackHost())
    assert discards_end(stack, called(stack, label).name) == ends


def test_a_partition_and_a_volume_that_fit_no_stripe() -> None:
    host = StackHost()
    host.put("/sys/class/block/md20/queue/optimal_io_size", "196608\n")
    node = called(stack_of(host), "vc/slow_corig")
    assert node.misaligned == "it begins at sector 2048 of md20, not at a multiple of its stripe of 192 KiB"


def test_a_circle_is_left_out() -> None:
    """What sysfs cannot say: a device that stands on itself does not hang the reading."""
    host = StackHost()
    host.put("/sys/class/block/ubdh/slaves/bcache0", "")
    stack = stack_of(host)
    assert "bcache0" not in stack.nodes
    assert "vc/slow" in {node.label for node in stack.nodes.values()}


def test_the_figures_of_a_cache_are_those_of_dmsetup() -> None:
    host = StackHost()
    line = next(each for each in host.text_of(STATUS_FILE).split("\n") if each.startswith("vc-slow: "))
    words = line.split()
    cache = called(stack_of(host), "vc/slow").cache
    assert cache is not None
    assert [cache.read_hits, cache.read_misses, cache.write_hits, cache.write_misses] == [
        int(word) for word in words[8:12]
    ]
    assert [cache.demotions, cache.promotions] == [int(word) for word in words[12:14]]
    assert cache.dirty_bytes == int(words[14]) * 65536
    assert [stack_of(host).nodes[each].title for each in cache.devices] == [
        "vc/fast_cvol-cmeta",
        "vc/fast_cvol-cdata",
    ]


def test_bcache_is_what_its_files_say() -> None:
    cache = called(stack_of(StackHost()), "bcache0").cache
    assert cache is not None
    assert (cache.mode, cache.state, cache.backing, cache.devices) == (
        "writeback",
        "dirty",
        "ubdh",
        ("ubdg",),
    )
    assert cache.total_bytes == 2048 * 65536
    assert cache.dirty_bytes == int(1.9 * 1024**2)


def test_a_bcache_without_a_cache_device() -> None:
    host = StackHost()
    host.drop("/sys/class/block/bcache0/slaves/ubdg")
    host.put("/sys/class/block/bcache0/bcache/state", "no cache\n")
    cache = called(stack_of(host), "bcache0").cache
    assert cache is not None
    assert (cache.mode, cache.state, cache.devices, cache.total_bytes) == (None, "no cache", (), None)
