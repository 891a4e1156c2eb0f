"""``raidtui bench``: its arguments, and the subcommands of the history."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from raidtui.command.streams import print_json, write_bytes
from raidtui.features.bench import cli_run as bench_run
from raidtui.features.bench.export import KINDS, export_bytes, write_export
from raidtui.features.bench.report.document import data_bytes
from raidtui.features.bench.results.compare import METRICS, curves, family_of, series_of, table
from raidtui.features.bench.results.published import cache_remarks, comparison_text, heat_maps
from raidtui.features.bench.results.run_record import NOT_STEADY, WHOLE, RunRecord
from raidtui.features.bench.results.run_store import Results, ResultsError, run_number
from raidtui.features.bench.run.bench_worker import bench_on
from raidtui.features.bench.telemetry import merged
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import BusyError, JobError
from raidtui.jobs.new_files import ExportError
from raidtui.monitor.wear.cost_watch import JobCost
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.features.bench.schedule import Schedule
    from raidtui.jobs.worker import CostMeasure

REFUSED, BUSY = 2, 75
_OF_JOBS = frozenset({"attach", "stop", "restore"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``bench`` takes."""
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    presets = subcommands.add_parser("presets", help="list the predefined workloads and their origin")
    presets.add_argument("--json", action="store_true", help="print JSON (docs/bench.md)")
    what = argparse.ArgumentParser(add_help=False)
    _add_what(what)
    _add_where(what)
    _add_how(what)
    run = subcommands.add_parser("run", parents=[what], help="measure one workload", description=_RUN)
    run.add_argument("--repeats", type=int, default=1, metavar="N", help="number of runs (1)")
    sweep = subcommands.add_parser(
        "sweep", parents=[what], help="measure repeatedly, with something changed", description=_SWEEP
    )
    sweep.add_argument("--repeats", type=int, default=6, metavar="N", help="number of runs of each point (6)")
    _add_sweep(sweep)
    attach = subcommands.add_parser("attach", help="follow a running benchmark, or see how it ended")
    attach.add_argument("id", metavar="ID", nargs="?", default="", help="default: the newest")
    stop = subcommands.add_parser("stop", help="stop a benchmark; its results so far are kept")
    stop.add_argument("id", metavar="ID", nargs="?", default="", help="default: the newest")
    subcommands.add_parser("restore", help="put back what an interrupted benchmark changed")
    _add_history(subcommands)
    work = subcommands.add_parser("work", help="internal: run a benchmark in this process")
    work.add_argument("folder", type=Path)
    work.add_argument("--back", action="store_true")
    work.add_argument("--settle", action="store_true")


_RUN = "Measure one workload. Several block sizes or depths are run one after another."
_SWEEP = "Run each point once, then all again, so that drift affects all alike. Changes are put back."


def _add_what(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what")
    what.add_argument("--preset", default="", metavar="NAME", help="raidtui bench presets lists them")
    what.add_argument("--job", type=Path, metavar="FILE", help="an fio job file")
    what.add_argument("--rw", default="", metavar="KIND", help="read, write, randread, randwrite, rw, randrw")
    what.add_argument("--bs", default="", metavar="SIZES", help="size of a request: 4k, or 4k,16k,64k")
    what.add_argument(
        "--size", default="", metavar="SIZE", help="size of the file, or of the part of a device: 500m"
    )
    what.add_argument("--depth", default="", metavar="NUMBERS", help="requests in flight in each job")
    what.add_argument(
        "--jobs", default="", metavar="NUMBERS", help="number of jobs that run at the same time"
    )
    what.add_argument("--runtime", type=int, metavar="SECONDS", help="run by time instead of size")
    what.add_argument(
        "--ramp",
        type=int,
        metavar="SECONDS",
        help="time before the measurement (a tenth of --runtime; 0: none)",
    )
    what.add_argument("--engine", default="", metavar="NAME", help="sync, psync, libaio, io_uring")
    what.add_argument("--read-percent", type=int, metavar="PERCENT", help="reads in a mix")
    what.add_argument(
        "--distribution", default="", metavar="NAME", help="of random I/O: zipf:1.2, pareto:0.9, normal:20"
    )
    what.add_argument("--no-direct", action="store_true", help="use the page cache")


def _add_where(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where")
    where.add_argument(
        "--directory", default="", metavar="FOLDER", help="measure files in it; they are removed"
    )
    where.add_argument("--device", default="", metavar="DEVICE", help="measure a device; it is only read")
    where.add_argument("--write", action="store_true", help="allow the device to be overwritten")
    where.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="SERIAL",
        help="the serial number of a device that is overwritten; can be repeated",
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how")
    how.add_argument("--trim", action="store_true", help="discard free blocks before each run")
    how.add_argument("--cool", type=int, default=0, metavar="SECONDS", help="pause before each run")
    how.add_argument(
        "--precondition",
        type=int,
        default=0,
        metavar="TIMES",
        help="write the size this many times before all runs",
    )
    how.add_argument("--steady", action="store_true", help="run until five rounds are steady (SNIA's rule)")
    how.add_argument("--no-quiet-check", action="store_true", help="start even if the machine is busy")
    how.add_argument(
        "--fio-without",
        default="",
        metavar="PARTS",
        help="run without these parts of fio's sandbox, which this host does not allow",
    )
    how.add_argument("--note", default="", metavar="TEXT", help="kept with the results")
    how.add_argument("--json", action="store_true", help="print the results as JSON")
    how.add_argument("--detach", action="store_true", help="do not wait until it ends")
    how.add_argument("--dry-run", action="store_true", help="print what would be done, and do nothing")


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    sweep = parser.add_argument_group("what to vary, besides --bs, --depth and --jobs")
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
        help="create arrays of them; everything on them is lost",
    )
    sweep.add_argument("--level", default="raid10", metavar="LEVELS", help="level of these arrays (raid10)")
    sweep.add_argument("--layout", default="", metavar="LAYOUTS", help="layout of these arrays: n2,f2")
    sweep.add_argument(
        "--chunk", default="", metavar="KIB", help="chunk of these arrays: 16,32,512; one is a single device"
    )
    sweep.add_argument(
        "--member-size",
        type=int,
        default=0,
        metavar="KIB",
        help="how much of each device is used (all of it)",
    )
    sweep.add_argument(
        "--grouped", action="store_true", help="the repeats of a point one after another: no verdict"
    )


def _add_history(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    words = "numbers of runs, ids of benchmarks, last, or words that describe them"
    listing = subcommands.add_parser("list", help="list the results")
    listing.add_argument("words", metavar="WORD", nargs="*", help=f"only what matches all: {words}")
    listing.add_argument("--grep", default="", metavar="TEXT", help="only what has this text")
    listing.add_argument("--json", action="store_true", help="print JSON (docs/bench.md)")
    show = subcommands.add_parser("show", help="show all that is known of runs")
    show.add_argument("words", metavar="WORD", nargs="*", default=["last"], help=f"{words}; last by itself")
    compare = subcommands.add_parser("compare", help="compare runs: medians, spread, verdicts, heat map")
    compare.add_argument("words", metavar="WORD", nargs="+", help=words)
    compare.add_argument("--by", default="iops", choices=tuple(METRICS), help="what to compare (iops)")
    compare.add_argument("--json", action="store_true", help="print JSON (docs/bench.md)")
    report = subcommands.add_parser("report", help="write a report: HTML with charts, Markdown, CSV, JSON")
    report.add_argument("words", metavar="WORD", nargs="+", help=words)
    report.add_argument("--by", default="iops", choices=tuple(METRICS), help="what to compare (iops)")
    for form in KINDS:
        report.add_argument(f"--{form}", type=Path, metavar="FILE", help="- is standard output")
    note = subcommands.add_parser("note", help="attach a note to runs")
    note.add_argument("words", metavar="RUN", nargs="+", help="a run's number, or a benchmark's id")
    note.add_argument("--text", required=True)
    delete = subcommands.add_parser("delete", help="delete runs")
    delete.add_argument("words", metavar="RUN", nargs="+", help="a run's number, or a benchmark's id")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui bench ...``; return 0 done, 1 not, 2 refused, 75 another job is running."""
    try:
        return _run_subcommand(reader, arguments)
    except BusyError as error:
        return _refused(str(error), BUSY)
    except (JobError, ResultsError) as error:
        return _refused(str(error), REFUSED)


def _run_subcommand(reader: HostReader, arguments: argparse.Namespace) -> int:
    if arguments.subcommand == "work":
        return bench_on(
            reader,
            arguments.folder,
            back=arguments.back,
            settle=arguments.settle,
            measuring=partial(_cost, reader),
        )
    if not reader.live and arguments.subcommand in {*_OF_HISTORY, *_OF_JOBS}:
        why = "refused: what was measured is of this host, and --root or --demo names another one"
        return _refused(why, REFUSED)
    if arguments.subcommand in _OF_HISTORY:
        return _OF_HISTORY[arguments.subcommand](arguments)

    return bench_run.SUBCOMMANDS[arguments.subcommand](reader, arguments)


def _cost(reader: HostReader, schedule: Schedule) -> CostMeasure:
    """Return what measures the writes of a benchmark to its disks."""
    return JobCost(reader, "benchmark", schedule.place.disks)


def _refused(why: str, status: int) -> int:

    print(f"raidtui: {visible(why)}", file=sys.stderr)
    return status


def list_runs(arguments: argparse.Namespace) -> int:
    """Print a line a run, or all of it as JSON."""
    with Results() as results:
        records = results.runs(*arguments.words, *filter(None, [arguments.grep]))
    if arguments.json:
        write_bytes(data_bytes(records))
        return 0
    for record in records:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.at_s))
        state = "" if record.state == WHOLE else f"{record.state}: {record.reason}"
        figures = NOT_STEADY if record.unsteady else record.figures
        cache = record.cache
        hits = cache.hits_words if cache is not None and cache.hit_ratio is not None else ""
        cold = "began cold" if record.cold else ""
        parts = (record.words, record.place, figures, hits, cold, state, record.short, record.note)
        print(visible(f"{f'#{record.id}':>5}  {at}  " + "  ".join(part for part in parts if part)))
    if not records:
        print("Nothing has been measured yet." if not arguments.words else "No run matches.")
    return 0


def compare_runs(arguments: argparse.Namespace) -> int:
    """Print runs side by side, or as JSON."""
    with Results() as results:
        records = _chosen(results, arguments.words)
        samples = results.files([record.id for record in records]).samples if arguments.json else {}
    if not arguments.json:
        print("\n".join(visible(line) for line in comparison_text(records, arguments.by)))
        return 0
    series = series_of(records)
    rows = table(series, METRICS[arguments.by])
    data = {
        "raidtui_bench_comparison": 1,
        "by": arguments.by,
        "rows": [
            {
                "label": row.series.label,
                "runs": [run.id for run in row.series.runs],
                "spread": row.spread,
                "verdict": row.verdict,
                "sentence": row.sentence,
                "against": row.against,
                "unsteady": row.series.unsteady,
                "during": merged([run.during for run in row.series.runs]),
                "cold": [run.cold for run in row.series.runs],
            }
            for row in rows
        ],
        "family": family_of(rows),
        "remarks": list(cache_remarks(series)),
        "heat_maps": heat_maps(records),
        "curves": curves(series, samples),
    }
    print_json(msgspec.to_builtins(data))
    return 0


def report_runs(arguments: argparse.Namespace) -> int:
    """Write runs as a report, CSV or JSON."""
    targets = [(kind, path) for kind in KINDS if (path := getattr(arguments, kind))]
    if not targets:
        raise ResultsError("the report has no target: give --html, --md, --csv or --json FILE")
    with Results() as results:
        records = _chosen(results, arguments.words)
        files = results.files([record.id for record in records])
    for kind, path in targets:
        if str(path) == "-":
            write_bytes(export_bytes(kind, records, files, arguments.by))
            continue
        try:
            write_export(path, kind, records, files, arguments.by)
        except ExportError as error:
            raise ResultsError(str(error)) from error
        print(f"{path}: {path.stat().st_size // 1024 + 1} KiB", file=sys.stderr)
    return 0


def show_runs(arguments: argparse.Namespace) -> int:
    """Print the report of runs as Markdown."""
    with Results() as results:
        records = _chosen(results, arguments.words)
        files = results.files([record.id for record in records])
    write_bytes(export_bytes("md", records, files))
    return 0


def note_runs(arguments: argparse.Namespace) -> int:
    """Give runs a note."""
    with Results() as results:
        found = _exactly(results, arguments.words)
        results.set_note(found, arguments.text)
    print(f"note kept with {len(found)} run{'s'[: len(found) != 1]}")
    return 0


def delete_runs(arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui bench delete``."""
    with Results() as results:
        gone = results.delete(_exactly(results, arguments.words))
    print(f"{gone} run{'s'[: gone != 1]} deleted")
    return 0


def _chosen(results: Results, words: Sequence[str]) -> tuple[RunRecord, ...]:
    """Return the runs that any of the words means, each once, in the words' order."""
    found: dict[int, RunRecord] = {}
    for word in words:
        records = results.runs(word)
        if not records:
            raise ResultsError(f"no run matches {word!r}: raidtui bench list shows them")
        found |= {record.id: record for record in records if record.id not in found}
    return tuple(found.values())


def _exactly(results: Results, words: Sequence[str]) -> list[int]:
    """Return the numbers of runs that are named by number, or by their benchmark's whole id."""
    found: list[int] = []
    for word in words:
        same = [run.id for run in results.runs(word) if run_number(word) is not None or run.job == word]
        if not same:
            raise ResultsError(
                f"{word!r} is neither a run's number nor a benchmark's id: raidtui bench list --json has them"
            )
        found += same
    return list(dict.fromkeys(found))


_OF_HISTORY: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": list_runs,
    "show": show_runs,
    "compare": compare_runs,
    "report": report_runs,
    "note": note_runs,
    "delete": delete_runs,
}
