"""What a session, a pane and a flow ask of the app: sentences, questions, work, and what is chosen.

See ``raidtui.frame.screen_shell``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from textual.screen import Screen

from raidtui.app.main_screen import MainScreen
from raidtui.config import Config
from raidtui.frame.key_order import KeyOrderApp
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.finding import Event
from raidtui.watch.session import Session
from raidtui.watch.watch import Report

T = TypeVar("T")


class ShellApp(KeyOrderApp):
    """The app as a shell. It has a main screen below all dialogs."""

    session: Session
    report: Report | None
    _settings: Config
    _reader: HostReader

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)  # noqa: S101  (get_default_screen made it)
        return screen

    @property
    def held(self) -> bool:
        """Whether the display is frozen."""
        return self.main.held

    @property
    def keymap(self) -> Mapping[str, str]:
        """The user's own keys, by command id."""
        return self._settings.keys

    @property
    def log_events(self) -> Sequence[Event]:
        """The log, oldest first."""
        return self.main.events

    def now_s(self) -> float:
        """Return the time of the host in view, epoch seconds."""
        return self._reader.now_s()  # the demo is another host

    def redraw_frame(self) -> None:
        """Redraw header and footer."""
        self.main.redraw_frame()

    def say(self, text: str, role: str = "warn", *, logged: bool = True) -> None:
        """Show a sentence above the footer."""
        self.main.say(text, role, logged=logged)

    def note_events(self, events: Sequence[Event]) -> None:
        """Add events to the log."""
        self.main.note_events(events)

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine as a worker; its result is not waited for."""
        self.run_worker(work)

    @property
    def chosen_device(self) -> str:
        """The kernel's name of what is chosen in the pane in view; "" for nothing."""
        return self.main.in_view.device

    async def ask(self, screen: Screen[T]) -> T | None:
        """Show a dialog or page, and return its answer; None where it was left."""
        return await self.push_screen_wait(screen)

    def after_drawing(self, call: Callable[[], object]) -> None:
        """Call something once the screen is drawn."""
        self.call_after_refresh(call)

    def expect_array(self, uuid: str | None) -> None:
        """Choose the array with this UUID as soon as it appears; None: no array is expected any more."""
        self.main.arrays.expect(uuid)
