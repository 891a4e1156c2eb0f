"""Runs for other programs: CSV with a line a run, and JSON with everything. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import msgspec

from raidtui.bench.record import Record
from raidtui.bench.samples import Sample

COLUMNS = (
    "id", "job", "number", "repeat", "at_s", "title", "preset", "note", "state", "reason", "place", "point",
    "rw", "block_bytes", "depth", "jobs", "engine", "direct", "seconds",
    "read_iops", "read_bytes_s", "read_p50_ns", "read_p99_ns", "read_p999_ns",
    "write_iops", "write_bytes_s", "write_p50_ns", "write_p99_ns", "write_p999_ns",
    "written_bytes", "kernel", "fio", "governor", "scheduler", "queue_depth", "array", "chunk_kib",
)  # fmt: skip


def csv_text(records: Sequence[Record]) -> str:
    """Return a line a run; what is not known is empty."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(_row(record))
    return file.getvalue()


def _row(record: Record) -> dict[str, object]:
    work, surroundings = record.work, record.environment
    array = surroundings.arrays[-1] if surroundings.arrays else None
    disks = surroundings.disks
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
        "kernel": surroundings.kernel,
        "fio": surroundings.fio,
        "governor": surroundings.cpu.governor,
        "scheduler": " ".join(dict.fromkeys(disk.scheduler for disk in disks)),
        "queue_depth": " ".join(
            dict.fromkeys(str(d.queue_depth) for d in disks if d.queue_depth is not None)
        ),
        "array": f"{array.level} {array.layout}".strip() if array is not None else "",
        "chunk_kib": array.chunk_kib if array is not None else "",
    }
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
    """A spreadsheet would take a text that begins so for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def json_bytes(records: Sequence[Record], samples: Mapping[int, Sequence[Sample]] | None = None) -> bytes:
    """Return everything that is known of runs; with samples also those, by the runs' numbers."""
    data: dict[str, object] = {"raidtui_bench": 1, "runs": list(records)}
    if samples is not None:
        data["samples"] = {str(number): list(found) for number, found in samples.items()}
    return msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"
