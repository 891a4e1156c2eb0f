"""``raidtui stack``: what stands on what, from disks to file systems, with load, balance and caches.

Exit status: 0 nothing is wrong, 1 something needs attention, 3 something could not be read.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json, print_refusal
from raidtui.features.stack.stack_lines import stack_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.stack import hit_ratio
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.cache_wear import yearly_wear
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.monitor.stack.stack_trim import discards_end
from raidtui.monitor.stack.survival import Survival

if TYPE_CHECKING:
    from raidtui.model.stack import Stack, StackNode
    from raidtui.monitor.stack.stack_reader import StackLook

_WELL, _ATTENTION, _UNREAD = 0, 1, 3
_WIDTH = 110
_MOST_S = 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``stack`` takes."""
    parser.description = (
        "Show which volumes, caches, arrays and disks each file system is on, what each of these reads"
        " and writes, how a volume's load is spread, and what its cache does. Nothing is changed."
    )
    parser.add_argument("device", nargs="?", metavar="DEVICE", help="show only what is on this device")
    parser.add_argument("--json", action="store_true", help="as JSON (docs/stack.md)")
    parser.add_argument(
        "--over",
        type=_seconds,
        default=1.0,
        metavar="SECONDS",
        help="measure the load for so long; 0: do not; 30 or more also judge the balance (default: 1)",
    )


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MOST_S:
        raise argparse.ArgumentTypeError(f"{word}: not between 0 and {_MOST_S:.0f}")
    return seconds


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the stack; return the exit status, see the module."""
    look = _look(reader, arguments.over)
    focus = kernel_name(reader, arguments.device) if arguments.device else ""
    if focus and focus not in look.meter.now.nodes:
        print_refusal(Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no device {focus}"), as_json=False)
        return _UNREAD
    if arguments.json:
        print_json(stack_dict(look, focus))
    else:
        for line in stack_lines(look.meter, look.findings, _WIDTH, focus, look.lives):
            print("".join(text for text, _ in line).rstrip())
    return status_of(look)


def _look(reader: HostReader, over_s: float) -> StackLook:

    arrays = {array.name: array for array in Sampler(reader).sample().arrays}
    stack = StackReader(reader)
    look = stack.look(arrays, wait=True)
    if over_s and not reader.still:
        time.sleep(over_s)
        look = stack.look(arrays, wait=True)
    return look


def status_of(look: StackLook) -> int:
    """Return the exit status of what was seen."""
    if look.meter.now.unknown:
        return _UNREAD
    return _ATTENTION if any(finding.role in {"bad", "warn"} for finding in look.findings) else _WELL


def stack_dict(look: StackLook, focus: str = "") -> dict[str, Any]:
    """Return the form for programs (docs/stack.md).

    Args:
        look: what was seen.
        focus: a device's kernel name; then only what stands on it, and all that stands beneath that.
    """
    stack = look.meter.now
    shown = set(stack.nodes)
    if focus:
        tops = {focus, *stack.above(focus)}
        shown = tops | {name for top in tops for name in stack.below(top)}
    return {
        "over_s": look.meter.over_s(_MOST_S) or None,
        "nodes": [_node_dict(look, stack, node) for node in stack.nodes.values() if node.name in shown],
        "findings": [
            {
                "code": finding.code,
                "node": finding.node or None,
                "severity": {"bad": "failed", "warn": "attention"}.get(finding.role, "info"),
                "text": finding.text,
                "remedy": finding.remedy or None,
            }
            for finding in look.findings
            if not finding.node or finding.node in shown
        ],
        "unknown": list(stack.unknown),
    }


def _node_dict(look: StackLook, stack: Stack, node: StackNode) -> dict[str, Any]:

    system = node.file_system
    return {
        "name": node.name,
        "label": node.label or None,
        "kind": node.kind,
        "level": node.level or None,
        "size_bytes": node.size_bytes,
        "parents": list(node.parents),
        "mount": system.mounts[0] if system.mounts else None,
        "mounts": list(system.mounts),
        "file_system": {
            "kind": system.kind,
            "label": system.label or None,
            "size_bytes": system.size_bytes,
            "free_bytes": system.free_bytes,
        }
        if system.kind
        else None,
        "swap": system.swap,
        "hidden": node.hidden,
        "suspended": node.suspended,
        "discards": node.discards,
        "discards_end": discards_end(stack, node.name),
        "misaligned": node.misaligned or None,
        "segments": [
            {
                "target": segment.target,
                "first_sector": segment.first_sector,
                "sectors": segment.sectors,
                "chunk_sectors": segment.chunk_sectors,
                "parts": [{"name": part, "sector": sector} for part, sector in segment.parts],
            }
            for segment in node.segments
        ],
        "load": _load_dict(look, node.name),
        "cache": _cache_dict(look, node),
        "pool": None
        if node.pool is None
        else {
            "data_share": node.pool.data_share,
            "metadata_share": node.pool.metadata_share,
            "state": node.pool.full,
            "queues": node.pool.queues,
        },
        "share": _share_dict(look, node.name),
    }


def _load_dict(look: StackLook, name: str) -> dict[str, Any] | None:
    load = look.meter.load(name, _MOST_S)
    if load is None:
        return None
    return {
        "over_s": load.over_s,
        "reads": load.reads,
        "writes": load.writes,
        "read_bytes": load.read_bytes,
        "written_bytes": load.written_bytes,
        "read_ms": load.read_ms,
        "write_ms": load.write_ms,
        "queue": load.queue,
        "in_flight": look.meter.now.counters[name].in_flight,
    }


def _cache_dict(look: StackLook, node: StackNode) -> dict[str, Any] | None:

    cache = node.cache
    if cache is None:
        return None
    delta = look.meter.cache(node.name, _MOST_S)
    front = Survival(look.meter.now, look.arrays).losses(*cache.devices) if cache.devices else None
    return {
        "mode": cache.mode,
        "hit_ratio": cache.hit_ratio,
        "hit_ratio_now": hit_ratio(delta.hits, delta.misses) if delta is not None else None,
        "dirty_bytes": cache.dirty_bytes,
        "alone": None if front is None else cache.keeps_writes and front <= 0,
        "policy": cache.policy or None,
        "devices": list(cache.devices),
        "backing": cache.backing or None,
        "block_bytes": cache.block_bytes,
        "total_bytes": cache.total_bytes,
        "used_bytes": cache.used_bytes,
        "hits": cache.hits,
        "misses": cache.misses,
        "read_hits": cache.read_hits,
        "read_misses": cache.read_misses,
        "write_hits": cache.write_hits,
        "write_misses": cache.write_misses,
        "promotions": cache.promotions,
        "demotions": cache.demotions,
        "written_bytes": cache.written_bytes,
        "life_a_year": yearly_wear(look.meter, node.name, look.lives) or None,
        "state": cache.state or None,
        "trouble": cache.trouble or None,
    }


def _share_dict(look: StackLook, name: str) -> dict[str, Any] | None:
    shares = look.meter.shares(name, _MOST_S)
    if not shares:
        return None
    return {
        part: {
            "reads": share.reads,
            "writes": share.writes,
            "bytes": share.total,
            "requests": share.requests,
        }
        for part, share in shares.items()
    }
