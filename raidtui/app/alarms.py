"""Alarms: new trouble is heard, is in the terminal's title, and is told on whatever screen is in view."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from textual.app import App
from textual.screen import Screen

from raidtui.frame.driver import QuietDriver
from raidtui.frame.lines import Lines
from raidtui.frame.textual_private import driver_of
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.finding import Event, EventKind, Health, Tone
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import fit_words, visible
from raidtui.watch.watch import Report

_READ_S = 1.5
"""How long the line of an alarm stays at least: a key that is pressed then was meant for the page."""


class AlarmLine(Lines):
    """The line above a page or dialog."""

    DEFAULT_CSS = "AlarmLine { layer: alarm; dock: top; height: 1; background: $r-selected; }"


class Alarms:
    """What became worse, until a person has seen it.

    Args:
        app: the console.
        rings: whether the bell is rung.
        notifies: whether the terminal is asked for a desktop notification.
    """

    def __init__(self, app: App[Any], *, rings: bool, notifies: bool = False) -> None:
        self._app = app
        self._rings, self._notifies = rings, notifies
        self._untold: list[Event] = []
        self._line: AlarmLine | None = None
        self._shown_s = 0.0
        self._title = ""

    def take(self, events: Sequence[Event], screen: Screen[Any], *, told: bool) -> None:
        """Take what a report brings.

        Args:
            events: that are new.
            screen: the one in view.
            told: whether it shows the arrays as they are now.
        """
        worse = [each for each in events if each.tone is Tone.BAD and each.kind is EventKind.HEALTH]
        if worse and (driver := self._driver) is not None:
            if self._rings:
                driver.ring()
            if self._notifies:
                driver.notify(visible(f"{worse[-1].subject} {worse[-1].text}"))
        if worse and not told:
            self._untold += worse
            self._show(screen)

    def _show(self, screen: Screen[Any]) -> None:
        """Lay the line over the first one of a page; the main screen's header has the counts."""
        self._hide()
        if len(self._app.screen_stack) > 1:
            self._line, self._shown_s = AlarmLine(lines=[self._words(self._app.size.width)]), time.monotonic()
            screen.mount(self._line)

    def _words(self, width: int) -> Line:
        last = self._untold[-1]
        more = f" (and {len(self._untold) - 1} more)" if len(self._untold) > 1 else ""
        text = visible(f"{last.subject} {last.text}")
        return [
            (f" {GLYPHS['bad']} ", "bad"),
            (fit_words(text, width - 3 - len(more)).rstrip() + more, "bad"),
        ]

    def _hide(self) -> None:
        line, self._line = self._line, None
        if line is not None and line.is_attached:
            line.remove()

    def note_key(self) -> None:
        """Take the line away: a key was pressed, and it was there for a while."""
        if self._line is not None and time.monotonic() - self._shown_s >= _READ_S:
            self._hide()

    def tell(self) -> str:
        """Return what became worse since arrays were last in view, as a sentence, once; "" for nothing."""
        self._hide()
        untold, self._untold = self._untold, []
        words = [f"{each.subject} {each.text}" for each in untold]
        return f"meanwhile: {'; '.join(dict.fromkeys(words))}" if words else ""

    # -- the terminal's title

    @property
    def _driver(self) -> QuietDriver | None:
        driver = driver_of(self._app)
        return driver if isinstance(driver, QuietDriver) else None

    def show_title(self, report: Report) -> None:
        """Name the host and what is wrong in the terminal's title; the title from before where nothing is.

        Arrays that cannot be read now are not called well.
        """
        arrays: list[Array | AbsentArray] = [*report.snapshot.absent, *report.snapshot.arrays]
        healths = ((array.title, report.healths[array.key]) for array in arrays)
        bad = [f"{title} {health.word}" for title, health in healths if health >= Health.DEGRADED]
        host = f"{report.snapshot.host.name}: " if report.snapshot.host.name else ""
        title = ""
        if report.snapshot.stale is not None:  # what was read before says nothing of now
            title = f"{GLYPHS['unknown']} {host}the arrays cannot be read"
        elif bad:
            title = f"{GLYPHS['bad']} {host}{bad[0]}{f' and {len(bad) - 1} more' if len(bad) > 1 else ''}"
        title = visible(title)
        if title != self._title and (driver := self._driver) is not None:
            self._title = title
            driver.set_title(title)
