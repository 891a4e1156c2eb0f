"""What both packages hold: the private environment, units, man pages, completions and documents."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from release.generated import write_generated
from release.places import HOUSE, VERSION, run
from release.tree import HOME, python_of

PARTS = HOUSE / "release"
ZSH = "share/zsh/site-functions/"
"""Where completions for zsh are, unless a distribution has another place."""
_EXEC = "=raidtui "
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")


def stage(tree: Path, work: Path, *, zsh: str = ZSH) -> None:
    """Make the folder that is packed, with all files but those of one kind of package.

    Args:
        tree: the private environment, which is moved into it.
        work: the folder; it is made anew.
        zsh: where completions for zsh are, below /usr.
    """
    shutil.rmtree(work, ignore_errors=True)
    home = work / HOME.lstrip("/")
    home.parent.mkdir(parents=True)
    shutil.move(tree, home)
    start = (PARTS / "packaged/raidtui").read_text()
    write(work / "usr/bin/raidtui", filled(start, {"PYTHON": python_of(home).name}), mode=0o755)
    _units(work / "usr/lib/systemd/system")
    _manuals(work, zsh)
    _documents(work / "usr/share/doc/raidtui")


def write(path: Path, text: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file of the package, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its @NAMES@ replaced; @FUNCTIONS@ are those of the scripts of both packages."""
    functions = (PARTS / "packaged/functions.sh").read_text()
    for name, value in {"FUNCTIONS": functions, **values}.items():
        text = text.replace(f"@{name}@", value)
    return text


def _units(folder: Path) -> None:
    for unit in sorted((HOUSE / "raidtui" / "systemd").iterdir()):
        write(folder / unit.name, unit.read_text().replace(_EXEC, "=/usr/bin/raidtui "))


def _manuals(work: Path, zsh: str) -> None:
    folder = work / "generated"
    for name, place in write_generated(folder).items():
        text = (folder / name).read_bytes()
        if "/man/" in place:
            write(work / "usr" / f"{place}.gz", gzip.compress(text, 9, mtime=0))
        else:
            write(work / "usr" / place.replace(ZSH, zsh), text)
    shutil.rmtree(folder)


def _documents(folder: Path) -> None:
    write(folder / "CHANGELOG.md.gz", gzip.compress((HOUSE / "CHANGELOG.md").read_bytes(), 9, mtime=0))
    for path in (HOUSE / "README.md", *sorted((HOUSE / "docs").iterdir())):
        write(folder / path.name, path.read_bytes())
    licence = (HOUSE / "LICENSE").read_text()
    inside = f"The licences of the interpreter and the libraries inside are in {HOME}/licences.\n"
    write(folder / "copyright", f"{licence}\n{inside}")


def values(work: Path) -> dict[str, str]:
    """Return what both kinds of package say of themselves: version, who makes it, the glibc that it needs."""
    return {"VERSION": VERSION, "MAINTAINER": maintainer(), "GLIBC": needed_glibc(work / HOME.lstrip("/"))}


def maintainer() -> str:
    """Return who makes the package: DEBFULLNAME and DEBEMAIL, as for Debian's tools; else the last author."""
    name, mail = os.environ.get("DEBFULLNAME"), os.environ.get("DEBEMAIL")
    if name and mail:
        return f"{name} <{mail}>"
    return run("git", "log", "-1", "--format=%an <%ae>", cwd=HOUSE).strip()


def needed_glibc(tree: Path) -> str:
    """Return the newest version of glibc's symbols that a file in a folder needs, such as "2.30"."""
    symbols = run("objdump", "--dynamic-syms", *(path for path in sorted(tree.rglob("*")) if _is_elf(path)))
    return ".".join(map(str, max((int(one), int(two)) for one, two in _GLIBC.findall(symbols))))


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def settle(work: Path) -> None:
    """Give all folders the mode that they have on a host."""
    for folder in (each for each in work.rglob("*") if each.is_dir()):
        folder.chmod(0o755)
    work.chmod(0o755)
