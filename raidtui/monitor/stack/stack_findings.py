"""What is wrong, or worth knowing, in a stack: a sentence and a remedy each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.stack import VOLUMES, Stack, StackKind, StackNode
from raidtui.monitor.stack.load import MINUTES_S, StackMeter, spread_over
from raidtui.monitor.stack.survival import MOST_LOST, Survival
from raidtui.view.units import binary_size, counted, joined

BUSY_S = 30.0
"""A volume is judged by its balance after so long."""
BUSY_BYTES_S, BUSY_REQUESTS_S = 20e6, 200.0
"""A volume with less load than both is not judged by its balance."""
MOST_SHARE = 0.8
LEAST_OWN = 0.5
"""Of what the devices under a volume do, at least so much is its own."""
_FULL = ((0.95, 0.90, "bad"), (0.80, 0.75, "warn"))
"""Shares of a thin pool's data and metadata, and the role from there on."""


class StackCode(StrEnum):
    """What a finding says, for programs; documented in docs/stack.md."""

    ONE_CARRIES_ALL = "one-carries-all"
    CACHE_ALONE = "cache-alone"
    CACHE_BROKEN = "cache-broken"
    POOL_FULL = "pool-full"
    SUSPENDED = "suspended"
    MISALIGNED = "misaligned"
    DISCARDS_END = "discards-end"
    VOLUME_HEALTH = "volume-health"
    NOT_KNOWN = "not-known"


class StackFinding(Struct, frozen=True, kw_only=True):
    """One of them.

    Args:
        role: bad, warn or plain.
        node: the kernel's name of the layer; "" for the host.
        text: what is the case, a sentence.
        remedy: what to do; "" for nothing.
    """

    code: StackCode
    role: str
    node: str
    text: str
    remedy: str = ""


def stack_findings(meter: StackMeter, arrays: Mapping[str, Array]) -> tuple[StackFinding, ...]:
    """Return the findings of all layers, the worst first.

    Args:
        meter: the newest reading and those before it.
        arrays: md's arrays by kernel name.
    """
    stack = meter.now
    survival = Survival(stack, arrays)
    found: list[StackFinding] = [
        StackFinding(code=StackCode.NOT_KNOWN, role="warn", node="", text=text) for text in stack.unknown
    ]
    for node in stack.nodes.values():
        found += _judge_node(node)
        found += _judge_cache(node, survival)
        if not node.hidden:
            found += _judge_balance(meter, node, arrays)
    ranks = {"bad": 0, "warn": 1}
    return tuple(sorted(found, key=lambda each: ranks.get(each.role, 2)))


def _judge_node(node: StackNode) -> Iterator[StackFinding]:
    name = node.title
    if node.suspended:
        yield StackFinding(
            code=StackCode.SUSPENDED,
            role="bad",
            node=node.name,
            text=f"{name} is suspended: everything that reads or writes it hangs",
            remedy=f"wait for what has suspended it, or: dmsetup resume {_map_name(node)}",
        )
    if node.misaligned:
        yield StackFinding(
            code=StackCode.MISALIGNED, role="warn", node=node.name, text=f"{name}: {node.misaligned}"
        )
    if node.discard_lost and not node.hidden:
        yield StackFinding(
            code=StackCode.DISCARDS_END,
            role="plain",
            node=node.name,
            text=f"discards (TRIM) end at {name}: {node.discard_lost}",
        )
    if node.health:
        yield StackFinding(
            code=StackCode.VOLUME_HEALTH,
            role="bad",
            node=node.name,
            text=f"LVM says of {name}: {node.health}",
        )
    if node.pool is not None:
        yield from _judge_pool(node)


def _map_name(node: StackNode) -> str:
    group, slash, volume = node.label.partition("/")
    if node.kind not in VOLUMES or not slash:
        return node.label or node.name
    return f"{group.replace('-', '--')}-{volume.replace('-', '--')}"


def _judge_pool(node: StackNode) -> Iterator[StackFinding]:
    pool = node.pool
    assert pool is not None  # noqa: S101  (the caller has looked)
    if pool.full not in {"rw", ""}:
        yield StackFinding(
            code=StackCode.POOL_FULL,
            role="bad",
            node=node.name,
            text=f"the thin pool {node.title} takes no writes: {pool.full}",
            remedy=f"make room: lvextend {node.title}",
        )
        return
    for data, metadata, role in _FULL:
        shares = [
            f"{share:.0%} of its {what}"
            for share, limit, what in (
                (pool.data_share, data, "data"),
                (pool.metadata_share, metadata, "metadata"),
            )
            if share is not None and share > limit
        ]
        if shares:
            then = "wait for 60 s, and fail then" if pool.queues else "fail at once"
            yield StackFinding(
                code=StackCode.POOL_FULL,
                role=role,
                node=node.name,
                text=f"the thin pool {node.title} uses {joined(shares)}; when it is full, writes {then}",
                remedy=f"make room: lvextend {node.title}",
            )
            return


def _judge_cache(node: StackNode, survival: Survival) -> Iterator[StackFinding]:
    cache = node.cache
    if cache is None:
        return
    if cache.trouble or cache.state == "inconsistent":
        yield StackFinding(
            code=StackCode.CACHE_BROKEN,
            role="bad",
            node=node.name,
            text=f"the cache of {node.title} does not work: the kernel says {cache.trouble or cache.state}",
            remedy="see the kernel log",
        )
    thin = thinner_cache(node, survival)
    if thin is None:
        return
    if not cache.keeps_writes:
        yield StackFinding(
            code=StackCode.CACHE_ALONE,
            role="plain",
            node=node.name,
            text=f"the cache of {node.title} is {thin.where}; in {cache.mode or 'unknown'} mode no data are"
            " lost with it",
        )
        return
    now = (
        f"now {binary_size(cache.dirty_bytes)}" if cache.dirty_bytes is not None else "how much is not known"
    )
    yield StackFinding(
        code=StackCode.CACHE_ALONE,
        role="bad",
        node=node.name,
        text=f"{node.title} is cached in {cache.mode or 'unknown'} mode {thin.words}: losing the cache"
        f" loses what was not written back ({now}), and with it the file system",
        remedy=_safer(node),
    )


class ThinCache(Struct, frozen=True, kw_only=True):
    """A cache that fewer lost disks destroy than what is beneath it.

    Args:
        where: the disks it is on: on sdf alone.
        words: the same, and what both survive.
    """

    where: str
    words: str


def thinner_cache(node: StackNode, survival: Survival) -> ThinCache | None:
    """Return what is said of a cache that survives less than what is beneath it; None for another one."""
    cache = node.cache
    if cache is None or not cache.devices or not cache.backing:
        return None
    front, back = survival.losses(*cache.devices), survival.losses(cache.backing)
    if front is None or back is None or front >= back:
        return None
    disks = survival.disks(cache.devices)
    where = f"on {joined(disks)} alone" if len(disks) == 1 else f"on {joined(disks)}"
    survives = "no lost disk" if front <= 0 else counted(front, "lost disk")
    beneath = f"{MOST_LOST} or more lost disks" if back >= MOST_LOST else counted(back, "lost disk")
    words = f"{where}, which survives {survives}, above what survives {beneath}"
    return ThinCache(where=where, words=words)


def _safer(node: StackNode) -> str:
    if node.kind is StackKind.BCACHE:
        return (
            f"echo writethrough > /sys/block/{node.name}/bcache/cache_mode, or a mirror as the cache device"
        )
    if node.kind is StackKind.CACHE:
        return f"lvchange --cachemode writethrough {node.title}, or a mirror under the cache"
    return f"a mirror under the cache; or without it: lvconvert --splitcache {node.title}"


def _judge_balance(meter: StackMeter, node: StackNode, arrays: Mapping[str, Array]) -> Iterator[StackFinding]:
    stack = meter.now
    parts = spread_over(stack, node.name)
    if node.kind not in VOLUMES and node.kind is not StackKind.MD:
        return
    load = meter.load(node.name, MINUTES_S)
    if len(parts) < 2 or load is None or load.over_s < BUSY_S:
        return
    if load.read_bytes_s + load.written_bytes_s < BUSY_BYTES_S and load.requests_s < BUSY_REQUESTS_S:
        return
    if any("pvmove" in each.label for each in stack.nodes.values()):
        return
    loads = [other for part in parts if (other := meter.load(part, MINUTES_S)) is not None]
    moved = sum(other.read_bytes + other.written_bytes for other in loads)
    if load.read_bytes + load.written_bytes < LEAST_OWN * moved:
        return  # others do more there: the figures are theirs
    by_bytes = load.read_bytes_s + load.written_bytes_s >= BUSY_BYTES_S
    shares = {
        name: (share.total if by_bytes else share.requests) or 0.0
        for name, share in meter.shares(node.name, MINUTES_S).items()
    }
    name = max(shares, key=lambda each: shares[each], default="")
    if not name or shares[name] <= MOST_SHARE:
        return
    others = joined([_title(stack, part) for part in parts if part != name])
    why, remedy = _reason(stack, node, name, arrays)
    what = "bytes" if by_bytes else "requests"
    yield StackFinding(
        code=StackCode.ONE_CARRIES_ALL,
        role="warn",
        node=node.name,
        text=f"{_title(stack, name)} serves {shares[name]:.0%} of the {what} of {node.title}, {others}"
        f" the rest: {why}",
        remedy=remedy,
    )


def _title(stack: Stack, name: str) -> str:
    node = stack.nodes.get(name)
    return name if node is None or not node.label else f"{name} ({node.label})"


def _reason(stack: Stack, node: StackNode, busiest: str, arrays: Mapping[str, Array]) -> tuple[str, str]:
    array = arrays.get(busiest)
    if array is not None and array.sync is not None:
        return f"{busiest} is syncing, which counts as well", "look again when that ends"
    targets = {
        segment.target
        for name in (node.name, *stack.below(node.name))
        for segment in stack.nodes[name].segments
        if stack.nodes[name].kind in VOLUMES
    }
    count = len(spread_over(stack, node.name))
    if node.kind is StackKind.MD:
        if node.level == "linear":
            return "a linear array fills one device after the other", "a striped array: raid0, raid10"
        return "the data in use lies within few chunks", "a smaller chunk, for a new array"
    if "striped" in targets and "linear" not in targets:
        return "the data in use lies within few stripes", "a smaller --stripesize, for a new volume"
    why = "the volume is linear, with one device after the other, and the data in use lies on one of them"
    if node.file_system.kind == "xfs":
        why += " (XFS has its allocation groups one after the other, and a folder's files in one of them)"
    return why, f"a new volume with lvcreate --stripes {count}, and copy; a volume is not striped afterwards"
