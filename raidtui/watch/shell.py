"""What a session asks of the front end that holds it."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from raidtui.model.finding import Event
from raidtui.watch.watch import Report


class Shell(Protocol):
    """The front end: it owns the report, has the log, and shows sentences."""

    @property
    def report(self) -> Report | None:
        """The newest report of the host in view."""

    @property
    def held(self) -> bool:
        """Whether the display is frozen."""

    def say(self, text: str, role: str = "warn") -> None:
        """Show a sentence."""

    def note_events(self, events: Sequence[Event]) -> None:
        """Add events to the log."""

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine in the background."""
