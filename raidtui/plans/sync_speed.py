"""Speed limits: for one array (md/sync_speed_*) or for the system (/proc/sys/dev/raid/speed_limit_*).

The kernel takes any integer for the system's limits, zero and less included, and lets min be above max (min
then wins): we refuse both. Writes are ordered so that min is never above max in between.
"""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode, Step, Write
from raidtui.model.snapshot import Snapshot
from raidtui.plans.target import array_step, needs_root
from raidtui.view.units import rate_mb_s

LOWEST_KIB_S = 1
HIGHEST_KIB_S = 2**31 - 1
SYSTEM = "/proc/sys/dev/raid"


def plan_limits(snapshot: Snapshot, key: str | None, min_kib_s: int, max_kib_s: int) -> Plan | Refusal:
    """Return the plan that sets both limits.

    Args:
        snapshot: the present state.
        key: the array's key, or None for the system.
        min_kib_s: KiB/s. A value that is in force already is not written again.
        max_kib_s: KiB/s, likewise.
    """
    refusal = needs_root(snapshot) or _refuse_values(min_kib_s, max_kib_s)
    if refusal:
        return refusal
    if key is None:
        return _system_plan(snapshot, min_kib_s, max_kib_s)
    array = snapshot.array(key)
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why="the array is gone")
    if array.speed_limit is None:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=_no_limits(array))
    limit = array.speed_limit
    wanted = []
    for word, value, now in (("min", min_kib_s, limit.min_kib_s), ("max", max_kib_s, limit.max_kib_s)):
        if value != now:
            scope = limit.min_scope if word == "min" else limit.max_scope
            before = str(now) if scope == "local" and now is not None else "system"
            wanted.append((word, value, now, before))
    if not wanted:
        return Refusal(code=RefusalCode.NOTHING_TO_DO, why="the limits are already set to that")
    steps = [
        array_step(array, f"sync_speed_{word}", str(value), f"{word} {rate_mb_s(value)}")
        for word, value, _, _ in wanted
    ]
    undo = [
        array_step(array, f"sync_speed_{word}", before, f"{word} as before") for word, _, _, before in wanted
    ]
    return Plan(
        title=", ".join(_change(word, now, value) for word, value, now, _ in wanted) + " (this array)",
        subject=array.title,
        steps=_safe_order(steps, min_kib_s, limit.max_kib_s),
        undo=_safe_order(undo, limit.min_kib_s, max_kib_s),
    )


def plan_give_back(snapshot: Snapshot, key: str) -> Plan | Refusal:
    """Return the plan that makes an array follow the system's limits again."""
    if refusal := needs_root(snapshot):
        return refusal
    array = snapshot.array(key)
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why="the array is gone")
    limit = array.speed_limit
    if limit is None:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=_no_limits(array))
    local = [
        (word, value)
        for word, value, scope in (
            ("min", limit.min_kib_s, limit.min_scope),
            ("max", limit.max_kib_s, limit.max_scope),
        )
        if scope == "local"
    ]
    if not local:
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO, why=f"{array.title} already follows the system's limits"
        )
    return Plan(
        title="the system's limits apply again",
        subject=array.title,
        steps=tuple(
            array_step(array, f"sync_speed_{word}", "system", f"{word} of the system") for word, _ in local
        ),
        undo=tuple(
            array_step(array, f"sync_speed_{word}", str(value), f"{word} as before") for word, value in local
        ),
    )


def _system_plan(snapshot: Snapshot, min_kib_s: int, max_kib_s: int) -> Plan | Refusal:
    now_min, now_max = snapshot.limits.min_kib_s, snapshot.limits.max_kib_s
    if now_min is None or now_max is None:
        return Refusal(
            code=RefusalCode.NOT_FOUND,
            why="the system has no md limits",
            remedy="load md: modprobe md_mod",
        )
    wanted = [
        (word, value, now)
        for word, value, now in (("min", min_kib_s, now_min), ("max", max_kib_s, now_max))
        if value != now
    ]
    if not wanted:
        return Refusal(code=RefusalCode.NOTHING_TO_DO, why="the limits are already set to that")
    steps = [_system_step(word, value) for word, value, _ in wanted]
    undo = [_system_step(word, now) for word, _, now in wanted]
    return Plan(
        title=", ".join(_change(word, now, value) for word, value, now in wanted) + " (all arrays)",
        subject="system",
        steps=_safe_order(steps, min_kib_s, now_max),
        undo=_safe_order(undo, now_min, max_kib_s),
    )


def _system_step(word: str, value: int) -> Step:
    return Write(path=f"{SYSTEM}/speed_limit_{word}", text=str(value), why=f"{word} {rate_mb_s(value)}")


def _safe_order(steps: list[Step], new_min: int | None, old_max: int | None) -> tuple[Step, ...]:
    """Order the steps so that min is never above max: max first if the new min exceeds the old max."""
    raised = new_min is not None and old_max is not None and new_min > old_max
    return tuple(reversed(steps)) if raised else tuple(steps)


def _refuse_values(min_kib_s: int, max_kib_s: int) -> Refusal | None:
    for word, value in (("min", min_kib_s), ("max", max_kib_s)):
        if not LOWEST_KIB_S <= value <= HIGHEST_KIB_S:
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{word} must be between {LOWEST_KIB_S} and {HIGHEST_KIB_S} KiB/s, not {value}",
            )
    if min_kib_s > max_kib_s:
        low, high = rate_mb_s(min_kib_s), rate_mb_s(max_kib_s)
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"min {low} would exceed max {high}, and the kernel lets min win",
            remedy="lower min or raise max",
        )
    return None


def _no_limits(array: Array) -> str:
    if not array.active and not array.is_container:
        return f"{array.title} is not started, so nothing is synced"
    if not array.redundant:
        return f"{array.why_not_redundant}, so nothing is synced"
    return f"the kernel shows no limits for {array.title}"


def _change(word: str, now: int | None, value: int) -> str:
    before = rate_mb_s(now) if now is not None else "?"
    return f"{word} {before} → {rate_mb_s(value)}"
