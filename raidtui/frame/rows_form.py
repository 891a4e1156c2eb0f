"""A form over what is being read of the host: rows of values, devices to take, and lines of text.

Arrows, Space and Enter do everything. Nothing is done to the host here, whatever is pressed.
"""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType

from raidtui.frame.pages import PageScreen
from raidtui.frame.text_field import Typing
from raidtui.model.survey import Survey
from raidtui.plans.wizard.wizard_draft import WizardChoice, WizardRow

T = TypeVar("T")


class RowsForm(Typing, PageScreen[T], Generic[T]):
    """Gives what was decided, or None.

    Args:
        title: its title.
        survey: the host, so far.
        said: why the form is back.
        ready: whether LVM and the host's files have been read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("home", "move(-9999)", show=False),
        Binding("end", "move(9999)", show=False),
        Binding("left,h", "change(-1)", show=False),
        Binding("right,l", "change(1)", show=False),
        Binding("space", "take", show=False),
        Binding("enter", "next", show=False),
        Binding("question_mark,f1", "why", show=False),
    ]
    accepts_type_ahead = True

    def __init__(self, title: str, survey: Survey, said: str, *, ready: bool) -> None:
        super().__init__(title)
        self._survey, self._said = survey, said
        self._words, self._ready = "", ready
        self._rows: tuple[WizardRow, ...] = ()
        self._picks: tuple[WizardChoice, ...] = ()
        self._at = 0
        self._moved = self._drawn = False

    @property
    def _listed(self) -> tuple[WizardRow | WizardChoice, ...]:
        """The rows, then what can be taken or chosen."""
        return (*self._rows, *self._picks)

    @property
    def _here(self) -> str:
        """The key of the row with the cursor; "" without rows."""
        listed = self._listed
        return listed[self._at].key if self._at < len(listed) else ""

    @property
    def _pick(self) -> WizardChoice | None:
        """What can be taken or chosen at the cursor."""
        number = self._at - len(self._rows)
        return self._picks[number] if 0 <= number < len(self._picks) else None

    def begin(self) -> None:
        """Draw for the first time."""
        self.draw()

    def survey_changed(self, before: str) -> None:
        """Draw what has been read; ``before`` is the key of the row that had the cursor."""
        del before
        self.draw()

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.begin()
        self._body.focus()

    def show_survey(self, survey: Survey, words: str, *, ready: bool) -> None:
        """Take what has been read meanwhile.

        Args:
            survey: the host.
            words: what is still being read, if anything.
            ready: whether LVM and the host's files have been read.
        """
        if (survey, words, ready) != (self._survey, self._words, self._ready):
            before = self._here
            self._survey, self._words, self._ready = survey, words, ready
            if self._drawn:
                self.survey_changed(before)
                self.release()

    def action_move(self, delta: int) -> None:
        """Move the cursor."""
        if count := len(self._listed):
            self._at, self._said = max(0, min(count - 1, self._at + delta)), ""
            self._moved = True
            self.draw()

    def action_take(self) -> None:
        """Take what is at the cursor, or change it."""
        self.action_change(1)

    def action_change(self, delta: int) -> None:
        """Change a value; take a device, or leave it out."""
        raise NotImplementedError
