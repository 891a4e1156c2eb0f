"""``make versions``: the tests under each Python that raidtui supports, and with the oldest dependencies."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from release.places import HOUSE, ReleaseError, cache, run

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LOWEST = "lowest"
"""The oldest Python, with the oldest dependencies that pyproject.toml allows."""
_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input", "install")
_TESTS = ("tests", "--ignore=tests/lab")


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
    if python is None:
        return "not on this machine: not tried"
    print(f"{version}: {python}", flush=True)
    try:
        own = make_environment(python, cache() / "versions" / version, lowest=version == LOWEST)
    except ReleaseError as error:
        return f"cannot be installed: {error}"
    ended = subprocess.run((str(own), "-m", "pytest", "-q", *tests), cwd=HOUSE, check=False)
    return f"failed: pytest ended with {ended.returncode}" if ended.returncode else ""


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
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = lowest_of(project) if lowest else []
    run(own, *_PIP, *oldest, *project["dependency-groups"]["dev"], "--editable", str(HOUSE))
    return own


def lowest_of(project: dict[str, Any]) -> list[str]:
    """Return the dependencies of the product, each in the oldest version that is allowed."""
    return [line.partition(",")[0].replace(">=", "==") for line in project["project"]["dependencies"]]


if __name__ == "__main__":
    sys.exit(main())
