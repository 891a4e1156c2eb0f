"""Stop an array; switch it to read-only and back."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.reshape_words import stands_unguarded
from raidtui.model.survey import Survey
from raidtui.plans.sync import refuse_interrupting
from raidtui.plans.target import needs_root, refuse_use

WRITABLE = "clean|active|write-pending|active-idle"


def plan_stop(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that stops an array."""
    refusal = needs_root(survey.snapshot) or refuse_use(survey, array) or refuse_interrupting(array)
    if refusal:
        return refusal
    volumes = [each.title for each in survey.snapshot.arrays if each.container == array.name]
    if volumes:
        return Refusal(
            code=RefusalCode.IN_USE, why=f"{array.title} holds {', '.join(volumes)}", remedy="stop that first"
        )
    there = [each for each in array.members if not (each.has("faulty") or each.detached)]
    # Without --run, mdadm does not start an array without members that its superblocks say are there.
    paths = (*(("--run",) if array.detached else ()), *(f"/dev/{each.name}" for each in there))
    uuid = array.uuid or ""
    assemble = ("mdadm", "--assemble", array.link or array.path, f"--uuid={uuid}", *paths)
    back = RunTool(
        argv=("mdadm", "--incremental", f"/dev/{array.container}") if array.container else assemble,
        why="start it again",
        proves=(Fact(kind=FactKind.RUNNING, subject=uuid),),
    )
    step = RunTool(
        argv=("mdadm", "--stop", array.path),
        why="releases its members",
        needs=(
            *((Fact(kind=FactKind.ARRAY, subject=array.name, value=uuid),) if uuid else ()),
            Fact(kind=FactKind.UNUSED, subject=array.name),
        ),
        proves=(Fact(kind=FactKind.GONE, subject=array.name if array.twin or not uuid else uuid),),
        # Of two halves with one UUID, the other one would count as this one started again.
        undo=(back,) if uuid and array.active and not array.twin else (),
        # mdmon may stop a volume, or end with its container, after mdadm has given up with an error.
        proof_decides=(array.metadata or "").startswith("external"),
    )
    return Plan(
        title=f"stop: {array.title}",
        subject=array.title,
        steps=(step,),
        undo=step.undo,
        harm=Harm.REDUCES,
        warning="Its data is unavailable until it is assembled again. Nothing on it is changed.",
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def plan_read_only(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that lets nothing be written to an array."""
    if refusal := _refuse_switch(survey, array):
        return refusal
    if array.read_only == "read-only":
        return NothingToDo(why=f"{array.title} is already read-only")
    if refusal := refuse_use(survey, array) or refuse_interrupting(array):
        return refusal
    back = switch_step(array, "--readwrite", "as it was", WRITABLE)
    step = switch_step(array, "--readonly", "nothing is written to it, not even by md", "readonly")
    return Plan(
        title=f"read-only: {array.title}",
        subject=array.title,
        steps=(replace(step, undo=(back,)),),
        undo=(back,),
        harm=Harm.REDUCES,
        warning="While it is read-only, no failed member is rebuilt.",
        arrays=(array.name,),
    )


def plan_read_write(survey: Survey, array: Array) -> Plan | Refusal:
    """Return the plan that lets an array be written to again; what waited to be synced starts then."""
    if refusal := _refuse_switch(survey, array):
        return refusal
    if not array.read_only:
        return NothingToDo(why=f"{array.title} is already read-write")
    if stands_unguarded(array):
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is at the start of an in-place reshape, and no mdadm saves what"
            " moves: what was already moved is in its backup file alone, and a write now loses it",
            remedy="stop it, then let it continue with its backup file: raidtui rescue (a in the console)",
        )
    back = switch_step(array, "--readonly", "as it was", "readonly")
    step = switch_step(array, "--readwrite", "allows writes; a pending resync starts", WRITABLE)
    return Plan(
        title=f"read-write: {array.title}",
        subject=array.title,
        steps=(replace(step, undo=(back,)),),
        undo=(back,),
        arrays=(array.name,),
    )


def _refuse_switch(survey: Survey, array: Array) -> Refusal | None:
    if refusal := needs_root(survey.snapshot):
        return refusal
    if not array.active:
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is inactive", remedy="assemble it first"
        )
    return None


def switch_step(array: Array, option: str, why: str, states: str) -> Step:
    """Return the step that makes an array read-only, or writable.

    Args:
        array: the array.
        option: ``--readonly`` or ``--readwrite``.
        why: a phrase.
        states: what ``md/array_state`` reads then (a|b).
    """
    return RunTool(
        argv=("mdadm", option, array.path),
        why=why,
        needs=(Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid),) if array.uuid else (),
        proves=(Fact(kind=FactKind.STATE, subject=array.name, value=states),),
        patient=option == "--readonly",  # md refuses it while anyone has the array open
    )
