"""Captures: tar archives, read into memory, so that none of their content is ever written to a disk.

Separate from ``opening`` because the decompressors take 10 ms to load and the live host needs none.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

from raidtui.host.readers.host_reader import ReaderError, captured_links
from raidtui.host.readers.memory_reader import MemoryReader

LARGEST_FILE = 8 << 20
_FOLDERS = ("/.raidtui/", "/proc/", "/sys/", "/run/", "/dev/", "/etc/", "/lib/", "/usr/lib/",
            "/usr/local/lib/", "/var/lib/")  # fmt: skip
_LARGEST_TREE = 256 << 20
_LARGEST_PIECE, _LARGEST_WHOLE = 16 << 20, 512 << 20
_OPENERS: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)


class _Bounded:
    """The content of an archive, compressed or not. It refuses sizes that no capture has.

    The header of a member may claim 1.5 GiB, and a file of 1 MiB may expand to 1 GiB.
    """

    def __init__(self, place: Path, closing: ExitStack) -> None:
        self._place = place
        file = closing.enter_context(place.open("rb"))
        start = file.read(max(len(magic) for magic, _ in _OPENERS))
        opener = next((each for magic, each in _OPENERS if start.startswith(magic)), None)
        file.seek(0)
        self.compressed = opener is not None
        self._file: IO[bytes] = closing.enter_context(opener(file)) if opener is not None else file

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        self._refuse(size < 0 or size > _LARGEST_PIECE or self._file.tell() > _LARGEST_WHOLE)
        return self._file.read(size)

    def seek(self, offset: int) -> int:
        """Move to an offset."""
        self._refuse(offset > _LARGEST_WHOLE)
        return self._file.seek(offset)

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._file.tell()

    def _refuse(self, too_large: bool) -> None:  # noqa: FBT001
        if too_large:
            raise ReaderError(f"{self._place}: too large for a capture; made by raidtui capture?")


def _opened(place: Path, closing: ExitStack) -> tarfile.TarFile:
    """Open an archive.

    Raises:
        ReaderError: it is damaged, or too large for a capture.
    """
    file = cast("IO[bytes]", _Bounded(place, closing))
    return closing.enter_context(tarfile.open(fileobj=file, mode="r:"))


def is_archive(place: Path) -> bool:
    """Whether a file is a tar archive, or compressed."""
    with ExitStack() as closing:
        if _Bounded(place, closing).compressed:
            return True
        try:
            _opened(place, closing)
        except tarfile.TarError:
            return False
    return True


def open_capture(place: Path) -> MemoryReader:
    """Return a capture as a root.

    Raises:
        ReaderError: it is damaged, too large, or not a capture.
    """
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    total = 0
    try:
        with ExitStack() as closing:
            for entry in (archive := _opened(place, closing)):
                path = _inside(entry.name)
                if path is None:
                    continue
                if entry.issym():
                    links[path] = entry.linkname
                elif entry.isfile():
                    total += entry.size
                    if entry.size > LARGEST_FILE or total > _LARGEST_TREE:
                        raise ReaderError(f"{place}: too large for a capture; made by raidtui capture?")
                    content = archive.extractfile(entry)
                    files[path] = content.read() if content else b""
    except (tarfile.TarError, EOFError, ValueError, OverflowError, lzma.LZMAError, zlib.error) as error:
        raise ReaderError(f"{place}: the archive is damaged: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ReaderError(f"{place}: the archive is damaged: {error}") from error
    if "/proc/mdstat" not in files and not any(path.startswith("/.raidtui/") for path in files):
        raise ReaderError(
            f"{place}: not a capture: it has no proc/mdstat; make one with: raidtui capture FILE"
        )
    known = captured_links(MemoryReader(files))
    return MemoryReader(files, links=known | links, source=place.name, still=True)


def _inside(name: str) -> str | None:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    path = "/" + "/".join(parts)
    return path if path.startswith(_FOLDERS) else None
