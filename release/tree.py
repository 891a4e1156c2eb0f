"""The private environment: interpreter, dependencies and raidtui in one folder."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from raidtui.built import MARK, Built
from release.interpreter import PYTHON
from release.places import HOUSE, VERSION, run, source_epoch

LOCK = HOUSE / "release" / "lock.txt"
HOME = "/usr/lib/raidtui"
"""What the byte code says that its sources are in, wherever they are: where the package has them."""
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
_UNUSED = (
    *(
        "test",
        "idlelib",
        "tkinter",
        "turtledemo",
        "turtle.py",
        "ensurepip",
        "venv",
        "lib2to3",
        "pydoc_data",
        "dbm",
    ),
    *(
        "site-packages",
        "wsgiref",
        "xmlrpc",
        "unittest",
        "distutils",
        "__phello__",
        "sqlite3/__main__.py",
        "LICENSE.txt",
    ),
)
"""Of the standard library: what neither raidtui nor a dependency imports."""
_UNUSED_PATTERNS = (
    "config-*",
    "lib-dynload/_test*",
    "lib-dynload/_xx*",
    "lib-dynload/xx*",
    "lib-dynload/_ctypes_test*",
)


def make_tree(interpreter: Path, tree: Path, *, install: Callable[[Path], None] | None = None) -> None:
    """Make the folder: bin/python3.N, lib, licences. The same checkout and interpreter give the same bytes.

    Args:
        interpreter: bin, lib and licences of a relocatable CPython.
        tree: the folder; it is made anew.
        install: puts raidtui and its dependencies into a folder; default: as they are locked.

    Raises:
        ReleaseError: a dependency cannot be had, or does not have the hash that it had.
    """
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(
        interpreter,
        tree,
        symlinks=True,
        ignore=shutil.ignore_patterns("include", "pkgconfig", "share", "*.a"),
    )
    python = python_of(tree)
    for path in (tree / "bin").iterdir():
        if path != python:
            path.unlink()
    library = tree / "lib" / python.name
    _trim(library)
    where = run(python, "-I", "-B", "-c", "import site; print(site.getsitepackages()[-1])").strip()
    packages = Path(where)
    shutil.rmtree(packages, ignore_errors=True)
    (install or _install_locked)(packages)
    _tidy(packages)
    _drop_interpreters(library.parent)
    _gather_licences(packages, tree / "licences")
    _strip(tree)
    _compile(python, tree)
    for path in _files(tree):
        path.chmod(0o755 if path == python else 0o644)


def python_of(tree: Path) -> Path:
    """Return the interpreter of a tree."""
    return next(path for path in sorted((tree / "bin").iterdir()) if re.fullmatch(r"python3\.\d+", path.name))


def mark(tree: Path, built: Built) -> None:
    """Write into a tree what ``raidtui --version`` says it is."""
    package = next(tree.rglob("raidtui/__main__.py")).parent
    (package / MARK).write_text(f"{built}\n")
    (package / MARK).chmod(0o644)


def _drop_interpreters(library: Path) -> None:
    """Take the first line from what begins as a script: here all are modules."""
    for path in _files(library):
        with path.open("rb") as file:
            script = file.read(2) == b"#!"
        if script:
            path.write_bytes(path.read_bytes().partition(b"\n")[2])


def make_wheel(folder: Path, *more: str) -> None:
    """Write the wheel of this checkout to a folder.

    Args:
        folder: it is made.
        more: further targets of hatchling.
    """
    targets = [word for each in ("wheel", *more) for word in ("--target", each)]
    epoch = {"SOURCE_DATE_EPOCH": str(source_epoch())}
    run(sys.executable, "-m", "hatchling", "build", *targets, "--directory", folder, cwd=HOUSE, env=epoch)


def _trim(library: Path) -> None:
    names = [
        *_UNUSED,
        *(str(each.relative_to(library)) for one in _UNUSED_PATTERNS for each in library.glob(one)),
    ]
    for name in names:
        path = library / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for cache in list(library.rglob("__pycache__")):
        shutil.rmtree(cache)


def _install_locked(packages: Path) -> None:
    """Install the locked wheels, and raidtui as a wheel of this checkout."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input")
    platforms = [word for each in _PLATFORMS for word in ("--platform", each)]
    common = ("install", "--no-deps", "--no-compile", "--target", str(packages))
    run(
        *(*pip, *common, "--only-binary", ":all:", "--implementation", "cp", "--python-version", PYTHON),
        *(*platforms, "--require-hashes", "--requirement", str(LOCK)),
    )
    wheels = packages.parents[3] / "wheels"
    make_wheel(wheels)
    run(*pip, *common, "--upgrade", next(wheels.glob(f"raidtui-{VERSION}-*.whl")))
    shutil.rmtree(wheels)


def _tidy(packages: Path) -> None:
    """Remove what is not needed, and what differs from build to build."""
    for name in ("bin", "share"):
        shutil.rmtree(packages / name, ignore_errors=True)
    for name in ("RECORD", "direct_url.json", "REQUESTED", "INSTALLER"):
        for path in packages.glob(f"*.dist-info/{name}"):
            path.unlink()
    for tests in [each for each in packages.rglob("tests") if each.is_dir()]:
        shutil.rmtree(tests)


def _gather_licences(packages: Path, folder: Path) -> None:
    """Copy the licences of all packages to one folder; the metadata, where a package has no file of it."""
    for info in sorted(packages.glob("*.dist-info")):
        name = re.split(r"-\d", info.name)[0]
        found = [
            each
            for each in sorted(info.rglob("*"))
            if re.match(r"(?i)(licen[cs]e|copying|notice|authors)", each.name)
        ]
        files = [each for each in found if each.is_file()] or [info / "METADATA"]
        for number, path in enumerate(files, start=1):
            shutil.copy(path, folder / (name if len(files) == 1 else f"{name}-{number}"))


def _strip(tree: Path) -> None:
    for path in _files(tree):
        if ".so" in path.suffixes:
            run("strip", "--strip-all", path)


def _compile(python: Path, tree: Path) -> None:
    """Compile all modules. Byte code is not compared with its source at a start, and names no folder of here.

    -B: else the modules that the compiler itself imports are kept compiled in another form.
    """
    run(
        *(python, "-I", "-B", "-m", "compileall", "-f", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", tree, "-p", HOME, tree / "lib"),
        env={"SOURCE_DATE_EPOCH": str(source_epoch()), "PYTHONHASHSEED": "0"},
    )


def _files(tree: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(tree):
        yield from (path for name in names if not (path := Path(folder, name)).is_symlink())
