"""Accepted screens as text: their characters, and below them a letter for what each cell is drawn as.

``snapshots/<module>.txt`` has a section for each screen of a module of tests. After ``---`` stand the roles,
d dim, s strong, o ok, w warn, b bad, a accent, a blank for plain text and for nothing; capitals, and ``_``
for plain text, on the chosen row's ground; digits and signs for other styles, which the section ends with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual._context import visible_screen_stack
from textual.app import App

from raidtui.first_frame import read_colours
from tests.goldens import Goldens

_LETTERS = {"foreground": " ", "dim": "d", "strong": "s", "ok": "o", "warn": "w", "bad": "b", "accent": "a"}
_SIGNS = "0123456789@#$%&*+=<>?^~"


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


class Golden:
    """The accepted screens of one test.

    Args:
        request: of the test.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._goldens = Goldens(request)
        name = request.node.name.removeprefix("test_")
        self._name = name.replace("[", "-").replace("]", "").partition("@")[0]
        self._count = 0

    def compare(self, now: str) -> None:
        """Compare a screen with the accepted one, or accept it; several of a test are numbered.

        Raises:
            AssertionError: they differ; the difference is in the error.
        """
        name = self._name if self._count == 0 else f"{self._name}.{self._count}"
        self._count += 1
        self._goldens.compare(name, now)
