"""The app as flows and panes see it: it shows sentences, asks questions and runs work. ``RaidApp`` is it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, cast

from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker

from raidtui.model.finding import Event
from raidtui.model.plan import Plan, Refusal
from raidtui.view.line import Line
from raidtui.watch.session import Session
from raidtui.watch.shell import Shell
from raidtui.watch.watch import Report

T = TypeVar("T")


class ScreenShell(Shell, Protocol):
    """A shell with a screen to ask on."""

    @property
    def session(self) -> Session:
        """What is held of the host in view."""

    @property
    def chosen_device(self) -> str:
        """The kernel's name of what is chosen in the pane in view; "" for nothing."""

    async def ask(self, screen: Screen[T]) -> T | None:
        """Show a dialog or page, and return its answer; None where it was left."""

    async def plan_of(self, order: Sequence[str]) -> Plan | Refusal:
        """Return the plan that an order prints, or why there is none.

        Args:
            order: the words of ``raidtui plan VERB ...`` after ``raidtui``.
        """

    def after_drawing(self, call: Callable[[], object]) -> None:
        """Call something once the screen is drawn."""

    @property
    def keymap(self) -> Mapping[str, str]:
        """The user's own keys, by command id."""

    @property
    def log_events(self) -> Sequence[Event]:
        """The log, oldest first."""

    def now_s(self) -> float:
        """Return the host's time, epoch seconds."""

    def redraw_frame(self) -> None:
        """Draw the header and the footer anew."""

    def say(self, text: str, role: str = "warn", *, logged: bool = True) -> None:
        """Show a sentence above the footer; warnings are logged, unless their event is in the log already."""

    def host_lines(self) -> Sequence[Line]:
        """Return the counts of arrays, host, user and time for the head of a page, the longest form first."""

    def tell_alarms(self) -> None:
        """Say what became worse while the arrays were not in view."""

    def own_report(self, report: Report) -> None:
        """Show the state after a write of this session."""

    @property
    def in_flow(self) -> bool:
        """Whether a flow has begun and has not ended."""

    def open_flow(
        self, flow: Callable[[], Coroutine[Any, Any, object]], *, nothing: str = "nothing was changed"
    ) -> None:
        """Run a flow that opens a form, and hold keys for it; Esc before the form cancels it."""

    def begin_opening(self) -> None:
        """Hold the keys that are typed from now on for a form; a message makes the app open it."""

    def writing(self) -> AbstractContextManager[None]:
        """Let Esc cancel nothing: what a flow does meanwhile changes the host, and its end is reported."""

    def drop_held_keys(self) -> None:
        """Drop what was typed for a form that does not come."""

    def expect_array(self, uuid: str | None) -> None:
        """Choose the array with this UUID as soon as it is there; None: none is awaited any more."""


def shell_of(widget: Widget) -> ScreenShell:
    """Return the shell that a widget is in."""
    app: Any = widget.app
    return cast("ScreenShell", app)


def later(
    widget: Widget, work: Callable[[], Coroutine[Any, Any, None]], *, alone_in: str | None = None
) -> None:
    """Run a coroutine as a worker. It is made when the worker starts: at the end of the app, some never do.

    Args:
        widget: the worker ends with it.
        work: makes the coroutine.
        alone_in: a group of workers; others in it are cancelled.
    """
    worker: Worker[None] = widget.run_worker(
        work, group=alone_in or "default", exclusive=alone_in is not None
    )
    del worker
