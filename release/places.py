"""Where things are, and how programs are run while something is built."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import raidtui

HOUSE = Path(__file__).parents[1]
DIST = HOUSE / "dist"
VERSION = raidtui.__version__
ARCHITECTURE = "x86_64"


class ReleaseError(Exception):
    """Something cannot be built here; the text says why, and what to do."""


def cache() -> Path:
    """Return the folder of what takes long to make: roots and interpreters. It is outside the checkout."""
    named = os.environ.get("RAIDTUI_RELEASE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(named) if named else Path(base) / "raidtui-release"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(*argv: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a program and return its standard output.

    Raises:
        ReleaseError: it is not installed, or has failed; with the end of what it wrote.
    """
    words = tuple(map(str, argv))
    try:
        ended = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
        )
    except FileNotFoundError as error:
        raise ReleaseError(f"{words[0]} is not installed") from error
    if ended.returncode:
        tail = "\n".join((ended.stdout + ended.stderr).splitlines()[-20:])
        raise ReleaseError(f"{' '.join(words)}: exit status {ended.returncode}\n{tail}")
    return ended.stdout


def source_epoch() -> int:
    """Return the time that all files of an artefact have, in seconds since 1970: that of the last commit.

    SOURCE_DATE_EPOCH comes before it. In an sdist, which has no commits, its files have one time.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if (HOUSE / ".git").exists():
        return int(run("git", "log", "-1", "--format=%ct", cwd=HOUSE))
    return int((HOUSE / "CHANGELOG.md").stat().st_mtime)
