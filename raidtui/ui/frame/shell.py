"""The app as flows and panes see it: it shows sentences, asks questions and runs work. ``RaidApp`` is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from raidtui.session.session import Session
from raidtui.session.shell import Shell

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

T = TypeVar("T")


class ScreenShell(Shell, Protocol):
    """A shell with a screen to ask on."""

    @property
    def session(self) -> Session:
        """What is held of the host in view."""

    async def ask(self, screen: Screen[T]) -> T | None:
        """Show a dialog or page, and return its answer; None where it was left."""

    def after_drawing(self, call: Callable[[], object]) -> None:
        """Call something once the screen is drawn."""

    def expect_array(self, uuid: str | None) -> None:
        """Choose the array with this UUID as soon as it is there; None: none is awaited any more."""


def shell_of(widget: Widget) -> ScreenShell:
    """Return the shell that a widget is in."""
    app: Any = widget.app
    return cast("ScreenShell", app)
