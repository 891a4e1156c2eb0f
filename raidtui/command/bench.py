"""``raidtui bench``: what it takes, and which subcommand carries it out; each imports what it needs."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from raidtui.host.roots.root import Root

if TYPE_CHECKING:
    from raidtui.bench.schedule import Schedule
    from raidtui.jobs.worker import CostMeasure

REFUSED, BUSY = 2, 75
_HISTORY = frozenset({"list", "compare", "report", "note", "delete"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``bench`` takes."""
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    presets = subcommands.add_parser(
        "presets", help="list the workloads that have a name, and where they come from"
    )
    presets.add_argument("--json", action="store_true", help="as JSON (docs/bench.md)")
    what = argparse.ArgumentParser(add_help=False)
    _add_what(what)
    _add_where(what)
    _add_how(what)
    run = subcommands.add_parser("run", parents=[what], help="measure one workload", description=_RUN)
    run.add_argument("--repeats", type=int, default=1, metavar="N", help="how often (1)")
    sweep = subcommands.add_parser(
        "sweep", parents=[what], help="measure again and again, with something changed", description=_SWEEP
    )
    sweep.add_argument("--repeats", type=int, default=3, metavar="N", help="of each point (3)")
    _add_sweep(sweep)
    attach = subcommands.add_parser("attach", help="follow a benchmark that runs, or see how it ended")
    attach.add_argument("id", metavar="ID", nargs="?", default="", help="the newest, if left out")
    stop = subcommands.add_parser("stop", help="end a benchmark now; what was measured is kept")
    stop.add_argument("id", metavar="ID", nargs="?", default="")
    subcommands.add_parser("restore", help="put back what an interrupted benchmark has changed")
    _add_history(subcommands)
    work = subcommands.add_parser(
        "work", help="used by raidtui itself: do a benchmark's work in this process"
    )
    work.add_argument("folder", type=Path)
    work.add_argument("--back", action="store_true")
    work.add_argument("--settle", action="store_true")


_RUN = "Measure one workload. Where several block sizes or depths are given, one after another."
_SWEEP = "Each point once, then all again: what drifts meanwhile hits all alike. Everything is put back."


def _add_what(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what")
    what.add_argument("--preset", default="", metavar="NAME", help="raidtui bench presets lists them")
    what.add_argument("--job", type=Path, metavar="FILE", help="a fio job file of your own, as it is")
    what.add_argument("--rw", default="", metavar="KIND", help="read, write, randread, randwrite, rw, randrw")
    what.add_argument("--bs", default="", metavar="SIZES", help="sizes of a request: 4k, or 4k,16k,64k")
    what.add_argument("--size", default="", metavar="SIZE", help="of the file, or of a device's part: 500m")
    what.add_argument("--depth", default="", metavar="NUMBERS", help="requests under way")
    what.add_argument("--jobs", default="", metavar="NUMBERS", help="as many do the same at a time")
    what.add_argument("--runtime", type=int, metavar="SECONDS", help="by time, not until the size is done")
    what.add_argument(
        "--ramp", type=int, metavar="SECONDS", help="before the measurement (a tenth of --runtime; 0: none)"
    )
    what.add_argument("--engine", default="", metavar="NAME", help="sync, psync, libaio, io_uring")
    what.add_argument("--read-percent", type=int, metavar="PERCENT", help="of a mix")
    what.add_argument("--distribution", default="", metavar="NAME", help="zipf:1.2 and so on")
    what.add_argument("--no-direct", action="store_true", help="go through the page cache")


def _add_where(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where")
    where.add_argument("--directory", default="", metavar="FOLDER", help="files in it, removed afterwards")
    where.add_argument("--device", default="", metavar="DEVICE", help="is only read")
    where.add_argument("--write", action="store_true", help="let the device be overwritten")
    where.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="SERIAL",
        help="the serial number of a device that is overwritten; may be given again",
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how")
    how.add_argument("--trim", action="store_true", help="discard what is free before each run")
    how.add_argument("--cool", type=int, default=0, metavar="SECONDS", help="do nothing before each run")
    how.add_argument(
        "--precondition", type=int, default=0, metavar="TIMES", help="write the size so often before all runs"
    )
    how.add_argument("--steady", action="store_true", help="go on until five rounds are steady (SNIA's rule)")
    how.add_argument(
        "--no-quiet-check", action="store_true", help="begin also where the machine does something else"
    )
    how.add_argument("--note", default="", metavar="TEXT", help="kept with the results")
    how.add_argument("--json", action="store_true", help="the results as JSON")
    how.add_argument("--detach", action="store_true", help="do not wait for the end")
    how.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    sweep = parser.add_argument_group("what is changed, besides --bs, --depth and --jobs")
    sweep.add_argument(
        "--knob",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="queue-depth=1,8,32; any knob of raidtui tune, and bitmap",
    )
    sweep.add_argument(
        "--scratch",
        nargs="+",
        default=[],
        metavar="DEVICE",
        help="arrays are made of them; all on them is lost",
    )
    sweep.add_argument("--level", default="raid10", metavar="LEVELS", help="of these arrays (raid10)")
    sweep.add_argument("--layout", default="", metavar="LAYOUTS", help="n2,f2")
    sweep.add_argument("--chunk", default="", metavar="KIB", help="16,32,512; one is a device by itself")
    sweep.add_argument(
        "--member-size", type=int, default=0, metavar="KIB", help="of each device; all of it else"
    )
    sweep.add_argument("--grouped", action="store_true", help="a point's repeats one after another")


def _add_history(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    words = "numbers of runs, ids of benchmarks, or words that are told of them"
    listing = subcommands.add_parser("list", help="list what was measured")
    listing.add_argument("words", metavar="WORD", nargs="*", help=f"only what fits all: {words}")
    listing.add_argument("--json", action="store_true")
    compare = subcommands.add_parser("compare", help="runs side by side: medians, spread, verdicts, heat map")
    compare.add_argument("words", metavar="WORD", nargs="+", help=words)
    compare.add_argument("--by", default="iops", choices=("iops", "mb/s", "p50", "p99", "p99.9"))
    compare.add_argument("--json", action="store_true")
    report = subcommands.add_parser("report", help="write runs as HTML with pictures, CSV or JSON")
    report.add_argument("words", metavar="WORD", nargs="+", help=words)
    report.add_argument("--by", default="iops", choices=("iops", "mb/s", "p50", "p99", "p99.9"))
    for form in ("html", "csv", "json"):
        report.add_argument(f"--{form}", type=Path, metavar="FILE", help="- is standard output")
    note = subcommands.add_parser("note", help="give runs a note")
    note.add_argument("words", metavar="RUN", nargs="+", help="a run's number, or a benchmark's id")
    note.add_argument("--text", required=True)
    delete = subcommands.add_parser("delete", help="forget runs")
    delete.add_argument("words", metavar="RUN", nargs="+", help="a run's number, or a benchmark's id")


def run(root: Root, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui bench ...``; return 0 done, 1 not, 2 refused, 75 another job is running."""
    from raidtui.bench.results.run_store import ResultsError  # noqa: PLC0415
    from raidtui.jobs.lock import BusyError, JobError  # noqa: PLC0415

    try:
        return _run_subcommand(root, arguments)
    except BusyError as error:
        return _refused(str(error), BUSY)
    except (JobError, ResultsError) as error:
        return _refused(str(error), REFUSED)


def _run_subcommand(root: Root, arguments: argparse.Namespace) -> int:
    if arguments.subcommand == "work":
        from raidtui.bench.run.bench_worker import bench_on  # noqa: PLC0415

        return bench_on(
            root,
            arguments.folder,
            back=arguments.back,
            settle=arguments.settle,
            measuring=partial(_cost, root),
        )
    if arguments.subcommand in _HISTORY:
        from raidtui.command import bench_history  # noqa: PLC0415

        return bench_history.SUBCOMMANDS[arguments.subcommand](arguments)
    from raidtui.command import bench_run  # noqa: PLC0415

    return bench_run.SUBCOMMANDS[arguments.subcommand](root, arguments)


def _cost(root: Root, schedule: Schedule) -> CostMeasure:
    """Return what measures what a benchmark costs the disks that it is on."""
    from raidtui.wear.cost_watch import JobCost  # noqa: PLC0415  (only a worker wants it)

    return JobCost(root, "benchmark", schedule.place.disks)


def _refused(why: str, status: int) -> int:
    from raidtui.view.text import visible  # noqa: PLC0415

    print(f"raidtui: {visible(why)}", file=sys.stderr)
    return status
