"""A pacing as a job: it outlives the terminal, and leaves other jobs their turn."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from raidtui.features.pace.pacing import Pacing
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.job_kinds import PACE_FILE
from raidtui.jobs.lock import JobError, process_of, started_s
from raidtui.jobs.pace_news import paced_now
from raidtui.jobs.spawn import begin_with
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.jobs.undo_record import UndoRecord, open_record
from raidtui.jobs.worker import Worker
from raidtui.model.pace import PacedArray, PaceNews, PaceRequest
from raidtui.model.plan import Plan

_END_S = 20.0


def begin_pacing(reader: HostReader, plan: Plan, request: PaceRequest) -> Job:
    """Make a job of a pacing, and start its worker. Other jobs may run meanwhile.

    Raises:
        JobError: one of the arrays is paced, the job cannot be kept, or its worker cannot be started.
    """
    refuse_paced(reader, request)
    data = msgspec.json.encode(request)
    return begin_with(plan, host=reader.hostname or "", name=PACE_FILE, data=data)


def refuse_paced(reader: HostReader, request: PaceRequest) -> None:
    """Refuse a second pacing of one array.

    Raises:
        JobError: one of the arrays is paced.
    """
    for news in paced_now(reader):
        if news.array in request.arrays:
            how = f"raidtui pace --stop {news.array.name}"
            raise JobError(f"{news.array.title} is paced already by process {news.pid}; to end that: {how}")


def pace_here(
    reader: HostReader,
    request: PaceRequest,
    say: Callable[[str], None],
    ended: Callable[[], bool],
    job: str = "",
) -> str:
    """Pace in this process until that is to end; return why arrays were left alone, or ""."""
    record = open_record(reader)
    return Pacing(reader, record, request, say, _news_of(record, request, job)).run(ended)


def _news_of(record: UndoRecord, request: PaceRequest, job: str) -> Callable[[PacedArray], PaceNews]:
    begun_s = started_s() or 0.0

    def news(array: PacedArray) -> PaceNews:
        return PaceNews(
            boot=record.boot,
            pid=os.getpid(),
            started_s=begun_s,
            at_s=0.0,
            array=array,
            target_ms=request.latency_ms,
            by_s=request.by_s,
            job=job,
        )

    return news


def is_pacing(job: Job) -> bool:
    """Whether a job paces syncs."""
    return (job.folder / PACE_FILE).is_file()


class PaceWorker(Worker):
    """Works on a pacing. It does not take the lock of jobs: nothing of storage is changed."""

    def work(self) -> JobState:
        """Pace; return the state that the job ends in.

        Raises:
            JobError: the request cannot be read.
        """
        self._listen()
        request = self._job.kept(PACE_FILE, PaceRequest)
        with self._job.following():
            self._cancelled |= self._job.note_work()
            left = pace_here(
                self._reader,
                request,
                lambda text: self._job.note(event="output", text=text),
                lambda: self._cancelled,
                self._job.id,
            )
            if left:
                return self._end(JobState.FAILED, reason=left)
            return self._end(JobState.CANCELLED if self._cancelled else JobState.DONE)


def stop_pacing(news: PaceNews) -> str:
    """End the process that paces an array; return why it has not ended, or ""."""
    import psutil  # noqa: PLC0415  (only who ends one needs it)

    process = process_of(news.pid, news.started_s, news.boot)
    if process is None:
        return ""
    try:
        process.terminate()
        process.wait(_END_S)
    except psutil.NoSuchProcess:
        return ""
    except psutil.AccessDenied:
        return f"process {news.pid} cannot be ended: it is another user's"
    except psutil.TimeoutExpired:
        return f"process {news.pid} was asked to end, and has not within {_END_S:.0f} s"
    return ""
