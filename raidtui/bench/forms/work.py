"""What a benchmark's form asks about the workload, and about what is done around the runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.bench.forms.field import Field, Makes, Part, Pick, picks_of
from raidtui.bench.forms.texts import (
    DEVICE,
    JOB,
    NO,
    OWN,
    PRESET,
    REPEATS,
    YES,
    Draft,
    Kind,
    axes_of,
    preset_of,
    text_of,
    work_of,
)
from raidtui.bench.presets import PRESETS, Preset
from raidtui.bench.workload import ENGINES, WAYS, Workload, with_usual_ramp
from raidtui.view.units import binary_size, short_binary

_MIXED = frozenset({"rw", "randrw"})
_YES_NO = picks_of((NO, "no"), (YES, "yes"))


def what_fields(draft: Draft, kind: Kind) -> Iterator[Field]:
    """Yield what is asked about the workload."""
    field = Makes(kind, Part.WHAT)
    whats = picks_of((PRESET, "a preset"), (JOB, "a job file of your own"), (OWN, "a workload of your own"))
    yield field("what", "measure", "What others have published figures for; or something of your own.", whats)
    preset, work = preset_of(draft, kind), work_of(draft, kind)
    if work is None:
        hint = (
            "The path of a fio job file. It is run as it is; its files come into a folder of the run's own."
        )
        yield field("job", "job file", hint)
        return
    if preset is not None:
        picks = (
            Pick(key=each.name, words=each.name, note=f"{each.words}; from {each.origin}") for each in PRESETS
        )
        yield field("preset", "preset", f"{_sentence(preset.words)} From {preset.origin}.", picks)
    else:
        yield field("rw", "kind", "What is done: in order, or at random places.", picks_of(*WAYS.items()))
    yield from _work_fields(draft, field, work, preset, axes_of(draft, kind))


def _work_fields(
    draft: Draft, field: Makes, work: Workload, preset: Preset | None, axes: tuple[str, ...]
) -> Iterator[Field]:
    several = "" if axes else " Several are gone through one after another: 4k,16k,64k."
    if "block" not in axes:
        blocks = [short_binary(size) for size in preset.blocks] if preset is not None else []
        usual = (
            f"{blocks[0]} to {blocks[-1]}, one after another" if blocks else short_binary(work.block_bytes)
        )
        yield field("block", "block size", f"Of one request. K is 1024.{several}", usual=usual)
    usual = binary_size(work.size_bytes) if preset is not None else ""
    hint = "Of each job's file, or of the part of a device that is used: 500m, 4g."
    yield field("size", "size", hint, usual=usual)
    if "depth" not in axes:
        hint = "Requests under way in each job. Above 1 the engine is libaio, unless io_uring is chosen."
        yield field("depth", "depth", hint, usual=str(work.depth))
    if "jobs" not in axes:
        hint = "As many do the same at a time, each on a file of its own."
        yield field("jobs", "jobs", hint, usual=str(work.jobs))
    usual = str(work.runtime_s) if work.runtime_s else "until the size is done"
    hint = "How long a run measures. Without a time it ends when all of the size was asked for once."
    yield field("runtime", "time", hint, usual=usual, unit="s")
    if work.rw in _MIXED and (draft.what == OWN or _is_shown(draft, "read_percent")):
        hint = "How many of 100 requests are reads; the others are writes."
        yield field("read_percent", "reads", hint, usual=str(work.read_percent), unit="%")


def how_fields(draft: Draft, kind: Kind) -> Iterator[Field]:
    """Yield what is asked about the runs, and what is done around them."""
    field = Makes(kind, Part.HOW)
    if draft.steady != YES:
        hint = (
            "How often each point is run. For two points 3 are the fewest that could decide, for more more."
        )
        yield field("repeats", "repeats", hint, usual=REPEATS[kind])
        if kind is Kind.SWEEP:
            orders = picks_of((NO, "in turns: A B A B"), (YES, "grouped: A A B B"))
            hint = "In turns, heat and garbage collection hit all values alike."
            yield field("grouped", "order", hint, orders)
    may_write = draft.where != DEVICE or draft.write == YES
    if may_write:
        hint = "Before each run what is free is discarded, by fstrim, or blkdiscard of a device."
        yield field("trim", "trim first", hint, _YES_NO)
    hint = "Nothing is done for so long before each run: disks cool down."
    yield field("cool", "wait first", hint, usual="0", unit="s")
    if may_write and draft.what != JOB:
        hint = (
            "How often the size is written from end to end before all runs (preconditioning). It costs wear."
        )
        yield field("precondition", "write before", hint, usual="0", unit="times")
    hint = (
        "Rounds go on, 25 at most, until five are steady by SNIA's rule: within 20 % of their mean, and"
        " drifting by less than 10 %. Those five count."
    )
    yield field("steady", "until steady", hint, _YES_NO)
    hint = "Other I/O on the disks, a sync, busy processors: it is not begun, since they are measured along."
    yield field("quiet", "only if quiet", hint, _YES_NO)
    yield from _details(draft, field, work_of(draft, kind))
    yield field("note", "note", "Kept with the results; the history's filter finds it.", usual="none")


def _details(draft: Draft, field: Makes, work: Workload | None) -> Iterator[Field]:
    if work is None:
        return
    picks = picks_of((NO, "as usual"), (YES, "show all"))
    yield field("details", "details", "Engine, ramp time, random places and page cache, too.", picks)
    if _is_shown(draft, "engine"):
        engines = ((each, each) for each in ENGINES)
        hint = "How requests are made. sync and psync have one under way, whatever the depth."
        yield field("engine", "engine", hint, picks_of(("", f"{work.engine}, as usual"), *engines))
    if _is_shown(draft, "ramp") and (work.runtime_s or draft.runtime.strip()):
        text = draft.runtime.strip()
        by_time = replace(work, runtime_s=int(text)) if text.isdecimal() and len(text) < 8 else work
        usual = str(with_usual_ramp(by_time).ramp_s)
        yield field(
            "ramp", "ramp time", "Runs before the measurement begins; 0 is none.", usual=usual, unit="s"
        )
    if _is_shown(draft, "places") and work.rw.startswith("rand"):
        hint = "Which places are asked for more often: zipf:1.2, pareto:0.9 or normal:20."
        yield field("places", "places", hint, usual=work.distribution or "all alike")
    if _is_shown(draft, "cache"):
        picks = picks_of((NO, "passed by"), (YES, "gone through: memory is measured along"))
        yield field("cache", "page cache", "Some file systems take no direct I/O: they want it.", picks)


def _is_shown(draft: Draft, name: str) -> bool:
    """Whether a detail is shown: where all are wanted, and where it is not as usual."""
    return draft.details == YES or text_of(draft, name) not in {"", NO}


def _sentence(phrase: str) -> str:
    return f"{phrase[0].upper()}{phrase[1:]}."
