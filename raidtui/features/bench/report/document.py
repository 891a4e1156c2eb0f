"""The report of runs as blocks: verdicts first, then charts, what was asked, and what surrounded it. Pure."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from raidtui.features.bench.environment import Part, environment_lines, part_words
from raidtui.features.bench.report import svg
from raidtui.features.bench.report.blocks import Attachment, Block, Heading, Picture, Remark, RowsBlock, Typed
from raidtui.features.bench.report.method import (
    LATENCY_HEAD,
    LATENCY_NOTE,
    asked_texts,
    dump_of,
    latency_rows,
    method_rows,
)
from raidtui.features.bench.results.compare import (
    METRICS,
    Curve,
    Series,
    SeriesRow,
    curves,
    family_of,
    middle_run,
    series_of,
    statements_of,
    table,
)
from raidtui.features.bench.results.depth_curve import DepthCurve, depth_curves
from raidtui.features.bench.results.published import (
    HeatMap,
    best_words,
    cache_remarks,
    heat_maps,
    left_out_words,
)
from raidtui.features.bench.results.run_record import NOT_STEADY, RunRecord, RunSample
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.features.bench.run.fio_stream import latency_bins
from raidtui.features.bench.schedule import point_words
from raidtui.features.bench.telemetry import span_words
from raidtui.view.units import binary_size, counted, short_number

MOST_CURVES = 8
_MODEL = "Simulated: figures of raidtui's demo host come from a model. No disk was measured."
_HOW = (
    "A value is the median of its runs, with the least and the greatest beside it. Series are compared by"
    " their ratio, by an exact permutation test within the blocks in which the order of the runs was drawn at"
    " random; “no difference” means that its interval lies within 5 %."
)
_NINES = "99 of 100 requests took no longer than the latency at 99 %. The slowest request is left out."


def report_blocks(records: Sequence[RunRecord], files: RunFiles, *, measure: str = "iops") -> list[Block]:
    """Return the report of runs.

    Args:
        records: the runs.
        files: their samples, and fio's own JSON.
        measure: by which figure they are compared.
    """
    kind = METRICS[measure]
    series = series_of(records)
    rows = table(series, kind)
    titles = list(dict.fromkeys(record.title for record in records))
    found: list[Block] = [Heading(words=", ".join(titles) or "no runs")]
    if not records:
        return found
    found.append(Remark(words=_when(records)))
    if any(record.simulated for record in records):
        found.append(Remark(words=_MODEL, strong=True))
    if rows:
        found += [
            Heading(words=kind.name),
            Picture(svgs=[svg.bars_svg(rows, kind.name)]),
            *_table(rows, measure),
        ]
    for heat in heat_maps(records):
        words = f"chunk x block size, {heat.title}"
        found += [Heading(words=words), Picture(svgs=[svg.heat_svg(heat)]), *_heat_notes(heat)]
    found += _over_time(series, files.samples)
    found += _latencies(series, files.raws)
    found += [block for curve in depth_curves(series) for block in _depths(curve)]
    found += [Remark(words=sentence, quiet=True) for sentence in cache_remarks(series)]
    found += [Heading(words="What fio was asked")]
    for words, text in asked_texts(records):
        found += [Remark(words=words), Typed(words=text)]
    found += [Heading(words="Method"), RowsBlock(rows=method_rows(records))]
    return [
        *found,
        Heading(words="Runs"),
        *_runs(records),
        *_surroundings(records),
        _attached(records, files),
    ]


def _when(records: Sequence[RunRecord]) -> str:
    times = [
        f"{datetime.fromtimestamp(each.at_s, UTC):%Y-%m-%d %H:%M} UTC" for each in (records[0], records[-1])
    ]
    span = times[0] if times[0] == times[1] else " to ".join(times)
    hosts = ", ".join(dict.fromkeys(record.environment.host for record in records if record.environment.host))
    return " · ".join(part for part in (hosts, span, counted(len(records), "run")) if part)


def _table(rows: Sequence[SeriesRow], measure: str) -> Iterator[Block]:
    kind = METRICS[measure]
    cells: list[tuple[str, ...]] = []
    for row in rows:
        runs = str(len(row.series.runs))
        if row.series.unsteady:
            cells.append((row.series.label, NOT_STEADY, "", "", runs))
        elif row.spread is not None:
            numbers = (kind.words(value) for value in (row.spread.median, row.spread.low, row.spread.high))
            cells.append((row.series.label, *numbers, str(row.spread.count)))
    yield RowsBlock(rows=cells, head=("", "median", "least", "greatest", "runs"), numbers=True)
    yield from (Remark(words=each.sentence) for each in statements_of(rows))
    yield from (Remark(words=words, quiet=True) for words in (family_of(rows), _HOW) if words)


def _heat_notes(heat: HeatMap) -> Iterator[Block]:
    best = best_words(heat)
    texts = (
        f"A thick frame: {best}." if heat.decided else f"{best[:1].upper()}{best[1:]}." if best else "",
        left_out_words(heat),
        f"In brackets: {heat.source}." if heat.has_published else "",
    )
    yield from (Remark(words=words, quiet=True) for words in texts if words)


def _over_time(series: Sequence[Series], samples: Mapping[int, Sequence[RunSample]]) -> Iterator[Block]:
    shown = curves(series[:MOST_CURVES], samples)
    if not shown:
        return
    each = "One run of each series is drawn: the median by IOPS, named beside its colour."
    drawn = each if len(shown) == len(series) else f"{each} {len(shown)} of {len(series)} series are drawn."
    yield Picture(svgs=[svg.curves_svg(shown)], title="IOPS over time", note=drawn)
    timed = [picture for each in shown for picture in _percentiles(each, samples[each.run])]
    note = "p50, p99 and p99.9 of each interval, on a logarithmic axis."
    if timed:
        yield Picture(svgs=timed, title="Latency over time", note=note)
    hits = [
        replace(each, points=tuple((t_s, ratio * 100, 0.0, None) for t_s, ratio in each.hits))
        for each in shown
        if each.hits
    ]
    if hits:
        yield Picture(svgs=[svg.curves_svg(hits, what="hits, %")], title="Hit ratio of the cache over time")


def _percentiles(curve: Curve, samples: Sequence[RunSample]) -> Iterator[str]:
    lines = []
    for number, (name, field) in enumerate((("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns"))):
        points = [(each.t_s, float(value)) for each in samples if (value := getattr(each.main, field))]
        lines.append(svg.ChartLine(label=f"{name}, {curve.label}", points=points, dash=number))
    values = [value for line in lines for _, value in line.points]
    if values:
        across = svg.seconds_axis(samples[-1].t_s)
        yield svg.plot_svg(lines, across, svg.latency_axis(values), "latency over time")


def _latencies(series: Sequence[Series], raws: Mapping[int, bytes]) -> Iterator[Block]:
    rows = latency_rows(series, raws)
    if not rows:
        return
    yield Heading(words="Latency and cost of a request")
    lines = [line for one in series[:MOST_CURVES] if (line := _distribution(one, raws)) is not None]
    values = [value for line in lines for value, _ in line.points]
    if values:
        most = max(share for line in lines for _, share in line.points)
        up = svg.ChartAxis(
            what="share of requests",
            low=0.0,
            high=most,
            words=lambda part: f"{part * 100:.6g} %",
            scale=svg.AxisScale.NINES,
        )
        drawn = svg.plot_svg(lines, svg.latency_axis(values), up, "distribution of latencies")
        yield Picture(svgs=[drawn], note=_NINES)
    yield RowsBlock(rows=rows, head=LATENCY_HEAD, numbers=True)
    yield Remark(words=LATENCY_NOTE, quiet=True)


def _distribution(series: Series, raws: Mapping[int, bytes]) -> svg.ChartLine | None:
    run = middle_run(series.runs)
    dump = dump_of(raws.get(run.id, b""))
    if dump is None:
        return None
    reads, writes = latency_bins(dump)
    bins = writes if run.main is run.write else reads
    total, done = sum(bins.values()), 0
    points = []
    for value in sorted(bins):
        done += bins[value]
        if done < total:
            points.append((float(value), done / total))
    return svg.ChartLine(label=series.label or run.words, points=points) if points else None


def _depths(curve: DepthCurve) -> Iterator[Block]:
    yield Heading(words=f"Against depth{f', {curve.label}' if curve.label else ''}")
    flights = [float(point.flight) for point in curve.points]
    across = svg.ChartAxis(
        what="in flight",
        low=flights[0],
        high=flights[-1],
        words=lambda value: f"{value:.0f}",
        scale=svg.AxisScale.LOG,
        marks=tuple(flights),
    )
    rates = [(float(point.flight), point.iops) for point in curve.points]
    knee = [] if curve.knee is None or curve.knee > flights[-1] else [float(curve.knee)]
    most = max(rate for _, rate in rates) or 1.0
    lines = [svg.ChartLine(label="IOPS, by requests in flight", points=rates)]
    lines += [svg.ChartLine(label="the knee", points=[(at, 0.0), (at, most)], dash=1) for at in knee]
    up = svg.ChartAxis(what="IOPS", low=0.0, high=most, words=short_number)
    drawn = [svg.plot_svg(lines, across, up, "IOPS against depth")]
    tails = [(float(point.flight), point.p99_ns) for point in curve.points if point.p99_ns]
    if tails:
        line = svg.ChartLine(label="p99, by requests in flight", points=tails)
        latency = svg.latency_axis([value for _, value in tails], "p99")
        drawn.append(svg.plot_svg([line], across, latency, "p99 against depth"))
    yield Picture(svgs=drawn)
    yield Remark(words=curve.sentence)


def _runs(records: Sequence[RunRecord]) -> Iterator[Block]:
    rows = []
    for record in records:
        written = max(record.written.values(), default=0)
        state = record.state + (f": {record.reason}" if record.reason else "")
        what = record.work.words if record.work is not None else record.title
        point = point_words(record.point)
        steady = NOT_STEADY if record.unsteady else ""
        cpu = f"fio used {record.cpu_s:.1f} s of CPU time" if record.cpu_s else ""
        texts = (
            *(state, steady, record.short, span_words(record.during), cpu, record.steady),
            *(*(each.line for each in record.caches), *record.remarks, record.note),
        )
        rows.append(
            (
                f"#{record.id}",
                f"{what} ({point})" if point else what,
                record.figures,
                binary_size(written) if record.written else "?",
                "; ".join(text for text in texts if text),
            )
        )
    yield RowsBlock(rows=rows, head=("run", "what", "figures", "written", "state"))
    yield Remark(words="Written: to the disk that received most.", quiet=True)


def _surroundings(records: Sequence[RunRecord]) -> Iterator[Block]:
    """Yield the environments of the runs, each one once."""
    seen: list[tuple[tuple[str, tuple[Part, ...]], ...]] = []
    for record in records:
        lines = tuple(environment_lines(record.environment))
        if lines not in seen:
            seen.append(lines)
            yield Heading(words=f"Telemetry from run #{record.id} on")
            yield RowsBlock(rows=[(what, ", ".join(map(part_words, parts))) for what, parts in lines])


def data_bytes(records: Sequence[RunRecord], files: RunFiles | None = None) -> bytes:
    """Return all data of runs as JSON; with files, their samples and fio's own JSON, by the runs' numbers."""
    data: dict[str, object] = {"raidtui_bench": 1, "runs": list(records)}
    if files is not None:
        data["samples"] = {str(number): list(found) for number, found in files.samples.items()}
        data["fio"] = {
            str(number): msgspec.Raw(raw) for number, raw in files.raws.items() if dump_of(raw) is not None
        }
    return msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"


def _attached(records: Sequence[RunRecord], files: RunFiles) -> Attachment:
    data = data_bytes(records, files)
    return Attachment(
        name="raidtui-bench.json.gz",
        data=gzip.compress(data, mtime=0),
        sha256=hashlib.sha256(data).hexdigest(),
    )
