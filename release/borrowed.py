"""An interpreter that is there, made relocatable: what the tests pack, since building one takes minutes.

The artefacts are built around one that was compiled for them (``release.interpreter``). What is packed of a
borrowed one runs only where glibc is as new as here; everything else is the same.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from release.places import HOUSE, run

_GLIBC = re.compile(r"(?:ld-linux|libc|libm|libdl|libpthread|librt|libutil|libresolv|libnsl)[-.]")


def borrow_interpreter(folder: Path) -> Path:
    """Copy the interpreter that runs this, with its libraries, to a folder: bin, lib, licences; return it.

    Raises:
        ReleaseError: patchelf is not installed.
    """
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / name
    python.parent.mkdir(parents=True)
    shutil.copy2(Path(sys.executable).resolve(), python)
    leave = shutil.ignore_patterns("__pycache__", "site-packages", "dist-packages", "test", "config-*", "*.a")
    library = folder / "lib" / name
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=leave)
    modules = sorted((library / "lib-dynload").glob("*.so"))
    for needed in sorted({each for path in (python, *modules) for each in _libraries(path)}):
        shutil.copy2(needed.resolve(), folder / "lib" / needed.name)
    run("patchelf", "--set-rpath", "$ORIGIN/../lib", python)
    for path in modules:
        run("patchelf", "--set-rpath", "$ORIGIN/../..", path)
    for path in (folder / "lib").glob("*.so*"):
        run("patchelf", "--set-rpath", "$ORIGIN", path)
    (folder / "licences").mkdir()
    return folder


def install_copied(packages: Path) -> None:
    """Copy raidtui of this checkout, and its dependencies as they are installed here, to a folder.

    Args:
        packages: the folder; it is made.
    """
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HOUSE / "raidtui", packages / "raidtui", ignore=leave)
    shutil.copytree(HOUSE / "themes", packages / "raidtui" / "themes")
    for distribution in sorted(needed_distributions("raidtui")):
        for file in importlib.metadata.files(distribution) or ():
            path = Path(str(file.locate()))
            if ".." not in file.parts and "__pycache__" not in file.parts:
                place = packages / file
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)


def needed_distributions(name: str) -> set[str]:
    """Return the names of all distributions that one needs, those that they need included."""
    found: set[str] = set()
    waiting = list(_requirements(name))
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _requirements(each)
    return found


def _requirements(name: str, extra: str = "") -> Iterator[str]:
    """Yield what a distribution, or an extra of it, needs on this system."""
    from packaging.requirements import Requirement  # noqa: PLC0415  (pytest brings it; only tests come here)

    for line in importlib.metadata.requires(name) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement.name
            for each in requirement.extras:
                yield from _requirements(requirement.name, each)


def _libraries(path: Path) -> Iterator[Path]:
    """Yield the shared libraries that a file needs, but for those of glibc."""
    for line in run("ldd", path).splitlines():
        match = re.search(r"=> (/\S+)", line)
        if match and not _GLIBC.match(Path(match[1]).name):
            yield Path(match[1])
