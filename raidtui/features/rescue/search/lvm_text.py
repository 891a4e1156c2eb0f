"""LVM's metadata: which pieces of a physical volume make up which logical volume.

Source: LVM2 lib/format_text/export.c and libdm/libdm-config.c. On a disk the text has no indents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_TOKEN = re.compile(r'#[^\n]*|"((?:\\.|[^"\\])*)"|([\w.+/@-]+)|([{}=\[\],])')
_SECTOR = 512
_DEEPEST = 12

_Value = str | Sequence[str] | Mapping[str, "_Value"]


def segments(text: str, own: str) -> Iterator[tuple[tuple[int, int, int], ...]]:
    """Yield the pieces of each logical volume that lie on a physical volume in a row.

    Args:
        text: the metadata of a volume group.
        own: the physical volume's identity, without dashes.

    Yields:
        For each volume: byte in the volume, length, byte in the physical volume.
    """
    for group in _sections(_parsed(text)):
        extent = _number(group, "extent_size")
        volumes, devices = group.get("logical_volumes"), group.get("physical_volumes")
        if not extent or not isinstance(volumes, Mapping) or not isinstance(devices, Mapping):
            continue
        starts = {
            name: start * _SECTOR
            for name, device in devices.items()
            if isinstance(device, Mapping)
            and str(device.get("id", "")).replace("-", "") == own
            and (start := _number(device, "pe_start")) is not None
        }
        for volume in _sections(volumes):
            pieces = [
                piece
                for segment in _sections(volume)
                if (piece := _piece(segment, starts, extent * _SECTOR)) is not None
            ]
            if pieces:
                yield tuple(sorted(pieces))


def _piece(
    segment: Mapping[str, _Value], starts: Mapping[str, int], extent: int
) -> tuple[int, int, int] | None:
    stripes = segment.get("stripes")
    if segment.get("type") != "striped" or not isinstance(stripes, list) or len(stripes) != 2:
        return None
    first, count = _number(segment, "start_extent"), _number(segment, "extent_count")
    start, at = starts.get(stripes[0]), stripes[1]
    if first is None or not count or start is None or not at.isdigit():
        return None
    return first * extent, count * extent, start + int(at) * extent


def _number(section: Mapping[str, _Value], name: str) -> int | None:
    value = section.get(name)
    return int(value) if isinstance(value, str) and value.isdigit() else None


def _sections(section: Mapping[str, _Value]) -> Iterator[Mapping[str, _Value]]:
    return (value for value in section.values() if isinstance(value, Mapping))


def _parsed(text: str) -> Mapping[str, _Value]:
    """Return sections as mappings, lists as lists, numbers and words as text; {} where it is no such text."""
    tokens = [
        (match[3] or "", match[1] if match[1] is not None else match[2] or "")
        for match in _TOKEN.finditer(text)
        if not match[0].startswith("#")
    ]
    root: dict[str, _Value] = {}
    open_sections = [root]
    at = 0
    while at + 1 < len(tokens) and 0 < len(open_sections) <= _DEEPEST:
        sign, word = tokens[at]
        if sign == "}":
            open_sections.pop()
            at += 1
        elif tokens[at + 1][0] == "{":
            section: dict[str, _Value] = {}
            open_sections[-1][word] = section
            open_sections.append(section)
            at += 2
        elif tokens[at + 1][0] == "=" and at + 2 < len(tokens):
            at = _assigned(tokens, at + 2, word, open_sections[-1])
        else:
            return {}
    return root


def _assigned(tokens: Sequence[tuple[str, str]], at: int, word: str, section: dict[str, _Value]) -> int:
    sign, value = tokens[at]
    if sign != "[":
        section[word] = value
        return at + 1
    values = []
    at += 1
    while at < len(tokens) and tokens[at][0] != "]":
        if not tokens[at][0]:
            values.append(tokens[at][1])
        at += 1
    section[word] = values
    return at + 1
