"""The wizard: three questions, and one page on which every value can be changed. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.candidates import word_of
from raidtui.plans.create.create_plan import chosen
from raidtui.plans.create.create_request import OnTop
from raidtui.plans.create.file_system import refuse_on_top
from raidtui.plans.target import refuse_name, refuse_taken
from raidtui.plans.wizard.choices import (
    TOP_PICKS,
    bitmap_picks,
    chunk_picks,
    device_picks,
    disk_picks,
    level_key,
    level_picks,
    purpose_picks,
)
from raidtui.plans.wizard.defaults import (
    completed,
    component_kib,
    default_chunk,
    default_guard,
    default_table,
    medium_of_all,
)
from raidtui.plans.wizard.evidence import SOURCE, table_lines
from raidtui.plans.wizard.wizard_draft import (
    WizardChoice,
    WizardDraft,
    WizardRow,
    doomed,
    plan_draft,
    with_level,
)
from raidtui.plans.wizard.wizard_values import change, change_volume, more_rows, turned, volume_rows
from raidtui.view.prose import read_prose

DEVICES, OLD, PURPOSE, NAME, PAGE = "devices", "old arrays", "purpose", "name", "page"
STEPS = (DEVICES, OLD, PURPOSE, NAME, PAGE)
WORDS = frozenset({OLD, NAME})
"""Steps at which a word is typed."""
_PICKED = ("level", "chunk", "bitmap", "disks", "on top")
_LABELS = {"bitmap": "after a crash", "disks": "on the disks"}
_TYPED = {
    "name": (
        "name",
        "/dev/md/NAME",
        "The link stays the same; the number mdN may change at a boot. Three digits are both: 127 is md127.",
    ),
    "mount": (
        "mounted at",
        "now and at boot; empty: not",
        "The file system gets a line in /etc/fstab by its UUID, with nofail, so a boot continues without it.",
    ),
}
"""(name, reason, note) of each row whose value is typed."""
_SECTIONS = {"level": PURPOSE, "weekly TRIM": "volume", "stripes": "volume", "stripe size": "volume"}
"""The section of the page behind ? for a row that has none of its own."""
_TOP_REASON = {"nothing": "yours to partition", "lvm": "room to resize later"}


def asked(draft: WizardDraft, survey: Survey) -> tuple[str, ...]:
    """Return the steps, as far as that is known yet."""
    old = draft.destroys or doomed(draft, survey)
    return tuple(step for step in STEPS if step != OLD or old)


def picks(step: str, draft: WizardDraft, survey: Survey, *, every: bool = False) -> tuple[WizardChoice, ...]:
    """Return the choices of a step, or of a row of the page; none where a word is typed.

    Args:
        step: the step or the row.
        draft: what was decided.
        survey: the host.
        every: all levels instead of those that are proposed.
    """
    if step == DEVICES:
        return device_picks(draft, survey)
    if step == PURPOSE:
        return level_picks(draft, survey) if every else purpose_picks(draft, survey)
    return _options(step, draft, survey)


def _options(row: str, draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    if row == "level":
        return level_picks(draft, survey)
    if row == "disks":
        return disk_picks(draft, survey)
    if row == "chunk":
        return chunk_picks() if draft.level != "raid1" else ()
    if row == "bitmap":
        return bitmap_picks(draft) if draft.level != "raid0" else ()
    return TOP_PICKS if row == "on top" else ()


def page_rows(draft: WizardDraft, survey: Survey, *, every: bool = False) -> tuple[WizardRow, ...]:
    """Return the values of the page.

    Args:
        draft: in which all is decided (``completed``).
        survey: the host.
        every: also those that are rarely changed and have their default.
    """
    rows = [_picked_row(row, draft, survey) for row in _PICKED if _options(row, draft, survey)]
    if draft.file_system:
        rows.append(_typed_row("mount", draft.mount, draft, survey))
    rows += volume_rows(draft, survey)
    rows.append(_typed_row("name", draft.name, draft, survey))
    return (*rows, *(row for row in more_rows(draft, survey) if every or not row.usual))


def _picked_row(row: str, draft: WizardDraft, survey: Survey) -> WizardRow:
    options = _options(row, draft, survey)
    now = current(row, draft)
    pick = next((each for each in options if each.key == now), options[0])
    default, reason = _default(row, draft, survey)
    usual = now == default
    return WizardRow(
        key=row,
        words=_LABELS.get(row, row),
        value=pick.cells[0] if pick.cells else pick.words.strip(),
        reason=pick.cells[1] if pick.cells else reason if usual else "your choice",
        note=pick.note,
        usual=usual,
    )


def _default(row: str, draft: WizardDraft, survey: Survey) -> tuple[str, str]:
    """Return the default of a row for a draft's level and disks, and why."""
    if row == "chunk":
        kib, reason = default_chunk(draft.level, medium_of_all(draft, survey))
        return str(kib), reason
    if row == "bitmap":
        return default_guard(draft, component_kib(draft, survey))
    if row == "disks":
        return default_table(draft, survey)
    if row == "on top":
        return "nothing", _TOP_REASON.get(draft.on_top, "with the array's geometry")
    fresh = completed(with_level(draft, "", ""), survey)
    return current("level", fresh), ""


def _typed_row(key: str, value: str, draft: WizardDraft, survey: Survey) -> WizardRow:
    refusal = refuse_word(key, draft, survey, value)
    words, reason, note = _TYPED[key]
    return WizardRow(
        key=key,
        words=words,
        value=value,
        reason=reason,
        note=note,
        typed=True,
        trouble="" if refusal is None else refusal.sentence,
    )


def changed(draft: WizardDraft, survey: Survey, key: str, delta: int) -> WizardDraft:
    """Return the draft with a row's value one further on, or back; a value that cannot be is passed over."""
    if key in _PICKED:
        keys = [pick.key for pick in _options(key, draft, survey) if not pick.refusal]
        return choose(key, turned(keys, current(key, draft), delta), draft, survey) if keys else draft
    if any(row.key == key for row in volume_rows(draft, survey)):
        return change_volume(draft, survey, key, delta)
    return change(draft, survey, key, delta)


def current(row: str, draft: WizardDraft) -> str:
    """Return the key of what a row is set to."""
    if row == "level":
        return _level_key(draft)
    if row == "chunk":
        return str(draft.chunk_kib)
    if row == "bitmap":
        return draft.policy or draft.bitmap
    return draft.disks if row == "disks" else draft.on_top


def first_choice(step: str, draft: WizardDraft) -> str:
    """Return the key of the row that is offered first: the chosen one, else the default."""
    return _level_key(draft) if step == PURPOSE and draft.level else ""


def choose(step: str, key: str, draft: WizardDraft, survey: Survey) -> WizardDraft:
    """Return the draft with a choice; what follows from it has its default again."""
    if step in {PURPOSE, "level"}:
        if draft.level and key == _level_key(draft):
            return draft
        level, _, layout = key.partition(" ")
        made = with_level(draft, level, layout)
        return completed(made, survey) if step == "level" else made
    if step == OLD:
        return replace(draft, destroys=(*draft.destroys, key))
    if step == "chunk":
        return replace(draft, chunk_kib=int(key))
    if step == "bitmap":
        return draft.guarded(key)
    if step == "on top":
        made = replace(draft, on_top=key)
        made = replace(made, mount=(made.mount or f"/srv/{draft.name}") if made.file_system else "")
        return made if key.startswith("lvm") else replace(made, others=(), stripes=0)
    return replace(draft, **{step: key})


def _level_key(draft: WizardDraft) -> str:
    """Return the key of the row that stands for a draft's level; more copies are a value of the page."""
    return level_key(draft.level, f"{draft.layout[:1]}2" if draft.level == "raid10" else "")


def refuse_step(step: str, draft: WizardDraft, survey: Survey) -> str:
    """Return why one cannot go on from a step, or ""."""
    if step == DEVICES and not draft.devices:
        return "choose at least one device with Space"
    if step == DEVICES:
        labels = tuple(
            word_of(block, survey) for block, _ in doomed(draft, survey)
        )  # asked about at the next step
        found = chosen(replace(draft.request(survey), destroys=labels), survey)
        return found.sentence if isinstance(found, Refusal) else ""
    if step == PAGE:
        made = plan_draft(draft, survey)
        return made.sentence if isinstance(made, Refusal) else ""
    return ""


def refuse_word(step: str, draft: WizardDraft, survey: Survey, word: str) -> Refusal | None:
    """Return why a typed word will not do at a step, or in a row, or None."""
    if step == OLD:
        labels = [word_of(block, survey) for block, _ in doomed(draft, survey)]
        if word in labels:
            return None
        remedy = f"type {' or '.join(labels)}, or go back and deselect its devices"
        return Refusal(
            code=RefusalCode.NEEDS_CONFIRMATION,
            why=f"{word!r} is not one of them" if word else "no name was typed",
            remedy=remedy,
        )
    if step == "mount":
        return refuse_on_top(OnTop(file_system="ext4", mount=word), survey) if word else None
    made = refuse_name(word) or refuse_taken(survey.snapshot, word)
    if made is None and draft.on_top.startswith("lvm"):
        made = refuse_on_top(OnTop(group=f"vg{word}"), survey)
    return made


def step_page(step: str) -> tuple[str, ...]:
    """Return what there is to know at a step or row: a line for each paragraph, and tables line by line."""
    sections = read_prose(__file__, "steps")
    section = "volume" if step.startswith("joins ") else _SECTIONS.get(step, step)
    lines: list[str] = []
    for line in sections[section if section in sections else "more"]:
        lines += table_lines() if line == "{table}" else [line.replace("{source}", SOURCE)]
    return tuple(lines)
