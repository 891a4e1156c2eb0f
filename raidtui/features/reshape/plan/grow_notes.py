"""What a person reads before a reshape: capacity, risk meanwhile, time, what is written to which disk."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.reshape.plan.grow_shape import GrowShape, least_move, shape_of, survives
from raidtui.features.reshape.plan.grow_stages import GrowStage
from raidtui.model.array import Array
from raidtui.model.survey import Survey
from raidtui.plans.repair import share_of_life
from raidtui.plans.sync import at_least
from raidtui.view.units import KIB, binary_change, binary_size, counted, joined


def reshape_warning(stages: Sequence[GrowStage], file: str, *, unguarded: bool = False) -> str:
    """Return what must be known before a reshape is begun; "" where nothing moves.

    Args:
        stages: of the plan.
        file: the path of the backup file; "" without one.
        unguarded: whether it is in place, where the file guards nothing.
    """
    if not any(least_move(stage.old, stage.new) for stage in stages):
        return ""
    lost = (
        f" Without {file} the array may not start after a crash, and mdadm 4.2 does not always hold md back"
        " until the file is written: a crash can lose what was being moved."
        if file
        else ""
    )
    if unguarded:
        lost = (
            f" It is in place: {file} does not protect it, because mdadm does not hold md back until it"
            " is written. Until the end, a power cut, a crash or a lost disk can lose data."
        )
    held = "It can be paused and slowed"
    if file and any(stage.shown is not None for stage in stages):
        held = "It can be slowed, but must not be paused: mdadm would fail the new members"
    return (
        f"A reshape cannot be cancelled: it continues after a reboot. {held}; only a stopped array can be"
        f" sent back.{lost}"
    )


def reshape_notes(
    survey: Survey, array: Array, stages: Sequence[GrowStage], names: Sequence[str], *, file: str
) -> tuple[str, ...]:
    """Return what a reshape changes, needs and costs, a sentence each.

    Args:
        survey: the host.
        array: the array.
        stages: of the plan.
        names: of the devices that are added.
        file: the path of the backup file; "" without one.
    """
    old, new, kib = shape_of(array), stages[-1].new, array.component_kib or 0
    moved = [stage for stage in stages if least_move(stage.old, stage.new)]
    copied = [stage for stage in stages if stage.moves and stage not in moved]
    notes = [_capacity(old, new, kib), _meanwhile(old, stages)]
    if kib and (moved or copied):
        written = [member.name for member in array.members if member.slot is not None] if moved else []
        # All of them become members: a plan is refused where md would have a choice.
        spares = [each.name for each in array.members if each.role == "spare" and new.disks > old.disks]
        taken = (*written, *(each for each in spares if each not in names), *names)
        shares = joined([f"{name}{share_of_life(survey, array, name)}" for name in taken])
        times = "" if len(moved) < 2 else f" {len(moved)} times"
        if shares:
            each = "each of " if len(taken) > 1 else ""
            notes.append(f"{binary_size(kib * KIB)} are written to {each}{shares}{times}.")
        notes.append(f"It takes {at_least(survey, kib * (len(moved) + len(copied)))}.")
    if moved:
        notes.append(
            f"There is not enough room beside the data: mdadm keeps what is being moved in {file}."
            if file
            else "No backup file is needed: there is room beside the data."
        )
    return tuple(note for note in notes if note)


def _capacity(old: GrowShape, new: GrowShape, kib: int) -> str:
    before, after = (shape.capacity_kib(kib) * KIB for shape in (old, new))
    if before == after:
        return f"Capacity {binary_size(before)}, as now." if old.level != new.level else ""
    return f"Capacity {binary_change(before, after)} when it ends."


def _meanwhile(old: GrowShape, stages: Sequence[GrowStage]) -> str:
    """Return how many members may fail meanwhile, and afterwards."""
    new = stages[-1].new
    during = min(
        survives(old), *(survives(stage.old) for stage in stages), *(_while(each) for each in stages)
    )
    after = survives(new)
    words = _loss(during)
    if during == after == survives(old):
        more = (
            f", among {new.disks} devices instead of {old.disks}" if during and new.disks > old.disks else ""
        )
        return f"Meanwhile {words}, as now{more}."
    if during == after:
        return f"Meanwhile and afterwards {words}."
    return f"Meanwhile {words}; afterwards {_loss(after)}."


def _while(stage: GrowStage) -> int:
    """Return how many members may fail while a stage runs: a new parity is not there before its end."""
    return min(survives(stage.old), survives(stage.new))


def _loss(count: int) -> str:
    if not count:
        return "one failure loses the array"
    return f"the array survives {counted(count, 'failure')}"
