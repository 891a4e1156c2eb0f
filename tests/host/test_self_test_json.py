"""What smartctl's JSON says of self-tests: ATA, NVMe and SCSI, each in its own form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.host.smart.self_test_json import parse_self_tests
from raidtui.model.self_test import RunningSelfTest, SelfTest, SelfTestKind, SelfTestOutcome, SelfTests

SHORT, LONG, CONVEYANCE, OTHER = (
    SelfTestKind.SHORT,
    SelfTestKind.LONG,
    SelfTestKind.CONVEYANCE,
    SelfTestKind.OTHER,
)
PASSED, FAILED = SelfTestOutcome.PASSED, SelfTestOutcome.FAILED
ABORTED, INTERRUPTED = SelfTestOutcome.ABORTED, SelfTestOutcome.INTERRUPTED
DONE = {"value": 0, "string": "completed without error", "passed": True}


def ata(status: dict[str, Any] | None = None, *log: dict[str, Any], form: str = "extended") -> dict[str, Any]:
    return {
        "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
        "ata_smart_data": {
            "self_test": {"status": status or DONE, "polling_minutes": {"short": 2, "extended": 54}},
            "capabilities": {"self_tests_supported": True, "conveyance_self_test_supported": False},
        },
        "ata_smart_self_test_log": {form: {"revision": 1, "table": list(log), "count": len(log)}},
    }


def ata_row(kind: int, status: int, hours: int, **more: Any) -> dict[str, Any]:
    return {
        "type": {"value": kind, "string": "Short offline"},
        "status": {"value": status, "string": "Completed: read failure"},
        "lifetime_hours": hours,
        **more,
    }


def nvme(operation: int, *log: dict[str, Any], able: bool | None = True, **more: Any) -> dict[str, Any]:
    return {
        "device": {"name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"},
        "nvme_optional_admin_commands": {} if able is None else {"self_test": able},
        "nvme_self_test_log": {
            "nsid": -1,
            "current_self_test_operation": {"value": operation, "string": "No self-test in progress"},
            "table": list(log),
            **more,
        },
    }


def nvme_row(code: int, result: int, hours: int, **more: Any) -> dict[str, Any]:
    return {
        "self_test_code": {"value": code, "string": "Short"},
        "self_test_result": {"value": result, "string": "Completed without error"},
        "power_on_hours": hours,
        **more,
    }


def scsi(*log: dict[str, Any], seconds: int | None = 1320) -> dict[str, Any]:
    rows = {f"scsi_self_test_{number}": row for number, row in enumerate(log)}
    whole = {"device": {"name": "/dev/sda", "type": "scsi", "protocol": "SCSI"}, **rows}
    return whole if seconds is None else whole | {"scsi_extended_self_test_seconds": seconds}


def scsi_row(code: int, result: int, hours: int, **more: Any) -> dict[str, Any]:
    return {
        "code": {"value": code, "string": "Background long"},
        "result": {"value": result, "string": "Completed"},
        "power_on_time": {"hours": hours, "aka": "accumulated_power_on_hours"},
        **more,
    }


def found(whole: dict[str, Any]) -> SelfTests:
    tests = parse_self_tests(whole)
    assert tests is not None
    return tests


@pytest.mark.parametrize("form", ["standard", "extended"])
def test_ata(form: str) -> None:
    rows = (ata_row(1, 0, 4660), ata_row(2, 121, 4600, lba=4711), ata_row(0x81, 25, 4500))
    tests = found(ata(None, *rows, form=form))
    assert tests == SelfTests(
        log=(
            SelfTest(kind=SHORT, outcome=PASSED, hours=4660, text="Completed: read failure"),
            SelfTest(kind=LONG, outcome=FAILED, hours=4600, lba=4711, text="Completed: read failure"),
            SelfTest(kind=SHORT, outcome=ABORTED, hours=4500, text="Completed: read failure"),
        ),
        kinds=(SHORT, LONG),
        minutes=((SHORT, 2), (LONG, 54)),
    )
    assert tests.minutes_of(LONG) == 54
    assert tests.minutes_of(CONVEYANCE) is None


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(0, PASSED), (1, ABORTED), (2, INTERRUPTED), *((number, FAILED) for number in range(3, 9)),
     (9, SelfTestOutcome.UNKNOWN)],
)  # fmt: skip
def test_every_outcome_of_ata(status: int, outcome: SelfTestOutcome) -> None:
    last = found(ata(None, ata_row(1, status << 4, 1, lba=7))).last
    assert last is not None
    assert (last.outcome, last.lba) == (outcome, 7 if outcome is FAILED else None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(0, SelfTestKind.OFFLINE), (1, SHORT), (2, LONG), (3, CONVEYANCE), (4, SelfTestKind.SELECTIVE),
     (0x82, LONG), (0x40, OTHER)],
)  # fmt: skip
def test_every_kind_of_ata(kind: int, expected: SelfTestKind) -> None:
    last = found(ata(None, ata_row(kind, 0, 1))).last
    assert last is not None
    assert last.kind is expected


@pytest.mark.parametrize(
    ("status", "left"),
    [
        ({"value": 249, "string": "in progress, 90% remaining", "remaining_percent": 90}, 90),
        ({"value": 243}, 30),
        ({"value": 255, "remaining_percent": 1000}, 100),
    ],
)
def test_one_that_runs_on_an_ata_disk(status: dict[str, Any], left: int) -> None:
    tests = found(ata(status, ata_row(2, 0, 3)))
    assert tests.running == RunningSelfTest(kind=OTHER, left_percent=left)
    assert [each.kind for each in tests.log] == [LONG]


def test_a_disk_that_logs_the_one_that_runs() -> None:
    tests = found(ata({"value": 249}, ata_row(2, 249, 4660), ata_row(1, 0, 3)))
    assert tests.running == RunningSelfTest(kind=LONG, left_percent=90)
    assert [each.kind for each in tests.log] == [SHORT]


def test_without_a_log_the_status_reports_how_the_last_one_ended() -> None:
    status = {"value": 25, "string": "was aborted by the host"}
    tests = found(ata(status))
    assert tests.log == (SelfTest(kind=OTHER, outcome=ABORTED, text="was aborted by the host"),)
    assert found(ata(DONE)).log == ()  # there may never have been one


@pytest.mark.parametrize(
    ("known", "kinds"),
    [
        ({}, None),
        ({"self_tests_supported": False}, ()),
        ({"self_tests_supported": True, "conveyance_self_test_supported": True}, (SHORT, LONG, CONVEYANCE)),
    ],
)
def test_what_an_ata_disk_can_run(known: dict[str, Any], kinds: tuple[SelfTestKind, ...] | None) -> None:
    whole = ata()
    whole["ata_smart_data"]["capabilities"] = known
    assert found(whole).kinds == kinds


def test_nvme() -> None:
    rows = (nvme_row(1, 0, 23_575), nvme_row(2, 7, 23_335, lba=99), nvme_row(0, 15, 0))
    assert found(nvme(0, *rows)) == SelfTests(
        log=(
            SelfTest(kind=SHORT, outcome=PASSED, hours=23_575, text="Completed without error"),
            SelfTest(kind=LONG, outcome=FAILED, hours=23_335, lba=99, text="Completed without error"),
        ),
        kinds=(SHORT, LONG),
    )


@pytest.mark.parametrize(
    ("result", "outcome"),
    [(0, PASSED), (1, ABORTED), (2, INTERRUPTED), (3, ABORTED), (4, ABORTED), (5, FAILED), (6, FAILED),
     (7, FAILED), (8, ABORTED), (9, ABORTED), (10, SelfTestOutcome.UNKNOWN)],
)  # fmt: skip
def test_every_outcome_of_nvme(result: int, outcome: SelfTestOutcome) -> None:
    last = found(nvme(0, nvme_row(1, result, 1))).last
    assert last is not None
    assert last.outcome is outcome


@pytest.mark.parametrize(
    ("operation", "more", "running"),
    [
        (0, {}, None),
        (1, {"current_self_test_completion_percent": 40}, RunningSelfTest(kind=SHORT, left_percent=60)),
        (2, {"current_self_test_completion_percent": 130}, RunningSelfTest(kind=LONG, left_percent=0)),
        (14, {}, RunningSelfTest()),
    ],
)
def test_one_that_runs_on_an_nvme_disk(
    operation: int, more: dict[str, Any], running: RunningSelfTest | None
) -> None:
    assert found(nvme(operation, **more)).running == running


def test_an_nvme_disk_without_self_tests_or_a_smartctl_that_knows_none() -> None:
    old = nvme(0, able=None)
    del old["nvme_self_test_log"]
    assert parse_self_tests(old) is None
    old["nvme_optional_admin_commands"] = {"self_test": True}  # smartctl before 7.4
    assert found(old).kinds is None
    assert found(nvme(0, able=False)).kinds == ()


def test_scsi() -> None:
    rows = (scsi_row(2, 0, 1), scsi_row(1, 7, 1, lba_first_failure={"value": 5}), scsi_row(6, 2, 1))
    assert found(scsi(*rows)) == SelfTests(
        log=(
            SelfTest(kind=LONG, outcome=PASSED, hours=1, text="Completed"),
            SelfTest(kind=SHORT, outcome=FAILED, hours=1, lba=5, text="Completed"),
            SelfTest(kind=LONG, outcome=INTERRUPTED, hours=1, text="Completed"),
        ),
        minutes=((LONG, 22),),
    )


def test_one_that_runs_on_a_scsi_disk() -> None:
    row = {"code": {"value": 1}, "result": {"value": 15}, "self_test_in_progress": True}
    tests = found(scsi(row, scsi_row(1, 1, 8)))
    assert tests.running == RunningSelfTest(kind=SHORT)
    assert [each.outcome for each in tests.log] == [ABORTED]


@pytest.mark.parametrize("protocol", ["ATA", "NVMe", "SCSI", None])
def test_of_a_disk_that_says_nothing_nothing_is_known(protocol: str | None) -> None:
    assert parse_self_tests({"device": {"protocol": protocol}}) is None


def _entry(kind: SelfTestKind, outcome: SelfTestOutcome) -> SelfTest:
    return SelfTest(kind=kind, outcome=outcome)


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ((), None),
        ((_entry(SHORT, FAILED),), 0),
        ((_entry(SHORT, PASSED), _entry(SHORT, FAILED)), None),
        ((_entry(SHORT, PASSED), _entry(LONG, FAILED)), 1),
        ((_entry(LONG, PASSED), _entry(SHORT, FAILED)), None),
        ((_entry(LONG, ABORTED), _entry(LONG, FAILED)), 1),
    ],
)
def test_what_supersedes_a_failure(log: tuple[SelfTest, ...], failed: int | None) -> None:
    assert SelfTests(log=log).failed is (None if failed is None else log[failed])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "status", "type", "table", "hours", "string", "self_test", "result"]),
            inner,
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["ATA", "NVMe", "SCSI"]),
    st.dictionaries(
        st.sampled_from(
            ["ata_smart_data", "ata_smart_self_test_log", "nvme_self_test_log", "scsi_self_test_0"]
        ),
        VALUES,
    ),
)
def test_whatever_the_text_holds_nothing_is_raised(protocol: str, rest: dict[str, Any]) -> None:
    tests = parse_self_tests({"device": {"protocol": protocol}, **rest})
    assert tests is None or tests.running is None or isinstance(tests.running, RunningSelfTest)
