"""Self-tests of the simulated disks: started and aborted by smartctl, and reported in its JSON."""

from __future__ import annotations

from typing import Any

from raidtui.demo.disks import SimDisk, SimSelfTest
from raidtui.demo.kernel import SimKernel

_ATA_TYPES = {1: "Short offline", 2: "Extended offline"}
_NVME_TYPES = {0: "No", 1: "Short", 2: "Extended"}
_PASSED, _ABORTED = 0, 1
_ATA_WORDS = {_PASSED: "Completed without error", _ABORTED: "Aborted by host"}
_NVME_WORDS = {_PASSED: "Completed without error", _ABORTED: "Aborted: Self-test command"}
_BEFORE = ((1, 20), (1, 188), (2, 314))
"""What the log holds when the story begins: (code, power-on hours before that)."""
_Ended = tuple[int, int, int]  # code, result, power-on hours


def command(kernel: SimKernel, name: str, argv: tuple[str, ...], hours: int) -> tuple[int, str]:
    """Start a self-test, or abort the one that runs; return smartctl's exit status and output."""
    tests = kernel.self_tests.setdefault(name, [])
    now = tests[-1] if tests and tests[-1].left_percent(kernel.now_s) else None
    if "-X" in argv:
        if now is not None:
            now.aborted = True
        return 0, "Self-testing aborted!\n"
    if now is not None:
        left = now.left_percent(kernel.now_s)
        return 4, f"Can't start self-test without aborting current test ({left}% remaining)\n"
    test = SimSelfTest(long=argv[argv.index("-t") + 1] == "long", began_s=kernel.now_s, hours=hours)
    tests.append(test)
    return 0, f"Testing has begun.\nPlease wait {test.minutes} minutes for test to complete.\n"


def report(kernel: SimKernel, disk: SimDisk, hours_before: int) -> dict[str, Any]:
    """Return what smartctl reports of a disk's self-tests.

    Args:
        kernel: the simulated kernel.
        disk: the disk.
        hours_before: its power-on hours when the story began.
    """
    tests = kernel.self_tests.get(disk.name, [])
    left = tests[-1].left_percent(kernel.now_s) if tests else 0
    ended: list[_Ended] = [
        (1 + each.long, _ABORTED if each.aborted else _PASSED, each.hours)
        for each in reversed(tests)
        if not each.left_percent(kernel.now_s)
    ]
    ended += [(code, _PASSED, hours_before - ago) for code, ago in _BEFORE if hours_before > ago]
    if disk.is_nvme:
        return _nvme(1 + tests[-1].long if left else 0, left, ended)
    return _ata(left, ended)


def _ata(left: int, ended: list[_Ended]) -> dict[str, Any]:
    status: dict[str, Any] = {"value": 0, "string": "completed without error", "passed": True}
    if left:
        words = f"in progress, {left}% remaining"
        status = {"value": 240 + left // 10, "string": words, "remaining_percent": left}
    table = [
        {
            "type": {"value": code, "string": _ATA_TYPES[code]},
            "status": {"value": result << 4, "string": _ATA_WORDS[result]},
            "lifetime_hours": hours,
        }
        for code, result, hours in ended
    ]
    return {
        "ata_smart_data": {
            "self_test": {"status": status, "polling_minutes": {"short": 2, "extended": 54}},
            "capabilities": {"self_tests_supported": True, "conveyance_self_test_supported": False},
        },
        "ata_smart_self_test_log": {"extended": {"revision": 1, "table": table, "count": len(table)}},
    }


def _nvme(running: int, left: int, ended: list[_Ended]) -> dict[str, Any]:
    words = f"{_NVME_TYPES[running]} self-test in progress"
    found: dict[str, Any] = {"nsid": -1, "current_self_test_operation": {"value": running, "string": words}}
    if running:
        found["current_self_test_completion_percent"] = 100 - left
    found["table"] = [
        {
            "self_test_code": {"value": code, "string": _NVME_TYPES[code]},
            "self_test_result": {"value": result, "string": _NVME_WORDS[result]},
            "power_on_hours": hours,
        }
        for code, result, hours in ended
    ]
    return {"nvme_self_test_log": found, "nvme_optional_admin_commands": {"self_test": True}}
