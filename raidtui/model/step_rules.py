"""What a plan that comes from a file may do, and what its steps do, whatever the file says of them.

A plan that was made by hand or edited says of itself what it likes. What it destroys follows from its tools
and paths; a step that raidtui itself could not have made is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.plan import Harm, Plan, PutFile, RunTool, Step, WaitUntil, Write

TOOLS = frozenset({
    "blkdiscard", "blockdev", "btrfs", "chmod", "cmp", "cp", "cryptsetup", "dd", "ddrescue", "dmsetup",
    "dracut", "e2fsck", "efibootmgr", "fstrim", "grub-install", "grub-mkconfig", "grub2-install",
    "grub2-mkconfig", "journalctl", "ledctl", "losetup", "lvchange", "lvconvert", "lvcreate", "lvextend",
    "lvremove", "mdadm", "mkdir", "mkfs.btrfs", "mkfs.ext4", "mkfs.vfat", "mkfs.xfs", "mkinitcpio",
    "modprobe", "mount", "mv", "pkill", "pvcreate", "pvremove", "pvresize", "resize2fs", "rm", "rmdir",
    "sfdisk", "smartctl", "sync", "systemctl", "systemd-tmpfiles", "touch", "truncate", "tune2fs", "udevadm",
    "umount", "update-initramfs", "vgcreate", "vgremove", "wipefs", "xfs_growfs",
})  # fmt: skip
"""The tools that raidtui's plans run: looked for in the system's folders, run by absolute path."""
_IMSM = ("env", "IMSM_NO_PLATFORM=1", "mdadm")
_KERNEL = ("/sys/", "/proc/sys/")
_NO_FILES = ("/dev/", "/proc/", "/sys/")
_LONGEST_S = 30 * 86_400.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_IN_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
"""Of a file or a tool's input: white space and, as bytes, UTF-8 belong there."""
_CACHE_OPTIONS = frozenset({"--cachemode", "--cachepolicy", "--cachesettings"})
_LVCHANGE = 4
_WIPES = frozenset({"blkdiscard", "mkfs.btrfs", "mkfs.ext4", "mkfs.vfat", "mkfs.xfs"})


def step_trouble(plan: Plan) -> str:
    """Return why a step is none that raidtui makes, with its number; "" where all could be."""
    for where, step in _numbered(plan.steps, "step"):
        if why := _why_not(step):
            return f"{where}: {why}"
    for where, step in _numbered(plan.undo, "step of the undo"):
        if why := _why_not(step):
            return f"{where}: {why}"
    return ""


def _numbered(steps: tuple[Step, ...], what: str) -> Iterator[tuple[str, Step]]:
    for number, step in enumerate(steps, start=1):
        yield f"{what} {number}", step
        for where, back in _numbered(step.undo, "undo"):
            yield f"{what} {number}, {where}", back


def _why_not(step: Step) -> str:
    words = (step.path, step.text, step.paces, *step.argv, *_words(step))
    for text, pattern in (
        *((word, _CONTROL) for word in words),
        (step.stdin, _IN_TEXT),
        (step.content, _IN_TEXT),
    ):
        if (found := pattern.search(text or "")) is not None:
            return f"it holds a control character, {found[0]!r}"
    match step:
        case RunTool():
            return _why_no_tool(step)
        case WaitUntil():
            return "" if step.until else "it waits for nothing"
        case Write() | PutFile() if not _is_whole(step.path):
            return f"{step.path!r} is not an absolute path"
        case Write():
            return "" if step.path.startswith(_KERNEL) else f"{step.path} is not a file of the kernel"
        case PutFile() if any(ord(char) > 0xFF for char in step.content):
            return "its content is not bytes"
        case PutFile():
            return f"{step.path} is not a configuration file" if step.path.startswith(_NO_FILES) else ""


def _why_no_tool(step: RunTool) -> str:
    if not (math.isfinite(step.timeout_s) and 0 < step.timeout_s <= _LONGEST_S):
        return f"a tool cannot take {step.timeout_s:g} s"
    if not step.argv:
        return "it names no tool"
    tool = step.argv[0]
    return (
        ""
        if tool in TOOLS or step.argv[:3] == _IMSM
        else (f"{tool!r} is not a tool that raidtui's plans run")
    )


def _is_whole(path: str) -> bool:
    return path.startswith("/") and not {".", "..", ""} & set(path.split("/")[1:])


def _words(step: Step) -> Iterator[str]:
    for fact in (*step.needs, *step.awaits, *step.proves, *step.until, *step.as_long_as):
        yield fact.subject
        yield fact.value
    if isinstance(step, Write):
        yield from step.identity or ()
    elif isinstance(step, RunTool):
        yield from step.counts


def is_tune_undo(plan: Plan) -> bool:
    """Whether raidtui could keep a plan to undo what was tuned: values of the kernel or caches, its files."""
    files = frozenset(OUR_FILES.values())
    folders = {path.rpartition("/")[0] for path in files}
    if step_trouble(plan):
        return False
    for _, step in (*_numbered(plan.steps, ""), *_numbered(plan.undo, "")):
        tool, *words = step.argv or ("",)
        known = {
            "": step.content is None or step.path in files,
            "lvchange": words[:1] == ["--yes"] and len(words) == _LVCHANGE and words[1] in _CACHE_OPTIONS,
            "mkdir": words[:1] == ["--parents"] and set(words[1:]) <= folders,
            "rm": words[:2] == ["--force", "--"] and set(words[2:]) <= files,
            "udevadm": words[:1] in (["control"], ["trigger"], ["settle"]),
        }
        if not known.get(tool, False) or any(
            word.startswith("-") for word in words[2:] if tool == "lvchange"
        ):
            return False
    return True


def destroyed_devices(step: Step) -> tuple[str, ...]:
    """Return the paths of the devices whose contents a step's tool overwrites or gives up; () for none."""
    argv = step.argv[2:] if step.argv[:3] == _IMSM else step.argv
    tool, options = (argv[0], argv[1:]) if argv else ("", ())
    words = tuple(word for word in options if word.startswith("/dev/"))
    if tool in _WIPES or (tool == "wipefs" and {"-a", "--all", "-af", "-fa"} & set(options)):
        return words
    if tool == "mdadm" and {"--create", "-C", "--zero-superblock"} & set(options):
        return words
    if tool == "sfdisk" and not {"--dump", "-d", "--list", "-l", "--verify", "-V"} & set(options):
        return words
    if tool == "dd":
        return tuple(word[3:] for word in options if word.startswith("of=/dev/"))
    return words[1:2] if tool == "ddrescue" else ()


def _takes_data(step: Step) -> bool:
    """Whether a step destroys what may be data: not where it is read right before that nothing is there."""
    devices = {path.removeprefix("/dev/") for path in destroyed_devices(step)}
    empty = {
        fact.subject
        for fact in step.needs
        if fact.kind is FactKind.CLEAN
        or (fact.kind is FactKind.CONTENTS and not fact.value)
        or (fact.kind is FactKind.SUPERBLOCK and fact.value and "--zero-superblock" in step.argv)
    }
    return not devices <= empty if devices else step.destroys


def judged(plan: Plan) -> Plan:
    """Return a plan with what it destroys as its steps say it; the file may only say more.

    A former member's superblock, named by its UUID and read right before, is no data; nor is an empty device.
    """
    steps = tuple(
        replace(step, destroys=True) if not step.destroys and _takes_data(step) else step
        for step in plan.steps
    )
    destroys = bool(plan.loss_sentences or plan.losses) or any(_takes_data(step) for step in steps)
    return replace(plan, steps=steps, harm=Harm.DESTROYS if destroys else plan.harm)
