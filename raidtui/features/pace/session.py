"""Pacing syncs from the screen: how it is begun and ended."""

from __future__ import annotations

from raidtui.features.pace.pace_job import begin_pacing, stop_pacing
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.model.array import Array
from raidtui.model.pace import PaceNews, PaceRequest
from raidtui.model.plan import Plan
from raidtui.plans.pace_plan import paced_array

_WORDS = 2


def typed_request(array: Array, text: str, now_s: float) -> PaceRequest | str:
    """Return what a typed line asks for: ``20``, or ``20 24`` (ms, and hours until the end); or why not."""
    words = text.replace(",", ".").split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if not 0 < len(numbers) <= _WORDS or not all(0 < number < 1e6 for number in numbers):
        return f"{text or 'nothing'}: type the milliseconds, and if the sync has to end, in how many hours"
    by_s = now_s + 3600 * numbers[1] if len(numbers) == _WORDS else None
    return PaceRequest(arrays=(paced_array(array),), latency_ms=numbers[0], by_s=by_s)


def start_pacing(reader: HostReader, plan: Plan, request: PaceRequest) -> str:
    """Make a job of a pacing, start its worker, and return the job's id.

    Raises:
        JobError: the array is paced, the host is not live, or the job cannot be kept.
    """
    if not reader.live:
        raise JobError("a simulated or captured host is never changed")
    return begin_pacing(reader, plan, request).id


def end_pacing(news: PaceNews) -> str:
    """End a pacing; return why it has not ended, or ""."""
    return stop_pacing(news)
