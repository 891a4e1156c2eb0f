"""A boot loader on a disk: GRUB, an EFI system partition made, filled and entered; and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.boot import BootFacts, BootSector, EfiEntry, Esp
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm
from raidtui.plans.loader_plans import plan_loader
from tests.plans.running import fact, host, planned, refused

DISKS = (BootSector(disk="sda"), BootSector(disk="sdb"))
NEW = Esp(device="sdb1", disk="sdb", number=1, part_uuid="bbbb", size_bytes=100 << 20)
OLD = Esp(device="sda1", disk="sda", number=1, part_uuid="aaaa")
ENTRY = EfiEntry(number="0001", label="debian", part_uuid="aaaa", path="/EFI/DEBIAN/SHIMX64.EFI")
MOUNT = ("mount", "--types", "vfat", "/dev/sdb1", "/run/raidtui/esp")
MKDIR = ("mkdir", "--parents", "/run/raidtui/esp", "/run/raidtui/esp-from")
UMOUNT = ("umount", "/run/raidtui/esp")
INSTALL = (
    *("grub-install", "--target=x86_64-efi", "--efi-directory=/run/raidtui/esp"),
    *("--removable", "--no-nvram"),
)


def bios(**more: Any) -> BootFacts:
    return BootFacts(**{"firmware": "bios", "sectors": DISKS, **more})


def uefi(*esps: Esp, **more: Any) -> BootFacts:
    return bios(**{"firmware": "uefi", "esps": esps, "entries_unread": "no", **more})


@pytest.mark.parametrize(("missing", "tool"), [((), "grub-install"), (("grub-install",), "grub2-install")])
def test_grub_on_a_disk(missing: tuple[str, ...], tool: str) -> None:
    plan = planned(plan_loader(host(missing=missing), bios(), "sdb", serial="S-sdb"))
    (step,) = plan.steps
    assert step.argv == (tool, "--target=i386-pc", "/dev/sdb")
    assert step.needs == (fact(FactKind.SERIAL, "sdb", "S-sdb"),)
    assert plan.notes[0] == "What boot code the disk has now is replaced, and is not kept."
    assert plan.notes[-1] == "Whether the machine boots without any one disk then: raidtui boot-check."


def test_grub_in_an_esp_where_no_other_is_good() -> None:
    plan = planned(plan_loader(host(), uefi(NEW), "sdb", serial="S-sdb"))
    assert [step.argv for step in plan.steps] == [MKDIR, MOUNT, INSTALL, UMOUNT]
    assert plan.rolls_back
    assert plan.steps[1].undo[0].argv == UMOUNT
    assert plan.steps[1].needs[0] == fact(FactKind.SERIAL, "sdb", "S-sdb")


def test_another_esp_is_copied() -> None:
    plan = planned(plan_loader(host(), uefi(OLD, NEW), "sdb", serial="S-sdb", of=OLD))
    assert [step.argv for step in plan.steps] == [
        MKDIR,
        MOUNT,
        ("mount", "--types", "vfat", "--options", "ro", "/dev/sda1", "/run/raidtui/esp-from"),
        (
            *("cp", "--recursive", "--force", "--no-target-directory", "--"),
            *("/run/raidtui/esp-from", "/run/raidtui/esp"),
        ),
        ("umount", "/run/raidtui/esp-from"),
        UMOUNT,
    ]
    copy = plan.steps[3]
    assert copy.needs == (
        fact(FactKind.MOUNTED, "/run/raidtui/esp", ""),
        fact(FactKind.MOUNTED, "/run/raidtui/esp-from", ""),
    )


def test_one_that_is_mounted_is_copied_from_there() -> None:
    of = replace(OLD, place="/boot/efi")
    plan = planned(plan_loader(host(), uefi(of, NEW), "sdb", of=of))
    assert [step.argv[-2:] for step in plan.steps[2:3]] == [("/boot/efi", "/run/raidtui/esp")]
    assert [step.argv for step in plan.steps[3:]] == [UMOUNT]


@pytest.mark.parametrize(("size", "words"), [(100 << 20, ("-F", "32")), (2 << 20, ()), (None, ())])
def test_one_without_a_file_system_gets_one(size: int | None, words: tuple[str, ...]) -> None:
    empty = replace(NEW, has_fat=False, size_bytes=size)
    plan = planned(plan_loader(host(), uefi(OLD, empty), "sdb", serial="S-sdb", of=OLD))
    made = plan.steps[0]
    assert made.argv == ("mkfs.vfat", *words, "/dev/sdb1")
    assert made.needs == (fact(FactKind.SERIAL, "sdb", "S-sdb"), fact(FactKind.FREE, "sdb1", ""))
    assert made.proves == (fact(FactKind.FILE_SYSTEM, "/dev/sdb1", "vfat"),)
    assert (plan.harm, plan.confirm) == (Harm.DESTROYS, "sdb1")


def entered(*entries: EfiEntry, of: Esp | None = OLD, **more: Any) -> list[tuple[str, ...]]:
    facts = uefi(OLD, NEW, entries=entries, entries_unread="")
    plan = planned(plan_loader(host(**more), facts, "sdb", serial="S-sdb", of=of))
    return [step.argv for step in plan.steps if step.argv[0] == "efibootmgr"]


def test_the_firmware_gets_an_entry_like_that_of_the_one_that_is_copied() -> None:
    create = ("efibootmgr", "--create", "--disk", "/dev/sdb", "--part", "1")
    like = (*create, "--label", "debian (S-sdb)", "--loader", "\\EFI\\DEBIAN\\SHIMX64.EFI")
    fallback = (*create, "--label", "Linux (S-sdb)", "--loader", "\\EFI\\BOOT\\BOOTX64.EFI")
    assert entered(ENTRY) == [like]
    assert entered() == [fallback]
    assert entered(ENTRY, of=None) == [fallback]


def test_no_second_entry_and_none_without_its_tool() -> None:
    assert entered(ENTRY, replace(ENTRY, number="0002", part_uuid="bbbb")) == []
    assert entered(ENTRY, missing=("efibootmgr",)) == []


@pytest.mark.parametrize(
    ("facts", "disk", "sentence"),
    [
        (bios(), "sdz", "sdz is no disk of this host"),
        (bios(firmware=""), "sda", "whether this host boots by BIOS or UEFI is not known"),
        (
            uefi(),
            "sda",
            "sda has no EFI system partition; make one of 100 MiB or more (type EF00), and look again",
        ),
        (
            uefi(replace(OLD, array="md9")),
            "sda",
            "sda1 is a member of md9; run grub-install with that array mounted",
        ),
        (uefi(replace(OLD, unread="sda1 can only be read by root")), "sda", "sda1 can only be read by root"),
    ],
)
def test_no_loader(facts: BootFacts, disk: str, sentence: str) -> None:
    assert refused(plan_loader(host(), facts, disk)) == sentence


@pytest.mark.parametrize(
    ("facts", "missing", "sentence"),
    [
        (
            bios(),
            ("grub-install", "grub2-install"),
            "grub-install is not installed; apt install grub2-common",
        ),
        (
            uefi(NEW),
            ("grub-install", "grub2-install"),
            "grub-install is not installed; apt install grub2-common",
        ),
        (
            uefi(replace(NEW, has_fat=False)),
            ("mkfs.vfat",),
            "mkfs.vfat is not installed; apt install dosfstools",
        ),
    ],
)
def test_without_its_tools(facts: BootFacts, missing: tuple[str, ...], sentence: str) -> None:
    assert refused(plan_loader(host(missing=missing), facts, "sdb")) == sentence


def test_without_root() -> None:
    assert "root" in refused(plan_loader(host(writable=False), bios(), "sda"))
