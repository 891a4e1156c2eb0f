"""An initramfs or GRUB's menu made again, a line of fstab: plans and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.features.boot.boot_plans import FSTAB, plan_fstab, plan_initramfs, plan_menu
from raidtui.model.boot import BootFacts, BootKernel, BootSector, Initramfs
from raidtui.model.plan import NothingToDo
from tests.hosts.specs import raid10
from tests.plans.running import first, host, planned, refused

VERSION = "6.1.0-50-amd64"
IMAGE = f"/boot/initrd.img-{VERSION}"
UPDATE = ("update-initramfs", "-u", "-k", "all")
CONF = "/etc/mdadm/mdadm.conf"
DISKS = (BootSector(disk="sda"), BootSector(disk="sdb"))
KERNEL = BootKernel(version=VERSION, initramfs=Initramfs(path=IMAGE))


def bios(**more: Any) -> BootFacts:
    return BootFacts(**{"firmware": "bios", "sectors": DISKS, "kernels": (KERNEL,), **more})


def test_an_initramfs_again() -> None:
    survey = host(raid10(), initramfs=UPDATE, texts={CONF: "MAILADDR root\n"})
    plan = planned(plan_initramfs(survey, bios(), VERSION, (first(survey),)))
    kept = f"{IMAGE}.before-raidtui"
    assert [step.argv for step in plan.steps] == [
        ("cp", "--archive", "--", IMAGE, kept),
        ("update-initramfs", "-u", "-k", VERSION),
    ]
    assert [step.argv for step in plan.undo] == [
        ("mv", "--force", "--", kept, IMAGE),
        ("rm", "--force", "--", kept),
    ]


def test_the_array_gets_its_line_before() -> None:
    old = "ARRAY /dev/md/other UUID=aaaaaaaa:bbbbbbbb:cccccccc:dddddddd\n"
    survey = host(raid10(), initramfs=UPDATE, texts={CONF: old})
    array = first(survey)
    plan = planned(plan_initramfs(survey, bios(), VERSION, (array,)))
    assert plan.steps[0].path == CONF
    assert plan.steps[0].content == f"{old}ARRAY {array.path} metadata=1.2 UUID={array.uuid}\n"
    assert plan.undo[-1].content == old


@pytest.mark.parametrize(
    ("tool", "argv"),
    [
        (("dracut", "--force", "--regenerate-all"), ("dracut", "--force", "--kver", VERSION)),
        (("mkinitcpio", "-P"), ("mkinitcpio", "-P")),
    ],
)
def test_other_makers(tool: tuple[str, ...], argv: tuple[str, ...]) -> None:
    survey = host(initramfs=tool)
    assert planned(plan_initramfs(survey, bios(), VERSION, ())).steps[-1].argv == argv


def test_the_first_initramfs_of_a_kernel() -> None:
    facts = bios(kernels=(BootKernel(version=VERSION),))
    plan = planned(plan_initramfs(host(initramfs=UPDATE), facts, VERSION, ()))
    assert [step.argv for step in plan.steps] == [("update-initramfs", "-c", "-k", VERSION)]


def test_no_initramfs() -> None:
    survey = host(initramfs=UPDATE)
    assert refused(plan_initramfs(survey, bios(), "5.9", ())) == (
        f"there is no kernel 5.9 in /boot; kernels: {VERSION}"
    )
    assert refused(plan_initramfs(host(), bios(), VERSION, ())) == (
        "neither update-initramfs, dracut nor mkinitcpio is installed"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "UUID=AAAA-0001  /boot/efi\tvfat  umask=0077  0 1",
            "UUID=AAAA-0001  /boot/efi\tvfat  umask=0077,nofail,x-systemd.device-timeout=10s  0 1",
        ),
        (
            "/dev/sdb1 /data ext4 defaults",
            "/dev/sdb1 /data ext4 defaults,nofail,x-systemd.device-timeout=10s",
        ),
        ("/dev/sdb1 /data ext4", "/dev/sdb1 /data ext4 nofail,x-systemd.device-timeout=10s"),
        (
            "/dev/sdb1 /data ext4 x-systemd.device-timeout=5s 0 2",
            "/dev/sdb1 /data ext4 x-systemd.device-timeout=5s,nofail 0 2",
        ),
    ],
)
def test_a_line_of_fstab(old: str, new: str) -> None:
    head = "UUID=1 / ext4 defaults 0 1\n"
    plan = planned(plan_fstab(host(texts={FSTAB: f"{head}{old}\n"}, systemd=True), 2))
    assert plan.steps[0].content == f"{head}{new}\n"
    assert plan.undo[0].content == f"{head}{old}\n"
    assert [step.argv for step in plan.steps[1:]] == [("systemctl", "daemon-reload")]


def test_no_line_of_fstab() -> None:
    survey = host(texts={FSTAB: "# a comment\nUUID=1 / ext4 defaults 0 1\nUUID=2 /x ext4 nofail 0 2\n"})
    assert refused(plan_fstab(survey, 1)) == "/etc/fstab has no entry in line 1"
    assert refused(plan_fstab(survey, 0)) == "/etc/fstab has no entry in line 0"
    assert refused(plan_fstab(survey, 9)) == "/etc/fstab has no entry in line 9"
    assert refused(plan_fstab(survey, 2)) == "nothing boots without the root file system"
    assert isinstance(plan_fstab(survey, 3), NothingToDo)


@pytest.mark.parametrize(("missing", "tool"), [((), "grub-mkconfig"), (("grub-mkconfig",), "grub2-mkconfig")])
def test_the_menu_again(missing: tuple[str, ...], tool: str) -> None:
    path = "/boot/grub/grub.cfg"
    plan = planned(plan_menu(host(missing=missing), path))
    kept = f"{path}.before-raidtui"
    assert [step.argv for step in plan.steps] == [
        ("cp", "--archive", "--", path, kept),
        (tool, "--output", path),
    ]
    assert [step.argv for step in plan.undo] == [
        ("mv", "--force", "--", kept, path),
        ("rm", "--force", "--", kept),
    ]
    assert plan.notes[-1] == "Whether the machine boots without any one disk then: raidtui boot-check."


def test_no_menu() -> None:
    assert refused(plan_menu(host(), "")) == "there is no grub.cfg"
    none = host(missing=("grub-mkconfig", "grub2-mkconfig"))
    assert refused(plan_menu(none, "/boot/grub/grub.cfg")) == (
        "grub-mkconfig is not installed; apt install grub2-common"
    )


def test_without_root() -> None:
    survey = host(writable=False, texts={FSTAB: "UUID=2 /x ext4 defaults 0 2\n"}, initramfs=UPDATE)
    for found in (
        plan_menu(survey, "/boot/grub/grub.cfg"),
        plan_initramfs(survey, bios(), VERSION, ()),
        plan_fstab(survey, 1),
    ):
        assert "root" in refused(found)
