"""Charts of speed over time in block characters. A cell is a slice of time, so that they change seldom."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.view.units import rate_and_unit, rate_mb_s

SLICE_S = 2.0
GAP_S = 6.0
"""A sample that comes so much later than the one before leaves a gap; a cell that is only late does not."""
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def slices(points: Sequence[tuple[float, float]], count: int, slice_s: float = SLICE_S) -> list[float | None]:
    """Return the mean of each of the last ``count`` slices of time, oldest first; None where nobody looked.

    Args:
        points: (clock_s, value), oldest first.
        count: how many cells there are.
        slice_s: how long one is.
    """
    if not points or count < 1:
        return []
    sums: dict[int, tuple[float, int]] = {}
    for clock_s, value in points:
        total, number = sums.get(int(clock_s // slice_s), (0.0, 0))
        sums[int(clock_s // slice_s)] = (total + value, number + 1)
    last = max(sums)
    first = max(min(sums), last - count + 1)
    values: list[float | None] = []
    seen = min(sums)
    for index in range(first, last + 1):
        total, number = sums.get(index, (0.0, 0))
        if number:
            seen = index
        late = (index - seen) * slice_s > GAP_S or not values
        values.append(total / number if number else None if late else values[-1])
    return values


def chart_rows(
    values: Sequence[float | None], width: int, height: int, top: float | None = None
) -> list[str]:
    """Return ``height`` rows of exactly ``width`` cells, top first, scaled from zero to ``top``.

    Without one it is the largest value.

    The top eighth of a cell stays free: the line above is as solid.
    """
    shown = list(values)[-width:]
    top = max(_known(shown), default=0.0) if top is None else top
    rows: list[str] = []
    for row in range(height - 1, -1, -1):
        cells = []
        for value in shown:
            if value is None:
                cells.append(" ")
                continue
            eighths = round(value / top * (height * 8 - 1)) if top > 0 else 0
            filled = min(8, max(0, eighths - row * 8))
            cells.append(_EIGHTHS[max(1, filled) if row == 0 else filled])
        rows.append("".join(cells).ljust(width))
    return rows


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def spread_words(values: Sequence[float | None]) -> str:
    """Return the range of values in KiB/s as ``384 … 525 MB/s``; "" for no values."""
    known = _known(values)
    if not known:
        return ""
    low, high = rate_and_unit(min(known)), rate_and_unit(max(known))
    if low == high:
        return " ".join(high)
    return f"{low[0] if low[1] == high[1] else ' '.join(low)} … {' '.join(high)}"


def median_words(values: Sequence[float | None]) -> str:
    """Return the median of values in KiB/s as ``median 450 MB/s``; "" for no values."""
    if not (ordered := sorted(_known(values))):
        return ""
    middle = len(ordered) // 2
    both = ordered[middle - 1 + len(ordered) % 2 : middle + 1]
    return f"median {rate_mb_s(sum(both) / len(both))}"


def bar(fraction: float, width: int) -> str:
    """Return a progress bar of ``width`` cells, filled to the eighth of a cell."""
    eighths = round(max(0.0, min(1.0, fraction)) * width * 8)
    full, part = divmod(eighths, 8)
    filled = "█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")
    return filled[:width].ljust(width, "░")
