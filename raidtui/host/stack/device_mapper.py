"""Maps of the device mapper, as ``dmsetup table`` and ``dmsetup status`` print them.

Sources: the kernel's admin-guide/device-mapper: cache.rst, writecache.rst, thin-provisioning.rst,
striped.rst.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from raidtui.host.readers.host_reader import whole_number
from raidtui.model.stack import CacheState, PoolState, StackKind, StackSegment
from raidtui.view.units import SECTOR_BYTES

TABLE, STATUS = ("dmsetup", "table"), ("dmsetup", "status", "--noflush")
_FAILED = frozenset({"Fail", "Error"})
_MODES = frozenset({"writethrough", "writeback", "passthrough"})
_CACHE_FIELDS, _WRITECACHE_COUNTERS = 12, 10
_WRITECACHE_FLAGS = frozenset({"cleaner", "fua", "nofua", "metadata_only"})
_SET_BY_LVM = frozenset({"cleaner", "start_sector"})
_KINDS = {
    "striped": StackKind.STRIPED,
    "cache": StackKind.CACHE,
    "writecache": StackKind.WRITECACHE,
    "thin": StackKind.THIN,
    "thin-pool": StackKind.THIN_POOL,
    "raid": StackKind.RAID,
    "mirror": StackKind.RAID,
    "snapshot": StackKind.SNAPSHOT,
    "snapshot-origin": StackKind.SNAPSHOT,
    "linear": StackKind.LINEAR,
}
_UUID_CHARS = 64


class MapLine:
    """A line of a table or a status: where it is in the map, its target, and the rest in words."""

    __slots__ = ("args", "first", "sectors", "target")

    def __init__(self, first: int, sectors: int, target: str, args: list[str]) -> None:
        self.first = first
        self.sectors = sectors
        self.target = target
        self.args = args


def parse_maps(text: str) -> dict[str, list[MapLine]]:
    """Return the lines of ``dmsetup table`` or ``dmsetup status`` by the map's name; others are left out."""
    found: dict[str, list[MapLine]] = {}
    for line in text.split("\n"):
        name, separator, rest = line.partition(": ")
        words = rest.split()
        if not separator or len(words) < 3:
            continue
        first, sectors = whole_number(words[0]), whole_number(words[1])
        if first is not None and sectors is not None:
            found.setdefault(name, []).append(MapLine(first, sectors, words[2], words[3:]))
    return found


def segments_of(lines: list[MapLine], names: Mapping[str, str]) -> tuple[StackSegment, ...]:
    """Return a table's lines as segments.

    Args:
        lines: of the table.
        names: the kernel's names by "major:minor".
    """
    return tuple(_segment(line, names) for line in lines)


def _segment(line: MapLine, names: Mapping[str, str]) -> StackSegment:
    args, chunk = line.args, None
    if line.target == "striped" and len(args) > 1:
        chunk, args = whole_number(args[1]), args[2:]
    return StackSegment(
        target=line.target,
        first_sector=line.first,
        sectors=line.sectors,
        parts=tuple(_parts(line.target, args, names)),
        chunk_sectors=chunk,
        options=tuple(args),
    )


def _parts(target: str, args: list[str], names: Mapping[str, str]) -> Iterator[tuple[str, int | None]]:
    """Yield the devices in a line; the word after one is an offset where the target has offsets."""
    with_offsets = target in {"linear", "striped", "crypt"}
    for number, word in enumerate(args):
        if word in names:
            after = args[number + 1] if with_offsets and number + 1 < len(args) else None
            yield names[word], whole_number(after)


def kind_of(uuid: str, segments: tuple[StackSegment, ...]) -> StackKind:
    """Return what a map is, by the owner that its UUID names and by its table."""
    targets = {segment.target for segment in segments}
    if uuid.startswith("CRYPT-") or "crypt" in targets:
        return StackKind.CRYPT
    if uuid.startswith("mpath-") or "multipath" in targets:
        return StackKind.MULTIPATH
    if "-mpath-" in uuid or uuid.startswith("part"):
        return StackKind.PARTITION
    if not uuid.startswith("LVM-"):
        return StackKind.MAP
    for target, kind in _KINDS.items():
        # A volume that was extended may be linear in one part and striped in another: then it is linear.
        if target in targets and (target != "striped" or "linear" not in targets):
            return kind
    return StackKind.VOLUME


def volume_uuid(uuid: str) -> str:
    """Return the UUID of LVM's volume in a map's UUID, without its dashes; "" for another owner."""
    return uuid[len("LVM-") + 32 : len("LVM-") + _UUID_CHARS] if uuid.startswith("LVM-") else ""


def label_of(name: str, uuid: str) -> str:
    """Return what a map is called: vc/slow for one of LVM, which doubles the hyphens within its names."""
    if not uuid.startswith("LVM-"):
        return name
    group, _, volume = name.replace("--", "\0").partition("-")
    return f"{group}/{volume}".replace("\0", "-")


def cache_of(table: StackSegment, status: list[str]) -> CacheState | None:
    """Return what a dm-cache says.

    Args:
        table: its line: metadata, cache, origin, and so on.
        status: the words after the target; empty where they are not known.
    """
    devices = [name for name, _ in table.parts]
    if len(devices) != 3:
        return None
    known = CacheState(devices=tuple(devices[:2]), backing=devices[2])
    if not status or status[0] in _FAILED:
        return replace(known, mode=_mode_in(table.options), trouble=status[0] if status else "")
    return _with_status(known, status)


def cache_said(status: list[str]) -> CacheState:
    """Return what the status of a dm-cache says, without its devices."""
    return _with_status(CacheState(), status)


def _with_status(known: CacheState, status: list[str]) -> CacheState:
    numbers = [whole_number(word) for word in status[4:11]]
    block, total_used = whole_number(status[2]) if len(status) > 2 else None, status[3:4]
    if len(status) < _CACHE_FIELDS or block is None or None in numbers:
        return known
    used, total = _pair(total_used[0])
    read_hits, read_misses, write_hits, write_misses, demotions, promotions, dirty = (n or 0 for n in numbers)
    features, rest = _counted(status[11:])
    core, rest = _counted(rest)
    settings = dict(zip(core[::2], core[1::2], strict=False))
    policy = rest[0] if rest else ""
    _, ends = _counted(rest[1:])
    trouble = "needs_check" if "needs_check" in ends else "ro" if ends[:1] == ["ro"] else ""
    size = block * SECTOR_BYTES
    return replace(
        known,
        mode=_mode_in(features),
        policy=policy,
        block_bytes=size,
        total_bytes=None if total is None else total * size,
        used_bytes=None if used is None else used * size,
        dirty_bytes=dirty * size,
        hits=read_hits + write_hits,
        misses=read_misses + write_misses,
        read_hits=read_hits,
        read_misses=read_misses,
        write_hits=write_hits,
        write_misses=write_misses,
        promotions=promotions,
        demotions=demotions,
        trouble=trouble,
        migration_threshold=whole_number(settings.get("migration_threshold")),
    )


def writecache_of(table: StackSegment, status: list[str]) -> CacheState | None:
    """Return what a dm-writecache says. All that is on it has still to be written back."""
    devices = [name for name, _ in table.parts]
    if len(devices) != 2:
        return None
    at = next((n for n, word in enumerate(table.options) if n > 2 and word.isdigit()), None)
    block = whole_number(table.options[at]) if at is not None else None
    known = CacheState(
        mode="writeback",
        devices=(devices[1],),
        backing=devices[0],
        block_bytes=block,
        settings=() if at is None else _settings(table.options[at + 2 :]),
    )
    numbers = [whole_number(word) for word in status]
    if len(numbers) < 4 or None in numbers[:4] or block is None:
        return replace(known, trouble=status[0] if status and status[0] in _FAILED else "")
    error, total, free = (number or 0 for number in numbers[:3])
    counters = [number or 0 for number in numbers[4:]]
    known = replace(
        known,
        total_bytes=total * block,
        used_bytes=(total - free) * block,
        dirty_bytes=(total - free) * block,
        trouble=str(error) if error else "",
    )
    if len(counters) < _WRITECACHE_COUNTERS:  # before Linux 5.15 there are none
        return known
    reads, read_hits, writes, fresh, committed, around = counters[:6]
    # What a write finds in the cache, or gets room for, is cached; what goes around it is not.
    return replace(
        known,
        hits=read_hits + writes - around,
        misses=max(0, reads - read_hits) + around,
        read_hits=read_hits,
        read_misses=max(0, reads - read_hits),
        write_hits=fresh + committed,
        write_misses=max(0, writes - fresh - committed),
    )


def _settings(words: Sequence[str]) -> tuple[str, ...]:
    """Return the options of a dm-writecache as LVM takes them, but for those that it sets by itself."""
    left, found = iter(words), {}
    for word in left:
        found[word] = "1" if word in _WRITECACHE_FLAGS else next(left, "")
    return tuple(f"{name}={value}" for name, value in found.items() if name not in _SET_BY_LVM and value)


def pool_of(status: list[str]) -> PoolState | None:
    """Return how full a thin pool is; None where its status is not known."""
    if not status:
        return None
    if status[0] in _FAILED:
        return PoolState(full=status[0])
    if len(status) < 5:
        return None
    return PoolState(
        metadata_share=_share(status[1]),
        data_share=_share(status[2]),
        full=next((word for word in status if word in {"rw", "ro", "out_of_data_space"}), ""),
        queues="queue_if_no_space" in status,
    )


def _mode_in(words: tuple[str, ...] | list[str]) -> str | None:
    return next((word for word in words if word in _MODES), None)


def _counted(words: list[str]) -> tuple[list[str], list[str]]:
    """Split a list that begins with its length from what follows it."""
    count = whole_number(words[0]) if words else None
    return ([], []) if count is None else (words[1 : 1 + count], words[1 + count :])


def _pair(word: str) -> tuple[int | None, int | None]:
    first, _, second = word.partition("/")
    return whole_number(first), whole_number(second)


def _share(word: str) -> float | None:
    used, total = _pair(word)
    return used / total if used is not None and total else None
