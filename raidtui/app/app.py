"""The application: it holds the session and the report, and switches panes, hosts and themes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import events
from textual.binding import BindingType
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen

from raidtui.app.alarms import Alarms
from raidtui.app.main_screen import MainScreen
from raidtui.app.shell_app import ShellApp
from raidtui.config import Config
from raidtui.features.arrays.screen.arrays_pane import ArraysPane
from raidtui.frame.commands import EVERYWHERE
from raidtui.frame.pane import Pane
from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import DefectHooks, driver_of, drop_extra_widgets
from raidtui.frame.themes import Themes
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.target import needs_root
from raidtui.view.line import Line
from raidtui.view.palette import choose_theme
from raidtui.watch.session import Session
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from textual.command import Provider

    from raidtui.frame.feature import Feature


_LATER_S = 0.4  # what the first picture does not need waits for it


class Sampled(Message):
    """A new report. A slow screen gets only the latest."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report

    def can_replace(self, message: Message) -> bool:
        """Whether this replaces an earlier one that was not handled yet."""
        return isinstance(message, Sampled)


def palette_provider() -> type[Provider]:
    """Return what gives the palette its lines; nothing else needs it."""
    from raidtui.frame.command_palette import PaletteProvider  # noqa: PLC0415

    return PaletteProvider


class RaidApp(DefectHooks, ShellApp):
    """The console on one host.

    Args:
        reader: the host.
        config: the user's settings.
        theme: the theme of the command line.
    """

    CSS_PATH = "raidtui.tcss"
    TITLE = "raidtui"
    BINDINGS: ClassVar[list[BindingType]] = [each for command in EVERYWHERE for each in command.bindings]
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {palette_provider}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        reader: HostReader,
        *,
        config: Config | None = None,
        theme: str | None = None,
        driver_class: type[Driver] | None = None,
    ) -> None:
        self._settings = config or Config()
        self._styled_for = ""
        self._said = ""
        self._features: tuple[Feature, ...] = ()  # those of the registry, as soon as it is loaded
        self.crash = ""
        """The report of the defect that ended the console, if one did."""
        # Textual picks the filter of NO_COLOR now; without this it makes the ansi theme black on black.
        super().__init__(driver_class=driver_class, ansi_color="NO_COLOR" in os.environ or None)
        self.animation_level = "none"
        self._reader = reader
        self.session = self._session_of(reader)
        self.report: Report | None = self.session.loop.first()
        self._themes = Themes(self)
        self.theme = self._themes.choose(choose_theme(theme or self._settings.theme))
        if not STOCK:
            self.stylesheet.set_variables(self.get_css_variables())
            self._styled_for = self.theme
        drop_extra_widgets(self)
        self._alarms = Alarms(self, rings=self._settings.bell, notifies=self._settings.notify)
        if self._settings.keys:
            self.set_keymap(dict(self._settings.keys))

    def _session_of(self, reader: HostReader) -> Session:
        return Session(
            reader, self, on_report=self._take, on_trouble=self._say, ratings=self._settings.rated_bytes
        )

    # -- life

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the only one below the dialogs."""
        return MainScreen(self.report)

    def on_mount(self) -> None:
        """Start monitoring."""
        self.session.loop.start(self.report)
        self.call_after_refresh(_settle_memory)
        self.call_after_refresh(self._know_features)
        for trouble in (*self._settings.troubles, *self._themes.troubles):
            self.call_after_refresh(self._say, trouble)
        if self._reader.live and self._reader.writable:
            self.set_timer(_LATER_S, self._show_unfinished_job)

    def on_ready(self) -> None:
        """Let signals end the program in good order from now on, with the terminal restored."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in a thread
                loop.add_signal_handler(number, self.exit, 128 + number)

    # -- defects

    def note_defect(self, error: Exception) -> None:
        """Make the report of a defect that ends the console, while its screens are there."""
        if not self.crash:
            from raidtui.app.crash import defect_report  # noqa: PLC0415

            main = self.screen_stack[0] if self.screen_stack else None
            pane = f", pane {main.pane}" if isinstance(main, MainScreen) else ""
            self.crash = defect_report(
                error,
                events=main.events if isinstance(main, MainScreen) else (),
                snapshot=self.report.snapshot if self.report is not None else None,
                reader=self._reader,
                view=" > ".join(type(screen).__name__ for screen in self.screen_stack) + pane,
            )

    async def _show_unfinished_job(self) -> None:
        """Show which job, or exchange of a disk, is unfinished; or why jobs cannot be kept."""
        from raidtui.watch import storage  # noqa: PLC0415

        own = (each.opening_words for each in self._features if each.opening_words is not None)
        for words in (storage.opening_words, *own):
            for sentence in await self.session.loop.on_disk_thread(words):
                self._say(sentence)

    def _know_features(self) -> None:
        """Load the registry, which the first picture does not need."""
        from raidtui.app.registry import FEATURES  # noqa: PLC0415

        self._features = FEATURES
        if self.report is not None:
            self._follow(self.report)
        if self._settings.keys:
            self._check_keys()

    def _check_keys(self) -> None:
        """Drop what cannot be used of the user's own keys, and say why."""
        from raidtui.app.keymap import check_keymap, rooms_of  # noqa: PLC0415

        keys, troubles = check_keymap(self._settings.keys, rooms_of(self._features))
        if troubles:
            self._settings = replace(self._settings, keys=keys)
            self.set_keymap(keys)
            self.main.redraw_frame()
        for trouble in troubles:
            self._say(trouble)

    def _follow(self, report: Report) -> None:
        """Tell features of a report."""
        for feature in self._features:
            if feature.follow is not None:
                feature.follow(self.session, report)

    def _say(self, text: str) -> None:
        """Show a problem and log it: the next one takes its place on the screen."""
        if text != self._said:
            self._said = text
            event = Event(
                at_s=self._reader.now_s(), kind=EventKind.HEALTH, subject="raidtui", text=text, tone=Tone.WARN
            )
            self.main.note_events((event,))
        self.main.say(text, logged=False)

    def _take(self, report: Report) -> None:
        self._follow(report)
        if self.screen_stack:
            self._note(report)
        self.post_message(Sampled(report))

    def on_sampled(self, message: Sampled) -> None:
        """Take a report and draw it, unless a newer one was drawn."""
        if not (self.screen_stack and self.main.arrays.children):
            return  # the screen is being closed
        report = message.report
        if self.report is None or report.snapshot.clock_s >= self.report.snapshot.clock_s:
            self._own(report)  # an older one is from before the last write of this session

    def _own(self, report: Report) -> None:
        self.report = report
        self.main.show_report(report)
        for screen in self.screen_stack:
            if (show_host := getattr(screen, "show_host", None)) is not None:  # a page
                show_host()
        self._alarms.show_title(report)

    def own_report(self, report: Report) -> None:
        """Show the state after a write of this session; its events are in the log from now on."""
        self._follow(report)
        self._note(report)
        self._own(report)

    def _note(self, report: Report) -> None:
        """Log what a report brings, and give an alarm where an array became worse."""
        self.main.note_events(report.new_events)
        if self.report is not None:
            told = len(self.screen_stack) == 1 and not self.held
            self._alarms.take(report.new_events, self.screen, told=told)

    def host_lines(self) -> Sequence[Line]:
        """See ``ScreenShell``."""
        return self.main.host_lines()

    def tell_alarms(self) -> None:
        """Say what became worse while the arrays were not in view."""
        if not self.held and (text := self._alarms.tell()):
            self.main.say(text, "bad", logged=False)

    async def on_event(self, event: events.Event) -> None:
        """See ``KeyOrderApp``; a key takes the line of an alarm away."""
        if isinstance(event, events.Key):
            self._alarms.note_key()
        await super().on_event(event)

    # -- flows

    async def plan_of(self, order: Sequence[str]) -> Plan | Refusal:
        """Return the plan that an order prints, or why there is none."""
        from raidtui.app.flows import plan_of  # noqa: PLC0415

        return await plan_of(self, order)

    def on_arrays_pane_flow_wanted(self, message: ArraysPane.FlowWanted) -> None:
        """Open what another feature does: rescue, zero, compare members, reshape, exchange a disk."""
        message.stop()
        from raidtui.app.flows import flow_of  # noqa: PLC0415

        self.run_flow(flow_of(self, message.verb, message.snapshot, message.array))

    def action_build(self) -> None:
        """Open the wizard."""
        if self.report is None:
            return
        snapshot = self.report.snapshot
        if refusal := needs_root(snapshot):
            self.drop_held_keys()
            self.main.say(refusal.sentence)
            return
        from raidtui.app.flows import flow_of  # noqa: PLC0415

        self.open_flow(flow_of(self, "build", snapshot))

    def action_stack(self) -> None:
        """Show what stands on the chosen array or disk, and beneath that."""
        from raidtui.app.flows import flow_of  # noqa: PLC0415

        if self.report is not None:
            self.open_flow(flow_of(self, "stack", self.report.snapshot), nothing="")

    def action_jobs(self) -> None:
        """Show the last jobs, and follow one."""
        from raidtui.frame.plan_flow import PlanFlow  # noqa: PLC0415

        self.open_flow(PlanFlow(self).jobs)

    # -- keys

    async def action_pane(self, name: str) -> None:
        """Bring a pane into view."""
        await self.main.open_pane(name)

    def action_hold(self) -> None:
        """Hold the screen still, or release it."""
        self.main.release()
        self.tell_alarms()

    def action_redraw(self) -> None:
        """Send the whole screen again: a kernel's message on the console has overwritten it."""
        from raidtui.frame.driver import QuietDriver  # noqa: PLC0415

        if isinstance(driver := driver_of(self), QuietDriver):
            driver.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the filter's key where it is text."""
        del parameters
        return action != "filter" or (
            isinstance(self.screen, MainScreen) and getattr(self.focused, "id", None) != "filter"
        )

    async def action_filter(self) -> None:
        """Open the filter line."""
        await self.main.open_filter()

    def action_help(self) -> None:
        """Show the keys, and why some are dim."""
        from raidtui.frame.help import HelpScreen, help_rows  # noqa: PLC0415

        self.push_screen(HelpScreen(help_rows(self.pane_in_view, self.keymap)))

    async def action_demo(self) -> None:
        """Open the demo host, unless it would hide arrays of this host."""
        snapshot = self.report.snapshot if self.report is not None else None
        if snapshot is not None and (snapshot.arrays or snapshot.absent):
            self.main.say("the demo opens here only without arrays: use raidtui --demo")
            return
        from raidtui.demo.demo_host import demo_root  # noqa: PLC0415

        await self.session.loop.stop()
        self._reader = demo_root()
        self.session = self._session_of(self._reader)
        self.report = None
        self.session.loop.start()
        self.main.say("a simulated host: nothing here is real", "accent")

    def action_leave(self) -> None:
        """Quit; offer to restore what this session changed until reboot."""
        self.open_flow(self._leave)

    async def _leave(self) -> None:
        from raidtui.app.leaving import may_leave  # noqa: PLC0415

        if await may_leave(self):
            await self.session.loop.stop()
            self.exit(0)

    # -- themes and palette

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002
        """Style everything anew, except for the first theme: nothing was styled before it."""
        first, self._styled_for = self._styled_for == self.theme, ""
        if not first:
            super().refresh_css(animate=animate)

    def action_command_palette(self) -> None:
        """Open the palette; it and the themes are read when they are first offered."""
        from raidtui.app.palette_later import load_palette  # noqa: PLC0415

        load_palette()
        from raidtui.frame.command_palette import Palette  # noqa: PLC0415

        self._themes.load_all()
        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette(id="--command-palette"))

    @property
    def theme_names(self) -> list[str]:
        """The themes that the palette offers."""
        return self._themes.names

    @property
    def pane_in_view(self) -> Pane:
        """The pane whose commands the palette and the help show."""
        return self.main.in_view

    def run_in_pane(self, action: str) -> None:
        """Run an action of the pane in view, where the window is large enough for panes."""
        if not self.draws_no_pane:
            self.call_later(self.run_action, action, self.main.in_view)


def _settle_memory() -> None:
    """Exempt what was imported from garbage collection, as it stays, and enable the collector again.

    Only where the start of the program had disabled it: where one process runs several apps, the next one
    would make the ones before it permanent, with all that they have open.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
