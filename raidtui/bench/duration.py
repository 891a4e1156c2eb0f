"""About how long a course takes: all of it before it begins, and what is left of it as it goes on. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.bench.cost import GUESSED_BYTES_S
from raidtui.bench.course import Course
from raidtui.bench.workload import Workload
from raidtui.view.units import duration

GUESSED_REQUEST_S = 0.0001
_AT_A_TIME = 8
"""What a request to a SATA SSD is taken to last, and how many it does at a time: nobody knows before."""
_QUIET_S = 1.0


class Lasting(Struct, frozen=True, kw_only=True):
    """How long a course takes, or still takes.

    Args:
        seconds: what makes arrays and trims is left out.
        guessed: whether a part ends when a size is done, and speeds were assumed.
        known: whether it is known at all: a job file's own time is not.
        at_most: whether it may be less: rounds end when they are steady.
    """

    seconds: float
    guessed: bool = False
    known: bool = True
    at_most: bool = False

    @property
    def words(self) -> str:
        """About 4 min, or at most about 4 min; "" where it is not known."""
        if not self.known:
            return ""
        return f"{'at most ' if self.at_most else ''}about {duration(max(1.0, self.seconds))}"

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        if not self.known:
            return "How long it takes is not known: the job file decides."
        words = f"{self.words[0].upper()}{self.words[1:]}"
        return f"{words}, if this is as fast as usual SATA SSDs." if self.guessed else f"{words}."


class Expected(Struct, frozen=True, kw_only=True):
    """How long each run of a course is taken to last, what is done before it along.

    Args:
        each_s: by the runs' numbers.
        guessed, known, at_most: as in ``Lasting``.
    """

    each_s: tuple[float, ...]
    guessed: bool = False
    known: bool = True
    at_most: bool = False


class Done(Struct, frozen=True, kw_only=True):
    """How far a course is.

    Args:
        ended: the numbers of the runs that have ended.
        spent_s: how long these took, with all that was done around them.
        at: the number of the run that is under way, or was last; those before it come no more.
        at_s: how long it has been measured.
    """

    ended: frozenset[int] = frozenset()
    spent_s: float = 0.0
    at: int = 0
    at_s: float = 0.0


def expect(course: Course) -> Expected:
    """Return about how long each run of a course takes."""
    each_s: list[float] = []
    guessed, known = False, True
    laid_out: set[str] = set()
    for run in course.runs():
        seconds = course.conditions.cool_s + (_QUIET_S if course.conditions.quiet_check else 0.0)
        work = course.work_at(run.point)
        if work is None:
            known = False
            each_s.append(seconds)
            continue
        seconds += _run_s(work)
        guessed = guessed or not work.runtime_s
        scratch = course.scratch_at(run.point)
        key = "" if scratch is None else f"{run.repeat} {scratch}"
        if course.lays_out and key not in laid_out:
            laid_out.add(key)
            seconds += course.region_bytes(work) * max(1, course.conditions.precondition) / GUESSED_BYTES_S
            guessed = True
        each_s.append(seconds)
    return Expected(each_s=tuple(each_s), guessed=guessed, known=known, at_most=course.conditions.steady)


def lasting(expected: Expected, done: Done | None = None) -> Lasting:
    """Return how long a course takes; with ``done`` how long it still takes, by how long its runs took."""
    done = done or Done()
    each_s = expected.each_s
    coming = [number for number in range(done.at, len(each_s)) if number not in done.ended]
    seconds, guessed, known = sum(each_s[number] for number in coming), expected.guessed, expected.known
    if done.ended:
        planned_s = sum(each_s[number] for number in done.ended if number < len(each_s))
        if not known:
            seconds, known = done.spent_s / len(done.ended) * len(coming), True
        elif planned_s > 0:
            seconds *= done.spent_s / planned_s
        guessed = False
    running_s = done.at_s if done.at not in done.ended else 0.0
    return Lasting(
        seconds=max(0.0, seconds - running_s), guessed=guessed, known=known, at_most=expected.at_most
    )


def estimate_duration(course: Course) -> Lasting:
    """Return about how long a course takes."""
    return lasting(expect(course))


def _run_s(work: Workload) -> float:
    if work.runtime_s:
        return work.runtime_s + work.ramp_s
    one_by_one_s = work.total_bytes / work.block_bytes * GUESSED_REQUEST_S
    return max(work.total_bytes / GUESSED_BYTES_S, one_by_one_s / min(_AT_A_TIME, work.depth * work.jobs))
