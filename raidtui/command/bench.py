"""``raidtui bench``: each order imports what it needs."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from raidtui.bench.results import ResultsError
from raidtui.command.bench_option import OptionError
from raidtui.host.roots.root import Root
from raidtui.jobs.store import BusyError, JobError
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.bench.course import Course
    from raidtui.jobs.worker import CostMeasure

REFUSED, BUSY = 2, 75
_HISTORY = frozenset({"list", "compare", "report", "note", "delete"})


def run_bench_order(root: Root, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui bench ...``; return 0 done, 1 not, 2 refused, 75 another job is running."""
    try:
        if arguments.order == "work":
            from raidtui.bench.worker import bench_on  # noqa: PLC0415

            return bench_on(
                root,
                arguments.folder,
                back=arguments.back,
                settle=arguments.settle,
                measuring=partial(_cost, root),
            )
        if arguments.order in _HISTORY:
            from raidtui.command import bench_history  # noqa: PLC0415

            return bench_history.ORDERS[arguments.order](arguments)
        from raidtui.command import bench_run  # noqa: PLC0415

        return bench_run.ORDERS[arguments.order](root, arguments)
    except BusyError as error:
        return _refused(str(error), BUSY)
    except (JobError, ResultsError, OptionError) as error:
        return _refused(str(error), REFUSED)


def _cost(root: Root, course: Course) -> CostMeasure:
    """Return what measures what a benchmark costs the disks that it is on."""
    from raidtui.wear.cost_watch import JobCost  # noqa: PLC0415  (only a worker wants it)

    return JobCost(root, "benchmark", course.place.disks)


def _refused(why: str, status: int) -> int:
    print(f"raidtui: {visible(why)}", file=sys.stderr)
    return status
