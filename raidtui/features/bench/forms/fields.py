"""The fields of a benchmark's form: workload, changes between runs, runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from raidtui.features.bench.forms.form_draft import (
    DEVICE,
    JOB,
    KNOB,
    LEVELS,
    NO,
    NOTHING,
    OF_ARRAY,
    OF_WORK,
    OWN,
    PRESET,
    REPEATS,
    SCRATCH,
    YES,
    BenchDraft,
    FormChoice,
    FormField,
    FormKind,
    FormPart,
    choices_of,
)
from raidtui.features.bench.forms.known import HostChoices, KnobChoice
from raidtui.features.bench.offer_checks import fitting_bytes
from raidtui.features.bench.option_texts import sweep_values
from raidtui.features.bench.workload import ENGINES, KINDS_OF_IO, PRESETS, Preset, Workload, with_usual_ramp
from raidtui.model.knob import KnobScope
from raidtui.model.knob_table import KNOBS
from raidtui.view.units import binary_size, short_binary

_Maker = Callable[..., FormField]
_MIXED = frozenset({"rw", "randrw"})
_YES_NO = choices_of((NO, "no"), (YES, "yes"))


def what_fields(draft: BenchDraft, known: HostChoices) -> Iterator[FormField]:
    """Yield the fields of the workload."""
    field = partial(FormField, part=FormPart.WHAT)
    whats = choices_of((PRESET, "a preset"), (JOB, "a job file of your own"), (OWN, "a workload of your own"))
    yield field("what", "measure", "A workload with published figures, or one of your own.", whats)
    preset, work = draft.chosen_preset, draft.work
    if work is None:
        hint = (
            "The path of a fio job file. It is checked first; its files are created in a folder of their own."
        )
        yield field("job", "job file", hint)
        return
    if preset is not None:
        picks = tuple(
            FormChoice(key=each.name, words=each.name, note=f"{each.words}; from {each.origin}")
            for each in PRESETS
        )
        yield field("preset", "preset", f"{_sentence(preset.words)} From {preset.origin}.", picks)
    else:
        yield field("rw", "kind", "Sequential or random, reads or writes.", choices_of(*KINDS_OF_IO.items()))
    yield from _work_fields(draft, field, work, preset, _usual_size(draft, known))


def _is_fixed(draft: BenchDraft) -> bool:
    """Whether the preset says itself how requests are made."""
    return draft.chosen_preset is not None and bool(draft.chosen_preset.loads)


def _work_fields(
    draft: BenchDraft, field: _Maker, work: Workload, preset: Preset | None, size: str
) -> Iterator[FormField]:
    axes = draft.axes
    fixed = _is_fixed(draft)
    several = "" if axes else " Several are run one after another: 4k,16k,64k."
    if "block" not in axes and not fixed:
        blocks = [short_binary(size) for size in preset.blocks] if preset is not None else []
        usual = (
            f"{blocks[0]} to {blocks[-1]}, one after another" if blocks else short_binary(work.block_bytes)
        )
        yield field("block", "block size", f"The size of one request. K is 1024.{several}", usual=usual)
    hint = "The size of each job's file, or of the part of a device that is used: 500m, 4g."
    yield field("size", "size", hint, usual=size)
    if "depth" not in axes and not fixed:
        hint = "Requests in flight in each job. Above 1 the engine is libaio, unless io_uring is chosen."
        yield field("depth", "depth", hint, usual=str(work.depth))
    if "jobs" not in axes and not fixed:
        hint = "How many jobs run at the same time, each on its own file."
        yield field("jobs", "jobs", hint, usual=str(work.jobs))
    usual = str(work.runtime_s) if work.runtime_s else "until the size is done"
    hint = "How long a run measures. Without a time it ends when the whole size has been requested once."
    yield field("runtime", "time", hint, usual=usual, unit="s")
    if work.rw in _MIXED and (draft.what == OWN or _is_shown(draft, "read_percent")):
        hint = "How many of 100 requests are reads; the others are writes."
        yield field("read_percent", "reads", hint, usual=str(work.read_percent), unit="%")


def _usual_size(draft: BenchDraft, known: HostChoices) -> str:
    """Return a preset's size, or what fits where it is measured; "" without a preset."""
    preset = draft.chosen_preset
    if preset is None:
        return ""
    size = binary_size(preset.work.size_bytes)
    room = known.room(draft.directory, draft.device if draft.where == DEVICE else "")
    if draft.where == SCRATCH or room is None:
        return f"{size}, or what fits"
    jobs = draft.values_of("jobs")
    counts = [int(word) for word in sweep_values(jobs) if word.isdecimal() and len(word) < 5]
    shares = 1 if draft.where == DEVICE else max(1, *counts, 0 if counts else preset.work.jobs)
    fits = fitting_bytes(preset.work.size_bytes, room, shares)
    if fits == preset.work.size_bytes:
        return size
    return f"{binary_size(fits)}, as {size} do not fit" if fits else f"{size}, which does not fit"


def how_fields(draft: BenchDraft) -> Iterator[FormField]:
    """Yield the fields of the runs and their preparation."""
    field = partial(FormField, part=FormPart.HOW)
    if draft.steady != YES:
        hint = "How often each point is run. Two points need at least 5 each to decide, 10 to find 10 %."
        yield field("repeats", "repeats", hint, usual=REPEATS[draft.kind])
        if draft.kind is FormKind.SWEEP:
            orders = choices_of((NO, "random, in blocks"), (YES, "grouped: A A B B"))
            hint = "At random, heat and garbage collection favour no value. Grouped runs have no verdict."
            yield field("grouped", "order", hint, orders)
    may_write = draft.where != DEVICE or draft.write == YES
    if may_write:
        hint = "Free blocks are discarded before each run, by fstrim, or by blkdiscard on a device."
        yield field("trim", "trim first", hint, _YES_NO)
    hint = "A pause before each run, so that the disks cool down."
    yield field("cool", "wait first", hint, usual="0", unit="s")
    if may_write and draft.what != JOB:
        hint = "How often the size is written in full before all runs (preconditioning). It wears the disks."
        yield field("precondition", "write before", hint, usual="0", unit="times")
    hint = (
        "Runs rounds, at most 25, until five are steady by SNIA's rule: within 20 % of their mean and"
        " drifting by less than 10 %. Those five count."
    )
    yield field("steady", "until steady", hint, _YES_NO)
    hint = "Does not start beside other I/O on the disks, a sync or busy CPUs: they distort the figures."
    yield field("quiet", "only if quiet", hint, _YES_NO)
    yield from _details(draft, field, draft.work)
    yield field("note", "note", "Kept with the results; the filter of the history finds it.", usual="none")


def _details(draft: BenchDraft, field: _Maker, work: Workload | None) -> Iterator[FormField]:
    if work is None:
        return
    picks = choices_of((NO, "as usual"), (YES, "show all"))
    yield field("details", "details", "Engine, ramp time, distribution and page cache.", picks)
    fixed = _is_fixed(draft)
    if _is_shown(draft, "engine") and not fixed:
        engines = ((each, each) for each in ENGINES)
        hint = "How requests are issued. sync and psync have one in flight, whatever the depth."
        yield field("engine", "engine", hint, choices_of(("", f"{work.engine}, as usual"), *engines))
    if _is_shown(draft, "ramp") and (work.runtime_s or draft.runtime.strip()):
        text = draft.runtime.strip()
        by_time = replace(work, runtime_s=int(text)) if text.isdecimal() and len(text) < 8 else work
        usual = str(with_usual_ramp(by_time).ramp_s)
        yield field(
            "ramp", "ramp time", "Runs before the measurement starts; 0 disables it.", usual=usual, unit="s"
        )
    if _is_shown(draft, "places") and work.rw.startswith("rand"):
        hint = "Which blocks are accessed more often: zipf:1.2, pareto:0.9 or normal:20."
        yield field("places", "distribution", hint, usual=work.distribution or "uniform")
    if _is_shown(draft, "cache") and not fixed:
        picks = choices_of((NO, "bypassed"), (YES, "used: memory is measured as well"))
        yield field("cache", "page cache", "Some file systems do not support direct I/O and need it.", picks)


def _is_shown(draft: BenchDraft, name: str) -> bool:
    """Whether a detail is shown: where all are wanted, and where it is not as usual."""
    return draft.details == YES or draft.text(name) not in {"", NO}


def _sentence(phrase: str) -> str:
    return f"{phrase[0].upper()}{phrase[1:]}."


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
    "block": "Sizes of a request, separated by commas: 4k,16k,64k. K is 1024.",
    "depth": "Requests in flight in each job, separated by commas, or as a range 1..31: 1,8,32.",
    "jobs": "How many jobs run at the same time, each on its own file; separated by commas: 1,2,4.",
    "chunk": "Separated by commas: 16,32,512. one is the first device by itself, for comparison.",
    "layout": "Of RAID-10, separated by commas: n2 is near with two copies, f2 far, o2 offset.",
    "level": "An array of each level is created in turn.",
}


def change_fields(draft: BenchDraft, known: HostChoices) -> Iterator[FormField]:
    """Yield the fields of what differs between the runs."""
    if draft.kind is FormKind.RUN:
        return
    field = partial(FormField, part=FormPart.CHANGES)
    axes = draft.axes
    hint = "What differs between the runs; everything else stays the same."
    yield field("first", "changes", hint, _axis_choices(draft))
    yield from _axis(draft, known, field, "knob" if draft.first == KNOB else "", axes[0])
    if draft.kind is FormKind.AB:
        return
    hint = "What else differs: each value of the one is combined with each of the other."
    others = (each for each in _axis_choices(draft) if each.key == KNOB or each.key != draft.first)
    yield field("second", "and", hint, (*choices_of((NOTHING, "nothing else")), *others))
    if len(axes) > 1:
        again = axes[1] in {"", axes[0]}
        yield from _axis(
            draft, known, field, "knob2" if draft.second == KNOB else "", "" if again else axes[1]
        )


def _axis_choices(draft: BenchDraft) -> tuple[FormChoice, ...]:
    axes = [KNOB]
    axes += () if draft.what == JOB else OF_WORK
    axes += OF_ARRAY if draft.where == SCRATCH and draft.kind is FormKind.SWEEP else ()
    return choices_of(*((each, _WORDS[each]) for each in axes))


def _axis(
    draft: BenchDraft, known: HostChoices, field: _Maker, knob_name: str, axis: str
) -> Iterator[FormField]:
    """Yield which knob it is, if it is one, and its values."""
    knobs = knobs_for(draft, known)
    if knob_name:
        found = next((each for each in knobs if each.name == draft.text(knob_name)), None)
        hint = f"{found.what}{_now(found)}" if found is not None else "A setting of the pane Tune."
        picks = tuple(
            FormChoice(key=each.name, words=each.name, note=f"{each.what}{_now(each)}")
            for each in knobs
            if knob_name == "knob" or each.name != draft.knob or draft.first != KNOB
        )
        yield field(knob_name, "knob", hint, picks)
    if axis:
        yield from _values(draft, field, axis, next((each for each in knobs if each.name == axis), None))


def knobs_for(draft: BenchDraft, known: HostChoices) -> tuple[KnobChoice, ...]:
    """Return the knobs that can be changed, including those of scratch arrays."""
    there = {each.name for each in known.knobs}
    if draft.where != SCRATCH or not there:
        return known.knobs
    more = (
        KnobChoice(
            name=each.name, what=each.what, unit=each.unit, choices=each.choices, low=each.low, high=each.high
        )
        for each in KNOBS.values()
        if KnobScope.ARRAY in each.scopes and each.name not in there
    )
    return (*known.knobs, *more)


def _now(knob: KnobChoice) -> str:
    unit = f" {knob.unit}" if knob.unit else ""
    return f" Now {', '.join(knob.now)}{unit}." if knob.now else ""


def _values(draft: BenchDraft, field: _Maker, axis: str, knob: KnobChoice | None) -> Iterator[FormField]:
    words = knob.choices if knob is not None else LEVELS if axis == "level" else ()
    now = knob.now if knob is not None else ()
    picks = tuple(FormChoice(key=word, words=f"{word}, as now" if now == (word,) else word) for word in words)
    unit = knob.unit if knob is not None else "KiB" if axis == "chunk" else ""
    numbers = _range(knob)
    if draft.kind is FormKind.AB:
        yield field(f"A {axis}", "A", f"One setting.{numbers}", picks, unit=unit, axis=axis, side="A")
        hint = f"The other setting. The verdict says whether it is faster.{numbers}"
        yield field(f"B {axis}", "B", hint, picks, unit=unit, axis=axis, side="B")
        return
    hint = _HINTS.get(
        axis,
        "The values, one after another." if picks else "The values, separated by commas; 1..31 is a range.",
    )
    label = _LABELS.get(axis, "values")
    yield field(f"values {axis}", label, f"{hint}{numbers}", picks, several=bool(picks), unit=unit, axis=axis)


def _range(knob: KnobChoice | None) -> str:
    if knob is None or knob.choices or (knob.low is None and knob.high is None):
        return ""
    low = "" if knob.low is None else f" from {knob.low}"
    high = "" if knob.high is None else f" up to {knob.high}"
    return f" Numbers{low}{high}."
