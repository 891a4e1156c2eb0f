"""What closes the write hole of an array that is there: a write journal, or a partial parity log (md(4)).

Measured on Linux 6.1 with mdadm 4.2: a journal is added only while the array is read-only, and the array is
writable afterwards by itself. It is removed while the array is read-only; without the step that sets the
consistency policy, the array can then neither be written to nor assembled without --force.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.bitmap import bitmap_step
from raidtui.plans.contents import device_facts, losses_of, wipe_steps
from raidtui.plans.known_bugs import bug_notes, refuse_known_bugs
from raidtui.plans.locate import which_disk_notes
from raidtui.plans.manage import (
    bound,
    fail_and_remove,
    manage,
    member_fact,
    refuse_array,
    refuse_now,
    refuse_read_only,
    same_array,
    zero_step,
)
from raidtui.plans.repair import candidate_for, cleared
from raidtui.plans.stop import WRITABLE, switch_step
from raidtui.plans.target import array_step, refuse_use

_PPL_LEVEL = "raid5"
_PPL_ROOM = 24
"""Sectors after the superblock at which the log of bad blocks may begin (super1.c, update_super1)."""
_RESYNCED = "After a crash all parity is resynced; a member lost before that ends can mean lost data."
_LOGGED = (
    "Parity is logged on the members before it is written: a crash while a member is missing loses nothing"
    " but what was being written. Writes become slower, by 30 to 40 % at worst (raid5-ppl.rst)."
)


def plan_journal(
    survey: Survey, array: Array, name: str, *, destroys: Collection[str] = ()
) -> Plan | Refusal:
    """Return the plan that gives an array a write journal, or takes it away.

    Args:
        survey: the host, with the array's members and the device.
        array: the array.
        name: kernel name of the device; "" takes the journal away.
        destroys: names of arrays that may be destroyed, as typed.
    """
    refusal = _refuse_level(survey, array) or refuse_now(array) or refuse_read_only(array)
    refusal = refusal or refuse_use(survey, array) or (refuse_known_bugs(survey, array) if name else None)
    if refusal:
        return refusal
    own = next((member.name for member in array.members if member.has("journal")), "")
    if not name:
        return _without(survey, array, own)
    if own or array.consistency_policy == "journal":
        return Refusal(
            code=RefusalCode.TAKEN, why=f"{array.title} has a journal already{f': {own}' * bool(own)}"
        )
    if array.consistency_policy == "ppl":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has a partial parity log, which excludes a journal",
            remedy=f"raidtui plan journal {array.title} --policy=resync",
        )
    device = candidate_for(survey, array, name, destroys=destroys, sized=False)
    return device if isinstance(device, Refusal) else _with(survey, array, device)


def _with(survey: Survey, array: Array, device: Device) -> Plan:
    name = device.disk.name
    wipes = wipe_steps(device, survey)
    policy = Fact(kind=FactKind.POLICY, subject=array.name, value="journal")
    add = manage(
        array,
        ("--add-journal", f"/dev/{name}"),
        "every write goes there first; the array is writable again",
        member_fact(array, name, "journal"),
        policy,
    )
    add = replace(cleared(survey, add, device), undo=_removal(array, name, device))
    bitmap = _without_bitmap(array, "a journal and a bitmap exclude each other")
    return Plan(
        title=f"journal: {name}",
        subject=array.title,
        steps=(*wipes, *bitmap, _read_only(array), add),
        harm=Harm.DESTROYS if wipes else Harm.REDUCES,
        losses=losses_of((device,), survey),
        confirm=array.title if wipes else "",
        warning=f"{array.title} then depends on {name}: if it fails, the array becomes read-only.",
        notes=(
            "All that is written to the array is written to the journal, too: its disk wears accordingly.",
            *(("The bitmap is removed: the journal replaces it.",) if bitmap else ()),
            "For a reshape it is removed: nothing may use the array then.",
            *bug_notes(survey, array),
            *which_disk_notes(survey, name),
        ),
        rolls_back=True,
        devices=(name,),
        arrays=(array.name,),
    )


def _without(survey: Survey, array: Array, name: str) -> Plan | Refusal:
    if not name:
        return NothingToDo(why=f"{array.title} has no journal")
    return Plan(
        title=f"journal removed: {name}",
        subject=array.title,
        steps=_removal(array, name, survey.devices.get(name)),
        harm=Harm.REDUCES,
        warning="Between its removal and the new consistency policy, a crash leaves an array that mdadm"
        " starts only with --force. Nothing is lost then: it is read-only meanwhile.",
        notes=(f"{_RESYNCED} A bitmap shortens the resync: raidtui plan bitmap {array.title} internal.",),
        devices=(name,),
        arrays=(array.name,),
    )


class PolicySteps(Struct, frozen=True, kw_only=True):
    """What goes before a change of an array's shape, and what comes after it.

    Args:
        before: steps that take away what the kernel does not reshape with.
        after: steps that give it back.
        notes: what is said of it, a sentence each.
    """

    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()


def around_policy(
    survey: Survey, array: Array, *, level: str, names: Collection[str] = ()
) -> PolicySteps | Refusal:
    """Return what takes a write journal or a partial parity log away for a reshape, and gives it back.

    Args:
        survey: the host, with the array's members.
        array: the array.
        level: of the array afterwards.
        names: devices that become members.
    """
    policy = array.consistency_policy
    if policy == "ppl":
        return _around_ppl(array, level=level, names=names)
    own = next((member.name for member in array.members if member.has("journal")), "")
    if policy != "journal" and not own:
        return PolicySteps()
    if not own:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"the journal of {array.title} is missing: the kernel refuses to reshape it",
            remedy=f"add one, or set the consistency policy of {array.title} to resync first",
        )
    if refusal := refuse_use(survey, array):
        return replace(
            refusal,
            why=f"{array.title} has a journal, which is removed for a reshape while nothing is written;"
            f" {refusal.why}",
        )
    before = _removal(array, own, survey.devices.get(own))
    if level not in PARITY_LEVELS:
        return PolicySteps(before=before, notes=(f"The journal is removed for good: a {level} has none.",))
    add = manage(
        array,
        ("--add-journal", f"/dev/{own}"),
        "every write goes there first, as before",
        member_fact(array, own, "journal"),
        Fact(kind=FactKind.POLICY, subject=array.name, value="journal"),
    )
    free = Fact(kind=FactKind.FREE, subject=own)
    empty = Fact(kind=FactKind.SUPERBLOCK, subject=own)
    add = bound(survey, replace(add, needs=(*add.needs, free, empty)), own)
    note = f"The journal {own} is removed first and added again at the end. {_RESYNCED}"
    return PolicySteps(before=before, after=(_read_only(array), add), notes=(note,))


def _around_ppl(array: Array, *, level: str, names: Collection[str]) -> PolicySteps:
    back = _policy_step(array, "ppl")
    before = (replace(_policy_step(array, "resync"), undo=(back,)),)
    if level != _PPL_LEVEL:
        return PolicySteps(before=before, notes=(f"The partial parity log is removed: a {level} has none.",))
    if names:
        note = (
            "The partial parity log is removed, and does not come back: mdadm puts a log of bad blocks in"
            " its place on new members."
        )
        return PolicySteps(before=before, notes=(note,))
    note = "The partial parity log is removed first and added again at the end."
    return PolicySteps(before=before, after=(replace(back, may_fail=True),), notes=(note,))


def _removal(array: Array, name: str, device: Device | None) -> tuple[Step, ...]:
    """Return the steps that take a journal away, first to last."""
    same_device = device_facts(device, free=False, untouched=False) if device is not None else ()
    flush = array_step(array, "journal_mode", "write-through", "nothing stays in the journal alone")
    fail, remove = fail_and_remove(array, name, "the journal is no longer used")
    policy = Fact(kind=FactKind.POLICY, subject=array.name, value="resync")
    forget = array_step(
        array, "consistency_policy", "resync", "otherwise it could not be assembled without the journal"
    )
    zero = zero_step(array, name, same_device, "with its superblock, it would be looked for at the next boot")
    return (
        flush,
        replace(_read_only(array), proves=(Fact(kind=FactKind.STATE, subject=array.name, value="readonly"),)),
        replace(fail, final=True),
        remove,
        replace(forget, needs=(*same_array(array),), proves=(policy,)),
        switch_step(array, "--readwrite", "allows writes", WRITABLE),
        zero,
    )


def _read_only(array: Array) -> Step:
    back = switch_step(array, "--readwrite", "as it was", WRITABLE)
    step = switch_step(array, "--readonly", "a journal is only changed while nothing is written", "readonly")
    return replace(step, undo=(back,), volatile=True)


def plan_policy(survey: Survey, array: Array, policy: str) -> Plan | Refusal:
    """Return the plan that gives an array a partial parity log, or takes it away.

    Args:
        survey: the host.
        array: the array.
        policy: ppl or resync.
    """
    refusal = _refuse_level(survey, array) or refuse_now(array) or refuse_read_only(array)
    if refusal:
        return refusal
    now = array.consistency_policy or ""
    if now == policy:
        return NothingToDo(why=f"{array.title} already has consistency policy {policy}")
    if now == "journal" or (policy == "resync" and now != "ppl"):
        off = "--remove" if now == "journal" else ""
        remedy = f"raidtui plan journal {array.title} {off}" if off else "change the bitmap"
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"{array.title} has consistency policy {now}", remedy=remedy
        )
    if policy == "ppl" and (refusal := _refuse_ppl(survey, array)):
        return refusal
    bitmap = _without_bitmap(array, "a partial parity log and a bitmap exclude each other")
    back = _policy_step(array, "resync" if policy == "ppl" else "ppl")
    return Plan(
        title=f"consistency policy {now or 'not known'} → {policy}",
        subject=array.title,
        steps=(*bitmap, replace(_policy_step(array, policy), undo=(back,))),
        harm=Harm.HARMLESS if policy == "ppl" else Harm.REDUCES,
        notes=(_LOGGED if policy == "ppl" else _RESYNCED,),
        rolls_back=True,
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _without_bitmap(array: Array, why: str) -> tuple[Step, ...]:
    """Return the step that removes the bitmap; nothing where there is none."""
    if array.bitmap is None:
        return ()
    return (replace(bitmap_step(array, "none", why), undo=(bitmap_step(array, "internal", "as it was"),)),)


def _policy_step(array: Array, policy: str) -> Step:
    return RunTool(
        argv=("mdadm", "--grow", array.path, f"--consistency-policy={policy}"),
        why="how parity stays consistent over a crash",
        needs=same_array(array),
        proves=(Fact(kind=FactKind.POLICY, subject=array.name, value=policy),),
    )


def _refuse_ppl(survey: Survey, array: Array) -> Refusal | None:
    if array.level != _PPL_LEVEL:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"only a raid5 has a partial parity log, not a {array.level}"
        )
    for member in array.members:
        device = survey.devices.get(member.name)
        block = device.superblock if device is not None else None
        if block is not None and block.bad_log_sectors is not None and block.bad_log_sectors < _PPL_ROOM:
            return Refusal(
                code=RefusalCode.TOO_SMALL,
                why=f"the log of bad blocks of {member.name} lies where mdadm puts a partial parity log",
                remedy=f"stop {array.title}, and assemble it with mdadm --assemble --update=no-bbl",
            )
    return None


def _refuse_level(survey: Survey, array: Array) -> Refusal | None:
    if refusal := refuse_array(survey, array):
        return refusal
    if array.level not in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.level or 'this level'} has no parity, so a journal would protect nothing",
        )
    if not array.uuid:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"{array.title} has no UUID to identify it")
    return None
