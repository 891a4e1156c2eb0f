"""The page that gives an array another shape: what can be chosen, and the plan of what is. Pure."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.grow.convert_plan import plan_convert
from raidtui.plans.grow.convert_stages import ConvertRequest
from raidtui.plans.grow.grow_plan import GrowOptions, plan_grow, plan_grow_size
from raidtui.plans.grow.journal_plan import plan_journal, plan_policy
from raidtui.plans.grow.shrink_plan import plan_shrink
from raidtui.plans.wizard.wizard_draft import WizardRow
from raidtui.view.units import KIB


class GrowAim(StrEnum):
    """What is to become of the array."""

    DEVICES = "more devices"
    SIZE = "all of larger members"
    LEVEL = "another level"
    LAYOUT = "another layout"
    CHUNK = "another chunk"
    FEWER = "fewer devices"
    JOURNAL = "write journal"
    POLICY = "partial parity log"
    BITMAP = "bitmap"


_AIMS = tuple(GrowAim)
_NOTES = {
    GrowAim.DEVICES: "Free devices become members; md moves the data while the array serves.",
    GrowAim.SIZE: "When all members were replaced by larger ones (R): the array uses all of each.",
    GrowAim.LEVEL: "Also in several stages, as one plan: RAID 1 to 5 to 6.",
    GrowAim.LAYOUT: "Where data and parity lie on the members of a RAID 5 or 6.",
    GrowAim.CHUNK: "Every block is moved to its new place.",
    GrowAim.FEWER: "What stands on the array becomes smaller first; the last devices become spares.",
    GrowAim.JOURNAL: "Writes go to a device of their own first: no write hole. Without a device: taken away.",
    GrowAim.POLICY: "Parity is logged on the members before it is written: no write hole.",
    GrowAim.BITMAP: "Records what may be out of sync: after a crash only that is resynced.",
}
_LEVELS = ("raid0", "raid5", "raid6", "raid10")
_LAYOUTS = ("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric")
_CHUNKS_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
_TAKES = frozenset({GrowAim.DEVICES, GrowAim.LEVEL, GrowAim.JOURNAL})
_ENLARGES = frozenset({GrowAim.DEVICES, GrowAim.SIZE, GrowAim.LEVEL})
AIM = "aim"
"""The first row."""


class GrowDraft(Struct, frozen=True, kw_only=True):
    """What has been chosen.

    Args:
        devices: kernel names of free devices, in the order in which they were taken.
        value: of the second row: a level, layout, chunk in KiB, number of devices, policy or kind of bitmap.
        preserve: whether a RAID 5 becomes a RAID 6 without moving its data.
        above: whether what stands on the array takes its new room.
    """

    aim: GrowAim = GrowAim.DEVICES
    devices: tuple[str, ...] = ()
    value: str = ""
    preserve: bool = False
    above: bool = True

    @property
    def takes_devices(self) -> bool:
        """Whether free devices are chosen."""
        return self.aim in _TAKES


def with_aim(array: Array, draft: GrowDraft, aim: GrowAim) -> GrowDraft:
    """Return the draft with another aim, and the first of its values."""
    fresh = GrowDraft(aim=aim, devices=draft.devices, above=draft.above)
    return replace(fresh, value=next(iter(_values(array, aim)), ""))


def grow_rows(draft: GrowDraft) -> tuple[WizardRow, ...]:
    """Return the rows with a value each, the aim first."""
    rows = [WizardRow(key=AIM, words="What", value=draft.aim.value, note=_NOTES[draft.aim])]
    if draft.value:
        word = {GrowAim.FEWER: "devices", GrowAim.CHUNK: "chunk", GrowAim.LEVEL: "level"}.get(draft.aim, "to")
        unit = " KiB" if draft.aim is GrowAim.CHUNK else ""
        rows.append(WizardRow(key="value", words=word, value=f"{draft.value}{unit}", note=_NOTES[draft.aim]))
    if draft.aim is GrowAim.LEVEL and draft.value == "raid6":
        note = "Yes: only the disk with the second parity is written; the layout stays as an unusual one."
        rows.append(WizardRow(key="preserve", words="data stay", value=_yes(draft.preserve), note=note))
    if draft.aim in _ENLARGES:
        note = "LVM's physical volume, an open LUKS device and a mounted file system become larger, too."
        rows.append(WizardRow(key="above", words="what is on it", value=_grows(draft.above), note=note))
    return tuple(rows)


def turned(array: Array, draft: GrowDraft, key: str, delta: int) -> GrowDraft:
    """Return the draft with the value of a row changed.

    Args:
        array: the array.
        draft: what has been chosen.
        key: of the row.
        delta: 1 for the next value, -1 for the one before.
    """
    if key == AIM:
        return with_aim(array, draft, _AIMS[(_AIMS.index(draft.aim) + delta) % len(_AIMS)])
    if key == "value":
        values = _values(array, draft.aim)
        at = values.index(draft.value) + delta
        return replace(draft, value=values[at % len(values)], preserve=False)
    if key == "preserve":
        return replace(draft, preserve=not draft.preserve)
    return replace(draft, above=not draft.above) if key == "above" else draft


def taken(draft: GrowDraft, name: str) -> GrowDraft:
    """Return the draft with a device taken, or left out again; a journal is one device."""
    if name in draft.devices:
        return replace(draft, devices=tuple(each for each in draft.devices if each != name))
    before = () if draft.aim is GrowAim.JOURNAL else draft.devices
    return replace(draft, devices=(*before, name))


def plan_of_draft(
    survey: Survey, array: Array, draft: GrowDraft, *, destroys: Collection[str] = ()
) -> Plan | Refusal:
    """Return the plan of what is chosen, or why there is none.

    Args:
        survey: the host, with the array's members and the chosen devices.
        array: the array.
        draft: what has been chosen.
        destroys: names of arrays that may be destroyed.
    """
    options = GrowOptions(destroys=destroys, above=draft.above)
    if draft.aim is GrowAim.DEVICES:
        return plan_grow(survey, array, draft.devices, options=options)
    if draft.aim is GrowAim.SIZE:
        return plan_grow_size(survey, array, options)
    if draft.aim is GrowAim.LEVEL:
        layout = "preserve" if draft.preserve else ""
        request = ConvertRequest(level=draft.value, layout=layout, names=draft.devices)
        return plan_convert(survey, array, request, options)
    if draft.aim is GrowAim.LAYOUT:
        return plan_convert(survey, array, ConvertRequest(layout=draft.value), options)
    if draft.aim is GrowAim.CHUNK:
        return plan_convert(survey, array, ConvertRequest(chunk_kib=int(draft.value)), options)
    if draft.aim is GrowAim.FEWER:
        return plan_shrink(survey, array, int(draft.value))
    if draft.aim is GrowAim.JOURNAL:
        return plan_journal(survey, array, next(iter(draft.devices), ""), destroys=destroys)
    if draft.aim is GrowAim.POLICY:
        return plan_policy(survey, array, draft.value)
    return plan_bitmap(survey, array, draft.value)


def _values(array: Array, aim: GrowAim) -> tuple[str, ...]:
    """Return the values of an aim; none where it has none. The first is what is most likely wanted."""
    if aim is GrowAim.LEVEL:
        return tuple(level for level in _LEVELS if level != array.level)
    if aim is GrowAim.LAYOUT:
        return _LAYOUTS
    if aim is GrowAim.CHUNK:
        return tuple(str(kib) for kib in _CHUNKS_KIB if kib * KIB != array.chunk_bytes)
    if aim is GrowAim.FEWER:
        return tuple(str(count) for count in range(max(2, array.raid_disks or 2) - 1, 0, -1))
    if aim is GrowAim.POLICY:
        return ("resync",) if array.consistency_policy == "ppl" else ("ppl",)
    if aim is GrowAim.BITMAP:
        return ("internal",) if array.bitmap is None else ("none",)
    return ()


def _yes(value: bool) -> str:  # noqa: FBT001
    return "yes" if value else "no"


def _grows(value: bool) -> str:  # noqa: FBT001
    return "becomes larger" if value else "stays as it is"
