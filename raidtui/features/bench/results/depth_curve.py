"""Figures against the number of requests in flight, and from where on more of them gain little. Pure.

The knee is the least depth of which no larger one gives 10 % more, by the medians: a single dip is no knee.
In each run, rate times latency is the number in flight (Little's law): where it is not, fio's own thread may
be the limit.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.results.compare import Series
from raidtui.features.bench.schedule import AxisKind, point_words
from raidtui.view.units import joined

_GAIN = 0.10
_LITTLE = 0.02


class DepthPoint(Struct, frozen=True, kw_only=True):
    """Medians of the runs at one depth.

    Args:
        flight: requests in flight, of all jobs.
        p99_ns: None where fio did not measure it.
        little: rate times mean latency as a part of what was in flight; None where that is not known.
    """

    flight: int
    iops: float
    p99_ns: float | None
    little: float | None

    @property
    def follows_little(self) -> bool:
        """Whether rate times latency is what was in flight, within 2 %; true where that is not known."""
        return self.little is None or abs(self.little - 1) <= _LITTLE


class DepthCurve(Struct, frozen=True, kw_only=True):
    """One workload at several depths, the least first.

    Args:
        label: what else its points have in common; "" for nothing.
        runs: how many runs of a depth there are at least.
        knee: from so many in flight on, more of them gain little; None where that is not known.
    """

    label: str
    runs: int
    points: tuple[DepthPoint, ...]
    knee: int | None

    @property
    def sentence(self) -> str:
        """The knee, and which points do not follow Little's law."""
        name = f"{self.label}: " if self.label else ""
        rests = f"by medians of {self.runs} runs" if self.runs > 1 else "by one run each"
        words = f"{name}not saturated at {self.points[-1].flight} in flight, the most that was measured"
        if self.knee is not None:
            words = (
                f"{name}saturated at {self.knee} in flight: more of them gain less than {_GAIN * 100:.0f} %"
            )
        odd = [str(point.flight) for point in self.points if not point.follows_little]
        if odd:
            words += f"; at {joined(odd)}, rate times latency is not the depth: fio itself may be the limit"
        return f"{words} ({rests})."


def depth_curves(series: Sequence[Series]) -> tuple[DepthCurve, ...]:
    """Return the series that differ in depth alone, as curves; () where there are not three depths."""
    groups: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        run = one.runs[0]
        if run.work is None or one.unsteady or AxisKind.DEPTH not in run.point:
            continue
        rest = {label: value for label, value in run.point.items() if label != AxisKind.DEPTH}
        same = replace(run.work, depth=1, engine="").words
        groups.setdefault((run.job, f"{same} {point_words(rest)}".strip()), []).append(one)
    return tuple(
        _curve(label if len(groups) > 1 else "", found)
        for (_, label), found in groups.items()
        if len(found) > 2
    )


def _curve(label: str, series: Sequence[Series]) -> DepthCurve:
    points = tuple(sorted((_point(one) for one in series), key=lambda point: point.flight))
    runs = min(len(one.runs) for one in series)
    return DepthCurve(label=label, runs=runs, points=points, knee=_knee(points))


def _point(series: Series) -> DepthPoint:
    work = series.runs[0].work
    flight = work.depth * work.jobs if work is not None else 1
    tails = [run.main.p99_ns for run in series.runs if run.main.p99_ns is not None]
    little = [
        run.main.iops * run.main.mean_ns / 1e9 / flight
        for run in series.runs
        if run.main.mean_ns is not None and not (run.read.ios and run.write.ios)
    ]
    return DepthPoint(
        flight=flight,
        iops=statistics.median(run.iops for run in series.runs),
        p99_ns=statistics.median(tails) if tails else None,
        little=statistics.median(little) if little else None,
    )


def _knee(points: Sequence[DepthPoint]) -> int | None:
    """Return the least depth of which no larger one gains; None where only the last one is."""
    return next(
        (
            point.flight
            for place, point in enumerate(points[:-1])
            if max(other.iops for other in points[place:]) < point.iops * (1 + _GAIN)
        ),
        None,
    )
