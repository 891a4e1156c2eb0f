"""Delivers keys in their order: one after the other on the main screen, and to a form that is being opened.

Textual sends a key from widget to widget before its binding runs, and a form is shown some time after its
key. Keys typed in between would go to the pane, where letters are verbs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from raidtui.first_frame import SMALLEST
from raidtui.frame.commands import EVERYWHERE
from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import forward_event

_MOST = 200
STILL_S = 0.3
"""For so long a page that was closed may stay in view while its flow makes the next one."""
_PAGE_ABOVE_PANE = 2
_LOST_S = 1.0
"""``KeyPassed`` is lost where a widget on its way is removed; keys are not held longer than this for it."""


class KeyPassed(Message):
    """Follows a key through the widgets; when it arrives at the app, the key has been handled."""


class KeyOrderApp(App[int]):
    """An app that holds keys until it is known where they go."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401  (as App's)
        super().__init__(**more)
        self._held: deque[events.Key | events.Paste] = deque(maxlen=_MOST)
        self._passing = 0
        self._opening = 0
        self._cancel_opening: Callable[[], object] | None = None
        self._still: contextlib.ExitStack | None = None
        """While it is there, nothing is drawn: a page of a flow was closed, and the next one is to come."""

    async def on_event(self, event: events.Event) -> None:
        """Deliver a key, or hold it while one is being handled or a form is being opened.

        In a window too small for panes, only keys that work everywhere are delivered: a verb must not act on
        an array that is not in view.
        """
        if isinstance(event, events.Key | events.Paste) and not self.screen_stack:
            return  # it came while the app ends: there is nothing left that it could be for
        typed = isinstance(event, events.Key | events.Paste) and len(self.screen_stack) == 1
        if typed and self.draws_no_pane and getattr(event, "key", "") not in self._keys_everywhere:
            return
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

    @property
    def draws_no_pane(self) -> bool:
        """Whether the window is too small for panes."""
        return self.size.width < SMALLEST[0] or self.size.height < SMALLEST[1]

    @property
    def keymap(self) -> Mapping[str, str]:
        """The user's own keys, by command id."""
        raise NotImplementedError

    @property
    def _keys_everywhere(self) -> frozenset[str]:
        keys = (self.keymap.get(command.id, command.keys) for command in EVERYWHERE)
        return frozenset(("ctrl+c", *(key.strip() for each in keys for key in each.split(","))))

    async def _deliver(self, event: events.Event) -> None:
        target = self.focused or self.screen
        self._passing = 1
        await super().on_event(event)
        if len(self.screen_stack) > 1 or not target.post_message(KeyPassed()):
            self._passing = 0

    async def on_key_passed(self) -> None:
        """Deliver the next key, unless a form is being opened."""
        await self._go_on()

    async def _go_on(self) -> None:
        self._passing = 0
        while self._held and not self._passing and not self._opening:
            if len(self.screen_stack) > 1:
                self._hand_over(self.screen)
            else:
                await self._deliver(self._held.popleft())

    # -- flows: what opens forms

    @property
    def in_flow(self) -> bool:
        """Whether a flow has begun and has not ended."""
        return self._opening > 0

    def open_flow(
        self, flow: Callable[[], Coroutine[Any, Any, object]], *, nothing: str = "nothing was changed"
    ) -> None:
        """Run a flow that opens a form; keys typed from now on go to the form.

        Args:
            flow: makes the coroutine; when the app ends, it may not be called.
            nothing: shown where Esc cancels the flow before its form is shown.
        """
        self.begin_opening()
        self.run_flow(flow, nothing=nothing)

    def run_flow(
        self, flow: Callable[[], Coroutine[Any, Any, object]], *, nothing: str = "nothing was changed"
    ) -> None:
        """Run a flow as ``open_flow`` does; ``begin_opening`` was called."""

        async def run() -> None:
            self._let_escape_cancel(nothing)
            try:
                await flow()
            finally:
                self._end_opening()

        worker: Worker[None] = self.run_worker(run)
        del worker

    def begin_opening(self) -> None:
        """Hold the keys that are typed from now on for a form that is being opened."""
        self._opening += 1

    def _end_opening(self) -> None:
        self._opening -= 1
        if not self._opening:
            self._cancel_opening = None
            self._held.clear()
            self._draw_again()

    def drop_held_keys(self) -> None:
        """Drop the keys held for a form that does not come."""
        self._held.clear()

    def _let_escape_cancel(self, nothing: str) -> None:
        task = asyncio.current_task()

        def leave() -> None:
            if task is not None and task.cancel():
                self.say(nothing, "plain")

        self._cancel_opening = leave

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Let Esc cancel nothing: what a flow does meanwhile changes the host, and its end is reported."""
        cancel, self._cancel_opening = self._cancel_opening, None
        try:
            yield
        finally:
            self._cancel_opening = cancel

    def say(self, text: str, role: str = "warn", *, logged: bool = True) -> None:
        """Show a sentence above the footer."""
        raise NotImplementedError

    def push_screen(self, screen: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401  (as Textual's)
        """Show a screen, and give it the keys that were held for it."""
        result = super().push_screen(screen, *more, **named)
        self._draw_again()
        if self._opening and isinstance(screen, Screen):
            self._hand_over(screen)
        return result

    def pop_screen(self) -> AwaitComplete:
        """Close a screen. Between two pages of a flow the pane below is not drawn, unless it takes longer."""
        if self._opening and len(self.screen_stack) == _PAGE_ABOVE_PANE and self._still is None and not STOCK:
            self._still = contextlib.ExitStack()
            self._still.enter_context(self.batch_update())
            self.set_timer(STILL_S, partial(self._draw_again, self._still))
        return super().pop_screen()

    def _draw_again(self, since: contextlib.ExitStack | None = None) -> None:
        """Draw what has changed; with ``since``, only if it is that pause that has not ended yet."""
        if self._still is not None and since in {None, self._still}:
            still, self._still = self._still, None
            still.close()
            if self.screen_stack:
                self.screen.check_idle()  # it has kept what is to be drawn

    def _hand_over(self, screen: Screen[Any]) -> None:
        held = tuple(self._held)
        self._held.clear()
        if getattr(screen, "accepts_type_ahead", False):
            for event in held:
                forward_event(screen, event)
