"""The forms of a benchmark: their fields, their errors, and the resulting request. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.forms.fields import (
    change_fields,
    how_fields,
    knobs_for,
    what_fields,
)
from raidtui.features.bench.forms.form_check import refuse_field
from raidtui.features.bench.forms.form_draft import (
    DEVICE,
    FOLDER,
    OF_ARRAY,
    OF_WORK,
    OTHER,
    REPEATS,
    SCRATCH,
    YES,
    BenchDraft,
    FormField,
    FormKind,
)
from raidtui.features.bench.forms.known import Candidate, HostChoices, KnobChoice
from raidtui.features.bench.forms.place_fields import where_fields
from raidtui.features.bench.option_texts import (
    RequestError,
    read_chunk,
    read_number,
    read_size,
    read_values,
    refuse,
    sweep_values,
)
from raidtui.features.bench.request import Request
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.workload import PRESETS
from raidtui.model.knob_table import KNOBS
from raidtui.model.plan import Refusal
from raidtui.view.prose import read_prose
from raidtui.view.text import visible
from raidtui.view.units import KIB

NONE_KNOWN = HostChoices()
_USUAL = {
    "block": ("4k", "16k", "64k", "256k"),
    "depth": ("1", "4", "16", "64"),
    "jobs": ("1", "2", "4"),
    "chunk": ("16", "32", "64", "128", "512"),
    "layout": ("n2", "f2"),
    "level": ("raid10", "raid5"),
}
_NAMES = {
    "job_file": "job",
    "size_bytes": "size",
    "blocks": "block",
    "depths": "depth",
    "chunks": "chunk",
    "layouts": "layout",
    "levels": "level",
    "work": "size",
}
_FEW = 64


def fields(draft: BenchDraft, known: HostChoices = NONE_KNOWN) -> tuple[FormField, ...]:
    """Return the fields that apply now, from the top.

    Args:
        draft: the contents; fields that do not apply to it are left out.
        known: what the host has to choose from.
    """
    return (
        *what_fields(draft, known),
        *change_fields(draft, known),
        *where_fields(draft, known),
        *how_fields(draft),
    )


def problem(draft: BenchDraft, field: FormField) -> str:
    """Return the error of a field, a sentence; "" if it is valid."""
    refusal = refuse_field(draft, field)
    return refusal.sentence if refusal is not None else ""


def filled(draft: BenchDraft, known: HostChoices) -> BenchDraft:
    """Return the draft with defaults of this host where nothing is chosen yet."""
    preset = draft.chosen_preset
    if preset is not None and not draft.preset:
        draft = replace(draft, preset=preset.name)
    if not draft.folder and known.folders:
        draft = replace(draft, folder=OTHER if draft.path else known.folders[0].path)
    if draft.where == DEVICE and not draft.device and known.devices:
        arrays = [each.name for each in known.devices if each.kind == "array"]
        draft = replace(draft, device=(arrays or [known.devices[0].name])[0])
    knobs = knobs_for(draft, known)
    # One with values to compare: a disk of a virtual machine may know a single scheduler.
    names = [each.name for each in sorted(knobs, key=lambda each: len(_usual(each.name, each)) < 2)]
    if not draft.knob and names:
        draft = replace(draft, knob=names[0])
    if not draft.knob2 and len(names) > 1:
        draft = replace(draft, knob2=next(name for name in names if name != draft.knob))
    for axis in draft.axes:
        usual = _usual(axis, next((each for each in knobs if each.name == axis), None))
        sides = (f"A {axis}", f"B {axis}") if draft.kind is FormKind.AB else (f"values {axis}",)
        texts = _two(usual) if draft.kind is FormKind.AB else (",".join(usual),)
        for name, text in zip(sides, texts, strict=True):
            if axis and name not in draft.values:
                draft = draft.with_text(name, text)
    return draft


def _usual(axis: str, knob: KnobChoice | None) -> tuple[str, ...]:
    """Return useful values: of words the present one first, of a small range powers of two."""
    if knob is None:
        return _USUAL.get(axis, ())
    if knob.choices:
        return tuple(sorted(knob.choices, key=lambda word: word not in knob.now[:1]))
    low, high = knob.low or 0, knob.high
    if high is not None and high <= _FEW:
        powers = [1 << power for power in range(high.bit_length()) if low <= 1 << power < high]
        return tuple(map(str, (*powers, high)))
    now = next((int(each) for each in knob.now if each.isdecimal() and len(each) < 10), None)
    if now is None:
        return knob.now
    near = [max(low, now // 4), now, now * 4 if high is None else min(high, now * 4)]
    return tuple(map(str, dict.fromkeys(near)))


def _two(values: tuple[str, ...]) -> tuple[str, str]:
    """Return the ends of numbers, or the first two words."""
    if len(values) < 2:
        return (values[0] if values else "", "")
    return values[0], values[-1] if values[-1][:1].isdecimal() else values[1]


def overwritten(draft: BenchDraft, known: HostChoices) -> tuple[Candidate, ...]:
    """Return the devices that must be confirmed before it starts."""
    names: tuple[str, ...] = ()
    if draft.kind is FormKind.SWEEP and draft.where == SCRATCH:
        names = sweep_values(draft.scratch)
    elif draft.where == DEVICE and draft.write == YES:
        names = (draft.device,)
    return tuple(found for name in names if (found := known.device(name)) is not None)


def request_of_draft(draft: BenchDraft, known: HostChoices = NONE_KNOWN) -> Request | Refusal:
    """Return the request, or the first thing that is wrong in the form.

    Confirmations are not in it: they are typed later.
    """
    asked = fields(draft, known)
    for field in asked:
        refusal = refuse_field(draft, field)
        if refusal is not None:
            why = f"{field.label}: {refusal.why}"
            return refuse(why, refusal.remedy, code=refusal.code, part=field.name)
    try:
        return _request(draft, frozenset(field.name for field in asked))
    except RequestError as error:
        return refuse(error.why, error.remedy)


def _request(draft: BenchDraft, asked: frozenset[str]) -> Request:
    """Return the request of the form; hidden fields are left out."""
    axes = draft.axes

    def given(name: str) -> str:
        return draft.text(name).strip() if name in asked else ""

    def through(name: str) -> str:
        return draft.values_of(name) if name in axes else given(name)

    def number(name: str) -> int | None:
        return read_number(name, given(name)) if given(name) else None

    preset = draft.chosen_preset
    where: dict[str, Any] = {}
    if draft.where == FOLDER:
        where = {"directory": draft.directory}
    elif draft.where == DEVICE:
        where = {"device": draft.device, "write": draft.write == YES}
    elif draft.where == SCRATCH:
        size = given("member_size")
        where = {
            "scratch": sweep_values(draft.scratch),
            "levels": sweep_values(through("level")),
            "layouts": sweep_values(through("layout")),
            "chunks": read_values("chunk", through("chunk"), read_chunk),
            "member_kib": read_size("member_size", size) // KIB if size else 0,
        }
    return Request(
        preset=preset.name if preset is not None else "",
        job_file=given("job"),
        rw=given("rw"),
        blocks=read_values("block", through("block"), read_size),
        size_bytes=read_size("size", given("size")) if given("size") else None,
        depths=read_values("depth", through("depth"), read_number),
        jobs=read_values("jobs", through("jobs"), read_number),
        runtime_s=number("runtime"),
        ramp_s=number("ramp"),
        engine=given("engine"),
        read_percent=number("read_percent"),
        distribution=given("places"),
        direct=given("cache") != YES,
        knobs=tuple(
            (axis, sweep_values(draft.values_of(axis))) for axis in axes if axis not in {*OF_WORK, *OF_ARRAY}
        ),
        conditions=Conditions(
            trim=given("trim") == YES,
            cool_s=number("cool") or 0,
            precondition=number("precondition") or 0,
            steady=draft.steady == YES,
            quiet_check=draft.quiet == YES,
        ),
        repeats=int(given("repeats") or REPEATS[draft.kind]),
        grouped=given("grouped") == YES,
        note=given("note"),
        **where,
    )


def name_about(part: str, draft: BenchDraft, known: HostChoices) -> str:
    """Return the name of the field that a refusal is about; "" where it is about none.

    Args:
        part: as ``raidtui.features.bench.offer.Misfit`` has it.
        draft: its contents.
        known: what the host has to choose from.
    """
    name = _NAMES.get(part, part)
    names = [f"values {name}", f"B {name}", name]
    if part == "directory":
        names = ["path", "folder", "where"]
    there = {field.name for field in fields(draft, known)}
    return next((each for each in names if each in there), "")


def meaning(draft: BenchDraft, field: FormField, known: HostChoices) -> tuple[str, ...]:
    """Return the long explanation of a field, in addition to its hint: paragraphs and lines.

    Args:
        draft: its contents.
        field: the field.
        known: what the host has to choose from.
    """
    texts = read_prose(__file__, "bench_form")
    if field.name == "preset":
        return _about_presets(texts)
    if field.name in {"knob", "knob2"}:
        knob = KNOBS.get(draft.text(field.name))
        return (knob.risk, "", *texts["knob"]) if knob is not None else texts["first"]
    if field.name == "scratch":
        return _about_scratch(texts, known)
    if field.name == "device":
        return texts["where"]
    if not field.axis:
        name = "folder" if field.name == "path" else field.name
        return texts.get(name) or texts.get(f"change {name}", ())
    knob = KNOBS.get(field.axis)
    about = texts.get(f"change {field.axis}", ())
    about = (knob.what, "", knob.risk, "", *texts["knob"]) if knob is not None else about
    return (*texts["ab"], "", *about) if field.side else about


def _about_presets(texts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    lines = [*texts["presets"], ""]
    for preset in PRESETS:
        more = f", {preset.more}" if preset.more else ""
        lines += [f"{preset.name}: {preset.words}. {preset.work.words}{more}. From {preset.origin}.", ""]
    return tuple(lines[:-1])


def _about_scratch(texts: Mapping[str, tuple[str, ...]], known: HostChoices) -> tuple[str, ...]:
    refused = [f"  {visible(each.name)}: {visible(each.refusal)}" for each in known.devices if each.refusal]
    return (*texts["scratch"], *(("", *texts["refused"], "", *refused) if refused else ()))
