"""``python -m release``: build what is handed out, and try it in bare roots of distributions."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from raidtui.built import Built
from release.deb import make_deb
from release.interpreter import make_interpreter
from release.onefile import pack
from release.places import ARCHITECTURE, DIST, HOUSE, VERSION, ReleaseError
from release.rpm import make_rpm
from release.tree import make_tree, make_wheel, mark

ONE_FILE = DIST / f"raidtui-{VERSION}-{ARCHITECTURE}.run"
DEB = DIST / f"raidtui_{VERSION}_amd64.deb"
RPM = DIST / f"raidtui-{VERSION}-1.{ARCHITECTURE}.rpm"
_SUMS = DIST / "SHA256SUMS"


def main() -> int:
    """Build; return the exit status: 0, or 1 where something cannot be built or does not work."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.parse_args()
    try:
        _build()
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def _build() -> None:
    """Build all artefacts."""
    DIST.mkdir(exist_ok=True)
    build_packages(DIST)
    make_wheel(DIST, "sdist")
    _sums()


def build_packages(folder: Path) -> tuple[Path, ...]:
    """Build the one file and the packages; return their paths.

    Args:
        folder: where to; there is a folder for what is made meanwhile in it, too.

    Raises:
        ReleaseError: they cannot be built here.
    """
    one_file, deb, rpm = (folder / path.name for path in (ONE_FILE, DEB, RPM))
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as name:
        tree = Path(name) / "tree"
        make_tree(make_interpreter(), tree)
        mark(tree, Built.ONE_FILE)
        pack(tree, one_file)
        mark(tree, Built.DEB)
        shutil.copytree(tree, Path(name) / "other", symlinks=True)
        make_deb(tree, Path(name) / "deb", deb)
        mark(Path(name) / "other", Built.RPM)
        make_rpm(Path(name) / "other", Path(name) / "rpm", rpm)
    return one_file, deb, rpm


def _sums() -> None:
    """Write SHA256SUMS over what is there, for ``sha256sum --check``."""
    files = [path for path in sorted(DIST.iterdir()) if path != _SUMS and path.is_file()]
    _SUMS.write_text(
        "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    )
    for path in files:
        print(f"{path.stat().st_size / 2**20:6.1f} MiB  {path.relative_to(HOUSE)}")


if __name__ == "__main__":
    sys.exit(main())
