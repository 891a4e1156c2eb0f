"""A stack in lines: the tree with its load, caches, balance, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from raidtui.features.stack.stack_tree import TreeRow, kind_word, tree_rows
from raidtui.model.stack import Stack, StackNode, hit_ratio
from raidtui.monitor.stack.cache_wear import yearly_wear
from raidtui.monitor.stack.load import MINUTES_S, SECONDS_S, LayerLoad, PartShare, StackMeter, spread_over
from raidtui.monitor.stack.stack_findings import StackFinding
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import amount, binary_size, duration, rate_and_unit, three_digits
from raidtui.view.wrapping import wrapped

WIDE = 100
_WIDEST, _BESIDE, _TREE = 140, 180, 116
"""Longer lines are hard to read. From the second width on, the tree has the third, the rest is beside it."""
_DAY_S = 86_400
_KIND, _SIZE, _RATE, _MS, _QUEUE, _REQUESTS = 11, 8, 9, 6, 6, 7
_MOST_NAME = 56
"""A name gets no more: figures far from it are not read as its row."""


def stack_lines(
    meter: StackMeter,
    findings: tuple[StackFinding, ...],
    width: int,
    focus: str = "",
    lives: Mapping[str, int] | None = None,
) -> list[Line]:
    """Return everything that is known, at most ``width`` cells wide; what is wrong comes first.

    Args:
        meter: the readings.
        findings: of the same host.
        width: cells; from 100 on, requests and queues are shown, too.
        focus: a device's kernel name; then only its trees.
        lives: how much may be written to a disk over its life, bytes by kernel name.
    """
    stack = meter.now
    rows = tree_rows(stack, focus)
    shown = {row.node.name for row in rows}
    # Rows of inner volumes may be left out of the tree, their findings are not.
    shown |= {name for row in rows for name in stack.below(row.node.name)}
    found = [each for each in findings if not each.node or each.node in shown]
    if width >= _BESIDE:
        tree = [_head(_TREE), *(_row(meter, row, _TREE) for row in rows)]
        beside = width - _TREE - 3
        return _joined(tree, [*_finding_lines(found, beside), *_facts(meter, shown, beside, lives or {})])
    width = min(width, _WIDEST)
    lines = _finding_lines(found, width)
    lines += [_head(width), *(_row(meter, row, width) for row in rows)]
    facts = _facts(meter, shown, width, lives or {})
    return [*lines, *([[]] if facts else []), *facts]


def _joined(left: list[Line], right: list[Line]) -> list[Line]:
    """Return the tree with the rest beside it."""
    nothing: Line = []
    lines: list[Line] = []
    for one, other in zip_longest(left, right, fillvalue=nothing):
        gap = _TREE + 3 - sum(cell_width(text) for text, _ in one)
        lines.append([*one, (" " * gap, "plain"), *other] if other else one)
    return lines


def _facts(meter: StackMeter, shown: set[str], width: int, lives: Mapping[str, int]) -> list[Line]:
    """Return what caches do, and how evenly members are loaded."""
    stack = meter.now
    lines: list[Line] = []
    parts = [_cache_lines(meter, node, lives) for node in stack.nodes.values() if node.name in shown]
    told = [line for part in parts for line in part]
    if told:
        lines.append([("Caches", "strong")])
        for text in told:
            lines += wrapped(text, width, "plain", hang=2)
    balance = [node for node in stack.nodes.values() if node.name in shown and not node.hidden]
    shares = [line for node in balance for line in _balance_lines(meter, node, width)]
    if shares:
        lines += [*([[]] if lines else []), [("Balance", "strong")], *shares]
    return lines


def _finding_lines(findings: list[StackFinding], width: int) -> list[Line]:
    lines: list[Line] = []
    for finding in findings:
        sign = GLYPHS.get(finding.role, "·")
        lines += wrapped(f"{sign} {finding.text}", width, finding.role, hang=2)
        if finding.remedy:
            lines += wrapped(f"  {finding.remedy}", width, "plain", hang=4)
    return [*lines, []] if lines else []


def _columns(width: int) -> list[tuple[str, int]]:
    columns = [("size", _SIZE), ("read/s", _RATE), ("write/s", _RATE), ("ms", _MS)]
    return [*columns, ("queue", _QUEUE), ("IO/s", _REQUESTS)] if width >= WIDE else columns


def _room(width: int) -> int:
    room = width - _KIND - 1 - sum(room + 1 for _, room in _columns(width))
    return max(12, min(room, _MOST_NAME))


def _head(width: int) -> Line:
    words = fit("from the file system down", _room(width)) + " " + fit("what", _KIND)
    return [(words + "".join(f" {title:>{room}}" for title, room in _columns(width)), "dim")]


def _row(meter: StackMeter, row: TreeRow, width: int) -> Line:
    node, room = row.node, _room(width)
    branch = row.branch
    name, kind = _names(row)
    name = fit(visible(name), max(1, room - cell_width(branch)))
    role = (
        "bad" if node.suspended else "dim" if node.hidden or row.again else "strong" if row.mount else "plain"
    )
    figures = _mount_figures(node, width) if row.mount else _figures(meter, node, width)
    return [(branch, "dim"), (name, role), (" " + fit(visible(kind), _KIND), "dim"), (figures, "plain")]


def _names(row: TreeRow) -> tuple[str, str]:
    node = row.node
    if row.mount:
        where = node.file_system.mounts[0] if node.file_system.mounts else "swap"
        more = len(node.file_system.mounts) - 1
        return f"{where}{f' and {more} more' if more > 0 else ''}", node.file_system.kind or "file system"
    name = (
        node.title if node.title == node.name or node.kind.startswith("lvm") else f"{node.name} {node.label}"
    )
    if row.again:
        name += " (above)"
    return name, row.part or ("suspended" if node.suspended else kind_word(node))


def _mount_figures(node: StackNode, width: int) -> str:
    """Return the size of a file system and how full it is."""
    system = node.file_system
    if not system.size_bytes:
        return ""
    free = system.free_bytes or 0
    rest = sum(room + 1 for _, room in _columns(width)) - _SIZE - 1
    return f" {binary_size(system.size_bytes):>{_SIZE}}" + fit(f"  {binary_size(free)} free", rest)


def _figures(meter: StackMeter, node: StackNode, width: int) -> str:
    size = binary_size(node.size_bytes) if node.size_bytes is not None else "?"
    load = meter.load(node.name)
    cells = [size, *(_load_cells(load) if load is not None else ("", "", "", "", ""))]
    return "".join(f" {cell:>{room}}" for cell, (_, room) in zip(cells, _columns(width), strict=False))


def _load_cells(load: LayerLoad) -> tuple[str, ...]:
    return (
        _rate(load.read_bytes_s),
        _rate(load.written_bytes_s),
        _latency(load),
        three_digits(load.queue) if load.queue >= 0.005 else "0",
        three_digits(load.requests_s),
    )


def _rate(bytes_s: float) -> str:
    if not bytes_s:
        return "0"
    figure, unit = rate_and_unit(bytes_s / 1024)
    return f"{figure} {unit.removesuffix('/s')}"


def _latency(load: LayerLoad) -> str:
    """Return the mean time of a request of both kinds."""
    total = (load.read_ms or 0) * load.reads + (load.write_ms or 0) * load.writes
    count = load.reads + load.writes
    return three_digits(total / count) if count else ""


def _cache_lines(meter: StackMeter, node: StackNode, lives: Mapping[str, int]) -> Iterator[str]:
    cache = node.cache
    if cache is None:
        return
    words = [cache.mode or cache.state or "mode not known"]
    if cache.policy:
        words.append(f"policy {cache.policy}")
    if cache.hit_ratio is not None:
        words.append(f"hits {cache.hit_ratio:.1%} in all{_by_direction(node)}")
    delta = meter.cache(node.name)
    if delta is not None and (recent := hit_ratio(delta.hits, delta.misses)) is not None:
        words.append(f"{recent:.1%} in the last {duration(delta.over_s)}")
    if cache.used_bytes is not None and cache.total_bytes is not None:
        words.append(f"used {binary_size(cache.used_bytes)} of {binary_size(cache.total_bytes)}")
    if cache.dirty_bytes is not None:
        words.append(f"not written back {binary_size(cache.dirty_bytes)}")
    if cache.promotions is not None:
        words.append(f"{cache.promotions} promotions, {cache.demotions or 0} demotions")
    if cache.written_bytes is not None:
        words.append(f"{amount(cache.written_bytes)} written to it")
    slow = meter.cache(node.name, MINUTES_S)
    if slow is not None and slow.written_bytes and slow.over_s >= SECONDS_S:
        worn = yearly_wear(meter, node.name, lives)
        of = "".join(f", {share:.1%} of the life of {disk} in a year" for disk, share in worn.items())
        words.append(f"at this rate {amount(int(slow.written_bytes / slow.over_s * _DAY_S))} a day{of}")
    yield f"{node.title}: {'; '.join(words)}"


def _by_direction(node: StackNode) -> str:
    cache = node.cache
    if cache is None or cache.read_hits is None:
        return ""
    reads, writes = (
        hit_ratio(cache.read_hits, cache.read_misses),
        hit_ratio(cache.write_hits, cache.write_misses),
    )
    parts = [
        f"{word} {value:.1%}" for word, value in (("reads", reads), ("writes", writes)) if value is not None
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _balance_lines(meter: StackMeter, node: StackNode, width: int) -> Iterator[Line]:
    stack = meter.now
    parts = spread_over(stack, node.name)
    if len(parts) < 2 or any(node.name in stack.below(top.name) for top in _same(stack, node)):
        return
    spans = [(SECONDS_S, meter.shares(node.name, SECONDS_S))]
    if meter.over_s(MINUTES_S) > 2 * SECONDS_S:
        spans.append((MINUTES_S, meter.shares(node.name, MINUTES_S)))
    name = f"{visible(node.title)}, {kind_word(node)}"
    if not any(shares for _, shares in spans):
        yield from wrapped(f"  {name}: nothing was read or written", width, "dim", hang=4)
        return
    heads = "".join(f"{f'last {duration(meter.over_s(span))}':>22}" for span, _ in spans)
    room = max(12, min(_MOST_NAME, width - 22 * len(spans) - 2))
    yield [(f"  {fit(name, room)}", "plain"), (heads, "dim")]
    for part in parts:
        cells = "".join(f"{_share_words(shares.get(part)):>22}" for _, shares in spans)
        yield [(f"    {fit(visible(_title(stack, part)), room - 2)}{cells}", "plain")]


def _same(stack: Stack, node: StackNode) -> list[StackNode]:
    """Return what stands on a volume and spreads over the same devices: one of them is shown."""
    parts = spread_over(stack, node.name)
    return [stack.nodes[name] for name in stack.above(node.name) if spread_over(stack, name) == parts]


def _title(stack: Stack, name: str) -> str:
    node = stack.nodes.get(name)
    return name if node is None or not node.label else f"{name} {node.label}"


def _share_words(share: PartShare | None) -> str:
    if share is None:
        return "nothing"
    parts = [("r", share.reads), ("w", share.writes)]
    found = [f"{value:.1%} {word}" for word, value in parts if value is not None]
    return "  ".join(found)
