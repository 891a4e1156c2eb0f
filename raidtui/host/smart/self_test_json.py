"""Self-tests out of ``smartctl --json``: ATA, NVMe and SCSI report them in forms of their own.

Outcomes are read by their numbers: ATA's execution status (ACS-4, self-test log), NVMe's result (NVM Express
base specification, device self-test log), SCSI's (SPC-4, self-test results log page). smartctl reads NVMe's
log since version 7.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raidtui.host.smart.json_values import flag_at, number_at, rows_at, table_at, text_at
from raidtui.model.self_test import RunningSelfTest, SelfTest, SelfTestKind, SelfTestOutcome, SelfTests

_MOST = 64
_RUNS = 15
_KINDS = {
    0: SelfTestKind.OFFLINE,
    1: SelfTestKind.SHORT,
    2: SelfTestKind.LONG,
    3: SelfTestKind.CONVEYANCE,
    4: SelfTestKind.SELECTIVE,
}
_CAPTIVE = 0x80
_PASSED, _FAILED = SelfTestOutcome.PASSED, SelfTestOutcome.FAILED
_ABORTED, _INTERRUPTED = SelfTestOutcome.ABORTED, SelfTestOutcome.INTERRUPTED
_ATA = {0: _PASSED, 1: _ABORTED, 2: _INTERRUPTED, **dict.fromkeys(range(3, 9), _FAILED)}
_NVME_KINDS = {1: SelfTestKind.SHORT, 2: SelfTestKind.LONG}
_NVME = {
    0: _PASSED,
    2: _INTERRUPTED,
    **dict.fromkeys((1, 3, 4, 8, 9), _ABORTED),
    **dict.fromkeys((5, 6, 7), _FAILED),
}
_SCSI_KINDS = {1: SelfTestKind.SHORT, 2: SelfTestKind.LONG, 5: SelfTestKind.SHORT, 6: SelfTestKind.LONG}
_SCSI = {0: _PASSED, 1: _ABORTED, 2: _INTERRUPTED, **dict.fromkeys(range(3, 8), _FAILED)}
_POLLED = {"short": SelfTestKind.SHORT, "extended": SelfTestKind.LONG, "conveyance": SelfTestKind.CONVEYANCE}


def parse_self_tests(whole: Mapping[str, Any]) -> SelfTests | None:
    """Return what a disk reports about its self-tests; None where smartctl has printed nothing of it.

    Args:
        whole: smartctl's output, decoded.
    """
    protocol = text_at(whole, "device", "protocol")
    if protocol == "NVMe":
        return _nvme(whole)
    return _scsi(whole) if protocol == "SCSI" else _ata(whole)


def _ata(whole: Mapping[str, Any]) -> SelfTests | None:
    own = table_at(whole, "ata_smart_data", "self_test")
    logs = table_at(whole, "ata_smart_self_test_log")
    if not own and not logs:
        return None
    rows = rows_at(logs, "extended", "table") or rows_at(logs, "standard", "table")
    log = tuple(_ata_log(rows))
    status = number_at(own, "status", "value")
    if not log and status is not None and 0 < status >> 4 < 9:  # 0 is "passed", and "there never was one"
        text = text_at(own, "status", "string") or ""
        log = (SelfTest(kind=SelfTestKind.OTHER, outcome=_ATA[status >> 4], text=text),)
    return SelfTests(running=_ata_running(own, rows), log=log, kinds=_ata_kinds(whole), minutes=_minutes(own))


def _ata_log(rows: list[dict[str, Any]]) -> Iterator[SelfTest]:
    for row in rows[:_MOST]:
        status = number_at(row, "status", "value")
        if status is None or status >> 4 == _RUNS:
            continue
        outcome = _ATA.get(status >> 4, SelfTestOutcome.UNKNOWN)
        yield SelfTest(
            kind=_ata_kind(row),
            outcome=outcome,
            hours=number_at(row, "lifetime_hours"),
            lba=number_at(row, "lba") if outcome is SelfTestOutcome.FAILED else None,
            text=text_at(row, "status", "string") or "",
        )


def _ata_kind(row: Mapping[str, Any]) -> SelfTestKind:
    return _KINDS.get((number_at(row, "type", "value") or 0) & ~_CAPTIVE, SelfTestKind.OTHER)


def _ata_running(own: Mapping[str, Any], rows: list[dict[str, Any]]) -> RunningSelfTest | None:
    status = number_at(own, "status", "value")
    if status is None or status >> 4 != _RUNS:
        return None
    left = number_at(own, "status", "remaining_percent")
    newest = rows[0] if rows else {}
    logged = (number_at(newest, "status", "value") or 0) >> 4 == _RUNS
    return RunningSelfTest(
        kind=_ata_kind(newest) if logged else SelfTestKind.OTHER,
        left_percent=min(100, (status & 15) * 10 if left is None else left),
    )


def _ata_kinds(whole: Mapping[str, Any]) -> tuple[SelfTestKind, ...] | None:
    known = table_at(whole, "ata_smart_data", "capabilities")
    tests = flag_at(known, "self_tests_supported")
    if tests is None:
        return None
    conveyance = flag_at(known, "conveyance_self_test_supported")
    return (
        *((SelfTestKind.SHORT, SelfTestKind.LONG) if tests else ()),
        *((SelfTestKind.CONVEYANCE,) if conveyance else ()),
    )


def _minutes(own: Mapping[str, Any]) -> tuple[tuple[SelfTestKind, int], ...]:
    found = ((kind, number_at(own, "polling_minutes", name)) for name, kind in _POLLED.items())
    return tuple((kind, minutes) for kind, minutes in found if minutes)


def _nvme(whole: Mapping[str, Any]) -> SelfTests | None:
    own = table_at(whole, "nvme_self_test_log")
    able = flag_at(whole, "nvme_optional_admin_commands", "self_test")
    if not own and able is None:
        return None
    kinds = () if able is False else (SelfTestKind.SHORT, SelfTestKind.LONG) if own else None
    now = number_at(own, "current_self_test_operation", "value")
    running = None
    if now:
        done = number_at(own, "current_self_test_completion_percent")
        running = RunningSelfTest(
            kind=_NVME_KINDS.get(now, SelfTestKind.OTHER),
            left_percent=None if done is None else 100 - min(100, done),
        )
    return SelfTests(running=running, log=tuple(_nvme_log(own)), kinds=kinds)


def _nvme_log(own: Mapping[str, Any]) -> Iterator[SelfTest]:
    for row in rows_at(own, "table")[:_MOST]:
        result = number_at(row, "self_test_result", "value")
        if result is None or result == _RUNS:  # 15: the entry is not used
            continue
        yield SelfTest(
            kind=_NVME_KINDS.get(number_at(row, "self_test_code", "value") or 0, SelfTestKind.OTHER),
            outcome=_NVME.get(result, SelfTestOutcome.UNKNOWN),
            hours=number_at(row, "power_on_hours"),
            lba=number_at(row, "lba"),
            text=text_at(row, "self_test_result", "string") or "",
        )


def _scsi(whole: Mapping[str, Any]) -> SelfTests | None:
    rows = [table_at(whole, f"scsi_self_test_{number}") for number in range(20)]
    seconds = number_at(whole, "scsi_extended_self_test_seconds")
    if not any(rows) and seconds is None:
        return None
    running = None
    log = []
    for row in filter(None, rows):
        kind = _SCSI_KINDS.get(number_at(row, "code", "value") or 0, SelfTestKind.OTHER)
        result = number_at(row, "result", "value")
        if flag_at(row, "self_test_in_progress") or result == _RUNS:
            running = running or RunningSelfTest(kind=kind)
        elif result is not None:
            log.append(
                SelfTest(
                    kind=kind,
                    outcome=_SCSI.get(result, SelfTestOutcome.UNKNOWN),
                    hours=number_at(row, "power_on_time", "hours"),
                    lba=number_at(row, "lba_first_failure", "value"),
                    text=text_at(row, "result", "string") or "",
                )
            )
    minutes = ((SelfTestKind.LONG, -(-seconds // 60)),) if seconds else ()
    return SelfTests(running=running, log=tuple(log), minutes=minutes)
