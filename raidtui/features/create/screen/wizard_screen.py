"""The wizard: short steps; what has been decided stays in the column at the left. It ends with a plan."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual import events
from textual.binding import Binding, BindingType

from raidtui.frame import wizard_lines as wizard
from raidtui.frame.pages import WhyScreen
from raidtui.frame.rows_form import RowsForm
from raidtui.frame.text_field import TextField, field_of
from raidtui.model.survey import Survey
from raidtui.plans.wizard.choices import EMPTY
from raidtui.plans.wizard.wizard_draft import (
    JOURNAL,
    MEMBER,
    SPARE,
    WizardChoice,
    WizardDraft,
    doomed,
    with_empty,
)
from raidtui.plans.wizard.wizard_steps import (
    REVIEW,
    TABLES,
    WORDS,
    asked,
    changed,
    choose,
    decided,
    first_choice,
    next_role,
    picks,
    refuse_step,
    refuse_word,
    rows_of,
    step_page,
)
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.wrapping import wrapped

TITLE = "Build an array"
_MOST_TYPED = 60
_ANY_NAME = "old arrays"
_MARKS = {SPARE: "sp", JOURNAL: "jnl"}
_LEGEND = " Space: member [slot], spare [sp], journal [jnl], not used"
_HINTS = {
    "name": "Three digits are best: md127 and /dev/md/127 then stay the same. A word works, too.",
    "mount": "The mount point, now and at boot: /srv/data. Empty: not mounted.",
}


class WizardScreen(RowsForm[WizardDraft]):
    """Gives the finished draft, or None.

    Args:
        survey: the host with all devices.
        draft: what was decided before.
        step: where to begin.
        said: why it is back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", show=False),
        Binding("f", "fitting", show=False),
    ]

    def __init__(
        self, survey: Survey, draft: WizardDraft | None = None, *, step: str = "devices", said: str = ""
    ) -> None:
        super().__init__(TITLE, survey, said, ready=True)
        self.draft = draft or WizardDraft()
        self.step = step
        self._wanted = ""
        """The text that listed devices hold."""
        self._fitting = False
        """Whether only devices that can be taken are listed."""

    def survey_changed(self, before: str) -> None:
        """Draw what has been read; the choice stays where it was moved, or typed."""
        here = None if self.step == "devices" and not self._moved else before
        self._look()
        kept = [number for number, each in enumerate(self._listed) if each.key == here]
        self._at = (kept or self._able())[0]
        self.draw()

    def _able(self) -> list[int]:
        """Return which rows can be chosen, or may turn out so; the first one where none can."""
        return [
            number
            for number, each in enumerate(self._listed)
            if not each.refusal or (isinstance(each, WizardChoice) and each.pending)
        ] or [0]

    def holds_key(self, key: str) -> bool:
        """Hold keys for a device that is still being read, and Enter until LVM has been read."""
        if self.step != "devices" or not self._words:
            return False
        if not self._picks:
            return True
        if key in {"space", "left", "right", "h", "l"}:
            return self._picks[self._at].pending
        return key == "enter" and not self._ready

    def begin(self) -> None:
        """Draw the first step."""
        self._enter(self.step, self._said)

    # -- steps

    def _enter(self, step: str, said: str = "") -> None:
        """Go to a step."""
        self.step, self._said, self._moved = step, said, False
        word = {"mount": self.draft.mount, "name": self.draft.name}.get(step, "")
        # Old arrays have any name, new ones have neither blanks nor a ?.
        refused = "" if step == _ANY_NAME else " ?"
        self.line = replace(field_of(word, _MOST_TYPED), refused=refused) if step in WORDS else None
        self._look()
        first = first_choice(step, self.draft)
        able, listed = self._able(), self._listed
        wanted = [number for number in able if listed and listed[number].key == first]
        self._at = (wanted or able)[0]
        self.draw()

    def _look(self) -> None:
        """Find what can be chosen."""
        self._picks = picks(self.step, self.draft, self._survey)
        if self.step == "devices":
            self._picks = tuple(pick for pick in self._picks if pick.key == EMPTY or self._lists(pick))
        self._rows = rows_of(self.step, self.draft, self._survey)

    def _lists(self, pick: WizardChoice) -> bool:
        """Whether a device is listed; what is taken already always fits."""
        if self._fitting and pick.refusal and not self.draft.role(pick.key):
            return False
        return self._wanted.lower() in " ".join((*pick.cells, pick.words)).lower()

    def _list_anew(self) -> None:
        """List the devices by what is wanted now; the chosen one stays chosen where it is listed."""
        here, self._said = self._here, ""
        self._look()
        at = next((number for number, pick in enumerate(self._picks) if pick.key == here), 0)
        self._at = 0 if here == EMPTY else at
        self.draw()

    def _go(self, delta: int) -> None:
        steps = asked(self.draft, self._survey)
        number = steps.index(self.step) + delta
        if number < 0:
            self.dismiss(None)
        elif number >= len(steps):
            self.dismiss(self.draft)
        else:
            self._enter(steps[number])

    # -- drawing

    def draw(self) -> None:
        """Draw head, keys and body."""
        steps = asked(self.draft, self._survey)
        far = self._words or f"step {steps.index(self.step) + 1}: {self.step}"
        self.show_head(TITLE, far)
        self.show_keys(*self._keys(), right=("F1" if self.step == _ANY_NAME else "?", "why"))
        self.show_body(self._devices() if self.step == "devices" else self._columns())

    def _keys(self) -> list[tuple[str, str]]:
        following = asked(self.draft, self._survey)[-1] == self.step
        onward = ("Enter", f"continue to the {REVIEW}" if following else "next")
        if self.step in WORDS:
            return [onward, ("Esc", "back")]
        if self.step == "devices" and not self._picks:
            return [("Esc", "leave")]
        if self.step == "devices":
            if self.line is not None:
                return [("Enter", "keep the filter"), ("Esc", "list all")]
            space = ("Space ←→", "one more, one less") if self._here == EMPTY else ("Space", "take")
            fits = ("f", "all" if self._fitting else "usable")
            return [("↑↓", "choose"), space, onward, ("Esc", "leave"), ("/", "filter"), fits]
        if self.step in TABLES:
            return [("↑↓", "choose"), ("Space ←→", "change"), onward, ("Esc", "back")]
        return [("↑↓", "choose"), onward, ("Esc", "back")]

    def _devices(self) -> list[Line]:
        width, height = self.inner_width, self.inner_height
        if not self._picks:
            return [[("" if self._words else "There is no disk or partition here.", "warn")]]
        devices, slots = self._picks[:-1], self._picks[-1]
        head, *rows = wizard.device_lines(
            devices, self._at, [self._mark(each.key) for each in devices], width
        )
        rows = rows or [[(" No such device.", "warn")]]
        wanted: list[Line] = []
        if self.line is not None or self._wanted:
            shown = visible(self._wanted) if self.line is None else self.line.shown
            wanted = [[("/ ", "key"), (shown, "strong")]]
        at_slots = self._here == EMPTY
        count: Line = [(f"{'▸' if at_slots else ' '}{slots.words}", "key" if at_slots else "plain")]
        below = [count, [(_LEGEND, "dim")], [], *self._note(width)]
        longest = 3 + max(len(wizard.row_note(pick, width)) for pick in self._picks)
        return [*wanted, head, *wizard.with_note(rows, self._at, below, height - 1 - len(wanted), longest)]

    def _mark(self, name: str) -> str:
        role = self.draft.role(name)
        return str(self.draft.devices.index(name)) if role == MEMBER else _MARKS.get(role, "")

    def _columns(self) -> list[Line]:
        width, height = wizard.right_width(self.inner_width), self.inner_height
        left = wizard.decided_lines(
            decided(self.draft), self.step, asked(self.draft, self._survey), self.inner_width
        )
        if self.step in WORDS:
            right = self._word_lines(width)
        else:
            if self.step in TABLES:
                rows = wizard.value_lines(self._rows, self._at, width)
                longest = max(len(wizard.row_note(row, width)) for row in self._rows)
            else:
                rows = wizard.pick_lines(self._picks, self._at, width)
                longest = max(len(wizard.row_note(pick, width)) for pick in self._picks)
            right = wizard.with_note(rows, self._at, self._note(width), height, longest)
        return wizard.beside(left, right, self.inner_width, height)

    def _note(self, width: int) -> list[Line]:
        if self._said:
            return wrapped(self._said, width, "warn")
        listed = self._listed
        return wizard.row_note(listed[self._at], width) if listed else []

    def _word_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        if self.step == "old arrays":
            lines, hint = wizard.old_arrays(self.draft, self._survey, width)
        else:
            hint = _HINTS[self.step]
        lines += [[("> ", "key"), (self._word.shown, "strong")], []]
        note = self._said or hint
        return [*lines, *wrapped(note, width, "warn" if self._said else "plain")]

    # -- keys

    def action_change(self, delta: int) -> None:
        """Take a device, or leave it; change a value."""
        here, self._said = self._here, ""
        self._moved = True
        if self.step == "devices" and here == EMPTY:
            self.draft = with_empty(self.draft, self.draft.empty + delta)
        elif self.step == "devices" and self._picks and not self._picks[self._at].refusal:
            self.draft = next_role(self.draft, here, delta)
        elif self.step in TABLES and not self._rows[self._at].refusal:
            self.draft = changed(self.step, self.draft, self._survey, here, delta)
        self._look()
        self.draw()

    def action_next(self) -> None:
        """Take what is chosen, and go on. Nothing is done yet, whatever is pressed here."""
        if self.step in WORDS:
            self._take_word()
            return
        self._said = refuse_step(self.step, self.draft, self._survey)
        if self.step not in {"devices", *TABLES}:
            if self._picks[self._at].refusal:
                return
            self.draft = choose(self.step, self._here, self.draft)
        if self._said:
            self.draw()
        else:
            self._go(1)

    @property
    def _word(self) -> TextField:
        """What is typed."""
        return self.line or TextField()

    def _take_word(self) -> None:
        needless = self.step == "old arrays" and not doomed(self.draft, self._survey)
        refusal = None if needless else refuse_word(self.step, self.draft, self._survey, self._word.text)
        if refusal is not None:
            self._said = refusal.sentence
            self.draw()
            return
        if not needless:
            self.draft = choose(self.step, self._word.text, self.draft)
        if self.step == "old arrays" and doomed(self.draft, self._survey):
            self._enter(self.step)
        else:
            self._go(1)

    def action_why(self) -> None:
        """Show what there is to know before one decides."""
        self.app.push_screen(WhyScreen(f"{TITLE}: {self.step}", step_page(self.step)))

    def action_filter(self) -> None:
        """Type what the listed devices hold."""
        if self.step == "devices" and self._picks:
            self.line = field_of(self._wanted, _MOST_TYPED)
            self.draw()

    def action_fitting(self) -> None:
        """List only what can be taken, or all again."""
        if self.step == "devices" and self._picks:
            self._fitting = not self._fitting
            self._list_anew()

    def action_back(self) -> None:
        """One step back; from the first one, leave."""
        self._go(-1)

    def on_key(self, event: events.Key) -> None:
        """Collect what is typed; Enter keeps the filter, Esc ends it."""
        if self.edits(event) or self.step in WORDS or self.line is None:
            return
        if event.key in {"enter", "escape"}:
            self._wanted = self.line.text if event.key == "enter" else ""
            self.line = None
            event.stop()
            event.prevent_default()
            self._list_anew()

    def edited(self) -> None:
        """Draw the word, or list the devices that hold it."""
        self._said = ""
        if self.step in WORDS:
            self.draw()
        elif self.line is not None:
            self._wanted = self.line.text
            self._list_anew()
