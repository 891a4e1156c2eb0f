"""``make versions``: the tests under each Python that raidtui supports, and with the oldest dependencies."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from release.places import HOUSE, ReleaseError, cache, run
from release.roots import CLEAN, make_root, words_in_root

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LOWEST = "lowest"
"""The oldest Python, with the oldest dependencies that pyproject.toml allows."""
_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input", "install")
_TESTS = ("tests", "--ignore=tests/lab")
_SUITES = {"3.13": "trixie", "3.14": "forky"}
"""Releases of Debian that have the Pythons which this machine may not have."""
_TOOLS = ("ansible-core", "e2fsprogs", "fdisk", "xfsprogs", "git", "procps", "udev")
"""What tests run, beside what each release has."""
_SEEN = "/mnt"
"""Where the checkout is in a root of such a release."""


def main() -> int:
    """Run the tests; return 0, or 1 where some failed, or an interpreter is not on this machine."""
    parser = argparse.ArgumentParser(prog="python -m release.versions", description=__doc__)
    parser.add_argument("--only", action="append", choices=(*PYTHONS, LOWEST), help="may be given again")
    parser.add_argument(
        "tests", nargs="*", default=_TESTS, help="for pytest; default: all but the laboratory"
    )
    asked = parser.parse_args()
    outcomes = {each: try_version(each, tuple(asked.tests)) for each in asked.only or (*PYTHONS, LOWEST)}
    print(*(f"{each:8} {outcome or 'passed'}" for each, outcome in outcomes.items()), sep="\n")
    return 1 if any(outcomes.values()) else 0


def try_version(version: str, tests: tuple[str, ...]) -> str:
    """Run tests in an environment of their own; return what is wrong, "" for nothing."""
    python = find_python(PYTHONS[0] if version == LOWEST else version)
    if python is None and version in _SUITES and os.geteuid() == 0 and shutil.which("debootstrap"):
        return _try_in_root(version, tests)
    if python is None:
        return "not on this machine: not tried"
    print(f"{version}: {python}", flush=True)
    try:
        own = make_environment(python, cache() / "versions" / version, lowest=version == LOWEST)
    except ReleaseError as error:
        return f"cannot be installed: {error}"
    ended = subprocess.run((str(own), "-m", "pytest", "-q", *tests), cwd=HOUSE, check=False)
    return f"failed: pytest ended with {ended.returncode}" if ended.returncode else ""


def _try_in_root(version: str, tests: tuple[str, ...]) -> str:
    """Run tests under the Python of another release of Debian; return what is wrong, "" for nothing.

    pip of this machine gets what they need; what is built on tools that are not there is left out of them.
    """
    name = f"python{version}"
    try:
        root = make_root(_SUITES[version], include=(name, *_TOOLS))
        packages = root / "opt" / name
        shutil.rmtree(packages, ignore_errors=True)
        wheels = ("--python-version", version, "--only-binary", ":all:", "--target", packages)
        project = _project()
        run(sys.executable, *_PIP, *wheels, *project["project"]["dependencies"], *_dev(project))
    except ReleaseError as error:
        return f"cannot be installed: {error}"
    print(f"{version}: in {root}", flush=True)
    env = {**CLEAN, "PYTHONPATH": f"{_SEEN}:/opt/{name}", "PYTHONDONTWRITEBYTECODE": "1"}
    pytest = (name, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "--ignore=tests/release")
    command = ("sh", "-c", f'cd {_SEEN} && exec "$@"', "sh", *pytest)
    ended = subprocess.run(words_in_root(root, *command, shown={HOUSE: _SEEN}), env=env, check=False)
    return f"failed: pytest ended with {ended.returncode}" if ended.returncode else ""


def _project() -> dict[str, Any]:
    return tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))


def _dev(project: dict[str, Any]) -> list[str]:
    return [str(each) for each in project["dependency-groups"]["dev"]]


def find_python(version: str) -> Path | None:
    """Return an interpreter of a version: of this run, on the path, or one that pyenv has built."""
    name = f"python{version}"
    found: list[str | Path] = []
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        found.append(sys.executable)
    if on_path := shutil.which(name):
        found.append(on_path)
    found += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for path in found:
        done = subprocess.run((str(path), "-c", "import venv, ensurepip"), capture_output=True, check=False)
        if done.returncode == 0:
            return Path(path)
    return None


def make_environment(python: Path, folder: Path, *, lowest: bool) -> Path:
    """Return the interpreter of a new environment that has what raidtui and its tests need.

    Raises:
        ReleaseError: something cannot be installed.
    """
    run(python, "-m", "venv", "--clear", folder)
    own = folder / "bin" / "python"
    project = _project()
    oldest = lowest_of(project) if lowest else []
    run(own, *_PIP, *oldest, *_dev(project), "--editable", str(HOUSE))
    return own


def lowest_of(project: dict[str, Any]) -> list[str]:
    """Return the dependencies of the product, each in the oldest version that is allowed."""
    return [line.partition(",")[0].replace(">=", "==") for line in project["project"]["dependencies"]]


if __name__ == "__main__":
    sys.exit(main())
