"""The forms of a benchmark: what is asked for, what is wrong in it, and the request that it makes. Pure."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.bench.ask import Request, sweep_values
from raidtui.bench.forms.axes import change_fields, knobs_for
from raidtui.bench.forms.check import refuse_field
from raidtui.bench.forms.field import Field, Part, Pick
from raidtui.bench.forms.known import Candidate, Known, Turnable
from raidtui.bench.forms.place import where_fields
from raidtui.bench.forms.texts import (
    DEVICE,
    FOLDER,
    JOB,
    KNOB,
    NO,
    OF_ARRAY,
    OF_WORK,
    OTHER,
    OWN,
    REPEATS,
    SCRATCH,
    YES,
    Draft,
    Kind,
    axes_of,
    directory_of,
    preset_of,
    text_of,
    values_of,
    with_text,
)
from raidtui.bench.forms.work import how_fields, what_fields
from raidtui.bench.typed import Typed, TypedError, read_size, request_of_typed
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

__all__ = [
    "DEVICE", "FOLDER", "JOB", "KNOB", "NO", "OTHER", "OWN", "SCRATCH", "YES", "Draft", "Field", "Kind",
    "Part", "Pick", "axes_of", "fields", "filled", "name_about", "overwritten", "preset_of", "problem",
    "request_of_draft", "text_of", "with_text",
]  # fmt: skip

NONE_KNOWN = Known()
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


def fields(draft: Draft, kind: Kind, known: Known = NONE_KNOWN) -> tuple[Field, ...]:
    """Return the fields that are asked for now, from the top.

    Args:
        draft: what stands in them; what does not matter with it is not asked for.
        kind: which form it is.
        known: what the host has to choose from.
    """
    return (
        *what_fields(draft, kind),
        *change_fields(draft, kind, known),
        *where_fields(draft, kind, known),
        *how_fields(draft, kind),
    )


def problem(draft: Draft, field: Field) -> str:
    """Return what is wrong with what stands in a field, in a sentence; "" where nothing is."""
    refusal = refuse_field(draft, field)
    return refusal.sentence if refusal is not None else ""


def filled(draft: Draft, kind: Kind, known: Known) -> Draft:
    """Return the draft with what is usual on this host where nothing was chosen yet."""
    preset = preset_of(draft, kind)
    if preset is not None and not draft.preset:
        draft = replace(draft, preset=preset.name)
    if not draft.folder and known.folders:
        draft = replace(draft, folder=OTHER if draft.path else known.folders[0].path)
    if draft.where == DEVICE and not draft.device and known.devices:
        arrays = [each.name for each in known.devices if each.kind == "array"]
        draft = replace(draft, device=(arrays or [known.devices[0].name])[0])
    knobs = knobs_for(draft, known)
    if not draft.knob and knobs:
        draft = replace(draft, knob=knobs[0].name)
    if not draft.knob2 and len(knobs) > 1:
        draft = replace(draft, knob2=next(each.name for each in knobs if each.name != draft.knob))
    for axis in axes_of(draft, kind):
        usual = _usual(axis, next((each for each in knobs if each.name == axis), None))
        names = (f"A {axis}", f"B {axis}") if kind is Kind.AB else (f"values {axis}",)
        texts = _two(usual) if kind is Kind.AB else (",".join(usual),)
        for name, text in zip(names, texts, strict=True):
            if axis and name not in draft.values:
                draft = with_text(draft, name, text)
    return draft


def _usual(axis: str, knob: Turnable | None) -> tuple[str, ...]:
    """Return values that tell something: of words the one of now first, of few numbers halves."""
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
    around = [max(low, now // 4), now, now * 4 if high is None else min(high, now * 4)]
    return tuple(map(str, dict.fromkeys(around)))


def _two(values: tuple[str, ...]) -> tuple[str, str]:
    """Return the ends of numbers, or the first two words."""
    if len(values) < 2:
        return (values[0] if values else "", "")
    return values[0], values[-1] if values[-1][:1].isdecimal() else values[1]


def overwritten(draft: Draft, kind: Kind, known: Known) -> tuple[Candidate, ...]:
    """Return the devices whose words must be typed before it is begun."""
    names: tuple[str, ...] = ()
    if kind is Kind.SWEEP and draft.where == SCRATCH:
        names = sweep_values(draft.scratch)
    elif draft.where == DEVICE and draft.write == YES:
        names = (draft.device,)
    return tuple(found for name in names if (found := known.device(name)) is not None)


def request_of_draft(draft: Draft, kind: Kind, known: Known = NONE_KNOWN) -> Request | Refusal:
    """Return what is asked for, or the first thing that is wrong in the form.

    Words that confirm a loss are not in it: they are typed later.
    """
    asked = fields(draft, kind, known)
    for field in asked:
        refusal = refuse_field(draft, field)
        if refusal is not None:
            return Refusal(code=refusal.code, why=f"{field.label}: {refusal.why}", remedy=refusal.remedy)
    try:
        return request_of_typed(_typed(draft, kind, frozenset(field.name for field in asked)))
    except TypedError as error:
        return Refusal(code=RefusalCode.INVALID, why=str(error))


def _typed(draft: Draft, kind: Kind, asked: frozenset[str]) -> Typed:
    """Return the same as options; what is not asked for is left out."""
    axes = axes_of(draft, kind)

    def given(name: str) -> str:
        return text_of(draft, name).strip() if name in asked else ""

    def through(name: str) -> str:
        return values_of(draft, kind, name) if name in axes else given(name)

    preset = preset_of(draft, kind)
    where: dict[str, Any] = {"directory": directory_of(draft)} if draft.where == FOLDER else {}
    if draft.where == DEVICE:
        where = {"device": draft.device, "write": draft.write == YES}
    elif draft.where == SCRATCH:
        size = read_size("member_size", given("member_size")) // KIB if given("member_size") else 0
        where = {
            "scratch": sweep_values(draft.scratch),
            **{name: through(name) for name in OF_ARRAY},
            "member_size": str(size),
        }
    return Typed(
        preset=preset.name if preset is not None else "",
        job=given("job"),
        rw=given("rw"),
        bs=through("block"),
        size=given("size"),
        depth=through("depth"),
        jobs=through("jobs"),
        runtime=given("runtime"),
        ramp=given("ramp"),
        engine=given("engine"),
        read_percent=given("read_percent"),
        distribution=given("places"),
        direct=given("cache") != YES,
        knob=tuple(
            (axis, values_of(draft, kind, axis)) for axis in axes if axis not in {*OF_WORK, *OF_ARRAY}
        ),
        trim=given("trim") == YES,
        cool=given("cool"),
        precondition=given("precondition"),
        steady=draft.steady == YES,
        quiet_check=draft.quiet == YES,
        repeats=given("repeats") or REPEATS[kind],
        grouped=given("grouped") == YES,
        note=given("note"),
        **where,
    )


def name_about(part: str, draft: Draft, kind: Kind, known: Known) -> str:
    """Return the name of the field that a refusal is about; "" where it is about none.

    Args:
        part: as ``raidtui.bench.ask.Misfit`` has it.
        draft: what stands in the form.
        kind: which form it is.
        known: what the host has to choose from.
    """
    name = _NAMES.get(part, part)
    names = [f"values {name}", f"B {name}", name]
    if part == "directory":
        names = ["path", "folder", "where"]
    there = {field.name for field in fields(draft, kind, known)}
    return next((each for each in names if each in there), "")
