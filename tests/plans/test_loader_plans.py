"""A boot loader on a disk: GRUB, an EFI system partition made, filled and entered; and refusals."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.boot import BootFacts, BootSector, EfiEntry, Esp
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.loader_plans import plan_loader
from tests.plans.goldens import accepted, commands
from tests.plans.running import host, planned

DISKS = (BootSector(disk="sda"), BootSector(disk="sdb"))
NEW = Esp(device="sdb1", disk="sdb", number=1, part_uuid="bbbb", size_bytes=100 << 20)
OLD = Esp(device="sda1", disk="sda", number=1, part_uuid="aaaa")
EMPTY = replace(NEW, has_fat=False)
MOUNTED = replace(OLD, place="/boot/efi")
ENTRY = EfiEntry(number="0001", label="debian", part_uuid="aaaa", path="/EFI/DEBIAN/SHIMX64.EFI")
NO_GRUB = ("grub-install", "grub2-install")


def bios(**more: Any) -> BootFacts:
    return BootFacts(**{"firmware": "bios", "sectors": DISKS, **more})


def uefi(*esps: Esp, **more: Any) -> BootFacts:
    return bios(**{"firmware": "uefi", "esps": esps, "entries_unread": "no", **more})


def loader(
    facts: BootFacts, disk: str = "sdb", *missing: str, of: Esp | None = None, **more: Any
) -> Plan | Refusal:
    return plan_loader(host(missing=missing, **more), facts, disk, serial="S-sdb", of=of)


def entries(*known: EfiEntry, of: Esp | None = OLD, missing: tuple[str, ...] = ()) -> list[str]:
    """What is done to the firmware's entries."""
    made = planned(loader(uefi(OLD, NEW, entries=known, entries_unread=""), "sdb", *missing, of=of))
    return commands(step for step in made.steps if step.argv[0] == "efibootmgr")


test_plans = accepted(
    {
        "grub on a disk": lambda: loader(bios()),
        "grub in an ESP, as no other is good": lambda: loader(uefi(NEW)),
        "another ESP is copied": lambda: loader(uefi(OLD, NEW), of=OLD),
        "one without a file system gets one": lambda: loader(uefi(OLD, EMPTY), of=OLD),
    }
)
test_commands = accepted(
    {
        "grub2 on a disk": lambda: loader(bios(), "sdb", "grub-install"),
        "one that is mounted is copied from there": lambda: loader(uefi(MOUNTED, NEW), of=MOUNTED),
        "a small one gets a file system": lambda: loader(
            uefi(OLD, replace(EMPTY, size_bytes=2 << 20)), of=OLD
        ),
        "one of unknown size gets a file system": lambda: loader(
            uefi(OLD, replace(EMPTY, size_bytes=None)), of=OLD
        ),
    },
    commands,
)
test_entries = accepted(
    {
        "entry: like that of the one that is copied": lambda: entries(ENTRY),
        "entry: of the fallback, as that has none": entries,
        "entry: of the fallback, as none is copied": lambda: entries(ENTRY, of=None),
        "entry: no second one": lambda: entries(ENTRY, replace(ENTRY, number="0002", part_uuid="bbbb")),
        "entry: none without its tool": lambda: entries(ENTRY, missing=("efibootmgr",)),
    }
)
test_refused = accepted(
    {
        "refused: no disk": lambda: loader(bios(), "sdz"),
        "refused: the firmware is not known": lambda: loader(bios(firmware=""), "sda"),
        "refused: no ESP": lambda: loader(uefi(), "sda"),
        "refused: an ESP on an array": lambda: loader(uefi(replace(OLD, array="md9")), "sda"),
        "refused: an ESP that cannot be read": lambda: loader(
            uefi(replace(OLD, unread="sda1 can only be read by root")), "sda"
        ),
        "refused: no grub-install": lambda: loader(bios(), "sdb", *NO_GRUB),
        "refused: no grub-install for an ESP": lambda: loader(uefi(NEW), "sdb", *NO_GRUB),
        "refused: no mkfs.vfat": lambda: loader(uefi(EMPTY), "sdb", "mkfs.vfat"),
        "refused: not root": lambda: loader(bios(), "sda", writable=False),
    }
)
