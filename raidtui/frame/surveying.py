"""Reads what a form needs of the host while the form is shown, in other threads than monitoring."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import TypeVar

from textual.screen import Screen

from raidtui.frame.pages import FrameScreen
from raidtui.frame.screen_shell import ScreenShell
from raidtui.host.reading import ReadingProgress, ReadingScope
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.watch import storage
from raidtui.watch.host_thread import call_soon
from raidtui.watch.session import Session

T = TypeVar("T")
Show = Callable[[Survey, ReadingProgress], None]

_PACE_S = 0.25
"""The longest pause between two looks: a device that hangs sends no news."""
_DRAW_S = 0.4
"""The shortest pause between two drawings, but for the last: drawing takes time from reading."""
_AT_ONCE_S = 0.08
"""What is read within this time is not announced by a dialog."""


class Surveying:
    """One reading of the host, for one flow.

    Args:
        shell: the app.
        session: of the host.
        scope: what to read.
    """

    def __init__(self, shell: ScreenShell, session: Session, snapshot: Snapshot, scope: ReadingScope) -> None:
        self._shell = shell
        self._session = session
        self.snapshot = snapshot
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._steps: asyncio.Future[None] | None = None
        self._reading = storage.reading_of(session.reader, snapshot, scope, notify=self._notify)
        self._started = False

    def _start(self) -> None:
        if not self._started:
            self._started = True
            self._reading.start()
            self._step()
            self._news.set()

    def _notify(self) -> None:
        call_soon(self._loop, self._news.set)

    def _step(self) -> None:
        """Read a host that only one thread may read in that thread, one device after the other."""
        if self._reading.serial and (self._steps is None or self._steps.done()):
            self._steps = asyncio.ensure_future(self._all_steps())

    async def _all_steps(self) -> None:
        work = self._session.loop.on_host_thread
        while await work(self._reading.step) or self._reading.open:  # what was put in after the last step
            self._news.set()
        self._news.set()

    def survey(self) -> Survey:
        """Return the survey so far."""
        return self._reading.survey()

    def draw_again(self) -> None:
        """Show what has been read once more: something else is known now."""
        self._news.set()

    def close(self) -> None:
        """End the reading."""
        self._reading.cancel()

    def again(self, names: Collection[str] = ()) -> None:
        """Read these devices again, and what uses the arrays."""
        report = self._shell.report
        if report is not None:
            self._reading.again(report.snapshot, names)
            self._step()
            self._news.set()

    async def fresh(self, title: str, names: Collection[str] = ()) -> Survey | None:
        """Read these devices again and return the survey; None where Esc was pressed.

        Args:
            title: of the dialog that waits.
            names: kernel names.
        """
        self.again(names)
        return await self.read(title, names)

    async def read(self, title: str, names: Collection[str] | None = None) -> Survey | None:
        """Wait for these devices, or for all, and return the survey; None where Esc was pressed."""
        self._start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_AT_ONCE_S):
                await self._enough(names)
        if not self._reading.enough(names):
            waiting = Waiting(title)
            ended = asyncio.ensure_future(self._close_when_enough(waiting, names))
            try:
                if await self.shown(waiting, lambda _, progress: waiting.progressed(progress.words)) is None:
                    return None
            finally:
                ended.cancel()
        return self._reading.survey()

    async def _close_when_enough(self, waiting: Waiting, names: Collection[str] | None) -> None:
        await self._enough(names)
        if waiting.is_current:
            waiting.dismiss(True)

    async def _enough(self, names: Collection[str] | None) -> None:
        while not self._reading.enough(names):
            self._news.clear()
            await self._next()

    async def _next(self) -> None:
        """Wait for news, at most ``_PACE_S``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PACE_S):
                await self._news.wait()

    async def shown(self, screen: Screen[T], show: Show) -> T | None:
        """Ask with a screen, show it what is read meanwhile, and return its result."""
        follows = asyncio.ensure_future(self._follow(show))
        self._shell.after_drawing(self._start)  # not before: what is read takes the form's time
        try:
            return await self._shell.ask(screen)
        finally:
            follows.cancel()

    async def _follow(self, show: Show) -> None:
        """Show what has been read, each time there is news."""
        while True:
            self._news.clear()
            progress = self._reading.progress
            show(self._reading.survey(), progress)
            if progress.enough and not self._reading.open:
                await self._news.wait()
            else:
                await self._next()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_DRAW_S):
                        await self._enough(None)


@contextlib.contextmanager
def surveying(shell: ScreenShell, snapshot: Snapshot, scope: ReadingScope) -> Iterator[Surveying]:
    """Return a reading of the host in view; it ends with the block."""
    found = Surveying(shell, shell.session, snapshot, scope)
    try:
        yield found
    finally:
        found.close()


async def awaited(shell: ScreenShell, title: str, words: str, work: Awaitable[T]) -> T | None:
    """Wait for what is read of the host; None where Esc was pressed.

    Args:
        shell: the app.
        title: of the dialog that is shown where it takes longer than a moment.
        words: the progress of reading.
        work: the reading; where Esc was pressed its result is thrown away.

    Raises:
        Exception: what ``work`` raises.
    """
    reading = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({reading}, timeout=_AT_ONCE_S)
    if not done:
        waiting = Waiting(title, words)

        def close(_: object) -> None:
            if waiting.is_current:
                waiting.dismiss(True)

        reading.add_done_callback(close)
        try:
            await shell.ask(waiting)
        finally:
            reading.remove_done_callback(close)
            if not reading.done():
                reading.cancel()
    return None if reading.cancelled() or not reading.done() else reading.result()


class Waiting(FrameScreen[bool]):
    """Shown while something is read, and closed when it is; gives None where Esc was pressed."""

    def __init__(self, title: str, words: str = "") -> None:
        super().__init__(title)
        self._words = words
        self._drawn = False

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.progressed(self._words)
        self._body.focus()

    def progressed(self, words: str) -> None:
        """Show how far the reading is."""
        self._words = words
        if self._drawn:
            self.show_body([[(f" {words or 'reading …'}", "dim")]])
            self.show_foot(("Esc", "stop waiting; nothing is changed"))
