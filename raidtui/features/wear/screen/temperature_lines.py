"""How warm a disk was, as a chart: a cell a day, its warmest reading, up to the disk's own limit if near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from raidtui.frame.chart import chart_rows
from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.temperatures import DayTemperature, temperature_words
from raidtui.view.line import Line
from raidtui.view.wrapping import wrap

_LABEL, _HEIGHT = 11, 3
_FEWEST = 3
"""Of fewer days, or where nothing has changed, there is no chart: the figures say it."""
_NEAR_C = 10


def temperature_lines(
    days: Sequence[DayTemperature], reading: SmartReading | None, width: int
) -> Iterator[Line]:
    """Yield a sentence and a chart; nothing where no temperature is known.

    Args:
        days: the oldest first.
        reading: the disk's last one, which has its limits.
        width: of the window.
    """
    for part in wrap(temperature_words(days, reading), max(20, width - _LABEL - 1)):
        yield [(" " * _LABEL, "plain"), (part, "plain")]
    shown = [each for each in days if each.day > days[-1].day - (width - _LABEL - 1)]
    if len(shown) < _FEWEST or len({each.high_c for each in shown}) == 1:
        return
    limit = None if reading is None else reading.temperature_limit_c
    floor = min(each.low_c for each in shown) - 1
    top = max(each.high_c for each in shown)
    top = limit if limit is not None and top < limit <= top + _NEAR_C else top
    warmest = {each.day: each.high_c for each in shown}
    span = range(shown[0].day, shown[-1].day + 1)
    heights = [float(warmest[day] - floor) if day in warmest else None for day in span]
    roles = ["warn" if limit is not None and warmest.get(day, 0) > limit else "plain" for day in span]
    for row, cells in enumerate(chart_rows(heights, len(span), _HEIGHT, float(top - floor))):
        figure = f"{top} °C" if row == 0 else f"{floor + 1} °C" if row == _HEIGHT - 1 else ""
        line: Line = [(f"{figure:>{_LABEL - 2}}  ", "dim")]
        for role, run in groupby(zip(cells, roles, strict=True), key=lambda pair: pair[1]):
            line.append(("".join(cell for cell, _ in run), role))
        yield line
