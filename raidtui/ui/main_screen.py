"""The one screen: header and tabs, the pane in view, message line and footer.

It starts with few widgets and with its content: each widget more, and each layout more, is a good
millisecond of the start. The log and the filter are mounted when they are first wanted.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.reactive import Reactive
from textual.widget import Widget

from raidtui.first_frame import SMALLEST, TABS
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.session.watch import Report
from raidtui.ui.arrays.array_rows import counts_of
from raidtui.ui.arrays.arrays_pane import ArraysPane
from raidtui.ui.arrays.slider import Slider
from raidtui.ui.commands import (
    EVERYWHERE,
    FILTER,
    FURTHER,
    GIVE_BACK,
    HELP,
    PALETTE,
    SCOPE,
    Command,
    shown,
)
from raidtui.ui.frame.footer import Item, footer_line
from raidtui.ui.frame.lines import Lines
from raidtui.ui.frame.painting import PaintingScreen
from raidtui.view.line import Line, counts_line, header_line, tab_line
from raidtui.view.text import fit, fit_words, visible

if TYPE_CHECKING:
    from raidtui.session.bench import Benching
    from raidtui.session.knob_session import Knobs
    from raidtui.session.wear import WearSession
    from raidtui.ui.bench.bench_pane import BenchPane
    from raidtui.ui.log.log_pane import LogPane
    from raidtui.ui.tune.tune_pane import TuningPane
    from raidtui.ui.wear.wear_pane import WearPane

_KEEP_EVENTS = 2000
_TONES = {"warn": Tone.WARN, "bad": Tone.BAD}
_ARROWS = frozenset({"tune.less", "tune.more"})


class MainScreen(PaintingScreen):
    """See the module.

    Args:
        report: what is known at the start, if anything.
        keymap: the user's own keys, by command id.
    """

    AUTO_FOCUS = "#array-list"
    # Textual's own repaints the whole screen when the focus moves; the widgets that show it do so themselves.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(
        self,
        report: Report | None = None,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(id="main")
        self.keymap: Mapping[str, str] = keymap or {}
        self.report = report
        self.pane = "arrays"
        self.held = False
        self.events: list[Event] = list(report.new_events) if report else []
        self.arrays = ArraysPane(report, self.keymap)
        self._top = Lines(id="top", lines=[[], []])
        self._bottom = Lines(id="bottom", lines=[[], []])
        self._log: LogPane | None = None
        self._opened: dict[str, WearPane | TuningPane | BenchPane] = {}
        """The panes that were in view, by name, but for the arrays and the log."""
        self.wearing: Callable[[], WearSession | None] = lambda: None
        """What reads the disks; the app has it."""
        self.knobs: Callable[[], Knobs | None] = lambda: None
        """What reads and writes the knobs; the app has it."""
        self.benching: Callable[[], Benching | None] = lambda: None
        """What begins and follows benchmarks; the app has it."""
        self.now_s: Callable[[], float] = time.time
        """The host's clock; the app has it."""
        self._message: Line = []
        self._drawn: tuple[int, int] = (0, 0)

    def compose(self) -> ComposeResult:
        """Header, pane, footer."""
        yield self._top
        yield self.arrays
        yield self._bottom

    def on_mount(self) -> None:
        """Draw before the first layout."""
        self._redraw()

    def on_resize(self) -> None:
        """Draw in the new size."""
        if self._drawn != self.app.size:
            self._redraw()

    def watch_focused(self, before: Widget | None, now: Widget | None) -> None:
        """On a slider the keys are others."""
        if isinstance(before, Slider) != isinstance(now, Slider):
            self.redraw_frame()

    # -- what is shown

    def note_events(self, events: Sequence[Event]) -> None:
        """Take events at once: a report that a later one replaces, unseen, has had its own."""
        self.events = (self.events + list(events))[-_KEEP_EVENTS:]
        if events and self.pane == "log":
            self._show_log()

    def show_report(self, report: Report) -> None:
        """Take a report and draw it, unless the picture is held."""
        self.report = report
        with self.painting():
            if not self.held:
                self.arrays.show_report(report)
                for pane in self._opened.values():
                    pane.show_report(report)
            self.redraw_frame()

    async def open_pane(self, name: str) -> None:
        """Bring a pane into view; it is there before the next key is."""
        pane = self._make_pane(name) if name not in self._opened else None
        if pane is not None:
            pane.display = False
            self._opened[name] = pane
            await self.mount(pane, after=self.arrays)
        self.show_pane(name)

    def _make_pane(self, name: str) -> WearPane | TuningPane | BenchPane | None:
        if name == "wear":
            from raidtui.ui.wear.wear_pane import WearPane  # noqa: PLC0415

            return WearPane(self.wearing, self.say, self.redraw_frame, self.report)
        if name == "tune":
            from raidtui.ui.tune.tune_pane import TuningPane  # noqa: PLC0415

            return TuningPane(self.knobs, self.say, self.redraw_frame, self.report)
        if name == "bench":
            from raidtui.ui.bench.bench_pane import BenchPane  # noqa: PLC0415

            return BenchPane(self.benching, self.say, self.redraw_frame, self.report, lambda: self.held)
        return None

    def show_pane(self, name: str) -> None:
        """Bring a pane into view."""
        self.pane = name
        for each, pane in self._opened.items():
            pane.display = each == name
            if each == name:
                self.set_focus(pane.rows)  # first: else it falls to a slider as the arrays are hidden
        self.arrays.display = name == "arrays"
        if name == "log" and self._log is None:
            from raidtui.ui.log.log_pane import LogPane  # noqa: PLC0415

            self._log = LogPane()
            self.mount(self._log, after=self.arrays)
        if self._log is not None:
            self._log.display = name == "log"
            self._show_log()
        self.focus_pane()
        self._redraw()
        for pane in self._opened.values():
            pane.come()

    def _show_log(self) -> None:
        if self._log is not None:
            self._log.show_events(self.events)

    def release(self) -> None:
        """Let a held picture go on."""
        self.held = not self.held
        if not self.held and self.report is not None:
            self.arrays.show_report(self.report)
            if self.pane in self._opened:
                self._opened[self.pane].redraw()
        self.redraw_frame()

    def narrow(self, text: str) -> None:
        """Filter the pane in view; another row may be chosen then, with other commands."""
        with self.painting():
            if self.pane == "arrays":
                self.arrays.narrow(text)
            elif self.pane in self._opened:
                self._opened[self.pane].narrow(text)
            elif self._log is not None:
                self._log.narrow(text)
            self.redraw_frame()

    def focus_pane(self) -> None:
        """Give the focus to the pane in view."""
        pane: Widget | None = self.arrays.rows if self.pane == "arrays" else self._log
        if self.pane in self._opened:
            pane = self._opened[self.pane].rows
        if pane is not None:
            pane.focus()

    def _focus_again(self) -> None:
        """A pane that was hidden has lost the focus: without one, its keys would do nothing."""
        if self.focused is None:
            self.focus_pane()

    def opened(self, name: str) -> WearPane | TuningPane | BenchPane | None:
        """Return a pane that was in view before, or is."""
        return self._opened.get(name)

    @property
    def bench(self) -> BenchPane:
        """Pane 5, once it was opened."""
        from raidtui.ui.bench.bench_pane import BenchPane  # noqa: PLC0415

        pane = self._opened["bench"]
        assert isinstance(pane, BenchPane)  # noqa: S101  (_make_pane made it)
        return pane

    @property
    def in_view(self) -> ArraysPane | WearPane | TuningPane | BenchPane:
        """The pane that takes commands."""
        return self._opened.get(self.pane, self.arrays)

    @property
    def offered(self) -> list[tuple[Command, str, bool]]:
        """What the pane in view offers: (command, label now, whether it can be done)."""
        return self.in_view.foot() if self.pane != "log" else []

    def why_not(self, command_id: str) -> str:
        """Return why a command of the pane in view cannot be used now; "" where it can."""
        return self.in_view.why_not(command_id)

    def say(self, text: str, role: str = "warn", *, logged: bool = True) -> None:
        """Show a sentence above the footer; an empty one clears it.

        Args:
            text: the sentence.
            role: its colour; what is ``warn`` or ``bad`` stands in the log too.
            logged: False for what has its own line there.
        """
        self._message = [(" " + visible(text), role)] if text else []
        if text and logged and role in _TONES:
            self._log_said(text, _TONES[role])
        with self.painting():
            self.redraw_frame()

    def _log_said(self, text: str, tone: Tone) -> None:
        at_s = self.now_s()
        event = Event(at_s=at_s, kind=EventKind.HEALTH, subject="raidtui", text=text, tone=tone)
        last = self.events[-1] if self.events else None
        if last is None or (last.text, last.subject) != (event.text, event.subject):
            self.note_events((event,))

    # -- drawing

    def _redraw(self) -> None:
        self._drawn = self.app.size
        self.arrays.redraw()
        self._show_log()
        for pane in self._opened.values():
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
        self._top.show([header, tab_line(TABS, self.pane.capitalize(), width)])
        said = self._message or self._standing_message()
        message = [line for text, role in said for line in _message_lines(text, role, width, height // 3)]
        self._bottom.show([*(message or [[]]), self._footer(width)])

    def _standing_message(self) -> Line:
        """What is true until it changes, for when there is nothing else to say."""
        stale = self.report.snapshot.stale if self.report else None
        return [(" " + visible(f"{stale.reason}; all of this was read before"), "warn")] if stale else []

    def _header(self, report: Report, width: int) -> Line:
        snapshot = report.snapshot
        host = snapshot.host
        release = f" · Linux {(host.kernel or '').partition('-')[0]}" if host.kernel else ""
        rights = "root" if host.is_root else "read-only"
        if host.source:
            rights = "demo" if host.source == "demo" else "capture"
        stamp = time.strftime("%H:%M", time.localtime(snapshot.taken_s))
        middle = counts_line(counts_of(report))
        if snapshot.stale is not None:
            since = time.strftime("%H:%M:%S", time.localtime(snapshot.stale.since_s))
            middle = [(f"▲ stale since {since}", "warn")]
        if self.held:
            middle = [*middle, (" ", "plain"), ("▮▮ held", "accent")]
        name = host.name or host.source or "this host"
        return header_line(f"{name}{release}", middle, f"{rights}  {stamp}", width)

    def _footer(self, width: int) -> Line:
        if self.pane == "arrays" and isinstance(self.focused, Slider):
            items, further = self._slider_items(), []
        elif self.pane == "arrays":
            offered = {command.id: (command, label, can) for command, label, can in self.arrays.foot()}
            first = [each for each in offered.values() if each[0].foot]
            further = [offered.get(command.id, (command, command.label, True)) for command in FURTHER]
            items = [self._item(*each) for each in first]
        elif self.pane in self._opened:
            offered_here = [each for each in self.offered if each[0].id not in _ARROWS]
            items = [("←→", "Change", not self.why_not("tune.less"))] if self.pane == "tune" else []
            items += [self._item(*each) for each in offered_here if each[0].foot]
            further = [each for each in offered_here if not each[0].foot]
            further += [(command, command.label, True) for command in FURTHER if command in EVERYWHERE]
        else:
            items = [("↑↓", "Scroll", True), self._item(FILTER)]
            further = [(command, command.label, True) for command in FURTHER if command in EVERYWHERE]
        last = (self._item(HELP), self._item(PALETTE))
        return footer_line(items, [self._item(*each) for each in further], last, width)

    def _slider_items(self) -> list[Item]:
        """What the keys do on a slider; letters still are the pane's commands."""
        step, leap = (
            "".join(shown(self.keymap.get(f"slider.{each}", usual).split(",")[0]) for each, usual in pair)
            for pair in (
                (("less", "left"), ("more", "right")),
                (("much_less", "shift+left"), ("much_more", "shift+right")),
            )
        )
        leap = leap[:2] + leap[3:] if leap.count("⇧") == 2 and leap[2:3] == "⇧" else leap  # once is enough
        back = shown(self.keymap.get("slider.forget", "escape").split(",")[0])
        offered = {command.id: (command, label, can) for command, label, can in self.arrays.foot()}
        more = [self._item(*offered[command.id]) for command in (SCOPE, GIVE_BACK) if command.id in offered]
        return [
            (step, "Step", True),
            (leap, "Leap", True),
            ("0-9", "MB/s", True),
            *more,
            (back, "Back", True),
        ]

    def _item(self, command: Command, label: str = "", can: bool = True) -> Item:  # noqa: FBT001, FBT002
        return command.shown_key(self.keymap), label or command.label, can


def _message_lines(text: str, role: str, width: int, most: int) -> list[Line]:
    """Return a sentence in as many lines as it needs, at most ``most``; pane 6 has all of it."""
    parts = textwrap.wrap(text.strip(), width - 1, initial_indent=" ", subsequent_indent=" ") or [""]
    if len(parts) > most:
        parts = [*parts[: most - 1], fit_words(" ".join(parts[most - 1 :]), width - 1)]
    return [[(fit(part, width), role)] for part in parts]
