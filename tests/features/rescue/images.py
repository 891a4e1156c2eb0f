"""File systems made in user space, for arrays that striping.py writes."""

import random
import shutil
import subprocess
from functools import cache
from pathlib import Path

from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.geometries import Wanted
from raidtui.features.rescue.search.results import SearchResult
from raidtui.features.rescue.session_search import search_geometry
from tests.features.rescue.striping import MIB


def fill(folder: Path) -> None:
    """Write some hundred files of all sizes, the same each time."""
    chance = random.Random(5)
    for number in range(60):
        below = folder / f"folder {number:02}" / "below"
        below.mkdir(parents=True)
        for index in range(12):
            (below / f"file {index}").write_bytes(chance.randbytes(chance.choice((700, 9000, 60_000))))
    (folder / "large").write_bytes(chance.randbytes(8 * MIB))


@cache
def _sources(base: str) -> Path:
    folder = Path(base) / "files"
    if not folder.exists():
        fill(folder)
    return folder


def ext4(base: Path, *options: str, mib: int = 48) -> bytes:
    """Return an ext4 file system with files."""
    image = base / f"ext4{''.join(options)}{mib}".replace("/", "_")
    if not image.exists():
        _truncated(image, mib)
        _run("mke2fs", "-q", "-F", "-t", "ext4", *options, "-d", str(_sources(str(base))), str(image))
    return image.read_bytes()


def ext4_of(folder: Path, image: Path, *, mib: int) -> bytes:
    """Return an ext4 file system with the files of a folder."""
    _truncated(image, mib)
    _run("mke2fs", "-q", "-F", "-t", "ext4", "-d", str(folder), str(image))
    return image.read_bytes()


def xfs(base: Path, *options: str, mib: int = 320) -> bytes:
    """Return an XFS file system with files."""
    image, proto = base / f"xfs{''.join(options)}", base / "xfs.proto"
    if not image.exists():
        _truncated(image, mib)
        proto.write_text(_prototype(base))
        _run("mkfs.xfs", "-q", "-f", *options, "-p", str(proto), str(image))
    return image.read_bytes()


def _prototype(base: Path) -> str:
    """The folders as mkfs.xfs's protofile writes them; it takes no spaces in names."""
    lines = ["boot 0 0", "d--755 0 0"]
    for folder in sorted(_sources(str(base)).iterdir()):
        name = folder.name.replace(" ", "-")
        if folder.is_file():
            lines.append(f"{name} ---644 0 0 {folder}")
            continue
        lines.append(f"{name} d--755 0 0")
        for file in sorted((folder / "below").iterdir()):
            link = base / "links" / f"{name}-{file.name.replace(' ', '-')}"
            link.parent.mkdir(exist_ok=True)
            if not link.exists():
                shutil.copy(file, link)
            lines.append(f"{file.name.replace(' ', '-')} ---644 0 0 {link}")
        lines.append("$")
    return "\n".join([*lines, "$", ""])


def disk(folder: Path, label: str, content: bytes, start: int = 2048) -> bytes:
    """Return a disk with a partition that holds this; ``label`` is dos or gpt, ``start`` a sector."""
    image = folder / f"disk-{label}"
    _truncated(image, len(content) // MIB + 8)
    partition(image, label, start, len(content))
    whole = bytearray(image.read_bytes())
    whole[start * 512 : start * 512 + len(content)] = content
    return bytes(whole)


def partition(image: Path, label: str, start: int = 2048, size: int | None = None) -> None:
    """Write a partition table with one partition, to the end where no size in bytes is given."""
    program = shutil.which("sfdisk", path="/usr/sbin:/sbin")
    assert program is not None, "sfdisk is needed: see make system"
    line = f"start={start}" if size is None else f"start={start}, size={size // 512}"
    argv = [program, "--quiet", "--wipe", "never", "--wipe-partitions", "never", str(image)]
    subprocess.run(argv, input=f"label: {label}\n{line}\n".encode(), check=True, capture_output=True)


def _truncated(image: Path, mib: int) -> None:
    with image.open("wb") as stream:
        stream.truncate(mib * MIB)


def _run(*argv: str) -> None:
    program = shutil.which(argv[0], path="/usr/sbin:/sbin:/usr/bin:/bin")
    assert program is not None, f"{argv[0]} is needed: see make system"
    subprocess.run([program, *argv[1:]], check=True, capture_output=True)


def blank(folder: Path, size: int = 32 * MIB) -> Path:
    """Return a device of zeros."""
    path = folder / "blank"
    with path.open("wb") as stream:
        stream.truncate(size)
    return path


def search(paths: list[Path], **wanted: object) -> SearchResult:
    """Search on images."""
    return search_geometry([str(path) for path in paths], SearchRequest(wanted=Wanted(**wanted)))  # type: ignore[arg-type]
