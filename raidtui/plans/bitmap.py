"""The write-intent bitmap of an array that runs (mdadm(8), GROW MODE)."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.manage import refuse_array
from raidtui.plans.stop import WRITABLE, switch_step


def plan_bitmap(survey: Survey, array: Array, wanted: str) -> Plan | Refusal:
    """Return the plan that gives an array a write-intent bitmap, or takes it away.

    Args:
        survey: the host.
        array: the array.
        wanted: none or internal.
    """
    if refusal := refuse_array(survey, array):
        return refusal
    has = "none" if array.bitmap is None else "internal"
    if wanted == "lockless":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="a lockless bitmap is only made with the array: mdadm 4.6 reports success for one that runs,"
            " and gives it an ordinary bitmap",
            remedy="choose internal, or make a new array and copy",
        )
    if wanted not in {"none", "internal"}:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{wanted!r} is not a kind of bitmap",
            remedy="choose none or internal",
        )
    if not array.redundant:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.why_not_redundant}: nothing is synced, so it has no bitmap",
        )
    if wanted == has:
        return NothingToDo(
            why=f"{array.title} already has {'no bitmap' if has == 'none' else 'a bitmap'}",
        )
    if array.consistency_policy in {"ppl", "journal"}:
        policy = array.consistency_policy
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has consistency policy {policy}, which excludes a bitmap",
        )
    if wanted == "none" and array.level in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{array.level} without a bitmap resyncs all parity after a crash, and losing a member before"
            " that ends can lose data (the write hole)",
            remedy="keep the bitmap",
        )
    if array.sync is not None:
        return Refusal(
            code=RefusalCode.BUSY, why=f"a {array.sync.action} is in progress", remedy="wait until it is done"
        )
    note = (
        "After a crash, or when a member comes back, only what changed is synced. Writes are a little slower."
        if wanted == "internal"
        else "After a crash the whole array is resynced, and a member that returns is copied whole."
    )
    why = {
        "internal": "records what may be out of sync before it is written",
        "none": "writes are no longer recorded",
    }[wanted]
    back = bitmap_step(array, has, "as it was")
    writable = (
        switch_step(
            array, "--readwrite", "md changes no bitmap before the first write after its start", WRITABLE
        )
        if array.read_only == "auto-read-only"
        else None
    )
    return Plan(
        title=f"bitmap {has} → {wanted}",
        subject=array.title,
        steps=(*((writable,) if writable else ()), replace(bitmap_step(array, wanted, why), undo=(back,))),
        undo=(back,),
        harm=Harm.HARMLESS if wanted == "internal" else Harm.REDUCES,
        notes=(note,),
        arrays=(array.name,),
    )


def bitmap_step(array: Array, wanted: str, why: str) -> Step:
    """Return the step that gives an array a bitmap (``internal``), or takes it away (``none``)."""
    return RunTool(
        argv=("mdadm", "--grow", array.path, f"--bitmap={wanted}"),
        why=why,
        needs=(Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid or ""),),
        proves=(Fact(kind=FactKind.BITMAP, subject=array.name, value=wanted),),
    )
