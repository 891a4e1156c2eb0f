"""What mends a boot: GRUB on a disk, an initramfs made again, a line of fstab that no boot waits for."""

from __future__ import annotations

import re

from raidtui.model.array import Array
from raidtui.model.boot import BootFacts, BootKernel, Esp
from raidtui.model.plan import Fact, FactKind, NothingToDo, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Survey
from raidtui.plans.persist import array_line, conf_with, file_steps, own_lines
from raidtui.plans.target import needs_root

FSTAB = "/etc/fstab"
TIMEOUT = "x-systemd.device-timeout=10s"
ESP_FOLDER = "/run/raidtui/esp"
_INITRAMFS_S, _GRUB_S = 900.0, 300.0
_FIELD = re.compile(r"\S+")
_KEPT = ".before-raidtui"


def plan_loader(survey: Survey, facts: BootFacts, disk: str, *, serial: str = "") -> Plan | Refusal:
    """Return the plan that installs GRUB on a disk.

    Args:
        survey: the host.
        facts: of its boot.
        disk: kernel name.
        serial: the disk's serial number or WWN; "" where it has none.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    if disk not in {each.disk for each in facts.sectors}:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{disk} is no disk of this host")
    same = (Fact(kind=FactKind.SERIAL, subject=disk, value=serial),) if serial else ()
    if facts.firmware == "uefi":
        esp = next((each for each in facts.esps if each.disk == disk), None)
        if esp is None:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{disk} has no EFI system partition",
                remedy="make one of 100 MiB or more (type EF00), with a FAT file system, and look again",
            )
        return _plan_esp(esp, same)
    if facts.firmware != "bios":
        return Refusal(code=RefusalCode.UNKNOWN, why="whether this host boots by BIOS or UEFI is not known")
    return Plan(
        title=f"GRUB on {disk}",
        subject=disk,
        steps=(
            Step(
                argv=("grub-install", "--target=i386-pc", f"/dev/{disk}"),
                why="the firmware finds a boot loader there",
                needs=same,
                timeout_s=_GRUB_S,
            ),
        ),
        notes=(
            "What boot code the disk has now is replaced, and is not kept.",
            "grub-install refuses a GPT disk without a BIOS boot partition (type EF02).",
            "On Debian, dpkg-reconfigure grub-pc says which disks get GRUB when it is upgraded.",
        ),
    )


def _plan_esp(esp: Esp, same: tuple[Fact, ...]) -> Plan | Refusal:
    if esp.unread:
        return Refusal(code=RefusalCode.UNKNOWN, why=esp.unread)
    if esp.array:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{esp.device} is a member of {esp.array}",
            remedy="run grub-install with that array mounted",
        )
    at = (Fact(kind=FactKind.MOUNTED, subject=ESP_FOLDER),)
    off = (Fact(kind=FactKind.MOUNTED, subject=ESP_FOLDER, value="no"),)
    take_off = Step(argv=("umount", ESP_FOLDER), why=f"{esp.device} is taken off again", proves=off)
    return Plan(
        title=f"GRUB in {esp.device}",
        subject=esp.disk,
        steps=(
            Step(argv=("mkdir", "--parents", ESP_FOLDER), why="a place for it", volatile=True),
            Step(
                argv=("mount", "--types", "vfat", f"/dev/{esp.device}", ESP_FOLDER),
                why="grub-install writes to a file system",
                needs=(*same, *off),
                proves=at,
                undo=(take_off,),
                volatile=True,
            ),
            Step(
                argv=(
                    *("grub-install", "--target=x86_64-efi", f"--efi-directory={ESP_FOLDER}"),
                    *("--removable", "--no-nvram"),
                ),
                why="the firmware finds it as \\EFI\\BOOT\\BOOTX64.EFI, without an entry of its own",
                needs=at,
                timeout_s=_GRUB_S,
            ),
            take_off,
        ),
        notes=("The boot loader at \\EFI\\BOOT in that partition is replaced, and is not kept.",),
        rolls_back=True,
    )


def plan_initramfs(survey: Survey, facts: BootFacts, version: str, root: tuple[Array, ...]) -> Plan | Refusal:
    """Return the plan that makes an initramfs again; before that, mdadm.conf names the arrays of the root.

    Args:
        survey: the host.
        facts: of its boot.
        version: the kernel's release.
        root: the arrays that the root file system lies on.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    kernel = next((each for each in facts.kernels if each.version == version), None)
    if kernel is None:
        known = ", ".join(each.version for each in facts.kernels) or "none"
        why = f"there is no kernel {version} in /boot"
        return Refusal(code=RefusalCode.NOT_FOUND, why=why, remedy=f"kernels: {known}")
    argv = _maker(survey, kernel)
    if not argv:
        why = "neither update-initramfs, dracut nor mkinitcpio is installed"
        return Refusal(code=RefusalCode.NO_TOOL, why=why)
    path = kernel.initramfs.path if kernel.initramfs is not None else ""
    copy = f"{path}{_KEPT}"
    back = Step(argv=("mv", "--force", "--", copy, path), why="the initramfs as it was")
    made = Step(
        argv=argv,
        why=f"the initramfs of {version} is made again",
        timeout_s=_INITRAMFS_S,
        undo=(back,) if path else (),
    )
    steps = (*_conf_steps(survey, root), *(_kept_steps(path, copy) if path else ()), made)
    return Plan(
        title=f"initramfs of {version} made again",
        subject=version,
        steps=steps,
        undo=tuple(undo for step in reversed(steps) for undo in step.undo),
        notes=(f"The present one is kept as {copy}.",) if path else (),
        rolls_back=True,
    )


def _maker(survey: Survey, kernel: BootKernel) -> tuple[str, ...]:
    tool = survey.initramfs[0] if survey.initramfs else ""
    if tool == "update-initramfs":
        return (tool, "-u" if kernel.initramfs is not None else "-c", "-k", kernel.version)
    if tool == "dracut":
        return (tool, "--force", "--kver", kernel.version)
    return survey.initramfs


def _kept_steps(path: str, copy: str) -> tuple[Step, ...]:
    return (
        Step(
            argv=("cp", "--archive", "--", path, copy),
            why="the present one can be put back",
            proves=(Fact(kind=FactKind.NODE, subject=copy),),
            undo=(Step(argv=("rm", "--force", "--", copy), why="the copy is not needed"),),
        ),
    )


def _conf_steps(survey: Survey, arrays: tuple[Array, ...]) -> tuple[Step, ...]:
    """Write the lines that mdadm.conf lacks; a file without any ARRAY line names all arrays as it is."""
    old = survey.texts.get(survey.conf_path)
    if old is None or not re.search(r"(?im)^\s*arr", old):
        return ()
    new = old
    for array in arrays:
        if array.uuid and not own_lines(new, array.uuid):
            line = array_line(uuid=array.uuid, link=array.path, metadata=array.metadata or "1.2")
            new = conf_with(new, uuid=array.uuid, line=line)
    if new == old:
        return ()
    why = "the initramfs gets this file as it is"
    return file_steps(survey, survey.conf_path, new, why=why, initramfs=False)


def plan_fstab(survey: Survey, line: int) -> Plan | Refusal:
    """Return the plan that gives a line of fstab nofail, and a short wait for its device.

    Args:
        survey: the host.
        line: from 1.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    old = survey.texts.get(FSTAB)
    lines = (old or "").split("\n")
    fields = list(_FIELD.finditer(lines[line - 1])) if 0 < line <= len(lines) else []
    if len(fields) < 3 or fields[0][0].startswith("#"):
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{FSTAB} has no entry in line {line}")
    if fields[1][0] == "/":
        return Refusal(code=RefusalCode.UNSUPPORTED, why="nothing boots without the root file system")
    text = lines[line - 1]
    options = fields[3][0].split(",") if len(fields) > 3 else []
    if "nofail" in options:
        return NothingToDo(why=f"line {line} of {FSTAB} has nofail already")
    more = [
        "nofail",
        *([] if any(word.startswith("x-systemd.device-timeout") for word in options) else [TIMEOUT]),
    ]
    words = ",".join([*options, *more])
    start, end = fields[3].span() if len(fields) > 3 else (len(text), len(text))
    lines[line - 1] = f"{text[:start]}{'' if len(fields) > 3 else ' '}{words}{text[end:]}"
    steps = file_steps(
        survey, FSTAB, "\n".join(lines), why="no boot waits long for it, or stops without it", initramfs=False
    )
    reload = Step(argv=("systemctl", "daemon-reload"), why="systemd reads fstab again", may_fail=True)
    place = fields[1][0]
    return Plan(
        title=f"{place} with nofail",
        subject=place,
        steps=(*steps, *((reload,) if survey.systemd else ())),
        undo=tuple(undo for step in steps for undo in step.undo),
        notes=(f"If its device is missing, the machine comes up without {place}: see what needs it.",),
        rolls_back=True,
    )
