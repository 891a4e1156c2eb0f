"""Pane 5, and ``bench``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidtui.frame.pane import Pane
    from raidtui.watch.past import PastRun


def _pane() -> type[Pane]:
    from raidtui.features.bench.screen.bench_pane import BenchPane

    return BenchPane


def _bench() -> CommandModule:
    from raidtui.features.bench import cli

    return cli


def past_benchmarks() -> Sequence[PastRun]:
    """Return one for each benchmark of this machine; reading them does not create the file.

    Raises:
        PastError: the results cannot be read.
    """
    from raidtui.features.bench.results.run_store import Results, ResultsError, results_path
    from raidtui.watch.past import PastError, PastRun

    if not results_path().exists():
        return []
    try:
        with Results() as results:
            records = results.runs()
    except ResultsError as error:
        raise PastError(str(error)) from error
    found = []
    for _, runs in groupby(records, key=lambda record: record.job):
        first, *further = runs
        more = f", {1 + len(further)} runs" if further else ""
        text = f"benchmark of {first.place}: {first.title}{more}"
        found.append(PastRun(at_s=first.at_s, code="bench", text=text))
    return found


FEATURE = Feature(
    name="bench",
    tab="bench",
    pane=_pane,
    commands=(Subcommand(name="bench", help="run, compare and report benchmarks with fio", module=_bench),),
    past=past_benchmarks,
)
