"""What a benchmark's form asks about the place. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.bench.forms.field import Field, Makes, Part, Pick, picks_of
from raidtui.bench.forms.known import Candidate, Folder, Known
from raidtui.bench.forms.texts import (
    DEVICE,
    FOLDER,
    JOB,
    LEVELS,
    NO,
    OTHER,
    SCRATCH,
    YES,
    Draft,
    Kind,
    axes_of,
    levels_of,
)
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


def where_fields(draft: Draft, kind: Kind, known: Known) -> Iterator[Field]:
    """Yield what is asked about the place."""
    field = Makes(kind, Part.WHERE)
    ways = [(FOLDER, "files in a folder")]
    if draft.what != JOB:
        ways += [(DEVICE, "a device")]
        ways += [(SCRATCH, "arrays made for it")] if kind is Kind.SWEEP else []
    yield field("where", "where", _HINTS.get(draft.where, ""), picks_of(*ways))
    if draft.where == DEVICE:
        yield from _device(draft, field, known)
    elif draft.where == SCRATCH:
        yield from _scratch(field, known, axes_of(draft, kind), levels_of(draft, kind))
    else:
        yield from _folder(draft, field, known)


def _folder(draft: Draft, field: Makes, known: Known) -> Iterator[Field]:
    hint = "They come into a folder of the run's own in it, and take three quarters of what is free at most."
    if known.folders:
        asked = draft.folder not in {"", OTHER} and known.folder(draft.folder) is None
        own = picks_of((draft.folder, draft.folder)) if asked else ()
        picks = (*map(_folder_pick, known.folders), *own, *picks_of((OTHER, OTHER)))
        yield field("folder", "folder", hint, picks)
    if not known.folders or draft.folder == OTHER:
        yield field("path", "path" if known.folders else "folder", f"One that is there: /srv/bench. {hint}")


def _folder_pick(folder: Folder) -> Pick:
    on = f"on {', '.join(folder.arrays)}" if folder.arrays else folder.file_system
    return Pick(key=folder.path, words=f"{folder.path}  {on}, {binary_size(folder.free_bytes)} free")


def _device(draft: Draft, field: Makes, known: Known) -> Iterator[Field]:
    found = known.device(draft.device)
    on = f"On it: {found.on}." if found is not None and found.on else "A disk, partition, array or volume."
    picks = (
        Pick(key=each.name, words=device_words(each), note=f"On it: {each.on}." if each.on else "")
        for each in known.devices
    )
    yield field("device", "device", on, picks)
    refusal = found.refusal if found is not None else ""
    yes = Pick(key=YES, words="yes, what is on it is lost", refusal=refusal)
    hint = (
        f"It cannot be: {refusal}." if refusal else "Its serial number is asked for before anything begins."
    )
    yield field("write", "overwrite it", hint, (Pick(key=NO, words="no, it is only read"), yes))


def device_words(device: Candidate) -> str:
    """Return a device in a line: its name, what it is, and the end of its serial number."""
    about = [device.title] if device.title else []
    about += [] if device.kind == "disk" else [device.kind]
    about += [binary_size(device.size_bytes)]
    about += [tail(device.serial, _SERIAL)] if device.serial else []
    about += [device.model] if device.model else []
    return f"{device.name}  {'  '.join(about)}"


def _scratch(field: Makes, known: Known, axes: tuple[str, ...], levels: tuple[str, ...]) -> Iterator[Field]:
    free = known.scratch
    others = len(known.devices) - len(free)
    hint = "Their serial numbers are asked for before anything begins."
    if not free:
        hint = "No disk or partition is free here."
    if others:
        hint += f" {counted(others, 'other device')} cannot be taken: ? says why."
    picks = (
        Pick(
            key=each.name,
            words=device_words(each),
            note=f"On it: {each.on}." if each.on else "Nothing is known to be on it.",
        )
        for each in free
    )
    yield field("scratch", "devices", hint, picks, several=True)
    if "level" not in axes:
        yield field("level", "level", "Of the arrays.", picks_of(*((each, each) for each in LEVELS)))
    if "layout" not in axes and levels == ("raid10",):
        hint = "n2 is near with two copies of each block, f2 far, o2 offset."
        yield field("layout", "layout", hint, usual="n2")
    if "chunk" not in axes and _STRIPED & set(levels):
        yield field("chunk", "chunk", "Of the arrays; mdadm's own is 512.", usual="512", unit="KiB")
    hint = "How much: 10g. The first sync of a parity level is waited for, and goes over all of it."
    yield field("member_size", "of each", hint, usual="all of it")
