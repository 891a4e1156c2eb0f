"""Imports Textual's app without its command palette, which is loaded when it is opened for the first time.

``textual.app`` and ``textual.theme`` import ``textual.command``, and with it the input line, the lists and
the trees of ``textual.widgets``: 7 % of an empty app's start, for a dialog that most sessions never open.
Both need no more than names, for annotations and for methods that this app overrides.
"""

from __future__ import annotations

import sys
from abc import ABC, ABCMeta
from importlib import import_module
from types import ModuleType

from raidtui.frame.stock import STOCK

PALETTE_NAMES = frozenset(
    {"CommandListItem", "CommandPalette", "DiscoveryHit", "Hit", "Hits", "Provider", "SimpleProvider"}
)
"""What the two modules import from ``textual.command``."""
_COMMAND, _USERS = "textual.command", ("textual.app", "textual.theme")


def import_app() -> None:
    """Import ``textual.app``; names of the palette are placeholders in it until ``load_palette``."""
    if STOCK or any(name in sys.modules for name in (_COMMAND, *_USERS)):
        return
    stand_in = ModuleType(_COMMAND)
    for name in PALETTE_NAMES:
        setattr(stand_in, name, ABCMeta(name, (ABC,), {"__module__": __name__}))
    sys.modules[_COMMAND] = stand_in
    try:
        import_module("textual.app")
    finally:
        del sys.modules[_COMMAND]


def load_palette() -> None:
    """Import ``textual.command``, and give its users the real names."""
    import textual.app  # noqa: PLC0415
    import textual.command  # noqa: PLC0415
    import textual.theme  # noqa: PLC0415

    provider = vars(textual.theme)["Provider"]
    for module in (textual.app, textual.theme):
        for name in PALETTE_NAMES & vars(module).keys():
            setattr(module, name, getattr(textual.command, name))
    if provider is not textual.command.Provider:
        textual.theme.ThemeProvider.__bases__ = (textual.command.Provider,)
