"""The one screen: header and tabs, the pane in view, message line and footer.

It starts with few widgets and with its content: each further widget or layout adds more than a millisecond
to the start. Panes but the first, and the filter, are mounted when they are opened.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import Reactive
from textual.widget import Widget

from raidtui.features.arrays.screen.array_commands import (
    ASSEMBLE,
    CANCEL,
    GIVE_BACK,
    LOCATE,
    PACE,
    REMOVE,
    SCOPE,
    STOP,
    UNDO,
    ZERO,
)
from raidtui.features.arrays.screen.array_rows import counts_of
from raidtui.features.arrays.screen.arrays_pane import ArraysPane
from raidtui.features.arrays.screen.slider import FORGET, LESS, MORE, MUCH_LESS, MUCH_MORE, Slider
from raidtui.first_frame import SMALLEST, TABS
from raidtui.frame.command import Command
from raidtui.frame.commands import BUILD, EVERYWHERE, FILTER, HELP, HOLD, JOBS, PALETTE, QUIT
from raidtui.frame.lines import Lines
from raidtui.frame.painting import PaintingScreen
from raidtui.frame.pane import SEVERITY_ROLES, Pane
from raidtui.frame.screen_shell import ScreenShell, shell_of
from raidtui.frame.stock import STOCK
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.view.line import (
    FOOTER_NARROW,
    GLYPHS,
    FooterItem,
    Line,
    Span,
    counts_line,
    footer_line,
    header_line,
    tab_line,
)
from raidtui.view.text import fit, fit_words, visible
from raidtui.view.wrapping import wrap
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from raidtui.frame.text_field import FilterLine

_KEEP_EVENTS = 2000
_TONES = {"warn": Tone.WARN, "bad": Tone.BAD}
_FURTHER = (SCOPE, GIVE_BACK, UNDO, REMOVE, STOP, BUILD, JOBS, LOCATE, ASSEMBLE, CANCEL, ZERO, HOLD, QUIT)
"""What the footer shows besides in windows wider than 80 columns, the most useful first."""


def _host_name(report: Report) -> str:
    host = report.snapshot.host
    return host.name or host.source or "this host"


class MainScreen(PaintingScreen):
    """The screen below all dialogs.

    Args:
        report: the host's state at the start, if it was read.
    """

    AUTO_FOCUS = "#array-list"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "end_filter", "All rows", show=False)]
    # Textual repaints the whole screen when the focus moves; here, widgets that show it repaint themselves.
    focused: Reactive[Widget | None] = Reactive(None, repaint=STOCK)

    def __init__(self, report: Report | None = None) -> None:
        super().__init__(id="main")
        self.report = report
        self.pane = "arrays"
        self.held = False
        self.events: list[Event] = list(report.new_events) if report else []
        self.arrays = ArraysPane(report)
        self.panes: dict[str, Pane] = {"arrays": self.arrays}
        """The panes that were opened, by name."""
        self._top = Lines(id="top", lines=[[], []])
        self._bottom = Lines(id="bottom", lines=[[], []])
        self._message: Line = []
        self._counts: tuple[Report, Line] | None = None
        self._drawn: tuple[int, int] = (0, 0)

    def compose(self) -> ComposeResult:
        """Header, pane, footer."""
        yield self._top
        yield self.arrays
        yield self._bottom

    def on_mount(self) -> None:
        """Draw before the first layout."""
        self._redraw()

    def on_screen_resume(self) -> None:
        """Say what became worse while a dialog was open."""
        self.app.call_later(self._shell.tell_alarms)

    def on_resize(self) -> None:
        """Draw in the new size."""
        if self._drawn != self.app.size:
            self._redraw()

    def watch_focused(self, before: Widget | None, now: Widget | None) -> None:
        """Draw the footer anew where a slider gets or loses the focus: its keys differ."""
        if isinstance(before, Slider) != isinstance(now, Slider):
            self.redraw_frame()

    @property
    def _shell(self) -> ScreenShell:
        return shell_of(self)

    # -- what is shown

    def note_events(self, events: Sequence[Event]) -> None:
        """Log events at once: a report with events may be replaced by a later one before it is drawn."""
        self.events = (self.events + list(events))[-_KEEP_EVENTS:]
        if events and self.pane == "log":
            self.in_view.redraw()
        elif events and self.pane == "arrays":
            self.arrays.show_news()

    def show_report(self, report: Report) -> None:
        """Take a report and draw it, unless the screen is held."""
        self.report = report
        with self.painting():
            if not self.held:
                for pane in self.panes.values():
                    pane.show_report(report)
            self.redraw_frame()

    async def open_pane(self, name: str) -> Pane:
        """Bring a pane into view and return it; it is mounted before the next key is delivered."""
        pane = self.panes.get(name)
        if pane is None:
            from raidtui.app.registry import FEATURES  # noqa: PLC0415

            load = next((each.pane for each in FEATURES if each.tab == name and each.pane), None)
            if load is None:
                self.say(f"this raidtui was built without {name}")
                return self.in_view
            pane = self.panes[name] = load()(self.report)
            pane.display = False
            await self.mount(pane, after=self.arrays)
        self.show_pane(name)
        return pane

    def show_pane(self, name: str) -> None:
        """Bring an opened pane into view. What another pane said goes; the log has what matters of it."""
        if name != self.pane:
            self._message = []
        self.pane, pane = name, self.panes[name]
        for each in self.panes.values():
            if each is not self.arrays:
                each.display = each is pane
        self.set_focus(pane.rows)  # first: otherwise it moves to a slider when the arrays are hidden
        self.arrays.display = pane is self.arrays
        self.focus_pane()
        self._redraw()
        for each in self.panes.values():
            each.come()
        self._fit_filter()

    async def on_pane_wanted(self, message: Pane.Wanted) -> None:
        """Open another pane for what the one in view has found."""
        pane = await self.open_pane(message.pane)
        if message.pair is not None:
            pane.measure(message.pair)
        else:
            pane.choose(message.key)
        self._fit_filter()

    def release(self) -> None:
        """Hold the screen still, or draw what is new and go on."""
        self.held = not self.held
        if not self.held and self.report is not None:
            self.arrays.show_report(self.report)
            if self.in_view is not self.arrays:
                self.in_view.redraw()
        self.redraw_frame()

    def narrow(self, text: str) -> None:
        """Filter the pane in view; the chosen row, and with it the footer, may change."""
        with self.painting():
            self.in_view.narrow(text)
            self.redraw_frame()

    async def open_filter(self) -> None:
        """Open the filter line; it has the focus before the next key is delivered."""
        if not self.query("#filter"):
            from raidtui.frame.text_field import FilterLine  # noqa: PLC0415

            await self.mount(FilterLine(id="filter"), before="#bottom")
        self.set_focus(self.query_one("#filter"))

    def _fit_filter(self) -> None:
        """Show the filter of the pane in view: each has its own."""
        text = self.in_view.wanted_text
        line = next((each for each in self.children if each.id == "filter"), None)
        if line is None and text:
            from raidtui.frame.text_field import FilterLine  # noqa: PLC0415

            self.mount(FilterLine(text, id="filter"), before="#bottom")
        elif line is not None and text:
            cast("FilterLine", line).take(text)
        elif line is not None:
            line.remove()

    def action_end_filter(self) -> None:
        """End the filter that the pane in view has kept."""
        self.narrow("")
        self._fit_filter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Esc to others where no filter is kept."""
        del parameters
        return action != "end_filter" or bool(self.in_view.wanted_text)

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        """Narrow the pane in view."""
        self.narrow(message.text)

    def on_filter_line_closed(self) -> None:
        """Give the focus back."""
        self.focus_pane()

    def focus_pane(self) -> None:
        """Give the focus to the pane in view."""
        self.in_view.rows.focus()

    def _focus_again(self) -> None:
        """Focus the pane in view: a hidden one loses the focus, and keys would do nothing."""
        if self.focused is None:
            self.focus_pane()

    @property
    def in_view(self) -> Pane:
        """The pane in view."""
        return self.panes[self.pane]

    def say(self, text: str, role: str = "warn", *, logged: bool = True) -> None:
        """Show a sentence above the footer; an empty one clears it.

        Args:
            text: the sentence.
            role: its colour; ``warn`` and ``bad`` are logged.
            logged: False where an event of its own is in the log.
        """
        self._message = [(" " + visible(text), role)] if text else []
        if text and logged and role in _TONES:
            self._log_said(text, _TONES[role])
        with self.painting():
            self.redraw_frame()

    def _log_said(self, text: str, tone: Tone) -> None:
        event = Event(
            at_s=self._shell.now_s(), kind=EventKind.HEALTH, subject="raidtui", text=text, tone=tone
        )
        last = self.events[-1] if self.events else None
        if last is None or (last.text, last.subject) != (event.text, event.subject):
            self.note_events((event,))

    # -- drawing

    def _redraw(self) -> None:
        self._drawn = self.app.size
        for pane in self.panes.values():
            pane.redraw()
        self.redraw_frame()

    def redraw_frame(self) -> None:
        """Draw header, tabs, message and footer."""
        width, height = self.app.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        if self.has_class("-too-small") and not small:
            self.call_after_refresh(self._focus_again)
        self.set_class(small, "-too-small")
        if small:
            words = f"make the window at least {SMALLEST[0]} x {SMALLEST[1]} (it is {width} x {height})"
            self._top.show([[(fit(words, width), "warn")], []])
            return
        header = [(" raidtui", "strong")] if self.report is None else self._header(self.report, width)
        self._top.show([header, tab_line(TABS, self.pane.capitalize(), width, self._marks())])
        said = self._message or self._standing_message()
        message = [line for text, role in said for line in _message_lines(text, role, width, height // 3)]
        self._bottom.show([*(message or [[]]), self._footer(width)])

    def _marks(self) -> dict[str, Span]:
        """Return how much advice there was at the last look, for its tab."""
        count = self.report.advice if self.report is not None else None
        if count is None or not count.total:
            return {}
        role = SEVERITY_ROLES[count.worst]
        return {"Advice": (f"{GLYPHS[role]}{count.total}", role)}

    def _standing_message(self) -> Line:
        """Return the sentence that is shown while there is no other: that the state is stale, or an offer."""
        stale = self.report.snapshot.stale if self.report else None
        if stale:
            return [(" " + visible(f"{stale.reason}; what is shown was read before that"), "warn")]
        offer = self.arrays.offer if self.pane == "arrays" else ""
        return [(" " + visible(offer), "accent")] if offer else []

    def _host_parts(self, report: Report) -> tuple[Line, str, str]:
        """Return the counts of arrays, as whom one acts, and the time."""
        snapshot, host = report.snapshot, report.snapshot.host
        rights = "root" if host.is_root else "read-only"
        if host.source:
            rights = "demo" if host.source == "demo" else "capture"
        if self._counts is None or self._counts[0] is not report:
            self._counts = (report, counts_line(counts_of(report)))
        counts = self._counts[1]
        if snapshot.stale is not None:
            since = time.strftime("%H:%M:%S", time.localtime(snapshot.stale.since_s))
            counts = [(f"▲ stale since {since}", "warn")]
        return counts, rights, time.strftime("%H:%M", time.localtime(snapshot.taken_s))

    def host_lines(self) -> list[Line]:
        """Return the counts of arrays, host, user and time for the head of a page, the longest form first."""
        if self.report is None:
            return []
        middle, rights, stamp = self._host_parts(self.report)
        name = _host_name(self.report)
        short = [("".join(text.split(" ")[:2]), role) for text, role in middle]
        return [
            [*middle, (f"   {name} {rights} {stamp}", "plain")],
            [*middle, (f"   {stamp}", "plain")],
            [*short, (f" {stamp}", "plain")],
        ]

    def _header(self, report: Report, width: int) -> Line:
        host = report.snapshot.host
        release = f" · Linux {(host.kernel or '').partition('-')[0]}" if host.kernel else ""
        middle, rights, stamp = self._host_parts(report)
        if self.held:
            middle = [*middle, (" ", "plain"), ("▮▮ held", "accent")]
        return header_line(f"{_host_name(report)}{release}", middle, f"{rights}  {stamp}", width)

    def _footer(self, width: int) -> Line:
        if self.pane == "arrays" and isinstance(self.focused, Slider):
            items, further = self._slider_items(), []
        elif self.pane == "arrays":
            offered = {command.id: (command, label, can) for command, label, can in self.arrays.foot()}
            first = [each for each in offered.values() if each[0].foot]
            further = [offered.get(command.id, (command, command.label, True)) for command in _FURTHER]
            items = [self._item(*each) for each in first]
        else:
            arrows = self.in_view.BY_ARROWS
            offered_here = [each for each in self.in_view.foot() if each[0] not in arrows]
            items = [("←→", "Change", not self.in_view.why_not(arrows[0].id))] if arrows else []
            items += [self._item(*each) for each in offered_here if each[0].foot]
            items += [self._item(FILTER)] if self.pane == "log" else []
            further = [each for each in offered_here if not each[0].foot]
            further += [(command, command.label, True) for command in _FURTHER if command in EVERYWHERE]
        last = (self._item(HELP), self._item(PALETTE))
        further = further if width > FOOTER_NARROW else []
        return footer_line(items, [self._item(*each) for each in further], last, width)

    def _slider_items(self) -> list[FooterItem]:
        """Return what the keys do on a slider; letters are the pane's commands there, too."""
        keymap = self._shell.keymap
        step, leap = (
            "".join(command.shown_key(keymap) for command in pair)
            for pair in ((LESS, MORE), (MUCH_LESS, MUCH_MORE))
        )
        leap = leap[:2] + leap[3:] if leap.count("⇧") == 2 and leap[2:3] == "⇧" else leap  # once is enough
        offered = {command.id: (command, label, can) for command, label, can in self.arrays.foot()}
        more = [self._item(*offered[command.id]) for command in (SCOPE, GIVE_BACK) if command.id in offered]
        return [
            (step, "Step", True),
            (leap, "Leap", True),
            ("0-9", "MB/s", True),
            *more,
            (FORGET.shown_key(keymap), "Back", True),
            *([self._item(*offered[PACE.id])] if PACE.id in offered else []),
        ]

    def _item(self, command: Command, label: str = "", can: bool = True) -> FooterItem:  # noqa: FBT001, FBT002
        return command.shown_key(self._shell.keymap), label or command.label, can


def _message_lines(text: str, role: str, width: int, most: int) -> list[Line]:
    """Return a sentence in at most ``most`` lines; pane 6 has all of it."""
    parts = wrap(text.strip(), width - 1, indent=1) or ("",)
    if len(parts) > most:
        parts = (*parts[: most - 1], fit_words(" ".join(parts[most - 1 :]), width - 1))
    return [[(fit(part, width), role)] for part in parts]
