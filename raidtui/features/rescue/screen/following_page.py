"""A page that follows a long reading, and draws itself again as that advances."""

from __future__ import annotations

from typing import Generic, TypeVar

from raidtui.frame.pages import PageScreen
from raidtui.watch.reading_thread import ReadingThread

_PACE_S = 0.25
Given = TypeVar("Given")
Run = TypeVar("Run", bound=ReadingThread)  # type: ignore[type-arg]  # of any result


class FollowingPage(PageScreen[Given], Generic[Given, Run]):
    """A page that follows a reading; who leaves it ends the reading, or leaves it to its job.

    Args:
        run: the reading.
        label: what is read, as it is called.
    """

    def __init__(self, run: Run, label: str) -> None:
        super().__init__("")
        self._run = run
        self._label = label
        self._seen: object = None

    def on_mount(self) -> None:
        """Draw, and follow the reading."""
        self.draw()
        self._body.focus()
        if not self._run.over:
            self.set_interval(_PACE_S, self._look)

    def _look(self) -> None:
        now = (self._run.progress, self._run.over)
        if now != self._seen:
            self._seen = now
            self.draw()

    def draw(self) -> None:
        """Draw everything."""
        raise NotImplementedError

    def action_back(self) -> None:
        """End the reading, and leave."""
        self._run.cancel()
        self.dismiss(None)
