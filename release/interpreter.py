"""The interpreter inside the one file and the package: CPython, built in a root of Debian 11, and cached."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from release.places import HOUSE, ReleaseError, cache, run
from release.roots import in_root, make_root, mirror

PYTHON = "3.13"
SOURCE = "python3.13_3.13.5.orig.tar.xz"
SHA256 = "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640"
"""Of the source: what it is, is known, from wherever it comes."""
SUITE, SOURCE_SUITE = "bullseye", "trixie"
_TOOLS = (
    *("gcc", "libc6-dev", "make", "pkg-config", "patchelf", "xz-utils"),
    *("libffi-dev", "libsqlite3-dev", "zlib1g-dev", "liblzma-dev", "libbz2-dev"),
)
_SCRIPT = HOUSE / "release" / "interpreter.sh"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def make_interpreter() -> Path:
    """Return the folder of the interpreter: bin, lib, licences. It is built where it is not in the cache.

    Raises:
        ReleaseError: it cannot be built here.
    """
    key = hashlib.sha256(_SCRIPT.read_bytes() + SHA256.encode()).hexdigest()[:12]
    folder = cache() / f"python-{PYTHON}-{key}"
    if folder.exists():
        return folder
    root = make_root(SUITE, include=_TOOLS)
    given = root / "given"
    shutil.rmtree(given, ignore_errors=True)
    given.mkdir()
    shutil.copy(_source(), given / SOURCE)
    shutil.copy(_SCRIPT, given / _SCRIPT.name)
    in_root(root, "sh", f"/given/{_SCRIPT.name}", f"/given/{SOURCE}", "/opt/raidtui")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(root / "opt/raidtui", part, symlinks=True)
    shutil.rmtree(root / "build")
    part.rename(folder)
    return folder


def _source() -> Path:
    """Return the source of CPython, from Debian's archive, checked against its hash.

    Raises:
        ReleaseError: it cannot be had, or is not what it was.
    """
    folder = cache() / "source"
    path = folder / SOURCE
    if not path.exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "lists/partial").mkdir(parents=True)
        sources = folder / "sources.list"
        sources.write_text(f"deb-src [signed-by={_KEYRING}] {mirror()} {SOURCE_SUITE} main\n")
        own = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": folder / "lists",
            "APT::Sandbox::User": "root",
        }
        options = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
        run("apt-get", *options, "update")
        run("apt-get", *options, "source", "--download-only", SOURCE.partition("_")[0], cwd=folder)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256:
        raise ReleaseError(
            f"{path} is not the source of CPython that raidtui is built with: its SHA-256 is {found}"
        )
    return path
