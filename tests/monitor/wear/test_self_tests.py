"""Self-tests in words, as findings, and what is asked of a disk before one is started."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.wear.self_tests import read_self_test_disk, read_self_test_plan
from raidtui.features.wear.wear_report import wear_dict, wear_lines
from raidtui.host.tools import ToolOutput
from raidtui.model.finding import Severity
from raidtui.model.self_test import RunningSelfTest, SelfTest, SelfTestKind, SelfTestOutcome, SelfTests
from raidtui.model.smart import NoReading, SmartMeasurement, SmartReading
from raidtui.monitor.wear.disk_wear import judge_disk
from raidtui.monitor.wear.self_test_words import ended_words, failed_words, hours_ago, last_words
from tests.hosts.specs import raid1
from tests.monitor.wear.hosts import GB, WearHost, asleep, evo

SHORT, LONG = SelfTestKind.SHORT, SelfTestKind.LONG
PASSED, FAILED = SelfTestOutcome.PASSED, SelfTestOutcome.FAILED
BOOT = raid1("md1", "boot", members=("sda1", "sdb1"))


def reading(*log: SelfTest, running: RunningSelfTest | None = None, **known: Any) -> SmartReading:
    base = {"name": "sda", "serial": "S1", "protocol": "ATA", "passed": True, "power_on_hours": 4700}
    return SmartReading(**{**base, **known}, self_tests=SelfTests(log=log, running=running))


def ended(kind: SelfTestKind, outcome: SelfTestOutcome, hours: int | None = 4660, **more: Any) -> SelfTest:
    return SelfTest(kind=kind, outcome=outcome, hours=hours, **more)


@pytest.mark.parametrize(
    ("hours", "now", "protocol", "ago"),
    [
        (4660, 4700, "ATA", 40),
        (4700, 4700, "SCSI", 0),
        (None, 4700, "ATA", None),
        (4660, None, "ATA", None),
        (4660, 4000, "ATA", None),
        (4660, 70_000, "ATA", None),  # its log counts to 65535, and begins anew
        (69_000, 70_000, "NVMe", 1000),
    ],
)
def test_how_long_ago(hours: int | None, now: int | None, protocol: str, ago: int | None) -> None:
    disk = reading(protocol=protocol, power_on_hours=now)
    assert hours_ago(disk, ended(SHORT, PASSED, hours)) == ago


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (ended(LONG, PASSED), "long self-test passed 40 power-on hours ago (at 4660)"),
        (ended(SHORT, PASSED, 4699), "short self-test passed 1 power-on hour ago (at 4699)"),
        (ended(SHORT, PASSED, 4700), "short self-test passed less than 1 power-on hour ago (at 4700)"),
        (ended(LONG, FAILED, lba=9), "long self-test failed at LBA 9, 40 power-on hours ago (at 4660)"),
        (ended(SHORT, PASSED, 9999), "short self-test passed at power-on hour 9999"),
        (ended(SelfTestKind.OTHER, SelfTestOutcome.ABORTED, None), "self-test aborted"),
        (
            ended(SHORT, SelfTestOutcome.INTERRUPTED),
            "short self-test interrupted 40 power-on hours ago (at 4660)",
        ),
    ],
)
def test_words(test: SelfTest, words: str) -> None:
    assert ended_words(reading(), test) == words


def test_what_runs_comes_first() -> None:
    runs = RunningSelfTest(kind=LONG, left_percent=60)
    assert last_words(reading(ended(SHORT, PASSED), running=runs)) == (
        "long self-test running, 40 % done; short self-test passed 40 power-on hours ago (at 4660)"
    )
    assert last_words(reading(running=RunningSelfTest())) == "self-test running"
    assert last_words(reading()) == "no self-test in its log"
    assert last_words(SmartReading(name="sda")) == ""
    assert last_words(SmartReading(name="sda", self_tests=SelfTests(kinds=()))) == ""


@pytest.mark.parametrize(
    ("test", "severity", "sentence", "remedy"),
    [
        (
            ended(LONG, FAILED, lba=4711, text="read failure"), Severity.ATTENTION,
            "has failed a long self-test 40 power-on hours ago (at 4660), at LBA 4711: read failure",
            "a check of its array rewrites what cannot be read; replace it if it fails once more",
        ),
        (
            ended(SHORT, FAILED, text="Completed: electrical failure"), Severity.DEGRADED,
            "has failed a short self-test 40 power-on hours ago (at 4660): Completed: electrical failure",
            "replace it",
        ),
    ],
)  # fmt: skip
def test_a_failure_is_a_finding(test: SelfTest, severity: Severity, sentence: str, remedy: str) -> None:
    disk = reading(ended(SHORT, SelfTestOutcome.ABORTED), test, exit_status=128)
    (finding,) = judge_disk(SmartMeasurement(result=disk), 0.0).findings
    assert (finding.code, finding.subject, finding.severity) == ("selftest-failed", "S1", severity)
    assert (finding.sentence, finding.remedy) == (sentence, remedy)
    assert failed_words(disk, test) in finding.sentence


def test_a_failure_that_was_superseded_is_none() -> None:
    disk = reading(ended(LONG, PASSED), ended(SHORT, FAILED))
    assert judge_disk(SmartMeasurement(result=disk), 0.0).findings == ()


def test_smartctls_status_is_enough() -> None:
    disk = replace(reading(exit_status=128), self_tests=None)
    (finding,) = judge_disk(SmartMeasurement(result=disk), 0.0).findings
    assert (finding.code, finding.sentence) == ("selftest-failed", "has failed a self-test")


def test_the_report() -> None:
    runs = RunningSelfTest(kind=SHORT, left_percent=60)
    disk = reading(ended(LONG, FAILED, lba=7, text="Completed: read failure"), running=runs)
    wear = judge_disk(SmartMeasurement(result=disk), 0.0)
    assert wear_dict([wear])["disks"][0]["self_tests"] == {
        "running": {"kind": "short", "left_percent": 60},
        "can_run": None,
        "log": [
            {
                "kind": "long",
                "outcome": "failed",
                "power_on_hours": 4660,
                "hours_ago": 40,
                "lba": 7,
                "text": "Completed: read failure",
            }
        ],
    }
    assert (
        "  self-test  short self-test running, 40 % done; "
        "long self-test failed at LBA 7, 40 power-on hours ago (at 4660)"
    ) in wear_lines([wear])


# -- before one is started


class LiveHost(WearHost):
    """A live host whose smartctl answers pySMART with text."""

    live = True
    printed = ""
    why_not = ""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if any(word.startswith("--json") for word in argv):
            return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)
        self.asked.append(argv)
        status = None if self.why_not else 0
        return ToolOutput(argv=argv, status=status, stdout=self.printed, stderr="", why_not=self.why_not)


VERDICT = """smartctl 7.3 2022-02-28 r5338
Copyright (C) 2002-22

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: {verdict}
Self-test execution status:      ( 246)\tSelf-test routine in progress...
\t\t\t\t\t60% of test remaining.
"""


def live(text: str = "", why_not: str = "", **known: Any) -> LiveHost:
    said = json.loads(evo("sda", 12_400 * GB))
    host = LiveHost(BOOT, said={"sda": json.dumps({**said, **known})})
    host.printed, host.why_not = text, why_not
    return host


def host_identity(host: LiveHost) -> str:
    return host.sampler().sample().disks["sda1"].identity


def test_pysmart_is_asked_on_a_live_host() -> None:
    host = live(VERDICT.format(verdict="PASSED"))
    found = read_self_test_disk(host, "sda")
    assert isinstance(found.reading, SmartReading)
    assert (found.identity, found.verdict, found.trouble) == (
        "S21PN-sda",
        "the disk's own verdict is PASSED",
        "",
    ) or (found.verdict == "the disk's own verdict is PASSED")
    assert found.reading.self_tests == SelfTests(running=RunningSelfTest(left_percent=60))
    assert all("-n" in argv for argv in host.asked)


def test_the_device_list_names_the_type_where_smartctl_names_none() -> None:
    host = live("/dev/sda -d scsi # /dev/sda, SCSI device\n", device={"name": "/dev/sda", "protocol": "ATA"})
    found = read_self_test_disk(host, "sda")
    assert isinstance(found.reading, SmartReading)
    assert found.reading.kind == "scsi"
    assert ("smartctl", "--scan") in host.asked


def test_where_pysmart_cannot_be_asked_that_is_said() -> None:
    found = read_self_test_disk(live(why_not="smartctl did not answer within 30 s"), "sda")
    assert (found.trouble, found.verdict) == ("smartctl did not answer within 30 s", "")
    assert isinstance(found.reading, SmartReading)


def test_a_disk_that_sleeps_is_not_asked_more() -> None:
    host = LiveHost(BOOT, said={"sda": asleep()})
    found = read_self_test_disk(host, "sda")
    assert isinstance(found.reading, NoReading)
    assert len(host.asked) == 1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sdz", "there is no disk sdz"),
        ("sda1", "sda1 is not a whole disk with SMART data"),
        ("md1", "md1 is not a whole disk with SMART data"),
    ],
)
def test_what_is_no_disk(name: str, sentence: str) -> None:
    host = live()
    found = read_self_test_plan(host, host.sampler().sample(), name, "short")
    assert getattr(found, "why", found) == sentence
    assert host.asked == []
