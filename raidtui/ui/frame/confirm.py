"""Questions. Enter never confirms: the focus rests on what changes nothing."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import Reactive
from textual.widget import Widget

from raidtui.model.plan import Plan
from raidtui.ui.frame.dialog import Dialog
from raidtui.ui.frame.lines import Lines
from raidtui.view.line import Line
from raidtui.view.text import visible

WIDTH = 74


def plan_lines(plan: Plan) -> list[Line]:
    """Return a plan as it is shown before it is done: title, warning, every write, how it is undone."""
    lines: list[Line] = [[(visible(f"{plan.subject}: {plan.title}"), "strong")], []]
    lines += [[(part, "warn")] for part in textwrap.wrap(visible(plan.warning), WIDTH - 4)]
    if plan.warning:
        lines.append([])
    for step in plan.steps:
        lines.append([("  " + visible(step.command), "accent")])
        lines.append([("      " + visible(step.why), "dim")])
    if plan.undo:
        lines.append([])
        lines.append([("undo:", "dim")])
        lines += [[("  " + visible(step.command), "dim")] for step in plan.undo]
    return lines


class Question(Dialog[str]):
    """A text and a few one-letter answers; Esc and Enter give the harmless answer.

    Args:
        lines: what is asked.
        answers: (key, words) pairs; the result is the key.
        harmless: the answer of Esc and Enter.
    """

    CSS = """
    Question { align: center middle; background: transparent; }
    #question {
        width: 78; max-width: 100%; height: auto; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "harmless", "Back", show=False),
    ]

    def __init__(self, lines: list[Line], answers: tuple[tuple[str, str], ...], harmless: str = "") -> None:
        super().__init__()
        self._question = lines
        self._text = Lines(id="question-text")
        self._foot = Lines(id="question-answers")
        self._answers = answers
        self._harmless = harmless

    def compose(self) -> ComposeResult:
        """The text, the answers."""
        with Vertical(id="question"):
            yield self._text
            yield self._foot

    def on_mount(self) -> None:
        """Fill in."""
        self._text.show(self._question)
        line: Line = []
        for key, words in self._answers:
            line += [(f" {key} ", "key"), (f"{words}   ", "plain")]
        line += [(" Esc ", "key"), ("back" if not self._harmless else "stay here", "plain")]
        self._foot.show([[], line])

    def on_key(self, event: object) -> None:
        """Take an answer's letter."""
        character = getattr(event, "character", None)
        if character and any(character == key for key, _ in self._answers):
            self.dismiss(character)

    def action_harmless(self) -> None:
        """Change nothing."""
        self.dismiss(self._harmless)
