"""Many hosts on one screen: the table fills as the answers come, worst first; Enter opens a host."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from raidtui.config import read_config
from raidtui.features.fleet.answers import FleetRow, exit_status, worst_first
from raidtui.features.fleet.asking import AskSettings, ask_all
from raidtui.features.fleet.bring import find_file
from raidtui.features.fleet.fleet_lines import counts_words, detail_lines, host_line, name_width, waiting_line
from raidtui.features.fleet.hosts import FleetError, FleetHost
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.pages import rule
from raidtui.frame.themes import Themes
from raidtui.host.readers.host_reader import READONLY
from raidtui.jobs.user_process import on_terminal
from raidtui.view.line import Line
from raidtui.view.palette import choose_theme
from raidtui.view.text import cell_width, fit, visible

EVERY_S = 60.0
"""How long after all have answered they are asked again."""
_DRAW_S = 0.1
_OPEN = "open"
_KEYS = (("↑↓", "choose"), ("Enter", _OPEN), ("r", "ask again"), ("q", "quit"))
_DETAIL = 6


class FleetApp(App[int]):
    """The fleet.

    Args:
        hosts: which.
        settings: how they are asked.
        theme: a theme's name, or None for the configured or fitting one.
        file: the one file that is brought to a host which is opened; "": that beside the installation.
        opens: whether a host may be opened: not with ``--readonly``.
    """

    CSS = """
    Screen { background: $r-background; color: $r-foreground; }
    #fleet { padding: 0 1; }
    #fleet-rows { height: 1fr; }
    #fleet-detail { height: auto; max-height: 9; }
    """
    TITLE = "raidtui fleet"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("home", "move(-100000)", show=False),
        Binding("end", "move(100000)", show=False),
        Binding("enter", "open", show=False),
        Binding("r", "ask", show=False),
        Binding("q,escape", "leave", show=False),
    ]

    def __init__(
        self,
        hosts: Sequence[FleetHost],
        settings: AskSettings,
        *,
        theme: str | None = None,
        file: str = "",
        opens: bool = True,
    ) -> None:
        super().__init__(ansi_color="NO_COLOR" in os.environ or None)
        self.animation_level = "none"
        self._hosts = tuple(hosts)
        self._settings = settings
        self._file, self._opens = file, opens
        self.found: dict[str, FleetRow] = {}
        """What is known of each host, by name; what it answered last while it is asked again."""
        self._answered: set[str] = set()
        self._chosen = ""
        self._round: Worker[None] | None = None
        self._next: Timer | None = None
        self._drawing = False
        self._head = Lines()
        self.rows = ScrollLines(id="fleet-rows")
        self.rows.can_focus = False
        self.detail = Lines(id="fleet-detail")
        self._foot = Lines()
        themes = Themes(self)
        self.theme = themes.choose(choose_theme(theme or read_config().theme))

    def compose(self) -> ComposeResult:
        """Head, rows, what is wrong on the chosen host, keys."""
        with Vertical(id="fleet"):
            yield self._head
            yield self.rows
            yield self.detail
            yield self._foot

    def on_mount(self) -> None:
        """Ask."""
        self.draw()
        self.action_ask()

    def on_resize(self) -> None:
        """Draw in the new size."""
        self.draw()

    @property
    def _asking(self) -> bool:
        return self._round is not None and not self._round.is_finished

    def action_ask(self) -> None:
        """Ask all hosts, unless they are being asked."""
        if not self._asking:
            if self._next is not None:
                self._next.stop()
            self._answered.clear()
            self._round = self.run_worker(self._ask())
            self.draw()

    async def _ask(self) -> None:
        await ask_all(self._hosts, self._settings, self._take)
        self._next = self.set_timer(EVERY_S, self.action_ask)
        self.call_later(self.draw)

    def _take(self, row: FleetRow) -> None:
        self.found[row.host.name] = row
        self._answered.add(row.host.name)
        if not self._drawing:  # many answers come within one picture
            self._drawing = True
            self.set_timer(_DRAW_S, self._drawn)

    def _drawn(self) -> None:
        self._drawing = False
        self.draw()

    @property
    def names(self) -> list[str]:
        """The hosts in the order of the screen: worst first, then those that have not answered yet."""
        known = [row.host.name for row in worst_first(self.found.values())]
        return [*known, *(host.name for host in self._hosts if host.name not in self.found)]

    @property
    def chosen(self) -> str:
        """The chosen host."""
        names = self.names
        return self._chosen if self._chosen in names else names[0]

    def draw(self) -> None:
        """Draw everything."""
        if not self.is_running or not self.size.width:
            return
        width, names = self.size.width - 2, self.names
        column = name_width(names)
        self._head.show([self._title(width), rule(width)])
        lines = [
            host_line(self.found[name], width - 1, column)
            if name in self.found
            else waiting_line(name, column)
            for name in names
        ]
        place = names.index(self.chosen)
        self.rows.show(lines, selected=place)
        self.rows.keep_in_view(place)
        self.detail.show([rule(width), *self._details(width)])
        keys: Line = []
        for key, words in _KEYS:
            dim = words == _OPEN and not self._opens
            keys += [(f"{key} ", "dim" if dim else "key"), (f"{words}   ", "dim" if dim else "plain")]
        keys += [] if self._opens else [(READONLY, "dim")]
        self._foot.show([rule(width), keys])

    def _title(self, width: int) -> Line:
        going = len(self._hosts) - len(self._answered) if self._asking else 0
        last_s = max((row.at_s for row in self.found.values()), default=0.0)
        stamp = time.strftime("%H:%M:%S", time.localtime(last_s)) if last_s else ""
        right = f"{going} being asked" if going else stamp
        left = counts_words(list(self.found.values()), of=len(self._hosts))
        return [(fit(left, width - cell_width(right) - 2), "strong"), (f"  {right}", "dim")]

    def _details(self, width: int) -> list[Line]:
        row = self.found.get(self.chosen)
        if row is None:
            return [[(visible(self.chosen), "strong"), (" is being asked", "plain")]]
        return detail_lines(row, width)[:_DETAIL]

    def action_move(self, by: int) -> None:
        """Choose another host."""
        names = self.names
        place = min(max(names.index(self.chosen) + by, 0), len(names) - 1)
        self._chosen = names[place]
        self.draw()

    async def action_open(self) -> None:
        """Open the chosen host by ``raidtui ssh``, on this terminal; ask all again afterwards.

        Nothing is asked meanwhile: the answers would come to a screen that is not there.
        """
        if not self._opens:
            return
        host = next(each for each in self._hosts if each.name == self.chosen)
        await self._ask_no_more()
        self._run_on_the_terminal(self.open_argv(host))
        self._chosen = host.name
        self.refresh()
        self.action_ask()

    async def _ask_no_more(self) -> None:
        """End what is being asked, and wait until its processes have ended."""
        if self._round is not None and self._asking:
            self._round.cancel()
            with suppress(WorkerFailed, WorkerCancelled):
                await self._round.wait()

    def _run_on_the_terminal(self, argv: tuple[str, ...]) -> None:
        """Give the terminal away until a command has ended; all of the screen stands still meanwhile."""
        with self.suspend():
            status = on_terminal(argv)
            if status:
                sys.stderr.write(f"\nraidtui ssh ended with {status}. Enter goes back to the fleet.\n")
                with suppress(EOFError, KeyboardInterrupt):
                    input()

    def open_argv(self, host: FleetHost) -> tuple[str, ...]:
        """Return the command that opens a host: by the one file, or without one what is installed there."""
        what: tuple[str, ...] = ("--installed",)
        with suppress(FleetError):
            what = ("--file", find_file(self._file).path)
        key = ("-i", host.key) if host.key else ()
        config = ("-F", self._settings.config) if self._settings.config else ()
        user = (f"{host.user}@" if host.user else "") + host.destination
        port = f":{host.port}" if host.port else ""
        destination = f"ssh://{user}{port}" if port else user
        return (sys.executable, "-m", "raidtui", "ssh", *config, *key, *what, destination)

    async def action_leave(self) -> None:
        """End with what the fleet's state is."""
        await self._ask_no_more()
        self.exit(exit_status(self.found.values()))
