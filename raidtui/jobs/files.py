"""Files and folders that must outlive a power cut, and that nobody else may write to.

A file is whole on disk, under its name, before the caller goes on: data, then the name, then the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

FOLDER_MODE = 0o755
PRIVATE_MODE = 0o700
_OTHERS_WRITE = 0o022
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def write_synced(path: Path, data: bytes) -> None:
    """Write a file for root's eyes; return when it is on disk, whole, under its name.

    Raises:
        OSError: it could not be written; what had this name before is untouched.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(
            part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on disk.

    Raises:
        OSError: the folder cannot be opened, or the disk failed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def own_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """Make a folder where there is none, on disk when this returns; see to the owner and mode of one that is.

    As root the mode is exact, whatever the umask; a user's own folder is only closed to writing by others.

    Raises:
        OSError: it cannot be made, or belongs to somebody else: what lies in it is not to be trusted.
    """
    if folder.is_dir():
        check_folder(folder, mode)
        return
    if not folder.parent.exists():
        own_folder(folder.parent)
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        if not folder.is_dir():  # else another raidtui was faster
            raise
    folder.chmod(mode)  # whatever the umask
    sync_folder(folder.parent)


def check_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """See to the owner and mode of a folder that is there.

    Raises:
        OSError: it is not there, or belongs to somebody else.
    """
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    own = os.geteuid()
    if found.st_uid not in {0, own}:
        owner = "root" if own == 0 else f"user {own}"
        why = f"{folder} belongs to user {found.st_uid}, not to {owner}"
        raise PermissionError(errno.EPERM, why, str(folder))
    now = stat.S_IMODE(found.st_mode)
    wanted = mode if own == 0 else now & ~_OTHERS_WRITE
    if now != wanted and own in {0, found.st_uid}:
        folder.chmod(wanted)
