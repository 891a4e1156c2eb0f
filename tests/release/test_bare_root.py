"""The one file and the package in a bare Debian 12 without Python.

They are packed around the interpreter that runs the tests, since compiling the one that is shipped takes
minutes: make dist-test tries what is shipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raidtui.built import Built
from release.borrowed import borrow_interpreter, install_copied
from release.deb import make_deb
from release.onefile import pack
from release.places import ReleaseError
from release.roots import make_root
from release.tree import make_tree, mark
from tests.lab.conftest import REQUIRE
from tests.lab.guests.boot import which
from tests.release.bare import BareRoot, check_one_file, check_package

SUITE = "bookworm"
TOOLS = {"debootstrap": "debootstrap", "patchelf": "patchelf", "dpkg-deb": "dpkg", "strip": "binutils"}


def why_not() -> str:
    """Return why there can be no bare root here, if so."""
    missing = [package for tool, package in TOOLS.items() if which(tool) is None]
    if missing:
        return f"not installed: {' '.join(missing)}"
    return "" if os.geteuid() == 0 else "a bare root needs root"


@pytest.fixture
def bare(tmp_path: Path) -> BareRoot:
    why = why_not()
    if not why:
        try:
            return BareRoot(make_root(SUITE), tmp_path / "root")
        except ReleaseError as error:
            why = str(error)
    if REQUIRE:
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


def test_one_file_and_package(bare: BareRoot, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    make_tree(borrow_interpreter(tmp_path / "python"), tree, install=install_copied)
    mark(tree, Built.ONE_FILE)
    pack(tree, tmp_path / "raidtui.run", quick=True)
    check_one_file(bare, tmp_path / "raidtui.run")
    mark(tree, Built.DEB)
    make_deb(tree, tmp_path / "deb", tmp_path / "raidtui.deb", quick=True)
    check_package(bare, tmp_path / "raidtui.deb")
