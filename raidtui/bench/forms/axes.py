"""What a sweep's form asks about that which differs between the runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.bench.forms.field import Field, Makes, Part, Pick, picks_of
from raidtui.bench.forms.known import Known, Turnable
from raidtui.bench.forms.texts import (
    JOB,
    KNOB,
    LEVELS,
    NOTHING,
    OF_ARRAY,
    OF_WORK,
    SCRATCH,
    Draft,
    Kind,
    axes_of,
    text_of,
)
from raidtui.model.knob import KnobScope
from raidtui.model.knob_table import KNOBS

_WORDS = {
    KNOB: "a knob",
    "block": "the block size",
    "depth": "the depth",
    "jobs": "the number of jobs",
    "chunk": "the chunk",
    "layout": "the layout",
    "level": "the level",
}
_LABELS = {
    "block": "block sizes",
    "depth": "depths",
    "jobs": "jobs",
    "chunk": "chunks",
    "layout": "layouts",
    "level": "levels",
}
_HINTS = {
    "block": "Sizes of a request, with commas between: 4k,16k,64k. K is 1024.",
    "depth": "Requests under way in each job, with commas between, or 1..31: 1,8,32.",
    "jobs": "As many do the same at a time, each on a file of its own; with commas between: 1,2,4.",
    "chunk": "With commas between: 16,32,512. one is the first device by itself, to compare with.",
    "layout": "Of RAID-10, with commas between: n2 is near with two copies, f2 far, o2 offset.",
    "level": "An array of each is made in turn.",
}


def change_fields(draft: Draft, kind: Kind, known: Known) -> Iterator[Field]:
    """Yield what is asked about that which differs."""
    if kind is Kind.RUN:
        return
    field = Makes(kind, Part.CHANGES)
    axes = axes_of(draft, kind)
    hint = "What differs between the runs, everything else being the same."
    yield field("first", "changes", hint, _ways(draft, kind))
    yield from _axis(draft, known, field, "knob" if draft.first == KNOB else "", axes[0])
    if kind is Kind.AB:
        return
    hint = "What else differs: each value of the one meets each of the other."
    others = (each for each in _ways(draft, kind) if each.key == KNOB or each.key != draft.first)
    yield field("second", "and", hint, (*picks_of((NOTHING, "nothing else")), *others))
    if len(axes) > 1:
        again = axes[1] in {"", axes[0]}
        yield from _axis(
            draft, known, field, "knob2" if draft.second == KNOB else "", "" if again else axes[1]
        )


def _ways(draft: Draft, kind: Kind) -> tuple[Pick, ...]:
    ways = [KNOB]
    ways += () if draft.what == JOB else OF_WORK
    ways += OF_ARRAY if draft.where == SCRATCH and kind is Kind.SWEEP else ()
    return picks_of(*((each, _WORDS[each]) for each in ways))


def _axis(draft: Draft, known: Known, field: Makes, knob_name: str, axis: str) -> Iterator[Field]:
    """Yield which knob it is, if it is one, and its values."""
    knobs = knobs_for(draft, known)
    if knob_name:
        found = next((each for each in knobs if each.name == text_of(draft, knob_name)), None)
        hint = f"{found.what}{_now(found)}" if found is not None else "A setting of the pane Tune."
        picks = (
            Pick(key=each.name, words=each.name, note=f"{each.what}{_now(each)}")
            for each in knobs
            if knob_name == "knob" or each.name != draft.knob or draft.first != KNOB
        )
        yield field(knob_name, "knob", hint, picks)
    if axis:
        yield from _values(field, axis, next((each for each in knobs if each.name == axis), None))


def knobs_for(draft: Draft, known: Known) -> tuple[Turnable, ...]:
    """Return the knobs that can be turned; those of arrays that are yet to be made, too."""
    there = {each.name for each in known.knobs}
    if draft.where != SCRATCH or not there:
        return known.knobs
    more = (
        Turnable(
            name=each.name, what=each.what, unit=each.unit, choices=each.choices, low=each.low, high=each.high
        )
        for each in KNOBS.values()
        if KnobScope.ARRAY in each.scopes and each.name not in there
    )
    return (*known.knobs, *more)


def _now(knob: Turnable) -> str:
    unit = f" {knob.unit}" if knob.unit else ""
    return f" Now {', '.join(knob.now)}{unit}." if knob.now else ""


def _values(field: Makes, axis: str, knob: Turnable | None) -> Iterator[Field]:
    words = knob.choices if knob is not None else LEVELS if axis == "level" else ()
    now = knob.now if knob is not None else ()
    picks = tuple(Pick(key=word, words=f"{word}, as now" if now == (word,) else word) for word in words)
    unit = knob.unit if knob is not None else "KiB" if axis == "chunk" else ""
    numbers = _range(knob)
    if field.of is Kind.AB:
        yield field(f"A {axis}", "A", f"The one setting.{numbers}", picks, unit=unit)
        hint = f"The other one. The verdict says whether it is faster.{numbers}"
        yield field(f"B {axis}", "B", hint, picks, unit=unit)
        return
    hint = _HINTS.get(
        axis,
        "What it becomes in turn."
        if picks
        else "What it becomes, with commas between; 1..31 stands for all of them.",
    )
    label = _LABELS.get(axis, "values")
    yield field(f"values {axis}", label, f"{hint}{numbers}", picks, several=bool(picks), unit=unit)


def _range(knob: Turnable | None) -> str:
    if knob is None or knob.choices or (knob.low is None and knob.high is None):
        return ""
    low = "" if knob.low is None else f" from {knob.low}"
    high = "" if knob.high is None else f" up to {knob.high}"
    return f" Numbers{low}{high}."
