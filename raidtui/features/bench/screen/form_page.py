"""The form of a benchmark: a run, a sweep, or an A/B. It returns an offer that can be started.

Arrows move and change, letters are typed, Enter shows the review. The host is not changed here, and what was
typed is kept when the review is left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from textual import events
from textual.binding import Binding, BindingType

from raidtui.features.bench.forms.form import (
    fields,
    filled,
    meaning,
    name_about,
    overwritten,
    problem,
    request_of_draft,
)
from raidtui.features.bench.forms.form_draft import BenchDraft, FormField
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.option_texts import FieldRefusal
from raidtui.features.bench.request import Request
from raidtui.features.bench.screen.form_lines import NAMES, TITLES, Form, FormRow, in_form, rows_of
from raidtui.frame.choose import Choice, Option
from raidtui.frame.pages import PageScreen
from raidtui.frame.screen_shell import later
from raidtui.frame.text_field import TextField
from raidtui.model.plan import Loss, Refusal

Asks = Callable[[Request], Awaitable[Offer | Refusal]]
_MOST_TYPED = 4096
_WIDEST = 124
_LISTED = 4
_PROSE = frozenset({"job", "path", "note"})
"""Texts that may have any character in them."""


class BenchForm(PageScreen[Offer]):
    """Gives the offer that was confirmed, or None.

    Args:
        draft: its contents at first.
        ask: makes an offer of a request, or says why it cannot be.
        known: what there is to choose from.

    Attributes:
        draft: its contents, also after it was left.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down,tab", "move(1)", show=False),
        Binding("shift+tab", "move(-1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("left", "change(-1)", show=False),
        Binding("right", "change(1)", show=False),
        Binding("space", "take", show=False),
        Binding("enter", "next", show=False),
        Binding("question_mark,f1", "why", show=False),
    ]

    def __init__(self, draft: BenchDraft, ask: Asks, known: HostChoices) -> None:
        super().__init__(TITLES[draft.kind])
        self._ask, self._known = ask, known
        self.draft = filled(draft, known)
        self._own = set(draft.values)
        """What was typed, or is being changed: of all else a first letter takes the place."""
        self._at = 0
        self._cursor = 0
        self._said = ""
        self._about = ""
        self._tried = False
        self._asking = False
        self._confirmed: tuple[str, ...] = ()
        self._losses: tuple[Loss, ...] = ()

    def on_mount(self) -> None:
        """Draw."""
        self._body.focus()
        self.draw()

    # -- what is shown

    @property
    def _rows(self) -> tuple[FormRow, ...]:
        return rows_of(fields(self.draft, self._known))

    @property
    def _row(self) -> FormRow:
        rows = self._rows
        return rows[min(self._at, len(rows) - 1)]

    @property
    def _field(self) -> FormField:
        return self._row.field

    def draw(self) -> None:
        """Draw everything."""
        rows = self._rows
        self._at = min(self._at, len(rows) - 1)
        self.show_head(self._title, "reading the host …" if self._asking else "")
        self.show_keys(*self._keys(), right=("F1" if self._field.name in _PROSE else "?", "meaning"))
        form = Form(
            draft=self.draft,
            rows=rows,
            at=self._at,
            cursor=self._cursor,
            wrong=self._wrong(rows),
            said=self._said,
            said_about=self._about,
            meaning=meaning(self.draft, self._field, self._known),
            width=min(_WIDEST, self.inner_width),
            height=self.inner_height,
        )
        self.show_body(form.lines)

    def _wrong(self, rows: tuple[FormRow, ...]) -> dict[str, str]:
        """Return what is wrong, by the field's name; empty fields count once Enter was pressed."""
        found = {}
        for field in dict.fromkeys(row.field for row in rows):
            text = self.draft.text(field.name)
            sentence = problem(self.draft, field) if text or self._tried else ""
            if sentence:
                found[field.name] = sentence
        if self._about:
            found.setdefault(self._about, self._said)
        return found

    def _keys(self) -> list[tuple[str, str]]:
        on = [("Enter", "review"), ("Esc", "leave")]
        field = self._field
        if field.several:
            return [("↑↓", "choose"), ("Space", "take"), *on]
        if field.typed:
            return [("↑↓", "choose"), ("a-z 0-9", "type"), *on]
        listed = [("Space", "list")] if len(field.picks) > _LISTED else []
        return [("↑↓", "choose"), ("←→", "change"), *listed, *on]

    # -- keys

    def action_move(self, delta: int) -> None:
        """Move to another row."""
        if self._asking:
            return
        self._at = max(0, min(len(self._rows) - 1, self._at + delta))
        self._said = ""
        self._cursor = len(self.draft.text(self._field.name))
        self.draw()

    def action_change(self, delta: int) -> None:
        """Change a choice, take a device or leave it."""
        field = self._field
        if self._asking:
            return
        if field.several:
            self._take_or_leave()
        elif field.picks:
            keys = [pick.key for pick in field.picks]
            text = self.draft.text(field.name)
            number = keys.index(text) if text in keys else -delta
            self._put(keys[(number + delta) % len(keys)])

    def action_take(self) -> None:
        """Take what is at the cursor, or leave it; show a long choice as a list."""
        field = self._field
        if not self._asking and len(field.picks) > _LISTED and not field.several:
            self._list(field)
        else:
            self.action_change(1)

    def _take_or_leave(self) -> None:
        row = self._row
        if row.pick is None:
            return
        key = row.field.picks[row.pick].key
        taken = [word for word in self.draft.text(row.field.name).split(",") if word]
        taken = [word for word in taken if word != key] if key in taken else [*taken, key]
        self._put(",".join(taken))

    def _list(self, field: FormField) -> None:
        options = tuple(
            Option(key=pick.key, words=pick.words, note=pick.note, refusal=pick.refusal)
            for pick in field.picks
        )
        self.app.push_screen(Choice(field.label, options), self._listed)

    def _listed(self, key: str | None) -> None:
        if key is not None:
            self._put(key)

    def _put(self, text: str) -> None:
        """Change the text of the chosen field; the cursor stays in it."""
        name, pick = self._field.name, self._row.pick
        draft = self.draft.with_text(name, text)
        self.draft = filled(draft, self._known)
        self._said = self._about = ""
        places = [place for place, row in enumerate(self._rows) if (row.field.name, row.pick) == (name, pick)]
        self._at = places[0] if places else self._at
        self.draw()

    def on_key(self, event: events.Key) -> None:
        """Edit a text; letters move where there is none."""
        if self._asking and event.key != "escape":
            event.stop()
            event.prevent_default()
            return
        if not (self._edit(event) if self._field.typed else self._move_by_letter(event.key)):
            return
        event.stop()
        event.prevent_default()

    def _line(self, *, types: bool) -> TextField:
        """Return the text and the cursor; what was filled in for the user is replaced where one types."""
        name = self._field.name
        if types and name in self.draft.values and name not in self._own:
            return TextField(most=_MOST_TYPED)
        return TextField(text=self.draft.text(name), at=self._cursor, most=_MOST_TYPED)

    def _edit(self, event: events.Key) -> bool:
        if event.character == "?" and self._field.name not in _PROSE:
            return False
        return self._edited(self._line(types=event.is_printable).pressed(event.key, event.character))

    def _edited(self, line: TextField | None) -> bool:
        if line is None:
            return False
        self._own.add(self._field.name)
        self._cursor = line.at
        if line.text == self.draft.text(self._field.name):
            self.draw()
        else:
            self._put(line.text)
        return True

    def _move_by_letter(self, key: str) -> bool:
        moves = {"k": -1, "j": 1, "home": -9999, "end": 9999}
        if key in moves:
            self.action_move(moves[key])
        elif key in {"h", "l"}:
            self.action_change(-1 if key == "h" else 1)
        else:
            return False
        return True

    def on_paste(self, event: events.Paste) -> None:
        """Put a text in at the cursor; what comes after its first line is left out."""
        event.stop()
        if self._field.typed and not self._asking:
            self._edited(self._line(types=True).pasted(event.text.strip()))

    def action_why(self) -> None:
        """Show what the field means, and where presets come from."""
        from raidtui.frame.pages import WhyScreen  # noqa: PLC0415

        page = (self._field.hint, "", *meaning(self.draft, self._field, self._known))
        self.app.push_screen(WhyScreen(f"{NAMES[self.draft.kind]}: {self._field.label}", page))

    def action_back(self) -> None:
        """Leave; while an offer is being made, only cancel that."""
        if self._asking:
            self._asking = False
            self.workers.cancel_group(self, "ask")
            self.draw()
        else:
            self.dismiss(None)

    # -- on to the review

    def action_next(self) -> None:
        """Show the review."""
        if self._asking:
            return
        self._tried = True
        rows = self._rows
        wrong = self._wrong(rows)
        first = next((place for place, row in enumerate(rows) if row.field.name in wrong), None)
        if first is not None and not self._about:
            self._go_to(first)
            return
        request = request_of_draft(self.draft, self._known)
        if isinstance(request, Refusal):
            self._refused(request)
            return
        # The host is asked as if they were typed; the review gives nothing back before they are.
        words = tuple(each.word for each in overwritten(self.draft, self._known))
        self._asking, self._said, self._about = True, "", ""
        self.draw()
        later(self, partial(self._review, replace(request, confirmed=words)), alone_in="ask")

    def _go_to(self, place: int) -> None:
        self._at = place
        self._cursor = len(self.draft.text(self._field.name))
        self.draw()

    async def _review(self, request: Request) -> None:
        """Make the offer; show its review, or why it cannot be run."""
        answer = await self._ask(request)
        self._asking = False
        if isinstance(answer, Refusal):
            self._refused(answer)
            return
        from raidtui.features.bench.screen.review_page import BenchReview  # noqa: PLC0415

        if answer.losses != self._losses:  # what was typed was typed for another loss
            self._confirmed, self._losses = (), answer.losses
        devices = overwritten(self.draft, self._known)
        self.draw()
        review = BenchReview(answer, devices, confirmed=self._confirmed)
        offer = await self.app.push_screen_wait(review)
        self._confirmed = review.confirmed
        if offer is not None:
            self.dismiss(offer)

    def _refused(self, refusal: Refusal) -> None:
        if isinstance(refusal, FieldRefusal):
            self._about = name_about(refusal.part, self.draft, self._known)
        self._said = in_form(refusal)
        place = next((n for n, row in enumerate(self._rows) if row.field.name == self._about), None)
        self._go_to(self._at if place is None else place)
