"""Open the argument of ``--root``: the live host, a folder, a capture, or a /proc/mdstat text."""

from __future__ import annotations

import stat
from pathlib import Path

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader, ReaderError
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.regular_files import LARGEST_FILE, read_regular

LARGEST_TEXT = LARGEST_FILE


def open_root(path: str = "/") -> HostReader:
    """Return the root at ``path``.

    Args:
        path: ``/``, a folder with at least ``proc/mdstat``, a capture (tar, compressed or not), or a text
            file with a /proc/mdstat.

    Raises:
        ReaderError: ``path`` is not one of these.
    """
    place = Path(path)
    try:
        # From Python 3.14 on, is_dir() and exists() hide why a path cannot be read.
        mode = place.stat().st_mode
        if stat.S_ISDIR(mode):
            if not (place / "proc").is_dir() and not (place / ".raidtui").is_dir():
                raise ReaderError(f"{path}: not the root of a host: it has no proc/mdstat")
            return FolderReader(path if path == "/" else str(place.resolve()))
        if not stat.S_ISREG(mode):
            raise ReaderError(f"{path}: neither a folder nor a file")
        from raidtui.host.readers.archive import is_archive, open_capture  # noqa: PLC0415

        return open_capture(place) if is_archive(place) else _open_mdstat(place)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ReaderError(f"{path}: no such file or folder") from error
    except (OSError, ValueError) as error:  # a name may contain what no path can, a NUL
        raise ReaderError(f"{path[:200]}: {getattr(error, 'strerror', '') or error}") from error


def _open_mdstat(place: Path) -> MemoryReader:
    if place.stat().st_size > LARGEST_TEXT:
        raise ReaderError(f"{place}: neither a capture nor a /proc/mdstat text")
    data = read_regular(str(place))
    text = data.decode("utf-8", "replace")
    if "Personalities :" not in text and "unused devices:" not in text:
        raise ReaderError(
            f"{place}: neither a capture nor a /proc/mdstat text (no line starts with 'Personalities :')"
        )
    return MemoryReader({"/proc/mdstat": data}, source=place.name, taken_s=place.stat().st_mtime, still=True)
