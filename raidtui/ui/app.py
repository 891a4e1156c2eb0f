"""The application: owns the report, carries plans out, switches panes, hosts and themes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import Theme

from raidtui.config import Config
from raidtui.first_frame import SMALLEST
from raidtui.host.roots.root import Root
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.plan import Harm, Plan
from raidtui.plans.target import needs_root
from raidtui.session.session import Session
from raidtui.session.watch import Report
from raidtui.ui.arrays.arrays_pane import ArraysPane
from raidtui.ui.commands import CLI_COMMANDS, DEMO, EVERYWHERE, HELP
from raidtui.ui.frame.key_order import KeyOrderApp
from raidtui.ui.frame.messages import Sampled
from raidtui.ui.main_screen import MainScreen
from raidtui.ui.themes import load_themes, pick, shipped_theme
from raidtui.view.palette import choose_theme

if TYPE_CHECKING:
    from textual.command import Provider

    from raidtui.ui.frame.command_palette import PaletteEntry
    from raidtui.ui.frame.text_field import FilterLine
    from raidtui.ui.tune.tune_pane import TunePane


def _commands() -> type[Provider]:
    from raidtui.ui.frame.command_palette import PaletteProvider  # noqa: PLC0415  (the palette alone needs it)

    return PaletteProvider


T = TypeVar("T")
_LATER_S = 0.4  # what is not needed for the first picture waits until it is there


class RaidApp(KeyOrderApp):
    """The console on one host.

    Args:
        root: the host.
        config: the user's settings.
        theme: the theme asked for on the command line.
        demo_root: makes the demo host, for the key d where there is no array.
    """

    CSS_PATH = "raidtui.tcss"
    TITLE = "raidtui"
    BINDINGS: ClassVar[list[BindingType]] = [each for command in EVERYWHERE for each in command.bindings]
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        root: Root,
        *,
        config: Config | None = None,
        theme: str | None = None,
        driver_class: type[Driver] | None = None,
    ) -> None:
        self._settings = config or Config()
        self._found: dict[str, Theme] = {}
        self._styled_for = ""
        self._troubles: list[str] = list(self._settings.troubles)
        self._said = ""
        self.crash = ""
        """The report of the defect that ended the console, if one did."""
        # Textual picks the filter of NO_COLOR now; without this it makes the ansi theme black on black.
        super().__init__(driver_class=driver_class, ansi_color="NO_COLOR" in os.environ or None)
        self.animation_level = "none"
        self._root = root
        self.session = self._session_of(root)
        self.report: Report | None = self.session.loop.first()
        self._use_theme(choose_theme(theme or self._settings.theme))
        self.stylesheet.set_variables(self.get_css_variables())
        self._styled_for = self.theme
        self._disable_tooltips = self._disable_notifications = True  # two widgets a screen, never used
        if self._settings.keys:
            self.set_keymap(dict(self._settings.keys))

    def _session_of(self, root: Root) -> Session:
        return Session(
            root, self, on_report=self._take, on_trouble=self._say, ratings=self._settings.rated_bytes
        )

    # -- life

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the only one below the dialogs."""
        return MainScreen(self.report)

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)  # noqa: S101  (get_default_screen made it)
        return screen

    def on_mount(self) -> None:
        """Begin to watch."""
        self.session.loop.start(self.report)
        self.call_after_refresh(_settle_memory)
        for trouble in self._troubles:
            self.call_after_refresh(self._say, trouble)
        if self._root.writable:
            self.set_timer(_LATER_S, self._tell_of_jobs)

    def on_ready(self) -> None:
        """From now on a signal ends the program in good order, the terminal restored."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in a thread
                loop.add_signal_handler(number, self.exit, 128 + number)

    # -- what a session asks of its shell

    @property
    def held(self) -> bool:
        """Whether the picture is held still."""
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
        return self._root.now_s()  # the demo is another root

    def redraw_frame(self) -> None:
        """Draw the header and the footer anew."""
        self.main.redraw_frame()

    def say(self, text: str, role: str = "warn") -> None:
        """Show a sentence."""
        self.main.say(text, role)

    def note_events(self, events: Sequence[Event]) -> None:
        """Add events to the log."""
        self.main.note_events(events)

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine; nobody waits for it."""
        self.run_worker(work)

    async def ask(self, screen: Screen[T]) -> T | None:
        """Show a dialog or page, and return its answer; None where it was left."""
        return await self.push_screen_wait(screen)

    def after_drawing(self, call: Callable[[], object]) -> None:
        """Call something once the screen is drawn."""
        self.call_after_refresh(call)

    def expect_array(self, uuid: str | None) -> None:
        """Choose the array with this UUID as soon as it is there."""
        self.main.arrays.expect(uuid)

    async def on_event(self, event: events.Event) -> None:
        """Pass keys on; in a window that is too small to draw the panes, none that does something there.

        A verb must not act on an array that nobody sees.
        """
        typed = isinstance(event, events.Key | events.Paste) and len(self.screen_stack) == 1
        if typed and self._draws_no_pane and getattr(event, "key", "") not in self._keys_everywhere:
            return
        await super().on_event(event)

    @property
    def _draws_no_pane(self) -> bool:
        return self.size.width < SMALLEST[0] or self.size.height < SMALLEST[1]

    @property
    def _keys_everywhere(self) -> frozenset[str]:
        keys = (self._settings.keys.get(command.id, command.keys) for command in EVERYWHERE)
        return frozenset(("ctrl+c", *(key.strip() for each in keys for key in each.split(","))))

    # -- defects

    def _handle_exception(self, error: Exception) -> None:
        """Make the report of a defect while the screens are there, and end."""
        self.crash = self.crash or self._crash_text(error)
        super()._handle_exception(error)

    def _crash_text(self, error: BaseException) -> str:
        """Return a report; it holds no serial numbers."""
        from raidtui.ui.crash import crash_text, serials_of  # noqa: PLC0415

        disks = self.report.snapshot.disks.values() if self.report is not None else ()
        secrets = {text for disk in disks for text in (disk.serial, disk.wwn) if text}
        main = next((screen for screen in self.screen_stack if isinstance(screen, MainScreen)), None)
        view = " > ".join(type(screen).__name__ for screen in self.screen_stack)
        return crash_text(
            error,
            events=main.events if main is not None else (),
            secrets=secrets | serials_of(self._root),
            view=f"{view}, pane {main.pane}" if main is not None else view,
        )

    def _fatal_error(self) -> None:
        """End; Textual's own prints all variables, serial numbers among them."""
        self._close_messages_no_wait()

    async def _tell_of_jobs(self) -> None:
        """Say which job was interrupted: it can be gone on with, or undone; or why no job can be kept."""
        from raidtui.session import storage  # noqa: PLC0415

        if trouble := await self.session.loop.aside(storage.state_trouble):
            self._say(trouble)
        found = await self.session.loop.aside(storage.unfinished_jobs)
        if found:
            self._say(f"{found[-1].title} {found[-1].state.sentence}; J shows it")

    def _say(self, text: str) -> None:
        """Say a trouble, and keep it in the log: the next one takes its place on the screen."""
        if text != self._said:
            self._said = text
            event = Event(
                at_s=self._root.now_s(), kind=EventKind.HEALTH, subject="raidtui", text=text, tone=Tone.WARN
            )
            self.main.note_events((event,))
        self.main.say(text, logged=False)

    def _take(self, report: Report) -> None:
        self.session.wear.follow(report)
        if self.screen_stack:
            self.main.note_events(report.new_events)
        self.post_message(Sampled(report))

    def on_sampled(self, message: Sampled) -> None:
        """Own the new state; the screen draws it."""
        if not (self.screen_stack and self.main.arrays.children):
            return  # it came while the screen is taken down
        report = message.report
        if self.report is None or report.snapshot.clock_s >= self.report.snapshot.clock_s:
            self._own(report)  # else it is from before our own last write

    def _own(self, report: Report) -> None:
        self.report = report
        self.main.show_report(report)

    # -- plans

    async def on_arrays_pane_wanted(self, message: ArraysPane.Wanted) -> None:
        """Carry a plan out; ask first where it harms."""
        message.stop()
        plan = message.plan
        if plan.harm is Harm.HARMLESS:
            self.run_worker(self._execute(plan))
        else:
            self.go(self._confirm(plan))

    async def _confirm(self, plan: Plan) -> None:
        from raidtui.ui.frame.dialog import Question, plan_lines  # noqa: PLC0415

        answer = await self.push_screen_wait(Question(plan_lines(plan), (("y", "do it"),)))
        if answer == "y":
            await self._execute(plan)
        else:
            self.main.say("nothing was changed", "plain")
            self.main.arrays.settled()

    async def _execute(self, plan: Plan, *, is_undo: bool = False) -> None:
        outcome, report = await self.session.loop.execute(plan, is_undo=is_undo)
        self.session.wear.follow(report)
        self.main.note_events(report.new_events)
        self._own(report)
        role = "ok" if outcome.failed is None else "bad"
        note = f" · {trouble}" if (trouble := self.session.loop.watch.journal.trouble) else ""
        undo = " · u undoes it" if outcome.failed is None and plan.undo and not is_undo else ""
        self.main.say(f"{plan.subject}: {outcome.sentence}{undo}{note}", role, logged=False)
        if outcome.failed is not None:
            self.main.arrays.forget_asked()
        self.main.arrays.settled()

    async def on_arrays_pane_undo_wanted(self, message: ArraysPane.UndoWanted) -> None:
        """Undo the last change."""
        message.stop()
        self.run_worker(self._undo())

    async def _undo(self) -> None:
        plan = await self.session.loop.work(self.session.loop.watch.take_undo)
        if plan is None:
            self.main.say("nothing to undo")
            self.main.arrays.settled()
        else:
            self.main.arrays.forget_asked()
            await self._execute(plan, is_undo=True)

    def on_arrays_pane_repair_wanted(self, message: ArraysPane.RepairWanted) -> None:
        """Go the way from a verb to a job."""
        message.stop()
        if self.report is None:
            self.end_opening()
            return
        snapshot = self.report.snapshot
        if message.verb in {"assemble", "zero"}:
            from raidtui.ui.build.build_flow import BuildFlow  # noqa: PLC0415

            way = BuildFlow(self)
            assemble = message.verb == "assemble"
            self.go(way.assemble(snapshot, message.uuid) if assemble else way.zero(snapshot))
        elif message.array is not None:
            from raidtui.ui.arrays.repair_flow import RepairFlow  # noqa: PLC0415

            self.go(RepairFlow(self).run(message.verb, message.array, snapshot))
        else:
            self.end_opening()

    def go(self, way: Coroutine[Any, Any, object]) -> None:
        """Run a flow that opens a form; ``begin_opening`` was called. Esc before its form cancels it."""
        self.run_worker(self._go(way))

    async def _go(self, way: Coroutine[Any, Any, object]) -> None:
        self.cancel_on_escape(lambda: self.main.say("nothing was changed", "plain"))
        try:
            await way
        finally:
            self.end_opening()

    def action_build(self) -> None:
        """Open the wizard."""
        if self.report is None:
            return
        snapshot = self.report.snapshot
        refusal = needs_root(snapshot)
        if refusal is not None or snapshot.host.source:
            self.drop_held_keys()
            self.main.say(
                refusal.sentence if refusal else "the demo host is simulated: nothing is built there"
            )
            return
        from raidtui.ui.build.build_flow import BuildFlow  # noqa: PLC0415

        self.begin_opening()
        self.go(BuildFlow(self).build(snapshot))

    def action_jobs(self) -> None:
        """Show the last jobs."""
        from raidtui.ui.frame.plan_flow import PlanFlow  # noqa: PLC0415

        self.begin_opening()
        self.go(PlanFlow(self).jobs())

    # -- keys

    async def action_pane(self, name: str) -> None:
        """Bring a pane into view."""
        await self.main.open_pane(name)

    async def on_tune_pane_measure_wanted(self, message: TunePane.MeasureWanted) -> None:
        """Open pane 5 with the form for two values of a knob."""
        from raidtui.ui.bench.bench_pane import BenchPane  # noqa: PLC0415

        pane = await self.main.open_pane("bench")
        if isinstance(pane, BenchPane):
            pane.measure_knob(message.knob, message.values, message.array)

    def action_hold(self) -> None:
        """Hold the picture, or let it go on."""
        self.main.release()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The filter's key is text where text is typed."""
        del parameters
        return action != "filter" or (
            isinstance(self.screen, MainScreen) and getattr(self.focused, "id", None) != "filter"
        )

    async def action_filter(self) -> None:
        """Open the filter line, and be there before the next key is."""
        if not self.main.query("#filter"):
            from raidtui.ui.frame.text_field import FilterLine  # noqa: PLC0415

            await self.main.mount(FilterLine(id="filter"), before="#bottom")
        self.main.set_focus(self.main.query_one("#filter"))

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        """Narrow the pane in view."""
        self.main.narrow(message.text)

    def on_filter_line_closed(self) -> None:
        """Give the focus back."""
        self.main.focus_pane()

    def action_help(self) -> None:
        """Show the keys, and why some are dim."""
        from raidtui.ui.frame.help import HelpScreen  # noqa: PLC0415

        rows: list[tuple[str, str, str, str]] = []
        for command, label, _ in self.main.in_view.foot():
            why = self.main.in_view.why_not(command.id)
            rows.append((command.shown_key(self._settings.keys), label, command.help, why))
        rows += [
            (each.shown_key(self._settings.keys), each.label, each.help, "")
            for each in EVERYWHERE
            if each is not HELP
        ]
        self.push_screen(HelpScreen(rows))

    async def action_demo(self) -> None:
        """Open the demo host; only where there is no array that it would hide."""
        snapshot = self.report.snapshot if self.report is not None else None
        if snapshot is not None and (snapshot.arrays or snapshot.absent):
            self.main.say("the demo opens only where there is no array: raidtui --demo")
            return
        from raidtui.demo.demo_host import demo_root  # noqa: PLC0415

        await self.session.loop.stop()
        self._root = demo_root()
        self.session = self._session_of(self._root)
        self.report = None
        self.session.loop.start()
        self.main.say("a simulated host: nothing here is real", "accent")

    def action_leave(self) -> None:
        """Leave; offer to put back what this session changed for now."""
        self.begin_opening()
        self.go(self._leave())

    async def _leave(self) -> None:
        from raidtui.ui.leaving import may_leave  # noqa: PLC0415

        if await may_leave(self):
            await self.session.loop.stop()
            self.exit(0)

    # -- themes and palette

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002
        """Style everything anew, but for the first theme: nothing has been styled before it was chosen."""
        first, self._styled_for = self._styled_for == self.theme, ""
        if not first:
            super().refresh_css(animate=animate)

    def _use_theme(self, name: str) -> None:
        quick = shipped_theme(name)
        if quick is not None:
            self._found[name] = quick
            self.register_theme(quick)
        else:
            self._load_all_themes()
        chosen, trouble = pick(self._found, name)
        if trouble:
            self._troubles.append(trouble)
        self.theme = chosen

    def _load_all_themes(self) -> None:
        found, troubles = load_themes()
        for name, theme in found.items():
            self._found.setdefault(name, theme)
            self.register_theme(theme)
        self._troubles += [each for each in troubles if each not in self._troubles]

    def action_command_palette(self) -> None:
        """Open the palette; themes are read when they are first offered."""
        from raidtui.ui.frame.command_palette import Palette  # noqa: PLC0415

        self._load_all_themes()
        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette(id="--command-palette"))

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Everything that can be done, and what the command line alone does."""
        from raidtui.ui.frame.command_palette import PaletteEntry  # noqa: PLC0415

        keys = self._settings.keys
        for command, label, possible in self.main.in_view.foot():
            yield PaletteEntry(
                title=f"{label} ({command.shown_key(keys)})",
                help=command.help,
                words=command.words,
                possible=possible,
                run=partial(self._run_in_pane, command.action),
            )
        has_arrays = self.report is not None and bool(self.report.snapshot.arrays)
        for command in EVERYWHERE:
            if command.action != "command_palette":
                yield PaletteEntry(
                    title=f"{command.label} ({command.shown_key(keys)})",
                    help=command.help,
                    words=command.words,
                    possible=command is not DEMO or not has_arrays,
                    run=partial(self.call_later, self.run_action, command.action),
                )
        for order in CLI_COMMANDS:
            yield PaletteEntry(
                title=f"{order.title}: raidtui {order.order}",
                help=f"On the command line: {order.help}",
                words=order.words,
                run=partial(self.main.say, f"on the command line: raidtui {order.order}", "plain"),
            )
        for name in sorted(self._found):
            yield PaletteEntry(
                title=f"Theme: {name}",
                help=f"Use the theme {name}",
                words="colours colors",
                run=partial(self._set_theme, name),
            )

    def _run_in_pane(self, action: str) -> None:
        if self._draws_no_pane:
            return  # the screen says how large the window has to be
        self.call_later(self.run_action, action, self.main.in_view)

    def _set_theme(self, name: str) -> None:
        self.theme = name


def _settle_memory() -> None:
    """All that was imported stays: keep the collector from looking at it, then let it work again."""
    gc.freeze()
    gc.enable()
