"""The page that gives an array another shape: what, with which devices, and below it the plan of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_draft import (
    BACKUP,
    GrowDraft,
    grow_rows,
    plan_of_draft,
    taken,
    turned,
)
from raidtui.frame import wizard_lines as wizard
from raidtui.frame.pages import WhyScreen
from raidtui.frame.plan_flow import labels_on
from raidtui.frame.rows_form import RowsForm
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.wizard.choices import device_picks
from raidtui.plans.wizard.wizard_draft import WizardDraft
from raidtui.view.line import Line
from raidtui.view.wrapping import wrapped

_LEAST = 7
"""The least lines of the plan that are in view below the devices."""
_MOVES = (
    "md moves an array's data while it is in use; LVM, encryption and file system follow from"
    " bottom to top. A reshape continues after a reboot, and can be slowed; it takes hours to days."
)
_IS_A_PLAN = (
    "Each choice is a plan at once: capacity before and afterwards, what one more lost disk"
    " means meanwhile, the least time it takes, what is written to each disk. Enter shows its steps; nothing"
    " is done before they are confirmed there."
)
_BY_HAND = (
    "A backup file is asked for only where one is needed: where there is not enough room beside the data of"
    " a member. raidtui plan grow, convert, shrink and journal do the same; docs/plans.md says what md and"
    " mdadm can do."
)
Places = Callable[[str, Survey], Awaitable[BackupPlace]]
"""Returns what is known of the place of a backup file; of "", a place that is proposed."""


async def unknown_place(path: str, survey: Survey) -> BackupPlace:
    """Return a place of which nothing is known."""
    del survey
    return BackupPlace(path=path)


_WHY = (_MOVES, "", _IS_A_PLAN, "", _BY_HAND)


def _cut(lines: list[Line], height: int) -> list[Line]:
    """Return as many lines as fit; the last one says that there are more."""
    if len(lines) <= height:
        return lines
    return [*lines[: max(0, height - 1)], [("↓ Enter shows the rest, and the steps", "dim")]]


class GrowScreen(RowsForm[GrowDraft]):
    """Gives what was chosen, or None.

    Args:
        survey: the host, so far.
        array: the array.
        draft: what was chosen before.
        said: why it is back.
        places: looks at the places of backup files.
    """

    def __init__(
        self,
        survey: Survey,
        array: Array,
        draft: GrowDraft | None = None,
        *,
        said: str = "",
        places: Places = unknown_place,
    ) -> None:
        super().__init__(f"{array.title}: another shape", survey, said, ready=False)
        self._array = array
        self.draft = draft or GrowDraft()
        self._places = places
        self._looking = False
        """Whether the place of the backup file is being looked at."""

    def holds_key(self, key: str) -> bool:
        """Hold Enter until the host has been read, and Space for a device that is still being read."""
        if self.line is not None:
            return False
        if key in {"space", "left", "right", "h", "l"} and (pick := self._pick) is not None:
            return pick.pending
        return key == "enter" and (not self._ready or self._looking)

    @property
    def _now(self) -> Array:
        return self._survey.snapshot.array(self._array.key) or self._array

    def _destroys(self) -> list[str]:
        return [word for name in self.draft.devices for word in labels_on(self._survey, name)]

    def plan(self) -> Plan | Refusal:
        """Return the plan of what is chosen; arrays that do not run and would be destroyed are asked for."""
        return plan_of_draft(self._survey, self._now, self.draft, destroys=self._destroys())

    # -- drawing

    def draw(self) -> None:
        """Draw head, keys and body."""
        here = self._here
        self._rows = grow_rows(self._survey, self._now, self.draft, self._destroys())
        self._propose()
        own = {member.name for member in self._array.members}
        picks = device_picks(WizardDraft(), self._survey)[:-1] if self.draft.takes_devices else ()
        self._picks = tuple(pick for pick in picks if pick.key not in own)
        shown = [each.key for each in self._listed]
        self._at = shown.index(here) if here in shown else min(self._at, len(shown) - 1)
        width, height = self.inner_width, self.inner_height
        self.show_head(self._title, self._words)
        self._draw_keys()
        lines = wizard.value_lines(self._rows, self._at, width, self.line)
        review = self._review(width)
        room = height - len(lines) - 1
        if not self._picks:
            self.show_body(_cut([*lines, [], *review], height))
            return
        order = {name: f"{number + 1}" for number, name in enumerate(self.draft.devices)}
        marks = [order.get(pick.key, "") for pick in self._picks]
        at = self._at - len(self._rows)
        head, *rows = wizard.device_lines(self._picks, at, marks, width)
        least = min(3, len(rows)) + 1  # of the devices, and a blank line
        table = wizard.with_note(rows, max(0, at), _cut(review, room - 1 - least), room - 1, _LEAST)
        self.show_body([*lines, [], head, *table][:height])

    def _draw_keys(self) -> None:
        if self.line is not None:
            self.show_keys(("Enter", "take it"), ("^u", "clear"), ("Esc", "as it was"))
            return
        row = self._row
        keys = ("Space ←→", "change") if row is not None else ("Space", "take")
        if row is not None and row.typed:
            keys = ("Space", "type")
        self.show_keys(("↑↓", "choose"), keys, ("Enter", "review"), ("Esc", "leave"), right=("?", "why"))

    def _review(self, width: int) -> list[Line]:
        """Return the note of the row, and the plan of what is chosen or why there is none."""
        note = wizard.row_note(self._listed[self._at], width)
        note = [*note, []] if note else []
        if self._said:
            return wrapped(self._said, width, "warn")
        if not self._ready:
            return [*note, [(self._words or "reading …", "dim")]]
        made = self.plan()
        if isinstance(made, Refusal):
            return [*note, *wrapped(f"not possible: {made.sentence}", width, "warn")]
        lines: list[Line] = [*note, *wrapped(made.title, width, "strong")]
        for text in (*(loss.sentence for loss in made.losses), *made.loss_sentences):
            lines += wrapped(text, width, "bad")
        for text in made.notes:
            lines += wrapped(text, width, "plain")
        return [*lines, *(wrapped(made.warning, width, "warn") if made.warning else [])]

    # -- text

    def _propose(self) -> None:
        """Look for a place for the backup file, once one is asked for."""
        asked = any(row.key == BACKUP for row in self._rows)
        if asked and self.draft.backup is None and not self._looking and self._ready:
            self._look_at("")

    def _look_at(self, path: str) -> None:
        """Find out what is known of a path, without waiting for it."""
        self._looking = True
        self.run_worker(self._looked(path), exclusive=True)

    async def _looked(self, path: str) -> None:
        try:
            place = await self._places(path, self._survey)
        finally:
            self._looking = False
        self.draft = replace(self.draft, backup=place)
        self.draw()
        self.release()

    def typed(self, key: str, text: str) -> None:
        """Take what was typed into a row."""
        if key == BACKUP:
            self._look_at(text)
        else:
            self.draft = replace(self.draft, size=text)

    # -- keys

    def action_change(self, delta: int) -> None:
        """Change a value; take a device, or leave it out."""
        self._said = ""
        if (row := self._row) is not None:
            self.draft = turned(self._survey, self._now, self.draft, row.key, delta)
        elif (pick := self._pick) is not None and not pick.refusal:
            self.draft = taken(self.draft, pick.key)
        self.draw()

    def action_next(self) -> None:
        """Go on to the plan, where there is one."""
        if isinstance(self.plan(), Plan):
            self.dismiss(self.draft)

    def action_why(self) -> None:
        """Show what there is to know before one decides."""
        self.app.push_screen(WhyScreen(self._title, _WHY))
