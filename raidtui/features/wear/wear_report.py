"""Wear as sentences, JSON and Prometheus metrics. Pure: nothing is read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.model.finding import Finding
from raidtui.model.smart import SmartMeasurement, SmartReading
from raidtui.monitor.wear.array_wear import ArrayWear
from raidtui.monitor.wear.bytes_written import Written
from raidtui.monitor.wear.disk_wear import DiskWear, judge_disk
from raidtui.monitor.wear.endurance import Percent
from raidtui.monitor.wear.ledger_entries import DAY_S
from raidtui.monitor.wear.self_test_words import hours_ago, last_words
from raidtui.monitor.wear.temperatures import DayTemperature
from raidtui.view.text import escaped, visible
from raidtui.view.units import decimal_size


def wear_lines(disks: Sequence[DiskWear], arrays: Sequence[ArrayWear] = ()) -> Iterator[str]:
    """Yield sentences about disks and arrays, with control characters of foreign text made visible."""
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
        if words := last_words(reading):
            yield f"  self-test  {words}"
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


FORMAT_VERSION = 1


def wear_of_text(text: str, name: str) -> DiskWear:
    """Return the wear of a disk from an output of ``smartctl --json -x``.

    Args:
        text: smartctl's output.
        name: its name if the text names no disk: the file's.
    """
    found = parse_smart(text)
    result = found if found.name != "?" else parse_smart(text, name)
    at_s = getattr(result, "taken_s", None) or 0.0
    return judge_disk(SmartMeasurement(result=result), at_s)


def wear_dict(disks: Sequence[DiskWear], arrays: Sequence[ArrayWear] = ()) -> dict[str, Any]:
    """Return the JSON form as a dict. Unknown values are null."""
    return {
        "format_version": FORMAT_VERSION,
        "disks": [_disk(disk) for disk in disks],
        "arrays": [
            {
                "name": each.name,
                "disks": list(each.disks),
                "findings": [_finding(one) for one in each.findings],
            }
            for each in arrays
        ],
    }


def _disk(disk: DiskWear) -> dict[str, Any]:
    """``source`` and ``confidence`` are those of the bytes, or of the percentage where there are no bytes."""
    reading, written, percent = disk.reading, disk.written, disk.percent
    main = written if written.source or not percent.source else percent
    return {
        "name": disk.name,
        "model": reading and reading.model,
        "serial": reading and reading.serial,
        "percent_used": percent.percent,
        "bytes_written": written.size_bytes,
        "unit_bytes": written.unit_bytes,
        "source": main.source or None,
        "confidence": main.confidence.value,
        "smart_passed": reading and reading.passed,
        "findings": [_finding(finding) for finding in disk.findings],
        "percent": _figure(percent),
        "written": {
            **_figure(written),
            "promised_unit_bytes": disk.promised.unit_bytes,
            "unit_verdict": disk.verdict.kind.value,
        },
        "wwn": reading and reading.wwn,
        "firmware": reading and reading.firmware,
        "protocol": (reading and reading.protocol) or None,
        "capacity_bytes": reading and reading.capacity_bytes,
        "power_on_hours": reading and reading.power_on_hours,
        "temperature_c": reading and reading.temperature_c,
        "temperature_limit_c": reading and reading.temperature_limit_c,
        "temperature_critical_c": reading and reading.temperature_critical_c,
        "temperatures": temperature_dicts(disk.temperatures),
        "crc_errors": reading and reading.crc_errors,
        "reallocated": reading and reading.reallocated,
        "pending": reading and reading.pending,
        "uncorrectable": reading and reading.uncorrectable,
        "media_errors": reading and reading.media_errors,
        "nonmedium_errors": reading and reading.nonmedium_errors,
        "spin_retries": reading and reading.spin_retries,
        "end_to_end_errors": reading and reading.end_to_end_errors,
        "command_timeouts": reading and reading.command_timeouts,
        "reallocation_events": reading and reading.reallocation_events,
        "critical_minutes": reading and reading.critical_minutes,
        "trim_zeroed": reading and reading.trim_zeroed,
        "trouble": disk.trouble and disk.trouble.kind.value,
        "forecast": _forecast(disk),
        "self_tests": reading and _self_tests(reading),
        "unread": disk.unread and {"why": disk.unread.why.value, "reason": disk.unread.reason},
    }


def temperature_dicts(days: Sequence[DayTemperature]) -> list[dict[str, Any]]:
    """Return the JSON form of how warm a disk was."""
    return [{"day": _day_words(each.day), "low_c": each.low_c, "high_c": each.high_c} for each in days]


def _day_words(day: int) -> str:
    """Return a day that is counted from 1970 on: ``2026-11-29``."""
    return datetime.fromtimestamp(day * DAY_S, UTC).strftime("%Y-%m-%d")


def _self_tests(reading: SmartReading) -> dict[str, Any] | None:
    tests = reading.self_tests
    if tests is None:
        return None
    running = tests.running
    return {
        "running": running and {"kind": running.kind.value, "left_percent": running.left_percent},
        "can_run": None if tests.kinds is None else [kind.value for kind in tests.kinds],
        "log": [
            {
                "kind": test.kind.value,
                "outcome": test.outcome.value,
                "power_on_hours": test.hours,
                "hours_ago": hours_ago(reading, test),
                "lba": test.lba,
                "text": test.text or None,
            }
            for test in tests.log
        ],
    }


def _figure(found: Percent | Written) -> dict[str, Any]:
    return {
        "source": found.source or None,
        "confidence": found.confidence.value,
        "raw": found.raw or None,
        "note": found.note or None,
        "witnesses": [
            {"source": each.source, "says": each.says, "agrees": each.agrees} for each in found.witnesses
        ],
    }


def _forecast(disk: DiskWear) -> dict[str, Any] | None:
    found = disk.forecast
    if found is None:
        return None
    return {
        "by": found.by,
        "ends_s": found.ends_s and round(found.ends_s),
        "earliest_s": found.earliest_s and round(found.earliest_s),
        "latest_s": found.latest_s and round(found.latest_s),
        "per_day_bytes": found.per_day_bytes,
        "over": found.over,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.word,
        "code": finding.code,
        "sentence": f"{finding.name}: {finding.sentence}",
        "remedy": finding.remedy or None,
    }


def metric_lines(disks: Sequence[DiskWear]) -> Iterator[str]:
    """Yield metrics in Prometheus' text format; unknown values are left out."""
    for name, kind, text, values in (
        ("raidtui_disk_life_used_ratio", "gauge", "Used part of the rated life.", _ratios(disks)),
        ("raidtui_disk_written_bytes_total", "counter", "Host writes in the disk's life.", _bytes(disks)),
        ("raidtui_disk_power_on_seconds", "gauge", "Age in service.", _ages(disks)),
        ("raidtui_disk_temperature_celsius", "gauge", "Temperature.", _values(disks, "temperature_c")),
        ("raidtui_disk_smart_passed", "gauge", "The disk's own verdict.", _values(disks, "passed")),
        ("raidtui_disk_crc_errors_total", "counter", "Failed transfers.", _values(disks, "crc_errors")),
        ("raidtui_disk_reallocated_total", "counter", "Remapped places.", _values(disks, "reallocated")),
        ("raidtui_disk_pending", "gauge", "Unreadable places.", _values(disks, "pending")),
        (
            "raidtui_disk_uncorrectable_total",
            "counter",
            "Uncorrectable errors.",
            _values(disks, "uncorrectable"),
        ),
        ("raidtui_disk_media_errors_total", "counter", "Media errors.", _values(disks, "media_errors")),
        (
            "raidtui_disk_nonmedium_errors_total",
            "counter",
            "Non-medium errors.",
            _values(disks, "nonmedium_errors"),
        ),
        (
            "raidtui_disk_findings",
            "gauge",
            "Worst finding: 0 none or info, 1 attention, 2 degraded, 3 failed.",
            _worst(disks),
        ),
    ):
        lines = [f"{name}{{{_labels(disk, extra)}}} {_number(value)}" for disk, extra, value in values]
        if lines:
            yield f"# HELP {name} {text}"
            yield f"# TYPE {name} {kind}"
            yield from lines


def _number(value: float) -> str:
    """Return an integer whole, and a ratio without zeros at its end."""
    return str(value) if isinstance(value, int) else f"{value:g}"


_Values = Iterable[tuple[DiskWear, Mapping[str, str], float]]


def _ages(disks: Sequence[DiskWear]) -> _Values:
    return ((disk, extra, hours * 3600) for disk, extra, hours in _values(disks, "power_on_hours"))


def _ratios(disks: Sequence[DiskWear]) -> _Values:
    for disk in disks:
        if disk.percent.percent is not None:
            yield disk, {"confidence": disk.percent.confidence.value}, disk.percent.percent / 100


def _bytes(disks: Sequence[DiskWear]) -> _Values:
    for disk in disks:
        if disk.written.size_bytes is not None:
            yield disk, {"confidence": disk.written.confidence.value}, disk.written.size_bytes


def _values(disks: Sequence[DiskWear], field: str) -> _Values:
    for disk in disks:
        value = None if disk.reading is None else getattr(disk.reading, field)
        if value is not None:
            yield disk, {}, int(value)


def _worst(disks: Sequence[DiskWear]) -> _Values:
    for disk in disks:
        if disk.reading is not None:
            yield disk, {}, max((int(each.severity) for each in disk.findings), default=0)


def _labels(disk: DiskWear, extra: Mapping[str, str]) -> str:
    reading = disk.reading
    known = {
        "device": disk.name,
        "model": (reading and reading.model) or "",
        "serial": (reading and reading.serial) or "",
    }
    return ",".join(f'{key}="{escaped(value)}"' for key, value in {**known, **extra}.items())
