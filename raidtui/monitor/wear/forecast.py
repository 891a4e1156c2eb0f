"""The date at which a disk's rated life ends at its present rate, with a range.

By the maker's rating (TBW, from the user's settings) where there is one, else by the percentage that the
disk gives, each per cent taken for as many bytes as it took so far. The band comes from the rates of the last
week, month and year and of the whole life, and, for a percentage, from its being rounded. It is the end of
the rated life, not the death of the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry, cost_bytes

_WINDOWS_S = (7 * DAY_S, 30 * DAY_S, 365 * DAY_S)
_LEAST_S = DAY_S
_FARTHEST_S = 50 * 365.25 * DAY_S
_HOUR_S = 3600
_FIRST_S = 1_546_128_000
"""smartctl's first with JSON is of 2018-12-30: an earlier time is that of a clock that is not set."""


class Forecast(Struct, frozen=True, kw_only=True):
    """When rated life ends. Times are epoch seconds; None is "not within fifty years".

    Args:
        by: "rating" (written against the user's TBW) or "percent" (the disk's own figure).
        ends_s: at the rate of the last month, or of the best that is known.
        earliest_s, latest_s: the band; both None as well where one rate alone is known.
        per_day_bytes: the rate; None where only the percentage is known.
        over: whether the rated life is used up already.
    """

    by: str
    ends_s: float | None
    earliest_s: float | None = None
    latest_s: float | None = None
    per_day_bytes: int | None = None
    over: bool = False


def rated_bytes(model: str | None, ratings: Mapping[str, int]) -> int | None:
    """Return the rated writes of a model, bytes, by the longest entry that the model's name begins with.

    Args:
        model: as the disk gives it.
        ratings: bytes (TBW) by model, or by the beginning of its name; upper and lower case are the same.
    """
    wanted = (model or "").casefold()
    fitting = [name for name in ratings if name and wanted.startswith(name.casefold())]
    return ratings[max(fitting, key=len)] if fitting else None


def forecast(
    entries: Sequence[LedgerEntry], rated: int | None = None, unit_bytes: int | None = None
) -> Forecast | None:
    """Return when a disk's rated life ends, or None where rate, life or the present time is not known.

    Args:
        entries: the disk's readings, the oldest first; the last one is now. One is enough where the disk
            reports its age: the rate is then that of its whole life.
        rated: the maker's rating, bytes.
        unit_bytes: the measured unit of its counter, where the promised one is wrong.
    """
    if not entries or entries[-1].at_s < _FIRST_S:
        return None
    now = entries[-1]
    size = _size(now, unit_bytes)
    if rated and size is not None:
        return _by_rating(entries, size, rated, unit_bytes)
    if now.percent is not None:
        return _by_percent(entries, now.percent, unit_bytes)
    return None


def _size(entry: LedgerEntry, unit_bytes: int | None) -> int | None:
    if unit_bytes is not None and entry.count is not None:
        return entry.count * unit_bytes
    return entry.size_bytes


def _by_rating(
    entries: Sequence[LedgerEntry], size: int, rated: int, unit_bytes: int | None
) -> Forecast | None:
    now = entries[-1]
    rates = list(_byte_rates(entries, unit_bytes))
    if size >= rated:
        return Forecast(by="rating", ends_s=now.at_s, over=True, per_day_bytes=_per_day(rates))
    if not rates:
        return None
    left = [(rated - size) / rate if rate else float("inf") for rate in rates]
    return Forecast(
        by="rating",
        ends_s=_date(now.at_s, left[0]),
        earliest_s=_date(now.at_s, min(left)) if len(left) > 1 else None,
        latest_s=_date(now.at_s, max(left)) if len(left) > 1 else None,
        per_day_bytes=_per_day(rates),
    )


def _per_day(rates: Sequence[float]) -> int | None:
    return round(rates[0] * DAY_S) if rates else None


def _byte_rates(entries: Sequence[LedgerEntry], unit_bytes: int | None) -> Iterator[float]:
    """Yield bytes a second, the best figure first: of the last month, then of other windows, then of life."""
    now = entries[-1]
    seen: set[float] = set()
    for window_s in sorted(_WINDOWS_S, key=lambda each: each != 30 * DAY_S):
        first = _oldest(entries, now.at_s - window_s)
        if first is None or first.at_s in seen:
            continue
        seen.add(first.at_s)
        if (cost := cost_bytes(first, now, unit_bytes)) is not None:
            yield cost / (now.at_s - first.at_s)
    size = _size(now, unit_bytes)
    if size is not None and now.hours:
        yield size / (now.hours * _HOUR_S)


def _oldest(entries: Sequence[LedgerEntry], since_s: float) -> LedgerEntry | None:
    """Return the first reading since a time that is long enough ago."""
    now = entries[-1]
    for entry in entries:
        if entry.at_s >= since_s:
            return entry if now.at_s - entry.at_s >= _LEAST_S else None
    return None


def _by_percent(entries: Sequence[LedgerEntry], percent: int, unit_bytes: int | None) -> Forecast | None:
    """By the bytes that a per cent took so far, and the present rate; else by the rate of the percentage.

    The percentage is rounded: what is left is less than a point off, and so is each difference. Of a disk to
    which nothing is written now there is no likely date: its life so far gives the earliest.
    """
    now = entries[-1]
    rates = list(_byte_rates(entries, unit_bytes))
    if percent >= 100:
        return Forecast(by="percent", ends_s=now.at_s, over=True, per_day_bytes=_per_day(rates))
    if (size := _size(now, unit_bytes)) and rates:
        least, best = (size * (100 / (percent + more) - 1) for more in (1, 0.5))
        most = size * (100 / percent - 1) if percent else float("inf")
        return Forecast(
            by="percent",
            ends_s=_date(now.at_s, best / rates[0]) if percent and rates[0] else None,
            earliest_s=_date(now.at_s, least / max(rates)) if max(rates) else None,
            latest_s=_date(now.at_s, most / min(rates)) if min(rates) else None,
            per_day_bytes=_per_day(rates),
        )
    slope = next(_percent_slopes(entries, percent), None)
    if slope is None:
        return None
    slowest, likely, fastest = slope
    return Forecast(
        by="percent",
        ends_s=_date(now.at_s, (100 - percent) / likely) if likely else None,
        earliest_s=_date(now.at_s, (99 - percent) / fastest) if fastest else None,
        latest_s=_date(now.at_s, (100 - percent) / slowest) if slowest else None,
        per_day_bytes=_per_day(rates),
    )


def _percent_slopes(entries: Sequence[LedgerEntry], percent: int) -> Iterator[tuple[float, float, float]]:
    """Yield the least, likely and most percent a second: over what is known, then over the disk's life."""
    now = entries[-1]
    known = [entry for entry in entries if entry.percent is not None]
    first = next((entry for entry in known if now.at_s - entry.at_s <= _WINDOWS_S[-1]), None)
    if first is not None and (first.percent or 0) + 2 <= percent and now.at_s - first.at_s >= _LEAST_S:
        passed_s = now.at_s - first.at_s
        gone = percent - (first.percent or 0)
        yield (gone - 1) / passed_s, gone / passed_s, (gone + 1) / passed_s
    if now.hours:
        life_s = now.hours * _HOUR_S
        yield percent / life_s, (percent + 0.5) / life_s if percent else 0.0, (percent + 1) / life_s


def _date(now_s: float, left_s: float) -> float | None:
    return now_s + left_s if left_s <= _FARTHEST_S else None
