"""Where the backup file of a reshape lies: never on the array itself, and never in memory."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.survey import Survey

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})


class BackupPlace(Struct, frozen=True, kw_only=True):
    """The place of a backup file.

    Args:
        path: of the file.
        where: the mount point of the file system it is on.
        kind: that file system's type.
        why_not: why it cannot be there, a clause; "".
    """

    path: str
    where: str = ""
    kind: str = ""
    why_not: str = ""


def refuse_backup(survey: Survey, array: Array, place: BackupPlace) -> Refusal | None:
    """Return why a backup file cannot lie at a place, or None.

    Args:
        survey: the host, with what stands on the array.
        array: the array that is reshaped.
        place: where it is to lie.
    """
    why = backup_trouble(survey, array, place)
    if not why:
        return None
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"the backup file cannot be {place.path}: {why}",
        remedy="name a file that is not there yet, on a disk that the array does not use",
    )


def backup_trouble(survey: Survey, array: Array, place: BackupPlace) -> str:
    """Return why a backup file cannot lie at a place, a clause; "" where it can. Arguments as above."""
    if place.why_not:
        return place.why_not
    if place.kind in _IN_MEMORY:
        return f"{place.where} is in memory: after a crash the file would be gone"
    if place.where in _mounted_from(survey, array.name, set()):
        return f"{place.where} is on {array.title} itself"
    return ""


def _mounted_from(survey: Survey, name: str, seen: set[str]) -> set[str]:
    """Return where a device, and what stands on it, is mounted."""
    disk = survey.above.get(name) or survey.snapshot.disks.get(name)
    if disk is None or name in seen:
        return set()
    seen.add(name)
    found = {use.what for use in disk.uses if use.kind == "mount"}
    for use in disk.uses:
        if use.kind in {"partition", "holder"}:
            found |= _mounted_from(survey, use.what, seen)
    return found
