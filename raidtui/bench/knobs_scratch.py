"""Knobs of arrays that a sweep is yet to make: nothing can be read of them, so levels and ranges decide."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.bench.course import Axis, Scratch, Way
from raidtui.bench.knobs import knob_named
from raidtui.model.knob import KnobScope, Subject, Value
from raidtui.model.knob_table import Knob
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.plans.tune.check import refuse_value

_PAGE_KIB = 4
_OF_STRIPES = frozenset({"stripe_cache_size", "group_thread_cnt", "preread_bypass_threshold"})
_OF_SYNC = frozenset({"sync_speed_min", "sync_speed_max"})


def is_bitmap(name: str) -> bool:
    """Whether a knob is the bitmap: a scratch array is made with it, or without."""
    return name.replace("-", "_") == Way.BITMAP


def of_arrays(name: str) -> bool:
    """Whether arrays have this knob, so that one of a scratch array is meant."""
    knob = knob_named(name)
    return not isinstance(knob, Refusal) and KnobScope.ARRAY in knob.scopes


def scratch_axis(name: str, values: Sequence[str], shapes: Sequence[Scratch]) -> Axis | Refusal:
    """Return the axis of a knob that scratch arrays have; its plans are made once each array is there.

    Args:
        name: as ``raidtui tune`` has it; dashes will do.
        values: what it becomes.
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
    return Axis(way=Way.KNOB, name=knob.name, values=tuple(values))


def _refuse_shape(shape: Scratch, knob: Knob) -> Refusal | None:
    if not shape.level:
        if KnobScope.DISK in knob.scopes:
            return None
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{shape.devices[0]} by itself is no array, so it has no {knob.name}",
            remedy="leave the chunk one out",
        )
    if knob.name in _OF_STRIPES and shape.level not in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{shape.level} has no {knob.name}: only RAID 4, 5 and 6 gather stripes",
            remedy="choose one of these levels",
        )
    if knob.name in _OF_SYNC and shape.level in NO_REDUNDANCY:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{shape.level} has no redundancy, so nothing is ever synced: no {knob.name}",
        )
    return None
