"""The fields of a benchmark's place: a folder, a device, or devices that arrays are made of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from raidtui.features.bench.forms.form_draft import (
    DEVICE,
    FOLDER,
    JOB,
    LEVELS,
    NO,
    OTHER,
    SCRATCH,
    YES,
    BenchDraft,
    FormChoice,
    FormField,
    FormKind,
    FormPart,
    choices_of,
)
from raidtui.features.bench.forms.known import Candidate, Folder, HostChoices
from raidtui.features.bench.option_texts import sweep_values
from raidtui.model.levels import PARITY_LEVELS
from raidtui.view.text import tail
from raidtui.view.units import binary_size, counted

_Maker = Callable[..., FormField]
_SERIAL = 8
_STRIPED = frozenset({"raid10", "raid0", *PARITY_LEVELS})
_PLACE_HINTS = {
    FOLDER: "Existing files are not touched; the benchmark's own files are removed afterwards.",
    DEVICE: "It is only read, by an fio that is started read-only, unless you let it be overwritten below.",
    SCRATCH: "Each array is created, measured and removed. Everything on the devices is lost.",
}


def where_fields(draft: BenchDraft, known: HostChoices) -> Iterator[FormField]:
    """Yield the fields of the place."""
    field = partial(FormField, part=FormPart.WHERE)
    choices = [(FOLDER, "files in a folder")]
    if draft.what != JOB:
        choices += [(DEVICE, "a device")]
        choices += [(SCRATCH, "arrays made for it")] if draft.kind is FormKind.SWEEP else []
    yield field("where", "where", _PLACE_HINTS.get(draft.where, ""), choices_of(*choices))
    if draft.where == DEVICE:
        yield from _device(draft, field, known)
    elif draft.where == SCRATCH:
        yield from _scratch(field, known, draft.axes, sweep_values(draft.values_of("level")))
    else:
        yield from _folder(draft, field, known)


def _folder(draft: BenchDraft, field: _Maker, known: HostChoices) -> Iterator[FormField]:
    hint = (
        "Files are created in a folder of their own in it and use at most three quarters of the free space."
    )
    if known.folders:
        asked = draft.folder not in {"", OTHER} and known.folder(draft.folder) is None
        own = choices_of((draft.folder, draft.folder)) if asked else ()
        picks = (*map(_folder_pick, known.folders), *own, *choices_of((OTHER, OTHER)))
        yield field("folder", "folder", hint, picks)
    if not known.folders or draft.folder == OTHER:
        yield field("path", "path" if known.folders else "folder", f"An existing folder: /srv/bench. {hint}")


def _folder_pick(folder: Folder) -> FormChoice:
    on = f"on {', '.join(folder.arrays)}" if folder.arrays else folder.file_system
    return FormChoice(key=folder.path, words=f"{folder.path}  {on}, {binary_size(folder.free_bytes)} free")


def _device(draft: BenchDraft, field: _Maker, known: HostChoices) -> Iterator[FormField]:
    found = known.device(draft.device)
    on = f"On it: {found.on}." if found is not None and found.on else "A disk, partition, array or volume."
    picks = tuple(
        FormChoice(key=each.name, words=device_words(each), note=f"On it: {each.on}." if each.on else "")
        for each in known.devices
    )
    yield field("device", "device", on, picks)
    refusal = found.refusal if found is not None else ""
    yes = FormChoice(key=YES, words="yes, everything on it is lost", refusal=refusal)
    hint = f"Not possible: {refusal}." if refusal else "You type its serial number before anything starts."
    yield field("write", "overwrite it", hint, (FormChoice(key=NO, words="no, it is only read"), yes))


def device_words(device: Candidate) -> str:
    """Return a device in a line: its name, what it is, and the end of its serial number."""
    about = [device.title] if device.title else []
    about += [] if device.kind == "disk" else [device.kind]
    about += [binary_size(device.size_bytes)]
    about += [tail(device.serial, _SERIAL)] if device.serial else []
    about += [device.model] if device.model else []
    return f"{device.name}  {'  '.join(about)}"


def _scratch(
    field: _Maker, known: HostChoices, axes: tuple[str, ...], levels: tuple[str, ...]
) -> Iterator[FormField]:
    free = known.scratch
    others = len(known.devices) - len(free)
    hint = "You type their serial numbers before anything starts."
    if not free:
        hint = "No disk or partition is free."
    if others:
        hint += f" {counted(others, 'other device')} cannot be taken: ? says why."
    picks = tuple(
        FormChoice(
            key=each.name,
            words=device_words(each),
            note=f"On it: {each.on}." if each.on else "Nothing is known to be on it.",
        )
        for each in free
    )
    yield field("scratch", "devices", hint, picks, several=True)
    if "level" not in axes:
        yield field(
            "level", "level", "The level of the arrays.", choices_of(*((each, each) for each in LEVELS))
        )
    if "layout" not in axes and levels == ("raid10",):
        hint = "n2 is near with two copies of each block, f2 far, o2 offset."
        yield field("layout", "layout", hint, usual="n2")
    if "chunk" not in axes and _STRIPED & set(levels):
        yield field(
            "chunk", "chunk", "The chunk of the arrays; mdadm's default is 512.", usual="512", unit="KiB"
        )
    hint = "How much of each device is used: 10g. The first sync of a parity level covers all of it."
    yield field("member_size", "of each", hint, usual="all of it")
