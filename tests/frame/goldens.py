"""Accepted screens as text: their characters, and below them a letter for what each cell is drawn as.

``snapshots/<module>.txt`` has a section for each screen of a module of tests. After ``---`` stand the roles,
d dim, s strong, o ok, w warn, b bad, a accent, a blank for plain text and for nothing; capitals, and ``_``
for plain text, on the chosen row's ground; digits and signs for other styles, which the section ends with.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual._context import visible_screen_stack
from textual.app import App

from raidtui.first_frame import read_colours
from tests.places import HOUSE

PICTURES = HOUSE / "snapshots"
_LETTERS = {"foreground": " ", "dim": "d", "strong": "s", "ok": "o", "warn": "w", "bad": "b", "accent": "a"}
_SIGNS = "0123456789@#$%&*+=<>?^~"
_HEAD = "=== "


def golden_of(app: App[Any]) -> str:
    """Return the screen in view as a section's text."""
    screen = app.screen
    visible_screen_stack.set(app._background_screens)
    letters = _Letters()
    texts, roles = [], []
    for strip in screen._compositor.render_strips(screen.size):
        texts.append(strip.text.rstrip())
        roles.append("".join(letters.of(part.style, each) for part in strip for each in part.text).rstrip())
    return "\n".join((*texts, "---", *roles, *letters.legend())).rstrip() + "\n"


class _Letters:
    def __init__(self) -> None:
        colours = read_colours("dark")
        self._grounds = {colours["background"].lower(): False, colours["selected"].lower(): True}
        self._roles = {"": " ", **{colours[role].lower(): letter for role, letter in _LETTERS.items()}}
        self._others: dict[str, str] = {}

    def of(self, style: Style | None, character: str) -> str:
        """Return the letter of a character's style, for each cell that it takes."""
        return self._of(style or Style(), blank=character == " ") * cell_len(character)

    def _of(self, style: Style, *, blank: bool) -> str:
        ground = self._grounds.get(_colour(style.bgcolor))
        letter = self._roles.get(_colour(style.color))
        attributes = style.italic or style.underline or style.reverse or style.strike
        if ground is None or letter is None or attributes:
            if blank and _colour(style.bgcolor) == "" and not attributes:
                return " "
            name = str(style.without_color + Style(color=style.color, bgcolor=style.bgcolor))
            return self._others.setdefault(name, _SIGNS[len(self._others)])
        if blank:
            letter = " "
        return (letter.upper() if letter != " " else "_") if ground else letter

    def legend(self) -> Iterator[str]:
        """Yield what the digits are."""
        return (f"{digit}: {style}" for style, digit in self._others.items())


def _colour(colour: Any) -> str:
    return colour.get_truecolor().hex if colour is not None and not colour.is_default else ""


def read_goldens(path: Path) -> dict[str, str]:
    """Return the sections of a file by their names; {} where there is none."""
    if not path.exists():
        return {}
    parts = path.read_text(encoding="utf-8").split(f"\n{_HEAD}")
    parts[0] = parts[0].removeprefix(_HEAD)
    sections = (part.partition("\n") for part in parts)
    return {name: text.rstrip("\n") + "\n" for name, _, text in sections}


def write_goldens(path: Path, sections: dict[str, str]) -> None:
    """Write the sections of a file; without any it goes."""
    if not sections:
        path.unlink(missing_ok=True)
        return
    text = "\n".join(f"{_HEAD}{name}\n{sections[name]}" for name in sorted(sections))
    path.write_text(text, encoding="utf-8")


def difference(accepted: str, now: str) -> str:
    """Return how a screen differs from the accepted one, as a diff."""
    lines = difflib.unified_diff(accepted.split("\n"), now.split("\n"), "accepted", "now", lineterm="", n=2)
    return "\n".join(lines)


class Golden:
    """The accepted screens of one test.

    Args:
        item: the test.
    """

    asked_for: ClassVar[set[tuple[str, str]]] = set()
    """(file, section) of those that were compared."""

    def __init__(self, item: pytest.Item) -> None:
        self._path = PICTURES / f"{item.path.stem.removeprefix('test_')}.txt"
        self._name = item.name.removeprefix("test_").replace("[", "-").replace("]", "").partition("@")[0]
        self._count = 0

    def compare(self, now: str, *, accepts: bool) -> None:
        """Compare a screen with the accepted one, or accept it.

        Raises:
            AssertionError: they differ; the difference is in the error.
        """
        name = self._name if self._count == 0 else f"{self._name}.{self._count}"
        self._count += 1
        self.asked_for.add((self._path.name, name))
        sections = read_goldens(self._path)
        if accepts:
            if sections.get(name) != now:
                write_goldens(self._path, {**sections, name: now})
            return
        assert sections.get(name) == now, difference(sections.get(name, ""), now)


def unused_goldens(*, drop: bool) -> list[str]:
    """Return the sections that no test asked for, and take them out where that is wanted."""
    found = []
    for path in sorted(PICTURES.glob("*.txt")):
        sections = read_goldens(path)
        unused = [name for name in sections if (path.name, name) not in Golden.asked_for]
        found += [f"{path.name}: {name}" for name in unused]
        if drop and unused:
            write_goldens(path, {name: text for name, text in sections.items() if name not in unused})
    return found
