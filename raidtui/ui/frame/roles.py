"""What a role looks like: its style in the theme in use.

Not CSS component classes: Textual keeps styles of each of those for each widget, and applies them anew
whenever a widget's styles are, which was a third of the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

_COLOUR_OF = {
    "dim": "dim",
    "strong": "strong",
    "ok": "ok",
    "warn": "warn",
    "unknown": "warn",
    "asked": "warn",
    "bad": "bad",
    "accent": "accent",
    "tab": "accent",
    "key": "accent",
}
_BOLD = frozenset({"strong", "bad", "tab", "key", "asked"})
PLAIN = Style.null()


def role_styles(theme: Theme) -> Mapping[str, Style]:
    """Return the style that each role lays over a widget's own.

    Args:
        theme: one that ``raidtui.ui.themes`` has made; in another, roles differ in weight alone.
    """
    return _styles(tuple(sorted(theme.variables.items())))


@lru_cache(maxsize=8)
def _styles(variables: tuple[tuple[str, str], ...]) -> Mapping[str, Style]:
    values = dict(variables)

    def colour(name: str) -> Color | None:
        value = values.get(f"r-{name}")
        return Color.parse(value) if value else None

    styles = {"plain": PLAIN}
    for role, name in _COLOUR_OF.items():
        found = colour(name)
        is_dim = role == "dim" and values.get("dim-style") == "dim"
        styles[role] = Style(
            color=found.rich_color if found else None, bold=role in _BOLD or None, dim=is_dim or None
        )
    chosen = colour("selected")
    is_reverse = values.get("selected-style") == "reverse"
    styles["selected"] = Style(bgcolor=chosen.rich_color if chosen else None, reverse=is_reverse or None)
    return styles
