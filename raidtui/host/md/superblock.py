"""md's superblocks: of one device, by mdadm, and of all devices that udev knows as members.

udev's entry of a member has the array's UUID and name. Level and number of members are in the superblock
alone, which mdadm reads as root, once for each device and appearance. No array is opened.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.edges import LOOKED_AT_BYTES, may_have_superblock, read_edges
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.mdadm import (
    MdadmError,
    MdadmSilentError,
    read_bitmap_words,
    read_examine,
    read_examine_text,
)
from raidtui.host.md.superblock_words import decimal, parse_superblock
from raidtui.host.probe import probe_signatures
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.serials import label_serial
from raidtui.host.udev import has_udev_entry, read_udev_entry
from raidtui.model.answer import AnswerKind
from raidtui.model.survey import Superblock

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_NO_SUPERBLOCK = 1  # Examine.c: the exit status where there is none, and where it cannot be opened
_NONE = "No md superblock detected"  # its words, in the C locale; the status alone says it of both
_HAS_BITMAP = "Internal Bitmap : "
_DIRTY = re.compile(r"([0-9]{1,15}) dirty")
_SIZE = re.compile(r"([0-9]{1,15}) (B|KB|MB|GB)\b")


# Paths of a multipath device, and what device-mapper keeps to itself (the origins of snapshots).
NO_MEMBERS = ("loop", "zram", "sr", "fd", "md", "nbd", "mtdblock")
"""Beginnings of the names of devices that are not looked at for members of which udev knows nothing."""
_NOT_OPENED = (*NO_MEMBERS, "dm-", "bcache", "drbd", "rbd")
"""Nor these: a map that is open for a moment cannot be removed in that moment."""
_CONTENTS = frozenset({"ID_FS_TYPE", "ID_FS_USAGE", "ID_PART_TABLE_TYPE"})
_HIDDEN = ("DM_MULTIPATH_DEVICE_PATH", "DM_UDEV_DISABLE_OTHER_RULES_FLAG")


def read_superblock(reader: HostReader, name: str, *, whole: bool = True) -> Superblock | None:
    """Return a device's md superblock, or None where it has none or mdadm cannot be run.

    Args:
        reader: the host.
        name: the kernel's name.
        whole: whether to read slot, layout, data offset and bitmap, too: ``--export`` does not have them,
            the output of ``--examine`` for people has.

    Raises:
        MdadmSilentError: mdadm does not say it: the device may have a superblock or not.
    """
    try:
        return read_examined(reader, name, whole=whole)
    except MdadmError as error:
        if error.kind in {AnswerKind.NO_TOOL, AnswerKind.NOT_ASKED}:
            return None
        raise MdadmSilentError(str(error), error.kind, error.status) from error


def read_examined(reader: HostReader, name: str, *, whole: bool = False) -> Superblock | None:
    """Return a device's md superblock; None where mdadm has looked, and says that it has none.

    Args:
        reader: the host.
        name: the kernel's name.
        whole: as in ``read_superblock``.

    Raises:
        MdadmError: mdadm does not say it.
    """
    try:
        values = read_examine(reader, f"/dev/{name}")
    except MdadmError as error:
        if error.status != _NO_SUPERBLOCK:
            raise
        if _NONE not in str(error):
            _confirm_none(reader, name, str(error))
        return None
    if not values.get("MD_LEVEL") and not values.get("MD_UUID"):
        _confirm_none(reader, name, "mdadm --examine says nothing about it")
        return None
    text = ""
    with contextlib.suppress(MdadmError):
        text = read_examine_text(reader, f"/dev/{name}") if whole else ""
    block = parse_superblock(values, text)
    return _with_bitmap(reader, name, block) if _HAS_BITMAP in text else block


def _confirm_none(reader: HostReader, name: str, said: str) -> None:
    """Ask the device itself where mdadm has not said that there is no superblock; one that is gone has none.

    Raises:
        MdadmSilentError: there may be one.
    """
    if reader.text(f"{BLOCK}/{name.replace('/', '!')}/dev") is None:
        return
    found = probe_signatures(reader, name)
    if found.value is None:
        raise MdadmSilentError(f"{said}; {found.why}", AnswerKind.NOT_UNDERSTOOD)
    if any(use.what == "linux_raid_member" for use in found.value):
        raise MdadmSilentError(f"{said}, and blkid finds a superblock", AnswerKind.NOT_UNDERSTOOD)


def _with_bitmap(reader: HostReader, name: str, block: Superblock) -> Superblock:
    try:
        words = read_bitmap_words(reader, f"/dev/{name}")
    except MdadmError:
        return block
    dirty, size = _DIRTY.search(words.get("Bitmap", "")), _SIZE.search(words.get("Chunksize", ""))
    return replace(
        block,
        dirty_bytes=int(dirty[1]) * int(size[1]) * _UNITS[size[2]] if dirty and size else None,
        cleared_events=decimal(words.get("Events Cleared")),
    )


class FoundMember(Struct, frozen=True, kw_only=True):
    """A device with md's superblock.

    Args:
        name: the kernel's name.
        uuid: the array's, in mdadm's form.
        device_uuid: the member's own UUID, as blkid prints it; "" for metadata 0.90.
        full_name: the stored name, "host:name"; "" for metadata 0.90.
        serial: the serial number of its disk, where it is known.
    """

    name: str
    dev: str
    uuid: str
    device_uuid: str = ""
    full_name: str = ""
    serial: str | None = None


class MemberScan:
    """Finds members in udev's database; a device is read again after an event."""

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self._known: dict[str, FoundMember | None] = {}
        self._unread: set[str] = set()
        self._empty: dict[str, FoundMember] = {}

    def forget(self, name: str | None = None) -> None:
        """Read a device, or all, again next time."""
        if name is None:
            self._known.clear()
            self._empty.clear()
        else:
            self._known.pop(name, None)
            self._empty.pop(name, None)

    def read(self) -> tuple[FoundMember, ...]:
        """Return all devices with md's superblock, whether an array uses them or not."""
        names = self._reader.names(BLOCK)
        for name in self._known.keys() - set(names):
            del self._known[name]
            self._empty.pop(name, None)
        self._unread.intersection_update(names)
        for name in names:
            if name not in self._known or name in self._unread:
                self._known[name] = self._one(name)
        return tuple(found for found in self._known.values() if found is not None)

    def unread(self) -> tuple[str, ...]:
        """Return the devices, as of the last ``read``, that may be members and that udev has no entry of."""
        return tuple(name.replace("!", "/") for name in sorted(self._unread) if self._may_hold(name))

    def empty(self) -> tuple[FoundMember, ...]:
        """Return the devices, as of the last ``read``, on which udev has found nothing; their UUID is "".

        A superblock that was written while udev read the device is not in its database.
        """
        return tuple(
            found
            for name, found in self._empty.items()
            if not name.startswith(_NOT_OPENED) and self._may_hold(name)
        )

    def _may_hold(self, name: str) -> bool:
        """Whether a device has a size, and nothing is on top of it."""
        node = f"{BLOCK}/{name}"
        return self._reader.text(f"{node}/size") not in {None, "0"} and not self._reader.names(
            f"{node}/holders"
        )

    def _one(self, name: str) -> FoundMember | None:
        dev = self._reader.text(f"{BLOCK}/{name}/dev")
        known = read_udev_entry(self._reader, dev).properties
        self._unread.discard(name)
        self._empty.pop(name, None)
        known_to_udev = bool(known) or (dev is not None and has_udev_entry(self._reader, dev))
        if dev is not None and not known_to_udev:
            self._unread.add(name)
        hidden = any(known.get(key, "0") not in {"", "0"} for key in _HIDDEN)
        if known_to_udev and dev is not None and not hidden and not known.keys() & _CONTENTS:
            serial = label_serial(self._reader, f"{BLOCK}/{name}", known)
            self._empty[name] = FoundMember(name=name.replace("!", "/"), dev=dev, uuid="", serial=serial)
        uuid = canonical_uuid(known.get("ID_FS_UUID"))
        if known.get("ID_FS_TYPE") != "linux_raid_member" or uuid is None or dev is None:
            return None
        if hidden:
            return None
        return FoundMember(
            name=name.replace("!", "/"),
            dev=dev,
            uuid=uuid,
            device_uuid=known.get("ID_FS_UUID_SUB", ""),
            full_name=known.get("ID_FS_LABEL", ""),
            serial=label_serial(self._reader, f"{BLOCK}/{name}", known),
        )

    def holders(self, found: FoundMember) -> tuple[str, ...]:
        """Return the devices on top of a device: md127, dm-0."""
        return self._reader.names(f"{BLOCK}/{found.name.replace('/', '!')}/holders")

    def without_twins(self, members: Sequence[FoundMember]) -> tuple[FoundMember, ...]:
        """Leave out duplicates of a superblock.

        A disk shows the superblock (1.0, 0.90) of its last partition; it belongs to the partition. Of two
        devices with the same superblock, such as a disk and its copy, one counts.
        """
        same: dict[tuple[str, str], list[FoundMember]] = {}
        for found in members:
            same.setdefault((found.uuid, found.device_uuid), []).append(found)
        kept: list[FoundMember] = []
        for (_, device_uuid), twins in same.items():
            if len(twins) > 1:
                twins = [each for each in twins if not self._has_part(each, twins)]  # noqa: PLW2901
            kept += twins[:1] if device_uuid else twins
        return tuple(kept)

    def _has_part(self, found: FoundMember, others: Sequence[FoundMember]) -> bool:
        names = self._reader.names(f"{BLOCK}/{found.name.replace('/', '!')}")
        return any(other.name.replace("/", "!") in names for other in others)


class Superblocks:
    """Superblocks of members that no array uses, each read once; on a live host in a thread.

    Args:
        reader: the host.
        may_ask: whether mdadm may be run (it needs root).
        patient: whether to wait for its answer.
    """

    def __init__(self, reader: HostReader, *, may_ask: bool, patient: bool) -> None:
        self._reader = reader
        self._may_ask = may_ask
        self._patient = patient or not reader.live
        self._known: dict[tuple[str, str, str], Superblock | None] = {}
        self.silent: dict[str, str] = {}
        """By the device, why mdadm does not say what is on it, a clause."""
        self._reading: threading.Thread | None = None

    @property
    def reading(self) -> bool:
        """Whether superblocks are being read."""
        return self._reading is not None and self._reading.is_alive()

    def forget(self, name: str | None = None) -> None:
        """Read the superblock of a device, or all, again when needed."""
        for key in [key for key in list(self._known) if name in {None, key[0]}]:
            del self._known[key]

    def read(self, members: Collection[FoundMember], *, ask: bool = True) -> dict[str, Superblock | None]:
        """Return the superblocks that are known by now, by the device's name.

        Args:
            members: the devices.
            ask: whether to run mdadm for the others.
        """
        ask = ask and self._may_ask
        wanted = [each for each in members if _key(each) not in self._known] if ask else []
        if wanted and self._patient:
            self._read(wanted)
        elif wanted and not self.reading:
            self._reading = threading.Thread(target=self._read, args=(wanted,), daemon=True)
            self._reading.start()
        return {each.name: self._known[_key(each)] for each in members if _key(each) in self._known}

    def forget_empty(self) -> None:
        """Look again at the devices on which udev has found nothing."""
        for key in [key for key in list(self._known) if not key[2]]:
            del self._known[key]

    def _read(self, members: Collection[FoundMember]) -> None:
        for each in members:
            self._known[_key(each)] = self._one(each)

    def _one(self, found: FoundMember) -> Superblock | None:
        if not found.uuid and not may_have_superblock(read_edges(self._reader, found.name, LOOKED_AT_BYTES)):
            return None
        self.silent.pop(found.name, None)
        try:
            return read_superblock(self._reader, found.name)
        except MdadmSilentError as error:
            self.silent[found.name] = str(error)
            return None


def _key(found: FoundMember) -> tuple[str, str, str]:
    return found.name, found.dev, found.uuid
