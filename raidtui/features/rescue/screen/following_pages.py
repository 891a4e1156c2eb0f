"""Pages that follow a long reading: the search for a geometry, and the comparison of members."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType

from raidtui.features.rescue.mismatch.comparison_job import (
    MismatchRun,
    comparison_of,
    known_comparison,
    new_comparison,
)
from raidtui.features.rescue.mismatch.mismatch_records import mismatch_lines
from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.search.members import SearchStage
from raidtui.features.rescue.search.results import CheckResult, RescueGeometry, SearchCandidate, SearchResult
from raidtui.features.rescue.session_search import SearchRun
from raidtui.frame.pages import PageScreen, rule, stamp
from raidtui.frame.screen_shell import ScreenShell
from raidtui.jobs.lock import JobError
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import amount, duration, joined
from raidtui.watch.reading_thread import ReadingThread

_PACE_S = 0.25
Given = TypeVar("Given")
Run = TypeVar("Run", bound=ReadingThread)  # type: ignore[type-arg]  # of any result
_BAR = 30
_LEAST = 14
"""Lines of the window beside what is said of a candidate."""
_STAGES: Mapping[SearchStage, str] = {
    SearchStage.SAMPLES: "samples",
    SearchStage.ANCHORS: "file systems",
    SearchStage.CANDIDATES: "candidates",
    SearchStage.PROOF: "proof",
}
_ROLES = {CheckResult.CLEAN: "ok", CheckResult.ERRORS: "warn"}
_WIDE_BAR = 40
_WIDEST = 110


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


class SearchScreen(FollowingPage[RescueGeometry, SearchRun]):
    """Gives the geometry that was chosen, or None.

    Args:
        run: the search; it is ended when this page is left before its end.
        label: what is searched.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("enter", "take", show=False),
    ]

    def __init__(self, run: SearchRun, label: str) -> None:
        super().__init__(run, label)
        self._at = 0

    @property
    def _candidates(self) -> tuple[SearchCandidate, ...]:
        return self._run.result.candidates if self._run.result is not None else ()

    def draw(self) -> None:
        """Draw everything."""
        run, width = self._run, self.inner_width
        self.show_head(visible(f"Search: {self._label}"), "devices are only read")
        if run.result is None:
            self.show_keys(("Esc", "back" if run.over else "end the search"))
            self.show_body(self._progress_lines(width - 1))
            return
        found = self._candidates
        notes = self._notes(width)
        moves = [("↑↓", "choose")] if len(found) > 1 else []
        onward = [("Enter", "try it")] if found else []
        self.show_keys(*moves, *onward, ("PgUp PgDn", "scroll"), ("Esc", "back"), notes=notes)
        lines = result_head(run.result, width - 1)
        first = len(lines)
        lines += candidate_rows(found, self._at, width - 1)
        lines += alike_lines(run.result, width - 1)
        lines += hint_lines(run.result, width - 1)
        self.show_body(lines, selected=first + self._at if found else None)
        if self._at:
            self._body.keep_in_view(first + self._at)

    def _progress_lines(self, width: int) -> list[Line]:
        run = self._run
        if run.error:
            return text_lines(f"The search failed: {run.error}.", width, "warn")
        lines = text_lines(
            f"Level, order, chunk, layout and data offset are searched on {joined(list(run.names))}, by"
            " reading only.",
            width,
            "plain",
        )
        return [*lines, [], *stage_lines(run.stage)]

    def _notes(self, width: int) -> list[Line]:
        if not self._candidates:
            return []
        here = self._candidates[self._at]
        proof = here.proof
        text = f"{proof.contents or 'nothing known'}, {proof.check.replace('-', ' ')}: {proof.sure}"
        lines = text_lines(text, width, _ROLES.get(proof.check, "plain"))
        for note in here.notes:
            lines += text_lines(note, width, "plain")
        if here.same:
            lines += text_lines(f"{len(here.same)} more read the same, byte for byte.", width, "plain")
        return [*lines[: max(3, self.app.size.height - _LEAST)], rule(width)]

    def action_move(self, delta: int) -> None:
        """Choose another candidate."""
        if self._candidates:
            self._at = max(0, min(len(self._candidates) - 1, self._at + delta))
            self.draw()

    def action_take(self) -> None:
        """Go on with the chosen candidate."""
        if self._candidates:
            self.dismiss(self._candidates[self._at].geometry)


def stage_lines(now: tuple[SearchStage, int, int] | None) -> list[Line]:
    """Return how far a search is: a line for each stage, in their order.

    Args:
        now: the stage, what is done of it, and what there is to do; None before the first.
    """
    lines: list[Line] = []
    stages = list(SearchStage)
    at = stages.index(now[0]) if now is not None else -1
    for number, stage in enumerate(stages):
        share = 1.0 if number < at else 0.0
        if now is not None and number == at:
            share = min(1.0, now[1] / now[2]) if now[2] else 0.0
        full = int(share * _BAR)
        role = "accent" if number == at else "plain" if number < at else "dim"
        lines.append(
            [
                (f" {fit(_STAGES[stage], 14)}", role),
                ("█" * full, role),
                ("░" * (_BAR - full), "dim"),
                (f" {share:>4.0%}", role),
            ]
        )
    return lines


def result_head(result: SearchResult, width: int) -> list[Line]:
    """Return what a search says before its candidates."""
    lines: list[Line] = []
    for number, text in enumerate(result.text):
        lines += text_lines(text, width, "plain" if number else "strong")
    lines.append([(f"Read {amount(result.bytes_read)} in {result.seconds:.0f} s.", "dim")])
    lines.append([])
    if result.candidates:
        lines.append([(fit("   level   layout           chunk    data at  order", width), "dim")])
    return lines


def alike_lines(result: SearchResult, width: int) -> list[Line]:
    """Return what there is to say of a tie; nothing where there is none."""
    shown = sum(each.best for each in result.candidates)
    more = result.alike - shown
    if shown < 2 and more <= 0:
        return []
    words = "= fits as well as the first"
    if more > 0:
        words += f"; so do {more} more{' at least' if result.more else ''}"
    return text_lines(f"{words}. A trial of one does not rule out the others.", width, "warn")


def hint_lines(result: SearchResult, width: int) -> list[Line]:
    """Return what is written down of former arrays."""
    if not result.hints:
        return []
    lines: list[Line] = [[], [("Written down, which proves nothing:", "dim")]]
    for hint in result.hints:
        first, *rest = text_lines(hint.words, width - 3, "plain")
        lines += [[("· ", "dim"), *first], *([("  ", "plain"), *each] for each in rest)]
    return lines


def candidate_rows(candidates: tuple[SearchCandidate, ...], at: int, width: int) -> list[Line]:
    """Return the candidates, a line each; what has less for it than the first is dim."""
    lines: list[Line] = []
    for number, each in enumerate(candidates):
        here, made = number == at, each.geometry
        chunk = f"{made.chunk_bytes >> 10}K" if made.chunk_bytes else "–"
        text = (
            f"{'▸' if here else ' '}{'=' if each.best and number else ' '} raid{made.level:<3} "
            f"{fit(made.layout or '–', 16)} {chunk:>5} {made.data_offset_sectors:>10}  {' '.join(made.order)}"
        )
        role = "key" if here else "plain" if each.best else "dim"
        lines.append([(fit(visible(text), width), role)])
    return lines


class MismatchScreen(FollowingPage[bool, MismatchRun]):
    """Gives whether to compare again. The comparison is a job: it continues when this page is left.

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
            self.show_keys(("↑↓", "scroll"), ("PgUp PgDn", "pages"), ("n", "compare again"), ("Esc", "back"))
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
            lines = text_lines(f"Compared {stamp(run.made_s, time.time())}: n compares again.", width, "dim")
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
            " use the disks. Mismatches are read again, as they may be writes in progress. Nothing is"
            " written. It is a job: it continues when this page is left, and other jobs can run meanwhile.",
            width,
            "plain",
        )
        at = run.done
        share = min(1.0, at.done / at.total) if at is not None and at.total else 0.0
        full = int(share * _WIDE_BAR)
        looks = f"  {amount(at.done)} of {amount(at.total)}" if at is not None else ""
        if share >= 1.0:
            looks = "  looking up what lies there"
        elif at is not None and at.left_s is not None:
            looks += f", {duration(at.left_s)} left"
        bar: Line = [
            ("█" * full, "accent"),
            ("░" * (_WIDE_BAR - full), "dim"),
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
    reader = shell.session.reader
    compared = comparison_of(reader, array)
    run = known_comparison(array) if reader.live else None
    anew = run is None
    while True:
        if anew:
            if isinstance(compared, Refusal):
                shell.say(compared.sentence)
                return
            try:
                run = new_comparison(reader, array, compared)
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
