"""Benchmarks of a simulated host: they are played in this process, kept in its memory, and end with it.

Called in the thread that reads and writes the host, as ``raidtui.watch.played_jobs``; they advance whenever
someone looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import cast

from msgspec.structs import replace

from raidtui.demo.demo_host import DemoReader
from raidtui.features.bench.demo_fio import (
    SimulatedRate,
    begun,
    demo_runs,
    rate_of,
    samples_of,
    seconds_of,
    with_figures,
)
from raidtui.features.bench.estimate import expected_runs
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.results.run_record import PARTIAL, SIMULATED, RunRecord, RunSample, sample_words
from raidtui.features.bench.results.run_store import BenchHistory, RunFiles
from raidtui.features.bench.run.bench_progress import BenchProgress
from raidtui.features.bench.run.changes import Restored
from raidtui.features.bench.schedule import Run, Schedule
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.runner import do_step
from raidtui.jobs.states import JobState
from raidtui.model.plan import Step

JOB = "demo-bench-"
"""How their ids begin."""


class PlayedBench:
    """The benchmarks of one simulated host, the one that runs, and the history.

    Args:
        reader: the host.
    """

    PREFIX, ENDS = f"{SIMULATED}: ", "it is simulated, and ends with the demo"

    def __init__(self, reader: DemoReader) -> None:
        self._reader = reader
        self._runs = {record.id: (record, tuple(samples)) for record, samples in demo_runs(reader.now_s())}
        self._schedule: Schedule | None = None
        self._left: list[Run] = []
        self._progress: BenchProgress | None = None
        self._rate = SimulatedRate(iops=1.0, mean_s=1.0)
        self._count = 0
        self._undo: list[Step] = []

    def history(self) -> BenchHistory:
        """See ``LiveBench`` for this and the others."""
        return BenchHistory(records=tuple(record for record, _ in self._runs.values()))

    def files(self, runs: Sequence[int]) -> RunFiles:
        """Return the samples of runs; there is no fio that would have written JSON."""
        return RunFiles(samples={number: self._runs[number][1] for number in runs if number in self._runs})

    def interrupted(self) -> tuple[str, ...]:
        """Return none: what is played is never interrupted."""
        return ()

    def restore(self) -> tuple[Sequence[Restored], str]:
        """Put nothing back."""
        return (), ""

    def change(self, runs: Sequence[int], note: str | None) -> str:
        """Set the note of runs, or without a note forget them."""
        for number in [number for number in runs if number in self._runs]:
            record, samples = self._runs.pop(number)
            if note is not None:
                self._runs[number] = (replace(record, note=note), samples)
        self._runs = dict(sorted(self._runs.items()))
        return ""

    def begin(self, schedule: Schedule) -> str:
        """Begin a benchmark; return why it could not be begun, or ""."""
        self.look()
        if self._progress is not None and self._progress.works:
            return "a benchmark is running"
        self._count += 1
        self._schedule, self._left = schedule, list(schedule.runs())
        self._progress = BenchProgress(
            job=f"{JOB}{self._count}",
            title=f"{self.PREFIX}{schedule.title}",
            place=schedule.place.words,
            of=len(self._left),
            state=JobState.RUNNING,
            expected=expected_runs(schedule),
            first_s=self._reader.now_s(),
        )
        self._next()
        return ""

    def stop(self, job: str = "") -> str:
        """End the benchmark that runs; what was simulated so far is kept as partial."""
        del job  # there is one at a time
        progress = self.look()
        if progress is None or not progress.works or progress.record is None:
            return ""
        record = with_figures(progress.record, self._rate, progress.samples)
        if progress.samples:
            record = replace(record, state=PARTIAL, reason="stopped")
        self._keep(record, progress.samples)
        self._put_back()
        self._progress = replace(self._ended(progress), state=JobState.CANCELLED)
        return ""

    def look(self) -> BenchProgress | None:
        """Advance to the present time, and return the newest benchmark; None if there is none."""
        now_s = self._reader.now_s()
        while (progress := self._progress) is not None and progress.works and progress.record is not None:
            record = progress.record
            if record.work is None:
                break
            ends_s = seconds_of(record.work, self._rate)
            elapsed_s = now_s - record.at_s
            samples = samples_of(record.work, self._rate, elapsed_s, key=_key(record))
            if elapsed_s < ends_s:
                self._progress = replace(progress, samples=samples)
                break
            self._keep(with_figures(record, self._rate, samples), samples)
            self._progress = self._ended(progress)
            self._next(record.at_s + ends_s)
        return self._progress

    def _ended(self, progress: BenchProgress) -> BenchProgress:
        ended = progress.ended | ({progress.run} if progress.run is not None else set())
        return replace(progress, done=progress.done + 1, ended=ended, last_s=self._reader.now_s())

    def _keep(self, record: RunRecord, samples: tuple[RunSample, ...]) -> None:
        number = 1 + max(self._runs, default=0)
        self._runs[number] = (replace(record, id=number), samples)

    def _next(self, at_s: float | None = None) -> None:
        """Begin the next run, or end the benchmark."""
        progress, schedule = self._progress, self._schedule
        if progress is None or schedule is None:
            return
        if not self._left:
            self._put_back()
            self._progress = replace(progress, state=JobState.DONE)
            return
        run = self._left.pop(0)
        if reason := self._set(schedule, run):
            self._put_back()
            self._progress = replace(progress, state=JobState.FAILED, reason=reason)
            return
        record = begun(self._reader, schedule, run, progress.job)
        record = record if at_s is None else replace(record, at_s=at_s)
        if record.work is not None:
            self._rate = rate_of(self._reader, schedule.place, record.work, key=_key(record))
        self._progress = replace(progress, run=run.number, record=record, samples=())

    def _set(self, schedule: Schedule, run: Run) -> str:
        """Set the knobs of a run, from their values before the benchmark; return why that failed, or ""."""
        self._put_back()
        for _, _, plan in schedule.knobs_at(run.point):
            for step in plan.steps if plan is not None else ():
                if reason := do_step(self._reader, step, lambda _: None):
                    return f"{step.command}: {reason}"
                self._undo[:0] = step.undo
        return ""

    def _put_back(self) -> None:
        """Give the knobs their values from before."""
        for step in self._undo:
            do_step(self._reader, step, lambda _: None)
        self._undo.clear()


def _key(record: RunRecord) -> str:
    return f"{record.job} {record.number}"


_PACE_S = 0.25
_EACH_S = 1.0


def play(reader: HostReader, offer: Offer, tell: Callable[[str], None]) -> Sequence[RunRecord]:
    """Play a benchmark to its end, or until it is interrupted; return its runs.

    Args:
        reader: the demo host.
        offer: what is played.
        tell: called with each line that is shown meanwhile.

    Raises:
        JobError: it cannot be begun, or it failed.
    """
    played = PlayedBench(cast("DemoReader", reader))
    kept = {record.id for record in played.history().records}
    if why := played.begin(offer.schedule):
        raise JobError(f"not possible: {why}")
    told = (-1, 0.0)
    try:
        while (progress := played.look()) is not None and progress.works and progress.record is not None:
            number = progress.record.number
            if number != told[0]:
                tell(f"{number + 1:>4} of {progress.of}   {progress.record.words}")
                told = (number, 0.0)
            if progress.samples and progress.samples[-1].t_s >= told[1] + _EACH_S:
                tell(f"            {sample_words(progress.samples[-1])}")
                told = (number, progress.samples[-1].t_s)
            time.sleep(_PACE_S)
    except KeyboardInterrupt:
        played.stop()
    if progress is not None and progress.reason:
        raise JobError(progress.reason)
    return tuple(record for record in played.history().records if record.id not in kept)
