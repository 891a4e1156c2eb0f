"""The RPM, made by rpmbuild: for RHEL 9 and its relatives, and other distributions with glibc 2.30."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from release.places import ARCHITECTURE, VERSION, run, source_epoch
from release.staged import PARTS, filled, settle, stage, values, write
from release.tree import HOME

_SPEC = PARTS / "rpm/raidtui.spec"
_MACROS = {
    "_buildhost": "localhost",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
}
"""What makes two builds of the same files the same bytes."""


def make_rpm(tree: Path, work: Path, file: Path) -> None:
    """Write the package. The same checkout and tree give the same bytes.

    Args:
        tree: the private environment, which is moved into the package's folder.
        work: a folder for what is packed; it is made anew.
        file: it is replaced.

    Raises:
        ReleaseError: rpmbuild is not installed, or has failed.
    """
    staged, top = work / "staged", work / "top"
    stage(tree, staged)
    settle(staged)
    said = {**values(staged), "STAGED": str(staged), "FILES": "\n".join(_listed(staged))}
    spec = work / "raidtui.spec"
    write(spec, filled(_SPEC.read_text(), said))
    epoch = source_epoch()
    for path in sorted(staged.rglob("*")):
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    macros = {"_topdir": str(top), **_MACROS}
    defined = [word for name, value in macros.items() for word in ("--define", f"{name} {value}")]
    argv = ("rpmbuild", "-bb", "--target", f"{ARCHITECTURE}-linux", *defined, str(spec))
    run(*argv, env={"SOURCE_DATE_EPOCH": str(epoch), "HOME": str(work)})
    shutil.move(top / f"RPMS/{ARCHITECTURE}/raidtui-{VERSION}-1.{ARCHITECTURE}.rpm", file)


def _listed(staged: Path) -> Iterator[str]:
    """Yield what the package owns: its own folders whole, and single files in folders of others."""
    whole = [staged / HOME.lstrip("/"), staged / "usr/share/doc/raidtui"]
    for folder in whole:
        yield f"/{folder.relative_to(staged)}"
    for path in sorted(staged.rglob("*")):
        if path.is_file() and not any(path.is_relative_to(folder) for folder in whole):
            yield f"/{path.relative_to(staged)}"
