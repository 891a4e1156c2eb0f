"""``smartctl --json``, parsed: text to records. Nothing here raises, whatever the text.

Keys: smartctl's sources (ataprint.cpp, nvmeprint.cpp, scsiprint.cpp), versions 7.0 to 7.5, and 8.0's
``host_writes``. A key of the wrong type is a key that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from raidtui.host.smart.json_values import flag_at, number_at, rows_at, table_at, text_at, value_at
from raidtui.host.smart.self_test_json import parse_self_tests
from raidtui.host.smart.verdict_json import exception_code, temperature_limits_c, verdict
from raidtui.model.self_test import SelfTests
from raidtui.model.smart import (
    Attribute,
    Counted,
    ErrorRecovery,
    NoReading,
    SmartReading,
    Unread,
    smart_words,
)

NVME_UNIT_BYTES = 512_000
STANDBY_STATUS = 3
POWER_UNKNOWN_STATUS = 5
"""What smartctl is asked to exit with: asleep, and not known. As masks of its own bits they never occur:
a command line that it rejects (bit 0) ends it before anything else can happen."""

_ASLEEP = re.compile(r"Device is in (.{1,40}) mode, exit")
_UNKNOWN_POWER = re.compile(r"CHECK POWER MODE .{1,60}, exit")
_NOT_ALLOWED = re.compile(r"Permission denied|Operation not permitted")
_OPEN_FAILED = 0b11
_ANSWERS = (
    "model_name", "scsi_model_name", "serial_number", "smart_status", "ata_smart_attributes",
    "nvme_smart_health_information_log", "scsi_error_counter_log",
)  # fmt: skip
_MOST_MESSAGES = 20
_MOST_LINES = 2000
_DECIMAL = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,9}))?")
_NONMEDIUM = re.compile(r"Non-medium error count:\s+([0-9]{1,19})\s*")
_LATEST_S = 1 << 36
"""A later time, of the year 4147, is no time of a reading; calendars end soon after."""
_FIRST_S = 1_546_128_000
"""smartctl 7.0, the first with JSON, is of 2018-12-30: an earlier time is that of a clock not set."""
_COUNTS_DEFECTS = [7, 2]
_DEFECT_BYTES = 8
_MOST_PLACES = 1 << 32
"""A raw value beyond that is several figures in one number, and no count of places."""

_REALLOCATED = re.compile(r"Reallocat|Retired_Block|Runtime_Bad_Block|Later_Bad_Block|Grown_Bad")
_UNCORRECTABLE = re.compile(
    r"(Reported_Uncorrect|Uncorrectable_Error_Cnt|Offline_Uncorrectable|Uncorrectable_EC?C\w*|"
    r"Uncorrectable_Sector_Ct)",
)


def parse_smart(text: str, name: str = "", status: int | None = None) -> SmartReading | NoReading:
    """Return the reading in smartctl's output.

    Args:
        text: smartctl's output.
        name: the kernel's name of the disk; "" takes it from the text.
        status: smartctl's exit status, where it is known; else the text's own.
    """
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        said = "nothing" if not text.strip() else f"no JSON ({str(error)[:80]})"
        return _unread(name or "?", Unread.BROKEN, f"smartctl printed {said}")
    if not isinstance(whole, dict):
        return _unread(name or "?", Unread.BROKEN, "smartctl printed something other than a JSON object")
    path = text_at(whole, "device", "name") or ""
    name = name or path.removeprefix("/dev/") or "?"
    exit_status = number_at(whole, "smartctl", "exit_status") if status is None else status
    messages = tuple(_messages(whole))
    return _refused(whole, name, exit_status or 0, messages) or _reading(whole, name, exit_status or 0)


def parse_nonmedium(text: str) -> int | None:
    """Return a SAS disk's non-medium errors from ``smartctl --json=o -l error``.

    smartctl (7.5) has no key for them: they are in its text output, which ``o`` takes into the JSON form.
    """
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return _nonmedium(whole) if isinstance(whole, dict) else None


def _nonmedium(whole: Mapping[str, Any]) -> int | None:
    lines = value_at(whole, ("smartctl", "output"))
    for line in lines[:_MOST_LINES] if isinstance(lines, list) else ():
        if isinstance(line, str) and (found := _NONMEDIUM.fullmatch(line)):
            return int(found[1])
    return None


def _refused(whole: Mapping[str, Any], name: str, status: int, messages: Sequence[str]) -> NoReading | None:
    """Return why there is no reading; if there are data, no bit of the status is a reason."""
    said = "; ".join(messages)
    answered = any(key in whole for key in _ANSWERS)
    asleep = _ASLEEP.search(said)
    if asleep or (status == STANDBY_STATUS and not answered):
        mode = f" ({asleep[1].lower()})" if asleep else ""
        return _unread(name, Unread.STANDBY, f"is asleep{mode} and was not woken")
    if _UNKNOWN_POWER.search(said) or (status == POWER_UNKNOWN_STATUS and not answered):
        reason = "does not report whether it is asleep, so it was not read"
        return _unread(name, Unread.POWER_UNKNOWN, reason, f"smartctl -x {smart_words(name)} reads it anyway")
    if answered:
        return None
    if _NOT_ALLOWED.search(said):
        remedy = "run raidtui as root (sudo raidtui)"
        return _unread(name, Unread.NO_PERMISSION, "only root may read SMART data", remedy)
    if status & _OPEN_FAILED or not whole.get("device"):
        reason = said or f"smartctl read nothing and exited with status {status}"
        return _unread(name, Unread.NO_DEVICE, reason)
    return None


def _unread(name: str, why: Unread, reason: str, remedy: str = "") -> NoReading:
    return NoReading(name=name, why=why, reason=reason, remedy=remedy)


def _reading(whole: Mapping[str, Any], name: str, status: int) -> SmartReading:
    attributes = tuple(_attributes(whole))
    pages = _statistics(whole)
    health = table_at(whole, "nvme_smart_health_information_log")
    sector_bytes = number_at(whole, "logical_block_size") or None
    available = flag_at(whole, "smart_support", "available")
    defects, printed = _grown_defects(whole)
    unkept = _all_zero(whole, pages)
    self_tests = parse_self_tests(whole)
    exception = exception_code(whole)
    limit_c, critical_c = temperature_limits_c(whole)
    return SmartReading(
        name=name,
        protocol=text_at(whole, "device", "protocol") or "",
        kind=text_at(whole, "device", "type") or "",
        model=_model(whole),
        family=text_at(whole, "model_family"),
        serial=text_at(whole, "serial_number"),
        wwn=_wwn(whole),
        firmware=text_at(whole, "firmware_version") or text_at(whole, "scsi_revision"),
        capacity_bytes=number_at(whole, "user_capacity", "bytes") or number_at(whole, "nvme_total_capacity"),
        sector_bytes=sector_bytes,
        rotation_rpm=number_at(whole, "rotation_rate"),
        in_database=_in_database(whole),
        smart_available=available,
        smart_enabled=flag_at(whole, "smart_support", "enabled"),
        passed=verdict(whole, exception),
        exception=text_at(whole, "smart_status", "scsi", "ie_string") or "",
        exception_code=exception,
        exit_status=status,
        messages=tuple(_messages(whole)),
        errors=tuple(_messages(whole, "error")),
        power_on_hours=_hours(number_at(whole, "power_on_time", "hours"), self_tests),
        power_cycles=number_at(whole, "power_cycle_count"),
        temperature_c=None if available is False else number_at(whole, "temperature", "current"),
        temperature_limit_c=limit_c,
        temperature_critical_c=critical_c,
        crc_errors=_first(_crc(attributes), pages.get((6, 0x18))),
        reallocated=_first(_reallocated(attributes), pages.get((3, 0x20)), defects),
        defects_printed=printed,
        spin_retries=_named(attributes, 10, "Spin_Retry"),
        end_to_end_errors=_named(attributes, 184, "End-to-End_Error"),
        command_timeouts=_command_timeouts(attributes),
        reallocation_events=_named(attributes, 196, "Reallocat"),
        critical_minutes=_first(number_at(health, "critical_comp_time"), pages.get((5, 0x50))),
        pending=_first(
            _pending(attributes),
            number_at(whole, "ata_pending_defects_log", "count"),
            number_at(whole, "scsi_pending_defects", "count"),
        ),
        uncorrectable=_first(_uncorrectable(attributes), pages.get((4, 8))),
        nonmedium_errors=_nonmedium(whole),
        media_errors=_first(number_at(health, "media_errors"), None if unkept else _scsi_uncorrected(whole)),
        spare_percent=_first(
            number_at(health, "available_spare"), number_at(whole, "spare_available", "current_percent")
        ),
        spare_threshold_percent=_first(
            number_at(health, "available_spare_threshold"),
            number_at(whole, "spare_available", "threshold_percent"),
        ),
        critical_warning=number_at(health, "critical_warning"),
        endurance_percent=number_at(whole, "endurance_used", "current_percent"),
        statistics_percent=pages.get((7, 8)),
        nvme_percent=number_at(health, "percentage_used"),
        scsi_percent=number_at(whole, "scsi_percentage_used_endurance_indicator"),
        host_writes=_units(
            number_at(whole, "host_writes", "units"), number_at(whole, "host_writes", "bytes_per_unit")
        ),
        statistics_written=None if unkept else _units(pages.get((1, 0x18)), sector_bytes or 512),
        nvme_written=None if unkept else _units(number_at(health, "data_units_written"), NVME_UNIT_BYTES),
        scsi_written=None if unkept else _scsi_gigabytes(whole, "write"),
        write_commands=_first(number_at(health, "host_writes"), pages.get((1, 0x20))),
        all_counters_zero=unkept,
        trim_supported=flag_at(whole, "trim", "supported"),
        trim_zeroed=flag_at(whole, "trim", "zeroed"),
        erc=_recovery(whole),
        attributes=attributes,
        self_tests=self_tests,
        taken_s=_time(number_at(whole, "local_time", "time_t")),
    )


def _messages(whole: Mapping[str, Any], severity: str = "") -> Iterator[str]:
    for each in rows_at(whole, "smartctl", "messages")[:_MOST_MESSAGES]:
        if (text := text_at(each, "string")) and severity in {"", text_at(each, "severity")}:
            yield text


def _hours(hours: int | None, tests: SelfTests | None) -> int | None:
    """A disk whose self-tests ended at a later hour than 0 has no clock that stands at 0."""
    later = tests is not None and any(test.hours for test in tests.log)
    return None if hours == 0 and later else hours


def _grown_defects(whole: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return a SCSI disk's grown defects, and the printed figure where it may be one of bytes.

    smartctl 7.0 and 7.1 print the length of the list, eight bytes for each defect (NEWS of 7.2).
    """
    printed = number_at(whole, "scsi_grown_defect_list")
    if not printed or printed % _DEFECT_BYTES:
        return printed, None
    version = value_at(whole, ("smartctl", "version"))
    if isinstance(version, list) and all(isinstance(part, int) for part in version[:2]) and version:
        return (printed if version >= _COUNTS_DEFECTS else printed // _DEFECT_BYTES), None
    return printed // _DEFECT_BYTES, printed


def _all_zero(whole: Mapping[str, Any], pages: Mapping[tuple[int, int], int]) -> bool:
    """Whether what the protocol counts of transfers, both read and written, stands at 0."""
    health = table_at(whole, "nvme_smart_health_information_log")
    scsi = (_scsi_gigabytes(whole, kind) for kind in ("read", "write"))
    return [0, 0] in (
        [number_at(health, "data_units_read"), number_at(health, "data_units_written")],
        [pages.get((1, 0x28)), pages.get((1, 0x18))],
        [each and each.size_bytes for each in scsi],
    )


def _scsi_gigabytes(whole: Mapping[str, Any], kind: str) -> Counted | None:
    return _gigabytes(value_at(whole, ("scsi_error_counter_log", kind, "gigabytes_processed")))


def _named(attributes: Sequence[Attribute], number: int, begin: str) -> int | None:
    return next(
        (_places(each) for each in attributes if each.id == number and each.name.startswith(begin)), None
    )


def _command_timeouts(attributes: Sequence[Attribute]) -> int | None:
    """Attribute 188. Seagate packs three counts of 16 bits into it; the lowest is that of all timeouts."""
    for each in attributes:
        if each.id == 188 and each.name == "Command_Timeout" and each.raw is not None:
            return each.raw & 0xFFFF
    return None


def _model(whole: Mapping[str, Any]) -> str | None:
    parts = (text_at(whole, "scsi_vendor"), text_at(whole, "scsi_product"))
    joined = " ".join(filter(None, parts))
    return text_at(whole, "model_name") or text_at(whole, "scsi_model_name") or joined or None


def _wwn(whole: Mapping[str, Any]) -> str | None:
    naa, oui, own = (number_at(whole, "wwn", key) for key in ("naa", "oui", "id"))
    if naa is None or oui is None or own is None:
        return text_at(whole, "logical_unit_id")
    return f"0x{naa:x}{oui:06x}{own:09x}"


def _in_database(whole: Mapping[str, Any]) -> bool | None:
    known = flag_at(whole, "in_smartctl_database")
    return True if known is None and text_at(whole, "model_family") else known


def _attributes(whole: Mapping[str, Any]) -> Iterator[Attribute]:
    for row in rows_at(whole, "ata_smart_attributes", "table"):
        number, name = number_at(row, "id"), text_at(row, "name")
        if number is None or name is None:
            continue
        yield Attribute(
            id=number,
            name=name,
            value=number_at(row, "value"),
            worst=number_at(row, "worst"),
            threshold=number_at(row, "thresh"),
            when_failed=text_at(row, "when_failed") or "",
            prefailure=bool(flag_at(row, "flags", "prefailure")),
            raw=number_at(row, "raw", "value"),
            raw_text=text_at(row, "raw", "string") or "",
        )


def _statistics(whole: Mapping[str, Any]) -> dict[tuple[int, int], int]:
    """Return ATA device statistics by page and offset; those marked as not valid are left out."""
    found: dict[tuple[int, int], int] = {}
    for page in rows_at(whole, "ata_device_statistics", "pages"):
        number = number_at(page, "number")
        for row in rows_at(page, "table"):
            offset, value = number_at(row, "offset"), number_at(row, "value")
            if None not in {number, offset, value} and flag_at(row, "flags", "valid") is not False:
                found[number or 0, offset or 0] = value or 0
    return found


def _crc(attributes: Sequence[Attribute]) -> int | None:
    """Attribute 199 where it is named so (on some disks it counts writes), else another that is."""
    named = [each for each in attributes if "CRC" in each.name and each.count is not None]
    return next((each.count for each in sorted(named, key=lambda each: each.id != 199)), None)


def _reallocated(attributes: Sequence[Attribute]) -> int | None:
    return next(
        (_places(each) for each in attributes if each.id == 5 and _REALLOCATED.match(each.name)), None
    )


def _places(attribute: Attribute) -> int | None:
    return attribute.count if attribute.count is not None and attribute.count < _MOST_PLACES else None


def _pending(attributes: Sequence[Attribute]) -> int | None:
    """Attribute 197. Crucial's Current_Pending_ECC_Cnt flips between 0 and 1 on sound disks: 1 is none."""
    for each in attributes:
        if each.id == 197 and "Pending" in each.name:
            return 0 if each.count == 1 and "ECC" in each.name else _places(each)
    return None


def _uncorrectable(attributes: Sequence[Attribute]) -> int | None:
    counts = [_places(each) for each in attributes if _UNCORRECTABLE.fullmatch(each.name)]
    return max((count for count in counts if count is not None), default=None)


def _scsi_uncorrected(whole: Mapping[str, Any]) -> int | None:
    log = table_at(whole, "scsi_error_counter_log")
    counts = [number_at(log, kind, "total_uncorrected_errors") for kind in ("read", "write", "verify")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _units(count: int | None, unit_bytes: int | None) -> Counted | None:
    if count is None or not unit_bytes:
        return None
    return Counted(count=count, unit_bytes=unit_bytes, text=str(count), size_bytes=count * unit_bytes)


def _gigabytes(value: object) -> Counted | None:
    """A text like "2473.166", so many 10^9 bytes: a float would not keep all of its digits."""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    if isinstance(value, bool) or not (found := _DECIMAL.fullmatch(text)):
        return None
    whole = int(found[1])
    size_bytes = whole * 10**9 + int((found[2] or "").ljust(9, "0"))
    return Counted(count=whole, unit_bytes=10**9, text=text, size_bytes=size_bytes)


def _recovery(whole: Mapping[str, Any]) -> ErrorRecovery | None:
    table = table_at(whole, "ata_sct_erc")
    limits = [
        0 if flag_at(table, kind, "enabled") is False else number_at(table, kind, "deciseconds")
        for kind in ("read", "write")
    ]
    return None if limits == [None, None] else ErrorRecovery(read_ds=limits[0], write_ds=limits[1])


def _time(at_s: int | None) -> int | None:
    return at_s if at_s is not None and _FIRST_S <= at_s < _LATEST_S else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
