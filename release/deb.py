"""The Debian package: the private environment, units, man pages, completions; made by dpkg-deb."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
from email.utils import formatdate
from pathlib import Path

from release.generated import write_generated
from release.places import HOUSE, VERSION, run, source_epoch
from release.tree import HOME, python_of

_PARTS = HOUSE / "release" / "debian"
_SCRIPTS = ("postinst", "prerm", "postrm")
_ZSH = ("share/zsh/site-functions/", "share/zsh/vendor-completions/")
"""Where Debian's zsh looks for what packages bring."""
_EXEC = "=raidtui "
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")


def make_deb(tree: Path, work: Path, file: Path, *, quick: bool = False) -> None:
    """Write the package. The same checkout and tree give the same bytes.

    Args:
        tree: the private environment, which is moved into the package's folder.
        work: a folder for what is packed; it is made anew.
        file: it is replaced.
        quick: whether it may be larger, and made sooner.

    Raises:
        ReleaseError: dpkg-deb is not installed, or has failed.
    """
    shutil.rmtree(work, ignore_errors=True)
    home = work / HOME.lstrip("/")
    home.parent.mkdir(parents=True)
    shutil.move(tree, home)
    _write(
        work / "usr/bin/raidtui",
        (_PARTS / "raidtui").read_text().replace("@PYTHON@", python_of(home).name),
        mode=0o755,
    )
    _units(work / "usr/lib/systemd/system")
    _manuals(work)
    _documents(work / "usr/share/doc/raidtui")
    _write(work / "usr/share/lintian/overrides/raidtui", (_PARTS / "overrides").read_text())
    _control(work)
    epoch = {"SOURCE_DATE_EPOCH": str(source_epoch())}
    fast = ("-z0",) if quick else ("-z9",)
    run("dpkg-deb", "--root-owner-group", "-Zxz", *fast, "--build", work, file, env=epoch)


def _write(path: Path, text: str | bytes, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)


def _units(folder: Path) -> None:
    for unit in sorted((HOUSE / "raidtui" / "systemd").iterdir()):
        _write(folder / unit.name, unit.read_text().replace(_EXEC, "=/usr/bin/raidtui "))


def _manuals(work: Path) -> None:
    folder = work / "generated"
    for name, place in write_generated(folder).items():
        text = (folder / name).read_bytes()
        if "/man/" in place:
            _write(work / "usr" / f"{place}.gz", gzip.compress(text, 9, mtime=0))
        else:
            _write(work / "usr" / place.replace(*_ZSH), text)
    shutil.rmtree(folder)


def _documents(folder: Path) -> None:
    day = formatdate(source_epoch())
    said = f"  * See CHANGELOG.md.gz.\n\n -- {maintainer()}  {day}\n"
    changes = f"raidtui ({VERSION}) stable; urgency=medium\n\n{said}"
    _write(folder / "changelog.gz", gzip.compress(changes.encode(), 9, mtime=0))
    _write(folder / "CHANGELOG.md.gz", gzip.compress((HOUSE / "CHANGELOG.md").read_bytes(), 9, mtime=0))
    for path in (HOUSE / "README.md", *sorted((HOUSE / "docs").iterdir())):
        _write(folder / path.name, path.read_bytes())
    licence = (HOUSE / "LICENSE").read_text()
    inside = f"The licences of the interpreter and the libraries inside are in {HOME}/licences.\n"
    _write(folder / "copyright", f"{licence}\n{inside}")


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


def _control(work: Path) -> None:
    files = sorted(path for path in (work / "usr").rglob("*") if path.is_file())
    values = {
        "VERSION": VERSION,
        "MAINTAINER": maintainer(),
        "GLIBC": needed_glibc(work / HOME.lstrip("/")),
        "SIZE": str(sum(path.stat().st_size + 1023 for path in files) // 1024),
    }
    control = (_PARTS / "control").read_text()
    for name, value in values.items():
        control = control.replace(f"@{name}@", value)
    _write(work / "DEBIAN/control", control)
    sums = "".join(f"{_md5(path)}  {path.relative_to(work)}\n" for path in files)
    _write(work / "DEBIAN/md5sums", sums)
    for name in _SCRIPTS:
        _write(work / "DEBIAN" / name, (_PARTS / name).read_text(), mode=0o755)
    for folder in (each for each in work.rglob("*") if each.is_dir()):
        folder.chmod(0o755)
    work.chmod(0o755)


def _md5(path: Path) -> str:
    """Return the hash that dpkg compares an installed file with; it finds damage, not attacks."""
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
