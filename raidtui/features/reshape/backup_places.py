"""Where the backup file of a reshape may lie: what is known of a path, and which one is proposed."""

from __future__ import annotations

import os

from raidtui.features.reshape.plan.backup_place import BackupPlace, backup_trouble
from raidtui.host.backup_files import PLACES
from raidtui.host.mounts import mount_of, read_mounts
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array
from raidtui.model.survey import Survey

_MOST_FILES = 99
_PASSING = frozenset({"/tmp", "/var/tmp"})  # noqa: S108  (the next boot may empty them)
_LASTING = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"})


def read_backup_place(reader: HostReader, path: str) -> BackupPlace:
    """Return what is known of the place of a backup file.

    Args:
        reader: the host.
        path: as it was typed.
    """
    folder, _, name = path.rpartition("/")
    why = ""
    if not path.startswith("/"):
        why = "it is not an absolute path"
    elif not name or reader.is_there(path):
        why = "it is there already" if name else "it is a folder"
    elif folder and not reader.is_there(folder):
        why = f"there is no folder {folder}"
    mount = (
        None if why else mount_of(reader, os.path.realpath(folder or "/") if reader.live else folder or "/")
    )
    if mount is None:
        return BackupPlace(path=path, why_not=why or f"it is not known what {folder} is on")
    return BackupPlace(path=path, where=mount.where, kind=mount.kind)


def propose_backup(reader: HostReader, survey: Survey, array: Array) -> BackupPlace:
    """Return a place for a backup file that is not on the array, and where rescue looks for it first.

    Args:
        reader: the host.
        survey: with what stands on the array.
        array: the array that is reshaped.
    """
    mounted = (mount.where for mount in read_mounts(reader) if mount.kind in _LASTING)
    for folder in dict.fromkeys((*(place for place in PLACES if place not in _PASSING), *mounted)):
        for number in range(1, _MOST_FILES + 1):
            more = "" if number == 1 else f"-{number}"
            path = f"{folder.rstrip('/')}/reshape-{array.name}{more}.backup"
            place = read_backup_place(reader, path)
            if reader.is_there(path):
                continue
            if not backup_trouble(survey, array, place):
                return place
            break
    return BackupPlace(path="", why_not=f"no mounted file system was found that is not on {array.title}")
