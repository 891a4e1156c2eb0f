"""About how long a course takes: estimated before it begins. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.bench.cost import GUESSED_BYTES_S
from raidtui.bench.course import Course
from raidtui.bench.workload import Workload
from raidtui.model.units import duration

GUESSED_REQUEST_S = 0.0001
_AT_A_TIME = 8
"""What a request to a SATA SSD is taken to last, and how many it does at a time: nobody knows before."""


class Lasting(Struct, frozen=True, kw_only=True):
    """How long a course takes.

    Args:
        seconds: all of it; what makes arrays and trims is left out.
        guessed: whether a part ends when a size is done, and speeds were assumed.
        known: whether it is known at all: a job file's own time is not.
        at_most: whether it may be less: rounds end when they are steady.
    """

    seconds: float
    guessed: bool = False
    known: bool = True
    at_most: bool = False

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.known:
            return "How long it takes is not known: the job file decides."
        how = "At most about" if self.at_most else "About"
        words = duration(max(1.0, self.seconds))
        if not self.guessed:
            return f"{how} {words}."
        return f"{how} {words}, if this is as fast as usual SATA SSDs."


def estimate_duration(course: Course) -> Lasting:
    """Return about how long a course takes."""
    total, guessed, known = 0.0, False, True
    laid_out: set[str] = set()
    for run in course.runs():
        total += course.conditions.cool_s
        work = course.work_at(run.point)
        if work is None:
            known = False
            continue
        total += _run_s(work)
        guessed = guessed or not work.runtime_s
        scratch = course.scratch_at(run.point)
        key = "" if scratch is None else f"{run.repeat} {scratch}"
        if course.lays_out and key not in laid_out:
            laid_out.add(key)
            total += course.region_bytes(work) * max(1, course.conditions.precondition) / GUESSED_BYTES_S
            guessed = True
    return Lasting(seconds=total, guessed=guessed, known=known, at_most=course.conditions.steady)


def _run_s(work: Workload) -> float:
    if work.runtime_s:
        return work.runtime_s + work.ramp_s
    one_by_one_s = work.total_bytes / work.block_bytes * GUESSED_REQUEST_S
    return max(work.total_bytes / GUESSED_BYTES_S, one_by_one_s / min(_AT_A_TIME, work.depth * work.jobs))
