"""The steps of building an array: their order, choices and the effect of a choice. Pure."""

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
    DISK_WORDS,
    TOP_PICKS,
    bitmap_picks,
    chunk_picks,
    device_picks,
    disk_picks,
    has_whole_disks,
    level_key,
    level_picks,
)
from raidtui.plans.wizard.evidence import SOURCE, table_lines
from raidtui.plans.wizard.wizard_draft import (
    JOURNAL,
    LEAVE,
    MEMBER,
    SPARE,
    WizardChoice,
    WizardDraft,
    WizardRow,
    doomed,
    plan_draft,
    with_role,
)
from raidtui.plans.wizard.wizard_values import change, change_volume, more_rows, volume_rows
from raidtui.view.prose import read_prose

STEPS = (
    *("devices", "old arrays", "disks", "level", "chunk", "bitmap", "more"),
    *("on top", "mount", "volume", "name"),
)
REVIEW = "review"
WORDS = frozenset({"old arrays", "mount", "name"})
"""Steps at which a word is typed."""
TABLES = frozenset({"more", "volume"})
"""Steps at which values are changed, which all will do as they are."""
_PARITY = frozenset({"raid4", "raid5", "raid6"})


def asked(draft: WizardDraft, survey: Survey) -> tuple[str, ...]:
    """Return the steps at which there is something to decide, as far as that is known yet."""
    return tuple(step for step in STEPS if _is_asked(step, draft, survey))


def _is_asked(step: str, draft: WizardDraft, survey: Survey) -> bool:
    if step == "old arrays":
        return bool(draft.destroys or doomed(draft, survey))
    if step == "disks":
        return has_whole_disks(draft, survey)
    if step == "chunk":
        return draft.level != "raid1"
    if step == "bitmap":
        return draft.level != "raid0"
    if step == "volume":
        return draft.on_top.startswith("lvm") or bool(draft.mount)
    return step != "mount" or bool(draft.file_system)


def picks(step: str, draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    """Return the choices of a step; none where values are changed or a word is typed."""
    if step == "devices":
        return device_picks(draft, survey)
    if step == "disks":
        return disk_picks(draft, survey)
    if step == "level":
        return level_picks(draft, survey)
    if step == "chunk":
        return chunk_picks()
    if step == "bitmap":
        return bitmap_picks(draft)
    return TOP_PICKS if step == "on top" else ()


def rows_of(step: str, draft: WizardDraft, survey: Survey) -> tuple[WizardRow, ...]:
    """Return the values that can be changed at a step."""
    if step == "volume":
        return volume_rows(draft, survey)
    return more_rows(draft, survey) if step in TABLES else ()


def changed(step: str, draft: WizardDraft, survey: Survey, key: str, delta: int) -> WizardDraft:
    """Return the draft with a step's value one further on, or back."""
    turn = change_volume if step == "volume" else change
    return turn(draft, survey, key, delta)


def first_choice(step: str, draft: WizardDraft) -> str:
    """Return the key of the row that is offered first: the chosen one, else the default."""
    if step == "disks":
        return draft.disks
    if step == "level":
        if draft.level:
            return _level_key(draft)
        return level_key("raid10", "n2") if len(draft.slots) > 3 else ""
    if step == "chunk":
        return str(draft.chunk_kib or (64 if draft.level in _PARITY else 32))
    if step == "bitmap":
        return draft.policy or draft.bitmap
    return draft.on_top if step == "on top" else ""


def next_role(draft: WizardDraft, device: str, delta: int = 1) -> WizardDraft:
    """Return the draft with a device as a member, then as a spare, as the journal, and then left again."""
    roles = [LEAVE, MEMBER, SPARE, JOURNAL]
    if draft.journal not in {"", device}:
        roles.remove(JOURNAL)
    return with_role(draft, device, roles[(roles.index(draft.role(device)) + delta) % len(roles)])


def choose(step: str, key: str, draft: WizardDraft) -> WizardDraft:
    """Return the draft with a choice; what was decided on top of another one is undecided again."""
    if step == "level":
        if draft.level and key == _level_key(draft):
            return draft
        level, _, layout = key.partition(" ")
        return WizardDraft(
            devices=draft.devices, spares=draft.spares, journal=draft.journal, empty=draft.empty,
            destroys=draft.destroys, disks=draft.disks, level=level, layout=layout, name=draft.name,
        )  # fmt: skip
    if step == "old arrays":
        return replace(draft, destroys=(*draft.destroys, key))
    if step == "chunk":
        return replace(draft, chunk_kib=int(key))
    if step == "bitmap":
        if key == "journal":
            return replace(draft, bitmap="none", policy="journal")
        return replace(draft, bitmap="none" if key == "ppl" else key, policy="ppl" if key == "ppl" else "")
    if step == "on top":
        made = replace(draft, on_top=key)
        made = made if made.file_system else replace(made, mount="")
        return made if key.startswith("lvm") else replace(made, others=(), stripes=0)
    return replace(draft, **{step: key})


def _level_key(draft: WizardDraft) -> str:
    """Return the key of the row that stands for a draft's level; more copies are chosen at a later step."""
    return level_key(draft.level, f"{draft.layout[:1]}2" if draft.level == "raid10" else "")


def refuse_step(step: str, draft: WizardDraft, survey: Survey) -> str:
    """Return why one cannot go on from a step, or ""."""
    if step == "devices" and not draft.devices:
        return "choose at least one device with Space"
    if step == "devices":
        labels = tuple(
            word_of(block, survey) for block, _ in doomed(draft, survey)
        )  # asked about at the next step
        found = chosen(replace(draft.request(survey), destroys=labels), survey)
        return found.sentence if isinstance(found, Refusal) else ""
    if step in TABLES:
        made = plan_draft(draft, survey)
        return made.sentence if isinstance(made, Refusal) else ""
    return ""


def refuse_word(step: str, draft: WizardDraft, survey: Survey, word: str) -> Refusal | None:
    """Return why a typed word will not do at a step, or None."""
    if step == "old arrays":
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


def decided(draft: WizardDraft) -> tuple[tuple[str, str | None], ...]:
    """Return (what, how it was decided) for the column at the left; None for what is open."""
    chunk = f"{draft.chunk_kib} KiB" if draft.chunk_kib else "none" if draft.level == "raid1" else None
    bitmap = draft.policy or draft.bitmap or ("none" if draft.level == "raid0" else None)
    return (
        ("devices", _devices(draft)),
        *((("destroys", " ".join(draft.destroys)),) if draft.destroys else ()),
        ("disks", DISK_WORDS.get(draft.disks)),
        ("level", f"{draft.level} {draft.layout}".strip() or None),
        ("chunk", chunk),
        ("bitmap", bitmap),
        ("more", _more(draft) or None),
        ("on top", draft.on_top or None),
        ("mount", draft.mount or None),
        *((("volume", _volume(draft)),) if _volume(draft) else ()),
        ("name", draft.name or None),
    )


def _devices(draft: WizardDraft) -> str | None:
    parts = [" ".join(draft.devices)]
    parts += [f"+ {draft.empty} empty"] if draft.empty else []
    parts += [f"spare {' '.join(draft.spares)}"] if draft.spares else []
    parts += [f"journal {draft.journal}"] if draft.journal else []
    return ", ".join(part for part in parts if part) or None


def _more(draft: WizardDraft) -> str:
    parts = [f"metadata {draft.metadata}"] if draft.metadata != "1.2" else []
    parts += [f"write-mostly {' '.join(draft.write_mostly)}"] if draft.write_mostly else []
    parts += ["failfast"] if draft.failfast else []
    parts += ["no first sync"] if draft.assume_clean else []
    parts += [f"{draft.size_percent} % used"] if draft.size_percent < 100 else []
    parts += [f"md{draft.number}"] if draft.number is not None else []
    return ", ".join(parts)


def _volume(draft: WizardDraft) -> str:
    parts = [f"with {' '.join(draft.others)}"] if draft.others else []
    parts += [f"{draft.stripes} stripes of {draft.stripe_kib}K"] if draft.stripes > 1 else []
    parts += ["weekly TRIM"] if draft.trim_weekly and draft.mount else []
    return ", ".join(parts)


def step_page(step: str) -> tuple[str, ...]:
    """Return what there is to know at a step: paragraphs, a line each, and tables, whose lines are kept."""
    lines: list[str] = []
    for line in read_prose(__file__, "steps")[step]:
        lines += table_lines() if line == "{table}" else [line.replace("{source}", SOURCE)]
    return tuple(lines)
