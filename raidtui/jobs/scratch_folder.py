"""The folder that a benchmark makes on the file system it measures, for its files alone."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

_PROBE = "raidtui-was-here"


def make_scratch(folder: Path, *, again: bool) -> None:
    """Make the folder; ``again``: it may be there already.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, exist_ok=again)


def give_scratch(folder: Path, uid: int) -> None:
    """Give the folder, and the files of an earlier worker in it, to a user and group.

    Raises:
        OSError: the file system does not allow it.
    """
    for path in (*folder.iterdir(), folder):
        os.chown(path, uid, uid, follow_symlinks=False)


def remove_scratch(folder: Path) -> bool:
    """Remove the folder with its files; return whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def turned_read_only(folder: Path) -> bool:
    """Whether the file system takes no new file any more; other troubles are not told."""
    probe = folder / _PROBE
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        return error.errno == errno.EROFS
    return False
