"""The output of ``smartctl --json`` for the simulated disks, and their history as in a ledger.

The figures depend on the disks' counters alone, so that the same time gives the same text. One disk has far
more writes than its peers, one is worn, one counts in another unit than the attribute's name says, one is
asleep.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from raidtui.demo.disks import SECTOR_BYTES, SimDisk, SimSelfTest
from raidtui.demo.kernel import SimKernel

HISTORY = "/.raidtui/wear.json"
BOOT_ID = "4f1d2c3b-0a59-4e87-9c66-7d8e9fa0b1c2"
_DAY_S, _DAYS = 86_400, 120
_TB, _GB, _MIB = 10**12, 10**9, 1 << 20
_NVME_UNIT_BYTES = 512_000
_RECOVERED_BYTES = 210 << 30
RECOVERED_AGO_S = 7 * _DAY_S + 3 * 3600
RECOVERED_S = 900
CABLE_AGO_S = 12 * _DAY_S
_ASLEEP_STATUS = 3
_FAILING = 8
"""The bit of smartctl's exit status: the disk says that it fails."""
_UNRELIABLE = 4
"""The bit of NVMe's critical warning: reliability is degraded because of media errors."""
_ATA_TYPES = {1: "Short offline", 2: "Extended offline"}
_NVME_TYPES = {0: "No", 1: "Short", 2: "Extended"}
_PASSED, _ABORTED = 0, 1
_ATA_WORDS = {_PASSED: "Completed without error", _ABORTED: "Aborted by host"}
_NVME_WORDS = {_PASSED: "Completed without error", _ABORTED: "Aborted: Self-test command"}
_BEFORE = ((1, 20), (1, 188), (2, 314))
"""What the log holds when the story begins: (code, power-on hours before that)."""
_Ended = tuple[int, int, int]  # code, result, power-on hours


class Life(Struct, frozen=True, kw_only=True):
    """The life of a disk before the story.

    Args:
        per_day_bytes: the writes per day in the last months.
        percent: the used endurance; None where the disk does not report it.
        count_bytes: the unit of its counter.
        gib_by_name: whether the attribute's name says GiB, whatever the unit is.
        asleep: whether it is in standby.
    """

    written_bytes: int
    per_day_bytes: int = 0
    percent: int | None = None
    hours: int = 4_700
    firmware: str = ""
    family: str = ""
    count_bytes: int = SECTOR_BYTES
    gib_by_name: bool = False
    asleep: bool = False


_EVO = Life(
    written_bytes=12_400 * _GB, per_day_bytes=18 * _GB, percent=3, firmware="EMT02B6Q",
    family="Samsung based SSDs",
)  # fmt: skip
_MICRON = Life(
    written_bytes=371 * _TB, per_day_bytes=210 * _GB, percent=22, hours=19_300, firmware="E1MU23BC",
    count_bytes=_NVME_UNIT_BYTES,
)  # fmt: skip


def lives() -> dict[str, Life]:
    """Return the lives by disk name."""
    from msgspec.structs import replace  # noqa: PLC0415  (only when smartctl is run)

    newer = Life(
        written_bytes=310 * _GB, percent=0, hours=212, firmware="SVT02B6Q", family="Samsung based SSDs"
    )
    return {
        "sda": _EVO,
        "sdb": replace(_EVO, written_bytes=12_500 * _GB),
        "sdc": replace(_EVO, written_bytes=12_430 * _GB),
        "sdd": replace(_EVO, written_bytes=61_700 * _GB, percent=11),
        "sde": newer,
        "sdf": Life(
            written_bytes=16_932 * _MIB, hours=9_020, firmware="S9FM02.6", family="Phison Driven OEM SSDs",
            count_bytes=_MIB, gib_by_name=True,
        ),
        "sdg": Life(written_bytes=0, asleep=True),
        "sdh": replace(newer, written_bytes=12 * _GB, hours=9),
        "sdi": replace(newer, written_bytes=12 * _GB, hours=9),
        "nvme0n1": _MICRON,
        "nvme1n1": replace(_MICRON, written_bytes=373 * _TB),
        "nvme2n1": replace(_MICRON, written_bytes=368 * _TB),
        "nvme3n1": replace(_MICRON, written_bytes=1_550 * _TB, per_day_bytes=0, percent=93, hours=43_800),
        "nvme4n1": replace(_MICRON, written_bytes=_TB, per_day_bytes=0, percent=0, hours=31),
        "nvme5n1": replace(_MICRON, written_bytes=_TB, per_day_bytes=0, percent=0, hours=31),
    }  # fmt: skip


def written_since_boot() -> dict[str, int]:
    """Return the kernel's write counters before the story, bytes, by disk name."""
    return {"sdf": 4_130_460 * 1024}


def smartctl(kernel: SimKernel, argv: tuple[str, ...]) -> tuple[int, str]:
    """Return smartctl's exit status and output; ``-t`` starts a self-test, and ``-X`` aborts it."""
    import json  # noqa: PLC0415

    if argv[-1] == "--scan-open":
        found = [disk for disk in kernel.disks.values() if life_of(disk) is not None]
        kinds = {disk.name: "nvme" if disk.is_nvme else "sat" for disk in found}
        return 0, "".join(f"/dev/{name} -d {kind} # demo\n" for name, kind in kinds.items())
    name = argv[-1].removeprefix("/dev/")
    disk = kernel.disks.get(name)
    life = life_of(disk) if disk is not None else None
    if disk is not None and life is not None and ("-t" in argv or "-X" in argv):
        return _self_test_command(kernel, name, argv, _hours(life, kernel))
    if disk is None or life is None:
        text = f"Smartctl open device: {argv[-1]} failed: No such device"
        return 2, json.dumps(_frame(None, 2, text))
    if life.asleep and "never" not in argv:
        text = f"Device is in STANDBY mode, exit({_ASLEEP_STATUS})"
        return _ASLEEP_STATUS, json.dumps(_frame(disk, _ASLEEP_STATUS, text))
    status = _FAILING if disk.serial in kernel.failing else 0
    whole = _frame(disk, status) | _identity(disk, life, kernel)
    whole |= _nvme(disk, life, kernel) if disk.is_nvme else _ata(disk, life, kernel)
    whole |= _self_tests(kernel, disk, life.hours)
    return status, json.dumps(whole)


def life_of(disk: SimDisk) -> Life | None:
    """Return the life of a disk before the story, or before it was put in."""
    life = lives().get(disk.name)
    if disk.fresh and life is not None:
        from msgspec.structs import replace  # noqa: PLC0415  (only when smartctl is run)

        return replace(life, written_bytes=20 * _GB, percent=0, hours=2)
    return life


def _frame(disk: SimDisk | None, status: int, message: str = "") -> dict[str, Any]:
    smartctl: dict[str, Any] = {"version": [7, 3], "exit_status": status}
    if message:
        smartctl["messages"] = [{"string": message, "severity": "information"}]
    found: dict[str, Any] = {"json_format_version": [1, 0], "smartctl": smartctl}
    if disk is not None:
        kind = ("nvme", "NVMe") if disk.is_nvme else ("sat", "ATA")
        found["device"] = {"name": f"/dev/{disk.name}", "type": kind[0], "protocol": kind[1]}
    return found


def _identity(disk: SimDisk, life: Life, kernel: SimKernel) -> dict[str, Any]:
    found: dict[str, Any] = {
        "model_name": disk.model,
        "serial_number": disk.serial,
        "firmware_version": life.firmware,
        "user_capacity": {"blocks": disk.sectors, "bytes": disk.sectors * SECTOR_BYTES},
        "logical_block_size": SECTOR_BYTES,
        "smart_support": {"available": True, "enabled": True},
        "smart_status": {"passed": disk.serial not in kernel.failing},
        "power_on_time": {"hours": _hours(life, kernel)},
        "temperature": {"current": 31, "op_limit_max": 60},
    }
    if not disk.is_nvme:
        naa, oui, own = int(disk.wwn[2], 16), int(disk.wwn[3:9], 16), int(disk.wwn[9:], 16)
        found |= {
            "model_family": life.family,
            "in_smartctl_database": True,
            "rotation_rate": 0,
            "trim": {"supported": True, "deterministic": False, "zeroed": False},
            "wwn": {"naa": naa, "oui": oui, "id": own},
        }
    return found


def _ata(disk: SimDisk, life: Life, kernel: SimKernel) -> dict[str, Any]:
    count = _written_bytes(disk, life, kernel) // life.count_bytes
    fails = disk.serial in kernel.failing
    rows: list[tuple[int, str, int, int, int]] = [
        (5, "Reallocated_Sector_Ct", 1 if fails else 100, 10, 5_119 if fails else 0),
        (9, "Power_On_Hours", 99, 0, _hours(life, kernel)),
        (199, "CRC_Error_Count", 100, 0, 0),
        (241, "Lifetime_Writes_GiB" if life.gib_by_name else "Total_LBAs_Written", 99, 0, count),
    ]
    used = _used(_written_bytes(disk, life, kernel), life)
    if used is not None:
        rows.append((177, "Wear_Leveling_Count", 100 - used, 0, used * 17))
    table = [
        {
            "id": number, "name": name, "value": value, "worst": value, "thresh": threshold,
            "when_failed": "now" if value <= threshold else "",
            "flags": {"value": 51, "prefailure": bool(threshold)},
            "raw": {"value": raw, "string": str(raw)},
        }
        for number, name, value, threshold, raw in sorted(rows)
    ]  # fmt: skip
    return {"ata_smart_attributes": {"revision": 1, "table": table}}


def _nvme(disk: SimDisk, life: Life, kernel: SimKernel) -> dict[str, Any]:
    written = _written_bytes(disk, life, kernel)
    fails = disk.serial in kernel.failing
    return {
        "nvme_smart_health_information_log": {
            "critical_warning": _UNRELIABLE if fails else 0, "temperature": 31,
            "available_spare": 100, "available_spare_threshold": 10,
            "percentage_used": _used(written, life) or 0, "data_units_written": written // _NVME_UNIT_BYTES,
            "media_errors": 1_284 if fails else 0,
        }
    }  # fmt: skip


def _hours(life: Life, kernel: SimKernel) -> int:
    return life.hours + int(kernel.now_s // 3600)


def _written_bytes(disk: SimDisk, life: Life, kernel: SimKernel) -> int:
    """Return all bytes ever written: before the story, and in it by the kernel's counter."""
    counted = int(kernel.counters[disk.name].written_sectors) * SECTOR_BYTES
    return life.written_bytes + counted - written_since_boot().get(disk.name, 0)


def _used(written_bytes: int, life: Life) -> int | None:
    return None if life.percent is None else written_bytes * life.percent // life.written_bytes


def history(kernel: SimKernel, began_s: float) -> str:
    """Return the ledger of the months before the story, in the form of a capture.

    Args:
        kernel: the simulated kernel.
        began_s: epoch seconds of the start of the story.
    """
    import json  # noqa: PLC0415

    recovered_s = began_s - RECOVERED_AGO_S
    marks = [
        {"id": 1, "at_s": began_s - CABLE_AGO_S, "kind": "mark", "what": "new cable at sdd"},
        {"id": 2, "at_s": recovered_s, "kind": "before", "what": "recover of data"},
        {"id": 3, "at_s": recovered_s + RECOVERED_S, "kind": "after", "what": "recover of data"},
    ]
    entries: list[dict[str, Any]] = []
    for name, life in lives().items():
        disk = kernel.disks.get(name)
        if disk is not None and not life.asleep and not disk.fresh:
            entries += _readings(disk, life, kernel, began_s)
    return json.dumps({"marks": marks, "entries": entries})


def _readings(disk: SimDisk, life: Life, kernel: SimKernel, began_s: float) -> Iterator[dict[str, Any]]:
    if life.gib_by_name:
        yield from _wrong_unit_readings(disk, life, kernel, began_s)
        return
    moments: list[tuple[float, int | None]] = [(ago * float(_DAY_S), None) for ago in range(_DAYS, 0, -1)]
    if life.per_day_bytes:
        moments.append((CABLE_AGO_S, 1))
    if disk.name in {"sda", "sdb", "sdc", "sdd"}:
        moments += [(RECOVERED_AGO_S, 2), (RECOVERED_AGO_S - RECOVERED_S, 3)]
    for ago_s, mark in sorted(moments, key=lambda each: -each[0]):
        size = life.written_bytes - int(life.per_day_bytes * ago_s / _DAY_S)
        if disk.name == "sdd" and ago_s > RECOVERED_AGO_S - RECOVERED_S:
            size -= _RECOVERED_BYTES
        yield _entry(disk, life, began_s, ago_s, size) | {"mark": mark, "percent": _used(size, life)}


def _wrong_unit_readings(
    disk: SimDisk, life: Life, kernel: SimKernel, began_s: float
) -> Iterator[dict[str, Any]]:
    """The published readings: counter, and KiB that the kernel had written."""
    since = f"{BOOT_ID}/{kernel.sequences[disk.name]}"
    for ago, (count, kib) in ((9, (16_737, 3_930_090)), (8, (16_835, 4_030_760)), (7, (16_932, 4_130_460))):
        yield _entry(disk, life, began_s, ago * _DAY_S, count * _MIB) | {
            "size_bytes": count << 30,  # by the attribute's name
            "unit_bytes": 1 << 30,
            "since": since,
            "low_bytes": kib * 1024,
            "high_bytes": kib * 1024,
        }


def _entry(disk: SimDisk, life: Life, began_s: float, ago_s: float, size_bytes: int) -> dict[str, Any]:
    name = "Lifetime_Writes_GiB" if life.gib_by_name else "Total_LBAs_Written"
    return {
        "disk": disk.serial, "at_s": began_s - ago_s, "name": disk.name, "model": disk.model,
        "firmware": life.firmware, "hours": life.hours - int(ago_s // 3600), "size_bytes": size_bytes,
        "source": "NVMe health log" if disk.is_nvme else f"attribute 241 {name}",
        "count": size_bytes // life.count_bytes, "unit_bytes": life.count_bytes,
        "reallocated": None if disk.is_nvme else 0, "media_errors": 0 if disk.is_nvme else None,
        "crc_errors": None if disk.is_nvme else 0, "passed": True,
        "temperature_c": 28 + int(abs(ago_s // _DAY_S % 28 - 14)) // 3 + zlib.crc32(f"{ago_s}".encode()) % 3,
    }  # fmt: skip


def _self_test_command(kernel: SimKernel, name: str, argv: tuple[str, ...], hours: int) -> tuple[int, str]:
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


def _self_tests(kernel: SimKernel, disk: SimDisk, hours_before: int) -> dict[str, Any]:
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
        return _nvme_self_tests(1 + tests[-1].long if left else 0, left, ended)
    return _ata_self_tests(left, ended)


def _ata_self_tests(left: int, ended: list[_Ended]) -> dict[str, Any]:
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


def _nvme_self_tests(running: int, left: int, ended: list[_Ended]) -> dict[str, Any]:
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
