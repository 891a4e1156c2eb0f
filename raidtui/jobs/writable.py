"""Whether the folders that a plan writes to can be written to: known at its review, not at its last step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan, Refusal, RefusalCode

_BOOT, _BACKUP = Path("/boot"), "--backup-file="
_TO_BOOT = frozenset(
    {"update-initramfs", "dracut", "mkinitcpio", "update-grub", "grub-mkconfig", "grub2-mkconfig"}
)
"""Tools that write to /boot."""


def tried(reader: HostReader, plan: Plan | Refusal) -> Plan | Refusal:
    """Return a plan for the live host, or why a folder that one of its steps writes to takes nothing."""
    if isinstance(plan, Refusal) or not reader.live:
        return plan
    return refuse_unwritable(plan) or plan


def refuse_unwritable(plan: Plan) -> Refusal | None:
    """Return why a step could not write where it has to on this host, or None."""
    return next(filter(None, map(_refuse, dict.fromkeys(_folders(plan)))), None)


def _folders(plan: Plan) -> Iterator[Path]:
    """Yield the folders that steps write to; of those that an earlier step makes, what they are made in."""
    made: set[Path] = set()
    for step in plan.steps:
        if step.content is not None:
            folder = Path(os.path.realpath(step.path)).parent
            yield _existing(folder) if made & {folder, *folder.parents} else folder
        elif step.argv[:1] == ("mkdir",):
            named = [Path(os.path.realpath(word)) for word in step.argv[1:] if word.startswith("/")]
            made.update(named)
            yield from map(_existing, named)
        elif step.argv and step.argv[0] in _TO_BOOT and _BOOT.is_dir():
            yield _BOOT
        for word in step.argv:
            if word.startswith(_BACKUP):
                yield _existing(Path(os.path.realpath(word.removeprefix(_BACKUP))).parent)


def _existing(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)


def _refuse(folder: Path) -> Refusal | None:
    try:
        room = os.statvfs(folder)
    except OSError as error:
        return _refusal(f"{folder}: {error.strerror}", "make that folder first")
    if room.f_flag & os.ST_RDONLY:
        return _refusal(
            f"{folder} is on a file system that is read-only", "make it writable first: mount -o remount,rw"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return _refusal(f"{folder} is not writable", "see its mode and attributes: ls -ld, lsattr -d")
    if not room.f_bfree or (room.f_files and not room.f_ffree):
        return _refusal(f"the file system of {folder} is full", "make room there first")
    return None


def _refusal(why: str, remedy: str) -> Refusal:
    return Refusal(
        code=RefusalCode.WRONG_STATE,
        why=f"the plan writes a file, and {why}",
        remedy=f"{remedy}; then plan again",
    )
