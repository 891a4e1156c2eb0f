"""Open what ``--root`` names: the live host, a folder, a capture, or a lone /proc/mdstat text."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from pathlib import Path

from raidtui.host.root import DirRoot, MemoryRoot, Root, RootError

_LARGEST_FILE = 8 << 20
_LARGEST_TREE = 256 << 20


def open_root(path: str = "/") -> Root:
    """Return the root at ``path``.

    Args:
        path: ``/``, a folder with at least ``proc/mdstat``, a capture (tar, compressed or not), or a text
            file that holds a /proc/mdstat.

    Raises:
        RootError: there is nothing of that kind at ``path``.
    """
    place = Path(path)
    try:
        if place.is_dir():
            if not (place / "proc").is_dir() and not (place / ".raidtui").is_dir():
                raise RootError(f"{path}: no host's root: it holds no proc/mdstat")
            return DirRoot(path if path == "/" else str(place.resolve()))
        if not place.exists():
            raise RootError(f"{path}: no such file or folder")
        if tarfile.is_tarfile(place):
            return _open_capture(place)
        return _open_mdstat(place)
    except OSError as error:
        raise RootError(f"{path}: {error.strerror or error}") from error


def _open_capture(place: Path) -> MemoryRoot:
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
                    if entry.size > _LARGEST_FILE or total > _LARGEST_TREE:
                        raise RootError(f"{place}: too large for a capture; made by raidtui capture?")
                    content = archive.extractfile(entry)
                    files[path] = content.read() if content else b""
    except (tarfile.TarError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise RootError(f"{place}: the archive is damaged: {error}") from error
    if "/proc/mdstat" not in files and not any(path.startswith("/.raidtui/") for path in files):
        raise RootError(f"{place}: no capture: it holds no proc/mdstat; make one with: raidtui capture FILE")
    return MemoryRoot(files, links=links, source=place.name)


def _inside(name: str) -> str | None:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    if parts[0] not in {".raidtui", "proc", "sys", "run", "dev", "etc"}:
        return None
    return "/" + "/".join(parts)


def _open_mdstat(place: Path) -> MemoryRoot:
    if place.stat().st_size > _LARGEST_FILE:
        raise RootError(f"{place}: neither a capture nor a /proc/mdstat text")
    data = place.read_bytes()
    text = data.decode("utf-8", "replace")
    if "Personalities :" not in text and "unused devices:" not in text:
        raise RootError(
            f"{place}: neither a capture nor a /proc/mdstat text (no line starts with 'Personalities :')"
        )
    return MemoryRoot({"/proc/mdstat": data}, source=place.name, taken_s=place.stat().st_mtime)
