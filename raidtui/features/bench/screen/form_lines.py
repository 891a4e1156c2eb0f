"""A benchmark's form in lines: a row for each field, and below them the hint of the current one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.features.bench.forms.form_draft import BenchDraft, FormField, FormKind
from raidtui.features.bench.option_texts import FieldRefusal
from raidtui.frame.wizard_lines import rows_in_view
from raidtui.model.plan import Refusal
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.wrapping import wrapped

NAMES = {FormKind.RUN: "Measure", FormKind.SWEEP: "Sweep", FormKind.AB: "A/B"}
TITLES = {
    FormKind.RUN: NAMES[FormKind.RUN],
    FormKind.SWEEP: f"{NAMES[FormKind.SWEEP]}: measure repeatedly, with something changed",
    FormKind.AB: f"{NAMES[FormKind.AB]}: two settings against each other",
}
_LABEL = 15
_LEAST_ROWS = 3
_MOST_MEANING = 100


class FormRow(Struct, frozen=True, kw_only=True):
    """A place that the cursor can be at.

    Args:
        pick: which of the field's picks, where several can be taken; else None.
    """

    field: FormField
    pick: int | None = None

    @property
    def first(self) -> bool:
        """Whether the field begins here."""
        return not self.pick


def in_form(refusal: Refusal) -> str:
    """Return a refusal as a sentence for a form, where options of the command line are fields."""
    remedy = refusal.form_remedy if isinstance(refusal, FieldRefusal) else ""
    remedy = remedy or refusal.remedy
    return f"{refusal.why}; {remedy}" if remedy else refusal.why


def rows_of(fields: Sequence[FormField]) -> tuple[FormRow, ...]:
    """Return the rows of fields."""
    rows: list[FormRow] = []
    for field in fields:
        several = field.several and field.picks
        picks: Sequence[int | None] = range(len(field.picks)) if several else (None,)
        rows += [FormRow(field=field, pick=pick) for pick in picks]
    return tuple(rows)


class Form(Struct, frozen=True, kw_only=True):
    """A form as it is drawn.

    Args:
        draft: its contents.
        rows: all rows.
        at: the one that is chosen.
        cursor: where in its text the cursor is.
        wrong: the sentence about each field in which something is wrong, by its name.
        said: why there is no review; "" if none was requested.
        said_about: the name of the field that this is about; "" where it is about none.
        meaning: paragraphs about the chosen field.
        width: cells.
        height: lines.
    """

    draft: BenchDraft
    rows: tuple[FormRow, ...]
    at: int
    cursor: int = 0
    wrong: Mapping[str, str] = {}
    said: str = ""
    said_about: str = ""
    meaning: tuple[str, ...] = ()
    width: int
    height: int

    @property
    def lines(self) -> list[Line]:
        """As many as there are, with the chosen row among them."""
        note = self._note()
        parts = len({row.field.part for row in self.rows}) - 1
        airy = len(self.rows) + parts + 1 + len(note) <= self.height
        lines: list[Line] = []
        place = 0
        for number, row in enumerate(self.rows):
            if airy and number and row.field.part != self.rows[number - 1].field.part:
                lines.append([])
            if number == self.at:
                place = len(lines)
            lines.append(self._row(number))
        room = max(_LEAST_ROWS, self.height - 1 - len(note))
        shown = [*rows_in_view(lines, place, room), [], *note]
        return [*shown, *self._more(self.height - len(shown))][: self.height]

    def _row(self, number: int) -> Line:
        row = self.rows[number]
        here, wrong = number == self.at, row.field.name in self.wrong
        role = "key" if here else "plain"
        label = row.field.label if row.first else ""
        head: Line = [(f"{'▸' if here else ' '} {fit(label, _LABEL)}", role)]
        head += [("▲ " if wrong and row.first else "  ", "warn")]
        room = self.width - sum(cell_width(text) for text, _ in head)
        text = self.draft.text(row.field.name)
        if row.pick is not None:
            return [*head, *_taken(row.field, row.pick, text, room, role)]
        if row.field.typed:
            cursor = self.cursor if here else None
            return [*head, *_typed(row.field, text, room, cursor)]
        return [*head, (fit(_chosen(row.field, text, here=here), room), role)]

    def _note(self) -> list[Line]:
        """Return the text below the rows: what is wrong, and the hint of the field."""
        row = self.rows[self.at]
        wrong = self.wrong.get(row.field.name, "")
        lines = wrapped(self.said, self.width, "warn") if self.said else []
        if wrong and not (self.said and row.field.name == self.said_about):
            lines += wrapped(wrong, self.width, "warn")
        about = row.field.picks[row.pick].note if row.pick is not None else ""
        return [*lines, *wrapped(f"{about} {row.field.hint}".strip(), self.width, "plain")]

    def _more(self, room: int) -> list[Line]:
        """Return more about the field: as many paragraphs as there is room for."""
        lines: list[Line] = []
        for text in self.meaning:
            parts = textwrap.wrap(text, min(self.width, _MOST_MEANING), break_on_hyphens=False) or [""]
            if len(lines) + len(parts) >= room:
                break
            lines += [[(part, "dim")] for part in parts]
        return [[], *lines] if lines else []


def _chosen(field: FormField, text: str, *, here: bool) -> str:
    if field.several:
        return "  none is there"
    pick = field.pick(text)
    words = visible(pick.words if pick is not None else text) or "choose one"
    return f"‹ {words} ›" if here else f"  {words}"


def _taken(field: FormField, number: int, text: str, room: int, role: str) -> Line:
    """Return a pick of several; devices have the number of their slot."""
    taken = [word for word in text.split(",") if word]
    pick = field.picks[number]
    mark = ""
    if pick.key in taken:
        mark = str(taken.index(pick.key)) if field.name == "scratch" else "x"
    return [
        (fit(f"  [{mark or ' '}] {visible(pick.words)}", room), "strong" if mark and role != "key" else role)
    ]


def _typed(field: FormField, text: str, room: int, cursor: int | None) -> Line:
    """Return a text; with a cursor, the part that has it."""
    unit = f" {field.unit}" if field.unit and (text or field.usual.isdecimal()) else ""
    room -= 2
    if not text:
        usual = fit(f"{field.usual}{unit}" if field.usual else "–" if cursor is None else "", room - 1)
        return [("  ", "plain"), ("" if cursor is None else "▏", "key"), (usual, "dim")]
    room -= cell_width(unit)
    if cursor is None:
        return [(f"  {fit(visible(text), room).rstrip()}", "strong"), (unit, "plain")]
    before, after = visible(text[:cursor]), visible(text[cursor:])
    most = room - 1 - min(cell_width(after), room // 2)
    if cell_width(before) > most:
        before = tail(before, most)
    after = fit(after, room - 1 - cell_width(before)).rstrip()
    return [(f"  {before}▏{after}", "key"), (unit, "plain")]
