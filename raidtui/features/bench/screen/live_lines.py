"""A benchmark under way, as lines: what runs, its figures over time, and its surroundings. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidtui.features.bench.caches import CacheRun, hit_points, percent_number
from raidtui.features.bench.results.comparison_verdict import spread
from raidtui.features.bench.results.run_record import (
    NOT_STEADY,
    SIMULATED,
    RunRecord,
    RunSample,
    milliseconds,
    readings_of,
)
from raidtui.features.bench.run.bench_progress import BenchProgress
from raidtui.features.bench.screen.run_table import cut_line
from raidtui.features.bench.telemetry import ArrayNow, Telemetry
from raidtui.frame.chart import chart_rows, slices
from raidtui.jobs.states import JobState
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, fit_words, visible
from raidtui.view.units import binary_size, counted, duration, short_number, three_digits

_SAMPLE_S = 0.25
_LABEL, _NUMBER, _TAIL = 8, 9, 33
_TALL = 36
_COLD = ", began cold"
_RUN_STATES: dict[str, str] = {JobState.MADE: "begins", JobState.RUNNING: ""}


def live_lines(progress: BenchProgress, width: int, height: int, *, stop_key: str = "x") -> list[Line]:
    """Return the lines on a benchmark that is under way.

    Args:
        progress: the benchmark.
        width: cells of a line.
        height: of the window: in a tall one the chart is tall, too.
        stop_key: the key that stops it.
    """
    lines = [_head(progress, width)]
    rows = 3 if height >= _TALL else 1
    is_silent = progress.silent_s is not None
    lines += _iops(progress.samples, width, rows, is_silent=is_silent)
    if progress.record is not None and progress.record.caches:
        lines.append(_hits(progress.record.caches[0], progress.samples, width, is_silent=is_silent))
    lines.append(_bandwidth(progress, width))
    lines.append(_latency(progress.samples, width, is_silent=is_silent))
    lines.append(_telemetry(progress.telemetry))
    if progress.silent_s is not None:
        lines.append([(f" {_silence(progress, progress.silent_s, stop_key)}", "warn")])
    return [cut_line(line, width) for line in lines]


def _silence(progress: BenchProgress, silent_s: float, stop_key: str) -> str:
    why = "a disk may hang" if progress.samples else "it creates its files, or a disk hangs"
    return f"no report from fio for {duration(silent_s)}: {why}; {stop_key} stops it"


def _head(progress: BenchProgress, width: int) -> Line:
    record = progress.record
    what = visible(record.words if record is not None else progress.title)
    if record is not None and record.simulated:
        what = f"{SIMULATED}: {what}"
    where = visible(_where(record, progress))
    right, role = _progress_words(progress)
    room = width - cell_width(right) - 4
    return [
        (" ", "plain"),
        (fit(f"{what} on {where}", max(1, room)), "strong"),
        (f"  {right} ", role),
    ]


def _where(record: RunRecord | None, progress: BenchProgress) -> str:
    arrays = record.environment.arrays if record is not None else ()
    place = record.place if record is not None else progress.place
    return f"{arrays[0].label or arrays[0].name}: {place}" if arrays else place


def _progress_words(progress: BenchProgress) -> tuple[str, str]:
    """Return how far it is, and how that is shown."""
    if progress.run is None:
        words = _RUN_STATES.get(progress.state) or progress.doing or "begins"
        return visible(words), "accent"
    runs = f"run {progress.run + 1} of {'up to ' if progress.open_end else ''}{progress.of}"
    if progress.open_end and not progress.steady:
        runs += f", {NOT_STEADY} yet"
    if progress.doing:
        return f"{visible(progress.doing)[:_TAIL]}  {runs}", "accent"
    return f"{_how_far(progress)}  {runs}", "plain"


def _how_far(progress: BenchProgress) -> str:
    last = progress.samples[-1] if progress.samples else None
    work = progress.record.work if progress.record is not None else None
    t_s = last.t_s if last is not None else 0.0
    if work is None:
        return duration(t_s)
    if work.runtime_s:
        return f"{t_s:.0f} s of {work.runtime_s}"
    done = sum(last.size_bytes) if last is not None else 0
    return f"{100 * done / work.total_bytes:.0f} % of {binary_size(work.total_bytes)}"


def _iops(samples: Sequence[RunSample], width: int, rows: int, *, is_silent: bool) -> list[Line]:
    values = [(each.t_s, each.iops) for each in samples]
    numbers = [value for _, value in values]
    tail = ""
    if numbers:
        found = spread(numbers)
        tail = f"median {short_number(found.median)}  {short_number(found.low)} … {short_number(found.high)}"
    chart = _chart(values, width, rows)
    now = f"{numbers[-1]:,.0f}" if numbers and not is_silent else "–"
    lines: list[Line] = [
        [(" " * (_LABEL + _NUMBER + 2), "plain"), (text, "accent"), (" " * (_TAIL + 2), "plain")]
        for text in chart[:-1]
    ]
    return [*lines, _row("IOPS", now, chart[-1], tail, role="strong")]


def _hits(cache: CacheRun, samples: Sequence[RunSample], width: int, *, is_silent: bool) -> Line:
    """Return the hits of the cache below, and what it is."""
    points = [*hit_points(readings_of(samples), cache.name)]
    last_s = 0.0
    if points:  # the first point is of all the time until then, as the chart above it
        points.insert(0, (min(samples[0].t_s, points[0][0]), points[0][1]))
        last_s = samples[-1].t_s
    now = percent_number(points[-1][1]) if points and not is_silent else "–"
    words = " ".join(word for word in (visible(cache.title), cache.before.mode or "") if word)
    tail = (
        f"{fit_words(words, _TAIL - len(_COLD)).rstrip()}{_COLD}"
        if cache.cold
        else fit_words(words, _TAIL).rstrip()
    )
    return _row("hits %", now, _chart(points, width, 1, last_s=last_s, top=1.0)[-1], tail)


def _bandwidth(progress: BenchProgress, width: int) -> Line:
    left = progress.left
    end = f"{left.words} left" if left is not None and left.words and progress.works else ""
    rate, mixed = "–", ""
    if progress.samples and progress.silent_s is None:
        last = progress.samples[-1]
        rate = three_digits(last.bytes_s / 1e6)
        if last.ios[0] and last.ios[1]:
            mixed = f"read {short_number(last.read.iops)}, write {short_number(last.write.iops)}"
    return _row("MB/s", rate, fit_words(mixed, _chart_width(width)), end, chart_role="plain")


def _latency(samples: Sequence[RunSample], width: int, *, is_silent: bool) -> Line:
    points = [(each.t_s, float(each.main.p99_ns)) for each in samples if each.main.p99_ns is not None]
    chart = _chart(points, width, 1)[-1]
    if not samples or is_silent:
        return _row("p99 ms", "–", chart, "")
    last = samples[-1].main
    now = milliseconds(last.p99_ns) if last.p99_ns is not None else "–"
    others = (("p50", last.p50_ns), ("p99.9", last.p999_ns))
    tail = "  ".join(f"{word} {milliseconds(value)}" for word, value in others if value is not None)
    return _row("p99 ms", now, chart, tail)


def _row(
    label: str, number: str, chart: str, tail: str, *, role: str = "plain", chart_role: str = "accent"
) -> Line:
    return [
        (f" {label:<{_LABEL - 1}}", "dim"),
        (f"{fit(f'{number:>{_NUMBER}}', _NUMBER)}  ", role),
        (chart, chart_role),
        (f"  {tail:>{_TAIL}}", "plain"),
    ]


def _chart_width(width: int) -> int:
    return max(1, width - _LABEL - _NUMBER - 2 - _TAIL - 3)


def _chart(
    points: Sequence[tuple[float, float]],
    width: int,
    rows: int,
    *,
    last_s: float = 0.0,
    top: float | None = None,
) -> list[str]:
    """Return the whole run: each cell is a slice of time that grows when all cells are full.

    Args:
        points: (seconds, value), oldest first.
        width: of the line that it is in.
        rows: how many rows it has.
        last_s: the run's last second, if that is later than the last point.
        top: the value of a full cell; None for the largest one.
    """
    cells = _chart_width(width)
    if not points:
        return [" " * cells] * rows
    slice_s = _SAMPLE_S * max(1, math.ceil(max(last_s, points[-1][0]) / _SAMPLE_S / cells))
    return chart_rows(slices(points, cells, slice_s), cells, rows, top)


def _telemetry(telemetry: Telemetry | None) -> Line:
    spans: Line = [(f" {'CPU':<{_LABEL - 1}}", "dim")]
    if telemetry is None:
        return [*spans, ("–", "dim")]
    if telemetry.mhz is None:
        spans.append(("no cpufreq", "dim"))
    else:
        low, high = (three_digits(each / 1000) for each in telemetry.mhz)
        spans.append(
            (f"{low if low == high else f'{low} … {high}'} GHz {visible(telemetry.governor)}", "plain")
        )
    for word, role in (*_temperatures(telemetry), *(_array(each) for each in telemetry.arrays)):
        spans.append((f"   {word}", role))
    return spans


def _temperatures(telemetry: Telemetry) -> list[tuple[str, str]]:
    """Return each disk with its temperature; of many the warmest."""
    found = sorted(telemetry.celsius.items(), key=lambda each: -each[1])
    if len(found) > 4:
        name, most = found[0]
        return [(f"{counted(len(found), 'disk')} {found[-1][1]:.0f} … {most:.0f} °C ({name})", "plain")]
    return [(f"{name} {value:.0f} °C", "plain") for name, value in sorted(found)]


def _array(array: ArrayNow) -> tuple[str, str]:
    words = [visible(f"{array.label or array.name} {array.state}")]
    if array.missing:
        words.append(f"{counted(array.missing, 'member')} missing")
    if array.sync:
        percent = f" {array.percent:.1f} %" if array.percent is not None else ""
        words.append(f"{array.sync}{percent}")
    else:
        words.append("no sync")
    return ", ".join(words), "warn" if array.missing or array.sync else "plain"
