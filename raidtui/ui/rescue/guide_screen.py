"""The first page of the guide: what happened to an array, member by member, and the ways back."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.model.survey import Survey
from raidtui.rescue.records import RescueArray
from raidtui.session.rescue_trials import KnownTrial
from raidtui.ui.frame.pages import PageScreen, rule
from raidtui.ui.rescue.guide_lines import cause_lines, facts_of, member_lines, note_of, row_lines, title_of
from raidtui.ui.rescue.guide_rows import GuideRow, guide_rows
from raidtui.view.line import Line
from raidtui.view.text import visible

TITLE = "What happened"
AGAIN, LAST = "again", "last"
_LATER = "What happened is known when all devices have been read."
_RUNS = "It is running: the ways back are offered when it is stopped (T in pane 1)."


class GuideScreen(PageScreen[str]):
    """Gives the key of a row, ``again``, ``last``, or None.

    Args:
        label: what the array is called until it has been read.
        key: the row that is chosen at first; "" for the first one.
        last: the last trial of the array, if there is one.
    """

    takes_ahead = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("home", "move(-9999)", show=False),
        Binding("end", "move(9999)", show=False),
        Binding("enter", "take", show=False),
        Binding("r", "again", show=False),
        Binding("t", "last", show=False),
    ]

    def __init__(self, label: str, key: str = "", last: KnownTrial | None = None) -> None:
        super().__init__(TITLE)
        self._label = label
        self._array: RescueArray | None = None
        self._survey: Survey | None = None
        self._words = ""
        self._rows: tuple[GuideRow, ...] = ()
        self._key = key
        self._last = last
        self._moved, self._drawn = bool(key), False

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.draw()
        self._body.focus()

    def show_array(self, array: RescueArray | None, survey: Survey, words: str) -> None:
        """Take what has been read meanwhile; the chosen row stays chosen.

        Args:
            array: the array; None where nothing of it was found so far.
            survey: the host.
            words: what is still being read; "" for nothing.
        """
        if (array, survey, words) == (self._array, self._survey, self._words):
            return
        self._array, self._survey, self._words = array, survey, words
        self._rows = guide_rows(array, survey) if array is not None and not words else ()
        if self._drawn:
            self.draw()
        self.release()

    def holds(self, key: str) -> bool:
        """Hold Enter and the arrows until something can be chosen."""
        return bool(self._words) and key in {"enter", "up", "down"}

    @property
    def _at(self) -> int:
        return next((number for number, row in enumerate(self._rows) if row.key == self._key), 0)

    @property
    def here(self) -> GuideRow | None:
        """The chosen row."""
        return self._rows[self._at] if self._rows else None

    def draw(self) -> None:
        """Draw head, members, causes, ways, and what the chosen way does."""
        width = self.inner_width
        array = self._array
        name = visible(title_of(array) if array is not None else self._label)
        self.show_head(f"{TITLE}: {name}", self._words or (facts_of(array) if array is not None else ""))
        notes = self._notes(width)
        here = self.here
        onward = [("Enter", here.enters)] if here is not None and here.enters else []
        moves = [("↑↓", "choose")] if len(self._rows) > 1 else []
        self.show_keys(
            *moves,
            *onward,
            *self._trial_key(),
            ("r", "read again"),
            ("PgUp PgDn", "scroll"),
            ("Esc", "back"),
            notes=notes,
        )
        lines, first = self._lines(width - 1)
        selected = first + self._at if self._rows else None
        self.show_body(lines, selected=selected)
        if selected is not None and self._moved:
            self._body.keep_in_view(selected)

    def _notes(self, width: int) -> list[Line]:
        """Return what is known of the chosen way, in lines enough for most."""
        if not self._rows:
            return []
        every = {row.key: note_of(row, width) for row in self._rows}
        height = self.app.size.height
        least = min(max(map(len, every.values())), max(3, height // 6))
        shown = every[self._rows[self._at].key][: max(3, height // 3)]
        return [*shown, *([[]] * (least - len(shown))), rule(width)]

    def _lines(self, width: int) -> tuple[list[Line], int]:
        """Return the body, and the number of the first way's line."""
        array, survey = self._array, self._survey
        if array is None or survey is None:
            words = "" if self._words else "No superblock of it was found."
            return [[], [(f" {words}", "warn")]], 0
        seen = replace(array, missing=()) if self._words else array
        lines = [*member_lines(seen, sorted(survey.silent), width), []]
        if self._words:
            return [*lines, [(f" {_LATER}", "dim")]], len(lines)
        lines += [*cause_lines(array, width), []]
        if array.running:
            return [*lines, [(f" {_RUNS}", "plain")]], len(lines)
        if not self._rows:
            return [*lines, [(" There is no way back with what is here.", "warn")]], len(lines)
        lines.append([(" Ways back, from harmless to drastic", "dim")])
        return [*lines, *row_lines(self._rows, self._at, width)], len(lines)

    def action_move(self, delta: int) -> None:
        """Choose another way."""
        if self._rows:
            self._moved = True
            self._key = self._rows[max(0, min(len(self._rows) - 1, self._at + delta))].key
            self.draw()

    def action_take(self) -> None:
        """Go on with the chosen way."""
        here = self.here
        if here is not None and here.enters:
            self.dismiss(here.key)

    def _trial_key(self) -> list[tuple[str, str]]:
        if self._last is None:
            return []
        return [("t", "the trial that runs" if self._last.runs else "the last trial")]

    def action_last(self) -> None:
        """Go on with the last trial: follow it, or see what it has shown."""
        if self._last is not None:
            self.dismiss(LAST)

    def action_again(self) -> None:
        """Read all devices again."""
        self.dismiss(AGAIN)
