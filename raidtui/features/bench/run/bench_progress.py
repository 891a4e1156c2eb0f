"""How a benchmark continues: the live samples in its folder, and the progress that they and its journal tell.

The live samples are JSON lines, written by the worker and read by those that follow it: the record of a run
as it starts, then its samples, and between them its surroundings. They are not synced: they survive when the
worker is killed, and do not disturb the measurement.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.estimate import ExpectedRuns, RunTime, time_left
from raidtui.features.bench.results.run_record import RunRecord, RunSample, with_new_names
from raidtui.features.bench.telemetry import Telemetry
from raidtui.jobs.state_files import append_to
from raidtui.jobs.states import FINAL, JobState

_WORKS = frozenset({JobState.MADE, JobState.RUNNING})
_SILENT_S = 5.0
"""How long fio may report nothing, which it does four times a second, before that is mentioned."""


NAME = "live.jsonl"


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: a run that starts, or a sample or the surroundings of the run before it."""

    begins: RunRecord | None = None
    sample: RunSample | None = None
    telemetry: Telemetry | None = None


class LiveFile:
    """Appends to the file; errors are ignored.

    Args:
        folder: the benchmark's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file = append_to(self._path)

    def write(self, line: Line) -> None:
        """Write a line; threads may do so at the same time."""
        with contextlib.suppress(OSError):
            self._file.write(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_live(folder: Path, offset: int = 0) -> tuple[list[Line], int]:
    """Return the lines from an offset on, and the offset for the next call.

    A last line without a newline is left for the next call; a damaged line is skipped.
    """
    try:
        with (folder / NAME).open("rb") as file:
            file.seek(offset)
            data = file.read()
    except OSError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    found = []
    for text in whole.split(b"\n"):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.append(msgspec.json.decode(with_new_names(text), type=Line))
    return found, offset + len(whole)


def last_run(lines: Sequence[Line]) -> tuple[RunRecord | None, list[RunSample], list[Telemetry]]:
    """Return the last run that was started, and its samples and surroundings since fio reset its counters."""
    record: RunRecord | None = None
    samples: list[RunSample] = []
    seen: list[Telemetry] = []
    for line in lines:
        if line.begins is not None or (line.sample is not None and line.sample.anew):
            record, samples, seen = line.begins or record, [], []
        if line.sample is not None:
            samples.append(line.sample)
        if line.telemetry is not None:
            seen.append(line.telemetry)
    return record, samples, seen


class News(Struct, frozen=True, kw_only=True):
    """What a benchmark has noted since it was last read.

    Args:
        entries: of its journal.
        lines: of its live samples.
        offset: where to read the live samples from next time.
        state: as ``Job.state``.
    """

    entries: tuple[Mapping[str, Any], ...]
    lines: tuple[Line, ...]
    offset: int
    state: str


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
        telemetry: its last reading; None before the first.
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
    state: str = JobState.MADE
    reason: str = ""
    doing: str = ""
    run: int | None = None
    record: RunRecord | None = None
    samples: tuple[RunSample, ...] = ()
    telemetry: Telemetry | None = None
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
        in_run = self.state == JobState.RUNNING and self.record is not None and not self.doing
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
        spent_s = max(0.0, spent_s)
        return time_left(self.expected, ended=self.ended, spent_s=spent_s, at=self.run or 0, at_s=at_s)


def with_news(before: BenchProgress, found: News) -> BenchProgress:
    """Return the state after further entries. Pure."""
    after = before
    for entry in found.entries:
        after = _with_entry(after, entry)
    for line in found.lines:
        after = _with_line(after, line)
    state = after.state if after.state == JobState.NOT_BEGUN else found.state
    return replace(after, state=state)


def _with_entry(progress: BenchProgress, entry: Mapping[str, Any]) -> BenchProgress:
    event, at_s = entry.get("event"), entry.get("at_s")
    at_s = float(at_s) if isinstance(at_s, int | float) else None
    if event == "work":
        return replace(progress, state=JobState.RUNNING, reason="", doing="", first_s=at_s, ended=frozenset())
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
    if event in FINAL:
        return replace(progress, state=str(event), reason=str(entry.get("reason", "")), doing="")
    return progress


def _with_line(progress: BenchProgress, line: Line) -> BenchProgress:
    if line.begins is not None:
        progress = replace(progress, record=line.begins, samples=(), telemetry=None, ramp_s=0.0, behind_s=0.0)
    if line.telemetry is not None:
        last_s = progress.samples[-1].t_s if progress.samples else 0.0
        behind_s = max(0.0, line.telemetry.t_s - last_s)
        progress = replace(progress, telemetry=line.telemetry, behind_s=behind_s)
    if line.sample is not None:
        if line.sample.anew:
            progress = replace(
                progress, ramp_s=progress.samples[-1].t_s if progress.samples else 0.0, samples=()
            )
        progress = replace(progress, samples=(*progress.samples, line.sample), behind_s=0.0)
    return progress
