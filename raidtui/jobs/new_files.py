"""Files that a person asks for: an export, a report. An existing file is never overwritten."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


class ExportError(Exception):
    """A file was not written; the message says why, and what to do."""


def write_new_file(path: Path, data: bytes) -> Path:
    """Write a new file; return its absolute path. An existing file is not overwritten.

    Raises:
        ExportError: the file is there already, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        number = os.open(path, flags, 0o644)
    except FileExistsError as error:
        what = "is a folder: name a file in it" if path.is_dir() else "exists already: choose another name"
        raise ExportError(f"{path} {what}") from error
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        with os.fdopen(number, "wb") as file:
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
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M', time.localtime(at_s))}"
    names = [name, *(f"{name}-{number}" for number in range(2, 100))]
    paths = [folder / f"{each}.{kind}" for each in names]
    return next((path for path in paths if not os.path.lexists(path)), paths[0])


def typed_path(text: str) -> Path:
    """Return the path of a typed text; ``~`` is the home folder.

    Raises:
        ExportError: nothing was typed.
    """
    if not text.strip():
        raise ExportError("type a file name")
    return Path(os.path.expanduser(text.strip()))  # noqa: PTH111  (an unknown ~name is no error)
