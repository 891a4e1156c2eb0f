"""The values that are rarely changed, and those of what goes on top; each has a usable default. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from raidtui.model.levels import PARITY_LAYOUTS
from raidtui.model.survey import Survey
from raidtui.plans.contents import contents_of
from raidtui.plans.create.create_request import OnTop
from raidtui.plans.create.file_system import weekly_notes
from raidtui.plans.create.lvm import refuse_other
from raidtui.plans.create.shape import METADATA
from raidtui.plans.wizard.wizard_draft import WizardDraft, WizardRow, usable
from raidtui.view.units import KIB, binary_size

_PARITY = tuple(PARITY_LAYOUTS[number] for number in (2, 0, 3, 1))
_SIZES = (100, 99, 98, 95, 93, 90, 80, 70, 50)
_MOST_NUMBERS = 9
_METADATA = {
    "1.2": "The superblock is 4 KiB from the start: nothing takes a single member for a file system.",
    "1.1": "The superblock is at the very start, where a boot sector would overwrite it.",
    "1.0": "The superblock is at the end: a single member looks like a file system, and mounting it makes the"
    " mirror inconsistent. Only for what firmware reads directly: an EFI system partition, an old"
    " boot loader.",
}
T = TypeVar("T")
_MIRRORS = frozenset({"raid1", "raid10"})


def more_rows(draft: WizardDraft, survey: Survey) -> tuple[WizardRow, ...]:
    """Return the values that can be changed, common ones first."""
    rows = [_metadata(draft)]
    if draft.level == "raid10":
        rows.append(_copies(draft))
    if draft.level in {"raid5", "raid6"}:
        rows.append(_parity(draft))
    if draft.level in _MIRRORS:
        rows.append(_failfast(draft))
    if draft.level == "raid1":
        rows += [_write_mostly(draft, name) for name in draft.devices]
    if draft.level in _MIRRORS:
        rows.append(_first_sync(draft))
    if draft.level != "raid0":
        rows.append(_size(draft, survey))
    return (*rows, _number(draft, survey))


def change(draft: WizardDraft, survey: Survey, key: str, delta: int) -> WizardDraft:
    """Return the draft with a row's value one further on, or back; from the last on to the first."""
    if key == "metadata":
        return replace(draft, metadata=turned(METADATA, draft.metadata, delta))
    if key == "copies":
        copies = [f"{draft.layout[:1]}{number}" for number in range(2, max(2, len(draft.slots)) + 1)]
        return replace(draft, layout=turned(copies, draft.layout, delta))
    if key == "parity":
        word = turned(_PARITY, draft.layout or _PARITY[0], delta)
        return replace(draft, layout="" if word == _PARITY[0] else word)
    if key == "failfast":
        return replace(draft, failfast=not draft.failfast)
    if key == "first sync":
        return replace(draft, assume_clean=not draft.assume_clean)
    if key == "size":
        return replace(draft, size_percent=turned(_SIZES, draft.size_percent, delta))
    if key == "number":
        return replace(draft, number=turned((None, *_free_numbers(survey)), draft.number, delta))
    name = key.removeprefix("write-mostly ")
    if name == key or _one_sided(draft):
        return draft
    others = tuple(each for each in draft.write_mostly if each != name)
    return replace(draft, write_mostly=others if name in draft.write_mostly else (*others, name))


def turned(values: Sequence[T], now: T, delta: int) -> T:
    """Return the value after, or before, the one that is set; from the last on to the first."""
    at = values.index(now) if now in values else 0
    return values[(at + delta) % len(values)]


def _metadata(draft: WizardDraft) -> WizardRow:
    usual = draft.metadata == "1.2"
    return WizardRow(
        key="metadata", words="metadata", value=draft.metadata, note=_METADATA[draft.metadata], usual=usual
    )


def _copies(draft: WizardDraft) -> WizardRow:
    return WizardRow(
        key="copies",
        words="copies of each block",
        value=draft.layout[1:],
        note="With three copies any two members may fail, and the capacity is a third less.",
        usual=draft.layout[1:] == "2",
    )


def _parity(draft: WizardDraft) -> WizardRow:
    now = draft.layout or _PARITY[0]
    return WizardRow(
        key="parity",
        words="parity layout",
        value=now,
        note="left-symmetric is md's default, and best for streams. The others are for compatibility.",
        usual=now == _PARITY[0],
    )


def _failfast(draft: WizardDraft) -> WizardRow:
    return WizardRow(
        key="failfast",
        words="failfast",
        value="yes" if draft.failfast else "no",
        note="A member fails at its first error instead of being retried. For paths that time out slowly;"
        " a transient error then costs a member. The last member is always retried.",
        usual=not draft.failfast,
    )


def _write_mostly(draft: WizardDraft, name: str) -> WizardRow:
    return WizardRow(
        key=f"write-mostly {name}",
        words=f"write-mostly {name}",
        value="yes" if name in draft.write_mostly else "no",
        note="Read only when no other member is left. For a slow or worn disk beside a fast one.",
        refusal=_one_sided(draft),
        usual=name not in draft.write_mostly,
    )


def _one_sided(draft: WizardDraft) -> str:
    return (
        "mdadm would make the spares write-mostly too; add them after the array is created"
        if draft.spares
        else ""
    )


def _first_sync(draft: WizardDraft) -> WizardRow:
    return WizardRow(
        key="first sync",
        words="first sync",
        value="skipped" if draft.assume_clean else "yes",
        note="When skipped, nothing is written now. A check then counts blocks that were"
        " never written as mismatches: harmless, but they hide real ones.",
        usual=not draft.assume_clean,
    )


def _size(draft: WizardDraft, survey: Survey) -> WizardRow:
    all_of_it = replace(draft, size_percent=100)
    most = min(usable(all_of_it, all_of_it.request(survey), survey), default=0) * KIB
    size = binary_size(most * draft.size_percent // 100)
    return WizardRow(
        key="size",
        words="used of each member",
        value=f"{draft.size_percent} %",
        note=f"{size} of {binary_size(most)}. Unused space lets a slightly smaller disk replace a member"
        " later, and serves an SSD as spare area.",
        usual=draft.size_percent == 100,
    )


def _number(draft: WizardDraft, survey: Survey) -> WizardRow:
    free = _free_numbers(survey)
    return WizardRow(
        key="number",
        words="md number",
        value="from the name" if draft.number is None else f"md{draft.number}",
        note="A name of up to three digits is also the number: 127 is md127. With another name md takes a"
        " free number, and may take another at the next boot. With a number chosen here, the link"
        " /dev/md/NAME appears only at the next assembly.",
        refusal="" if free else "no number is free",
        usual=draft.number is None,
    )


def _free_numbers(survey: Survey) -> tuple[int, ...]:
    taken = {array.name for array in survey.snapshot.arrays}
    return tuple(number for number in range(127, -1, -1) if f"md{number}" not in taken)[:_MOST_NUMBERS]


_STRIPES_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_JOINS = "joins "


def volume_rows(draft: WizardDraft, survey: Survey) -> tuple[WizardRow, ...]:
    """Return the values that can be changed, and the devices that can join the group."""
    rows = [_weekly(draft, survey)] if draft.mount else []
    if not draft.on_top.startswith("lvm"):
        return tuple(rows)
    rows += [row for row in _others(draft, survey) if not row.refusal or not row.usual]
    rows += [_stripes(draft), *([_stripe_size(draft)] if draft.stripes > 1 else [])]
    return tuple(rows)


def change_volume(draft: WizardDraft, survey: Survey, key: str, delta: int) -> WizardDraft:
    """Return the draft with a row's value one further on, or back; from the last on to the first."""
    if key == "stripes":
        return replace(draft, stripes=turned((0, *range(2, len(draft.others) + 2)), draft.stripes, delta))
    if key == "stripe size":
        return replace(draft, stripe_kib=turned(_STRIPES_KIB, draft.stripe_kib, delta))
    if key == "weekly TRIM":
        return replace(draft, trim_weekly=not draft.trim_weekly)
    name = key.removeprefix(_JOINS)
    if name in draft.others:
        others = tuple(each for each in draft.others if each != name)
        return replace(draft, others=others, stripes=draft.stripes if draft.stripes <= len(others) + 1 else 0)
    return replace(draft, others=(*draft.others, name)) if refuse_other(name, survey) is None else draft


def _stripes(draft: WizardDraft) -> WizardRow:
    count = 1 + len(draft.others)
    return WizardRow(
        key="stripes",
        words="LVM stripes over",
        value=f"{draft.stripes} volumes" if draft.stripes > 1 else "none",
        note="Without stripes, one is filled after the other. On one array md already stripes. Over"
        " several, one"
        " large request uses all of them: published, three devices of about 500 MB/s each gave 1.5 to 1.7"
        " GB/s at best.",
        refusal=""
        if count > 1
        else "the array is the only physical volume: add another device to the group first",
        usual=draft.stripes < 2,
    )


def _stripe_size(draft: WizardDraft) -> WizardRow:
    return WizardRow(
        key="stripe size",
        words="stripe size",
        value=f"{draft.stripe_kib} KiB",
        note="What is written to one physical volume before the next. LVM's default is 64 KiB; the"
        " published case used 4096. A multiple of the array's full stripe keeps its writes whole.",
        usual=draft.stripe_kib == 64,
    )


def _weekly(draft: WizardDraft, survey: Survey) -> WizardRow:
    on = survey.trim_timer.startswith("enabled")
    about = " ".join(weekly_notes(OnTop(mount=draft.mount, trim_weekly=True), survey))
    return WizardRow(
        key="weekly TRIM",
        words="weekly TRIM",
        value="yes" if draft.trim_weekly or on else "no",
        note=f"{about} Published advice: once a week, rather than mounting with -o discard.",
        refusal=about if on else "",
        usual=not draft.trim_weekly,
    )


def _others(draft: WizardDraft, survey: Survey) -> list[WizardRow]:
    taken = {survey.devices[name].disk.disk for name in draft.named if name in survey.devices}
    rows = []
    for name, device in survey.devices.items():
        if name in draft.named or device.disk.disk in taken:
            continue
        refusal = refuse_other(name, survey)
        size = binary_size(device.disk.size_bytes) if device.disk.size_bytes else "?"
        has = contents_of(device, survey) or "empty"
        rows.append(
            WizardRow(
                key=f"{_JOINS}{name}",
                words=f"{name} joins",
                value="yes" if name in draft.others else "no",
                reason=f"{size}, {has}",
                note=f"{name}: {has}. {_needs(1 + len(draft.others))}",
                refusal=refusal.sentence if refusal else "",
                usual=name not in draft.others,
            )
        )
    return rows


def _needs(count: int) -> str:
    if count == 1:
        return "The volume group needs its physical volume to be present."
    return f"The volume group needs all of its {count} physical volumes to be present."
