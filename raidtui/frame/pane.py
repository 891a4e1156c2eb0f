"""A pane of the main screen, and how it is wired."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct
from textual.containers import Vertical
from textual.message import Message

from raidtui.frame.command import Command
from raidtui.frame.lines import ScrollLines
from raidtui.frame.screen_shell import ScreenShell, shell_of
from raidtui.model.finding import Severity
from raidtui.watch.watch import Report

READ_EVERY_S = 600.0
SEVERITY_ROLES = {
    Severity.INFO: "accent",
    Severity.ATTENTION: "warn",
    Severity.DEGRADED: "bad",
    Severity.FAILED: "bad",
}
"""How a finding is drawn."""
Source = TypeVar("Source")
Look = TypeVar("Look")


class KnobPair(Struct, frozen=True, kw_only=True):
    """Two values of a knob that are to be measured against each other.

    Args:
        knob: its key in ``raidtui.model.knob_table``.
        values: the present one, and the other.
        array: the title of the array to measure on; "" for none.
    """

    knob: str
    values: tuple[str, str]
    array: str


class Pane(Vertical):
    """A pane of the main screen; it draws a report and carries out its own commands.

    All panes are wired alike. Requests that another pane or the app carries out go up as messages (a plan to
    confirm, a verb that needs dialogs, a knob to measure). What the session holds is asked of ``shell``. The
    sentence above the footer and the footer itself are changed by calls of ``say`` and ``redraw_frame``: as
    messages they would arrive after the next key, and be drawn in a second write. Nothing is assigned on a
    pane from outside, and a pane gets no callbacks; it gives its own methods to the widgets that it composes,
    for a message of theirs could be overtaken by the next key.

    Args:
        report: the last report; None before the first.
    """

    ID: ClassVar[str]
    """The widget's id, for the style sheet."""
    COMMANDS: ClassVar[tuple[Command, ...]] = ()
    """Its commands, in the order in which they are shown; their keys are in ``BINDINGS``."""
    BY_ARROWS: ClassVar[tuple[Command, ...]] = ()
    """The commands of ← and →, which the footer shows as one."""
    rows: ScrollLines
    """What has the focus while the pane is in view."""

    class Wanted(Message):
        """Another pane is to come into view.

        Args:
            pane: its name.
            key: of the row that it chooses.
            pair: what it measures.
        """

        def __init__(self, pane: str, key: str = "", pair: KnobPair | None = None) -> None:
            super().__init__()
            self.pane = pane
            self.key = key
            self.pair = pair

    def __init__(self, report: Report | None) -> None:
        super().__init__(id=self.ID)
        self.report = report
        self.wanted_text = ""

    @property
    def shell(self) -> ScreenShell:
        """The app, as flows and panes see it."""
        return shell_of(self)

    def say(self, text: str, role: str = "warn") -> None:
        """Show a sentence above the footer; an empty one clears it."""
        self.shell.say(text, role)

    def redraw_frame(self) -> None:
        """Draw the header and the footer anew: other commands can be used now."""
        self.shell.redraw_frame()

    @property
    def device(self) -> str:
        """The kernel's name of the chosen array or disk; "" for none."""
        return ""

    def show_report(self, report: Report) -> None:
        """Take a report and draw what it changes."""
        self.report = report
        self.redraw()

    def redraw(self) -> None:
        """Draw everything from the present state."""
        raise NotImplementedError

    def come(self) -> None:
        """Another pane came into view: this one, where ``display`` is true."""

    def choose(self, key: str) -> None:
        """Choose the row with this key, an array's or a disk's name; also one that is yet to come."""

    def measure(self, pair: KnobPair) -> None:
        """Fill in the form for two values of a knob, where the pane measures."""

    def narrow(self, text: str) -> None:
        """Show only rows that hold ``text``."""
        self.wanted_text = text
        self.redraw()

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be used now) for footer, help and palette."""
        return [
            (each, each.now(self) if each.now is not None else each.label, not self.why_not(each.id))
            for each in self.COMMANDS
        ]

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        refuse = next((each.refuse for each in self.COMMANDS if each.id == command_id), None)
        return refuse(self) if refuse is not None else ""

    def refuses(self, command: Command) -> bool:
        """Whether a command cannot be used now; why is shown."""
        why = self.why_not(command.id)
        if why:
            self.say(why)
        return bool(why)


class ReadingPane(Pane, Generic[Source, Look]):
    """A pane that shows what it reads on its own, every ten minutes while it is in view.

    Args:
        report: the last report; None before the first.
    """

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.look: Look | None = None
        self._reading: Source | None = None
        self._read_of: Source | None = None
        self._read_at_s = 0.0

    def source(self) -> Source:
        """What the host in view is read by."""
        raise NotImplementedError

    def action_read(self) -> None:
        """Read anew."""
        raise NotImplementedError

    @property
    def is_reading(self) -> bool:
        """Whether a reading is under way."""
        return self._reading is not None

    @property
    def is_of_this_host(self) -> bool:
        """Whether what was read last is of the host in view."""
        return self._read_of is self.source()

    def on_mount(self) -> None:
        """Read every ten minutes."""
        self.set_interval(READ_EVERY_S, self.come)
        self.redraw()

    def come(self) -> None:
        """The pane comes into view, or some time has passed: read what was read too long ago."""
        old = time.monotonic() - self._read_at_s >= READ_EVERY_S - 1
        if self.display and (old or not self.is_of_this_host):
            self.action_read()

    async def take(self, read: Callable[[Source], Awaitable[Look]]) -> Look | None:
        """Read, and keep it; None where a reading is under way, or another host has come into view."""
        source = self.source()
        if self._reading is source:
            return None
        self._reading = source
        self.redraw()
        try:
            look = await read(source)
        finally:
            self._reading = None
        if source is not self.source():
            return None
        self.look, self._read_of, self._read_at_s = look, source, time.monotonic()
        return look
