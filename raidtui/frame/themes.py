"""Theme files (``themes/*.toml``) as Textual themes. One that cannot be read is reported and skipped."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

from raidtui.first_frame import read_colours
from raidtui.host.regular_files import read_regular
from raidtui.view.palette import COLOURS, DEFAULT, theme_folders

_LARGEST = 100_000


class ThemeError(ValueError):
    """A theme file cannot be used; the message names the file and what is wrong."""


def parse_theme(path: Path) -> Theme:
    """Read one theme file.

    Raises:
        ThemeError: it cannot be read, is not TOML, or a colour is missing or invalid.
    """
    import tomllib  # noqa: PLC0415  (the shipped themes are read without it)

    try:
        values = tomllib.loads(read_regular(str(path), _LARGEST).decode())
    except RecursionError as error:
        raise ThemeError(f"theme {path}: nested too deeply") from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise ThemeError(f"theme {path}: too large") from error
        raise ThemeError(f"theme {path}: {error}") from error
    colours = values.get("colors")
    if not isinstance(colours, dict):
        raise ThemeError(f"theme {path}: there is no [colors] table")
    for key in COLOURS:
        _check_colour(path, key, colours.get(key))
    return _theme(path.stem, values, colours)


def _check_colour(path: Path, key: str, value: object) -> None:
    if not isinstance(value, str):
        raise ThemeError(f'theme {path}: {key} is missing; write a colour like "#a0b0c0"')
    try:
        Color.parse(value)
    except ColorParseError as error:
        raise ThemeError(f"theme {path}: {key} = {value!r} is not a colour") from error


def _theme(name: str, values: dict[str, Any], colours: dict[str, str]) -> Theme:
    ansi = bool(values.get("ansi", False))
    return Theme(
        name=name,
        dark=bool(values.get("dark", True)),
        ansi=ansi,
        primary=colours["accent"],
        secondary=colours["accent"],
        accent=colours["accent"],
        success=colours["ok"],
        warning=colours["warn"],
        error=colours["bad"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["background"],
        panel=colours["selected"],
        boost=colours["background"],
        variables={
            **{f"r-{key}": colours[key] for key in COLOURS},
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "dim-style": "dim" if ansi else "none",
            "selected-style": "reverse" if ansi else "none",
        },
    )


def shipped_theme(name: str) -> Theme | None:
    """Return a theme of the program, read quickly; None where the user has one of that name, or none is."""
    own, *shipped = theme_folders()
    if "/" in name or (Path(own) / f"{name}.toml").exists():
        return None
    if not any((Path(folder) / f"{name}.toml").exists() for folder in shipped):
        return None
    colours = read_colours(name)
    ground = colours.get("background", "")
    light, ansi = ground[:1] == "#" and int(ground[1:2], 16) > 7, ground == "ansi_default"
    return _theme(name, {"dark": not light, "ansi": ansi}, colours)


def load_themes(folders: list[str] | None = None) -> tuple[dict[str, Theme], tuple[str, ...]]:
    """Return the themes by name, the user's own before the program's, and what is wrong with others."""
    found: dict[str, Theme] = {}
    troubles: list[str] = []
    for folder in folders if folders is not None else theme_folders():
        for path in sorted(Path(folder).glob("*.toml")):
            if path.stem in found:
                continue
            try:
                found[path.stem] = parse_theme(path)
            except ThemeError as error:
                troubles.append(str(error))
    return found, tuple(troubles)


def pick(found: dict[str, Theme], name: str) -> tuple[str, str | None]:
    """Return (the theme to use, a sentence where it is not the requested one)."""
    if name in found:
        return name, None
    fallback = DEFAULT if DEFAULT in found else next(iter(found), "textual-dark")
    known = ", ".join(sorted(found)) or "none"
    return fallback, f"no usable theme {name!r}; using {fallback} (available: {known})"


class Themes:
    """The themes that have been read; the one in use is read alone, the others when they are offered.

    Args:
        app: where they are registered.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._found: dict[str, Theme] = {}
        self.troubles: list[str] = []
        """What is wrong with theme files, or with the name of one."""

    @property
    def names(self) -> list[str]:
        """The names of the themes, sorted."""
        return sorted(self._found)

    def choose(self, name: str) -> str:
        """Read a theme, and return the name of the one to use: another where there is none of this name."""
        quick = shipped_theme(name)
        if quick is not None:
            self._found[name] = quick
            self._app.register_theme(quick)
        else:
            self.load_all()
        chosen, trouble = pick(self._found, name)
        if trouble:
            self.troubles.append(trouble)
        return chosen

    def load_all(self) -> None:
        """Read all themes."""
        found, troubles = load_themes()
        for name, theme in found.items():
            self._found.setdefault(name, theme)
            self._app.register_theme(theme)
        self.troubles += [each for each in troubles if each not in self.troubles]
