"""Keys in their order: on the main screen one after the other, and on the way to a form to that form alone.

Textual sends a key from widget to widget before it does what the key is bound to, and a form is there some
time after its key. What was typed behind that key would hit the pane meanwhile, and its letters are verbs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

_MOST = 200
_LOST_S = 1.0
"""What follows a key through the widgets is lost where one of them goes; the next key is not held for it."""


class KeyPassed(Message):
    """Follows a key through the widgets: when it arrives, the key has been dealt with."""


class OrderlyApp(App[int]):
    """See the module."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401  (as App's)
        super().__init__(**more)
        self._held: deque[events.Key | events.Paste] = deque(maxlen=_MOST)
        self._passing = 0
        self._ways = 0
        self._leave_way: Callable[[], object] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Hold what is typed until it can be said whose it is."""
        if (
            not isinstance(event, events.Key | events.Paste)
            or event.is_forwarded
            or len(self.screen_stack) > 1
        ):
            await super().on_event(event)
        elif self._ways and isinstance(event, events.Key) and event.key == "escape":
            self._held.clear()
            if self._leave_way is not None:
                self._leave_way()
        elif self._ways or self._passing:
            if not self._ways and not self._held:
                self.set_timer(_LOST_S, self._go_on)
            self._held.append(event)
        else:
            await self._deliver(event)

    async def _deliver(self, event: events.Event) -> None:
        target = self.focused or self.screen
        self._passing = 1
        await super().on_event(event)
        if len(self.screen_stack) > 1 or not target.post_message(KeyPassed()):
            self._passing = 0

    async def on_key_passed(self) -> None:
        """The next key's turn, if no form is on its way."""
        await self._go_on()

    async def _go_on(self) -> None:
        self._passing = 0
        while self._held and not self._passing and not self._ways:
            if len(self.screen_stack) > 1:
                self._hand_over(self.screen)
            else:
                await self._deliver(self._held.popleft())

    # -- on the way to a form

    def begin_way(self) -> None:
        """A form is on its way; what is typed from now on is held for it."""
        self._ways += 1

    def end_way(self) -> None:
        """No form comes any more; what was typed for it goes nowhere."""
        self._ways -= 1
        if not self._ways:
            self._leave_way = None
            self._held.clear()

    def forget_typed(self) -> None:
        """The form does not come: what was typed for it goes nowhere."""
        self._held.clear()

    def way_left_by(self, say: Callable[[], None]) -> None:
        """Let Esc end the task that runs now, as long as nothing but the main screen is there.

        Args:
            say: says that it was left.
        """
        task = asyncio.current_task()

        def leave() -> None:
            if task is not None and task.cancel():
                say()

        self._leave_way = leave

    def push_screen(self, screen: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401  (as Textual's)
        """Show a screen; what was held for it is its input."""
        result = super().push_screen(screen, *more, **named)
        if self._ways and isinstance(screen, Screen):
            self._hand_over(screen)
        return result

    def _hand_over(self, screen: Screen[Any]) -> None:
        held = tuple(self._held)
        self._held.clear()
        if getattr(screen, "takes_ahead", False):
            for event in held:
                screen._forward_event(event)  # noqa: SLF001


def expect_form(widget: Widget) -> None:
    """Let what is typed from now on wait for a form."""
    app = widget.app
    if isinstance(app, OrderlyApp):
        app.begin_way()


def escape_leaves(widget: Widget, say: Callable[[], None]) -> None:
    """Let Esc end the task that runs now, while its form is not there yet; see ``way_left_by``."""
    app = widget.app
    if isinstance(app, OrderlyApp):
        app.way_left_by(say)


def refused(widget: Widget) -> None:
    """The form that was asked for does not come: what was typed for it goes nowhere."""
    app = widget.app
    if isinstance(app, OrderlyApp):
        app.forget_typed()


def no_form(widget: Widget) -> None:
    """No form comes any more."""
    app = widget.app
    if isinstance(app, OrderlyApp):
        app.end_way()
