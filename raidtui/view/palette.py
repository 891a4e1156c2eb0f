"""Themes as flat tables of colours: the folders of their files, the choice of one, and its colours.

Standard library only: the first frame needs the colours before anything else is loaded. The screen validates
the same files (``raidtui.frame.themes``).
"""

from __future__ import annotations

import os

from raidtui.view.slow_line import slow_baud

COLOURS = ("background", "foreground", "dim", "strong", "ok", "warn", "bad", "accent", "selected")
DEFAULT = "dark"


def theme_folders() -> list[str]:
    """Return the folders of theme files, the user's first."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  (pathlib: 3 ms)
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    return [f"{base}/raidtui/themes", f"{here}/themes", f"{os.path.dirname(here)}/themes"]  # noqa: PTH120


def choose_theme(asked: str | None) -> str:
    """Return the name of the theme: the one asked for, else the one that suits the terminal.

    On a slow line that is the one with the terminal's own colours: they are the shortest.
    """
    if asked:
        return asked
    if "NO_COLOR" in os.environ or os.environ.get("TERM", "") in {"linux", "dumb", "vt100", "vt220"}:
        return "ansi"
    if slow_baud(1) is not None:
        return "ansi"
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in {"7", "15"} else DEFAULT


def colours_in(text: str) -> dict[str, str]:
    """Return the colours in a theme's ``key = "value"`` lines."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals and key.strip() in COLOURS:
            found[key.strip()] = value.split("#!")[0].strip().strip('"')
    return found
