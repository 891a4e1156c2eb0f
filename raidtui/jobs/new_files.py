"""Files that a person asks for: an export, a report. An existing file is never overwritten."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import IO


class ExportError(Exception):
    """A file was not written; the message says why, and what to do."""


def create_file(path: Path, mode: int = 0o644) -> IO[bytes]:
    """Create a file, and open it for writing; an existing one is not touched.

    Raises:
        OSError: it cannot be created; FileExistsError: it is there already.
    """
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


def write_new_file(path: Path, data: bytes, mode: int = 0o644) -> Path:
    """Write a new file; return its absolute path. An existing file is not overwritten.

    Raises:
        ExportError: the file is there already, or cannot be written.
    """
    try:
        file = create_file(path, mode)
    except FileExistsError as error:
        what = "is a folder: name a file in it" if path.is_dir() else "exists already: choose another name"
        raise ExportError(f"{path} {what}") from error
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        with file:
            file.write(data)
    except OSError as error:
        with contextlib.suppress(OSError):
            path.unlink()
        raise ExportError(f"{path}: {error.strerror}; nothing was written") from error
    return path.absolute()


def new_path(stem: str, kind: str, at_s: float) -> Path:
    """Return a path in the current folder that does not exist yet.

    Args:
        stem: how its name begins.
        kind: how it ends, without the dot.
        at_s: epoch seconds that name it.
    """
    try:
        folder = Path.cwd()
    except OSError:  # it was removed
        folder = Path.home()
    return free_path(folder, f"{stem}-{time.strftime('%Y%m%d-%H%M', time.localtime(at_s))}", kind)


def free_path(folder: Path, name: str, kind: str) -> Path:
    """Return a path in a folder that does not exist yet: NAME.KIND, NAME-2.KIND and so on, or the first."""
    paths = [folder / f"{name}{f'-{number}' if number > 1 else ''}.{kind}" for number in range(1, 100)]
    return next((path for path in paths if not os.path.lexists(path)), paths[0])


def typed_path(text: str) -> Path:
    """Return the path of a typed text; ``~`` is the home folder.

    Raises:
        ExportError: nothing was typed.
    """
    if not text.strip():
        raise ExportError("type a file name")
    return Path(os.path.expanduser(text.strip()))  # noqa: PTH111  (an unknown ~name is not an error)
