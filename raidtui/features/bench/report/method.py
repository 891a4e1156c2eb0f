"""What explains figures: what fio was asked, how it was measured, and what a request cost. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from raidtui.features.bench.results.compare import Series, middle_run
from raidtui.features.bench.results.run_record import WHOLE, RunRecord, milliseconds
from raidtui.features.bench.run.fio_process import fio_argv
from raidtui.features.bench.run.fio_stream import Dump, flush_bins, latency_bins, percentiles
from raidtui.features.bench.workload import workload_options
from raidtui.view.units import counted, three_digits

_PERMILLE = (500, 900, 990, 999)
LATENCY_HEAD = (
    "", "requests", "mean", "p50", "p90", "p99", "p99.9", "most", "user CPU", "system CPU", "switches",
)  # fmt: skip
LATENCY_NOTE = (
    "Latencies in milliseconds of the run that is drawn, by fio's histogram: the middle of a bin each."
    " CPU time in microseconds for each request, and context switches for each request, are of fio's own"
    " threads: md's threads, kernel workers and interrupts come on top of it."
)


def dump_of(raw: bytes) -> Dump | None:
    """Return fio's own JSON of a run; None where none is kept, or it cannot be read."""
    try:
        return msgspec.json.decode(raw, type=Dump) if raw else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def asked_texts(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return what fio was asked, each workload once: (its words, the command or the job file)."""
    found: dict[str, str] = {}
    for record in records:
        if record.work is None:
            found.setdefault(record.title, record.job_file)
            continue
        device = record.place if record.place.startswith("/dev/") else ""
        only = bool(device) and not record.work.writes
        command = fio_argv(workload_options(record.work, device=device), read_only=only)
        found.setdefault(record.work.words, " ".join(command))
    return [(words, text) for words, text in found.items() if text]


def method_rows(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return how runs were prepared and ordered, (what, how); what was not kept is said to be not known."""
    return [
        (what, "; ".join(dict.fromkeys(filter(None, (words(record) for record in records)))))
        for what, words in (
            ("order", _order),
            ("before all runs", _preparation),
            ("before each run", _before_each),
            ("length", _length),
            ("left out", lambda record: "" if record.state == WHOLE else f"#{record.id}: {record.reason}"),
        )
        if any(words(record) for record in records)
    ]


def _order(record: RunRecord) -> str:
    return "drawn at random, in blocks" if record.block >= 0 else "not drawn: one after the other"


def _preparation(record: RunRecord) -> str:
    conditions = record.conditions
    if conditions is None:
        return "not known"
    times = conditions.precondition
    return f"the size was written {counted(times, 'time')}" if times else "no preconditioning"


def _before_each(record: RunRecord) -> str:
    conditions = record.conditions
    if conditions is None:
        return "not known"
    trim = "free blocks were discarded" if conditions.trim else "no TRIM"
    pause = f"a pause of {conditions.cool_s} s" if conditions.cool_s else "no pause"
    ramp_s = record.work.ramp_s if record.work is not None else 0
    ramp = f"{ramp_s} s of ramp, not counted" if ramp_s else "no ramp"
    return f"{trim}, {pause}, {ramp}"


def _length(record: RunRecord) -> str:
    work = record.work
    if work is None:
        return "by the job file"
    if record.conditions is not None and record.conditions.steady:
        return "rounds until five are steady (SNIA's rule)"
    return f"{work.runtime_s} s" if work.runtime_s else "until the size is done"


def latency_rows(series: Sequence[Series], raws: Mapping[int, bytes]) -> list[tuple[str, ...]]:
    """Return a row for each series and direction, cells as ``LATENCY_HEAD``; none without fio's own JSON."""
    return [row for one in series for row in _rows_of(one, raws)]


def _rows_of(series: Series, raws: Mapping[int, bytes]) -> Iterator[tuple[str, ...]]:
    run = middle_run(series.runs)
    dump = dump_of(raws.get(run.id, b""))
    if dump is None:
        return
    name = series.label or run.words
    cost = _cost(dump)
    reads, writes = latency_bins(dump)
    for what, bins, figures in (("reads", reads, run.read), ("writes", writes, run.write)):
        if not bins:
            continue
        values = (figures.mean_ns, *percentiles(bins, _PERMILLE), max(bins))
        cells = ("–" if value is None else milliseconds(value) for value in values)
        yield f"{name}, {what}", f"{sum(bins.values()):,}", *cells, *cost
    if run.flush.ios:
        bins = flush_bins(dump)
        values = (run.flush.mean_ns, *percentiles(bins, _PERMILLE), max(bins, default=None))
        cells = ("–" if value is None else milliseconds(value) for value in values)
        yield f"{name}, fdatasync", f"{run.flush.ios:,}", *cells, "", "", ""


def _cost(dump: Dump) -> tuple[str, str, str]:
    """Return user and system CPU time of a request in microseconds, and its context switches."""
    ios = sum(job.read.total_ios + job.write.total_ios for job in dump.jobs)
    timed = ios and all(job.job_runtime for job in dump.jobs)
    if not timed:
        return "–", "–", "–"
    user, system = (
        sum(percent / 100 * job.job_runtime for job, percent in parts) * 1000 / ios
        for parts in (
            [(job, job.usr_cpu) for job in dump.jobs],
            [(job, job.sys_cpu) for job in dump.jobs],
        )
    )
    return three_digits(user), three_digits(system), three_digits(sum(job.ctx for job in dump.jobs) / ios)
