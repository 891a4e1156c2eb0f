"""What stands on what: disks, partitions, arrays, volumes, caches, encryption and file systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field

from raidtui.model.disk import DiskIo


class StackKind(StrEnum):
    """What a layer is; documented in docs/stack.md."""

    DISK = "disk"
    PARTITION = "partition"
    MD = "md"
    LINEAR = "lvm-linear"
    STRIPED = "lvm-striped"
    THIN = "lvm-thin"
    THIN_POOL = "lvm-thin-pool"
    CACHE = "lvm-cache"
    WRITECACHE = "lvm-writecache"
    RAID = "lvm-raid"
    SNAPSHOT = "lvm-snapshot"
    VOLUME = "lvm"
    """A volume of LVM whose table is not known: without root, or dmsetup does not answer."""
    CRYPT = "crypt"
    BCACHE = "bcache"
    MULTIPATH = "multipath"
    LOOP = "loop"
    MAP = "map"
    """Any other map of the device mapper."""


VOLUMES = frozenset(kind for kind in StackKind if kind.startswith("lvm"))
"""Kinds that are volumes of LVM."""


class StackSegment(Struct, frozen=True, kw_only=True):
    """A line of a map's table.

    Args:
        target: linear, striped, crypt and so on.
        first_sector: where it begins in the map.
        parts: the devices that it stands on, by kernel name, with the first sector there; None where the
            target does not say.
        chunk_sectors: of a striped one.
        options: what else the line says, as far as something here asks for it.
    """

    target: str
    first_sector: int
    sectors: int
    parts: tuple[tuple[str, int | None], ...] = ()
    chunk_sectors: int | None = None
    options: tuple[str, ...] = ()


class CacheState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a cache says of itself. None is not known; counters begin when it was activated.

    Args:
        mode: writethrough, writeback, writearound, passthrough, none.
        devices: what the cache lies on, by kernel name.
        backing: what is cached; "" where it is not known.
        block_bytes: what is promoted at once.
        dirty_bytes: what has not been written back yet. bcache rounds it to three digits.
        hits, misses: requests; of dm-cache and dm-writecache also by direction.
        promotions: blocks that were copied into the cache.
        state: bcache's word: no cache, clean, dirty, inconsistent.
        trouble: why it does not work, in the kernel's word: Fail, Error, needs_check, an error number.
        written_bytes: what was written to the cache device: by bcache since it was made, else since the
            map was activated.
        migration_threshold: of dm-cache, how many sectors may be on their way at a time.
        settings: of dm-writecache, those that LVM was given, in its words: high_watermark=30.
        set_uuid: of bcache, the UUID of the set of its cache device.
    """

    mode: str | None = None
    policy: str = ""
    devices: tuple[str, ...] = ()
    backing: str = ""
    block_bytes: int | None = None
    total_bytes: int | None = None
    used_bytes: int | None = None
    dirty_bytes: int | None = None
    hits: int | None = None
    misses: int | None = None
    read_hits: int | None = None
    read_misses: int | None = None
    write_hits: int | None = None
    write_misses: int | None = None
    promotions: int | None = None
    demotions: int | None = None
    state: str = ""
    trouble: str = ""
    written_bytes: int | None = None
    migration_threshold: int | None = None
    settings: tuple[str, ...] = ()
    set_uuid: str = ""

    @property
    def hit_ratio(self) -> float | None:
        """The share of requests that the cache has served, 0 to 1; None for no requests."""
        return hit_ratio(self.hits, self.misses)

    @property
    def keeps_writes(self) -> bool:
        """Whether data can be on the cache device alone."""
        return self.mode == "writeback" or bool(self.dirty_bytes) or self.state in {"dirty", "inconsistent"}


def hit_ratio(hits: int | None, misses: int | None) -> float | None:
    """Return the share of hits, 0 to 1; None for no requests."""
    if hits is None or misses is None or hits + misses <= 0:
        return None
    return hits / (hits + misses)


class PoolState(Struct, frozen=True, kw_only=True):
    """How full a thin pool is; shares are 0 to 1, None where the kernel does not say.

    Args:
        full: what the kernel calls its state: rw, ro, out_of_data_space, or Fail.
        queues: whether writes wait where it is full; else they fail at once.
    """

    data_share: float | None = None
    metadata_share: float | None = None
    full: str = ""
    queues: bool = False


class FileSystem(Struct, frozen=True, kw_only=True):
    """What udev has found on a device, and where it is mounted; sizes are statvfs(3)'s.

    Args:
        kind: ext4, xfs, swap, LVM2_member.
        free_bytes: what users who are not root can have.
    """

    kind: str = ""
    label: str = ""
    mounts: tuple[str, ...] = ()
    swap: bool = False
    size_bytes: int | None = None
    free_bytes: int | None = None


class StackNode(Struct, frozen=True, kw_only=True):
    """A block device as a layer.

    Args:
        name: the kernel's.
        label: what people call it: vc/slow, an array's name, a map's name; "" for nothing else.
        parents: what it stands on, by kernel name: disks of an array, volumes under a cache.
        hidden: whether it is an inner volume of LVM: the part of another one.
        level: of an array.
        suspended: whether the device mapper holds all requests to it.
        discards: whether it takes discards (TRIM).
        discard_lost: why it does not, or does not pass them on, where the layer below takes them.
        misaligned: why requests do not fit the layer below; "" where they do or it is not known.
        segments: of a map; () where its table is not known.
        health: what LVM says is wrong with a volume.
    """

    name: str
    kind: StackKind
    label: str = ""
    dev: str = ""
    size_bytes: int | None = None
    parents: tuple[str, ...] = ()
    hidden: bool = False
    level: str = ""
    suspended: bool = False
    rotational: bool | None = None
    discards: bool | None = None
    discard_lost: str = ""
    misaligned: str = ""
    segments: tuple[StackSegment, ...] = ()
    file_system: FileSystem = field(default_factory=FileSystem)
    cache: CacheState | None = None
    pool: PoolState | None = None
    health: str = ""

    @property
    def title(self) -> str:
        """What it is called in a picture."""
        return self.label or self.name


class Stack(Struct, frozen=True, kw_only=True):
    """All layers of a host at one moment.

    Args:
        nodes: by kernel name; what stands on something follows it.
        counters: of each node.
        clock_s: when the counters were read, on a clock that only counts.
        unknown: what could not be read, a sentence each.
    """

    nodes: Mapping[str, StackNode] = field(default_factory=dict)
    counters: Mapping[str, DiskIo] = field(default_factory=dict)
    clock_s: float = 0.0
    unknown: tuple[str, ...] = ()

    def on(self, name: str) -> tuple[StackNode, ...]:
        """Return what stands directly on a device."""
        return tuple(node for node in self.nodes.values() if name in node.parents)

    def tops(self) -> Iterator[StackNode]:
        """Return what nothing stands on."""
        held = {parent for node in self.nodes.values() for parent in node.parents}
        return (node for node in self.nodes.values() if node.name not in held)

    def below(self, name: str) -> tuple[str, ...]:
        """Return all that a device stands on, itself not included, nearest first."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            node = self.nodes.get(waiting.pop(0))
            for parent in node.parents if node is not None else ():
                if parent not in found and parent != name:
                    found[parent] = None
                    waiting.append(parent)
        return tuple(found)

    def above(self, name: str) -> frozenset[str]:
        """Return all that stands on a device, itself not included."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for node in self.on(waiting.pop()):
                if node.name not in found:
                    found.add(node.name)
                    waiting.append(node.name)
        return frozenset(found)
