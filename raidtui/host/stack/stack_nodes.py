"""What stands on what, by sysfs; the tables of maps and LVM's words come from tools that are asked apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.mounts import MOUNTINFO, SWAPS, parse_mounts, parse_swaps
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.stack.bcache_files import read_bcache
from raidtui.host.stack.device_mapper import (
    MapLine,
    cache_of,
    kind_of,
    label_of,
    pool_of,
    segments_of,
    volume_uuid,
    writecache_of,
)
from raidtui.host.stack.lvm_report import LvmVolume
from raidtui.host.udev import UdevEntry, read_udev_entry
from raidtui.model.stack import VOLUMES, FileSystem, StackKind, StackNode
from raidtui.view.units import SECTOR_BYTES

_NO_LAYERS = ("ram", "zram", "sr", "fd", "mtdblock")
_MEMBERS = frozenset({"LVM2_member", "linux_raid_member", "bcache", "crypto_LUKS"})
"""What udev calls a device that is a part of something else."""
_NO_PASSDOWN = "no_discard_passdown"
_POOL, _INNER_POOL = "-pool", "-tpool"


class MapFacts(Struct, frozen=True, kw_only=True):
    """What tools said.

    Args:
        tables, statuses: of maps, by name; None where they are not known.
        volumes: of LVM, by UUID; None where they are not known.
        rooms: the size and the free bytes of file systems, by mount point.
    """

    tables: Mapping[str, list[MapLine]] | None = None
    statuses: Mapping[str, list[MapLine]] | None = None
    volumes: Mapping[str, LvmVolume] | None = None
    rooms: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def read_nodes(reader: HostReader, facts: MapFacts) -> dict[str, StackNode]:
    """Return all layers by kernel name, each after what it stands on; no tool runs, no device is opened.

    Args:
        reader: the host.
        facts: what tools said.
    """
    node_reader = _NodeReader(reader, facts)
    nodes = {node.name: node for node in node_reader.nodes()}
    return _judged(_in_order(nodes))


class _NodeReader:
    def __init__(self, reader: HostReader, facts: MapFacts) -> None:
        self._reader = reader
        self._facts = facts
        self._names = [name for name in reader.names(BLOCK) if not name.startswith(_NO_LAYERS)]
        self._numbers = {self._of(name, "dev"): name.replace("!", "/") for name in self._names}
        self._mounts: dict[str, list[str]] = {}
        for mount in parse_mounts(reader.text(MOUNTINFO) or ""):
            key = mount.source if mount.dev.startswith("0:") else mount.dev
            if mount.top == "/" or key not in self._mounts:
                self._mounts.setdefault(key, []).append(mount.where)
        self._swaps = parse_swaps(reader.text(SWAPS) or "")

    def _of(self, name: str, attribute: str) -> str:
        return (self._reader.text(f"{BLOCK}/{name}/{attribute}") or "").strip()

    def _number(self, name: str, attribute: str) -> int | None:
        return whole_number(self._of(name, attribute))

    def nodes(self) -> Iterator[StackNode]:
        for name in self._names:
            sectors = self._number(name, "size")
            if sectors and (not name.startswith("loop") or self._of(name, "loop/backing_file")):
                yield self._node(name, sectors)

    def _node(self, name: str, sectors: int) -> StackNode:
        dev = self._of(name, "dev")
        entry = read_udev_entry(self._reader, dev)
        discards = self._number(name, "queue/discard_max_bytes")
        rotational = self._of(name, "queue/rotational")
        shown = name.replace("!", "/")
        node = StackNode(
            name=shown,
            kind=StackKind.DISK,
            dev=dev,
            size_bytes=sectors * SECTOR_BYTES,
            parents=tuple(each.replace("!", "/") for each in self._reader.names(f"{BLOCK}/{name}/slaves")),
            rotational={"0": False, "1": True}.get(rotational),
            discards=None if discards is None else discards > 0,
            file_system=self._file_system(shown, dev, entry),
        )
        if self._of(name, "partition"):
            return self._partition(name, node)
        if name.startswith("dm-"):
            return self._map(name, node)
        if name.startswith("md"):
            label = entry.properties.get("MD_DEVNAME", "")
            return replace(node, kind=StackKind.MD, level=self._of(name, "md/level"), label=label)
        if name.startswith("bcache"):
            return replace(node, kind=StackKind.BCACHE, cache=read_bcache(self._reader, name, node.parents))
        return replace(node, kind=StackKind.LOOP if name.startswith("loop") else StackKind.DISK)

    def _file_system(self, name: str, dev: str, entry: UdevEntry) -> FileSystem:
        paths = (f"/dev/{name}", *(f"/dev/{link}" for link in entry.links))
        mounts = [where for key in (dev, *paths) for where in self._mounts.get(key, ())]
        kind = entry.properties.get("ID_FS_TYPE", "")
        size, free = self._facts.rooms.get(mounts[0], (None, None)) if mounts else (None, None)
        return FileSystem(
            kind=kind,
            label="" if kind in _MEMBERS else entry.properties.get("ID_FS_LABEL", ""),
            mounts=tuple(dict.fromkeys(mounts)),
            swap=not self._swaps.isdisjoint(paths),
            size_bytes=size,
            free_bytes=free,
        )

    def _partition(self, name: str, node: StackNode) -> StackNode:
        link = self._reader.link(f"{BLOCK}/{name}") or ""
        whole = link.split("/")[-2] if link.count("/") > 1 else ""
        if not whole:
            whole = next(
                (
                    each
                    for each in self._names
                    if self._reader.text(f"{BLOCK}/{each}/{name}/partition") is not None
                ),
                "",
            )
        start, block = self._number(name, "start"), self._number(whole, "queue/physical_block_size")
        misaligned = ""
        if start is not None and block and start * SECTOR_BYTES % block:
            misaligned = f"it begins at sector {start}, within a physical block of {block} bytes"
        elif whole.startswith("md") and start is not None:
            misaligned = self._off_stripe(whole, start)
        whole_discards = self._number(whole, "queue/discard_max_bytes") if whole else None
        rotational = {"0": False, "1": True}.get(self._of(whole, "queue/rotational")) if whole else None
        return replace(
            node,
            kind=StackKind.PARTITION,
            parents=(whole.replace("!", "/"),) if whole else (),
            rotational=rotational,
            discards=None if whole_discards is None else whole_discards > 0,
            misaligned=misaligned,
        )

    def _map(self, name: str, node: StackNode) -> StackNode:
        uuid, map_name = self._of(name, "dm/uuid"), self._of(name, "dm/name")
        facts = self._facts
        segments = segments_of((facts.tables or {}).get(map_name, []), self._numbers)
        kind = kind_of(uuid, segments)
        volume = (facts.volumes or {}).get(volume_uuid(uuid))
        node = replace(
            node,
            kind=kind,
            label=label_of(map_name, uuid).removesuffix(_INNER_POOL),
            hidden=uuid.startswith("LVM-") and uuid.endswith(_POOL),
            suspended=self._of(name, "dm/suspended") == "1",
            segments=segments,
            health=volume.health if volume is not None else "",
        )
        places = [part for segment in segments for part in segment.parts if part[0].startswith("md")]
        off = [self._off_stripe(array, sector) for array, sector in places if sector is not None]
        node = replace(node, misaligned=next((words for words in off if words), ""))
        status = (facts.statuses or {}).get(map_name, [])
        words = status[0].args if len(status) == 1 else []
        if _NO_PASSDOWN in words:
            node = replace(node, discard_lost=f"the kernel says {_NO_PASSDOWN}")
        if len(segments) != 1:
            return node
        if kind is StackKind.CACHE:
            return self._with_written(replace(node, cache=cache_of(segments[0], words)))
        if kind is StackKind.WRITECACHE:
            return self._with_written(replace(node, cache=writecache_of(segments[0], words)))
        return replace(node, pool=pool_of(words)) if kind is StackKind.THIN_POOL else node

    def _off_stripe(self, array: str, sector: int) -> str:
        """Return why what begins at this sector of an array does not fit its stripes; "" where it does."""
        stripe = self._number(array, "queue/optimal_io_size")
        if not stripe or not sector * SECTOR_BYTES % stripe:
            return ""
        return (
            f"it begins at sector {sector} of {array}, not at a multiple of its stripe of {stripe >> 10} KiB"
        )

    def _with_written(self, node: StackNode) -> StackNode:
        """Add what was written to the inner volumes of a cache: each has counters of its own."""
        if node.cache is None:
            return node
        written = [self._written(device) for device in node.cache.devices]
        total = None if None in written else sum(each or 0 for each in written) * SECTOR_BYTES
        return replace(node, cache=replace(node.cache, written_bytes=total))

    def _written(self, name: str) -> int | None:
        words = self._of(name.replace("/", "!"), "stat").split()
        return whole_number(words[6]) if len(words) > 6 else None


def _in_order(nodes: Mapping[str, StackNode]) -> dict[str, StackNode]:
    """Return the nodes, each after what it stands on. What is in a circle is left out."""
    found: dict[str, StackNode] = {}
    left = dict(nodes)
    while left:
        ready = [node for node in left.values() if not any(parent in left for parent in node.parents)]
        if not ready:
            break
        for node in ready:
            found[node.name] = replace(node, parents=tuple(each for each in node.parents if each in nodes))
            del left[node.name]
    return found


def _judged(nodes: dict[str, StackNode]) -> dict[str, StackNode]:
    """Say which volumes are inner ones, where discards end, and what does not fit the layer below."""
    inner = {
        parent
        for node in nodes.values()
        for parent in node.parents
        if node.kind in VOLUMES and not node.hidden and nodes[parent].kind in VOLUMES
    }
    return {
        name: replace(
            node,
            hidden=node.hidden or (name in inner and node.kind is not StackKind.THIN_POOL),
            discard_lost=_discard_lost(node, [nodes[parent] for parent in node.parents]),
        )
        for name, node in nodes.items()
    }


def _discard_lost(node: StackNode, below: Sequence[StackNode]) -> str:
    """Return why discards end here, where what is below takes them; "" where they do not end here."""
    if not below or not all(each.discards for each in below):
        return ""
    if node.discards is not False:
        return node.discard_lost
    if node.kind is StackKind.MD and node.level in {"raid4", "raid5", "raid6"}:
        return "raid456 passes them on with devices_handle_discard_safely only"
    if node.kind is StackKind.CRYPT:
        return "it was opened without allow_discards"
    return "it does not pass them on"
