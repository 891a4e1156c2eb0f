"""Follow the newest benchmark, whoever started it: its state, its last figures, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.estimate import ExpectedRuns, RunsDone, RunTime, expected_runs, time_left
from raidtui.features.bench.results.run_record import RunRecord, RunSample
from raidtui.features.bench.run.bench_jobs import News, bench_jobs, news
from raidtui.features.bench.run.bench_worker import schedule_of
from raidtui.features.bench.run.live_file import Line
from raidtui.features.bench.surroundings import Surroundings
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import FINAL
from raidtui.jobs.store import Job

_WORKS = frozenset({"made", "running"})
_BEGIN_S = 20.0
_SILENT_S = 5.0
"""How long fio may report nothing, which it does four times a second, before that is mentioned."""


class BenchProgress(Struct, frozen=True, kw_only=True):
    """The state of a benchmark as last read.

    Args:
        job: its id.
        title, place: of its schedule; the place is a folder, a device's path, or scratch devices.
        of: how many runs it has; with ``open_end`` these are the most.
        open_end: whether rounds end as soon as they are steady.
        state: as ``Job.state``.
        reason: why it ended so, or why it did not begin.
        doing: what is done between the runs now: trimming, waiting, building an array; "" in a run.
        run: the run under way, from 0; None before the first one.
        record: that run as it began.
        samples: of that run, since fio last reset its counters.
        surroundings: its last reading; None before the first.
        done: how many runs have ended.
        steady: the steady state after the last round; None if it is not requested.
        ended: the numbers of those that have ended since its worker began.
        expected: how long its runs were taken to last; None where its schedule cannot be read.
        first_s, last_s: epoch seconds at which its worker began and the last run ended.
        ramp_s: how long the ramp of the present run was.
        behind_s: how much later than fio's last report the surroundings were read, by the worker's clock:
            they are read on where fio hangs.
        unheard_s: seconds since the last sign of the worker, by the clock of the follower.
    """

    job: str
    title: str
    place: str
    of: int
    open_end: bool = False
    state: str = "made"
    reason: str = ""
    doing: str = ""
    run: int | None = None
    record: RunRecord | None = None
    samples: tuple[RunSample, ...] = ()
    surroundings: Surroundings | None = None
    done: int = 0
    steady: bool | None = None
    ended: frozenset[int] = frozenset()
    expected: ExpectedRuns | None = None
    first_s: float | None = None
    last_s: float | None = None
    ramp_s: float = 0.0
    behind_s: float = 0.0
    unheard_s: float = 0.0

    @property
    def works(self) -> bool:
        """Whether it is running or about to start."""
        return self.state in _WORKS

    @property
    def silent_s(self) -> float | None:
        """For how long fio has reported nothing in a run, where that is unusually long; None otherwise."""
        silent_s = self.behind_s + self.unheard_s
        in_run = self.state == "running" and self.record is not None and not self.doing
        return silent_s if in_run and silent_s >= _SILENT_S else None

    @property
    def left(self) -> RunTime | None:
        """The remaining time, from the estimate of the review and the runs that have finished.

        None where nothing is expected, or fio reports nothing.
        """
        if self.expected is None or self.silent_s is not None:
            return None
        spent_s = (self.last_s or 0.0) - (self.first_s or 0.0) if self.ended else 0.0
        at_s = self.ramp_s + (self.samples[-1].t_s if self.samples else 0.0)
        done = RunsDone(ended=self.ended, spent_s=max(0.0, spent_s), at=self.run or 0, at_s=at_s)
        return time_left(self.expected, done)


def follow(before: BenchProgress, found: News) -> BenchProgress:
    """Return the state after further entries. Pure."""
    after = before
    for entry in found.entries:
        after = _with_entry(after, entry)
    for line in found.lines:
        after = _with_line(after, line)
    state = after.state if after.state == "not begun" else found.state
    return replace(after, state=state)


def _with_entry(progress: BenchProgress, entry: Mapping[str, Any]) -> BenchProgress:
    event, at_s = entry.get("event"), entry.get("at_s")
    at_s = float(at_s) if isinstance(at_s, int | float) else None
    if event == "work":
        return replace(progress, state="running", reason="", doing="", first_s=at_s, ended=frozenset())
    if event == "run":
        number, of = entry.get("run"), entry.get("of")
        return replace(
            progress,
            doing="",
            run=number if isinstance(number, int) else progress.run,
            of=of if isinstance(of, int) else progress.of,
        )
    if event == "run done":
        steady = entry.get("steady")
        return replace(
            progress,
            done=progress.done + 1,
            ended=progress.ended | {entry["run"]} if isinstance(entry.get("run"), int) else progress.ended,
            last_s=at_s,
            steady=steady if isinstance(steady, bool) else None,
        )
    if event in {"change", "put back", "doing"}:
        word = "putting back: " if event == "put back" else ""
        return replace(progress, doing=f"{word}{entry.get('title', '')}")
    if event in FINAL or event == "not begun":
        return replace(progress, state=str(event), reason=str(entry.get("reason", "")), doing="")
    return progress


def _with_line(progress: BenchProgress, line: Line) -> BenchProgress:
    if line.begins is not None:
        progress = replace(
            progress, record=line.begins, samples=(), surroundings=None, ramp_s=0.0, behind_s=0.0
        )
    if line.surroundings is not None:
        last_s = progress.samples[-1].t_s if progress.samples else 0.0
        behind_s = max(0.0, line.surroundings.t_s - last_s)
        progress = replace(progress, surroundings=line.surroundings, behind_s=behind_s)
    if line.sample is not None:
        if line.sample.anew:
            progress = replace(
                progress, ramp_s=progress.samples[-1].t_s if progress.samples else 0.0, samples=()
            )
        progress = replace(progress, samples=(*progress.samples, line.sample), behind_s=0.0)
    return progress


class ProgressWatcher:
    """Follows the newest benchmark. Not thread-safe."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._seen = 0
        self._offset = 0
        self._found_s = self._heard_s = 0.0
        self._progress: BenchProgress | None = None

    def look(self) -> BenchProgress | None:
        """Return the newest benchmark as it is now; None if there is no benchmark."""
        if self._progress is None or self._progress.state != "running":
            self._find()
        if self._job is None or self._progress is None:
            return None
        found = news(self._job, self._seen, self._offset)
        self._seen += len(found.entries)
        self._offset = found.offset
        now_s = time.monotonic()
        if found.entries or found.lines or found.state != "running":
            self._heard_s = now_s
        self._progress = replace(follow(self._progress, found), unheard_s=now_s - self._heard_s)
        if found.state == "made" and now_s - self._found_s > _BEGIN_S:
            self._progress = replace(self._progress, state="not begun", reason="its worker never started")
        return self._progress

    def _find(self) -> None:
        jobs = bench_jobs()
        if not jobs:
            self._job = self._progress = None
        elif self._job is None or self._job.id != jobs[-1].id:
            self._job, self._seen, self._offset = jobs[-1], 0, 0
            self._progress, self._found_s = _unseen(jobs[-1]), time.monotonic()
            self._heard_s = self._found_s


def _unseen(job: Job) -> BenchProgress:
    """Return the state of a benchmark before anything of it was read."""
    try:
        schedule = schedule_of(job)
    except JobError as error:  # of another version, or damaged
        return BenchProgress(job=job.id, title="", place="", of=0, reason=str(error))
    return BenchProgress(
        job=job.id,
        title=schedule.title,
        place=schedule.place.words,
        of=len(schedule.runs()),
        open_end=schedule.conditions.steady,
        expected=expected_runs(schedule),
    )
