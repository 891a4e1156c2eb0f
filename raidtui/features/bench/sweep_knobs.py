"""Knobs: settings of the host that a sweep changes, each value as a plan with its undo.

Those of ``raidtui tune`` are here by their names there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import refuse
from raidtui.features.bench.place import Place
from raidtui.features.bench.schedule import Axis, AxisKind, Scratch
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import read_survey
from raidtui.model.knob import KnobScope, Subject, Tuning, Value
from raidtui.model.knob_table import ALIASES, KNOBS, Knob
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.monitor.sampler import Sampler
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.tune.check import refuse_value
from raidtui.plans.tune.now import AskedValue, changes_of, plan_set

_SHORT = {"read_ahead": "read_ahead_kb", **ALIASES}


class SweepKnob(Struct, frozen=True, kw_only=True):
    """A setting that a sweep can change.

    Args:
        name: as in ``raidtui.model.knob_table``.
        set: returns the plan that gives it a value, with its undo; one without steps where already set.
    """

    name: str
    set: Callable[[str], Plan | Refusal]


def _tune(name: str, subjects: tuple[str, ...], snapshot: Snapshot, tuning: Tuning) -> SweepKnob:
    """Return a knob of ``raidtui tune``: the same value for all disks, policies or arrays that are meant.

    Args:
        name: of the knob.
        subjects: whose.
        snapshot: the present state.
        tuning: the present values, which are restored.
    """

    def plan(value: str) -> Plan | Refusal:
        if not subjects:
            return refuse(f"no device below has the knob {name}", code=RefusalCode.NOT_FOUND)
        asked = [AskedValue(subject=each, knob=name, value=value) for each in subjects]
        changes = changes_of(tuning, asked)
        if isinstance(changes, Refusal):
            return changes
        if not changes:
            return Plan(title=f"{name} {value}", subject=", ".join(subjects), steps=())
        return plan_set(snapshot, tuning, asked)

    return SweepKnob(name=name, set=plan)


def bitmap_knob(survey: Survey, name: str) -> SweepKnob:
    """Return the write-intent bitmap of an array, none or internal: mdadm changes it."""

    def plan(value: str) -> Plan | Refusal:
        array = next((each for each in survey.snapshot.arrays if each.name == name), None)
        if array is None:
            return refuse("there is no array below, so there is no bitmap to set", code=RefusalCode.NOT_FOUND)
        if value == ("none" if array.bitmap is None else "internal"):
            return Plan(title=f"bitmap {value}", subject=array.title, steps=())
        return plan_bitmap(survey, array, value)

    return SweepKnob(name="bitmap", set=plan)


def knob_named(name: str) -> Knob | Refusal:
    """Return the knob with this name, or a refusal."""
    word = name.replace("-", "_")
    knob = KNOBS.get(_SHORT.get(word, word))
    return knob or refuse(
        f"there is no knob {name!r}", f"there are: {', '.join(KNOBS)}", code=RefusalCode.NOT_FOUND
    )


def find_knob(name: str, reader: HostReader, place: Place) -> SweepKnob | Refusal:
    """Return the knob with this name for a place, or a refusal.

    Args:
        name: as ``raidtui tune`` has it; dashes will do.
        reader: the host, whose present values are read.
        place: where the measurement runs: its disks and its uppermost array are meant.
    """
    knob = knob_named(name)
    if isinstance(knob, Refusal):
        return knob
    word = knob.name
    if KnobScope.CACHE in knob.scopes:
        return refuse(
            f"{word} belongs to a cache, and a sweep does not change caches",
            f"raidtui tune set CACHE {word}=VALUE between two runs",
            code=RefusalCode.UNSUPPORTED,
        )
    snapshot = Sampler(reader).sample()
    if word == "bitmap":
        survey = read_survey(reader, snapshot, ())
        return bitmap_knob(survey, place.arrays[0] if place.arrays else "")
    tuning = KnobReader(reader).read(snapshot)
    subjects: tuple[str, ...] = ()
    if KnobScope.ARRAY in knob.scopes:
        # What is mounted asks by its own value: the uppermost array's.
        subjects = place.arrays[:1]
    if not subjects and KnobScope.DISK in knob.scopes:
        subjects = place.disks
    if not subjects:
        subjects = tuple(
            each.name for scope in knob.scopes for each in tuning.of(scope) if scope not in _BELOW
        )
    return _tune(word, subjects, snapshot, tuning)


_BELOW = frozenset({KnobScope.DISK, KnobScope.ARRAY})


def knob_axis(knob: SweepKnob, values: Sequence[str]) -> Axis | Refusal:
    """Return the axis of a knob, with the plan of each value; each plan must have an undo."""
    plans = []
    for value in values:
        plan = plan_value(knob, value)
        if isinstance(plan, Refusal):
            return plan
        plans.append(plan)
    return Axis(kind=AxisKind.KNOB, name=knob.name, values=tuple(values), plans=tuple(plans))


def plan_value(knob: SweepKnob, value: str) -> Plan | Refusal:
    """Return the plan that gives a knob a value, with its undo; or why there is none."""
    plan = knob.set(value)
    if isinstance(plan, Refusal):
        return plan
    plan = with_undo(plan)
    if not _comes_back(plan):
        return refuse(
            f"{knob.name} {value} cannot be undone, but a sweep must restore what it sets",
            "leave it out",
            code=RefusalCode.UNSUPPORTED,
        )
    return plan


def with_undo(plan: Plan) -> Plan:
    """Return a plan whose steps have an undo, where only the plan as a whole has one.

    Undoing goes from the last step to the first one, so the first step has the whole undo.
    """
    if not plan.steps or not plan.undo or any(step.undo for step in plan.steps):
        return plan
    return replace(plan, steps=(replace(plan.steps[0], undo=plan.undo), *plan.steps[1:]))


def _comes_back(plan: Plan) -> bool:
    """Whether all is undone: each step by itself, or the first one for all."""
    whole = bool(plan.undo) and plan.steps[0].undo == plan.undo if plan.steps else True
    return whole or all(step.undo for step in plan.steps)


_PAGE_KIB = 4
_OF_STRIPES = frozenset({"stripe_cache_size", "group_thread_cnt", "preread_bypass_threshold"})
_OF_SYNC = frozenset({"sync_speed_min", "sync_speed_max"})


def is_bitmap(name: str) -> bool:
    """Whether a knob is the bitmap: a scratch array is made with it, or without."""
    return name.replace("-", "_") == AxisKind.BITMAP


def of_arrays(name: str) -> bool:
    """Whether arrays have this knob, so that one of a scratch array is meant."""
    knob = knob_named(name)
    return not isinstance(knob, Refusal) and KnobScope.ARRAY in knob.scopes


def scratch_axis(name: str, values: Sequence[str], shapes: Sequence[Scratch]) -> Axis | Refusal:
    """Return the axis of a knob that scratch arrays have; its plans are made once each array is there.

    Args:
        name: as ``raidtui tune`` has it; dashes will do.
        values: its values.
        shapes: all arrays that will be made.
    """
    knob = knob_named(name)
    if isinstance(knob, Refusal):
        return knob
    known = Value(
        text="",
        choices=knob.choices,
        low=knob.low,
        high=knob.high,
        multiple=_PAGE_KIB if knob.name == "read_ahead_kb" else 1,
    )
    ours = Subject(
        scope=KnobScope.ARRAY, name="scratch", title="the scratch arrays", values={knob.name: known}
    )
    for refusal in (
        *(_refuse_shape(shape, knob) for shape in shapes),
        *(refuse_value(ours, knob.name, value, {}) for value in values),
    ):
        if refusal is not None:
            return refusal
    return Axis(kind=AxisKind.KNOB, name=knob.name, values=tuple(values))


def _refuse_shape(shape: Scratch, knob: Knob) -> Refusal | None:
    if not shape.level:
        if KnobScope.DISK in knob.scopes:
            return None
        return refuse(
            f"{shape.devices[0]} by itself is not an array and has no {knob.name}",
            "leave the chunk one out",
            code=RefusalCode.UNSUPPORTED,
        )
    if knob.name in _OF_STRIPES and shape.level not in PARITY_LEVELS:
        return refuse(
            f"{shape.level} has no {knob.name}: only RAID-4, -5 and -6 have it",
            "choose one of these levels",
            code=RefusalCode.UNSUPPORTED,
        )
    if knob.name in _OF_SYNC and shape.level in NO_REDUNDANCY:
        return refuse(
            f"{shape.level} has no redundancy and is never synced, so it has no {knob.name}",
            code=RefusalCode.UNSUPPORTED,
        )
    return None
