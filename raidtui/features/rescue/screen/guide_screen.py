"""The first page of the guide: what happened to an array, member by member, and the ways back."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.features.rescue.records import CauseCode, RescueArray, judge_array
from raidtui.features.rescue.screen.guide_lines import (
    cause_lines,
    facts_of,
    member_lines,
    text_lines,
    title_of,
    way_panel,
)
from raidtui.features.rescue.screen.guide_rows import GuideRow, guide_rows
from raidtui.features.rescue.session_trials import KnownTrial
from raidtui.frame.pages import PageScreen, rule
from raidtui.model.survey import Survey
from raidtui.view.line import Line
from raidtui.view.text import visible

TITLE = "What happened"
AGAIN, LAST = "again", "last"
_LATER = "What happened is shown once all devices have been read."
_NOTHING = (
    "No superblock of this array was found. Its disks may be absent: r reads all again. If superblocks are"
    " lost, Esc and a lead to the devices without one."
)
_TRIED = (
    "A trial of this array is in progress ({}): press t. The ways back are offered once it is taken down."
)
_RUNS = "The ways back are offered once it is stopped (T in pane 1)."


class GuideScreen(PageScreen[str]):
    """Gives the key of a row, ``again``, ``last``, or None.

    Args:
        label: what the array is called until it has been read.
        key: the row that is chosen at first; "" for the first one.
        last: the last trial of the array, if there is one.
        here_only: what is said of ways that cannot be gone here, a sentence: of a capture; "" on a live host.
    """

    accepts_type_ahead = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("home", "move(-9999)", show=False),
        Binding("end", "move(9999)", show=False),
        Binding("enter", "take", show=False),
        Binding("r", "again", show=False),
        Binding("t", "last", show=False),
    ]

    def __init__(
        self, label: str, key: str = "", last: KnownTrial | None = None, *, here_only: str = ""
    ) -> None:
        super().__init__(TITLE)
        self._here_only = here_only
        self._label = label
        self._array: RescueArray | None = None
        self._survey: Survey | None = None
        self._words = ""
        self._rows: tuple[GuideRow, ...] = ()
        self._key = key
        self._last = last
        self._drawn = False

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.draw()
        self._body.focus()

    def show_array(self, array: RescueArray | None, survey: Survey, words: str) -> None:
        """Take what has been read meanwhile; the chosen row stays chosen.

        Args:
            array: the array; None until one of its members is found.
            survey: the host.
            words: what is still being read; "" for nothing.
        """
        if (array, survey, words) == (self._array, self._survey, self._words):
            return
        self._array, self._survey, self._words = array, survey, words
        free = self._without_trial(array)[0] if array is not None else None
        self._rows = guide_rows(free, survey) if free is not None and not words else ()
        if self._drawn:
            self.draw()
        self.release()

    def holds_key(self, key: str) -> bool:
        """Hold Enter and the arrows until something can be chosen."""
        return bool(self._words) and key in {"enter", "up", "down"}

    @property
    def _at(self) -> int:
        return next((number for number, row in enumerate(self._rows) if row.key == self._key), 0)

    @property
    def here(self) -> GuideRow | None:
        """The chosen row."""
        return self._rows[self._at] if self._rows else None

    def _without_trial(self, array: RescueArray) -> tuple[RescueArray, str]:
        """Return the array as it is but for a trial that is there, and what is said of that one."""
        last, runs = self._last, array.running
        if last is None or not runs or not (last.runs or last.left) or runs != last.record.names.array:
            return array, ""
        causes = tuple(each for each in array.causes if each.code is not CauseCode.RUNNING)
        return replace(array, running=None, causes=causes, ways=()), _TRIED.format(runs)

    def draw(self) -> None:
        """Draw head, members, causes, ways, and what the chosen way does."""
        width = self.inner_width
        array = self._without_trial(self._array)[0] if self._array is not None else None
        name = visible(title_of(array) if array is not None else self._label)
        self.show_head(f"{TITLE}: {name}", self._words or (facts_of(array) if array is not None else ""))
        lines = self._lines(width - 1)
        here = self.here
        can = here is not None and here.enters and not self._here_only
        onward = [("Enter", here.enters)] if here is not None and can else []
        moves = [("↑↓", "choose")] if len(self._rows) > 1 else []
        self.show_keys(
            *moves,
            *onward,
            *self._trial_key(),
            ("r", "read again"),
            *(() if self._last is not None else (("PgUp PgDn", "scroll"),)),
            ("Esc", "back"),
            notes=self._ways(width, len(lines)),
        )
        self.show_body(lines)

    def _ways(self, width: int, body: int) -> list[Line]:
        """Return the ways, with what the chosen one does; ``body`` lines stand above them."""
        if not self._rows:
            return []
        height = self.app.size.height
        panel = way_panel(self._rows, self._at, width, height, body=body, here_only=self._here_only)
        return [*panel, rule(width)]

    def _lines(self, width: int) -> list[Line]:
        array, survey = self._array, self._survey
        if array is None or survey is None:
            return [[], *text_lines(f" {'' if self._words else _NOTHING}", width, "warn", 1)]
        array, tried = self._without_trial(array)
        seen = replace(array, missing=()) if self._words else array
        table = member_lines(seen, sorted(survey.silent), width)
        if self._words:
            return [*table, [], [(f" {_LATER}", "dim")]]
        first, rest = cause_lines(array, width)
        said = [*text_lines(f" · {tried}", width, "accent", 3), []] if tried else []
        lines = [*said, *first, [], *table, *([[]] if rest else []), *rest]
        if array.running:
            role = "warn" if array.needs else "plain"
            words = f"{judge_array(array).text} {_RUNS}"
            return [*lines, [], *text_lines(f" {words}", width, role, 1)]
        if not self._rows and not tried:
            return [*lines, [], [(" What is here offers no way back.", "warn")]]
        return lines

    def action_move(self, delta: int) -> None:
        """Choose another way."""
        if self._rows:
            self._key = self._rows[max(0, min(len(self._rows) - 1, self._at + delta))].key
            self.draw()

    def action_take(self) -> None:
        """Go on with the chosen way."""
        here = self.here
        if here is not None and here.enters and not self._here_only:
            self.dismiss(here.key)

    def _trial_key(self) -> list[tuple[str, str]]:
        if self._last is None:
            return []
        return [("t", "the trial" if self._last.runs or self._last.left else "the last trial")]

    def action_last(self) -> None:
        """Go on with the last trial: follow it, or see what it has shown."""
        if self._last is not None:
            self.dismiss(LAST)

    def action_again(self) -> None:
        """Read all devices again."""
        self.dismiss(AGAIN)
