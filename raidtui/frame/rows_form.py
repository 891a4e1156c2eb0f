"""A form over what is being read of the host: rows of values, devices to take, and lines of text.

Arrows, Space and Enter do everything. Nothing is done to the host here, whatever is pressed.
"""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType

from raidtui.frame.pages import PageScreen
from raidtui.frame.text_field import Typing, field_of
from raidtui.model.survey import Survey
from raidtui.plans.wizard.wizard_draft import WizardChoice, WizardRow

T = TypeVar("T")
_MOST_TYPED = 200


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
    def _row(self) -> WizardRow | None:
        """The row with the cursor; None at what can be taken or chosen."""
        return self._rows[self._at] if self._at < len(self._rows) else None

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

    # -- text

    def on_key(self, event: events.Key) -> None:
        """Edit the line that is open. No subclass has its own: Textual would call both."""
        if self.line is None or self.edits(event):
            return
        if self.line_key(event.key):
            event.stop()
            event.prevent_default()

    def line_key(self, key: str) -> bool:
        """Handle a key that does not edit the open line, and return whether it is handled."""
        if self.line is None:
            return False
        row = self._row
        if key == "enter" and row is not None:
            text, self.line = self.line.text.strip(), None
            self.typed(row.key, text)
        elif key == "escape":
            self.line = None
        self.draw()
        return True

    def typed(self, key: str, text: str) -> None:
        """Take what was typed into a row."""
        raise NotImplementedError

    def edited(self) -> None:
        """Draw the text."""
        self.draw()

    # -- keys

    def action_take(self) -> None:
        """Open a row of text; change any other one, or take what is at the cursor."""
        row = self._row
        if row is None or not row.typed:
            self.action_change(1)
            return
        self._said = ""
        self.line = field_of(row.value, _MOST_TYPED)
        self.draw()

    def action_change(self, delta: int) -> None:
        """Change a value; take a device, or leave it out."""
        raise NotImplementedError
