"""A boot loader on a disk: GRUB for a PC's firmware, or an EFI system partition filled and entered.

Where another EFI system partition has boot loaders, its files are copied: so any loader is, and a signed
one stays signed. Else GRUB is installed. An entry of the firmware is made where there is none.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.boot import BootFacts, Esp
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.target import needs_root

ESP_FOLDER, FROM_FOLDER = "/run/raidtui/esp", "/run/raidtui/esp-from"
LOOK_AGAIN = "Whether the machine boots without any one disk then: raidtui boot-check."
_FALLBACK = "/EFI/BOOT/BOOTX64.EFI"
_GRUB_S, _COPY_S = 300.0, 300.0
_SMALLEST_FAT32 = 34 << 20
"""A smaller file system has fewer clusters than FAT32 must have (mkfs.fat(8))."""


def plan_loader(
    survey: Survey, facts: BootFacts, disk: str, *, serial: str = "", of: Esp | None = None
) -> Plan | Refusal:
    """Return the plan that puts a boot loader on a disk.

    Args:
        survey: the host.
        facts: of its boot.
        disk: kernel name.
        serial: the disk's serial number or WWN; "" where it has none.
        of: the EFI system partition that is copied; None where none is good.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    if disk not in {each.disk for each in facts.sectors}:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{disk} is not a disk of this host")
    same = (Fact(kind=FactKind.SERIAL, subject=disk, value=serial),) if serial else ()
    if facts.firmware == "uefi":
        esp = next((each for each in facts.esps if each.disk == disk), None)
        if esp is None:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{disk} has no EFI system partition",
                remedy="make one of 100 MiB or more (type EF00), and look again",
            )
        return _plan_esp(survey, facts, esp, same, of)
    if facts.firmware != "bios":
        return Refusal(code=RefusalCode.UNKNOWN, why="whether this host boots by BIOS or UEFI is not known")
    if refusal := _refuse_grub(survey):
        return refusal
    return Plan(
        title=f"GRUB on {disk}",
        subject=disk,
        steps=(grub_step(survey, disk, same),),
        notes=(
            "The disk's present boot code is replaced, and is not kept.",
            "grub-install refuses a GPT disk without a BIOS boot partition (type EF02).",
            "On Debian, dpkg-reconfigure grub-pc says which disks get GRUB when it is upgraded.",
            LOOK_AGAIN,
        ),
    )


def grub_step(survey: Survey, disk: str, needs: tuple[Fact, ...]) -> Step:
    """Return the step that installs GRUB for a PC's firmware.

    Args:
        survey: the host.
        disk: kernel name.
        needs: what must hold right before.
    """
    return RunTool(
        argv=(_grub(survey), "--target=i386-pc", f"/dev/{disk}"),
        why="the firmware finds a boot loader there",
        needs=needs,
        timeout_s=_GRUB_S,
    )


def _grub(survey: Survey) -> str:
    there = "grub-install" not in survey.missing or "grub2-install" in survey.missing
    return "grub-install" if there else "grub2-install"


def _refuse_grub(survey: Survey) -> Refusal | None:
    return survey.refuse_tool(_grub(survey))


def _plan_esp(
    survey: Survey, facts: BootFacts, esp: Esp, same: tuple[Fact, ...], of: Esp | None
) -> Plan | Refusal:
    if esp.unread:
        return Refusal(code=RefusalCode.UNKNOWN, why=esp.unread)
    if esp.array:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{esp.device} is a member of {esp.array}",
            remedy="run grub-install with that array mounted",
        )
    refusal = (None if esp.has_fat else survey.refuse_tool("mkfs.vfat")) or (
        _refuse_grub(survey) if of is None else None
    )
    if refusal is not None:
        return refusal
    steps = esp_steps(survey, facts, esp, same, of=of)
    old = "The boot loader at \\EFI\\BOOT in that partition is replaced, and is not kept."
    plan = Plan(
        title=f"boot loader in {esp.device}",
        subject=esp.disk,
        steps=steps,
        notes=(*((old,) if esp.has_fat else ()), LOOK_AGAIN),
        rolls_back=True,
    )
    if esp.has_fat:
        return plan
    warning = f"{esp.device} has no file system that the firmware reads: anything else in it is lost."
    return replace(plan, harm=Harm.DESTROYS, confirm=esp.device, warning=warning)


def esp_steps(
    survey: Survey,
    facts: BootFacts,
    esp: Esp,
    same: tuple[Fact, ...],
    *,
    of: Esp | None,
) -> tuple[Step, ...]:
    """Return the steps that make an EFI system partition boot the machine.

    Args:
        survey: the host.
        facts: of its boot.
        esp: the partition; it may be one that is made by steps before.
        same: what must hold right before: it is still this disk.
        of: the one whose files it gets; None to install GRUB.
    """
    path = f"/dev/{esp.device}"
    at, off = _mounted(ESP_FOLDER), _mounted(ESP_FOLDER, "no")
    take_off = RunTool(argv=("umount", ESP_FOLDER), why=f"{esp.device} is unmounted again", proves=off)
    return (
        *(() if esp.has_fat else (_made(esp, same),)),
        RunTool(argv=("mkdir", "--parents", ESP_FOLDER, FROM_FOLDER), why="places for mounts", volatile=True),
        RunTool(
            argv=("mount", "--types", "vfat", path, ESP_FOLDER),
            why="files are put into it",
            needs=(*same, *off),
            proves=at,
            undo=(take_off,),
            volatile=True,
        ),
        *(_copied(of, at) if of is not None else (_installed(survey, at),)),
        take_off,
        *_entered(survey, facts, esp, same, of),
    )


def _mounted(folder: str, value: str = "") -> tuple[Fact, ...]:
    return (Fact(kind=FactKind.MOUNTED, subject=folder, value=value),)


def _made(esp: Esp, needs: tuple[Fact, ...]) -> Step:
    large = (esp.size_bytes or 0) >= _SMALLEST_FAT32
    path = f"/dev/{esp.device}"
    return RunTool(
        argv=("mkfs.vfat", *(("-F", "32") if large else ()), path),
        why="a file system that the firmware reads",
        needs=(*needs, Fact(kind=FactKind.FREE, subject=esp.device)),
        proves=(Fact(kind=FactKind.FILE_SYSTEM, subject=path, value="vfat"),),
        destroys=True,
    )


def _installed(survey: Survey, at: tuple[Fact, ...]) -> Step:
    return RunTool(
        argv=(
            *(_grub(survey), "--target=x86_64-efi", f"--efi-directory={ESP_FOLDER}"),
            *("--removable", "--no-nvram"),
        ),
        why="the firmware finds it as \\EFI\\BOOT\\BOOTX64.EFI, without an entry of its own",
        needs=at,
        timeout_s=_GRUB_S,
    )


def _copied(of: Esp, at: tuple[Fact, ...]) -> tuple[Step, ...]:
    """Copy all files of an EFI system partition, from where it is mounted, or mounted for that."""
    source = of.place or FROM_FOLDER
    copy = RunTool(
        argv=("cp", "--recursive", "--force", "--no-target-directory", "--", source, ESP_FOLDER),
        why=f"the boot loaders of {of.device}",
        needs=(*at, *_mounted(source)),
        timeout_s=_COPY_S,
    )
    if of.place:
        return (copy,)
    there, off = _mounted(FROM_FOLDER), _mounted(FROM_FOLDER, "no")
    take_off = RunTool(argv=("umount", FROM_FOLDER), why=f"{of.device} is unmounted again", proves=off)
    put_on = RunTool(
        argv=("mount", "--types", "vfat", "--options", "ro", f"/dev/{of.device}", FROM_FOLDER),
        why="its files are copied",
        needs=off,
        proves=there,
        undo=(take_off,),
        volatile=True,
    )
    return put_on, copy, take_off


def _entered(
    survey: Survey, facts: BootFacts, esp: Esp, same: tuple[Fact, ...], of: Esp | None
) -> tuple[Step, ...]:
    """Return the step that makes the firmware's entry; none where there may be one, or none can be made."""
    number = dict(facts.numbers).get(esp.device, esp.number)
    known = {each.part_uuid for each in facts.entries}
    if facts.entries_unread or not number or survey.refuse_tool("efibootmgr"):
        return ()
    if esp.part_uuid and esp.part_uuid in known:
        return ()
    like = next((each for each in facts.entries if of is not None and each.part_uuid == of.part_uuid), None)
    file = (like.path if like is not None else _FALLBACK).replace("/", "\\")
    numbers = [fact.value for fact in same if fact.kind is FactKind.SERIAL and fact.subject == esp.disk]
    serial = numbers[0] if numbers else esp.disk  # a name moves, the entry stays
    label = f"{(like.label if like is not None else '') or 'Linux'} ({serial})"
    return (
        RunTool(
            argv=(
                *("efibootmgr", "--create", "--disk", f"/dev/{esp.disk}", "--part", str(number)),
                *("--label", label, "--loader", file),
            ),
            why="the firmware has an entry for it, and tries it first",
            needs=same,
            may_fail=True,
        ),
    )
