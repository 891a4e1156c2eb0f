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

from raidtui.ui.frame.stock import STOCK
from raidtui.ui.frame.textual_private import forward_event

_MOST = 200
_LOST_S = 1.0
"""What follows a key through the widgets is lost where one of them goes; the next key is not held for it."""


class KeyPassed(Message):
    """Follows a key through the widgets: when it arrives, the key has been dealt with."""


class KeyOrderApp(App[int]):
    """See the module."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401  (as App's)
        super().__init__(**more)
        self._held: deque[events.Key | events.Paste] = deque(maxlen=_MOST)
        self._passing = 0
        self._opening = 0
        self._cancel_opening: Callable[[], object] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Hold what is typed until it can be said whose it is."""
        if (
            STOCK
            or not isinstance(event, events.Key | events.Paste)
            or event.is_forwarded
            or len(self.screen_stack) > 1
        ):
            await super().on_event(event)
        elif self._opening and isinstance(event, events.Key) and event.key == "escape":
            self._held.clear()
            if self._cancel_opening is not None:
                self._cancel_opening()
        elif self._opening or self._passing:
            if not self._opening and not self._held:
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
        while self._held and not self._passing and not self._opening:
            if len(self.screen_stack) > 1:
                self._hand_over(self.screen)
            else:
                await self._deliver(self._held.popleft())

    # -- on the way to a form

    def begin_opening(self) -> None:
        """A form is on its way; what is typed from now on is held for it."""
        self._opening += 1

    def end_opening(self) -> None:
        """No form comes any more; what was typed for it goes nowhere."""
        self._opening -= 1
        if not self._opening:
            self._cancel_opening = None
            self._held.clear()

    def drop_held_keys(self) -> None:
        """The form does not come: what was typed for it goes nowhere."""
        self._held.clear()

    def cancel_on_escape(self, say: Callable[[], None]) -> None:
        """Let Esc end the task that runs now, as long as nothing but the main screen is there.

        Args:
            say: says that it was left.
        """
        task = asyncio.current_task()

        def leave() -> None:
            if task is not None and task.cancel():
                say()

        self._cancel_opening = leave

    def push_screen(self, screen: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401  (as Textual's)
        """Show a screen; what was held for it is its input."""
        result = super().push_screen(screen, *more, **named)
        if self._opening and isinstance(screen, Screen):
            self._hand_over(screen)
        return result

    def _hand_over(self, screen: Screen[Any]) -> None:
        held = tuple(self._held)
        self._held.clear()
        if getattr(screen, "takes_ahead", False):
            for event in held:
                forward_event(screen, event)
