"""Runs as files: a report as HTML or Markdown, CSV with a line a run, JSON with everything."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from raidtui.features.bench.report.document import data_bytes, report_blocks
from raidtui.features.bench.report.markdown import markdown_page
from raidtui.features.bench.report.page import html_page
from raidtui.features.bench.results.run_record import NOT_STEADY, RunRecord
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.jobs.new_files import write_new_file

KINDS = ("html", "md", "csv", "json")
COLUMNS = (
    "id", "job", "number", "repeat", "at_s", "title", "preset", "note", "state", "reason", "place", "point",
    "rw", "block_bytes", "depth", "jobs", "engine", "direct", "seconds",
    "read_iops", "read_bytes_s", "read_p50_ns", "read_p99_ns", "read_p999_ns",
    "write_iops", "write_bytes_s", "write_p50_ns", "write_p99_ns", "write_p999_ns",
    "written_bytes", "kernel", "fio", "governor", "scheduler", "queue_depth", "array", "chunk_kib", "steady",
    "cache", "cache_kind", "cache_mode", "cache_cold", "hit_ratio",
)  # fmt: skip


def csv_text(records: Sequence[RunRecord]) -> str:
    """Return one line per run; unknown values are empty."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(_row(record))
    return file.getvalue()


def _row(record: RunRecord) -> dict[str, object]:
    work, environment = record.work, record.environment
    array = environment.arrays[-1] if environment.arrays else None
    disks = environment.disks
    row: dict[str, object] = {
        name: getattr(record, name)
        for name in (
            "id",
            "job",
            "number",
            "repeat",
            "at_s",
            "title",
            "preset",
            "note",
            "state",
            "reason",
            "place",
        )
    }
    row |= {
        "point": " ".join(f"{label}={value}" for label, value in record.point.items()),
        "seconds": record.seconds,
        "written_bytes": " ".join(f"{name}={size}" for name, size in record.written.items()),
        "kernel": environment.kernel,
        "fio": environment.fio,
        "governor": environment.cpu.governor,
        "scheduler": " ".join(dict.fromkeys(disk.scheduler for disk in disks)),
        "queue_depth": " ".join(
            dict.fromkeys(str(d.queue_depth) for d in disks if d.queue_depth is not None)
        ),
        "array": f"{array.level} {array.layout}".strip() if array is not None else "",
        "chunk_kib": array.chunk_kib if array is not None else "",
    }
    if record.cache is not None:
        cold = record.cache.cold
        row |= {
            "cache": record.cache.title,
            "cache_kind": record.cache.kind,
            "cache_mode": record.cache.before.mode or "",
            "cache_cold": "" if cold is None else cold,
            "hit_ratio": "" if record.cache.hit_ratio is None else round(record.cache.hit_ratio, 6),
        }
    if record.unsteady or record.steady:
        row["steady"] = NOT_STEADY if record.unsteady else "steady"
    if work is not None:
        row |= {
            name: getattr(work, name) for name in ("rw", "block_bytes", "depth", "jobs", "engine", "direct")
        }
    for side, figures in (("read", record.read), ("write", record.write)):
        if figures.ios:
            names = ("iops", "bytes_s", "p50_ns", "p99_ns", "p999_ns")
            row |= {f"{side}_{name}": getattr(figures, name) for name in names}
    return {name: _harmless(value) for name, value in row.items()}


def _harmless(value: object) -> object:
    """A spreadsheet would take such a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def export_bytes(kind: str, records: Sequence[RunRecord], files: RunFiles, by: str = "iops") -> bytes:
    """Return the contents of a file of one of ``KINDS``.

    Args:
        kind: html, md, csv or json.
        records: the runs.
        files: what is kept beside them.
        by: the figure that the report compares by.
    """
    if kind == "csv":
        return csv_text(records).encode()
    if kind == "json":
        return data_bytes(records, files)
    blocks = report_blocks(records, files, measure=by)
    return (html_page(blocks) if kind == "html" else markdown_page(blocks)).encode()


def write_export(
    path: Path,
    kind: str,
    records: Sequence[RunRecord],
    files: RunFiles,
    by: str = "iops",
) -> Path:
    """Write runs to a new file; return its absolute path. An existing file is not overwritten.

    Raises:
        ExportError: the file is there already, or cannot be written.
    """
    return write_new_file(path, export_bytes(kind, records, files, by))
