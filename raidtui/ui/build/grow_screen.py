"""The page that gives an array another shape: what, with which devices, and below it the plan of that.

Arrows, Space and Enter do everything. Nothing is done to the host here, whatever is pressed.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.grow.grow_draft import GrowDraft, grow_rows, plan_of_draft, taken, turned
from raidtui.plans.wizard.choices import device_picks
from raidtui.plans.wizard.wizard_draft import WizardChoice, WizardDraft, WizardRow
from raidtui.ui.build import wizard_lines as wizard
from raidtui.ui.frame.pages import PageScreen, WhyScreen, note_lines
from raidtui.ui.frame.plan_flow import labels_on
from raidtui.view.line import Line

_LEAST = 7
"""The least lines of the plan that are in view below the devices."""
_MOVES = (
    "md moves the data of an array while it serves; LVM, encryption and file system follow from the bottom to"
    " the top. A reshape continues after a reboot, and can be slowed; it takes hours to days."
)
_IS_A_PLAN = (
    "What is chosen is a plan at once: capacity before and afterwards, what one more lost disk means"
    " meanwhile, how long it takes at least, what is written to each disk. Enter shows its steps; nothing is"
    " done before they are confirmed there."
)
_BY_HAND = (
    "A backup file, volumes of LVM that take the new room, and a size per member are given on the command"
    " line: raidtui plan grow, convert, shrink. docs/plans.md says what md and mdadm can do."
)
_WHY = (_MOVES, "", _IS_A_PLAN, "", _BY_HAND)


class GrowScreen(PageScreen[GrowDraft]):
    """Gives what was chosen, or None.

    Args:
        survey: the host, so far.
        array: the array.
        draft: what was chosen before.
        said: why it is back.
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
        Binding("space", "change(1)", show=False),
        Binding("enter", "next", show=False),
        Binding("question_mark,f1", "why", show=False),
    ]

    takes_ahead = True

    def __init__(
        self, survey: Survey, array: Array, draft: GrowDraft | None = None, *, said: str = ""
    ) -> None:
        super().__init__(f"{array.title}: another shape")
        self._survey = survey
        self._array = array
        self.draft = draft or GrowDraft()
        self._said = said
        self._at = 0
        self._words = ""
        self._ready = False
        self._drawn = False
        self._rows: tuple[WizardRow, ...] = ()
        self._picks: tuple[WizardChoice, ...] = ()

    def show_survey(self, survey: Survey, words: str, *, ready: bool) -> None:
        """Take what has been read meanwhile; what is chosen stays.

        Args:
            survey: the host.
            words: what is still being read, if anything.
            ready: whether LVM and the host's files have been read.
        """
        if (survey, words, ready) == (self._survey, self._words, self._ready):
            return
        self._survey, self._words, self._ready = survey, words, ready
        if self._drawn:
            self.draw()
            self.release()

    def holds(self, key: str) -> bool:
        """Hold Enter until the host has been read, and Space for a device that is still being read."""
        if key in {"space", "left", "right", "h", "l"} and (pick := self._pick) is not None:
            return pick.pending
        return key == "enter" and not self._ready

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.draw()
        self._body.focus()

    @property
    def _pick(self) -> WizardChoice | None:
        """The device with the cursor."""
        number = self._at - len(self._rows)
        return self._picks[number] if 0 <= number < len(self._picks) else None

    def plan(self) -> Plan | Refusal:
        """Return the plan of what is chosen; arrays that do not run and would be destroyed are asked for."""
        array = self._survey.snapshot.array(self._array.key) or self._array
        destroys = [word for name in self.draft.devices for word in labels_on(self._survey, name)]
        return plan_of_draft(self._survey, array, self.draft, destroys=destroys)

    # -- drawing

    def draw(self) -> None:
        """Draw head, keys and body."""
        self._rows = grow_rows(self.draft)
        own = {member.name for member in self._array.members}
        picks = device_picks(WizardDraft(), self._survey)[:-1] if self.draft.takes_devices else ()
        self._picks = tuple(pick for pick in picks if pick.key not in own)
        self._at = min(self._at, len(self._rows) + len(self._picks) - 1)
        width, height = self.inner_width, self.inner_height
        self.show_head(self._title, self._words)
        keys = ("Space", "take") if self._pick is not None else ("Space ←→", "change")
        self.show_keys(("↑↓", "choose"), keys, ("Enter", "review"), ("Esc", "leave"), right=("?", "why"))
        lines = wizard.value_lines(self._rows, self._at, width)
        review = self._review(width)
        room = height - len(lines) - 1
        if not self._picks:
            self.show_body([*lines, [], *review][:height])
            return
        order = {name: f"{number + 1}" for number, name in enumerate(self.draft.devices)}
        marks = [order.get(pick.key, "") for pick in self._picks]
        at = self._at - len(self._rows)
        head, *rows = wizard.device_lines(self._picks, at, marks, width)
        table = wizard.with_note(rows, max(0, at), review, room - 1, min(_LEAST, len(review)))
        self.show_body([*lines, [], head, *table][:height])

    def _review(self, width: int) -> list[Line]:
        """Return the note of the row, and the plan of what is chosen or why there is none."""
        pick = self._pick
        note = wizard.row_note(pick if pick is not None else self._rows[self._at], width)
        note = [*note, []] if note else []
        if self._said:
            return note_lines(self._said, width, "warn")
        if not self._ready:
            return [*note, [(self._words or "reading …", "dim")]]
        made = self.plan()
        if isinstance(made, Refusal):
            return [*note, *note_lines(f"not possible: {made.sentence}", width, "warn")]
        lines: list[Line] = [*note, *note_lines(made.title, width, "strong")]
        for text in (*(loss.sentence for loss in made.losses), *made.loses):
            lines += note_lines(text, width, "bad")
        lines += note_lines(made.warning, width, "warn") if made.warning else []
        for text in made.notes:
            lines += note_lines(text, width, "plain")
        return lines

    # -- keys

    def action_move(self, delta: int) -> None:
        """Move the cursor."""
        most = len(self._rows) + len(self._picks) - 1
        self._at, self._said = max(0, min(most, self._at + delta)), ""
        self.draw()

    def action_change(self, delta: int) -> None:
        """Change a value; take a device, or leave it out."""
        self._said = ""
        if (pick := self._pick) is None:
            self.draft = turned(self._array, self.draft, self._rows[self._at].key, delta)
        elif not pick.refusal:
            self.draft = taken(self.draft, pick.key)
        self.draw()

    def action_next(self) -> None:
        """Go on to the plan, where there is one."""
        if isinstance(self.plan(), Plan):
            self.dismiss(self.draft)

    def action_why(self) -> None:
        """Show what there is to know before one decides."""
        self.app.push_screen(WhyScreen(self._title, _WHY))
