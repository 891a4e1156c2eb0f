"""Members compared: how far it is, then which sectors do not match, who disagrees, and what lies there."""

from __future__ import annotations

import textwrap
import time
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.features.rescue.mismatch.mismatch_words import mismatch_lines
from raidtui.features.rescue.screen.following_page import FollowingPage
from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.session_mismatches import (
    MismatchRun,
    comparison_of,
    known_comparison,
    new_comparison,
)
from raidtui.frame.pages import stamp
from raidtui.frame.screen_shell import ScreenShell
from raidtui.jobs.lock import JobError
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.units import amount, duration, joined

_BAR = 40
_WIDEST = 110


class MismatchScreen(FollowingPage[bool, MismatchRun]):
    """Gives whether to compare anew. The comparison is a job: it continues when this page is left.

    Args:
        run: the comparison.
        label: what the array is called.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("x", "end", show=False),
        Binding("n", "anew", show=False),
    ]

    _trouble = ""

    def draw(self) -> None:
        """Draw everything."""
        run, width = self._run, min(_WIDEST, self.inner_width - 1)
        self.show_head(visible(f"Mismatches: {self._label}"), "members are only read")
        if run.over:
            self.show_keys(("↑↓", "scroll"), ("PgUp PgDn", "pages"), ("n", "compare anew"), ("Esc", "back"))
        else:
            self.show_keys(("x", "end it, show what was found"), ("Esc", "back, it continues"))
        self.show_body(self._lines(width))

    def _lines(self, width: int) -> list[Line]:
        run = self._run
        if run.error:
            return text_lines(f"The members could not be compared: {run.error}.", width, "warn")
        if run.result is None:
            return self._progress_lines(width)
        lines: list[Line] = []
        if run.made_s:
            lines = text_lines(f"Compared {stamp(run.made_s, time.time())}: n compares anew.", width, "dim")
        for said in mismatch_lines(run.result):
            parts = textwrap.wrap(
                visible(said.text),
                width,
                initial_indent=" " * said.indent,
                subsequent_indent=" " * (said.indent + 3),
                break_on_hyphens=False,
            )
            lines += [[(part, said.role)] for part in parts or [""]]
        return lines

    def _progress_lines(self, width: int) -> list[Line]:
        run = self._run
        lines = text_lines(
            f"{joined(run.members)} are read and compared, no faster than a check, and slower while others"
            " use the disks. What does not match is read again, as it may be a write under way. Nothing is"
            " written. It is a job: it continues when this page is left, and other jobs can run meanwhile.",
            width,
            "plain",
        )
        at = run.done
        share = min(1.0, at.done / at.total) if at is not None and at.total else 0.0
        full = int(share * _BAR)
        looks = f"  {amount(at.done)} of {amount(at.total)}" if at is not None else ""
        if share >= 1.0:
            looks = "  looking up what lies there"
        elif at is not None and at.left_s is not None:
            looks += f", {duration(at.left_s)} left"
        bar: Line = [
            ("█" * full, "accent"),
            ("░" * (_BAR - full), "dim"),
            (f" {share:>4.0%}{looks}", "accent"),
        ]
        trouble = text_lines(self._trouble, width, "warn") if self._trouble else []
        return [*lines, [], bar, *trouble]

    def action_end(self) -> None:
        """End the comparison, and show what it has found."""
        if not self._run.over:
            self._trouble = self._run.end()
            self.draw()

    def action_back(self) -> None:
        """Leave; the job continues."""
        self.dismiss(False)

    def action_anew(self) -> None:
        """Compare once more."""
        if self._run.over:
            self.dismiss(True)


async def show_mismatches(shell: ScreenShell, array: Array | AbsentArray | None) -> None:
    """Compare the members of an array, and show what is found.

    Args:
        shell: the app.
        array: the chosen one.
    """
    if not isinstance(array, Array):
        shell.say("no array is chosen")
        return
    root = shell.session.root
    compared = comparison_of(root, array)
    run = known_comparison(array) if root.live else None
    anew = run is None
    while True:
        if anew:
            if isinstance(compared, Refusal):
                shell.say(compared.sentence)
                return
            try:
                run = new_comparison(root, array, compared)
            except JobError as error:
                shell.say(str(error))
                return
        if run is None:
            return
        run.start()
        try:
            anew = bool(await shell.ask(MismatchScreen(run, array.title)))
            over = run.over
        finally:
            run.cancel()
        if not anew:
            break
    shell.say("nothing was changed" if over else f"{array.title} is being compared: m shows it", "plain")
