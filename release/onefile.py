"""The one file: a shell script that unpacks the archive behind it once, and starts raidtui from there."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from release.places import HOUSE, VERSION, source_epoch
from release.tree import python_of

_HEADER = HOUSE / "release" / "header.sh"
_ID_DIGITS = 16
SUMS = ".sha256"


def pack(tree: Path, file: Path, *, quick: bool = False) -> None:
    """Write the one file. The same tree gives the same bytes.

    Args:
        tree: the private environment.
        file: it is replaced.
        quick: whether it may be larger, and made sooner.
    """
    payload = gzip.compress(_archive(tree), compresslevel=1 if quick else 9, mtime=0)
    digest = hashlib.sha256(payload).hexdigest()
    header = _HEADER.read_text(encoding="utf-8")
    values = {
        "VERSION": VERSION,
        "ID": f"{VERSION}-{digest[:_ID_DIGITS]}",
        "SHA256": digest,
        "PYTHON": python_of(tree).name,
        "LINES": str(header.count("\n") + 1),
    }
    for name, value in values.items():
        header = header.replace(f"@{name}@", value)
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(header.encode() + payload)
    part.chmod(0o755)
    part.replace(file)


def _archive(tree: Path) -> bytes:
    """Return a tar archive of a folder, with a list of its hashes: names sorted, one time, root's."""
    buffer = io.BytesIO()
    epoch = source_epoch()
    sums = []
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(tree.rglob("*")):
            entry = archive.gettarinfo(path, str(path.relative_to(tree)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            if entry.isreg():
                data = path.read_bytes()
                sums.append(f"{hashlib.sha256(data).hexdigest()}  {entry.name}\n")
                archive.addfile(entry, io.BytesIO(data))
            else:
                entry.mode = 0o755
                archive.addfile(entry)
        text = "".join(sums).encode()
        entry = tarfile.TarInfo(SUMS)
        entry.size, entry.mtime, entry.mode = len(text), epoch, 0o644
        archive.addfile(entry, io.BytesIO(text))
    return buffer.getvalue()
