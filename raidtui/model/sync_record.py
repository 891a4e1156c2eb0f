"""The record of an array's syncs: what was seen of each run, over pauses, restarts and reboots. Pure.

A run is one thread of md (drivers/md/md.c, md_do_sync). A check that was paused and resumed is a chain of
runs: each starts at ``sync_min``, where the last one had got to at its last step (``sync_completed``), and
counts mismatches again. Neither sysfs nor /proc/mdstat says afterwards whether a check was complete: only who
watched its end knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

CHECKS = frozenset({"check", "repair"})
MOST_RUNS, MOST_GAPS = 16, 8
GAP_S = 15.0
"""Who has not looked for so long has not watched: md is read each second while something is synced."""
_BACK_KIB = 2048
_ODD_KIB = 64


class RunEnd(StrEnum):
    """How a run ended, as far as that was seen."""

    OPEN = "open"
    COMPLETE = "complete"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


class Gap(Struct, frozen=True, kw_only=True):
    """A time that was not watched, epoch seconds."""

    from_s: float
    to_s: float


class SyncRun(Struct, frozen=True, kw_only=True):
    """One run. Sizes are KiB of the sync's own progress, times are epoch seconds.

    Args:
        action: resync, recover, check, repair or reshape.
        boot: the kernel's boot_id.
        begun_s: when it was first seen.
        watched: whether its start was seen; if not, it was under way, or over.
        first_kib, total_kib: where it began, and its whole.
        done_kib, moved_s, seen_s: how far it was seen, when that changed last, when it was looked at last.
        rate_kib_s: the fastest that was seen.
        kept_kib, kept_mismatches: md's last step, from which a check goes on, and the mismatches until then.
        mismatches: the counter, as it was seen last; of a recovery or reshape it is another sync's.
        ended_s: when it was seen to run no more.
        end: how it ended.
        by: who stopped it, where it was raidtui.
        gaps: times that were not watched.
    """

    action: str
    boot: str
    begun_s: float
    watched: bool
    first_kib: int = 0
    total_kib: int = 0
    done_kib: int = 0
    moved_s: float = 0.0
    seen_s: float = 0.0
    rate_kib_s: float = 0.0
    kept_kib: int = 0
    kept_mismatches: int = 0
    mismatches: int = 0
    ended_s: float | None = None
    end: RunEnd = RunEnd.OPEN
    by: str = ""
    gaps: tuple[Gap, ...] = ()


class SyncRecord(Struct, frozen=True, kw_only=True):
    """The last runs of an array, the oldest first."""

    uuid: str
    runs: tuple[SyncRun, ...] = ()

    @property
    def open(self) -> SyncRun | None:
        """The run that is under way."""
        return self.runs[-1] if self.runs and self.runs[-1].end is RunEnd.OPEN else None


class SyncLook(Struct, frozen=True, kw_only=True):
    """What is read of an array at a moment.

    Args:
        at_s: epoch seconds.
        boot: the kernel's boot_id.
        action: of the sync that runs; "" where none does.
        done_kib, total_kib, mean_kib_s: its progress, and the speed that the kernel prints.
        kept_kib: md's last step.
        start_kib: where the next check begins, or this one has (``sync_min``).
        mismatches: the counter; None where the kernel has none.
        last_action: of the last sync that was started.
        work_waits: whether something is left to do for a resync, a recovery or a reshape.
        by: who has just stopped it, where that was raidtui.
    """

    at_s: float
    boot: str
    action: str = ""
    done_kib: int = 0
    total_kib: int = 0
    mean_kib_s: int = 0
    kept_kib: int = 0
    start_kib: int = 0
    mismatches: int | None = None
    last_action: str = ""
    work_waits: bool = False
    by: str = ""


def followed(record: SyncRecord, look: SyncLook, before_s: float | None) -> SyncRecord:
    """Return the record after a look; the same one where nothing is new.

    Args:
        record: what is known.
        look: what is read now.
        before_s: when this watcher looked before; None for its first look.
    """
    run = record.open
    if look.action:
        if run is not None and _continues(run, look):
            return _with(record, _moved(run, look))
        if run is not None:
            record = _with(record, _ended(run, look))
        watched = before_s is not None and look.at_s - before_s <= GAP_S
        return _with_new(record, _begun(look, watched=watched))
    if run is not None:
        return _with(record, _ended(run, look))
    if record.runs and _was_missed(record.runs[-1], look):
        missed = replace(_begun(look, watched=False), action=look.last_action, end=RunEnd.UNKNOWN)
        return _with_new(record, replace(missed, ended_s=look.at_s))
    return record


def credited(record: SyncRecord, look: SyncLook) -> SyncRecord:
    """Return a record with who stopped the last run, where another watcher, who did not know, saw it end."""
    last = record.runs[-1] if record.runs else None
    if last is None or last.ended_s is None or last.by or not look.by or look.at_s - last.ended_s > GAP_S:
        return record
    end = RunEnd.STOPPED if last.action in CHECKS else last.end
    return _with(record, replace(last, by=look.by, end=end))


def _with(record: SyncRecord, run: SyncRun) -> SyncRecord:
    return record if run is record.runs[-1] else replace(record, runs=(*record.runs[:-1], run))


def _with_new(record: SyncRecord, run: SyncRun) -> SyncRecord:
    return replace(record, runs=(*record.runs, run)[-MOST_RUNS:])


def _continues(run: SyncRun, look: SyncLook) -> bool:
    same = (run.action, run.boot, run.total_kib) == (look.action, look.boot, look.total_kib)
    starts = run.action not in CHECKS or abs(run.first_kib - look.start_kib) <= _ODD_KIB
    return same and starts and look.done_kib >= run.done_kib - _BACK_KIB


def _begun(look: SyncLook, *, watched: bool) -> SyncRun:
    first = look.start_kib if look.action in CHECKS else look.done_kib
    return SyncRun(
        action=look.action,
        boot=look.boot,
        begun_s=look.at_s,
        watched=watched,
        first_kib=first,
        total_kib=look.total_kib,
        done_kib=look.done_kib,
        moved_s=look.at_s,
        seen_s=look.at_s,
        rate_kib_s=float(look.mean_kib_s),
        kept_kib=max(first, look.kept_kib),
        mismatches=look.mismatches or 0,
    )


def _moved(run: SyncRun, look: SyncLook) -> SyncRun:
    moved, took_s = look.done_kib != run.done_kib, look.at_s - run.seen_s
    gaps = run.gaps
    if took_s > GAP_S:
        gaps = (*gaps, Gap(from_s=run.seen_s, to_s=look.at_s))[-MOST_GAPS:]
    stepped = look.kept_kib > run.kept_kib
    found = run.mismatches if look.mismatches is None else look.mismatches
    rate = (look.done_kib - run.done_kib) / took_s if took_s >= 0.5 else 0.0
    return replace(
        run,
        done_kib=look.done_kib,
        moved_s=look.at_s if moved else run.moved_s,
        seen_s=look.at_s,
        rate_kib_s=max(run.rate_kib_s, float(look.mean_kib_s), rate),
        kept_kib=look.kept_kib if stepped else run.kept_kib,
        kept_mismatches=found if stepped else run.kept_mismatches,
        mismatches=found,
        gaps=gaps,
    )


def _ended(run: SyncRun, look: SyncLook) -> SyncRun:
    """Return a run that is under way no more."""
    same_boot, counts = run.boot == look.boot, not look.action and look.last_action == run.action
    mismatches = look.mismatches if same_boot and counts and look.mismatches is not None else run.mismatches
    kept = look.start_kib if same_boot and not look.action and run.action in CHECKS else 0
    unseen = kept > run.kept_kib  # md's last step: rather count some sectors twice than not at all
    return replace(
        run,
        ended_s=look.at_s,
        end=_end(run, look) if same_boot else RunEnd.UNKNOWN,
        kept_kib=max(run.kept_kib, kept),
        kept_mismatches=mismatches if unseen else run.kept_mismatches,
        mismatches=mismatches,
        by=look.by,
    )


def _end(run: SyncRun, look: SyncLook) -> RunEnd:
    """Return how a run of this boot ended.

    With ``sync_min`` above 0 a check was stopped. At 0 it ran to its end, or was stopped before md's first
    step, or cancelled by who wrote that 0: so what was left must be what can have been done since the look
    before, and not more.
    """
    if run.action not in CHECKS:
        return RunEnd.STOPPED if look.work_waits else RunEnd.COMPLETE
    if look.action:  # another run is under way: that it continues from there shows that this one was stopped
        stopped = look.action == run.action and look.start_kib > 0
        return RunEnd.STOPPED if stopped else RunEnd.UNKNOWN
    if look.start_kib or look.by:
        return RunEnd.STOPPED
    left_kib, since_s = run.total_kib - run.done_kib, look.at_s - run.seen_s
    if since_s > GAP_S or not run.rate_kib_s:
        return RunEnd.UNKNOWN
    return RunEnd.STOPPED if left_kib > 2 * run.rate_kib_s * (since_s + 1) else RunEnd.COMPLETE


def _was_missed(run: SyncRun, look: SyncLook) -> bool:
    """Whether another check ran since the last one that is recorded; after a start there is no counter."""
    if look.last_action not in CHECKS or run.boot != look.boot:
        return False
    return look.last_action != run.action or (look.mismatches or 0) != run.mismatches


class LastCheck(Struct, frozen=True, kw_only=True):
    """What is known of the last check or repair, over its pauses.

    Args:
        action: check or repair.
        complete: whether all was read; None where that is not known.
        read_kib, total_kib: what was read of what; 0 of 0 where that is not known.
        mismatches: the sectors that did not match, summed over its runs; at least so many while it is not
            complete.
        begun_s, ended_s: when; ``ended_s`` None: it runs. Both None: not known.
        took_s: for how long it ran, without its pauses; None where that is not known.
        unwatched_s: for how long it was not watched.
        paused: whether it can continue from where it was stopped.
        rewritten: whether what did not match was written over: by a repair, or by a resync since then.
        stopped_by: who stopped it, where it was raidtui; "" where that is not known, or it was not stopped.
    """

    action: str
    complete: bool | None
    read_kib: int = 0
    total_kib: int = 0
    mismatches: int = 0
    begun_s: float | None = None
    ended_s: float | None = None
    took_s: float | None = None
    unwatched_s: float = 0.0
    paused: bool = False
    rewritten: bool = False
    stopped_by: str = ""

    @property
    def percent(self) -> str:
        """How much was read: ``4 %``; "" where that is not known. What is not all is never 100."""
        if not self.total_kib:
            return ""
        part = 100 * self.read_kib / self.total_kib
        return f"{part:.0f} %" if part < 99 or self.complete else f"{min(part, 99.9):.1f} %"


def check_result(record: SyncRecord | None, last_action: str, look: SyncLook) -> LastCheck | None:
    """Return what is known of the last check or repair; None where none was.

    Args:
        record: what was watched; None for nothing.
        last_action: what the kernel calls the last sync.
        look: what it says now.
    """
    runs = [run for run in record.runs if run.action in CHECKS] if record is not None else []
    paused = bool(look.start_kib) and not look.action
    if last_action in CHECKS and look.mismatches is not None and (not runs or runs[-1].boot != look.boot):
        return LastCheck(
            action=last_action,
            complete=None,
            mismatches=look.mismatches,
            paused=paused,
            rewritten=last_action == "repair",
        )
    if record is None or not runs:
        return None
    result = _summed(runs, paused=paused and last_action == runs[-1].action)
    after = record.runs[record.runs.index(runs[-1]) + 1 :]
    rewritten = result.action == "repair" or any(run.action == "resync" for run in after)
    moved = paused and abs(look.start_kib - runs[-1].kept_kib) > _ODD_KIB  # it ran since, unseen
    return replace(result, rewritten=rewritten, stopped_by="" if moved else result.stopped_by)


def _summed(runs: Sequence[SyncRun], *, paused: bool = False) -> LastCheck:
    """Return the sum of the chain that the last of some runs ends."""
    chain = [runs[-1]]
    for run in reversed(runs[:-1]):
        follows = abs(run.kept_kib - chain[0].first_kib) <= _ODD_KIB and chain[0].first_kib > 0
        same = (run.action, run.boot, run.total_kib) == (chain[0].action, chain[0].boot, chain[0].total_kib)
        if not (same and follows and run.end is RunEnd.STOPPED):
            break
        chain.insert(0, run)
    last = chain[-1]
    from_start = chain[0].first_kib == 0 and last.total_kib > 0
    complete = last.end is RunEnd.COMPLETE and from_start
    known = last.end in {RunEnd.COMPLETE, RunEnd.STOPPED, RunEnd.OPEN} and last.total_kib > 0
    reached = last.total_kib if last.end is RunEnd.COMPLETE else last.done_kib
    took = sum((run.ended_s if run.ended_s is not None else run.seen_s) - run.begun_s for run in chain)
    return LastCheck(
        action=last.action,
        complete=complete if known else None,
        read_kib=max(0, reached - chain[0].first_kib) if known else 0,
        total_kib=last.total_kib if known else 0,
        mismatches=sum(run.kept_mismatches for run in chain[:-1]) + last.mismatches,
        begun_s=chain[0].begun_s if chain[0].watched else None,
        ended_s=last.ended_s if last.watched or last.total_kib else None,
        took_s=took if all(run.watched for run in chain) else None,
        unwatched_s=sum(gap.to_s - gap.from_s for run in chain for gap in run.gaps),
        paused=paused,
        stopped_by=last.by if last.end is RunEnd.STOPPED else "",
    )


def check_ends(record: SyncRecord) -> tuple[LastCheck, ...]:
    """Return each check and repair that has ended, and each pause of one, the oldest first."""
    runs = [run for run in record.runs if run.action in CHECKS]
    return tuple(_summed(runs[: at + 1]) for at, run in enumerate(runs) if run.end is not RunEnd.OPEN)
