"""What a pacing would do, before it does anything: pure functions of request and snapshot."""

from __future__ import annotations

import time
from collections.abc import Sequence

from raidtui.model.array import Array
from raidtui.model.pace import DayWindow, PacedArray, PaceRequest
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.plans.target import base_of, needs_root
from raidtui.view.units import rate_mb_s

LEAST_MS, MOST_MS = 0.05, 60_000.0
_LONGEST_S = 400 * 86_400


def paced_array(array: Array) -> PacedArray:
    """Return an array as a request names it."""
    return PacedArray(name=array.name, uuid=array.uuid or "", title=array.title)


def plan_pace(snapshot: Snapshot, request: PaceRequest) -> Plan | Refusal:
    """Return what would be written and what comes back, or why it cannot be done."""
    arrays = [snapshot.array(each.uuid or each.name) or _by_name(snapshot, each) for each in request.arrays]
    found = [array for array in arrays if array is not None]
    refusal = needs_root(snapshot) or _refuse_request(request, snapshot.taken_s)
    if refusal is not None:
        return refusal
    if len(found) < len(request.arrays) or not found:
        return Refusal(code=RefusalCode.NOT_FOUND, why="the array is gone")
    for array in found:
        if (reason := refuse_pacing(array, stays=request.stays)) is not None:
            return reason
    names = ", ".join(array.title for array in found)
    return Plan(
        title=f"pace: {names}, {_ms(request.latency_ms)}",
        subject=names,
        steps=(),
        notes=tuple(_notes(request, found)),
        arrays=tuple(array.name for array in found),
    )


def _by_name(snapshot: Snapshot, wanted: PacedArray) -> Array | None:
    return next((array for array in snapshot.arrays if array.name == wanted.name), None)


def _refuse_request(request: PaceRequest, now_s: float) -> Refusal | None:
    if not LEAST_MS <= request.latency_ms <= MOST_MS:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"a latency from {LEAST_MS} to {MOST_MS:.0f} ms is needed, not {request.latency_ms:g}",
        )
    if request.by_s is not None and not now_s < request.by_s < now_s + _LONGEST_S:
        return Refusal(
            code=RefusalCode.INVALID, why="the end that was asked for is past, or more than a year away"
        )
    return None


def refuse_pacing(array: Array, *, stays: bool = False) -> Refusal | None:
    """Return why an array cannot be paced now, or None.

    Args:
        array: the array.
        stays: whether its next sync is waited for.
    """
    if array.speed_limit is None:
        why = array.why_not_redundant if array.active and not array.redundant else "it has no speed limits"
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{array.title} cannot be paced: {why}")
    if array.sync is None and not stays:
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO,
            why=f"nothing is synced on {array.title}",
            remedy="start a check first, or wait for the next sync with --stay",
        )
    return None


def _notes(request: PaceRequest, arrays: Sequence[Array]) -> list[str]:
    notes = []
    for array in arrays:
        limit = array.speed_limit
        words = [
            (word, value, scope)
            for word, value, scope in (
                ("sync_speed_min", limit.min_kib_s if limit else None, limit.min_scope if limit else None),
                ("sync_speed_max", limit.max_kib_s if limit else None, limit.max_scope if limit else None),
            )
        ]
        before = ", ".join(
            f"{word} {rate_mb_s(value)}{' (the system’s)' if scope == 'system' else ''}"
            for word, value, scope in words
            if value is not None
        )
        notes.append(
            f"It writes sync_speed_min and sync_speed_max in {base_of(array)}, and nr_requests of the disks"
            " below, as often as needed."
        )
        notes.append(f"What is there now comes back at the end, or by the next start: {before}.")
    notes.append(
        f"It reads 4 KiB of the array 2 to 10 times a second, and lets md have as much speed as"
        f" keeps these reads at {_ms(request.latency_ms)}; while the array is idle, md runs at full speed."
    )
    if request.by_s is not None:
        at = time.strftime("%a %d %b %H:%M", time.localtime(request.by_s))
        notes.append(f"The sync ends by {at}: md never gets less than that takes, however long users wait.")
    else:
        notes.append("No end is set: while the array is in constant use, the sync may take very long.")
    if degraded := [array.title for array in arrays if array.missing_slots]:
        notes.append(
            f"{', '.join(degraded)} is degraded: until the recovery ends, another failure may lose data."
            " Set an end if the users can wait longer than the data."
        )
    notes.extend(f"Full speed from {window_words(window)}." for window in request.windows)
    return notes


def window_words(window: DayWindow) -> str:
    """Return ``22:00 to 06:00``."""
    first, last = (f"{each // 60:02}:{each % 60:02}" for each in (window.first_minute, window.last_minute))
    return f"{first} to {last}"


def _ms(latency_ms: float) -> str:
    return f"{latency_ms:g} ms"
