"""Several plans as one: what of them is to be done, in their order, and why others are left out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal
from raidtui.view.units import joined


class PlanPart(Struct, frozen=True, kw_only=True):
    """One of the plans.

    Args:
        name: what it is for, a word or two.
        plan: the plan, or why there is none.
        needed: whether without it there is no plan at all.
    """

    name: str
    plan: Plan | Refusal
    needed: bool = False


def combined(title: str, parts: Sequence[PlanPart]) -> Plan | Refusal:
    """Return one plan of harmless plans about the system, whose failure undoes all of it.

    Args:
        title: a phrase; what is done of it follows.
        parts: the plans.
    """
    plans, notes, warnings = list[Plan](), list[str](), list[str]()
    names: list[str] = []
    for part in parts:
        if isinstance(part.plan, NothingToDo):
            notes.append(f"{part.name}: {part.plan.why}.")
        elif isinstance(part.plan, Refusal):
            if part.needed:
                return part.plan
            notes.append(f"{part.name} is left out: {part.plan.sentence}.")
        else:
            names.append(part.name)
            plans.append(part.plan)
            notes += part.plan.notes
            warnings += filter(None, [part.plan.warning])
    if not plans:
        refused = [part.plan for part in parts if isinstance(part.plan, Refusal)]
        real = [each for each in refused if not isinstance(each, NothingToDo)]
        return real[0] if real else NothingToDo(why="everything is already set up")
    if any(plan.harm is not Harm.HARMLESS or plan.confirm for plan in plans):
        raise ValueError("only harmless plans are combined")
    steps = tuple(step for plan in plans for step in plan.steps)
    return Plan(
        title=f"{title}: {joined(names)}",
        subject="system",
        steps=steps,
        undo=tuple(step for plan in reversed(plans) for step in plan.undo),
        harm=Harm.HARMLESS,
        warning=" ".join(dict.fromkeys(warnings)),
        notes=tuple(dict.fromkeys(notes)),
        rolls_back=True,
    )
