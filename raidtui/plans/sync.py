"""Check, cancel, pause and resume: writes to md/sync_action (Documentation/admin-guide/md.rst).

``idle`` does not pause a resync, recover or reshape: the kernel starts it again at once. ``frozen`` does, and
while it stands no failed disk is rebuilt. A check that was interrupted leaves its place in ``sync_min``, and
the next one continues from there.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.check_words import found_words
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.model.sync_record import CHECKS, LastCheck
from raidtui.plans.target import array_step, needs_root
from raidtui.view.units import duration, rate_mb_s

_DEFAULT_KIB_S = 200_000
"""The kernel's own limit, where md is not loaded yet."""


def plan_check(snapshot: Snapshot, key: str | None) -> Plan | Refusal:
    """Return the plan of a full check: it reads all members and counts mismatches."""
    array = _whole(snapshot, key)
    if isinstance(array, Refusal):
        return array
    return Plan(
        title="check started",
        subject=array.title,
        steps=_full_run(array, "check", "read all members and compare"),
        undo=_end_check(array, "check"),
    )


def plan_repair(snapshot: Snapshot, key: str | None) -> Plan | Refusal:
    """Return the plan of a repair: where members do not match, one of them is written over (md(4)).

    md does not know which of two copies is the right one.
    """
    array = _whole(snapshot, key)
    if isinstance(array, Refusal):
        return array
    parity = array.level in PARITY_LEVELS
    what = "parity is recomputed from the data" if parity else "the first copy overwrites the others"
    further = (
        "Wrong data then stays wrong, and nothing shows it any longer."
        if parity
        else (
            "On a mirror, mismatches are often harmless: swap, or pages that changed while they were written."
        )
    )
    return Plan(
        title="repair started",
        subject=array.title,
        steps=_full_run(array, "repair", "where members do not match, " + what, destroys=True),
        undo=_end_check(array, "repair"),
        harm=Harm.DESTROYS,
        warning=f"Where members do not match, {what}. md cannot know which copy is right.",
        notes=(*_counted(array, snapshot.checks.get(array.key)), further),
        confirm=array.title,
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _counted(array: Array, check: LastCheck | None) -> tuple[str, ...]:
    """Return what is known of the mismatches, and how more is found out before they are written over."""
    if check is None and array.last_sync_action in CHECKS and array.mismatch_count is not None:
        check = LastCheck(action=array.last_sync_action or "", complete=None, mismatches=array.mismatch_count)
    if check is None:
        return ("No check has counted the mismatches yet: run a check first, which writes nothing.",)
    text = f"The last {check.action} {found_words(check)}."
    if not check.mismatches or check.action != "check":
        return (text,)
    look = (
        f"Look at them first: raidtui rescue mismatches {array.name} says where they are, which member"
        " disagrees where that can be known, and which file lies there. It writes nothing."
    )
    return look, text


def _whole(snapshot: Snapshot, key: str | None) -> Array | Refusal:
    """Return an array that can be read from one end to the other now, or why not."""
    array = _target(snapshot, key)
    if isinstance(array, Refusal):
        return array
    if array.sync is not None and array.sync.phase is not Phase.FROZEN:
        ends = "wait for it, or cancel it (x)" if array.sync.action in CHECKS else "wait until it has ended"
        return Refusal(
            code=RefusalCode.BUSY, why=f"a {array.sync.action} is already in progress", remedy=ends
        )
    if array.sync_action == "frozen":
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is frozen", remedy="resume it first (p)"
        )
    if array.degraded or array.detached_slots:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why="a check needs all members",
            remedy="replace the missing member first",
        )
    if array.read_only == "read-only":
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is read-only",
            remedy=f"mdadm --readwrite {array.path}",
        )
    return array


def _full_run(array: Array, action: str, why: str, *, destroys: bool = False) -> tuple[Step, ...]:
    step = replace(
        array_step(array, "sync_action", action, why), undo=_end_check(array, action), destroys=destroys
    )
    if not array.sync_min_sectors:
        return (step,)
    first = array_step(array, "sync_min", "0", "from the start, not where the last one stopped")
    return first, step


def _end_check(array: Array, action: str) -> tuple[Step, ...]:
    return (
        array_step(array, "sync_action", "idle", f"cancel the {action}"),
        array_step(array, "sync_min", "0", "so that the next one starts from the beginning"),
    )


def plan_cancel(snapshot: Snapshot, key: str | None) -> Plan | Refusal:
    """Return the plan that ends a check for good; the next one starts at the start."""
    array = _target(snapshot, key)
    if isinstance(array, Refusal):
        return array
    if array.sync is None or array.sync.action not in CHECKS:
        if array.sync is not None:
            return Refusal(
                code=RefusalCode.WRONG_STATE,
                why=f"a {array.sync.action} cannot be cancelled",
                remedy="p pauses it",
            )
        return Refusal(code=RefusalCode.WRONG_STATE, why="no check is running")
    return Plan(
        title=f"{array.sync.action} cancelled",
        subject=array.title,
        steps=(
            array_step(array, "sync_action", "idle", f"end the {array.sync.action}"),
            array_step(array, "sync_min", "0", "so that the next one starts from the beginning"),
        ),
    )


def plan_pause(snapshot: Snapshot, key: str | None) -> Plan | Refusal:
    """Return the plan that pauses what runs."""
    array = _target(snapshot, key)
    if isinstance(array, Refusal):
        return array
    sync = array.sync
    if array.sync_action == "frozen":
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO, why=f"{array.title} is already frozen", remedy="p resumes it"
        )
    if sync is None:
        return Refusal(code=RefusalCode.WRONG_STATE, why="nothing is running that could be paused")
    if sync.action in CHECKS:
        return Plan(
            title=f"{sync.action} paused",
            subject=array.title,
            steps=(array_step(array, "sync_action", "idle", "sync_min keeps the position, to a sixteenth"),),
            undo=(array_step(array, "sync_action", sync.action, "continue from there"),),
        )
    if sync.phase is Phase.PENDING and array.read_only:
        return _plan_pause_pending(array, sync.action)
    if refusal := refuse_interrupting(array):
        return refusal
    lost = " The array stays degraded until then." if array.missing_slots else ""
    return Plan(
        title=f"{sync.action} paused",
        subject=array.title,
        steps=(array_step(array, "sync_action", "frozen", "idle would restart it at once"),),
        undo=(array_step(array, "sync_action", "idle", "resume it"),),
        harm=Harm.REDUCES,
        warning=f"While it is frozen, no failed member is rebuilt.{lost} It is frozen until you resume it.",
    )


def _plan_pause_pending(array: Array, action: str) -> Plan | Refusal:
    """Keep what is pending from beginning with the first write.

    A write to sync_action ends auto-read-only (drivers/md/md.c, action_store); md goes back to it, and takes
    the freeze away, while nothing has the array open (md_set_readonly).
    """
    if array.read_only != "auto-read-only":
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"the {action} does not begin while {array.title} is read-only",
            remedy=f"leave it unchanged; raidtui plan read-write {array.title} lets it begin",
        )
    return Plan(
        title=f"{action} paused",
        subject=array.title,
        steps=(array_step(array, "sync_action", "frozen", "it does not begin with the first write"),),
        undo=(array_step(array, "array_state", "read-auto", "auto-read-only as before, and not frozen"),),
        harm=Harm.REDUCES,
        warning=f"This also makes {array.title} writable: md ends auto-read-only with it. While it is frozen,"
        " no failed member is rebuilt. u gives back both, while nothing has the array open.",
    )


def refuse_interrupting(array: Array) -> Refusal | None:
    """Return why a reshape must not be interrupted, or None.

    mdadm waits for the end of the reshape of a RAID 0, to make it a RAID 0 again. It takes a pause for the
    end, and fails the members that are not in sync yet: the array is broken, and is assembled only by force
    (measured with mdadm 4.2 on Linux 6.1). Where that process was ended, the reshape is like any other.
    """
    if not array.as_raid4 or array.reshape is None or array.reshape.attended is False:
        return None
    return Refusal(
        code=RefusalCode.WRONG_STATE,
        why=f"{array.title} is a RAID 0 that gets more devices: mdadm takes a pause for the end, and fails"
        " the new members",
        remedy="lower its speed limit, or wait until it has ended",
    )


def plan_resume(snapshot: Snapshot, key: str | None) -> Plan | Refusal:
    """Return the plan that resumes a paused sync."""
    array = _target(snapshot, key)
    if isinstance(array, Refusal):
        return array
    if array.sync_action == "frozen":
        return Plan(
            title="resumed",
            subject=array.title,
            steps=(array_step(array, "sync_action", "idle", "pending work starts by itself"),),
            undo=(array_step(array, "sync_action", "frozen", "freeze it again"),),
        )
    if array.sync is None and array.sync_min_sectors:
        action = "repair" if array.last_sync_action == "repair" else "check"
        return Plan(
            title=f"{action} resumed where it was paused",
            subject=array.title,
            steps=(array_step(array, "sync_action", action, f"from sector {array.sync_min_sectors} on"),),
            undo=(array_step(array, "sync_action", "idle", "pause it again"),),
        )
    return Refusal(code=RefusalCode.WRONG_STATE, why=f"{array.title} is not paused")


def is_paused(array: Array) -> bool:
    """Whether the pause key means "resume" now."""
    return array.sync_action == "frozen" or (array.sync is None and bool(array.sync_min_sectors))


def _target(snapshot: Snapshot, key: str | None) -> Array | Refusal:
    if refusal := needs_root(snapshot):
        return refusal
    array = snapshot.array(key)
    if array is None:
        return Refusal(
            code=RefusalCode.NOT_FOUND, why="no array is selected" if key is None else "the array is gone"
        )
    if array.stale is not None:
        return Refusal(
            code=RefusalCode.UNKNOWN, why=f"{array.title} cannot be read now: {array.stale.reason}"
        )
    if array.is_container:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=array.why_not_redundant, remedy="choose one of its volumes"
        )
    if not array.active:
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is inactive", remedy="start it first"
        )
    if array.sync_action is None:
        why = array.why_not_redundant or f"the kernel shows no sync_action of {array.title}"
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{why}: there is nothing to sync or check")
    return array


def least_s(survey: Survey, kib: int) -> float:
    """Return how long so many KiB, as md counts them, take at least at the present limit, seconds."""
    return kib / _limit_kib_s(survey)


def at_least(survey: Survey, kib: int) -> str:
    """Return the same in words: "at least 12 min at the limit of 200 MB/s"."""
    limit = rate_mb_s(_limit_kib_s(survey))
    return f"at least {duration(least_s(survey, kib))} at the limit of {limit}"


def _limit_kib_s(survey: Survey) -> int:
    limits = survey.snapshot.limits
    return max(limits.max_kib_s or _DEFAULT_KIB_S, limits.min_kib_s or 0)
