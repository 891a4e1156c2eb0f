"""The benchmarks of this machine, for its history."""

from __future__ import annotations

from itertools import groupby

from raidtui.features.bench.results.run_store import Results, ResultsError, results_path
from raidtui.watch.past import PastError, PastRun


def past_benchmarks() -> list[PastRun]:
    """Return one for each benchmark; reading it does not create the file.

    Raises:
        PastError: the results cannot be read.
    """
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
