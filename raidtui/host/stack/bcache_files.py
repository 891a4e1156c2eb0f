"""bcache as it is in sysfs (the kernel's admin-guide/bcache.rst). Nothing here opens a device.

Its counters lag by up to 23 s: the kernel adds them up thirteen times in five minutes
(drivers/md/bcache/stats.c, scale_accounting).
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.stack import CacheState

_UNITS = "kMGTPE"
_MOST_DIGITS = 1000
_STATS = "stats_total"
_NO_CACHE = "no cache"


def read_bcache(reader: HostReader, name: str, parents: Sequence[str]) -> CacheState:
    """Return what a bcache device says of itself.

    Args:
        reader: the host.
        name: bcache0.
        parents: what sysfs says that it stands on: the backing device, and the cache device if it has one.
    """
    folder = f"{BLOCK}/{name}/bcache"
    backing = _word(reader, f"{folder}/backing_dev_name")
    state = _word(reader, f"{folder}/state")
    hits, misses = (
        whole_number(reader.text(f"{folder}/{_STATS}/cache_{word}")) for word in ("hits", "misses")
    )
    devices = tuple(each for each in parents if each != backing) if backing else ()
    # The cache device is in the list of what it stands on for as long as it is attached.
    cache = f"{BLOCK}/{devices[0]}/bcache" if devices else ""
    cache_set = (reader.link(f"{folder}/cache") or "").rpartition("/")[2]
    bucket = bcache_bytes(reader.text(f"{cache}/bucket_size")) if cache else None
    buckets = whole_number(reader.text(f"{cache}/nbuckets")) if cache else None
    return CacheState(
        mode=None if state == _NO_CACHE else _chosen(reader.text(f"{folder}/cache_mode") or ""),
        devices=devices,
        backing=backing,
        block_bytes=bucket,
        total_bytes=bucket * buckets if bucket and buckets else None,
        dirty_bytes=bcache_bytes(reader.text(f"{folder}/dirty_data")),
        hits=hits,
        misses=misses,
        state=state,
        written_bytes=bcache_bytes(reader.text(f"{cache}/written")) if cache else None,
        set_uuid=cache_set,
    )


def bcache_filled_percent(reader: HostReader, cache: str) -> int | None:
    """Return how much of a cache device holds data, in whole percents; None where the kernel does not say.

    It is as of the last garbage collection. Reading it sorts all buckets in the kernel: not for every second.

    Args:
        reader: the host.
        cache: the cache device's kernel name.
    """
    shares = {}
    for line in (reader.text(f"{BLOCK}/{cache}/bcache/priority_stats") or "").split("\n"):
        name, _, value = line.partition(":")
        shares[name] = whole_number(value.strip().removesuffix("%"))
    clean, dirty = shares.get("Clean"), shares.get("Dirty")
    return None if clean is None or dirty is None else clean + dirty


def bcache_bytes(text: str | None) -> int | None:
    """Return a size as bcache prints it: 512.0k, 1.9M, 7 (bytes); units are powers of 1024."""
    word = (text or "").strip()
    unit = word[-1:]
    power = _UNITS.index(unit) + 1 if unit and unit in _UNITS else 0
    number = word[:-1] if power else word
    whole, _, tenths = number.partition(".")
    if not (whole.isascii() and whole.isdigit()) or (tenths and not (tenths.isascii() and tenths.isdigit())):
        return None
    return int(float(f"{whole[:20]}.{tenths[:3] or 0}") * 1024**power)


def bcache_text(number: int) -> str:
    """Return a size as bcache prints it (drivers/md/bcache/util.c, bch_hprint)."""
    unit, rest = 0, 0
    while not unit or number >= _MOST_DIGITS:
        number, rest, unit = number >> 10, number & 1023, unit + 1
    return f"{number}.{rest * 10 // 1024}{_UNITS[unit - 1]}"


def _chosen(text: str) -> str | None:
    """Return the word in brackets: "writethrough [writeback] writearound none"."""
    _, opened, rest = text.partition("[")
    word, closed, _ = rest.partition("]")
    return word if opened and closed else None


def _word(reader: HostReader, path: str) -> str:
    return (reader.text(path) or "").strip()
