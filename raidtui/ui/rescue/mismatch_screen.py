"""Members compared: how far it is, then which sectors do not match, who disagrees, and what lies there."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.rescue.mismatch.mismatch_words import mismatch_lines
from raidtui.session.mismatch_lookup import MismatchRun, comparison_of
from raidtui.ui.frame.screen_shell import ScreenShell
from raidtui.ui.rescue.following_page import FollowingPage
from raidtui.ui.rescue.guide_lines import text_lines
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.units import amount, joined

_BAR = 40
_WIDEST = 110


class MismatchScreen(FollowingPage[None, MismatchRun]):
    """Gives nothing; the comparison is ended when this page is left.

    Args:
        run: the comparison.
        label: what the array is called.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("x", "end", show=False),
    ]

    def draw(self) -> None:
        """Draw everything."""
        run, width = self._run, min(_WIDEST, self.inner_width - 1)
        self.show_head(visible(f"Mismatches: {self._label}"), "members are only read")
        if run.over:
            self.show_keys(("↑↓", "scroll"), ("PgUp PgDn", "pages"), ("Esc", "back"))
        else:
            self.show_keys(("x", "end it, show what was found"), ("Esc", "end it, and back"))
        self.show_body(self._lines(width))

    def _lines(self, width: int) -> list[Line]:
        run = self._run
        if run.error:
            return text_lines(f"The members could not be compared: {run.error}.", width, "warn")
        if run.result is None:
            return self._progress_lines(width)
        lines: list[Line] = []
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
        names = joined([member.device for member in run.array.members])
        lines = text_lines(
            f"{names} are read and compared, no faster than a check. What does not match is read again, as it"
            " may be a write under way. Nothing is written.",
            width,
            "plain",
        )
        done, total = run.done or (0, 0)
        share = min(1.0, done / total) if total else 0.0
        full = int(share * _BAR)
        sizes = f"  {amount(done)} of {amount(total)}" if total else ""
        looks = "  looking up what lies there" if total and done >= total else sizes
        bar: Line = [
            ("█" * full, "accent"),
            ("░" * (_BAR - full), "dim"),
            (f" {share:>4.0%}{looks}", "accent"),
        ]
        return [*lines, [], bar]

    def action_end(self) -> None:
        """End the comparison, and show what it has found."""
        self._run.cancel()


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
    if isinstance(compared, Refusal):
        shell.say(compared.sentence)
        return
    limit = array.speed_limit.ceiling_kib_s if array.speed_limit is not None else None
    run = MismatchRun(root.apart() or root, compared, limit)
    run.start()
    try:
        await shell.ask(MismatchScreen(run, array.title))
    finally:
        run.cancel()
    shell.say("nothing was changed", "plain")
