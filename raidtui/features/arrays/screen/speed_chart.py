"""The chart of a sync's speed beside its figures, and what holds it back."""

from __future__ import annotations

from raidtui.frame.chart import SLICE_S, chart_rows, median_words, slices, spread_words
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, fit_figure, visible
from raidtui.view.units import duration, rate_mb_s
from raidtui.view.wrapping import wrap
from raidtui.watch.watch import Report

LABEL = 10
_MOST_NOTES = 6
"""How many short lines beside the chart are read more easily than one long line below it."""


def speed_lines(report: Report, array: Array, width: int, height: int) -> list[Line]:
    """Return the chart in so many rows; [] without a sync that moves."""
    points = report.speeds.get(array.key, ())
    if not points or array.sync is None:
        return []
    cells = max(10, width - LABEL - 1 - 52)
    if height > 1:
        cells = width - LABEL - 1 - 24
    values = slices(points, cells)
    estimate = report.estimates.get(array.key)
    now = rate_mb_s(estimate.speed_kib_s) if estimate else ""
    held = report.brakes.get(array.key)
    brake = visible(held.sentence) if held and array.sync.phase is Phase.RUNNING else ""
    rows = chart_rows(values, cells, height)
    if height == 1:
        room = width - LABEL - 1 - cells - 22
        beside = cell_width(brake) <= room
        line: Line = [
            (fit_figure(f"{now:>{LABEL - 1}}", LABEL + 1), "strong"),
            (rows[0], "accent"),
            (fit_figure(f"  {spread_words(values)}", 22), "plain"),
            (fit(brake if beside else "", room), "warn"),
        ]
        return [line, *([] if beside else _below_chart(brake, width))]
    notes = [f"now {now}", spread_words(values), median_words(values), *wrap(brake, 21)]
    beside = len(notes) <= min(height, _MOST_NOTES)
    notes = (notes if beside else notes[:3]) + [""] * height
    axis = (
        f"{rate_mb_s(max((each for each in values if each is not None), default=0.0))}",
        *[""] * (height - 2),
        "0",
    )
    lines: list[Line] = [
        [
            (f"{axis[number]:>{LABEL}}" + ("┤" if axis[number] else "│"), "dim"),
            (row, "accent"),
            (
                fit(f"  {notes[number]}", width - LABEL - 1 - cells),
                "warn" if number >= 3 else "plain",
            ),
        ]
        for number, row in enumerate(rows)
    ]
    return [*lines, _time_axis(len(values), cells), *([] if beside else _below_chart(brake, width))]


def _time_axis(count: int, cells: int) -> Line:
    """Return the line below a chart: when its first and its last slice were."""
    begun = f"{duration(count * SLICE_S)} ago"
    ends = "now".rjust(count - cell_width(begun)) if count >= cell_width(begun) + 5 else ""
    return [(" " * LABEL + "└", "dim"), (fit(begun + ends if ends else "now", cells), "dim")]


def _below_chart(words: str, width: int) -> list[Line]:
    """Return what holds a sync back, where there is no room beside the chart."""
    parts = wrap(words, width - LABEL - 1)
    return [[(fit(" " * (LABEL + 1) + part, width), "warn")] for part in parts]
