"""The dialog for exporting runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from raidtui.features.bench.report.export import write_export
from raidtui.features.bench.results.run_record import RunRecord, RunSample
from raidtui.frame.export_form import ExportForm
from raidtui.view.units import counted

STEM = "raidtui-bench"
_WORDS = {
    "html": "tables, pictures and what explains them, in one page",
    "csv": "a line a run, for a spreadsheet",
    "json": "everything, the samples too, for programs",
}


class Export(ExportForm):
    """Gives the path of the file that was written, or None.

    Args:
        records: the runs.
        samples: by the runs' numbers.
        by: the figure that the report compares by.
    """

    def __init__(
        self,
        records: Sequence[RunRecord],
        samples: Mapping[int, Sequence[RunSample]],
        *,
        by: str = "iops",
    ) -> None:
        runs = tuple(records)

        def write(path: Path, kind: str) -> Path:
            return write_export(path, kind, runs, samples, by)

        super().__init__(f"Export {counted(len(runs), 'run')}", STEM, _WORDS, write)
