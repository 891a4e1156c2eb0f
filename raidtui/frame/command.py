"""A command: one record for the key binding, the footer, the help and the palette; a pane has its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from msgspec import Struct
from textual.binding import Binding


class Command(Struct, frozen=True, kw_only=True):
    """What a key does.

    Args:
        id: ``pane.verb``, for the user's keymap.
        keys: Textual's key names, comma separated; the first is shown.
        action: the action's name, with its arguments.
        label: a word or two, for the footer.
        help: a sentence, for the help and the palette.
        foot: whether the footer shows it at 80 columns.
        words: synonyms by which the palette finds it.
        first: whether it runs before later keys are delivered: it moves the focus, and they are text.
        now: returns the label at present, of the pane; None where it is always the same.
        refuse: returns why it cannot be used now, of the pane; "" where it can.
    """

    id: str
    keys: str
    action: str
    label: str
    help: str
    foot: bool = True
    words: str = ""
    first: bool = False
    now: Callable[[Any], str] | None = None
    refuse: Callable[[Any], str] | None = None

    @property
    def bindings(self) -> list[Binding]:
        """The key bindings; a ``first`` one has a second, for when nothing has the focus."""
        plain = Binding(self.keys, self.action, self.label, id=self.id, tooltip=self.help, show=self.foot)
        return [replace(plain, priority=True), plain] if self.first else [plain]

    def shown_key(self, keymap: Mapping[str, str]) -> str:
        """Return the first key as the footer writes it; the user's own key where the keymap has one."""
        return shown(keymap.get(self.id, self.keys).split(",")[0])


_KEY_WORDS = {
    "equals_sign": "=", "tab": "Tab",
    "question_mark": "?", "slash": "/", "space": "Space", "enter": "Enter", "escape": "Esc", "left": "←",
    "right": "→", "up": "↑", "down": "↓", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
}  # fmt: skip


@cache
def shown(key: str) -> str:
    """Return a key of Textual as the footer writes it: ^p, ?, ←."""
    key = key.strip()
    if key.startswith("ctrl+"):
        return "^" + key[5:]
    if key.startswith("shift+"):
        return "⇧" + shown(key[6:])
    if key[:1] == "f" and key[1:].isdigit():
        return key.upper()
    return _KEY_WORDS.get(key, key)
