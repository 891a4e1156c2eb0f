"""Events: the differences between two snapshots, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase
from raidtui.model.check_words import ended_words
from raidtui.model.finding import Event, EventKind, Finding, Health, Tone
from raidtui.model.snapshot import Snapshot
from raidtui.model.sync_record import CHECKS
from raidtui.monitor.absent_health import health_of_absent
from raidtui.monitor.health import by_subject, health_of
from raidtui.view.units import binary_size, counted, rate_mb_s

_PAUSES = {
    Phase.DELAYED: "delayed: another array on the same disks syncs",
    Phase.PENDING: "pending",
    Phase.FROZEN: "frozen",
    Phase.REMOTE: "runs on another node",
}


def diff(
    old: Snapshot, new: Snapshot, old_findings: Sequence[Finding], new_findings: Sequence[Finding]
) -> tuple[Event, ...]:
    """Return what happened between two snapshots, in a readable order."""
    return tuple(_diff(old, new, old_findings, new_findings))


def _diff(
    old: Snapshot, new: Snapshot, old_findings: Sequence[Finding], new_findings: Sequence[Finding]
) -> Iterator[Event]:
    if old.readable != new.readable:
        tone, text = (Tone.GOOD, "can be read again") if new.readable else (Tone.BAD, "can no longer be read")
        yield Event(at_s=new.taken_s, kind=EventKind.KERNEL, subject="/proc/mdstat", text=text, tone=tone)
    old_own, new_own = by_subject(old_findings), by_subject(new_findings)
    before = {array.key: array for array in old.arrays}
    after = {array.key: array for array in new.arrays}
    for key, array in before.items():
        if key not in after and not _same_by_name(array, new.arrays):
            gone = new.absent_array(key)
            if old.is_trial(array):
                yield _event(new, array, "the rescue trial has ended", Tone.PLAIN)
            elif gone is None or gone.absence is not Absence.GONE:
                yield _event(new, array, "stopped", Tone.WARN)
    for key, array in after.items():
        if new.is_trial(array):  # what its members lack is no news, and none of the real ones changes
            if key not in before:
                yield _event(new, array, f"a rescue trial runs, as {array.path}", Tone.PLAIN)
            continue
        earlier = before.get(key) or _same_by_name(array, old.arrays)
        if earlier is None:
            yield _event(new, array, _appeared(array), Tone.PLAIN)
        elif earlier is not array:
            yield from _diff_array(old, new, earlier, array)
        own_before = old_own.get(earlier.key, []) if earlier else []
        own = new_own.get(key, [])
        if earlier is not array or own != own_before:
            old_health = health_of(earlier, own_before) if earlier else Health.OPTIMAL
            yield from _health_change(new, array, old_health, own)
    yield from _diff_absent(old, new, new_own)
    yield from _diff_limits(old, new)


def _diff_absent(old: Snapshot, new: Snapshot, findings: dict[str, list[Finding]]) -> Iterator[Event]:
    for absent in new.absent:
        before = old.absent_array(absent.key)
        is_known_now = before is not None and before.awaits_udev and not absent.awaits_udev
        if new.trials and before is not None:
            continue  # the trial holds its members one by one
        if before is None or is_known_now or (before.absence, before.count) != (absent.absence, absent.count):
            yield _absent_event(new, absent, findings)
    for absent in old.absent:
        if new.absent_array(absent.key) is None and new.array(absent.key) is None:
            text = "no longer has members" if absent.present else "is no longer named"
            if new.trials and absent.present:
                text = "its members are held by a rescue trial"
            yield Event(at_s=new.taken_s, kind=EventKind.KERNEL, subject=absent.title, text=text)


def _absent_event(new: Snapshot, absent: AbsentArray, findings: dict[str, list[Finding]]) -> Event:
    failed = health_of_absent(absent) is Health.FAILED
    sentence = next((each.sentence for each in findings.get(absent.key, ())), absent.count_words)
    return Event(
        at_s=new.taken_s,
        kind=EventKind.HEALTH,
        subject=absent.title,
        text=f"failed: {sentence}" if failed else sentence,
        tone=Tone.BAD if failed else Tone.WARN,
    )


def _same_by_name(array: Array, others: Sequence[Array]) -> Array | None:
    """Find an array by its name: in one of the snapshots its UUID was not known, or not unique."""
    for other in others:
        if other.name == array.name and (other.uuid == array.uuid or None in {other.uuid, array.uuid}):
            return other
    return None


def _appeared(array: Array) -> str:
    if not array.active:
        return f"appeared as {array.path}, inactive, with {counted(len(array.members), 'member')}"
    size = f", {binary_size(array.size_bytes)}" if array.size_bytes else ""
    return f"started as {array.path}: {array.level or 'level unknown'}{size}"


def _diff_array(before: Snapshot, new: Snapshot, old: Array, array: Array) -> Iterator[Event]:
    if old.name != array.name:
        yield _event(new, array, f"is now {array.path}, was {old.path}", Tone.PLAIN)
    if old.label != array.label and old.label and array.label:
        yield _event(new, array, f"renamed, was {old.label}", Tone.PLAIN)
    if old.active != array.active:
        tone = Tone.GOOD if array.active else Tone.BAD
        yield _event(new, array, "started" if array.active else "became inactive", tone)
    if old.read_only != array.read_only:
        yield _event(new, array, f"is {array.read_only}" if array.read_only else "is writable", Tone.PLAIN)
    if old.array_state != array.array_state and array.array_state == "broken":
        yield _event(new, array, "is broken", Tone.BAD)
    if old.size_bytes != array.size_bytes and array.size_bytes and old.size_bytes:
        text = f"size {binary_size(old.size_bytes)} → {binary_size(array.size_bytes)}"
        yield _event(new, array, text, Tone.PLAIN)
    yield from _diff_members(before, new, old, array)
    yield from _diff_sync(new, old, array)
    yield from _diff_local_limit(new, old, array)


def _diff_members(former_host: Snapshot, new: Snapshot, old: Array, array: Array) -> Iterator[Event]:
    before = {member.name: member for member in old.members}
    after = {member.name: member for member in array.members}
    for name, former in before.items():
        if name not in after:
            # md does not remove a member in sync: it was failed just before.
            served = former.role == "in_sync" or (former.detached and former.has("in_sync"))
            if served and old.active and array.active and _same_shape(old, array):
                yield _event(new, array, f"member {name} failed", Tone.BAD)
            yield _event(new, array, f"member {name} removed", Tone.WARN)
    for name, member in after.items():
        earlier = before.get(name)
        if earlier is None:
            role = member.role.replace("_", " ")
            yield _event(new, array, f"member {name} added ({role})", Tone.PLAIN)
        elif member.detached and not earlier.detached:
            disk = former_host.disks.get(name)
            which = f" (serial {disk.serial})" if disk is not None and disk.serial else ""
            text = f"member {name}{which} left the machine; md has not noticed yet"
            yield _event(new, array, text, Tone.BAD)
        elif earlier.detached and not (member.detached or member.has("faulty")):
            yield _event(new, array, f"member {name} is back in the machine", Tone.GOOD)
        elif earlier.states != member.states and (old.active == array.active or member.has("faulty")):
            yield from _diff_member(new, array, earlier, member)


def _same_shape(old: Array, array: Array) -> bool:
    """Whether level and slots are as before: a reshape turns members in sync into spares."""
    return (old.level, old.raid_disks) == (array.level, array.raid_disks)


def _diff_member(new: Snapshot, array: Array, old: Member, member: Member) -> Iterator[Event]:
    if member.has("faulty") and not old.has("faulty"):
        yield _event(new, array, f"member {member.name} failed", Tone.BAD)
    elif member.role != old.role:
        tone = Tone.GOOD if member.role == "in_sync" else Tone.PLAIN
        yield _event(new, array, f"member {member.name}: {old.role} → {member.role}", tone)


def _diff_sync(new: Snapshot, old: Array, array: Array) -> Iterator[Event]:
    before, after = old.sync, array.sync
    if after is None:
        if before is not None:
            yield _sync_ended(new, before.action, old, array)
        return
    if before is not None and before.action != after.action:
        yield _sync_ended(new, before.action, old, array)
    if before is None or before.action != after.action or before.phase != after.phase:
        if after.phase is Phase.RUNNING:
            again = before is not None and before.action == after.action and before.phase is Phase.FROZEN
            again = again or (after.action in CHECKS and bool(array.sync_min_sectors))
            size = f", {binary_size(after.total_kib * 1024)}" if after.total_kib and not again else ""
            yield _event(new, array, f"{after.action} {'resumed' if again else 'started'}{size}", Tone.PLAIN)
        else:
            tone = Tone.WARN if after.phase is Phase.FROZEN else Tone.PLAIN
            yield _event(new, array, f"{after.action} {_PAUSES[after.phase]}", tone)


def _sync_ended(new: Snapshot, action: str, old: Array, array: Array) -> Event:
    sync, check = old.sync, new.checks.get(array.key)
    text = f"{action} ended"
    if left := _work_is_left(action, old, array):
        text = f"{action} interrupted" + (f" at {sync.percent}" if sync is not None and sync.percent else "")
    if action in CHECKS and check is not None and check.action == action:
        text = ended_words(check)
    elif action in CHECKS and array.mismatch_count is not None:
        text += f", {counted(array.mismatch_count, 'mismatched sector')}"
    differs = action in CHECKS and bool(check.mismatches if check is not None else array.mismatch_count)
    lacks = array.missing_slots or (left and action not in CHECKS)
    return _event(new, array, text, Tone.WARN if differs or lacks else Tone.GOOD)


def _work_is_left(action: str, old: Array, array: Array) -> bool:
    """Whether a sync that no longer runs was interrupted."""
    if action == "recover":
        return not _was_filled(old, array)
    if action in {"check", "repair"}:
        return bool(array.sync_min_sectors)
    where = array.resync_start if action == "resync" else array.reshape_position
    return where not in (None, "none")


def _was_filled(old: Array, array: Array) -> bool:
    """Whether a recovery was completed: its target is in sync, whatever other slot is empty."""
    filled = {member.name for member in old.members if member.role in {"rebuilding", "replacement"}}
    if not filled:
        return not array.degraded
    return any(member.name in filled and member.has("in_sync") for member in array.members)


def _health_change(
    new: Snapshot, array: Array, before: Health, findings: Sequence[Finding]
) -> Iterator[Event]:
    now = health_of(array, findings)
    if now != before:
        yield _health_event(new, array, now, before, findings)


def initial_events(snapshot: Snapshot, findings: Sequence[Finding]) -> tuple[Event, ...]:
    """Return the events for the state at the start, so that the log is never empty.

    Of an array that is whole and is being synced, that it syncs is its state.
    """
    own = by_subject(findings)
    words: list[Event] = []
    for array in snapshot.arrays:
        found = own.get(array.key, [])
        health = health_of(array, found)
        if array.sync is None or health is not Health.OPTIMAL:
            words.append(_health_event(snapshot, array, health, Health.OPTIMAL, found))
        if array.sync is not None:
            place = array.sync.percent or _PAUSES.get(array.sync.phase, array.sync.phase.value)
            words.append(_event(snapshot, array, f"{array.sync.action}: {place}", Tone.PLAIN))
    words += [_absent_event(snapshot, absent, own) for absent in snapshot.absent]
    return tuple(words)


def _health_event(
    new: Snapshot, array: Array, now: Health, before: Health, findings: Sequence[Finding]
) -> Event:
    tone = Tone.BAD if now >= Health.DEGRADED else Tone.WARN if now > before else Tone.GOOD
    worst = next((finding for finding in findings if finding.subject == array.key), None)
    text = now.word
    if worst is not None and now > Health.OPTIMAL:
        text = worst.sentence if worst.code == now.word else f"{now.word}: {worst.sentence}"
    return Event(at_s=new.taken_s, kind=EventKind.HEALTH, subject=array.title, text=text, tone=tone)


def _diff_local_limit(new: Snapshot, old: Array, array: Array) -> Iterator[Event]:
    before, after = old.speed_limit, array.speed_limit
    if before is None or after is None:
        return
    for word, was, now, old_scope, scope in (
        ("min", before.min_kib_s, after.min_kib_s, before.min_scope, after.min_scope),
        ("max", before.max_kib_s, after.max_kib_s, before.max_scope, after.max_scope),
    ):
        if scope != old_scope and scope == "system":
            yield _event(new, array, f"{word} limit given back to the system: {_rate(now)}", Tone.PLAIN)
        elif scope == "local" and (was != now or scope != old_scope):
            yield _event(new, array, f"{word} limit {_rate(was)} → {_rate(now)} (this array)", Tone.PLAIN)


def _diff_limits(old: Snapshot, new: Snapshot) -> Iterator[Event]:
    for word, was, now in (
        ("min", old.limits.min_kib_s, new.limits.min_kib_s),
        ("max", old.limits.max_kib_s, new.limits.max_kib_s),
    ):
        if was != now and was is not None and now is not None:
            text = f"{word} speed limit {_rate(was)} → {_rate(now)} (all arrays)"
            yield Event(at_s=new.taken_s, kind=EventKind.KERNEL, subject="system", text=text)


def _rate(kib_s: int | None) -> str:
    return "?" if kib_s is None else rate_mb_s(kib_s)


def _event(new: Snapshot, array: Array, text: str, tone: Tone) -> Event:
    return Event(at_s=new.taken_s, kind=EventKind.KERNEL, subject=array.title, text=text, tone=tone)
