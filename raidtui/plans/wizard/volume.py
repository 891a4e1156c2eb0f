"""What can be decided of what goes on top: LVM over several arrays, stripes, a weekly TRIM. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.survey import Survey
from raidtui.plans.contents import loss_of
from raidtui.plans.on_top.plan import OnTop, refuse_other
from raidtui.plans.on_top.trim import weekly_notes
from raidtui.plans.wizard.draft import Draft
from raidtui.plans.wizard.more import turned
from raidtui.plans.wizard.pick import Row
from raidtui.view.units import binary_size, counted

_STRIPES_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_JOINS = "joins "


def volume_rows(draft: Draft, survey: Survey) -> tuple[Row, ...]:
    """Return what can be changed; of other devices, those that can join the group."""
    rows = [_weekly(draft, survey)] if draft.mount else []
    if not draft.on_top.startswith("lvm"):
        return tuple(rows)
    rows += [row for row in _others(draft, survey) if not row.refusal or not row.usual]
    rows += [_stripes(draft), *([_stripe_size(draft)] if draft.stripes > 1 else [])]
    return tuple(rows)


def change_volume(draft: Draft, survey: Survey, key: str, delta: int) -> Draft:
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


def _stripes(draft: Draft) -> Row:
    count = 1 + len(draft.others)
    return Row(
        key="stripes",
        words="LVM stripes over",
        value=f"{draft.stripes} volumes" if draft.stripes > 1 else "none",
        note="Without, one is filled after the other. On one array md stripes already. Over several, one"
        " large request moves all of them: published, three devices of about 500 MB/s each gave 1.5 to 1.7"
        " GB/s at best.",
        refusal=""
        if count > 1
        else "the array is the only physical volume; let another device join the group",
        usual=draft.stripes < 2,
    )


def _stripe_size(draft: Draft) -> Row:
    return Row(
        key="stripe size",
        words="size of a stripe",
        value=f"{draft.stripe_kib} KiB",
        note="What goes to one physical volume before the next one's turn comes. 64 KiB is LVM's own; the"
        " published case used 4096. A multiple of what an array's full stripe holds keeps its writes whole.",
        usual=draft.stripe_kib == 64,
    )


def _weekly(draft: Draft, survey: Survey) -> Row:
    on = survey.trim_timer.startswith("enabled")
    told = " ".join(weekly_notes(OnTop(mount=draft.mount, trim_weekly=True), survey))
    return Row(
        key="weekly TRIM",
        words="weekly TRIM",
        value="yes" if draft.trim_weekly or on else "no",
        note=f"{told} Published advice: once a week, rather than mounting with -o discard.",
        refusal=told if on else "",
        usual=not draft.trim_weekly,
    )


def _others(draft: Draft, survey: Survey) -> list[Row]:
    taken = {survey.devices[name].disk.disk for name in draft.named if name in survey.devices}
    rows = []
    for name, device in survey.devices.items():
        if name in draft.named or device.disk.disk in taken:
            continue
        refusal = refuse_other(name, survey)
        size = binary_size(device.disk.size_bytes) if device.disk.size_bytes else "?"
        has = loss_of(device, survey).partition(": ")[2] or "empty"
        rows.append(
            Row(
                key=f"{_JOINS}{name}",
                words=f"{name} {size} joins the group",
                value="yes" if name in draft.others else "no",
                note=f"{name}: {has}. The group is whole only while all of its"
                f" {counted(1 + len(draft.others), 'physical volume')} are.",
                refusal=refusal.sentence if refusal else "",
                usual=name not in draft.others,
            )
        )
    return rows
