"""Whether the files that a plan writes can be written: it is known before the first step, not at the last."""

from __future__ import annotations

import os
from pathlib import Path

from raidtui.model.plan import Plan, Refusal, RefusalCode


def refuse_unwritable(plan: Plan) -> Refusal | None:
    """Return why a file that a later step puts in place could not be written on this host, or None."""
    paths = (step.path for step in plan.steps if step.content is not None)
    folders = dict.fromkeys(Path(os.path.realpath(path)).parent for path in paths)
    return next(filter(None, map(_refuse, folders)), None)


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
