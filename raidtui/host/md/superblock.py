"""Reads md's superblock of a member or former member: what mdadm says of it, for programs and for people."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.mdadm import (
    MdadmError,
    MdadmTimeoutError,
    read_bitmap_words,
    read_examine,
    read_examine_words,
)
from raidtui.host.roots.root import Root
from raidtui.model.capacity import raid10_layout
from raidtui.model.levels import disk_count
from raidtui.model.survey import Superblock

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_LAYOUT = re.compile(r"(near|far|offset)=([0-9]{1,3})")
_HEX = re.compile(r"0x[0-9a-f]{1,8}")
_GUARDED = 0x200 | 0x800  # MD_FEATURE_JOURNAL, MD_FEATURE_PPL (md_p.h)
_DIRTY = re.compile(r"([0-9]{1,15}) dirty")
_SIZE = re.compile(r"([0-9]{1,15}) (B|KB|MB|GB)\b")


def read_superblock(root: Root, name: str, *, whole: bool = True) -> Superblock | None:
    """Return a device's md superblock, or None where it has none (or mdadm cannot be asked).

    Args:
        root: the host.
        name: the kernel's name.
        whole: also the slot, the layout, where data begin and the bitmap: ``--export`` leaves them out, and
            ``--examine`` for people has them.

    Raises:
        MdadmTimeoutError: mdadm has not answered, so that what is on the device is not known.
    """
    try:
        values = read_examine(root, f"/dev/{name}")
    except MdadmTimeoutError:
        raise
    except MdadmError:
        return None
    if not values.get("MD_LEVEL") and not values.get("MD_UUID"):
        return None
    words: dict[str, str] = {}
    with contextlib.suppress(MdadmError):
        words = {} if not whole else read_examine_words(root, f"/dev/{name}")
    return Superblock(
        uuid=canonical_uuid(values.get("MD_UUID")),
        name=values.get("MD_NAME"),
        level=values.get("MD_LEVEL"),
        raid_disks=disk_count(_number(values.get("MD_DEVICES"))),
        metadata=values.get("MD_METADATA") or words.get("Version"),
        device_uuid=canonical_uuid(values.get("MD_DEV_UUID")),
        events=_number(values.get("MD_EVENTS")),
        updated_s=_time(values.get("MD_UPDATE_TIME", "")),
        slot=_slot(words),
        layout=_layout(words.get("Layout", "")),
        offset_sectors=_number(words.get("Data Offset", "").partition(" ")[0]),
        spare_sectors=_number(words.get("Unused Space", "").partition("before=")[2].partition(" ")[0]),
        recovery_sectors=_recovery_sectors(words),
        roles=words["Array State"].partition(" ")[0] if "Array State" in words else None,
        dirty=_dirty(words),
        dirty_bytes=_dirty_bytes(root, name) if "Internal Bitmap" in words else None,
    )


def _slot(words: Mapping[str, str]) -> int | None:
    """Return the slot of an active device: 1.x says it in words, 0.90 in a table's row "this"."""
    own = words.get("this", "").split()
    if len(own) > 4:
        return _number(own[3]) if own[4] == "active" else None
    return _number(words.get("Device Role", "").partition("Active device ")[2])


def _recovery_sectors(words: Mapping[str, str]) -> int | None:
    """Return up to where the data are whole; 0.90 stores no such place: of a rebuild, nothing is."""
    own = words.get("this", "").split()
    if len(own) > 4:
        return None if own[4:6] == ["active", "sync"] else 0
    return _number(words.get("Recovery Offset", "").partition(" ")[0])


def _dirty(words: Mapping[str, str]) -> bool | None:
    """Return whether parity may not fit; None where that is not told, or a journal or PPL knows better."""
    features = words.get("Feature Map", "0x0")
    if "State" not in words or not _HEX.fullmatch(features) or int(features, 16) & _GUARDED:
        return None
    return words["State"] != "clean"


def _layout(text: str) -> int | None:
    """Return md's number of mdadm's "near=2", "far=2" or "offset=2"; None for levels with parity."""
    found = _LAYOUT.search(text)
    return raid10_layout(f"{found[1][0]}{found[2]}") if found else None


def _dirty_bytes(root: Root, name: str) -> int | None:
    try:
        words = read_bitmap_words(root, f"/dev/{name}")
    except MdadmError:
        return None
    dirty, size = _DIRTY.search(words.get("Bitmap", "")), _SIZE.search(words.get("Chunksize", ""))
    return int(dirty[1]) * int(size[1]) * _UNITS[size[2]] if dirty and size else None


def _time(text: str) -> float | None:
    number = _number(text)
    if number:
        return float(number)
    with contextlib.suppress(ValueError):  # "Sat Nov 21 10:00:00 2026" of older versions
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    return None


def _number(text: str | None) -> int | None:
    word = (text or "").strip().rstrip(",")
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else None
