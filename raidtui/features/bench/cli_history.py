"""``raidtui bench list``, ``compare``, ``report``, ``note`` and ``delete``: the history."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import msgspec

from raidtui.command.streams import print_json, write_bytes
from raidtui.features.bench.export import KINDS, export_bytes, json_bytes, write_export
from raidtui.features.bench.results.compare import METRICS, curves, family_of, series_of, table, table_lines
from raidtui.features.bench.results.published import cache_remarks, heat_lines, heat_maps
from raidtui.features.bench.results.run_record import NOT_STEADY, WHOLE, RunRecord
from raidtui.features.bench.results.run_store import Results, ResultsError, run_number
from raidtui.features.bench.surroundings import merged
from raidtui.jobs.new_files import ExportError
from raidtui.view.text import visible


def list_runs(arguments: argparse.Namespace) -> int:
    """Print a line a run, or all of it as JSON."""
    with Results() as results:
        records = results.runs(*arguments.words)
    if arguments.json:
        write_bytes(json_bytes(records))
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
        samples = {record.id: results.samples(record.id) for record in records} if arguments.json else {}
    if not arguments.json:
        print_comparison(records, arguments.by)
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


def print_comparison(records: Sequence[RunRecord], by: str) -> None:
    """Print a table of runs, the verdicts, and heat maps."""
    measure = METRICS[by]
    series = series_of(records)
    lines = table_lines(table(series, measure), measure)
    lines += cache_remarks(series)
    for heat in heat_maps(records):
        lines += ["", *heat_lines(heat)]
    print("\n".join(visible(line) for line in lines))


def report_runs(arguments: argparse.Namespace) -> int:
    """Write runs as HTML, CSV or JSON."""
    targets = [(kind, path) for kind in KINDS if (path := getattr(arguments, kind))]
    if not targets:
        raise ResultsError("the report has no target: give --html, --csv or --json FILE")
    with Results() as results:
        records = _chosen(results, arguments.words)
        samples = {record.id: results.samples(record.id) for record in records}
    for kind, path in targets:
        if str(path) == "-":
            write_bytes(export_bytes(kind, records, samples, arguments.by))
            continue
        try:
            write_export(path, kind, records, samples, arguments.by)
        except ExportError as error:
            raise ResultsError(str(error)) from error
        print(f"{path}: {path.stat().st_size // 1024 + 1} KiB", file=sys.stderr)
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


SUBCOMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": list_runs,
    "compare": compare_runs,
    "report": report_runs,
    "note": note_runs,
    "delete": delete_runs,
}
