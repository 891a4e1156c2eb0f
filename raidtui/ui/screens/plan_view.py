"""A plan before it is done: what is lost, every step, what has to be typed. Enter alone never confirms."""

from __future__ import annotations

from textual import events

from raidtui.actions.script import plan_sentences
from raidtui.model.brief import Line
from raidtui.model.plan import Harm, Plan
from raidtui.model.text import visible
from raidtui.ui.screens.frame import FrameScreen, wrapped

DO, SAVE = "do", "save"


class PlanView(FrameScreen[str]):
    """Gives ``do``, ``save``, or None."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(visible(f"{plan.subject}: {plan.title}"))
        self._plan = plan
        self._typed = ""

    def on_mount(self) -> None:
        """Draw."""
        lines: list[Line] = []
        for text in plan_sentences(self._plan)[1:]:
            indent = len(text) - len(text.lstrip()) + 4
            lost = text.lstrip().startswith("gone afterwards")
            role = "bad" if lost else "accent" if text[:3].strip().isdigit() and text[3:5] == "  " else "dim"
            lines += wrapped(text, self.inner_width, role, indent=indent)
        self.show_body(lines)
        self._body.focus()
        self._draw()

    @property
    def _destroys(self) -> bool:
        return self._plan.harm is Harm.DESTROYS

    def _draw(self) -> None:
        if self._destroys:
            name = visible(self._plan.confirm)
            note = f"To go on, type {name} and Enter: {visible(self._typed)}▏"
            self.show_foot(("^s", "save as script"), ("Esc", "back"), note=note, role="warn")
        else:
            self.show_foot(("y", "do it"), ("s", "save as script"), ("Esc", "back"))

    def on_key(self, event: events.Key) -> None:
        """Take the letter, or the name."""
        if event.key == "ctrl+s" or (event.key == "s" and not self._destroys):
            self.dismiss(SAVE)
        elif not self._destroys:
            if event.key != "y":
                return
            self.dismiss(DO)
        elif event.key == "enter":
            if self._typed == self._plan.confirm:
                self.dismiss(DO)
        elif event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.is_printable and event.character:
            self._typed = (self._typed + event.character)[:64]
        else:
            return
        event.stop()
        event.prevent_default()
        self._draw()
