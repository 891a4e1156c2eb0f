"""A search for a geometry: how far it is, then the candidates, ties among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.features.rescue.screen.following_page import FollowingPage
from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.search.members import SearchStage
from raidtui.features.rescue.search.results import CheckResult, RescueGeometry, SearchCandidate, SearchResult
from raidtui.features.rescue.session_search import SearchRun
from raidtui.frame.pages import rule
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import amount, joined

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
            return text_lines(f"The search gave nothing: {run.error}.", width, "warn")
        lines = text_lines(
            f"Level, order, chunk, layout and data offset are searched on {joined(list(run.names))}, by"
            " reading alone.",
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
    return text_lines(f"{words}. A trial of one says nothing against the others.", width, "warn")


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
