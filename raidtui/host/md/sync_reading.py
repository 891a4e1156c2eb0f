"""What md does in an array: of mdstat's line, and of what sysfs says beside it."""

from __future__ import annotations

from raidtui.host.md.array_attributes import (
    integer,
)
from raidtui.host.md.mdstat import MdstatArray
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Sync
from raidtui.model.verdict import sync_phase, sync_word


def kept_sectors(step: tuple[bytes | None, ...]) -> int | None:
    """Return the sectors of ``sync_completed``: of "4096 / 8192"; None without a sync."""
    text = plain_text(step[0]) if step and step[0] is not None else ""
    return integer(text.partition(" ")[0])


def plain_text(value: bytes) -> str:
    """Return the text of a file of sysfs."""
    return value.decode("utf-8", "replace").rstrip("\n")


def sync_of(entry: MdstatArray, array: Array) -> Sync | None:
    """Return what runs in an array, or waits to."""
    line, action = entry.sync, array.sync_action
    if entry.silent and action not in {None, "idle", "frozen"}:
        return Sync(action=action or "", phase=Phase.RUNNING)
    if line is None:
        if action == "frozen":
            return Sync(action=_waiting_work(array), phase=Phase.FROZEN) if array.work_waits else None
        if array.active and array.reshape_position not in (None, "none"):
            return Sync(action="reshape", phase=Phase.PENDING)
        return None
    word = sync_word(line.word, line.waiting, action, filling=entry.filling)
    phase = Phase(sync_phase(line.waiting, action))
    if word == "recover" and phase is Phase.RUNNING and _is_filled(array):
        return None  # it ended between the readings of mdstat and of sysfs
    return Sync(
        action=word,
        phase=phase,
        done_kib=line.done_kib,
        total_kib=line.total_kib,
        kernel_permille=line.permille,
        kernel_speed_kib_s=line.speed_kib_s,
    )


def _is_filled(array: Array) -> bool:
    """Whether, by sysfs, no member is still to be filled."""
    known = array.array_state is not None and all(member.states is not None for member in array.members)
    filling = array.replacing or any(
        member.has("spare") and member.slot is not None and not member.has("faulty")
        for member in array.members
    )
    return known and bool(array.members) and not filling


def _waiting_work(array: Array) -> str:
    if array.reshape_position not in (None, "none"):
        return "reshape"
    return "recover" if array.degraded or array.replacing else "resync"
