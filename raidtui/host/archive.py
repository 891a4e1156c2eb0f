"""Captures: tar archives, opened in memory, so that nothing of them ever lies on a disk.

Apart from ``opening`` because the compressions cost 10 ms to load and the live host needs none.
"""

from __future__ import annotations

import lzma
import tarfile
import zlib
from pathlib import Path

from raidtui.host.captured import captured_links
from raidtui.host.memory_root import MemoryRoot
from raidtui.host.root import RootError

LARGEST_FILE = 8 << 20
_FOLDERS = ("/.raidtui/", "/proc/", "/sys/", "/run/", "/dev/", "/etc/", "/lib/", "/usr/lib/",
            "/usr/local/lib/", "/var/lib/")  # fmt: skip
_LARGEST_TREE = 256 << 20


def is_archive(place: Path) -> bool:
    """Whether a file is a tar archive, compressed or not."""
    try:
        return tarfile.is_tarfile(place)
    except (EOFError, lzma.LZMAError, zlib.error) as error:  # compressed, and cut short in its first block
        raise RootError(f"{place}: the archive is damaged: {error}") from error


def open_capture(place: Path) -> MemoryRoot:
    """Return a capture as a root.

    Raises:
        RootError: it is damaged, too large, or no capture.
    """
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    total = 0
    try:
        with tarfile.open(place) as archive:
            for entry in archive:
                path = _inside(entry.name)
                if path is None:
                    continue
                if entry.issym():
                    links[path] = entry.linkname
                elif entry.isfile():
                    total += entry.size
                    if entry.size > LARGEST_FILE or total > _LARGEST_TREE:
                        raise RootError(f"{place}: too large for a capture; made by raidtui capture?")
                    content = archive.extractfile(entry)
                    files[path] = content.read() if content else b""
    except (tarfile.TarError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise RootError(f"{place}: the archive is damaged: {error}") from error
    if "/proc/mdstat" not in files and not any(path.startswith("/.raidtui/") for path in files):
        raise RootError(f"{place}: no capture: it holds no proc/mdstat; make one with: raidtui capture FILE")
    known = captured_links(MemoryRoot(files))
    return MemoryRoot(files, links=known | links, source=place.name, still=True)


def _inside(name: str) -> str | None:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    path = "/" + "/".join(parts)
    return path if path.startswith(_FOLDERS) else None
