"""Pane 3: how much life the disks have left, and what cost it."""

from __future__ import annotations

import time
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from raidtui.features.wear.screen.self_test_flow import SelfTestFlow
from raidtui.features.wear.screen.wear_detail import body_lines, history_lines
from raidtui.features.wear.screen.wear_lines import (
    disk_line,
    head_line,
    name_cells,
    read_words,
    running_self_test,
)
from raidtui.features.wear.session import WearSession
from raidtui.first_frame import SMALLEST
from raidtui.frame.command import Command
from raidtui.frame.lines import Lines
from raidtui.frame.list_pane import ListPane
from raidtui.frame.pane import ReadingPane
from raidtui.frame.screen_shell import later
from raidtui.host.readers.host_reader import READONLY
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.readings import DiskHistory, WearLook
from raidtui.view.line import Line
from raidtui.watch.watch import Report

TESTED_EVERY_S = 10.0
"""How often disks that run a self-test are read."""


MARK = Command(
    id="wear.mark", keys="m", action="mark", label="Mark now",
    help="Mark this moment in the history: d shows what is written from now on.",
    refuse=lambda pane: pane.refuse_writing(),
)  # fmt: skip
SINCE = Command(
    id="wear.since", keys="d", action="since", label="Since mark",
    help="Show what was written since the last mark, instead of over the disks' whole lives.",
    refuse=lambda pane: "" if pane.is_marked else "no mark yet: m marks this moment",
    now=lambda pane: "Whole life" if pane.since else "Since mark",
)  # fmt: skip
READ = Command(
    id="wear.read", keys="r", action="read", label="Read again", words="smart refresh",
    help="Read the disks now; they are read every ten minutes. A sleeping disk is not woken.",
)  # fmt: skip
HISTORY = Command(
    id="wear.history", keys="h", action="history", label="History", words="tbw written smart",
    help="Show what was written to the chosen disk day by day, and what syncs and jobs wrote.",
    refuse=lambda pane: "the history is shown below the disks" if pane.room.beside else "",
    now=lambda pane: "All disks" if pane.opened else "History",
)  # fmt: skip
SELF_TEST = Command(
    id="wear.self_test", keys="t", action="self_test", label="Self-test",
    words="smart smartctl short long extended conveyance abort",
    help="Start a self-test on the chosen disk, or abort the one that runs. The plan is shown first.",
    refuse=lambda pane: pane.refuse_writing(),
)  # fmt: skip
WEAR = (MARK, SINCE, SELF_TEST, READ, HISTORY)


class WearPane(ListPane[DiskWear], ReadingPane[WearSession, WearLook]):
    """See the module.

    Args:
        report: the last report; None before the first.
    """

    ID, STEM, NAME, OTHERWISE = "wear-pane", "wear", "disks", None
    LIST_CELLS = 120
    COMMANDS = WEAR
    BINDINGS: ClassVar[list[BindingType]] = [each for command in WEAR for each in command.bindings]

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.head = Lines(id="wear-head", lines=[[]])
        self.since = False
        self.history: DiskHistory | None = None
        self.opened = False
        """Whether the history is shown instead of all disks; beside the details it is shown anyway."""
        self._follows: Timer | None = None

    def above(self) -> tuple[Lines, ...]:
        """The names of the columns."""
        return (self.head,)

    @property
    def device(self) -> str:
        """The chosen disk."""
        return str(self.chosen or "")

    def on_mount(self) -> None:
        """Follow self-tests, too; Textual calls the base's, which draws, afterwards."""
        self._follows = self.set_interval(TESTED_EVERY_S, self._follow_self_tests, pause=True)

    # -- reading

    def source(self) -> WearSession:
        """What reads the disks of the host in view."""
        return self.shell.session.of(WearSession)

    def action_read(self) -> None:
        """Read the disks again."""
        later(self, partial(self._read, None))

    def action_mark(self) -> None:
        """Mark this moment."""
        if not self.refuses(MARK):
            later(self, partial(self._read, ""))

    async def _read(self, mark: str | None) -> None:
        if (report := self.report) is None:
            return
        look = await self.take(lambda wearing: wearing.look(report.snapshot, mark))
        if look is None:
            return
        if self.chosen not in [disk.name for disk in look.disks]:
            self.chosen = next((disk.name for disk in look.disks), None)
        if mark is not None:
            self._marked(look)
        self.redraw()
        await self._follow_choice()

    def _follow_self_tests(self) -> None:
        """Read the disks that run a self-test, while the pane is in view; those of another host are not."""
        if self.display and self._tested() and self.is_of_this_host:
            later(self, partial(self._read_again, self._tested()))

    def _tested(self) -> tuple[str, ...]:
        disks = self.look.disks if self.look is not None else ()
        return tuple(disk.name for disk in disks if running_self_test(disk) is not None)

    async def _read_again(self, names: tuple[str, ...]) -> None:
        wearing, report, before = self.source(), self.report, self.look
        if report is None or before is None or self.is_reading:
            return
        look = await wearing.look_again(before, report.snapshot, names)
        if self.look is before:  # else all were read meanwhile, or another host is in view
            self.look = look
            self.redraw()

    def action_self_test(self) -> None:
        """Start a self-test on the chosen disk, or abort the one that runs."""
        if not self.refuses(SELF_TEST) and self.chosen is not None and self.report is not None:
            self.shell.open_flow(partial(self._self_test, self.device))

    async def _self_test(self, name: str) -> None:
        if self.report is None:
            return
        await SelfTestFlow(self.shell).run(name, self.report.snapshot)
        later(self, partial(self._read_again, (name,)))  # after the flow, which holds keys for its forms

    def _marked(self, look: WearLook) -> None:
        read = any(disk.entry is not None for disk in look.disks)
        if look.trouble:
            self.say(look.trouble, "bad")
        elif not read:
            self.say("no disk could be read: there is nothing to mark", "warn")
        else:
            at = time.strftime("%H:%M", time.localtime(look.at_s))
            self.say(f"marked at {at}: d shows what is written from now on", "ok")

    def action_since(self) -> None:
        """Show what was written since the mark, or ever."""
        if not self.refuses(SINCE):
            self.since = not self.since
            self.opened = False
            self.redraw()

    def action_history(self) -> None:
        """Show the chosen disk's history, or everything again."""
        if self.refuses(HISTORY):
            return
        if self.opened:
            self.opened = False
            self.redraw()
        elif self.chosen is not None:
            later(self, partial(self._read_history, opens=True))

    async def _follow_choice(self) -> None:
        """Read the history of the disk that is chosen now, where one is shown."""
        if self.opened or (self.room.beside and self.chosen is not None):
            await self._read_history()

    async def _read_history(self, *, opens: bool = False) -> None:
        """Read the chosen disk's history; one that was left meanwhile stays left, unless this opens it."""
        wearing, name = self.source(), self.device
        disk = None if self.look is None else self.look.disk(name)
        identity = self._identity(disk)
        if not identity:
            if opens or self.opened:
                self.say(f"{name} reports no serial number: it has no history", "warn")
            return
        found = await wearing.history(identity)
        if isinstance(found, str):
            self.say(found, "bad")
        elif name == self.device and (opens or self.opened or self.room.beside):
            self.history, self.opened = found, opens or self.opened
            self.redraw()

    def _identity(self, disk: DiskWear | None) -> str:
        if disk is None:
            return ""
        if disk.entry is not None:
            return disk.entry.disk
        known = None if self.look is None else self.look.known.get(disk.name)
        return known.identity if known is not None else ""

    # -- showing

    def choose(self, key: str) -> None:
        """Choose a disk, or the first one where it is not among them."""
        self.chosen, self.opened, self.wanted_text = key, False, ""
        self.redraw()
        later(self, self._follow_choice, alone_in="history")

    def show_report(self, report: Report) -> None:
        """Take a report: other arrays are drawn anew, other figures are none of this pane's."""
        before, self.report = self.report, report
        if before is None or _shape(before) != _shape(report):
            self.redraw()

    def move(self, delta: int) -> None:
        """Choose the disk ``delta`` rows further down."""
        super().move(delta)
        if self.opened or self.room.beside:
            later(self, self._follow_choice, alone_in="history")

    def redraw(self) -> None:
        """Draw everything."""
        room = self.room
        width = room.list_cells
        if self.report is None or width < SMALLEST[0]:
            return
        look = self.look
        held = look or WearLook(at_s=0.0)
        cells = name_cells(held, width)
        self.head.show([head_line(cells, width, since=self.since)])
        lines = [disk_line(disk, held, cells, width, since=self.since) for disk in self.listed()]
        self.show_rows(room, lines, [(f" {self._nothing()}", "plain")])
        words = read_words(look, since=self.since, busy=self.is_reading)
        self.show_titles(room, "findings and writes", words)
        self.show_body(room, self._body(room.detail_cells), f"{self.device}: written by day", self._further)
        if self._follows is not None:
            (self._follows.resume if self._tested() else self._follows.pause)()
        self.redraw_frame()

    def _body(self, width: int) -> list[Line]:
        if self.look is None or self.report is None:
            return []
        if self.opened and self.history is not None and not self.room.beside:
            return history_lines(self.history, self.look.disk(self.device), width)
        return body_lines(
            self.look, self.report.snapshot, width, since=self.since, chosen=self.device or None
        )

    def _further(self, cells: int, rows: int) -> list[Line]:
        """Return the chosen disk's history, where it has been read."""
        known, look = self.history, self.look
        if known is None or look is None or known.disk != self._identity(look.disk(self.device)):
            return []
        return history_lines(known, look.disk(self.device), cells)[:rows]

    def _nothing(self) -> str:
        if self.wanted_text:
            return "No disk matches. Esc shows all."
        return "Reading." if self.look is None else "No disk on this host can have SMART data."

    def key_of(self, row: DiskWear) -> str:
        """See ``ListPane``."""
        return row.name

    def listed(self) -> list[DiskWear]:
        """See ``ListPane``."""
        if self.look is None:
            return []
        wanted, look = self.wanted_text.lower(), self.look
        return [disk for disk in look.disks if not wanted or wanted in _words(disk, look)]

    @property
    def is_marked(self) -> bool:
        """Whether a moment was marked."""
        return self.look is not None and self.look.mark is not None

    def refuse_writing(self) -> str:
        """Return why nothing may be written; "" where it may."""
        return READONLY if self.report is not None and self.report.snapshot.host.readonly else ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be used now); two are of the chosen disk."""
        of_disk = {HISTORY, SELF_TEST} if self.chosen is None else set()
        return [(each, label, can and each not in of_disk) for each, label, can in super().foot()]


def _shape(report: Report) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (array.key, array.title, tuple(member.name for member in array.members))
        for array in report.snapshot.arrays
    ]


def _words(disk: DiskWear, look: WearLook) -> str:
    udev, reading = look.known.get(disk.name), disk.reading
    words = [disk.name, *(each.sentence for each in disk.findings)]
    words += [(reading and reading.model) or (udev and udev.model) or ""]
    words += [(reading and reading.serial) or (udev and udev.serial) or ""]
    return " ".join(words).lower()
