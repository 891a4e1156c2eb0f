"""Whether facts about a dm-cache hold, by what the kernel says: LVM may have noted what it refused."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.host.stack.device_mapper import cache_said, parse_maps
from raidtui.model.plan import FactKind
from raidtui.model.stack import CacheState

_STATUS_S = 10.0
NO_CACHE = "no"
"""The value of a fact: the map is no cache."""


def policy_of(state: CacheState) -> str:
    """Return the policy as LVM calls it: since Linux 4.6 mq is smq."""
    return "smq" if state.policy == "mq" else state.policy


def _cached(root: Root, name: str, value: str) -> str:
    output = root.run("dmsetup", "status", "--noflush", name, timeout_s=_STATUS_S)
    if output.status != 0:
        return output.why_not or f"dmsetup says of {name}: {output.stderr.strip() or 'nothing'}"
    line = next(iter(parse_maps(f"{name}: {output.stdout}").get(name, ())), None)
    cached = line is not None and line.target == "cache"
    if value == NO_CACHE:
        return f"{name} is still cached" if cached else ""
    if line is None or not cached:
        return f"{name} is not cached"
    state = cache_said(line.args)
    key, _, wanted = value.partition(" ")
    blocks = None
    if state.dirty_bytes is not None and state.block_bytes:
        blocks = state.dirty_bytes // state.block_bytes
    found = {
        "mode": state.mode,
        "policy": policy_of(state),
        "migration_threshold": _text(state.migration_threshold),
        "dirty": _text(blocks),
    }.get(key)
    if found == wanted:
        return ""
    if key == "dirty":
        return f"the cache of {name} has {found or 'an unknown number of'} dirty blocks"
    return f"the kernel has {key} {found or 'not known'} for {name}, not {wanted}"


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


FACT_READERS = {FactKind.CACHED: _cached}
"""For each kind a function of (root, subject, value) that returns why the fact does not hold, or ""."""
