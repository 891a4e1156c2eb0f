"""The plans that mend a boot, on images that were booted."""

from __future__ import annotations

import pytest

from raidtui.features.boot.session import boot_plan
from raidtui.host.boot.grub_menu import menu_path
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.plan import Plan, Refusal
from raidtui.monitor.boot.boot_check import read_boot_loaders
from raidtui.monitor.sampler import Sampler
from tests.monitor.boot.images import image_root


def steps(name: str, kind: str, word: str) -> list[str]:
    made = boot_plan(image_root(name), kind, word)
    assert isinstance(made, Plan), made
    return [" ".join(step.argv) if step.argv else f"write {step.path}" for step in made.steps]


def test_a_boot_loader_by_bios() -> None:
    assert steps("no-boot-code", "loader", "ubdb") == ["grub-install --target=i386-pc /dev/ubdb"]


def test_a_good_esp_is_copied_to_the_empty_one() -> None:
    assert steps("uefi-empty-esp", "loader", "ubdb")[1:] == [
        "mount --types vfat /dev/ubdb2 /run/raidtui/esp",
        "mount --types vfat --options ro /dev/ubda2 /run/raidtui/esp-from",
        "cp --recursive --force --no-target-directory -- /run/raidtui/esp-from /run/raidtui/esp",
        "umount /run/raidtui/esp-from",
        "umount /run/raidtui/esp",
    ]


def test_an_esp_that_is_not_good_is_not_copied() -> None:
    """Where no other boots the machine, GRUB is installed."""
    words = steps("uefi-stale-loader", "loader", "ubda")
    assert not any(word.startswith("cp ") for word in words)
    assert any(word.startswith("grub-install --target=x86_64-efi") for word in words)


def test_a_line_of_fstab() -> None:
    assert steps("esp-in-fstab", "fstab", "2")[0] == "write /etc/fstab"


@pytest.mark.parametrize(
    ("kind", "word", "why"),
    [
        ("loader", "", "a disk is needed: raidtui plan boot loader ..."),
        ("initramfs", "", "a kernel's release is needed: raidtui plan boot initramfs ..."),
        ("fstab", "", "the number of a line is needed: raidtui plan boot fstab ..."),
        ("fstab", "x", "'x' is not a line of fstab"),
        ("loader", "sdz", "sdz is not a disk of this host"),
        ("initramfs", "5.9", "there is no kernel 5.9 in /boot"),
    ],
)
def test_refused(kind: str, word: str, why: str) -> None:
    made = boot_plan(image_root(), kind, word)
    assert isinstance(made, Refusal)
    assert made.why == why


def test_loaders_alone() -> None:
    root = image_root()
    found = read_boot_loaders(root, Sampler(root).sample(), frozenset({"ubda", "ubdb"}))
    assert {each.disk for each in found.sectors if each.grub} == {"ubda", "ubdb"}


@pytest.mark.parametrize(
    ("folder", "path"), [("grub", "/boot/grub/grub.cfg"), ("grub2", "/boot/grub2/grub.cfg")]
)
def test_where_the_menu_is(folder: str, path: str) -> None:
    files = {f"/boot/{folder}/grub.cfg": b"set default=0\n"}
    assert menu_path(MemoryReader(files, still=True)) == path
    assert menu_path(MemoryReader({}, still=True)) == ""
