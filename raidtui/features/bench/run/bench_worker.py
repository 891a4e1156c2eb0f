"""The worker of a benchmark: carries out a schedule in a process that outlives the terminal.

The result of a run is in the history before the next run starts, and a change is in a journal before it is
made. A benchmark that is killed leaves figures up to its last sample; the next start puts its changes back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.bench.caches import CacheWatch
from raidtui.features.bench.environment import Wear, noise, read_wear, with_wear
from raidtui.features.bench.jobfile import judge_job_file
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import NOT_STEADY, WHOLE, RunRecord, RunSample
from raidtui.features.bench.results.run_statistics import steadiness
from raidtui.features.bench.results.run_store import Results, ResultsError
from raidtui.features.bench.run.bench_progress import Line, LiveFile, last_run, read_live
from raidtui.features.bench.run.changes import ChangeError, Changes, StuckError
from raidtui.features.bench.run.fio_process import read_fio_version
from raidtui.features.bench.run.measure import begun_record, measure, partial_record
from raidtui.features.bench.run.stage import Stage, StageError
from raidtui.features.bench.schedule import Run, Schedule, decode_schedule, point_words
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import SCHEDULE_FILE
from raidtui.jobs.lock import JobError, only_worker
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.jobs.worker import CostMeasure, JobWorker, status_of
from raidtui.model.plan import Refusal
from raidtui.view.units import counted

Measuring = Callable[[Schedule], CostMeasure]


class BenchWorker(JobWorker):
    """Works on one benchmark.

    Args:
        reader: the host.
        job: the job.
        measuring: makes what measures what a schedule costs its disks.
    """

    def __init__(self, reader: HostReader, job: Job, measuring: Measuring | None = None) -> None:
        super().__init__(reader, job)
        self._measuring = measuring
        self._fio = ""

    def work(self) -> JobState:
        """Do the remaining runs; return the final state: done, failed, cancelled or stuck.

        Raises:
            JobError: another job is running, or the schedule cannot be read.
        """
        with only_worker(self._job.folder.parent, self._job.id):
            self._listen()
            schedule = schedule_of(self._job)
            self._job.keep_room()
            self._cancelled |= self._job.note_work()
            stage = Stage(self._reader, self._job, schedule, self._stopped)
            cost = self._measuring(schedule) if self._measuring is not None and schedule.place.disks else None
            if cost is not None:
                cost.before()
            state, reason = self._guarded(lambda: self._go_through(schedule, stage))
            ended, trouble = self._guarded(stage.close)
            if cost is not None and (words := cost.after()):
                self._job.note(event="cost", text=words)
            if ended != JobState.DONE:
                state, reason = ended, "; ".join(text for text in (reason, trouble) if text)
            return self._end(state, reason=reason)

    def put_back(self, *, settle: bool = False) -> JobState:
        """Put back what an earlier worker left, keep its results so far, and return the final state.

        Args:
            settle: whether to note what cannot be put back and leave it as it is, so that this benchmark
                does not block later ones.

        Raises:
            JobError: another job is running; or, without ``settle``, the schedule cannot be read.
        """
        with only_worker(self._job.folder.parent, self._job.id):
            if settle:
                return self._settle()
            schedule = schedule_of(self._job)
            self._job.keep_room()
            self._job.note_work(back=True)
            stage = Stage(self._reader, self._job, schedule, self._stopped)
            state, reason = self._guarded(self._keep_rest)
            ended, trouble = self._guarded(stage.leave)
            if ended == JobState.STUCK or state == JobState.DONE:
                state, reason = ended, trouble
            return self._end(JobState.ROLLED_BACK if state == JobState.DONE else state, reason=reason)

    def _settle(self) -> JobState:
        """Undo what is possible, note the rest, and end in any case."""
        with contextlib.suppress(JobError):  # a journal that takes one line more is all that this needs
            self._job.keep_room()
        self._job.note_work(back=True)
        left: list[str] = []

        def rest() -> None:
            try:
                stage = Stage(self._reader, self._job, schedule_of(self._job), self._stopped)
            except JobError as error:
                changes = Changes(self._reader, self._job.folder).take_back_rest(settle=True)
                for title in changes.back:
                    self._job.note(event="put back", title=title)
                left.extend((*changes.left, f"its files, if any: {error}"))
            else:
                left.extend(stage.take_back_rest(settle=True))
                left.extend(why for why in (stage.remove_folder(),) if why)

        kept, why = self._guarded(self._keep_rest)
        ended, trouble = self._guarded(rest)
        left += [f"its results so far are not kept: {why}"] if kept != JobState.DONE else []
        left += [trouble] if ended != JobState.DONE else []
        for text in left:
            self._job.note(event="left", text=text)
        if left:
            return self._end(JobState.FAILED, reason=f"not put back: {'; '.join(left)}")
        return self._end(JobState.ROLLED_BACK, reason="")

    def _guarded(self, part: Callable[[], tuple[JobState, str] | None]) -> tuple[JobState, str]:
        """Carry out a part; return (state, reason), also where it raises; of one that returns None done."""
        try:
            return part() or (JobState.DONE, "")
        except StuckError as error:
            return JobState.STUCK, str(error)
        except (StageError, ChangeError, ResultsError, JobError) as error:
            return JobState.FAILED, str(error)
        except OSError as error:
            return JobState.FAILED, f"{error.filename or 'fio'}: {error.strerror}"

    def _go_through(self, schedule: Schedule, stage: Stage) -> tuple[JobState, str]:
        self._keep_rest()
        schedule = _judged(schedule)
        stage.open()
        version = read_fio_version(self._reader).value
        self._fio = ".".join(map(str, version)) if version else ""
        with Results() as results, contextlib.closing(LiveFile(self._job.folder)) as live:
            before = read_wear(self._reader, schedule.place.disks)
            state, reason = self._runs(schedule, stage, results, live)
            if before:
                self._add_wear(results, before, read_wear(self._reader, schedule.place.disks))
        return state, reason

    def _runs(
        self, schedule: Schedule, stage: Stage, results: Results, live: LiveFile
    ) -> tuple[JobState, str]:
        kept = {record.number: record for record in results.of_job(self._job.id) if record.state == WHOLE}
        runs = schedule.runs()
        rounds: dict[str, list[float]] = {}
        for run in runs:
            series = rounds.setdefault(point_words(run.point), [])
            if schedule.conditions.steady and steadiness(series).steady:
                self._mark_steady(results, run.point)
                continue
            if run.number in kept:
                series.append(kept[run.number].iops)
                continue
            if self._cancelled:
                return JobState.CANCELLED, f"stopped before run {run.number + 1} of {len(runs)}"
            place = stage.set_for(run)
            if self._cancelled:
                return JobState.CANCELLED, f"stopped before run {run.number + 1} of {len(runs)}"
            record = self._measure(schedule, stage, run, place, live)
            series.append(record[0].iops)
            steady = steadiness(series)
            made = record[0]
            if schedule.conditions.steady:
                made = replace(made, steady=steady.sentence, unsteady=not steady.steady)
            results.add(made, record[1], record[2])
            if schedule.conditions.steady and steady.steady:
                self._mark_steady(results, run.point)
            self._note_run(made)
            if made.state != WHOLE:
                asked = JobState.CANCELLED if self._cancelled else JobState.FAILED
                return asked, f"run {run.number + 1} of {len(runs)}: {made.reason}"
        return _ended(rounds) if schedule.conditions.steady else (JobState.DONE, "")

    def _mark_steady(self, results: Results, point: dict[str, str]) -> None:
        """Mark all rounds of a point as steady once the last five are."""
        for record in results.of_job(self._job.id):
            if record.unsteady and record.point == point:
                results.update(replace(record, unsteady=False))

    def _measure(
        self, schedule: Schedule, stage: Stage, run: Run, place: Place, live: LiveFile
    ) -> tuple[RunRecord, list[RunSample], bytes]:
        """Run fio once; return its record, samples and JSON."""
        watch = CacheWatch(self._reader, place)
        record = begun_record(
            self._reader, self._job.id, schedule, run, place=place, fio=self._fio, watch=watch
        )
        if schedule.conditions.quiet_check and (found := noise(self._reader, place, looks=1)):
            remarks = f"The machine was not quiet when the run started: {', '.join(found)}."
            self._job.note(event="output", text=remarks)
            record = replace(record, remarks=(*record.remarks, remarks))
        self._job.note(event="run", run=run.number, of=len(schedule.runs()), words=record.words)
        live.write(Line(begins=record))
        work, file = record.work, schedule.job_file
        files = (
            work.size_bytes if work is not None else 0,
            (file.size_bytes or 0) if file is not None else 0,
        )
        writes = work is not None and work.writes and place.writes
        sandbox = stage.sandbox(writes=writes, file_bytes=max(files), calls=work is None)
        return measure(
            self._reader,
            record,
            place,
            stage.folder,
            sandbox=sandbox,
            watch=watch,
            live=live.write,
            stopped=self._stopped,
        )

    def _note_run(self, record: RunRecord) -> None:
        caches = [each.line for each in record.caches]
        self._job.note(
            event="run done",
            run=record.number,
            state=record.state,
            figures=record.figures,
            **({"steady": not record.unsteady, "round": record.steady} if record.steady else {}),
            **({"short": record.short} if record.short else {}),
            **({"caches": caches} if caches else {}),
            **({"reason": record.reason} if record.reason else {}),
        )

    def _keep_rest(self) -> None:
        """Keep the run during which an earlier worker was killed, from its samples."""
        lines, _ = read_live(self._job.folder)
        record, samples, seen = last_run(lines)
        if record is None or not samples:
            return
        with Results() as results:
            if any(each.number == record.number for each in results.of_job(self._job.id)):
                return
            made = partial_record(record, samples, seen)
            results.add(made, samples)
        self._note_run(made)

    def _add_wear(self, results: Results, before: dict[str, Wear], after: dict[str, Wear]) -> None:
        for record in results.of_job(self._job.id):
            results.update(replace(record, environment=with_wear(record.environment, before, after)))

    def _stopped(self) -> bool:
        return self._cancelled


def _judged(schedule: Schedule) -> Schedule:
    """Return a schedule whose job file was judged right now: what was stored may be of an older version.

    Raises:
        StageError: it is refused.
    """
    if schedule.job_file is None:
        return schedule
    file = judge_job_file(schedule.job_file.name, schedule.job_file.text)
    if isinstance(file, Refusal):
        raise StageError(file.sentence)
    return replace(schedule, job_file=file)


def _ended(rounds: dict[str, list[float]]) -> tuple[JobState, str]:
    """Return the final state of rounds that run until they are steady: failed where some never are."""
    never = [
        f"{point + ': ' if point else ''}after {counted(len(values), 'round')}, {found.numbers}"
        for point, values in rounds.items()
        if not (found := steadiness(values)).steady
    ]
    return (JobState.FAILED, f"{NOT_STEADY}: {'; '.join(never)}") if never else (JobState.DONE, "")


def schedule_of(job: Job) -> Schedule:
    """Return what a benchmark's job does.

    Raises:
        JobError: it cannot be read.
    """
    try:
        return decode_schedule((job.folder / SCHEDULE_FILE).read_bytes())
    except OSError as error:
        raise JobError(f"job {job.id} has no schedule: {error.strerror}") from error


def bench_on(
    reader: HostReader,
    folder: Path,
    *,
    back: bool = False,
    settle: bool = False,
    measuring: Measuring | None = None,
) -> int:
    """Run a worker in this process; return the exit status: 0 done, 1 not, 75 another job is running."""
    job = Job(folder)
    worker = BenchWorker(reader, job, measuring)
    work = partial(worker.put_back, settle=settle) if back else worker.work
    return status_of(job, work, JobState.ROLLED_BACK if back else JobState.DONE)
