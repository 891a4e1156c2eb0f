"""What a benchmark's form asks about the place. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.bench.forms.form_draft import (
    DEVICE,
    FOLDER,
    JOB,
    LEVELS,
    NO,
    OTHER,
    SCRATCH,
    YES,
    BenchDraft,
    FieldMaker,
    FormChoice,
    FormField,
    FormKind,
    FormPart,
    axes_of,
    choices_of,
    levels_of,
)
from raidtui.bench.forms.known import Candidate, Folder, HostChoices
from raidtui.model.levels import PARITY_LEVELS
from raidtui.view.text import tail
from raidtui.view.units import binary_size, counted

_SERIAL = 8
_STRIPED = frozenset({"raid10", "raid0", *PARITY_LEVELS})
_HINTS = {
    FOLDER: "Nothing that is there is written to, and the files are removed afterwards.",
    DEVICE: "It is read, by a fio that cannot write, unless you say below that it may be overwritten.",
    SCRATCH: "Each array is made, measured and removed. What is on the devices is lost.",
}


def where_fields(draft: BenchDraft, kind: FormKind, known: HostChoices) -> Iterator[FormField]:
    """Yield what is asked about the place."""
    field = FieldMaker(kind, FormPart.WHERE)
    ways = [(FOLDER, "files in a folder")]
    if draft.what != JOB:
        ways += [(DEVICE, "a device")]
        ways += [(SCRATCH, "arrays made for it")] if kind is FormKind.SWEEP else []
    yield field("where", "where", _HINTS.get(draft.where, ""), choices_of(*ways))
    if draft.where == DEVICE:
        yield from _device(draft, field, known)
    elif draft.where == SCRATCH:
        yield from _scratch(field, known, axes_of(draft, kind), levels_of(draft, kind))
    else:
        yield from _folder(draft, field, known)


def _folder(draft: BenchDraft, field: FieldMaker, known: HostChoices) -> Iterator[FormField]:
    hint = "They come into a folder of the run's own in it, and take three quarters of what is free at most."
    if known.folders:
        asked = draft.folder not in {"", OTHER} and known.folder(draft.folder) is None
        own = choices_of((draft.folder, draft.folder)) if asked else ()
        picks = (*map(_folder_pick, known.folders), *own, *choices_of((OTHER, OTHER)))
        yield field("folder", "folder", hint, picks)
    if not known.folders or draft.folder == OTHER:
        yield field("path", "path" if known.folders else "folder", f"One that is there: /srv/bench. {hint}")


def _folder_pick(folder: Folder) -> FormChoice:
    on = f"on {', '.join(folder.arrays)}" if folder.arrays else folder.file_system
    return FormChoice(key=folder.path, words=f"{folder.path}  {on}, {binary_size(folder.free_bytes)} free")


def _device(draft: BenchDraft, field: FieldMaker, known: HostChoices) -> Iterator[FormField]:
    found = known.device(draft.device)
    on = f"On it: {found.on}." if found is not None and found.on else "A disk, partition, array or volume."
    picks = (
        FormChoice(key=each.name, words=device_words(each), note=f"On it: {each.on}." if each.on else "")
        for each in known.devices
    )
    yield field("device", "device", on, picks)
    refusal = found.refusal if found is not None else ""
    yes = FormChoice(key=YES, words="yes, what is on it is lost", refusal=refusal)
    hint = (
        f"It cannot be: {refusal}." if refusal else "Its serial number is asked for before anything begins."
    )
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
    field: FieldMaker, known: HostChoices, axes: tuple[str, ...], levels: tuple[str, ...]
) -> Iterator[FormField]:
    free = known.scratch
    others = len(known.devices) - len(free)
    hint = "Their serial numbers are asked for before anything begins."
    if not free:
        hint = "No disk or partition is free here."
    if others:
        hint += f" {counted(others, 'other device')} cannot be taken: ? says why."
    picks = (
        FormChoice(
            key=each.name,
            words=device_words(each),
            note=f"On it: {each.on}." if each.on else "Nothing is known to be on it.",
        )
        for each in free
    )
    yield field("scratch", "devices", hint, picks, several=True)
    if "level" not in axes:
        yield field("level", "level", "Of the arrays.", choices_of(*((each, each) for each in LEVELS)))
    if "layout" not in axes and levels == ("raid10",):
        hint = "n2 is near with two copies of each block, f2 far, o2 offset."
        yield field("layout", "layout", hint, usual="n2")
    if "chunk" not in axes and _STRIPED & set(levels):
        yield field("chunk", "chunk", "Of the arrays; mdadm's own is 512.", usual="512", unit="KiB")
    hint = "How much: 10g. The first sync of a parity level is waited for, and goes over all of it."
    yield field("member_size", "of each", hint, usual="all of it")
