"""Self-tests in words. "Ago" is in the disk's power-on hours: no one knows for how long it was off."""

from __future__ import annotations

from raidtui.model.self_test import HOURS_WRAP, RunningSelfTest, SelfTest, SelfTestKind
from raidtui.model.smart import SmartReading
from raidtui.view.units import counted


def running_words(running: RunningSelfTest) -> str:
    """Return ``short self-test running, 40 % done``."""
    done = "" if running.left_percent is None else f", {100 - running.left_percent} % done"
    return f"{_named(running.kind)} running{done}"


def hours_ago(reading: SmartReading, test: SelfTest) -> int | None:
    """Return how many hours a disk has been in service since a self-test; None where that is not known.

    Logs of ATA and SCSI disks count hours in 16 bits: of a disk that is older than that no one knows how
    often the count has begun again.
    """
    now = reading.power_on_hours
    if now is None or test.hours is None or (now >= HOURS_WRAP and reading.protocol != "NVMe"):
        return None
    return now - test.hours if now >= test.hours else None


def ended_words(reading: SmartReading, test: SelfTest) -> str:
    """Return ``long self-test passed 12 power-on hours ago (at 4660)``."""
    at = "" if test.lba is None else f" at LBA {test.lba},"
    return f"{_named(test.kind)} {test.outcome.value}{at}{_when(reading, test)}".rstrip(",")


def failed_words(reading: SmartReading, test: SelfTest) -> str:
    """Return ``a long self-test 12 power-on hours ago (at 4660), at LBA 4711: Completed: read failure``."""
    at = "" if test.lba is None else f", at LBA {test.lba}"
    text = f": {test.text}" if test.text else ""
    return f"a {_named(test.kind)}{_when(reading, test)}{at}{text}"


def _named(kind: SelfTestKind) -> str:
    return "self-test" if kind is SelfTestKind.OTHER else f"{kind.value} self-test"


def _when(reading: SmartReading, test: SelfTest) -> str:
    if test.hours is None:
        return ""
    ago = hours_ago(reading, test)
    if ago is None:
        return f" at power-on hour {test.hours}"
    words = counted(ago, "power-on hour") if ago else "less than 1 power-on hour"
    return f" {words} ago (at {test.hours})"


def last_words(reading: SmartReading) -> str:
    """Return what runs, else how the last self-test ended, in words; "" where the disk reports nothing."""
    tests = reading.self_tests
    if tests is None or (tests.kinds == () and tests.running is None and tests.last is None):
        return ""
    found = [running_words(tests.running)] if tests.running is not None else []
    if tests.last is not None:
        found.append(ended_words(reading, tests.last))
    return "; ".join(found) or "no self-test in its log"
