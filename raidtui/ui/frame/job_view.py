"""A job, live: its steps as the journal has them. The job continues when the view is closed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from raidtui.jobs.states import SETTLED, UNDER_WAY, JobState, entry_text
from raidtui.session.storage import JobNews
from raidtui.ui.frame.pages import FrameScreen, wrapped
from raidtui.view.line import Line
from raidtui.view.text import visible

_PACE_S = 0.2
_BEGIN_S = 20.0
_ROLES = {"step done": "ok", "step failed": "bad", "undo failed": "bad", "begin": "accent", "done": "ok"}

Ask = Callable[[str, int], Awaitable[JobNews]]
"""Returns the entries of a job's journal after the first so many, and its state."""


class JobView(FrameScreen[str]):
    """Gives ``resume``, ``rollback``, ``cancel``, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "command('cancel')", show=False),
        Binding("r", "command('resume')", show=False),
        Binding("b", "command('rollback')", show=False),
    ]

    def __init__(self, job_id: str, title: str, ask: Ask) -> None:
        super().__init__(visible(f"{title}"))
        self.job_id = job_id
        self._ask = ask
        self._seen = 0
        self._waits = 0
        self._lines: list[Line] = []
        self.state = JobState.RUNNING

    def on_mount(self) -> None:
        """Follow the journal from now on."""
        self._body.focus()
        self._draw()
        self.set_interval(_PACE_S, self._look)

    async def _look(self) -> None:
        if self.state not in UNDER_WAY:
            return
        news = await self._ask(self.job_id, self._seen)
        self._seen += len(news.entries)
        for entry in news.entries:
            self._take(entry)
        self._waits = 0 if news.entries else self._waits + 1
        before, self.state = self.state, news.state
        if self.state is JobState.RUNNING and self._is_lost:
            self.state = JobState.INTERRUPTED
        if news.entries or self.state != before:
            self._draw()

    @property
    def _is_lost(self) -> bool:
        """Whether the worker never started, or was killed before its first entry."""
        return not self._lines and self._waits > _BEGIN_S / _PACE_S

    def _take(self, entry: Mapping[str, Any]) -> None:
        role = _ROLES.get(str(entry.get("event")), "plain")
        for text in entry_text(entry).split("\n"):
            if text:
                self._lines += wrapped(visible(text), self.inner_width, role, indent=7)

    def _draw(self) -> None:
        self.show_body(self._lines or [[("starting the worker …", "dim")]])
        self._body.scroll_end(animate=False)
        if self.state is JobState.RUNNING:
            self.show_foot(("x", "cancel after this step"), ("Esc", "leave; the job continues"))
        elif self.state is JobState.GOES_ON:
            self.show_foot(("b", "roll back"), ("Esc", "leave; it continues"))
        elif self.state in SETTLED:
            self.show_foot(("Esc", "back"))
        else:
            words = f"{self.state}: nothing is lost; the journal records what was under way"
            self.show_foot(("r", "resume"), ("b", "roll back"), ("Esc", "back"), note=words)

    def action_command(self, command: str) -> None:
        """Close with what is to be done with the job, where that is possible in its state."""
        running = self.state is JobState.RUNNING
        if self.state is JobState.GOES_ON and command != "rollback":
            return
        if (command == "cancel") == running and self.state not in SETTLED:
            self.dismiss(command)
