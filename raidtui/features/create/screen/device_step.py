"""The step at which devices are taken: their table, the empty slots, and the keys. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.frame import wizard_lines as wizard
from raidtui.plans.wizard.wizard_draft import JOURNAL, MEMBER, SPARE, WizardChoice, WizardDraft
from raidtui.view.line import Line
from raidtui.view.units import counted

_LEGEND = " Space: a member, by slot · s: a spare · w: the write journal of RAID 4, 5 or 6"
_MARKS = {SPARE: "sp", JOURNAL: "jnl"}


def device_step(
    picks: Sequence[WizardChoice],
    at: int,
    draft: WizardDraft,
    size: tuple[int, int],
    *,
    proposed: tuple[str, ...],
    note: Sequence[Line],
) -> list[Line]:
    """Return the table of the devices, and below it the empty slots, the legend and the note.

    Args:
        picks: the devices, and the row of the empty slots, which is the last.
        at: the chosen row.
        draft: what was decided.
        size: cells and lines that there are.
        proposed: the devices that were ticked to begin with.
        note: what is known of the chosen row.
    """
    width, height = size
    *devices, slots = picks
    head, *rows = wizard.device_lines(devices, at, [_mark(draft, each.key) for each in devices], width)
    rows = rows or [[(" No such device.", "warn")]]
    at_slots = at == len(devices)
    count: Line = [(f"{'▸' if at_slots else ' '}{slots.words}", "key" if at_slots else "plain")]
    legend = _LEGEND
    if proposed and draft.devices == proposed:
        legend = f" Ticked: {counted(len(proposed), 'free device')} of one kind. Enter takes them."
    below = [count, [(legend, "dim")], [], *note]
    longest = 3 + max(len(wizard.row_note(pick, width)) for pick in picks)
    return [head, *wizard.with_note(rows, at, below, height - 1, longest)]


def _mark(draft: WizardDraft, name: str) -> str:
    role = draft.role(name)
    return str(draft.devices.index(name)) if role == MEMBER else _MARKS.get(role, "")
