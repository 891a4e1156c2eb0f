"""Blocks that say themselves where in an array they belong: found by reading the start of each device.

A superblock of ext4, XFS or btrfs, a header of an allocation group, a partition table, a label of LVM or
LUKS: each is a device and a byte on it for a byte of the array, so each gives the data offset of a geometry.
A file system in the first partition of an array reads the same from an array that begins a whole number of
rows later. Only what stands in front of it shows which it is: a partition table or LVM that leads to it.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from raidtui.features.rescue.search import btrfs, ext4, xfs
from raidtui.features.rescue.search.block_facts import BlockFact, Stretch
from raidtui.features.rescue.search.logical_array import LogicalArray
from raidtui.features.rescue.search.members import SearchStage, SearchWatch, Source
from raidtui.features.rescue.search.ranking import Ranked
from raidtui.features.rescue.search.volumes import (
    HEAD_BYTES,
    FileSystem,
    expect_head,
    extent,
    is_gpt_header,
    is_label,
    is_of_the_member,
    recognise_container,
)
from raidtui.model.striping import StripeShape, find_far_offsets, is_far

WINDOW_BYTES = 136 << 20
"""The largest data offset that mdadm chooses itself is 129 MiB (262,144 sectors and 1 MiB)."""
_STEP = 1 << 20
_OVERLAP = 4096
_ZERO = bytes(_STEP)
_SECTOR = 512
_LARGEST_OFFSET = 16 << 30
_MOST_OFFSETS = 6
_MOST_TABLES = 2
_SECTORS_OF_A_BLOCK = 8
_MAGICS = (b"XFSB", b"XAGF", b"XAGI", b"LABELONE", b"EFI PART", b"LUKS\xba\xbe")
_MOST_ROWS = 1 << 15
_MOST_FACTS = 400
_OLD_START = 63 * 512


class ArrayRoot:
    """What stands on the whole array, by the anchors that say so.

    Args:
        kind: ext4, xfs, btrfs, LVM2_member, gpt, dos, crypto_LUKS.
        size_bytes: of a file system; 0 where it is not known.
        file_system: the file system, if it is one.
        start: where in the array the file system begins, if it is not at the start of it.
        held: whether something at the start of the array says so: a partition table.
    """

    def __init__(
        self, kind: str, file_system: FileSystem | None = None, start: int = 0, *, held: bool = False
    ) -> None:
        self.kind = kind
        self.file_system = file_system
        self.start = start
        self._held = held
        self.anchors: set[tuple[int, int, int]] = set()

    @property
    def size_bytes(self) -> int:
        """What the array must hold at least; 0 where that is not known."""
        return self.start + self.file_system.size_bytes if self.file_system is not None else 0

    @property
    def says_enough(self) -> bool:
        """Whether its header is all that can be asked for; two bytes of a partition table of DOS are not."""
        return self.file_system is None and self.kind != "dos"

    def facts(self) -> Iterator[BlockFact]:
        """Yield what must be where in the array."""
        if self.file_system is not None:
            yield from self.file_system.facts(Stretch.whole(self.start, self.file_system.size_bytes))
        if not self.start or self._held:
            yield from expect_head(Stretch.whole(), tables=self.file_system is None or self._held)

    def moved(self, start: int) -> ArrayRoot:
        """Return the same file system at another place in the array."""
        other = ArrayRoot(self.kind, self.file_system, start)
        other.anchors = {(source, byte, address + start) for source, byte, address in self.anchors}
        return other

    def within(self, kind: str, start: int) -> ArrayRoot:
        """Return what holds it.

        Args:
            kind: gpt, dos, LVM2_member.
            start: where in the array it begins then.
        """
        system = self.file_system if kind in {"gpt", "dos"} else None  # LVM's volumes may be in pieces
        other = ArrayRoot(kind, system, start if system is not None else 0, held=True)
        other.anchors = self.moved(start).anchors
        return other

    def offsets(self, shape: StripeShape, smallest: int) -> list[int]:
        """Return the data offsets that the anchors give a geometry, those of most anchors first.

        Args:
            shape: the geometry, without the distance of far copies.
            smallest: the size of the smallest device in bytes.
        """
        votes: Counter[int] = Counter()
        for _, byte, address in self.anchors:
            for copy, (_, place) in enumerate(shape.places(address)):
                far = copy and is_far(shape.layout)
                found = find_far_offsets(shape, copy, byte - place, smallest) if far else (byte - place,)
                votes.update(
                    offset for offset in found if 0 <= offset <= _LARGEST_OFFSET and offset % _SECTOR == 0
                )
        best = votes.most_common(_MOST_OFFSETS)
        return [offset for offset, count in best if 2 * count >= best[0][1]]


class AnchorScan:
    """Finds anchors on devices.

    Args:
        sources: devices.
        watch: receives how far it is.

    Attributes:
        written: the numbers of the devices with anything behind their first MiB.
    """

    def __init__(self, sources: Sequence[Source], watch: SearchWatch) -> None:
        self._sources = sources
        self._watch = watch
        self._roots: dict[tuple[str, bytes], ArrayRoot] = {}
        self._headers: list[tuple[int, int, bytes]] = []
        self.written: set[int] = set()

    def run(self, begin: int, end: int, only: Callable[[int], bool] = lambda _: True) -> None:
        """Read a range of every device.

        Args:
            begin: the first byte, a multiple of 1 MiB.
            end: the byte after the last; smaller devices end earlier.
            only: which devices, by number.
        """
        chosen = [number for number in range(len(self._sources)) if only(number)]
        steps = range(begin, end, _STEP)
        for done, start in enumerate(steps):
            for number in chosen:
                self._watch.at(SearchStage.ANCHORS, done, len(steps))
                data = self._sources[number].read(start, _STEP + _OVERLAP)
                if not data:
                    data = self._tail(number, start)
                if data and data[:_STEP] != _ZERO:
                    if start >= _STEP:  # before it: superblock, bitmap and log
                        self.written.add(number)
                    self._look(number, start, data)

    def _tail(self, number: int, start: int) -> bytes:
        """Return what a device has left at its end, or what can be read around a bad place."""
        parts = []
        for piece in range(0, _STEP + _OVERLAP, 64 << 10):
            size = min(64 << 10, _STEP + _OVERLAP - piece)
            parts.append(self._sources[number].read(start + piece, size) or bytes(size))
        data = b"".join(parts)
        return data if any(data) else b""

    def roots(self) -> list[ArrayRoot]:
        """Return what may stand on the array: containers first, then by the number of anchors."""
        for number, byte, header in self._headers:
            for root in self._roots.values():
                found = root.file_system
                if isinstance(found, xfs.Xfs) and (group := found.group_of_header(header)) is not None:
                    root.anchors.add((number, byte, found.header_at(group, header[:4])))
        containers = ("gpt", "LVM2_member", "dos")
        roots = sorted(
            self._roots.values(), key=lambda root: (root.kind not in containers, -len(root.anchors))
        )
        tables = [root for root in roots if root.kind == "dos"]  # disks of virtual machines have one, too
        return [root for root in roots if root not in tables[_MOST_TABLES:]]

    def _add(
        self, kind: str, key: bytes, anchor: tuple[int, int, int], found: FileSystem | None = None
    ) -> ArrayRoot:
        root = self._roots.setdefault((kind, key), ArrayRoot(kind, found))
        root.anchors.add(anchor)
        return root

    def _look(self, number: int, start: int, data: bytes) -> None:
        first, second = data[ext4.MAGIC_AT :: _SECTOR], data[ext4.MAGIC_AT + 1 :: _SECTOR]
        at = first.find(b"\x53")
        while at >= 0:
            if second[at : at + 1] == b"\xef" and at * _SECTOR < _STEP:
                self._ext4(number, start, data, at * _SECTOR)
            at = first.find(b"\x53", at + 1)
        at = data.find(btrfs.MAGIC)
        while at >= 0:
            self._btrfs(number, start, data, at - btrfs.MAGIC_AT)
            at = data.find(btrfs.MAGIC, at + 1)
        first, second = data[510::_SECTOR], data[511::_SECTOR]
        at = first.find(b"\x55")
        while at >= 0:
            if second[at : at + 1] == b"\xaa" and at * _SECTOR < _STEP and at % _SECTORS_OF_A_BLOCK == 0:
                self._table(number, start + at * _SECTOR, data[at * _SECTOR :][:HEAD_BYTES])
            at = first.find(b"\x55", at + 1)
        for magic in _MAGICS:
            at = data.find(magic)
            while 0 <= at < _STEP:
                if at % _SECTOR == 0:
                    self._other(number, start + at, magic, data[at : at + _OVERLAP])
                at = data.find(magic, at + 1)

    def _ext4(self, number: int, start: int, data: bytes, at: int) -> None:
        found = ext4.Ext4.parse(data[at : at + ext4.SUPERBLOCK_BYTES])
        if found is not None:
            root = self._add("ext4", found.identity, (number, start + at, found.superblock_at), found)
            if found.group == 0:  # the copies do not say whether it was mounted
                root.file_system = found
                root.kind = found.kind

    def _btrfs(self, number: int, start: int, data: bytes, at: int) -> None:
        if at < 0 or at % _SECTOR or at >= _STEP:
            return
        found = btrfs.Btrfs.parse(data[at : at + btrfs.SUPERBLOCK_BYTES])
        if found is not None:
            self._add("btrfs", found.uuid, (number, start + at, found.superblock_at), found)

    def _table(self, number: int, byte: int, head: bytes) -> None:
        """Note a partition table of DOS that may be the array's first sector."""
        source = self._sources[number]
        size = source.size_bytes if byte == 0 else 0
        if recognise_container(head) == "dos" and not is_of_the_member(extent(head), size):
            self._add("dos", head[440:510], (number, byte, 0))

    def _other(self, number: int, byte: int, magic: bytes, data: bytes) -> None:
        if magic == xfs.MAGIC:
            found = xfs.Xfs.parse(data)
            if found is not None:
                # Every group starts with a copy; which group it is, the next header says.
                group = found.group_of_header(data[found.sector_bytes : 2 * found.sector_bytes])
                if group is not None:
                    address = found.header_at(group, b"XAGF") - found.sector_bytes
                    self._add("xfs", found.uuid, (number, byte, address), found)
        elif magic in {b"XAGF", b"XAGI"}:
            self._headers.append((number, byte, data))
        elif magic == b"LABELONE" and is_label(data[:_SECTOR]):
            self._add("LVM2_member", data[32:64], (number, byte, _SECTOR))
        elif magic == b"EFI PART" and is_gpt_header(data):
            own, backup = struct.unpack_from("<QQ", data, 24)
            source = self._sources[number]
            size = source.size_bytes if own * _SECTOR == byte else 0
            if not is_of_the_member((max(own, backup) + 1) * _SECTOR, size):
                self._add("gpt", data[56:72], (number, byte, own * _SECTOR))
        elif magic[:4] == b"LUKS":
            self._add("crypto_LUKS", data[168:208], (number, byte, 0))


class Before(Struct, frozen=True, kw_only=True):
    """What stands in front of a candidate's first byte, and says that something begins there.

    Args:
        kind: gpt, dos, LVM2_member.
        distance: bytes of the array from its first byte to the candidate's.
        member_byte: where it stands on the member.
    """

    kind: str
    distance: int
    member_byte: int


def find_before(each: Ranked, sources: Sequence[Source], watch: SearchWatch) -> Before | None:
    """Look at all places where the array may begin instead; return the first container of them all.

    Args:
        each: the candidate.
        sources: the devices.
        watch: may end it.
    """
    array = each.array(sources)
    found = None
    for row, distance in enumerate(_distances(each.shape)):
        byte = each.offset + array.shape.places(-distance)[0][1]
        if byte < 0 or row == _MOST_ROWS:
            break
        if not row % 1000:
            watch.at(SearchStage.PROOF, row, row)
        head = array.read(-distance, HEAD_BYTES)
        kind = recognise_container(head)
        if (
            kind
            and not (byte == 0 and _of_a_member(head, each, sources))
            and _leads_to_start(array, -distance)
        ):
            found = Before(kind=kind, distance=distance, member_byte=byte)
    return found


def _of_a_member(head: bytes, each: Ranked, sources: Sequence[Source]) -> bool:
    sizes = {sources[number].size_bytes for number in each.order if number >= 0}
    return any(is_of_the_member(extent(head), size) for size in sizes)


def _distances(shape: StripeShape) -> Iterator[int]:
    """Yield how much longer the array may be at its start: whole rows, as all begins with one."""
    step = shape.row_bytes
    if shape.level == 1:
        yield _OLD_START
    for row in range(1, _MOST_ROWS + 1):
        yield row * step


def _leads_to_start(array: LogicalArray, start: int) -> bool:
    """Whether a container at a byte says that something begins at byte 0."""
    waiting: list[BlockFact] = list(expect_head(Stretch.whole(start)))
    for _ in range(_MOST_FACTS):
        if not waiting:
            break
        fact = waiting.pop()
        if fact.address == 0 and fact.length == HEAD_BYTES:
            return True
        if fact.kind.startswith("file system"):
            continue
        data = array.read(fact.address, fact.length)
        if fact.learn is not None and len(data) == fact.length and fact.verify(data):
            waiting += fact.learn(data)
    return False
