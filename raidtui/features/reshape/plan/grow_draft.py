"""The page that gives an array another shape: what can be chosen, and the plan of what is. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace, backup_trouble
from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_above import volumes_on
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow_size
from raidtui.features.reshape.plan.grow_stages import refuse_reshape
from raidtui.features.reshape.plan.journal_plan import plan_journal, plan_policy
from raidtui.features.reshape.plan.kept_spares import plan_grow_keeping, spare_names
from raidtui.features.reshape.plan.shrink_plan import plan_shrink, plan_shrink_size
from raidtui.features.reshape.plan.size_plan import plan_larger
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.wizard.wizard_draft import WizardRow
from raidtui.view.units import KIB, binary_size


class GrowAim(StrEnum):
    """What is to become of the array."""

    DEVICES = "more devices"
    LARGER = "larger devices"
    SIZE = "all of larger members"
    LEVEL = "another level"
    LAYOUT = "another layout"
    CHUNK = "another chunk"
    FEWER = "fewer devices"
    LESS = "less of each member"
    JOURNAL = "write journal"
    POLICY = "partial parity log"
    BITMAP = "bitmap"


_AIMS = tuple(GrowAim)
_NOTES = {
    GrowAim.DEVICES: "Free devices become members; md moves the data while the array is in use.",
    GrowAim.LARGER: "Each replaces a member, copied while the array is in use; then all of each is used.",
    GrowAim.SIZE: "When all members were replaced by larger ones (R): the array uses all of each.",
    GrowAim.LEVEL: "Also in several stages, as one plan: RAID 1 to 5 to 6.",
    GrowAim.LAYOUT: "Where data and parity lie on the members of a RAID 5 or 6.",
    GrowAim.CHUNK: "Every block is moved to its new place.",
    GrowAim.FEWER: "The array's contents shrink first; the last devices become spares.",
    GrowAim.LESS: "The array's contents shrink first; then the rest of each member is unused.",
    GrowAim.JOURNAL: "Writes go to a device of their own first: no write hole. Without a device: removed.",
    GrowAim.POLICY: "Parity is logged on the members before it is written: no write hole.",
    GrowAim.BITMAP: "Records what may be out of sync: after a crash only that is resynced.",
}
_LEVELS = ("raid0", "raid5", "raid6", "raid10")
_LAYOUTS = ("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric")
_CHUNKS_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([KMGTkmgt])(?:i?[Bb])?")
_MOVES = frozenset({GrowAim.DEVICES, GrowAim.LEVEL, GrowAim.LAYOUT, GrowAim.CHUNK})
_TAKES = frozenset({GrowAim.DEVICES, GrowAim.LARGER, GrowAim.LEVEL, GrowAim.JOURNAL})
_ENLARGES = frozenset({GrowAim.DEVICES, GrowAim.LARGER, GrowAim.SIZE, GrowAim.LEVEL})
_NOTHING_CHOSEN = Refusal(
    code=RefusalCode.INVALID, why="no device is chosen yet", remedy="take one with Space"
)
AIM = "aim"
"""The first row."""
SIZE, BACKUP = "size", "backup"


class GrowDraft(Struct, frozen=True, kw_only=True):
    """What has been chosen.

    Args:
        devices: kernel names of free devices, in the order in which they were taken.
        value: of the second row: a level, layout, chunk in KiB, number of devices, policy or kind of bitmap.
        preserve: whether a RAID 5 becomes a RAID 6 without moving its data.
        above: whether what stands on the array takes its new room.
        volume: the volume of LVM that takes it, as group/volume; "" for none.
        kept: how many spares remain spares; None for all.
        size: how much of each member is used, as it was typed; "" for as much as now.
        backup: where a backup file may lie; None before that was looked at.
    """

    aim: GrowAim = GrowAim.DEVICES
    devices: tuple[str, ...] = ()
    value: str = ""
    preserve: bool = False
    above: bool = True
    volume: str = ""
    kept: int | None = None
    size: str = ""
    backup: BackupPlace | None = None

    @property
    def takes_devices(self) -> bool:
        """Whether free devices are chosen."""
        return self.aim in _TAKES


def with_aim(array: Array, draft: GrowDraft, aim: GrowAim) -> GrowDraft:
    """Return the draft with another aim, and the first of its values."""
    fresh = GrowDraft(aim=aim, devices=draft.devices, above=draft.above, volume=draft.volume)
    return replace(fresh, value=next(iter(_values(array, aim)), ""), backup=draft.backup)


def grow_rows(
    survey: Survey, array: Array, draft: GrowDraft, destroys: Collection[str] = ()
) -> tuple[WizardRow, ...]:
    """Return the rows with a value each, the aim first.

    Args:
        survey: the host, so far.
        array: the array.
        draft: what has been chosen.
        destroys: names of arrays that may be destroyed.
    """
    rows = [WizardRow(key=AIM, words="What", value=draft.aim.value, note=_NOTES[draft.aim])]
    if draft.value:
        word = {GrowAim.FEWER: "devices", GrowAim.CHUNK: "chunk", GrowAim.LEVEL: "level"}.get(draft.aim, "to")
        unit = " KiB" if draft.aim is GrowAim.CHUNK else ""
        rows.append(WizardRow(key="value", words=word, value=f"{draft.value}{unit}", note=_NOTES[draft.aim]))
    if draft.aim is GrowAim.LESS:
        note = "How much of each member is used: a figure with K, M, G or T, 1024 each. ← → change it by 1 %."
        trouble = field_trouble(survey, array, draft, SIZE)
        rows.append(
            WizardRow(
                key=SIZE,
                words="of each",
                value=size_words(array, draft),
                note=note,
                typed=True,
                trouble=trouble,
            )
        )
    if draft.aim is GrowAim.LEVEL and draft.value == "raid6":
        note = "Yes: only the disk with the second parity is written; the layout stays unusual."
        rows.append(WizardRow(key="preserve", words="data stay", value=_yes(draft.preserve), note=note))
    if spares := _spares(array) if draft.aim is GrowAim.DEVICES else 0:
        kept = spares if draft.kept is None else draft.kept
        note = "The others become members. A kept spare is removed while md fills the new slots."
        rows.append(WizardRow(key="kept", words="spares kept", value=f"{kept} of {spares}", note=note))
    if draft.aim in _ENLARGES:
        note = "LVM's physical volume, an open LUKS device and a mounted file system become larger, too."
        rows.append(WizardRow(key="above", words="what is on it", value=_grows(draft.above), note=note))
        if draft.above and volumes_on(survey, array):
            note = "This volume then takes all free space in its group, and its file system grows with it."
            value = draft.volume or "none: the room stays free in the group"
            rows.append(WizardRow(key="volume", words="LVM volume", value=value, note=note))
    if asks_backup(survey, array, draft, destroys):
        path = draft.backup.path if draft.backup is not None else ""
        note = (
            "mdadm keeps what is being moved in it, because there is not enough room beside the data. It must"
            " survive a crash: put it on a disk that the array does not use."
        )
        trouble = field_trouble(survey, array, draft, BACKUP)
        rows.append(
            WizardRow(key=BACKUP, words="backup file", value=path, note=note, typed=True, trouble=trouble)
        )
    return tuple(rows)


def asks_backup(survey: Survey, array: Array, draft: GrowDraft, destroys: Collection[str] = ()) -> bool:
    """Whether a plan of what is chosen needs a backup file, and can be made with one."""
    if draft.aim not in _MOVES:
        return False
    without, somewhere = replace(draft, backup=None), replace(draft, backup=BackupPlace(path="/"))
    return isinstance(_made(survey, array, without, destroys), Refusal) and isinstance(
        _made(survey, array, somewhere, destroys), Plan
    )


def field_trouble(survey: Survey, array: Array, draft: GrowDraft, key: str) -> str:
    """Return what is wrong with what was typed into a row, a clause; "" for nothing.

    Args:
        survey: the host.
        array: the array.
        draft: what has been chosen.
        key: of the row.
    """
    if key == BACKUP and draft.backup is not None:
        return backup_trouble(survey, array, draft.backup)
    if key == SIZE and draft.size:
        kib = _typed_kib(array, draft.size)
        if not kib:
            return "not a size; use 900M or 1.5T"
        if kib >= (array.component_kib or 0):
            return f"less than the {binary_size((array.component_kib or 0) * KIB)} that are used now"
    return ""


def size_words(array: Array, draft: GrowDraft) -> str:
    """Return how much of each member is used, as it was typed, else as it is."""
    return draft.size or (binary_size(array.component_kib * KIB) if array.component_kib else "?")


def _typed_kib(array: Array, text: str) -> int:
    """Return a typed size in whole chunks, KiB; 0 where it is none."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return 0
    kib = int(float(found[1]) * KIB ** "kmgt".index(found[2].lower()))
    chunk = max(1, (array.chunk_bytes or 0) // KIB)
    return kib - kib % chunk


def _spares(array: Array) -> int:
    return len(spare_names(array))


def turned(survey: Survey, array: Array, draft: GrowDraft, key: str, delta: int) -> GrowDraft:
    """Return the draft with the value of a row changed.

    Args:
        survey: the host.
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
    if key == "volume":
        volumes = ("", *volumes_on(survey, array))
        at = volumes.index(draft.volume) if draft.volume in volumes else 0
        return replace(draft, volume=volumes[(at + delta) % len(volumes)])
    if key == "kept":
        spares = _spares(array)
        kept = ((spares if draft.kept is None else draft.kept) + delta) % (spares + 1)
        return replace(draft, kept=None if kept == spares else kept)
    if key == SIZE:
        return _sized(array, draft, delta)
    if key == "preserve":
        return replace(draft, preserve=not draft.preserve)
    return replace(draft, above=not draft.above) if key == "above" else draft


def _sized(array: Array, draft: GrowDraft, delta: int) -> GrowDraft:
    """Return the draft with one per cent more or less of each member."""
    most = array.component_kib or 0
    chunk = max(1, (array.chunk_bytes or 0) // KIB)
    step = max(chunk, most // 100 - most // 100 % chunk)
    kib = (_typed_kib(array, draft.size) if draft.size else most) + delta * step
    return replace(draft, size=f"{kib}K" if 0 < kib < most else "" if kib >= most else draft.size)


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
    without = _made(survey, array, replace(draft, backup=None), destroys)
    if isinstance(without, Plan) or draft.backup is None:
        return without
    return _made(survey, array, draft, destroys)


def _made(survey: Survey, array: Array, draft: GrowDraft, destroys: Collection[str]) -> Plan | Refusal:
    volumes = (draft.volume,) if draft.volume and draft.volume in volumes_on(survey, array) else ()
    options = GrowOptions(destroys=destroys, backup=draft.backup, above=draft.above, volumes=volumes)
    if draft.aim is GrowAim.DEVICES:
        kept = _spares(array) if draft.kept is None else draft.kept
        if not draft.devices and kept == _spares(array) and refuse_reshape(survey, array) is None:
            return _NOTHING_CHOSEN
        return plan_grow_keeping(survey, array, draft.devices, kept, options)
    if draft.aim is GrowAim.LARGER:
        return plan_larger(survey, array, draft.devices, options) if draft.devices else _NOTHING_CHOSEN
    if draft.aim is GrowAim.LESS:
        return plan_shrink_size(
            survey, array, _typed_kib(array, draft.size) if draft.size else array.component_kib or 0
        )
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
    return "becomes larger" if value else "stays unchanged"
