"""`python -m benchmarks`: measure the goals beside the peers, print one table, check what can be checked."""

import argparse
import json
import os
import platform
import random
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.cases import FULL, QUICK, Results, cases, progress, run_cases
from benchmarks.check import misses
from benchmarks.event import EventDelay, measure_event
from benchmarks.fio import QUICK_ROUNDS, ROUNDS, FioWatched, measure_fio
from benchmarks.plans import QUICK_ROUNDS as PLAN_QUICK_ROUNDS
from benchmarks.plans import ROUNDS as PLAN_ROUNDS
from benchmarks.plans import PlanCosts, measure_plans
from benchmarks.refresh import Refresh, measure_apart
from benchmarks.rows import QUANTITIES, ROW_IDS, Outcome, Row, make_rows

COLUMNS = ("row", "what", "goal", "raidtui: median (min)", "peers: median", "ratio to hello", "verdict")
WIDTHS = (11, 28, 18, 24, 34, 14, 28)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return 0, or 1 if `--check` finds an exceeded limit."""
    arguments = _parse(argv)
    only: list[str] = arguments.only or list(ROW_IDS)
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    outcome = _measure(arguments, only, seed)
    rows = make_rows(outcome, only.__contains__)
    machine = describe_machine(outcome.results, seed)
    found = misses(outcome, only.__contains__) if arguments.check else []
    print("\n".join([*table(rows), "", *machine]))
    if arguments.json:
        arguments.json.write_text(json.dumps(_record(outcome, rows, machine, found), indent=1) + "\n")
    if arguments.check:
        print("\nCheck: " + ("every limit is kept." if not found else f"{len(found)} not kept."))
        print("\n".join(f"  {text}" for text in found))
    return 1 if found else 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few rounds and short windows: three minutes, not fifteen"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=ROW_IDS,
        metavar="ROW",
        help=f"only this row; may be given again: {', '.join(ROW_IDS)}",
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of the short cases")
    parser.add_argument("--seed", type=int, help="repeat the order of an earlier run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument("--check", action="store_true", help="status 1 when a limit is not kept")
    return parser.parse_args(argv)


def _measure(arguments: argparse.Namespace, only: list[str], seed: int) -> Outcome:
    effort = QUICK if arguments.quick else FULL
    used = {quantity.case for quantity in QUANTITIES if quantity.id in only}
    wanted = [case for case in cases(effort.watch_s) if case.id in used]
    results = run_cases(wanted, effort.with_rounds(arguments.rounds), seed=seed, say=progress)
    refresh, event = (
        Refresh(ran=False, why_not="not asked for"),
        EventDelay(ran=False, why_not="not asked for"),
    )
    if "big" in only:
        progress("512 arrays: refreshing")
        refresh = measure_apart()
    if "event" in only:
        progress("kernel event: booting the laboratory")
        event = measure_event()
    fio = FioWatched(ran=False, why_not="not asked for")
    if "fio" in only:
        progress("fio: bare, sandboxed and watched, in turns")
        fio = measure_fio(QUICK_ROUNDS if arguments.quick else ROUNDS)
    plans = PlanCosts(ran=False, why_not="not asked for")
    if "plans" in only:
        progress("plans: booting the laboratory, twice")
        plans = measure_plans(PLAN_QUICK_ROUNDS if arguments.quick else PLAN_ROUNDS)
    progress("")
    return Outcome(results=results, refresh=refresh, event=event, fio=fio, plans=plans)


def table(rows: list[Row]) -> list[str]:
    """The rows as lines of text; a long cell takes several lines."""
    lines = [*_cells(COLUMNS), " ".join("-" * width for width in WIDTHS)]
    for row in rows:
        lines += _cells((row.id, row.what, row.goal, row.ours, row.peers, row.ratio, row.verdict))
    return lines


def _cells(texts: Sequence[str]) -> list[str]:
    parts = [textwrap.wrap(text, width) or [""] for text, width in zip(texts, WIDTHS, strict=True)]
    height = max(len(part) for part in parts)
    return [
        " ".join(
            (part[line] if line < len(part) else "").ljust(width)
            for part, width in zip(parts, WIDTHS, strict=True)
        ).rstrip()
        for line in range(height)
    ]


def describe_machine(results: Results, seed: int) -> list[str]:
    """Return what is needed to judge the figures: the machine, its load, missing programs."""
    busy = sorted(
        run.host_busy_pct for runs in results.runs.values() for run in runs if run.host_busy_pct is not None
    )
    software = f"Python {platform.python_version()}, Textual {version('textual')}"
    lines = [f"{os.cpu_count()} CPUs, Linux {platform.release()}, {software}; order seed {seed}"]
    if busy:
        lines.append(
            f"all CPUs were busy {busy[len(busy) // 2]:.0f} % (median of the runs), {busy[-1]:.0f} % at most;"
            " above 60 % believe minima, CPU and bytes, not wall times"
        )
    if results.missing:
        lines.append(f"not on this machine, so not measured: {', '.join(results.missing)}")
    failed = {
        (case, name): runs for (case, name), runs in results.runs.items() if any(not run.ran for run in runs)
    }
    for (case, name), runs in failed.items():
        count = sum(not run.ran for run in runs)
        lines.append(
            f"{case}: {name} not measured in {count} of {len(runs)} rounds: {results.why_not(case, name)}"
        )
    return lines


def _record(outcome: Outcome, rows: list[Row], machine: list[str], found: list[str]) -> dict[str, object]:
    runs = [
        {"case": case, "program": program, **asdict(run)}
        for (case, program), group in outcome.results.runs.items()
        for run in group
    ]
    return {
        "machine": machine,
        "rows": [asdict(row) for row in rows],
        "misses": found,
        "runs": runs,
        "refresh": asdict(outcome.refresh),
        "event": asdict(outcome.event),
        "fio": asdict(outcome.fio),
        "plans": asdict(outcome.plans),
    }


if __name__ == "__main__":
    sys.exit(main())
