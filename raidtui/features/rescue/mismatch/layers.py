"""From a stretch of an array up to what lies on it: partitions, and maps of the device mapper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.mismatch_records import ContentKind
from raidtui.features.rescue.trial.container_parts import Part, find_volumes
from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.udev import read_udev_entry
from raidtui.model.answer import Answer, AnswerKind

_TABLE_SECTORS = 34
_DEEPEST = 12
_TOOL_S = 30.0
_ENDS = {"gpt": (_TABLE_SECTORS, _TABLE_SECTORS - 1), "dos": (1, 0)}
_PLAIN = {"linear": 0, "crypt": 3}
"""Targets that keep the order of sectors, with the words before the device in their tables."""


class LaidStretch(Struct, frozen=True, kw_only=True):
    """A stretch of a device on which nothing further lies.

    Args:
        device: the kernel's name.
        first: its first sector there.
        sectors: how long it is.
        array_sector: where it begins in the array.
        volumes: what was gone through, from the array upwards.
        kind: what it is, if that is known already; else the file system says.
        text: in words, if ``kind`` is known.
        file_system: what udev has found on the device; "" for nothing.
    """

    device: str
    first: int
    sectors: int
    array_sector: int
    volumes: tuple[str, ...] = ()
    kind: ContentKind | None = None
    text: str = ""
    file_system: str = ""


class _Child(Struct, frozen=True, kw_only=True):
    """A part of a device that is a device itself.

    Args:
        start: its first sector on the device below.
        within: the sector of its own that lies there.
        label: what it is called.
        partition: whether it is one.
    """

    device: str
    start: int
    sectors: int
    within: int
    label: str
    partition: bool = False


class Layers:
    """What lies on the devices of a host, read as it is asked for.

    Args:
        reader: the host.
    """

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self._known: dict[str, tuple[tuple[_Child, ...], str]] = {}
        self._volumes: dict[str, Answer[tuple[Part, ...]]] = {}

    def grounds(self, device: str, first: int, sectors: int) -> Iterator[LaidStretch]:
        """Return what a stretch of an array is made of, in order.

        Args:
            device: the array, by the kernel's name.
            first: the first sector, and how many.
            sectors: how many.
        """
        yield from self._up(
            LaidStretch(device=device, first=first, sectors=sectors, array_sector=first), depth=0
        )

    def _up(self, here: LaidStretch, depth: int) -> Iterator[LaidStretch]:
        children, opaque = self._children(here.device)
        at, end = here.first, here.first + here.sectors
        while at < end:
            on = next((each for each in children if each.start <= at < each.start + each.sectors), None)
            if on is not None and depth < _DEEPEST:
                last = min(end, on.start + on.sectors)
                moved = _cut(here, at, last)
                yield from self._up(
                    LaidStretch(
                        device=on.device,
                        first=on.within + at - on.start,
                        sectors=last - at,
                        array_sector=moved.array_sector,
                        volumes=(*here.volumes, on.label),
                    ),
                    depth + 1,
                )
            else:
                last = min([end, *(each.start for each in children if each.start > at)])
                yield from self._ground(_cut(here, at, last), children, opaque)
            at = last

    def _ground(self, here: LaidStretch, children: tuple[_Child, ...], opaque: str) -> Iterator[LaidStretch]:
        """Return what is on a device itself, beside the devices on it."""
        number = self._reader.text(f"{BLOCK}/{here.device}/dev")
        found = read_udev_entry(self._reader, number).properties
        kind, table = found.get("ID_FS_TYPE", ""), found.get("ID_PART_TABLE_TYPE", "")
        if opaque:
            yield _said(here, ContentKind.NOT_KNOWN, f"used by {opaque}: where it puts its data is not known")
        elif any(each.partition for each in children) or (table and not kind):
            yield from self._beside_partitions(here, table)
        elif kind == "LVM2_member":
            yield from self._beside_volumes(here)
        elif kind == "crypto_LUKS" and children:
            yield _said(here, ContentKind.METADATA, "the header of LUKS, or room beside it")
        elif kind == "crypto_LUKS":
            text = "encrypted with LUKS, and not opened: without the key, nothing is known"
            yield _said(here, ContentKind.ENCRYPTED, text)
        elif kind == "swap":
            yield _said(here, ContentKind.SWAP, "swap space: harmless while it was not in use")
        elif kind == "linux_raid_member":
            yield _said(here, ContentKind.NOT_KNOWN, "a member of another array")
        elif not kind and not children:
            yield _said(here, ContentKind.NOT_KNOWN, "no file system known to udev is here")
        else:
            yield replace(here, file_system=kind)

    def _beside_partitions(self, here: LaidStretch, table: str) -> Iterator[LaidStretch]:
        size = self._number(f"{BLOCK}/{here.device}/size") or 0
        front, back = _ENDS.get(table, _ENDS["gpt"])
        edges = sorted({here.first, front, size - back, here.first + here.sectors})
        for first, last in pairwise(edges):
            if first < here.first or last > here.first + here.sectors:
                continue
            of_table = first < front or first >= size - back
            kind = ContentKind.TABLE if of_table else ContentKind.FREE
            text = "the partition table" if of_table else "outside of all partitions"
            yield _said(_cut(here, first, last), kind, text)

    def _beside_volumes(self, here: LaidStretch) -> Iterator[LaidStretch]:
        """Return what no active volume has: LVM's metadata, volumes that are not active, free extents."""
        begins, inactive, group, silent = self._physical(here.device)
        if silent:
            yield _said(here, ContentKind.NOT_KNOWN, f"LVM does not report what lies there: {silent}")
            return
        at, end = here.first, here.first + here.sectors
        while at < end:
            on = next(((s, n, name) for s, n, name in inactive if s <= at < s + n), None)
            edges = [begins, *(s for s, _, _ in inactive), *([on[0] + on[1]] if on else [])]
            last = min([end, *(edge for edge in edges if edge > at)])
            part = _cut(here, at, last)
            if at < begins:
                yield _said(part, ContentKind.METADATA, "LVM's metadata")
            elif on is not None:
                text = f"the volume {on[2]}, which is not active: activate it to find the file"
                yield _said(part, ContentKind.NOT_KNOWN, text)
            else:
                yield _said(part, ContentKind.FREE, f"free space of the volume group {group}".rstrip())
            at = last

    def _physical(self, device: str) -> tuple[int, tuple[tuple[int, int, str], ...], str, str]:
        """Return where a physical volume's extents begin, its linear volumes, its group; and why not."""
        path = f"/dev/{device}"
        words = ("--noheadings", "--nosuffix", "--units", "s", "--separator", ",", "--readonly")
        output = self._reader.ask("pvs", *words, "--options", "pe_start,vg_name", path, timeout_s=_TOOL_S)
        begins, _, group = output.stdout.strip().partition(",")
        first = whole_number(begins)
        if output.kind is not AnswerKind.ANSWER or not first:
            return 0, (), "", output.why if output.kind is not AnswerKind.ANSWER else "pvs names no extents"
        if device not in self._volumes:
            self._volumes[device] = find_volumes(self._reader, path)
        parts = self._volumes[device]
        lines = [(line.split(), part.name) for part in parts.value or () for line in part.table.split("\n")]
        volumes = tuple((int(fields[4]), int(fields[1]), name) for fields, name in lines)
        return first, volumes, group, "" if parts.is_known else parts.why

    def _children(self, device: str) -> tuple[tuple[_Child, ...], str]:
        """Return the devices on a device, and the name of a map whose targets are not understood."""
        if device not in self._known:
            maps, opaque = self._maps(device)
            self._known[device] = (*self._partitions(device), *maps), opaque
        return self._known[device]

    def _partitions(self, device: str) -> Iterator[_Child]:
        for name in self._reader.names(f"{BLOCK}/{device}"):
            if self._reader.text(f"{BLOCK}/{device}/{name}/partition") is None:
                continue
            start = self._number(f"{BLOCK}/{device}/{name}/start")
            size = self._number(f"{BLOCK}/{device}/{name}/size")
            if start is not None and size:
                yield _Child(
                    device=name,
                    start=start,
                    sectors=size,
                    within=0,
                    label=f"partition {name}",
                    partition=True,
                )

    def _maps(self, device: str) -> tuple[list[_Child], str]:
        number = self._reader.text(f"{BLOCK}/{device}/dev") or "?"
        found: list[_Child] = []
        opaque = ""
        for holder in self._reader.names(f"{BLOCK}/{device}/holders"):
            name = self._reader.text(f"{BLOCK}/{holder}/dm/name")
            if not holder.startswith("dm-") or not name:
                opaque = holder
                continue
            words = _map_words(name, self._reader.text(f"{BLOCK}/{holder}/dm/uuid") or "")
            output = self._reader.ask("dmsetup", "table", name, timeout_s=_TOOL_S)
            for line in output.stdout.split("\n"):
                child = _child(line.split(), number, holder, words)
                if isinstance(child, str):
                    opaque = f"{words} (target {child})"
                elif child is not None:
                    found.append(child)
            if output.status != 0:
                opaque = f"{words} (its table cannot be read)"
        return found, opaque

    def _number(self, path: str) -> int | None:
        return whole_number(self._reader.text(path))


def _child(fields: list[str], number: str, holder: str, name: str) -> _Child | str | None:
    """Return the part of a device that a line of a table maps, or the name of a target that is not plain."""
    if len(fields) < 3 or number not in fields[3:]:
        return None
    before = _PLAIN.get(fields[2])
    offset = None if before is None or len(fields) < before + 5 else whole_number(fields[before + 4])
    start, sectors = whole_number(fields[0]), whole_number(fields[1])
    if before is None or offset is None or start is None or not sectors or fields[before + 3] != number:
        return fields[2]
    return _Child(device=holder, start=offset, sectors=sectors, within=start, label=name)


def _map_words(name: str, uuid: str) -> str:
    r"""Return what a map is in words; LVM doubles the hyphens within its names."""
    if uuid.startswith("LVM-"):
        group, _, volume = name.replace("--", "\0").partition("-")
        return f"volume {group}/{volume}".replace("\0", "-")
    return f"opened mapping {name}" if uuid.startswith("CRYPT-") else f"map {name}"


def _cut(here: LaidStretch, first: int, end: int) -> LaidStretch:
    at = here.array_sector + first - here.first
    return replace(here, first=first, sectors=end - first, array_sector=at)


def _said(here: LaidStretch, kind: ContentKind, text: str) -> LaidStretch:
    return replace(here, kind=kind, text=text)
