"""Devices that udev knows as members of md arrays, and what their superblocks say. No array is opened.

udev's record of a member has the array's UUID and name; level and number of members are in the superblock
alone, which mdadm reads as root: once for each device and appearance.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from msgspec import Struct

from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.superblock import read_superblock
from raidtui.host.roots.root import Root
from raidtui.host.udev import read_udev_entry
from raidtui.host.usage import BLOCK
from raidtui.model.survey import Superblock

# Paths of a multipath device, and what device-mapper keeps to itself (the origins of snapshots).
_HIDDEN = ("DM_MULTIPATH_DEVICE_PATH", "DM_UDEV_DISABLE_OTHER_RULES_FLAG")


class FoundMember(Struct, frozen=True, kw_only=True):
    """A device with md's superblock.

    Args:
        name: the kernel's name.
        uuid: the array's, in mdadm's form.
        device_uuid: the member's own, as blkid prints it; "" for metadata 0.90.
        full_name: "host:name", as it is stored; "" for metadata 0.90.
        serial: of the disk, where udev tells it.
    """

    name: str
    dev: str
    uuid: str
    device_uuid: str = ""
    full_name: str = ""
    serial: str | None = None


class MemberScan:
    """Finds members by udev's database; a device is read again when an event told of it."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._known: dict[str, FoundMember | None] = {}

    def forget(self, name: str | None = None) -> None:
        """Read a device (or all) afresh next time."""
        if name is None:
            self._known.clear()
        else:
            self._known.pop(name, None)

    def read(self) -> tuple[FoundMember, ...]:
        """Return all devices that have md's superblock, whether an array uses them or not."""
        names = self._root.names(BLOCK)
        for name in self._known.keys() - set(names):
            del self._known[name]
        for name in names:
            if name not in self._known:
                self._known[name] = self._one(name)
        return tuple(found for found in self._known.values() if found is not None)

    def _one(self, name: str) -> FoundMember | None:
        dev = self._root.text(f"{BLOCK}/{name}/dev")
        known = read_udev_entry(self._root, dev).properties
        uuid = canonical_uuid(known.get("ID_FS_UUID"))
        if known.get("ID_FS_TYPE") != "linux_raid_member" or uuid is None or dev is None:
            return None
        if any(known.get(key, "0") not in {"", "0"} for key in _HIDDEN):
            return None
        return FoundMember(
            name=name.replace("!", "/"),
            dev=dev,
            uuid=uuid,
            device_uuid=known.get("ID_FS_UUID_SUB", ""),
            full_name=known.get("ID_FS_LABEL", ""),
            serial=known.get("ID_SERIAL_SHORT"),
        )

    def holders(self, found: FoundMember) -> tuple[str, ...]:
        """Return what is on top of a device: md127, dm-0."""
        return self._root.names(f"{BLOCK}/{found.name.replace('/', '!')}/holders")

    def without_twins(self, members: Sequence[FoundMember]) -> tuple[FoundMember, ...]:
        """Leave out a disk whose last partition shows the same superblock (1.0, 0.90): it is the partition's.

        Also of two devices with the same superblock, a disk and its copy, only one counts.
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
        names = self._root.names(f"{BLOCK}/{found.name.replace('/', '!')}")
        return any(other.name.replace("/", "!") in names for other in others)


class Superblocks:
    """Superblocks of members at rest, each read once; on a live host by a thread of their own.

    Args:
        root: the host.
        may_ask: whether mdadm may be asked (it needs root).
        patient: whether to wait for what it says.
    """

    def __init__(self, root: Root, *, may_ask: bool, patient: bool) -> None:
        self._root = root
        self._may_ask = may_ask
        self._patient = patient or not root.live
        self._known: dict[tuple[str, str, str], Superblock | None] = {}
        self._reader: threading.Thread | None = None

    @property
    def reading(self) -> bool:
        """Whether some are being read."""
        return self._reader is not None and self._reader.is_alive()

    def forget(self, name: str | None = None) -> None:
        """Read those of a device (or all) afresh when they are asked for."""
        for key in [key for key in list(self._known) if name in {None, key[0]}]:
            del self._known[key]

    def read(self, members: Collection[FoundMember], *, ask: bool = True) -> dict[str, Superblock | None]:
        """Return what is known by now, by the device's name; what is not known yet is left out.

        Args:
            members: the devices.
            ask: whether mdadm is asked for those that are not known.
        """
        ask = ask and self._may_ask
        wanted = [each for each in members if _key(each) not in self._known] if ask else []
        if wanted and self._patient:
            self._read(wanted)
        elif wanted and not self.reading:
            self._reader = threading.Thread(target=self._read, args=(wanted,), daemon=True)
            self._reader.start()
        return {each.name: self._known[_key(each)] for each in members if _key(each) in self._known}

    def _read(self, members: Collection[FoundMember]) -> None:
        for each in members:
            self._known[_key(each)] = read_superblock(self._root, each.name)


def _key(found: FoundMember) -> tuple[str, str, str]:
    return found.name, found.dev, found.uuid
