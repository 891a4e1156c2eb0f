"""More slots for an array of which some spares stay spares.

md fills new slots with any spare, and asks no one which. A spare that is to be kept is taken out before, and
added again as soon as the new slots have their members: for that moment alone the array is without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow
from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal, Step
from raidtui.model.survey import Survey
from raidtui.plans.manage import bound, manage, member_fact
from raidtui.view.units import joined


def spare_names(array: Array) -> tuple[str, ...]:
    """Return the spares of an array."""
    return tuple(member.name for member in array.members if member.role == "spare")


def plan_grow_keeping(
    survey: Survey, array: Array, names: Sequence[str], kept: int, options: GrowOptions
) -> Plan | Refusal:
    """Return the plan that gives an array a slot for each device that is added, and for spares.

    Args:
        survey: the host, with the array's members and the new devices.
        array: the array.
        names: kernel names of free devices that are added.
        kept: how many spares stay spares: the last ones.
        options: what else is wanted.
    """
    spares = spare_names(array)
    stays = spares[len(spares) - kept :] if kept else ()
    slots = (array.raid_disks or 0) + len(names) + len(spares) - len(stays)
    without = replace(array, members=tuple(each for each in array.members if each.name not in stays))
    plan = plan_grow(survey, without, names, slots=slots, options=options)
    if isinstance(plan, Refusal) or not stays:
        return plan
    begins = next(number for number, step in enumerate(plan.steps) if step.argv[1:2] == ("--grow",))
    absent = tuple(member_fact(array, name, "absent") for name in stays)
    grow = plan.steps[begins]
    words = "stay spares" if len(stays) > 1 else "stays a spare"
    return replace(
        plan,
        steps=(
            *plan.steps[:begins],
            *(_taken_out(survey, array, name) for name in stays),
            replace(grow, needs=(*grow.needs, *absent)),
            *(_added_again(survey, array, name) for name in stays),
            *plan.steps[begins + 1 :],
        ),
        notes=(
            *plan.notes,
            f"{joined(list(stays))} {words}: removed while md fills the new slots, as it takes any spare.",
        ),
        devices=tuple(dict.fromkeys((*plan.devices, *stays))),
    )


def _taken_out(survey: Survey, array: Array, name: str) -> Step:
    absent = member_fact(array, name, "absent")
    step = manage(array, ("--remove", f"/dev/{name}"), "md would take any spare for a new slot", absent)
    spare = replace(step, needs=(*step.needs, member_fact(array, name, "spare")))
    return replace(spare, undo=(_added_again(survey, array, name),))


def _added_again(survey: Survey, array: Array, name: str) -> Step:
    spare = member_fact(array, name, "spare")
    step = bound(survey, manage(array, ("--add-spare", f"/dev/{name}"), "it is a spare again", spare), name)
    own = Fact(kind=FactKind.SUPERBLOCK, subject=name, value=array.uuid or "")
    return replace(step, needs=(*step.needs, Fact(kind=FactKind.FREE, subject=name), own))
