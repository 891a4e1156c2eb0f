"""Wear in plain sentences: for people, mail and screen readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from raidtui.model.finding import Finding
from raidtui.view.text import visible
from raidtui.wear.array import ArrayWear
from raidtui.wear.record import DiskWear
from raidtui.wear.sizes import decimal_size


def wear_lines(disks: Sequence[DiskWear], arrays: Sequence[ArrayWear] = ()) -> Iterator[str]:
    """Yield all of it in plain sentences, every text from outside made visible."""
    for disk in disks:
        yield from map(visible, _disk_lines(disk))
    for array in arrays:
        for finding in array.findings:
            yield visible(f"{array.name}: {_sentence(finding)}")


def _disk_lines(disk: DiskWear) -> Iterator[str]:
    reading = disk.reading
    if reading is None:
        yield f"{disk.name}: not read"
    else:
        serial = f", serial {reading.serial}" if reading.serial else ""
        yield f"{disk.name}: {reading.model or 'unknown model'}{serial}"
        yield f"  life used  {_percent_words(disk)}"
        yield f"  written    {_written_words(disk)}"
        if words := _forecast_words(disk):
            yield f"  ends       {words}"
    for finding in disk.findings:
        yield f"  {finding.severity.word}: {_sentence(finding)}"


def _sentence(finding: Finding) -> str:
    return f"{finding.sentence}" + (f"; {finding.remedy}" if finding.remedy else "")


def _percent_words(disk: DiskWear) -> str:
    found = disk.percent
    if found.percent is None:
        return f"unknown: {found.note}"
    note = f"; {found.note}" if found.note else ""
    return f"{found.percent} % ({found.source}, {found.confidence.value}: {found.raw}{note})"


def _written_words(disk: DiskWear) -> str:
    found = disk.written
    if found.size_bytes is None:
        counter = f" ({found.source}: {found.raw})" if found.source else ""
        return f"unknown: {found.note}{counter}"
    note = f"; {found.note}" if found.note else ""
    source = f"{found.source}, {found.confidence.value}: {found.raw} x {found.unit_bytes} bytes"
    return f"{decimal_size(found.size_bytes)} ({source}{note})"


def _forecast_words(disk: DiskWear) -> str:
    found = disk.forecast
    if found is None:
        return ""
    by = "the maker's rating" if found.by == "rating" else "the disk's percentage"
    rate = f", {decimal_size(found.per_day_bytes)} a day" if found.per_day_bytes is not None else ""
    if found.over:
        return f"its rated life is used up, by {by}{rate}"
    if found.ends_s is None and found.earliest_s is None:
        return f"not within 50 years, by {by}{rate}"
    likely = f"about {_month(found.ends_s)}" if found.ends_s is not None else "not within 50 years"
    early = f"not before {_month(found.earliest_s)}" if found.earliest_s is not None else ""
    late = f"at the latest {_month(found.latest_s)}" if found.latest_s is not None else ""
    band = ", ".join(filter(None, (early, late)))
    return f"{likely}{f' ({band})' if band else ''}, by {by}{rate}"


def _month(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m")
