"""Whether facts about a dm-cache or dm-writecache hold, by what the kernel says.

LVM may have noted what the kernel has refused.
"""

from __future__ import annotations

from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.stack.device_mapper import MapLine, cache_said, parse_maps
from raidtui.model.fact import FactKind
from raidtui.model.stack import CacheState

_STATUS_S = 10.0
_TARGETS = frozenset({"cache", "writecache"})
NO_CACHE, ANY_CACHE = "no", "yes"
"""Values of a fact: the map is no cache; it is one, whatever its mode."""


def policy_of(state: CacheState) -> str:
    """Return the policy as LVM calls it: since Linux 4.6 mq is smq."""
    return "smq" if state.policy == "mq" else state.policy


def _cached(reader: HostReader, name: str, value: str) -> str:
    found, why = _line(reader, "status", name)
    if why:
        return why
    cached = found is not None and found.target in _TARGETS
    if value == NO_CACHE:
        return f"{name} is still cached" if cached else ""
    if found is None or not cached:
        return f"{name} is not cached"
    if value == ANY_CACHE:
        return ""
    key, _, wanted = value.partition(" ")
    if found.target == "writecache":
        return _check_writecache(reader, name, found.args, key, wanted)
    state = cache_said(found.args)
    blocks = None
    if state.dirty_bytes is not None and state.block_bytes:
        blocks = state.dirty_bytes // state.block_bytes
    has = {
        "mode": state.mode,
        "policy": policy_of(state),
        "migration_threshold": _text(state.migration_threshold),
        "dirty": _text(blocks),
    }.get(key)
    if has == wanted:
        return ""
    if key == "dirty":
        return f"the cache of {name} has {has or 'an unknown number of'} dirty blocks"
    return f"the kernel has {key} {has or 'not known'} for {name}, not {wanted}"


def _line(reader: HostReader, what: str, name: str) -> tuple[MapLine | None, str]:
    """Return the first line of a map, or why it is not known."""
    options = ("--noflush",) if what == "status" else ()
    output = reader.ask("dmsetup", what, *options, name, timeout_s=_STATUS_S)
    if output.status != 0:
        return None, output.why_not or f"dmsetup says of {name}: {output.stderr.strip() or 'nothing'}"
    return next(iter(parse_maps(f"{name}: {output.stdout}").get(name, ())), None), ""


def _check_writecache(reader: HostReader, name: str, status: list[str], key: str, wanted: str) -> str:
    """All that a dm-writecache holds has still to be written back."""
    if key == "mode":
        return "" if wanted == "writeback" else f"{name} has a dm-writecache, which is never {wanted}"
    if key == "held":
        total, free = map(whole_number, status[1:3]) if len(status) > 2 else (None, None)
        held = None if total is None or free is None else str(total - free)
        if held == wanted:
            return ""
        return f"the cache of {name} holds {held or 'an unknown number of'} blocks that are not written back"
    table, why = _line(reader, "table", name)
    if why:
        return why
    has = "yes" if table is not None and "cleaner" in table.args else "no"
    if key == "cleaner" and has == wanted:
        return ""
    return f"the kernel has {key} {has} for {name}, not {wanted}"


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


FACT_READERS = {FactKind.CACHED: _cached}
"""For each kind a function of (root, subject, value) that returns why the fact does not hold, or ""."""
