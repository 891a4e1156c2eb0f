"""The user's settings: ``$XDG_CONFIG_HOME/raidtui/config.toml`` and ``themes/*.toml`` beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.host.regular_files import read_regular

_SWITCHES = {"mouse": True, "bell": True, "notify": False}
_KNOWN = frozenset({"theme", "keys", "wear", "readonly", *_SWITCHES})
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_MOST_WRONG = 8
"""After so many lines that are no TOML, a file is something else."""
_MOST_TBW = 1_000_000
_KEYS_FORM = '[keys] must hold lines like "arrays.check" = "f5"'
_RATING_FORM = '[wear.rated_tbw] must hold lines like "Samsung SSD 850 EVO 500GB" = 150'


class Config(Struct, frozen=True, kw_only=True):
    """Settings.

    Args:
        theme: a theme's name; None: the default.
        mouse: whether the mouse is used.
        bell: whether the terminal's bell is rung when an array becomes worse.
        notify: whether the terminal is asked for a desktop notification then.
        readonly: whether the console writes nothing, as with --readonly.
        keys: binding id -> keys, comma separated ("arrays.check": "f5").
        rated_bytes: bytes that the makers rate disks for, by the beginning of the model's name.
        troubles: sentences on entries that were ignored; shown in the log.
    """

    theme: str | None = None
    mouse: bool = True
    bell: bool = True
    notify: bool = False
    readonly: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    rated_bytes: Mapping[str, int] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()


def config_folder() -> Path:
    """Return the folder of settings and of the user's own themes."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "raidtui"


def read_config(folder: Path | None = None) -> Config:
    """Return the settings: defaults without a file; a wrong entry is ignored and reported in ``troubles``."""
    path = (folder or config_folder()) / "config.toml"
    if not path.exists():
        return Config()
    try:
        values, wrong = _parsed(read_regular(str(path)).decode())
    except RecursionError:
        return Config(troubles=(f"{path}: nested too deeply; the defaults are used",))
    except (OSError, ValueError) as error:  # no TOML, no UTF-8, a number of too many digits
        return Config(troubles=(f"{path}: {error}; the defaults are used",))
    found = _checked(path, values)
    return replace(found, troubles=(*(f"{path}: {each}" for each in wrong), *found.troubles))


def _parsed(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a file, and an error for each line that is no TOML: the others still hold.

    A line that was to make the console read-only does so.

    Raises:
        ValueError: too many lines are wrong.
    """
    import tomllib  # noqa: PLC0415  (8 ms that most starts do without)

    lines, wrong = text.split("\n"), list[str]()
    is_readonly = False
    while True:
        try:
            values = tomllib.loads("\n".join(lines))
        except tomllib.TOMLDecodeError as error:
            number = _line_of(str(error), lines)
            if number is None or len(wrong) == _MOST_WRONG:
                raise
            is_readonly |= lines[number].lstrip().startswith("readonly")
            wrong.append(f"{error}; {_without(lines, number)} is ignored")
        else:
            return ({**values, "readonly": True} if is_readonly else values), wrong


def _line_of(error: str, lines: Sequence[str]) -> int | None:
    """Return the line, from 0, that an error of tomllib is about: its message alone says so."""
    at = _AT_LINE.search(error)
    if at is not None:
        return int(at[1]) - 1
    return max((number for number, line in enumerate(lines) if line.strip()), default=None)


def _without(lines: list[str], number: int) -> str:
    """Blank a line; of a table's head, its lines, too: they would be settings of the table before."""
    is_head = lines[number].lstrip().startswith("[")
    lines[number] = ""
    while is_head and number + 1 < len(lines) and not lines[number + 1].lstrip().startswith("["):
        number += 1
        lines[number] = ""
    return "that table" if is_head else "that line"


def _checked(path: Path, values: dict[str, Any]) -> Config:
    troubles = [f"{path}: unknown setting {key!r}" for key in values.keys() - _KNOWN]
    theme, keys = values.get("theme"), values.get("keys", {})
    switches = {name: values.get(name, usual) for name, usual in _SWITCHES.items()}
    if theme is not None and not isinstance(theme, str):
        troubles.append(f"{path}: theme must be a name in quotes")
        theme = None
    for name, usual in _SWITCHES.items():
        if not isinstance(switches[name], bool):
            troubles.append(f"{path}: {name} must be true or false")
            switches[name] = usual
    readonly = values.get("readonly", False)
    if not isinstance(readonly, bool):
        troubles.append(f"{path}: readonly must be true or false; it is taken as true")
        readonly = True
    if not isinstance(keys, dict):
        troubles.append(f"{path}: {_KEYS_FORM}")
        keys = {}
    wrong_keys = {name: each for name, each in keys.items() if not isinstance(each, str)}
    troubles += [f"{path}: {name!r} = {each!r} is ignored; {_KEYS_FORM}" for name, each in wrong_keys.items()]
    rated_bytes, wrong = _ratings(path, values.get("wear", {}))
    troubles += wrong
    return Config(
        theme=theme,
        **switches,
        readonly=readonly,
        keys={name: each for name, each in keys.items() if name not in wrong_keys},
        rated_bytes=rated_bytes,
        troubles=tuple(sorted(troubles)),
    )


def _ratings(path: Path, wear: object) -> tuple[dict[str, int], list[str]]:
    """Return the ratings of ``[wear.rated_tbw]`` in bytes, and the errors of the others."""
    if not isinstance(wear, dict):
        return {}, [f"{path}: wear must be a table: [wear.rated_tbw]"]
    troubles = [f"{path}: unknown setting {f'wear.{key}'!r}" for key in wear.keys() - {"rated_tbw"}]
    ratings = wear.get("rated_tbw", {})
    if not isinstance(ratings, dict):
        return {}, [*troubles, f"{path}: {_RATING_FORM}"]
    found: dict[str, int] = {}
    for model, terabytes in ratings.items():
        number = isinstance(terabytes, int | float) and not isinstance(terabytes, bool)
        if model.strip() and number and 0 < terabytes <= _MOST_TBW:
            found[model.strip()] = round(terabytes * 10**12)
        else:
            troubles.append(f"{path}: {model!r} = {terabytes!r} is ignored; {_RATING_FORM}")
    return found, troubles
