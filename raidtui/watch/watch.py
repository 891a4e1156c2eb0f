"""One host, watched and written to: what the screen and the command line both hold.

Not thread-safe. The screen calls ``refresh`` and ``execute`` in the host's thread and takes the frozen
``Report`` that they return; the command line calls them directly.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader, KernelEvent
from raidtui.jobs.last_look import LastLook
from raidtui.jobs.pace_news import read_news
from raidtui.jobs.speed_book import open_speed_book
from raidtui.jobs.sync_book import open_book
from raidtui.jobs.write_apart import unanswered_since
from raidtui.model.absent import AbsentArray
from raidtui.model.advice_count import AdviceCount
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.finding import Event, EventKind, Finding, Health, Tone
from raidtui.model.pace import PaceNews
from raidtui.model.plan import Plan
from raidtui.model.snapshot import Snapshot
from raidtui.model.watchers import NextCheck
from raidtui.monitor.brakes import Brake, HeldBack, Stood, held_back_by
from raidtui.monitor.events import diff, initial_events
from raidtui.monitor.health import Judged, exit_status, healths_of, judge
from raidtui.monitor.kernel_watch import Uevent
from raidtui.monitor.sample_history import SampleHistory
from raidtui.monitor.sampler import Sampler, interval_s
from raidtui.monitor.speed_watch import SpeedWatch
from raidtui.monitor.sync_end import Estimate
from raidtui.monitor.sync_track import STALL_S
from raidtui.monitor.sync_turn import Turn, turn_of
from raidtui.monitor.sync_watch import SyncWatch
from raidtui.plans.sync_speed import SYSTEM
from raidtui.plans.target import base_of
from raidtui.watch.origin_watch import OriginWatch

if TYPE_CHECKING:  # loaded when something is written: a watching console starts without
    from raidtui.jobs.journal import Journal
    from raidtui.jobs.runner import PlanOutcome
    from raidtui.jobs.undo_record import UndoRecord

_KEEP_EVENTS = 2000
_PASSING_S = 1.5


class Report(Struct, frozen=True, kw_only=True):
    """A snapshot and everything that is derived from it. The keys of mappings are those of ``Array.key``.

    Args:
        new_events: what happened since the previous report.
        next_s: seconds until the next sample, if no event comes before.
        speeds: (clock_s, KiB/s) per array that syncs or has synced, for the chart.
        latency_ms: per disk, while something happens on it.
        advice: how much there was when the host was last looked at; None where that is not known.
        pacing: how the syncs of arrays yield, where they are paced.
        turns: when delayed syncs begin.
        next_check: when arrays are checked next; None where that was not read.
    """

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    healths: Mapping[str, Health]
    estimates: Mapping[str, Estimate]
    brakes: Mapping[str, HeldBack]
    speeds: Mapping[str, tuple[tuple[float, float], ...]]
    latency_ms: Mapping[str, float]
    new_events: tuple[Event, ...]
    next_s: float
    exit_status: int
    advice: AdviceCount | None = None
    pacing: Mapping[str, PaceNews] = {}
    turns: Mapping[str, Turn] = {}
    next_check: NextCheck | None = None

    def of(self, array: Array | AbsentArray) -> tuple[Finding, ...]:
        """Return the findings about an array, the worst first."""
        return tuple(finding for finding in self.findings if finding.subject == array.key)

    def looks_like(self, other: Report) -> bool:
        """Whether both look the same on the screen: no event, no sync, and the same minute."""
        now, then = (
            replace(each, taken_s=each.taken_s // 60, clock_s=0.0, io={})
            for each in (self.snapshot, other.snapshot)
        )
        moves = self.new_events or now.syncing or self.estimates or other.estimates
        shown, was = (
            (each.findings, each.brakes, each.advice, each.pacing, each.next_check) for each in (self, other)
        )
        return not moves and now == then and shown == was


class HostWatch:
    """Samples one host, keeps what the next report needs, and carries plans out.

    Args:
        reader: the host.
        journal: where writes are recorded; by default the system's for a live host, and none for others.
        once: whether a single report is wanted, which includes what takes longer to read.
    """

    def __init__(self, reader: HostReader, *, journal: Journal | None = None, once: bool = False) -> None:
        self.reader = reader
        self.sampler = Sampler(reader, absent=True, patient=once)
        self.history = SampleHistory()
        self.events: deque[Event] = deque(maxlen=_KEEP_EVENTS)
        self._journal = journal
        self._before: tuple[Snapshot, tuple[Finding, ...]] | None = None
        self._judged: Judged = {}
        self._passing = False
        self._passing_since: dict[str, float] = {}
        self._pending: list[Event] = []
        self._unkept: set[str] = set()
        self._record: UndoRecord | None = None
        self._record_lock = threading.Lock()  # pane 4 uses it in another thread
        self._heard: list[Uevent] = []
        self.syncs = SyncWatch(reader, open_book(live=reader.live, writable=reader.writable), keeps=not once)
        speeds = open_speed_book(live=reader.live, writable=reader.writable)
        self.speeds = SpeedWatch(reader, speeds, keeps=not once)
        self.next_check: NextCheck | None = None
        """When arrays are checked next, once that was read: it takes tools that may hang."""
        self.origins = OriginWatch(reader, once=once)
        self._last_look = LastLook() if reader.live else None
        self._unsubscribe = reader.subscribe(self._hear)

    @property
    def journal(self) -> Journal:
        """Where writes are recorded."""
        if self._journal is None:
            from raidtui.jobs.journal import Journal, journal_path  # noqa: PLC0415

            self._journal = Journal(journal_path() if self.reader.live else None)
        return self._journal

    @property
    def record(self) -> UndoRecord:
        """What was set until the next boot, and how it is undone."""
        with self._record_lock:
            if self._record is None:
                from raidtui.jobs.undo_record import open_record  # noqa: PLC0415

                self._record = open_record(self.reader)
            return self._record

    def refresh(self) -> Report:
        """Sample the host, and return the report on it."""
        snapshot = self.sampler.sample()
        if self._heard:
            heard, self._heard = tuple(self._heard), []
            self.take_uevents(heard)
            snapshot = self.sampler.sample()
        self.history.add(snapshot)
        self.syncs.see(snapshot)
        self._note_unkept(snapshot.taken_s)
        checks = {array.key: self.syncs.result(array, snapshot.taken_s) for array in snapshot.arrays}
        known = {key: result for key, result in checks.items() if result is not None}
        origins, slow = self.origins.see(snapshot.arrays), self.speeds.see(snapshot)
        if known or origins or slow:
            snapshot = replace(snapshot, checks=known, origins=origins, slow=slow)
        findings = judge(snapshot, self._judged)
        events = self._pending
        self._pending = []
        lasting = self._lasting(snapshot)
        of_lasting = findings if lasting is snapshot else judge(lasting)
        pacing = self._pacing(snapshot)
        if self._before is not None:
            old, new = (_without_limits(each, pacing) for each in (self._before[0], lasting))
            events += diff(old, new, self._before[1], of_lasting)
        else:
            events += initial_events(snapshot, findings)
        self._before = (lasting, of_lasting)
        self.events.extend(events)
        return self._conclude(snapshot, findings, tuple(events), pacing)

    def _pacing(self, snapshot: Snapshot) -> Mapping[str, PaceNews]:
        """Return how arrays are paced, by their keys."""
        news = {each.array.uuid or each.array.name: each for each in read_news(self.reader)}
        keys = ((array.key, array.uuid or array.name) for array in snapshot.arrays) if news else ()
        return {key: news[name] for key, name in keys if name in news}

    def _lasting(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot for the timeline: without states that last only a moment.

        mdadm assembles an array through an inactive one, and freezes it for a moment while it adds a disk.
        Such an array keeps its former state in the timeline until the new one has lasted; the screen shows
        the new state at once.
        """
        if self._before is None:
            return snapshot
        former = {array.key: array for array in self._before[0].arrays}
        lasting: list[Array] = []
        for array in snapshot.arrays:
            if not _in_passing(array, former.get(array.key)):
                self._passing_since.pop(array.key, None)
            elif snapshot.clock_s - self._passing_since.setdefault(array.key, snapshot.clock_s) < _PASSING_S:
                if array.key in former:
                    lasting.append(former[array.key])
                continue
            lasting.append(array)
        self._passing = len(lasting) != len(snapshot.arrays) or any(
            one is not other for one, other in zip(lasting, snapshot.arrays, strict=False)
        )
        return replace(snapshot, arrays=tuple(lasting)) if self._passing else snapshot

    def _hear(self, happening: KernelEvent) -> None:
        if happening.source == "uevent":
            self._heard.append(Uevent(action=happening.what, name=happening.device))

    def _conclude(
        self,
        snapshot: Snapshot,
        findings: tuple[Finding, ...],
        events: tuple[Event, ...],
        pacing: Mapping[str, PaceNews],
    ) -> Report:
        estimates: dict[str, Estimate] = {}
        brakes: dict[str, HeldBack] = {}
        loads = self.history.loads()
        for array in snapshot.arrays:
            held = None
            if array.sync is not None:
                estimate, stood = self.history.estimate(array), self._stood(array, snapshot.taken_s)
                if estimate is not None:
                    still = Estimate(speed_kib_s=0.0, left_s=None, left_low_s=None, left_high_s=None)
                    estimates[array.key] = estimate if stood is None else still
                held = held_back_by(array, snapshot, self.history.track(array), loads, stood)
            if self.reader.live and (since_s := unanswered_since(array.name)) is not None:
                begun = time.strftime("%H:%M", time.localtime(since_s))
                further = f"; it {held.words}" if held is not None and held.brake is Brake.STALLED else ""
                held = HeldBack(brake=Brake.STALLED, words=f"md has taken no write since {begun}{further}")
            if held is not None and held.brake is Brake.FROZEN and (by := self.syncs.stopped_by(array)):
                held = HeldBack(brake=Brake.FROZEN, words=f"by {by}, {held.words}")
            if held is not None:
                brakes[array.key] = held
        waiting = [each for each in snapshot.arrays if each.sync is not None]
        turns = {each.key: turn_of(each, snapshot, estimates) for each in waiting}
        healths = healths_of(snapshot, findings)
        until = self.reader.next_event_s()
        soon = self._passing or self.sampler.unsettled
        pace_s = min(interval_s(snapshot), _PASSING_S / 3) if soon else interval_s(snapshot)
        return Report(
            snapshot=snapshot,
            findings=findings,
            healths=healths,
            estimates=estimates,
            brakes=brakes,
            next_check=self.next_check,
            turns={key: turn for key, turn in turns.items() if turn is not None},
            speeds={key: self.history.speeds(key) for key in self.history.keys},
            latency_ms=self.history.latency_ms() if snapshot.syncing else {},
            new_events=events,
            next_s=pace_s if until is None else max(0.05, min(pace_s, until)),
            exit_status=exit_status(snapshot, healths.values()),
            advice=self._last_look.read(snapshot.taken_s) if self._last_look is not None else None,
            pacing=pacing,
        )

    def _stood(self, array: Array, now_s: float) -> Stood | None:
        """Return since when a sync stands; also by who watched before, where this is the first look."""
        track, run = self.history.track(array), self.syncs.run(array)
        if track is None or run is None:
            return None
        if track.stalled:
            return Stood(since_s=run.moved_s, silent=self.history.silent(array))
        before = self.syncs.first.get(array.key)
        same = before is not None and (before.begun_s, before.done_kib) == (run.begun_s, run.done_kib)
        if before is None or not same or track.resting or now_s - before.seen_s < STALL_S:
            return None
        return Stood(since_s=before.moved_s)

    def take_uevents(self, uevents: tuple[Uevent, ...]) -> None:
        """Take device events: what they name is read again; disks that come and go are events."""
        for uevent in uevents:
            self.sampler.forget(uevent.name or None)
            if uevent.action not in {"add", "remove"} or uevent.name.startswith(("loop", "ram", "md", "dm-")):
                continue
            text = "plugged in" if uevent.action == "add" else "is gone"
            tone = Tone.PLAIN if uevent.action == "add" else Tone.WARN
            event = Event(
                at_s=self.reader.now_s(), kind=EventKind.UDEV, subject=uevent.name, text=text, tone=tone
            )
            self._pending.append(event)

    def _note_unkept(self, at_s: float) -> None:
        """Add an event where the record of a sync could not be kept, once for each reason."""
        if (trouble := self.syncs.trouble) and trouble not in self._unkept:
            self._unkept.add(trouble)
            self._pending.append(
                Event(at_s=at_s, kind=EventKind.ACTION, subject="raidtui", text=trouble, tone=Tone.BAD)
            )

    def execute(self, plan: Plan, *, is_undo: bool = False) -> PlanOutcome:
        """Carry a plan out, add an event for it, and record how it is undone."""
        from raidtui.jobs.runner import run_plan, undo_of  # noqa: PLC0415
        from raidtui.jobs.undo_record import UndoPlace, limits_before, limits_written  # noqa: PLC0415

        before = limits_before(self.reader, plan)
        outcome = run_plan(self.reader, plan, self.journal)
        done = {step.path for step in outcome.done}
        for step in outcome.done:
            if step.path.endswith("/md/sync_action") and step.text in {"idle", "frozen"}:
                self.syncs.note_stop(step.path.split("/")[-3], self.reader.now_s())
        undo = undo_of(plan) if outcome.failed is None and not is_undo else None
        writes = limits_written(outcome.done, before) if not is_undo else ()
        self.record.note(undo, writes, UndoPlace.ARRAYS, [step for step in before if step.path in done])
        tone = Tone.PLAIN if outcome.failed is None else Tone.BAD
        text = f"{plan.subject}: {outcome.sentence}"
        self._pending.append(
            Event(at_s=self.reader.now_s(), kind=EventKind.ACTION, subject="you", text=text, tone=tone)
        )
        return outcome

    @property
    def has_written(self) -> bool:
        """Whether this run may have set something that lasts until the next boot."""
        return self._record is not None

    def take_undo(self) -> Plan | None:
        """Return the plan that undoes what pane 1 did last in this run, once."""
        if self._record is None:
            return None
        from raidtui.jobs.undo_record import UndoPlace  # noqa: PLC0415

        last = self.record.last(UndoPlace.ARRAYS)
        if last is None:
            return None
        self.record.drop(last.id)
        return last.undo

    def left_changed(self) -> Plan | None:
        """Return the plan that restores what this run set and was not restored since, or None.

        That is speed limits, frozen arrays and knobs, whichever pane set them.
        """
        return self.record.left() if self._record is not None else None

    def close(self) -> None:
        """Close the host."""
        self._unsubscribe()
        self.syncs.close()
        self.reader.close()


def _in_passing(array: Array, former: Array | None) -> bool:
    going = array.array_state == "clear" or (
        array.array_state is None and former is not None and former.array_state is not None
    )  # it is being stopped: its files go one by one
    resuming = array.reshape is not None and (array.sync is None or array.sync.phase is Phase.PENDING)
    return (
        (not array.active and not array.is_container)
        or array.sync_action == "frozen"
        or going
        or (resuming and not array.read_only)
    )


def _without_limits(snapshot: Snapshot, pacing: Mapping[str, PaceNews]) -> Snapshot:
    """Return a snapshot for the timeline, in which limits that move all the time are no events."""
    if not pacing:
        return snapshot
    arrays = (replace(each, speed_limit=None) if each.key in pacing else each for each in snapshot.arrays)
    return replace(snapshot, arrays=tuple(arrays))


def limit_path(array: Array | None, word: str) -> str:
    """Return the file that holds a limit (``min`` or ``max``) of an array, or of the system for None."""
    return f"{SYSTEM}/speed_limit_{word}" if array is None else f"{base_of(array)}/sync_speed_{word}"
