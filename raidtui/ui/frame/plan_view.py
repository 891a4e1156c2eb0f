"""A plan before it is done: what is lost, every step, what has to be typed. Enter alone never confirms."""

from __future__ import annotations

import math
from collections.abc import Mapping

from textual import events
from textual._time import get_time

from raidtui.model.plan import Harm, Plan
from raidtui.model.survey import Device
from raidtui.ui.frame.pages import PageScreen
from raidtui.ui.frame.review import no_undo, review_lines
from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

DO, SAVE = "do", "save"
_FIELD = 16


class PlanView(PageScreen[str]):
    """Gives ``do``, ``save``, or None.

    Args:
        plan: what is asked about.
        devices: what is known of the devices, by kernel name.
        title: what the head line says.
        right: and at its right.
    """

    def __init__(
        self,
        plan: Plan,
        devices: Mapping[str, Device] | None = None,
        *,
        title: str = "",
        right: str = "review",
    ) -> None:
        super().__init__(visible(title or f"{plan.subject}: {plan.title}"))
        self._plan = plan
        self._devices = devices or {}
        self._right = right
        self._typed = ""
        self._shown_s = math.inf

    def on_mount(self) -> None:
        """Draw."""
        self._shown_s = get_time()
        self.draw()
        self._body.focus()

    @property
    def _destroys(self) -> bool:
        return self._plan.harm is Harm.DESTROYS

    def draw(self) -> None:
        """Draw everything."""
        self.show_head(self._title, self._right)
        self._draw_foot()
        self.show_body(review_lines(self._plan, self.inner_width - 1, self._devices))

    def _draw_foot(self) -> None:
        if self._destroys:
            typed = visible(self._typed) + "▏"
            ask = f"To go on, type {visible(self._plan.confirm)} and Enter: "
            field, warning = f"[{typed:<{_FIELD}}]", no_undo(self._plan)
            gap = self.inner_width - cell_width(ask) - cell_width(field) - len(warning)
            line: Line = [(ask, "warn"), (field, "strong")]
            if gap > 1:
                line.append((" " * gap + warning, "warn"))
            self.show_keys(("^s", "save as script"), ("↑↓", "scroll"), ("Esc", "back"), notes=[line])
        else:
            self.show_keys(("y", "do it"), ("s", "save as script"), ("↑↓", "scroll"), ("Esc", "back"))

    def on_key(self, event: events.Key) -> None:
        """Take the letter, or the name; what was typed before the plan was there confirms nothing."""
        if event.time < self._shown_s and event.key != "escape":
            event.stop()
            event.prevent_default()
            return
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
        self._draw_foot()
