"""How warm a disk was, day by day, by the readings that the ledger keeps. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.ledger_entries import DAY_S, LedgerEntry


class DayTemperature(Struct, frozen=True, kw_only=True):
    """The readings of a day (UTC), degrees Celsius.

    Args:
        day: counted from 1970 on.
        low_c, high_c: the coolest and the warmest one; of a day a month ago, only its last reading is kept.
    """

    day: int
    low_c: int
    high_c: int

    @property
    def words(self) -> str:
        """Return the range: ``28 to 34 °C``."""
        return f"{self.low_c} °C" if self.low_c == self.high_c else f"{self.low_c} to {self.high_c} °C"


def day_temperatures(entries: Sequence[LedgerEntry]) -> tuple[DayTemperature, ...]:
    """Return how warm a disk was on the days on which it was read, the oldest first."""
    days: dict[int, list[int]] = {}
    for entry in entries:
        if entry.temperature_c is not None:
            days.setdefault(int(entry.at_s // DAY_S), []).append(entry.temperature_c)
    return tuple(
        DayTemperature(day=day, low_c=min(each), high_c=max(each)) for day, each in sorted(days.items())
    )


def temperature_words(days: Sequence[DayTemperature], reading: SmartReading | None) -> str:
    """Return the range of some days and the disk's own limits, a sentence; "" where nothing is known.

    Args:
        days: as ``day_temperatures`` returns them.
        reading: the disk's last one, which has its limits.
    """
    if not days:
        return ""
    whole = DayTemperature(
        day=days[-1].day, low_c=min(each.low_c for each in days), high_c=max(each.high_c for each in days)
    )
    parts = [f"temperature: {whole.words}"]
    if reading is not None and (limit := reading.temperature_limit_c) is not None:
        parts.append(f"made for {limit} °C")
        if over := sum(each.high_c > limit for each in days):
            parts.append(f"too hot on {over} of {len(days)} days")
    if reading is not None and reading.temperature_critical_c is not None:
        parts.append(f"critical at {reading.temperature_critical_c} °C")
    return ", ".join(parts)
