"""The Debian package, made by dpkg-deb."""

from __future__ import annotations

import gzip
import hashlib
from email.utils import formatdate
from pathlib import Path

from release.places import VERSION, run, source_epoch
from release.staged import PARTS, filled, maintainer, settle, stage, values, write

_PARTS = PARTS / "debian"
_SCRIPTS = ("postinst", "prerm", "postrm")
_ZSH = "share/zsh/vendor-completions/"
"""Where Debian's zsh looks for what packages bring."""


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
    stage(tree, work, zsh=_ZSH)
    day = formatdate(source_epoch())
    said = f"  * See CHANGELOG.md.gz.\n\n -- {maintainer()}  {day}\n"
    changes = f"raidtui ({VERSION}) stable; urgency=medium\n\n{said}"
    write(work / "usr/share/doc/raidtui/changelog.gz", gzip.compress(changes.encode(), 9, mtime=0))
    write(work / "usr/share/lintian/overrides/raidtui", (_PARTS / "overrides").read_text())
    _control(work)
    epoch = {"SOURCE_DATE_EPOCH": str(source_epoch())}
    fast = ("-z0",) if quick else ("-z9",)
    run("dpkg-deb", "--root-owner-group", "-Zxz", *fast, "--build", work, file, env=epoch)


def _control(work: Path) -> None:
    files = sorted(path for path in (work / "usr").rglob("*") if path.is_file())
    size = str(sum(path.stat().st_size + 1023 for path in files) // 1024)
    control = filled((_PARTS / "control").read_text(), {**values(work), "SIZE": size})
    write(work / "DEBIAN/control", control)
    sums = "".join(f"{_md5(path)}  {path.relative_to(work)}\n" for path in files)
    write(work / "DEBIAN/md5sums", sums)
    for name in _SCRIPTS:
        write(work / "DEBIAN" / name, filled((_PARTS / name).read_text(), {}), mode=0o755)
    settle(work)


def _md5(path: Path) -> str:
    """Return the hash that dpkg compares an installed file with; it finds damage, not attacks."""
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
