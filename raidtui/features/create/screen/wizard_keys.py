"""The keys at the foot of each step of the wizard. Pure."""

from __future__ import annotations

from raidtui.plans.wizard.choices import EMPTY
from raidtui.plans.wizard.wizard_draft import WizardDraft, WizardRow
from raidtui.plans.wizard.wizard_steps import PAGE, PURPOSE, WORDS

Keys = list[tuple[str, str]]
"""(key, label) pairs, the most important ones first."""
_CHOOSE, _NEXT, _BACK = ("↑↓", "choose"), ("Enter", "next"), ("Esc", "back")


def wizard_keys(step: str, row: WizardRow | None, *, typing: bool, every: bool) -> Keys:
    """Return the keys of a step other than that of the devices.

    Args:
        step: the step.
        row: the value with the cursor, on the page.
        typing: whether something is typed into it.
        every: whether all levels, or all values, are listed.
    """
    if typing and step == PAGE:
        return [("Enter", "take it"), ("^u", "clear"), ("Esc", "as it was")]
    if step in WORDS:
        return [_NEXT, _BACK]
    if step == PURPOSE:
        return [_CHOOSE, _NEXT, ("+", "proposed" if every else "all levels"), _BACK]
    change = ("Space", "type") if row is not None and row.typed else ("Space ←→", "change")
    return [_CHOOSE, change, ("Enter", "review"), ("+", "fewer" if every else "all values"), _BACK]


def device_keys(draft: WizardDraft, here: str, *, typing: bool, fitting: bool) -> Keys:
    """Return the keys of the step of the devices.

    Args:
        draft: what was decided.
        here: the device with the cursor; "" where there is none.
        typing: whether a filter is typed.
        fitting: whether only devices that can be taken are listed.
    """
    if not here:
        return [("Esc", "leave")]
    if typing:
        return [("Enter", "keep the filter"), ("Esc", "list all")]
    space = ("Space", "leave out" if draft.role(here) else "take")
    space = ("Space ←→", "one more, one less") if here == EMPTY else space
    fits = ("f", "all" if fitting else "usable")
    return [_CHOOSE, space, _NEXT, ("Esc", "leave"), ("/", "filter"), fits]
