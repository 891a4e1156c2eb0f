"""How this raidtui was built, and the command by which others start it later: a hook, a unit."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path

import raidtui

MARK = "built-as"
"""The file beside the package by which an artefact with its own interpreter says what it is."""
ONE_FILE_VARIABLE = "RAIDTUI_FILE"
"""Set by the one file for what it has unpacked: its own path."""


class Built(StrEnum):
    """What this raidtui was installed from."""

    ONE_FILE = "one file"
    DEB = "Debian package"
    RPM = "RPM"
    WHEEL = "wheel"
    SOURCE = "source"


def how_built() -> Built:
    """Return what this raidtui was installed from."""
    package = Path(raidtui.__file__).parent
    try:
        return Built((package / MARK).read_text(encoding="ascii").strip())
    except (FileNotFoundError, NotADirectoryError):
        return Built.SOURCE if (package.parent / "pyproject.toml").exists() else Built.WHEEL


def version_line() -> str:
    """Return what ``--version`` prints."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"raidtui {raidtui.__version__} ({how_built()}, Python {python})"


def lasting_command() -> tuple[str, ...]:
    """Return the command that starts this raidtui also after a reboot.

    What the one file has unpacked is a cache that may be removed, so there it is the file itself.
    """
    file = os.environ.get(ONE_FILE_VARIABLE, "")
    if file and how_built() is Built.ONE_FILE:
        return (file,)
    return (sys.executable, "-P", "-m", "raidtui")


def lasting_environment() -> dict[str, str]:
    """Return the environment in which :func:`lasting_command` is this raidtui."""
    if len(lasting_command()) == 1:
        return {"LC_ALL": "C.UTF-8"}
    return {"PYTHONPATH": str(Path(raidtui.__file__).parents[1]), "LC_ALL": "C.UTF-8"}
