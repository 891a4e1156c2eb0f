"""What fixes a boot: an initramfs or GRUB's menu regenerated, a line of fstab that no boot waits for."""

from __future__ import annotations

import re

from raidtui.model.array import Array
from raidtui.model.boot import BootFacts, BootKernel
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.loader_plans import LOOK_AGAIN
from raidtui.plans.persist import array_line, conf_with, file_steps, own_lines
from raidtui.plans.target import needs_root

FSTAB = "/etc/fstab"
TIMEOUT = "x-systemd.device-timeout=10s"
_INITRAMFS_S, _MENU_S = 900.0, 300.0
_FIELD = re.compile(r"\S+")
_KEPT = ".before-raidtui"


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
    back = RunTool(argv=("mv", "--force", "--", copy, path), why="the initramfs as it was")
    made = RunTool(
        argv=argv,
        why=f"the initramfs of {version} is rebuilt",
        timeout_s=_INITRAMFS_S,
        undo=(back,) if path else (),
    )
    steps = (*_conf_steps(survey, root), *(_kept_steps(path, copy) if path else ()), made)
    return Plan(
        title=f"initramfs of {version} rebuilt",
        subject=version,
        steps=steps,
        undo=tuple(undo for step in reversed(steps) for undo in step.undo),
        notes=(*((f"The present one is kept as {copy}.",) if path else ()), LOOK_AGAIN),
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
        RunTool(
            argv=("cp", "--archive", "--", path, copy),
            why="the present one can be put back",
            proves=(Fact(kind=FactKind.NODE, subject=copy),),
            undo=(RunTool(argv=("rm", "--force", "--", copy), why="the copy is not needed"),),
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
    why = "the initramfs gets this file unchanged"
    return file_steps(survey, survey.conf_path, new, why=why, initramfs=False)


def plan_menu(survey: Survey, path: str) -> Plan | Refusal:
    """Return the plan that makes GRUB's menu again, so that it names the root file system and its kernels.

    Args:
        survey: the host.
        path: of grub.cfg; "" where there is none.
    """
    if refusal := needs_root(survey.snapshot):
        return refusal
    if not path:
        return Refusal(code=RefusalCode.NOT_FOUND, why="there is no grub.cfg")
    tool = next((each for each in ("grub-mkconfig", "grub2-mkconfig") if each not in survey.missing), "")
    if not tool:
        return survey.refuse_tool("grub-mkconfig") or Refusal(
            code=RefusalCode.NO_TOOL, why="grub-mkconfig is not installed"
        )
    copy = f"{path}{_KEPT}"
    back = RunTool(argv=("mv", "--force", "--", copy, path), why="the menu as it was")
    made = RunTool(
        argv=(tool, "--output", path), why="the menu is regenerated", timeout_s=_MENU_S, undo=(back,)
    )
    steps = (*_kept_steps(path, copy), made)
    return Plan(
        title="GRUB's menu regenerated",
        subject="grub.cfg",
        steps=steps,
        undo=tuple(undo for step in reversed(steps) for undo in step.undo),
        notes=(
            f"The present one is kept as {copy}.",
            "root= in /etc/default/grub is not changed: correct it there first.",
            LOOK_AGAIN,
        ),
        rolls_back=True,
    )


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
    reload = RunTool(argv=("systemctl", "daemon-reload"), why="systemd reads fstab again", may_fail=True)
    place = fields[1][0]
    return Plan(
        title=f"{place} with nofail",
        subject=place,
        steps=(*steps, *((reload,) if survey.systemd else ())),
        undo=tuple(undo for step in steps for undo in step.undo),
        notes=(
            f"If its device is missing, the machine comes up without {place}: see what needs it.",
            LOOK_AGAIN,
        ),
        rolls_back=True,
    )
