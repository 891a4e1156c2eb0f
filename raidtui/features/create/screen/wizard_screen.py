"""The wizard: three questions, then one page with each value and its reason. It ends with a plan."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.features.create.screen.device_step import device_step
from raidtui.features.create.screen.picture_lines import (
    Preview,
    brief_lines,
    panel_lines,
    preview,
    warning_lines,
)
from raidtui.features.create.screen.wizard_keys import Keys, device_keys, wizard_keys
from raidtui.frame import wizard_lines as wizard
from raidtui.frame.pages import WhyScreen
from raidtui.frame.rows_form import RowsForm
from raidtui.frame.text_field import TextField, field_of
from raidtui.model.survey import Survey
from raidtui.plans.wizard.choices import EMPTY
from raidtui.plans.wizard.defaults import completed, proposed_devices, proposed_name
from raidtui.plans.wizard.wizard_draft import (
    MEMBER,
    WizardChoice,
    WizardDraft,
    doomed,
    with_empty,
    with_role,
)
from raidtui.plans.wizard.wizard_steps import (
    DEVICES,
    NAME,
    OLD,
    PAGE,
    PURPOSE,
    WORDS,
    asked,
    changed,
    choose,
    first_choice,
    page_rows,
    picks,
    refuse_step,
    refuse_word,
    step_page,
)
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.wrapping import wrapped

TITLE = "Build an array"
_MOST_TYPED = 60
_CHOOSES = frozenset({"space", "left", "right", "h", "l", "s", "w"})
_QUESTIONS = {
    DEVICES: "1 of 3: which disks?",
    OLD: "1 of 3: old arrays on them",
    PURPOSE: "2 of 3: what for?",
    NAME: "3 of 3: its name?",
    PAGE: "all of it",
}
_NAME_HINT = "In every superblock, and /dev/md/NAME. Three digits are also the number: 127 is md127."
_WIDE, _WIDER = 100, 150
_PANEL, _WIDEST_PANEL = 42, 76
_TALL = 30


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
        Binding("plus", "every", show=False),
        Binding("s", "role('spare')", show=False),
        Binding("w", "role('journal')", show=False),
    ]

    def __init__(
        self, survey: Survey, draft: WizardDraft | None = None, *, step: str = DEVICES, said: str = ""
    ) -> None:
        super().__init__(TITLE, survey, said, ready=True)
        self.draft = draft or WizardDraft()
        self.step = step
        self._wanted = ""
        """The text that listed devices hold."""
        self._fitting = False
        """Whether only devices that can be taken are listed."""
        self._every = False
        """Whether all levels, or all values, are listed."""
        self._proposed: tuple[str, ...] = ()
        """The free disks of one kind, as they were ticked."""
        self._chose = draft is not None
        """Whether a device has been chosen, or left out."""

    def survey_changed(self, before: str) -> None:
        """Draw what has been read; the choice stays where it was moved, or typed."""
        here = None if self.step == DEVICES and not self._moved else before
        self._propose()
        self._look()
        kept = [number for number, each in enumerate(self._listed) if each.key == here]
        self._at = (kept or self._able())[0]
        self.draw()

    def _propose(self) -> None:
        """Tick the free disks of one kind, once all are read, until one has been chosen."""
        choosing = self._chose or any(key in _CHOOSES for key, _ in self._ahead)
        if self.step == DEVICES and not choosing and not self._words and self._ready:
            self._proposed = proposed_devices(self._survey)
            self.draft = replace(self.draft, devices=self._proposed)

    def _able(self) -> list[int]:
        """Return which rows can be chosen, or may turn out so; the first one where none can."""
        return [
            number
            for number, each in enumerate(self._listed)
            if not each.refusal or (isinstance(each, WizardChoice) and each.pending)
        ] or [0]

    def holds_key(self, key: str) -> bool:
        """Hold keys for a device that is still being read, and Enter until LVM has been read."""
        if self.step != DEVICES or not self._words:
            return False
        if not self._picks:
            return True
        if key in _CHOOSES:
            return self._picks[self._at].pending
        return key == "enter" and not (self._ready and self.draft.devices)

    def begin(self) -> None:
        """Draw the first step."""
        self._propose()
        self._enter(self.step, self._said)

    # -- steps

    def _enter(self, step: str, said: str = "") -> None:
        """Go to a step."""
        self.step, self._said, self._moved, self._every = step, said, False, False
        self.line = None
        if step == PAGE:
            self.draft = completed(self.draft, self._survey)
        if step in WORDS:
            word = (self.draft.name or proposed_name(self._survey)) if step == NAME else ""
            # Old arrays have any name, new ones have neither blanks nor a ?.
            self.line = replace(field_of(word, _MOST_TYPED), refused="" if step == OLD else " ?")
        self._look()
        first = first_choice(step, self.draft)
        able, listed = self._able(), self._listed
        wanted = [number for number in able if listed and listed[number].key == first]
        self._at = (wanted or able)[0]
        self.draw()

    def _look(self) -> None:
        """Find what can be chosen."""
        self._rows = page_rows(self.draft, self._survey, every=self._every) if self.step == PAGE else ()
        self._picks = picks(self.step, self.draft, self._survey, every=self._every)
        if self.step == DEVICES:
            self._picks = tuple(pick for pick in self._picks if pick.key == EMPTY or self._lists(pick))

    def _lists(self, pick: WizardChoice) -> bool:
        """Whether a device is listed; what is taken already always fits."""
        if self._fitting and pick.refusal and not self.draft.role(pick.key):
            return False
        return self._wanted.lower() in " ".join((*pick.cells, pick.words)).lower()

    def _list_anew(self) -> None:
        """List what is wanted now; the chosen row stays chosen where it is listed."""
        here, self._said = self._here, ""
        self._look()
        at = next((number for number, each in enumerate(self._listed) if each.key == here), 0)
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
        self.show_head(TITLE, self._words or _QUESTIONS[self.step])
        self.show_keys(*self._keys(), right=("F1" if self.step == OLD else "?", "why"))
        width, height = self.inner_width, self.inner_height
        seen = preview(self._tried, self._survey)
        beside = width >= (_WIDER if self.step == DEVICES else _WIDE)
        if beside:
            own = min(_WIDEST_PANEL, max(_PANEL, width * 3 // 8))
            room = width - own - 3
            panel = panel_lines(seen, own, height) if seen is not None else []
            self.show_body(wizard.beside(self._main(room, height, None), panel, room, height))
        elif seen is not None and self.step == DEVICES and height >= _TALL:
            panel = panel_lines(seen, width, height // 2)
            main = self._main(width, height - len(panel) - 1, None)
            blank = height - len(panel) - 1 - len(main)
            self.show_body([*main, *([[]] * max(0, blank)), [("─" * width, "dim")], *panel])
        else:
            self.show_body(self._main(width, height, seen))

    @property
    def _tried(self) -> WizardDraft:
        """The draft with what the cursor is at."""
        if self.step != PURPOSE or not self._picks or self._picks[self._at].refusal:
            return self.draft
        return choose(PURPOSE, self._here, self.draft, self._survey)

    def _keys(self) -> Keys:
        typing = self.line is not None
        if self.step == DEVICES:
            return device_keys(self.draft, self._here, typing=typing, fitting=self._fitting)
        return wizard_keys(self.step, self._row, typing=typing, every=self._every)

    def _main(self, width: int, height: int, seen: Preview | None) -> list[Line]:
        """Return the step, with the picture below it where it has no place of its own."""
        if self.step in WORDS:
            lines = self._word_lines(width)
        elif self.step == DEVICES:
            return self._devices(width, height)
        else:
            brief = brief_lines(seen, width) if seen is not None else []
            warnings = warning_lines(seen, width, 4) if seen is not None and self.step == PAGE else []
            rows = wizard.value_lines(self._rows, self._at, width, self.line)
            rows = rows or wizard.pick_lines(self._picks, self._at, width)
            longest = max(len(wizard.row_note(each, width)) for each in self._listed)
            room = height - len(brief) - len(warnings)
            lines = wizard.with_note(rows, self._at, self._note(width), room, longest)
            return [*lines, *warnings, *([[]] * max(0, room - len(lines))), *brief]
        return lines

    def _devices(self, width: int, height: int) -> list[Line]:
        if not self._picks:
            return [[("" if self._words else "There is no disk or partition here.", "warn")]]
        wanted: list[Line] = []
        if self.line is not None or self._wanted:
            shown = visible(self._wanted) if self.line is None else self.line.shown
            wanted = [[("/ ", "key"), (shown, "strong")]]
        size = (width, height - len(wanted))
        note = self._note(width)
        return [
            *wanted,
            *device_step(self._picks, self._at, self.draft, size, proposed=self._proposed, note=note),
        ]

    def _note(self, width: int) -> list[Line]:
        if self._said:
            return wrapped(self._said, width, "warn")
        listed = self._listed
        return wizard.row_note(listed[self._at], width) if listed else []

    def _word_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        if self.step == OLD:
            lines, hint = wizard.old_arrays(self.draft, self._survey, width)
        else:
            hint = _NAME_HINT
        lines += [[("> ", "key"), (self._word.shown, "strong")], []]
        note = self._said or hint
        return [*lines, *wrapped(note, width, "warn" if self._said else "plain")]

    # -- keys

    def action_change(self, delta: int) -> None:
        """Take a device, or leave it; change a value."""
        here, self._said = self._here, ""
        self._moved = True
        if self.step == DEVICES and here == EMPTY:
            self._chose = True
            self.draft = with_empty(self.draft, self.draft.empty + delta)
        elif self.step == DEVICES:
            if delta > 0 or self.draft.role(here):
                self.action_role(self.draft.role(here) or MEMBER)
            return
        elif (row := self._row) is not None and not row.refusal and not row.typed:
            self.draft = changed(self.draft, self._survey, here, delta)
        if self.step == PAGE:
            self._list_anew()
        else:
            self._look()
            self.draw()

    def action_role(self, role: str) -> None:
        """Take a device as a member, spare or journal, or leave it out where it is that."""
        if self.step != DEVICES or not self._picks or self._picks[self._at].refusal or self._here == EMPTY:
            return
        self._moved = self._chose = True
        self._said = ""
        self.draft = with_role(self.draft, self._here, role)
        self._look()
        self.draw()

    def action_next(self) -> None:
        """Take what is chosen, and go on. Nothing is done yet, whatever is pressed here."""
        if self.step in WORDS:
            self._take_word()
            return
        self._said = refuse_step(self.step, self.draft, self._survey)
        if self.step == PURPOSE:
            if self._picks[self._at].refusal:
                return
            self.draft = choose(PURPOSE, self._here, self.draft, self._survey)
        if self._said:
            self.draw()
        else:
            self._go(1)

    def typed(self, key: str, text: str) -> None:
        """Take what was typed into a row of the page; what is wrong with it stands beside it."""
        self.draft = choose(key, text, self.draft, self._survey)
        self._look()

    @property
    def _word(self) -> TextField:
        """What is typed."""
        return self.line or TextField()

    def _take_word(self) -> None:
        needless = self.step == OLD and not doomed(self.draft, self._survey)
        refusal = None if needless else refuse_word(self.step, self.draft, self._survey, self._word.text)
        if refusal is not None:
            self._said = refusal.sentence
            self.draw()
            return
        if not needless:
            self.draft = choose(self.step, self._word.text, self.draft, self._survey)
        if self.step == OLD and doomed(self.draft, self._survey):
            self._enter(self.step)
        else:
            self._go(1)

    def action_why(self) -> None:
        """Show what there is to know before one decides."""
        key = self.step if self.step != PAGE else self._here
        self.app.push_screen(WhyScreen(f"{TITLE}: {key}", step_page(key)))

    def action_filter(self) -> None:
        """Type what the listed devices hold."""
        if self.step == DEVICES and self._picks:
            self.line = field_of(self._wanted, _MOST_TYPED)
            self.draw()

    def action_fitting(self) -> None:
        """List only what can be taken, or all again."""
        if self.step == DEVICES and self._picks:
            self._fitting = not self._fitting
            self._list_anew()

    def action_every(self) -> None:
        """List all levels or values, or only those that are proposed."""
        if self.step in {PURPOSE, PAGE}:
            self._every = not self._every
            self._list_anew()

    def action_back(self) -> None:
        """One step back; from the first one, leave."""
        self._go(-1)

    def line_key(self, key: str) -> bool:
        """Keep the filter, or end it; leave a row; a word that is a step has the screen's own keys."""
        if self.step in WORDS or self.line is None:
            return False
        if self.step == PAGE:
            return super().line_key(key)
        if key not in {"enter", "escape"}:
            return False
        self._wanted = self.line.text if key == "enter" else ""
        self.line = None
        self._list_anew()
        return True

    def edited(self) -> None:
        """Draw the word, or list the devices that hold it."""
        self._said = ""
        if self.step == DEVICES and self.line is not None:
            self._wanted = self.line.text
            self._list_anew()
        else:
            self.draw()
