"""The wizard: short steps; what has been decided stays in the column at the left. It ends with a plan."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from raidtui.actions.build import (
    STEPS,
    WORDS,
    Draft,
    Pick,
    choose,
    decided,
    is_asked,
    picks,
    refuse_word,
    toggle,
)
from raidtui.model.brief import Line
from raidtui.model.survey import Survey
from raidtui.model.text import fit, visible
from raidtui.ui.screens.frame import FrameScreen

_LEFT = 24
_NOTE_LINES = 5
_LEAST_ROWS = 6
_HINTS = {
    "name": "Three digits are best: md127 and /dev/md/127 then stay what they are. A word will do, too.",
    "mount": "Where it is mounted, now and at boot: /srv/data. Empty: nowhere.",
}


class BuildScreen(FrameScreen[Draft]):
    """Gives the finished draft, or None.

    Args:
        survey: the host with all devices.
        draft: where to begin: what was decided before.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("space", "mark", show=False),
        Binding("enter", "next", show=False),
    ]

    def __init__(self, survey: Survey, draft: Draft | None = None) -> None:
        super().__init__("Build an array")
        self._survey = survey
        self.draft = draft or Draft()
        self._step = 0
        self._at = 0
        self._word = self.draft.name
        self._said = ""
        self._picks: tuple[Pick, ...] = ()

    @property
    def step(self) -> str:
        """The step's name."""
        return STEPS[self._step]

    def on_mount(self) -> None:
        """Draw the first step."""
        self._enter(0)
        self._body.focus()

    def _enter(self, number: int, direction: int = 1) -> None:
        """Go to a step; one at which there is nothing to decide is passed over."""
        self._step, self._said = number, ""
        self._picks = picks(self.step, self.draft, self._survey)
        if not self._picks and self.step != "devices" and not is_asked(self.step, self.draft):
            self._enter(number + direction, direction)
            return
        self._word = {"mount": self.draft.mount, "name": self.draft.name}.get(self.step, "")
        self._at = next((i for i, pick in enumerate(self._picks) if not pick.refusal), 0)
        self._draw()

    def _draw(self) -> None:
        width = self.inner_width
        right = width - _LEFT - 2
        head = fit(
            "Build an array", width - 30
        ) + f"step {self._step + 1} of {len(STEPS)}: {self.step}".rjust(30)
        self._head.show([[(head, "strong")], [("─" * width, "dim")]])
        rows = self._word_rows(right) if self.step in WORDS else self._pick_rows(right)
        left = self._left_rows()
        count = max(len(rows), len(left), _LEAST_ROWS)
        lines: list[Line] = []
        for index in range(count):
            start: Line = left[index] if index < len(left) else [(" " * _LEFT, "plain")]
            end: Line = rows[index] if index < len(rows) else []
            lines.append([*start, ("│ ", "dim"), *end])
        selected = None if self.step in WORDS else self._at
        self.show_body(lines)
        if selected is not None:
            self._body.keep_in_view(selected)
        self._draw_foot(width)

    def _left_rows(self) -> list[Line]:
        lines: list[Line] = []
        for step, words in decided(self.draft):
            role = "accent" if step == self.step else "strong" if words != "–" else "dim"
            parts = textwrap.wrap(words, _LEFT - 11)[:3] or [""]
            lines.append([(fit(f" {step}", 10), role), (fit(visible(parts[0]), _LEFT - 10), "plain")])
            lines += [[(" " * 10 + fit(visible(part), _LEFT - 10), "plain")] for part in parts[1:]]
        return lines

    def _pick_rows(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for index, pick in enumerate(self._picks):
            at = index == self._at
            if self.step == "devices":
                mark = "[x]" if pick.key in self.draft.devices else "[ ]"
            else:
                mark = "(●)" if at else "( )"
            role = "dim" if pick.refusal else "key" if at else "plain"
            lines.append([(fit(f"{'▸' if at else ' '}{mark} {visible(pick.words)}", width), role)])
        return lines or [[("there is no disk or partition here", "warn")]]

    def _word_rows(self, width: int) -> list[Line]:
        hint = _HINTS[self.step]
        entry: Line = [(" ", "plain"), (visible(self._word) + "▏", "strong")]
        return [entry, [], *([(part, "dim")] for part in textwrap.wrap(hint, width - 1))]

    def _draw_foot(self, width: int) -> None:
        pick = self._picks[self._at] if self._picks else None
        note, role = self._said, "warn"
        if not note and pick is not None:
            note, role = (f"not this one: {pick.refusal}", "warn") if pick.refusal else (pick.note, "dim")
        lines: list[Line] = [[("─" * width, "dim")]]
        parts = textwrap.wrap(visible(note), width)[:_NOTE_LINES]
        lines += [[(part, role)] for part in parts] + [[] for _ in range(_NOTE_LINES - len(parts))]
        keys = [("Esc", "back")]
        if self.step in WORDS:
            keys = [("Enter", "show the plan" if self.step == "name" else "next"), *keys]
        elif self.step == "devices":
            keys = [("↑↓", "choose"), ("Space", "take, or leave"), ("Enter", "next"), *keys]
        else:
            keys = [("↑↓", "choose"), ("Enter", "next"), *keys]
        foot: Line = []
        for key, words in keys:
            foot += [(f" {key} ", "key"), (f"{words}  ", "plain")]
        self._foot.show([*lines, foot])
        self._fit()

    def action_move(self, delta: int) -> None:
        """Move the choice."""
        if self.step not in WORDS and self._picks:
            self._at, self._said = max(0, min(len(self._picks) - 1, self._at + delta)), ""
            self._draw()

    def action_mark(self) -> None:
        """Take a device, or leave it."""
        pick = self._picks[self._at] if self._picks else None
        if self.step == "devices" and pick is not None and not pick.refusal:
            self.draft = toggle(self.draft, pick.key)
            self._said = ""
            self._draw()

    def action_next(self) -> None:
        """Take what is chosen, and go on. Nothing is done yet, whatever is pressed here."""
        if self.step in WORDS:
            self._take_word()
            return
        pick = self._picks[self._at] if self._picks else None
        if self.step == "devices":
            if not self.draft.devices:
                self._said = "take at least one device: Space"
                self._draw()
                return
        elif pick is None or pick.refusal:
            return
        else:
            self.draft = choose(self.step, pick.key, self.draft)
        self._enter(self._step + 1)

    def _take_word(self) -> None:
        refusal = refuse_word(self.step, self.draft, self._survey, self._word)
        if refusal is not None:
            self._said = refusal.sentence
            self._draw()
            return
        self.draft = choose(self.step, self._word, self.draft)
        if self.step == "name":
            self.dismiss(self.draft)
        else:
            self._enter(self._step + 1)

    def action_back(self) -> None:
        """One step back; from the first one, leave."""
        if self._step == 0:
            self.dismiss(None)
        else:
            self._enter(self._step - 1, -1)

    def on_key(self, event: events.Key) -> None:
        """Collect the name."""
        if self.step not in WORDS:
            return
        if event.key == "backspace":
            self._word = self._word[:-1]
        elif event.is_printable and event.character and event.character != " ":
            self._word = (self._word + event.character)[:60]
        else:
            return
        self._said = ""
        event.stop()
        event.prevent_default()
        self._draw()
