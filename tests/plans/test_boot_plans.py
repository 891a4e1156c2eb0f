"""An initramfs or GRUB's menu regenerated, a line of fstab: plans and refusals."""

from __future__ import annotations

from typing import Any

from raidtui.features.boot.boot_plans import FSTAB, plan_fstab, plan_initramfs, plan_menu
from raidtui.model.boot import BootFacts, BootKernel, BootSector, Initramfs
from raidtui.model.plan import Plan, Refusal
from tests.hosts.specs import raid10
from tests.plans.goldens import accepted, commands
from tests.plans.running import first, host

VERSION = "6.1.0-50-amd64"
UPDATE = ("update-initramfs", "-u", "-k", "all")
CONF = "/etc/mdadm/mdadm.conf"
DISKS = (BootSector(disk="sda"), BootSector(disk="sdb"))
KERNEL = BootKernel(version=VERSION, initramfs=Initramfs(path=f"/boot/initrd.img-{VERSION}"))
GRUB = "/boot/grub/grub.cfg"


def again(
    version: str = VERSION, *, kernel: BootKernel = KERNEL, conf: str | None = None, **more: Any
) -> Plan | Refusal:
    """The initramfs of a kernel, with the array if there is an mdadm.conf."""
    given = {"initramfs": UPDATE, **more}
    survey = host(raid10(), texts={CONF: conf} if conf is not None else {}, **given)
    facts = BootFacts(firmware="bios", sectors=DISKS, kernels=(kernel,))
    return plan_initramfs(survey, facts, version, (first(survey),) if conf is not None else ())


def entry(line: str, number: int = 2, **more: Any) -> Plan | Refusal:
    text = f"UUID=1 / ext4 defaults 0 1\n{line}\n"
    return plan_fstab(host(texts={FSTAB: text}, systemd=True, **more), number)


NO_ARRAY = "MAILADDR root\n"
ANOTHER = "ARRAY /dev/md/other UUID=aaaaaaaa:bbbbbbbb:cccccccc:dddddddd\n"
EFI = "UUID=AAAA-0001  /boot/efi\tvfat  umask=0077  0 1"
test_plans = accepted(
    {
        "initramfs: again": lambda: again(conf=NO_ARRAY),
        "initramfs: the array gets its line before": lambda: again(conf=ANOTHER),
        "fstab: a line": lambda: entry(EFI),
        "menu: again": lambda: plan_menu(host(), GRUB),
    }
)
test_commands = accepted(
    {
        "initramfs: by dracut": lambda: again(initramfs=("dracut", "--force", "--regenerate-all")),
        "initramfs: by mkinitcpio": lambda: again(initramfs=("mkinitcpio", "-P")),
        "initramfs: the first one": lambda: again(kernel=BootKernel(version=VERSION)),
        "menu: by grub2": lambda: plan_menu(host(missing=("grub-mkconfig",)), GRUB),
    },
    commands,
)


def contents(line: str) -> list[str | None]:
    found = entry(line)
    assert isinstance(found, Plan), found
    return [step.content for step in found.steps if step.content is not None]


test_lines = accepted(
    {
        "fstab: without numbers": "/dev/sdb1 /data ext4 defaults",
        "fstab: without options": "/dev/sdb1 /data ext4",
        "fstab: with a timeout": "/dev/sdb1 /data ext4 x-systemd.device-timeout=5s 0 2",
    },
    contents,
)
test_refused = accepted(
    {
        "refused: no such kernel": lambda: again("5.9"),
        "refused: nothing that makes an initramfs": lambda: again(initramfs=()),
        "refused: fstab, a comment": lambda: entry("# a comment"),
        "refused: fstab, line 0": lambda: entry(EFI, 0),
        "refused: fstab, a line that is not there": lambda: entry(EFI, 9),
        "refused: fstab, the root": lambda: entry(EFI, 1),
        "refused: fstab, it is so": lambda: entry("UUID=2 /x ext4 nofail 0 2"),
        "refused: no menu": lambda: plan_menu(host(), ""),
        "refused: nothing that makes a menu": lambda: plan_menu(
            host(missing=("grub-mkconfig", "grub2-mkconfig")), GRUB
        ),
        "refused: menu, not root": lambda: plan_menu(host(writable=False), GRUB),
        "refused: initramfs, not root": lambda: again(writable=False),
        "refused: fstab, not root": lambda: entry(EFI, 1, writable=False),
    }
)
