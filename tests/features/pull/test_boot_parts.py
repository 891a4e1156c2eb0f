"""The boot loader that a new disk gets: where the former one, or the neighbour, had one, and none else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.pull.boot_parts import has_loader
from raidtui.features.pull.put_in import plan_put_in
from raidtui.features.pull.tables import parse_dump
from raidtui.model.boot import BootFacts, BootSector, EfiEntry, Esp, EspLoader
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, RunTool
from tests.features.pull.test_plans import DUMP, commands, filling
from tests.plans.running import planned

FIRST = "sfdisk --quiet --wipe always --wipe-partitions always /dev/sdc"
LOADER = EspLoader(path="/EFI/BOOT/BOOTX64.EFI", kind="grub")
ENTRY = EfiEntry(number="0001", label="debian", part_uuid="bbbb", path="/EFI/DEBIAN/SHIMX64.EFI")
ESP = Esp(device="sdb1", disk="sdb", number=1, part_uuid="bbbb", loaders=(LOADER,))
NOT_FILLED = "/dev/sdc1 is an EFI system partition, and empty"


def bios(*, grub: bool) -> BootFacts:
    sectors = (BootSector(disk="sdb", table="gpt", marked=True, grub=grub), BootSector(disk="sdc"))
    return BootFacts(firmware="bios", sectors=sectors)


def uefi(*esps: Esp, **more: Any) -> BootFacts:
    return BootFacts(**{"firmware": "uefi", "esps": esps, "entries_unread": "no", **more})


def put_in(boot: BootFacts | None, *, booted: bool = False, **more: Any) -> Plan:
    """Sda was pulled; sdc gets the table of sdb, whose first partition is for the firmware."""
    survey, kept = filling()
    record = replace(kept, booted=booted)
    survey = replace(survey, **more)
    return planned(plan_put_in(survey, record, "sdc", parse_dump(DUMP), of="sdb", boot=boot))


def after_md(plan: Plan) -> list[str]:
    """What is done when md has finished."""
    words = commands(plan)
    last = max(number for number, each in enumerate(words) if each.startswith("wait: "))
    assert words[0] == FIRST
    return words[last + 1 :]


@pytest.mark.parametrize(("grub", "booted"), [(True, False), (False, True), (True, True)])
def test_grub_where_the_neighbour_or_the_former_disk_had_it(*, grub: bool, booted: bool) -> None:
    plan = put_in(bios(grub=grub), booted=booted)
    assert after_md(plan) == ["grub-install --target=i386-pc /dev/sdc"]
    step = plan.steps[-1]
    assert isinstance(step, RunTool)
    assert step.may_fail
    assert [(fact.kind, fact.subject, fact.value) for fact in step.needs] == [
        (FactKind.SERIAL, "sdc", "SSDC0001")
    ]
    assert not any(NOT_FILLED in note for note in plan.notes)


def test_the_files_of_the_neighbours_esp_and_an_entry() -> None:
    plan = put_in(uefi(ESP, entries=(ENTRY,), entries_unread=""))
    assert after_md(plan) == [
        "mkfs.vfat /dev/sdc1",
        "mkdir --parents /run/raidtui/esp /run/raidtui/esp-from",
        "mount --types vfat /dev/sdc1 /run/raidtui/esp",
        "mount --types vfat --options ro /dev/sdb1 /run/raidtui/esp-from",
        "cp --recursive --force --no-target-directory -- /run/raidtui/esp-from /run/raidtui/esp",
        "umount /run/raidtui/esp-from",
        "umount /run/raidtui/esp",
        (
            "efibootmgr --create --disk /dev/sdc --part 1 --label debian (SSDC0001)"
            " --loader \\EFI\\DEBIAN\\SHIMX64.EFI"
        ),
    ]
    waits = max(number for number, step in enumerate(plan.steps) if step.waits)
    assert all(isinstance(step, RunTool) and step.may_fail for step in plan.steps[waits + 1 :])
    assert not any(NOT_FILLED in note for note in plan.notes)


def test_grub_in_the_esp_where_no_disk_that_is_left_has_one() -> None:
    empty = Esp(device="sdb1", disk="sdb", number=1)
    words = after_md(put_in(uefi(empty), booted=True))
    assert words[3].startswith(
        "grub-install --target=x86_64-efi --efi-directory=/run/raidtui/esp --removable"
    )


@pytest.mark.parametrize(
    "boot",
    [
        None,
        bios(grub=False),
        uefi(),
        uefi(Esp(device="sdb1", disk="sdb")),
        BootFacts(sectors=bios(grub=True).sectors),
    ],
)
def test_no_loader_where_there_was_none_or_nothing_is_known(boot: BootFacts | None) -> None:
    plan = put_in(boot)
    assert after_md(plan) == []
    assert any(NOT_FILLED in note for note in plan.notes)


def test_without_the_tool_for_a_file_system_the_plan_says_what_is_empty() -> None:
    plan = put_in(uefi(ESP), missing=("mkfs.vfat",))
    assert after_md(plan) == []
    assert any(NOT_FILLED in note for note in plan.notes)


def test_which_disk_has_a_loader() -> None:
    assert has_loader(bios(grub=True), "sdb")
    assert not has_loader(bios(grub=True), "sdc")
    assert has_loader(uefi(ESP), "sdb")
    assert not has_loader(uefi(ESP), "sdc")
