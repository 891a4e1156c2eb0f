"""The interpreter inside the one file and the package: CPython, built in a root of Debian 11, and cached."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import NamedTuple

from release.places import HOUSE, ReleaseError, cache, run
from release.roots import in_root, make_root, mirror

PYTHON = "3.13"
SUITE = "bullseye"
_TOOLS = (
    *("gcc", "libc6-dev", "make", "pkg-config", "patchelf", "perl", "xz-utils"),
    *("libffi-dev", "libsqlite3-dev", "zlib1g-dev", "liblzma-dev", "libbz2-dev"),
)
_SCRIPT = HOUSE / "release" / "interpreter.sh"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Source(NamedTuple):
    """An upstream source in Debian's archive.

    Args:
        file: its name.
        suite: the release of Debian that has it.
        sha256: what it is, is known, from wherever it comes.
    """

    file: str
    suite: str
    sha256: str

    @property
    def package(self) -> str:
        """The source package's name."""
        return self.file.partition("_")[0]


CPYTHON = Source(
    file="python3.13_3.13.5.orig.tar.xz",
    suite="trixie",
    sha256="93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640",
)
OPENSSL = Source(
    file="openssl_3.0.20.orig.tar.gz",
    suite="bookworm",
    sha256="c80a01dfc70ece4dc21168932c37739042d404d46ccc81a5986dd75314ecda6f",
)


def make_interpreter() -> Path:
    """Return the folder of the interpreter: bin, lib, licences. It is built where it is not in the cache.

    Raises:
        ReleaseError: it cannot be built here.
    """
    sources = (CPYTHON, OPENSSL)
    known = "".join(source.sha256 for source in sources)
    key = hashlib.sha256(_SCRIPT.read_bytes() + known.encode()).hexdigest()[:12]
    folder = cache() / f"python-{PYTHON}-{key}"
    if folder.exists():
        return folder
    root = make_root(SUITE, include=_TOOLS)
    given = root / "given"
    shutil.rmtree(given, ignore_errors=True)
    given.mkdir()
    for path in (*map(_fetch, sources), _SCRIPT):
        shutil.copy(path, given / path.name)
    words = (f"/given/{source.file}" for source in sources)
    in_root(root, "sh", f"/given/{_SCRIPT.name}", *words, "/opt/raidtui")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(root / "opt/raidtui", part, symlinks=True)
    for made in ("build", "openssl"):
        shutil.rmtree(root / made)
    part.rename(folder)
    return folder


def _fetch(source: Source) -> Path:
    """Return a source, from Debian's archive, checked against its hash.

    Raises:
        ReleaseError: it cannot be had, or is not what it was.
    """
    folder = cache() / f"source-{source.package}"
    path = folder / source.file
    if not path.exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "lists/partial").mkdir(parents=True)
        sources = folder / "sources.list"
        sources.write_text(f"deb-src [signed-by={_KEYRING}] {mirror()} {source.suite} main\n")
        own = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": folder / "lists",
            "APT::Sandbox::User": "root",
        }
        options = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
        run("apt-get", *options, "update")
        run("apt-get", *options, "source", "--download-only", "--tar-only", source.package, cwd=folder)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != source.sha256:
        raise ReleaseError(f"{path} is not what raidtui is built with: its SHA-256 is {found}")
    return path
