"""What a new array gets unless something else is chosen, and why: by medium, number and size of its disks.

The table with its reasons and sources is docs/build.md. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum

from msgspec.structs import replace

from raidtui.model.disk import Disk
from raidtui.model.geometry import MISSING
from raidtui.model.levels import BITMAP_BYTES, LONG_REBUILD_BYTES, PARITY_LEVELS
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device
from raidtui.plans.contents import contents_of
from raidtui.plans.target import refuse_taken
from raidtui.plans.wizard.wizard_draft import SLACK, WizardDraft, parts, usable
from raidtui.view.units import KIB

_ALIKE = 0.01
"""Sizes that differ by no more are of one class: mdadm's own limit (Create.c)."""
_MOST_TICKED = 12
_WORN_PERCENT = 80
_NOT_DISKS = ("md", "dm-", "loop", "ram", "zram", "bcache", "nbd")
_NAMES = 99
_SMR = re.compile(
    r"WD[2346]0EFAX|WD[2346]0E(DAZ|ZAZ|ZBX)|WD[12]0SP(ZX|SX)"
    r"|ST(2000DM00[58]|3000DM007|[48]000DM004|6000DM003)|ST[568]000AS00[01][12]"
    r"|HDWD2[246]0|HDWT(7[24]|8[46])0|HDWL1[12]0|MQ04UBB"
)
"""Models that smartmontools' drivedb.h (August 2026) has in families named "(SMR)"."""


class Medium(StrEnum):
    """What a disk stores on, as far as the kernel says."""

    HDD = "hard disk"
    SSD = "SSD"
    NVME = "NVMe"
    UNKNOWN = "disk"


def medium_of(disk: Disk) -> Medium:
    """Return a disk's medium (/sys/block/*/queue/rotational; NVMe by the kernel's name)."""
    if disk.disk.startswith("nvme"):
        return Medium.NVME
    if disk.rotational is None:
        return Medium.UNKNOWN
    return Medium.HDD if disk.rotational else Medium.SSD


def media_of(devices: Collection[Device]) -> frozenset[Medium]:
    """Return the media of devices."""
    return frozenset(medium_of(device.disk) for device in devices)


def medium_of_all(draft: WizardDraft, survey: Survey) -> Medium:
    """Return the medium of the members; where they differ, the slowest."""
    found = media_of([survey.devices[name] for name in draft.devices if name in survey.devices])
    return next((each for each in Medium if each in found), Medium.UNKNOWN)


def is_usb(device: Device) -> bool:
    """Whether udev's links of a device lead over USB."""
    return any("-usb-" in link or "/usb-" in link for link in device.links)


def is_shingled(device: Device) -> bool:
    """Whether the model is known to record shingled (SMR)."""
    return bool(_SMR.search(device.disk.model or ""))


def unfit_words(device: Device) -> str:
    """Return why a device is not proposed as a member, although it could become one; "" where it is."""
    if device.trouble:
        return "its health is not known yet" if device.unjudged else "it has trouble"
    if is_usb(device):
        return "USB: bridges drop out and hide SMART"
    if is_shingled(device):
        return "SMR: a rebuild may take days"
    if (device.wear_percent or 0) >= _WORN_PERCENT:
        return "worn"
    return "" if device.aligned else "not aligned"


def proposed_devices(survey: Survey) -> tuple[str, ...]:
    """Return the free devices of the largest class of one medium and size; () where there are not two.

    A device is proposed only where it has been read and holds nothing. Of more than a dozen, none is: which
    of them form an array is not for raidtui to say.
    """
    classes: dict[tuple[Medium, bool], list[Device]] = {}
    for device in survey.devices.values():
        if _is_free(device, survey):
            whole = device.disk.disk == device.disk.name
            classes.setdefault((medium_of(device.disk), whole), []).append(device)
    best = max((_largest_class(each) for each in classes.values()), key=_count_and_size, default=[])
    return tuple(device.disk.name for device in best) if 2 <= len(best) <= _MOST_TICKED else ()


def _is_free(device: Device, survey: Survey) -> bool:
    disk = device.disk
    return (
        bool(disk.size_bytes)
        and not disk.name.startswith(_NOT_DISKS)
        and not unfit_words(device)
        and device.superblock is None
        and refuse_device(device, survey) is None
        and not contents_of(device, survey)
    )


def _largest_class(devices: Sequence[Device]) -> list[Device]:
    """Return the most devices of about one size, each on a disk of its own, in their order."""
    best: list[Device] = []
    for first in devices:
        least = first.disk.size_bytes or 0
        alike = {
            each.disk.disk: each
            for each in reversed(devices)
            if least <= (each.disk.size_bytes or 0) <= least * (1 + _ALIKE)
        }
        found = list(reversed(alike.values()))
        best = max(best, found, key=_count_and_size)
    return best


def _count_and_size(devices: Sequence[Device]) -> tuple[int, int]:
    return len(devices), sum(device.disk.size_bytes or 0 for device in devices)


def purposes(count: int, medium: Medium, size_bytes: int = 0) -> tuple[tuple[str, str], ...]:
    """Return the levels that are offered: (key of the level, what it is for).

    The first one is the default. All others are behind ``+``.

    Args:
        count: the number of slots.
        medium: of the members.
        size_bytes: of the smallest member; 0 is not known.
    """
    if count < 3:
        return (("raid1", "safe: a mirror"),)
    if count == 3:
        room, safe = ("raid5", "more room"), ("raid1", "safest: 3 copies")
        return (safe, room) if size_bytes > LONG_REBUILD_BYTES else (room, safe)
    fast, room = ("raid10 n2", "safe and fast"), ("raid6", "any two may fail")
    tight = (("raid5", "most room"),) if count <= 8 else ()
    spins = medium is Medium.HDD and count > 4
    return (room, fast, *tight) if spins or count % 2 else (fast, *tight, room)


def proposed_purposes(draft: WizardDraft, survey: Survey) -> tuple[tuple[str, str], ...]:
    """Return the same for a draft's devices."""
    devices = [survey.devices[name] for name in draft.devices if name in survey.devices]
    least = min((device.disk.size_bytes or 0 for device in devices), default=0)
    return purposes(len(draft.slots), medium_of_all(draft, survey), least)


def default_chunk(level: str, medium: Medium) -> tuple[int, str]:
    """Return a chunk size in KiB, and why; 0 for RAID 1."""
    if level == "raid1":
        return 0, ""
    if medium is Medium.HDD:
        return 512, "a seek costs more than a transfer"
    if medium is Medium.SSD or (medium is Medium.NVME and level in PARITY_LEVELS):
        return 64, "small writes fill a stripe" if level in PARITY_LEVELS else "spreads requests over SSDs"
    return 512, "mdadm's default"


def default_guard(draft: WizardDraft, component_kib: int) -> tuple[str, str]:
    """Return what keeps copies and parity consistent after a crash (a key of that choice), and why.

    Args:
        draft: with its level.
        component_kib: what each member holds.
    """
    if draft.level == "raid0":
        return "", ""
    if draft.journal:
        return "journal", "closes the write hole"
    if draft.level in PARITY_LEVELS or component_kib * KIB >= BITMAP_BYTES:
        return "internal", "seconds of resync after a crash"
    return "none", "small: a full resync is short"


def default_table(draft: WizardDraft, survey: Survey) -> tuple[str, str]:
    """Return what whole disks become (a key of that choice), and why."""
    devices = [survey.devices[name] for name in draft.devices if name in survey.devices]
    flash = media_of(devices) <= {Medium.SSD, Medium.NVME} and devices
    trims = all(device.discards for device in devices) and (
        draft.level not in PARITY_LEVELS or bool(survey.raid456_discards)
    )
    if flash and not trims:
        return "7", "spare area: TRIM does not get through"
    return SLACK, "a spare may be a little smaller"


def proposed_name(survey: Survey) -> str:
    """Return a name that is free: data, data2 and so on; "" where all are taken."""
    names = ("data", *(f"data{number}" for number in range(2, _NAMES)))
    return next((name for name in names if refuse_taken(survey.snapshot, name) is None), "")


def completed(draft: WizardDraft, survey: Survey) -> WizardDraft:
    """Return a draft in which all that was not decided has its default."""
    medium = medium_of_all(draft, survey)
    if not draft.level:
        level, _, layout = proposed_purposes(draft, survey)[0][0].partition(" ")
        draft = replace(draft, level=level, layout=layout)
    if not draft.chunk_kib:
        draft = replace(draft, chunk_kib=default_chunk(draft.level, medium)[0])
    if not draft.disks and any(each.disk.disk == each.disk.name for each in _named(draft, survey)):
        draft = replace(draft, disks=default_table(draft, survey)[0])
    if not (draft.bitmap or draft.policy):
        draft = draft.guarded(default_guard(draft, component_kib(draft, survey))[0])
    return replace(draft, on_top=draft.on_top or "nothing", name=draft.name or proposed_name(survey))


def component_kib(draft: WizardDraft, survey: Survey) -> int:
    """Return what each member will hold, KiB; 0 where that is not known."""
    return min(usable(draft, draft.request(survey), survey), default=0)


def _named(draft: WizardDraft, survey: Survey) -> list[Device]:
    return [survey.devices[name] for name in draft.named if name in survey.devices]


def members_of(draft: WizardDraft, survey: Survey) -> tuple[Device, ...]:
    """Return what the members will be, without spares and empty slots."""
    return parts(replace(draft, spares=()), survey)


def slot_names(draft: WizardDraft) -> tuple[str, ...]:
    """Return the name above each slot of a picture; "–" for an empty one."""
    return tuple("–" if name == MISSING else name for name in draft.slots)
