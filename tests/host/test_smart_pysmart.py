"""What goes through pySMART, and that it leaves no marks."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

from raidtui.host.smart.pysmart import PysmartAnswer, PysmartError, ask_disk, scan_devices
from raidtui.host.tools import ToolOutput
from raidtui.model.smart import ScannedDevice
from tests.host.test_smart import Host

HEAD = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\nCopyright (C) 2002-22\n\n"
SCAN = "/dev/sda -d scsi # /dev/sda, SCSI device\n/dev/nvme0 -d nvme # /dev/nvme0, NVMe device\n\n"
READ_ALL = ("smartctl", "-n", "standby,3", "-d", "sat", "--all", "/dev/sda")
ATTRIBUTES = """SMART Attributes Data Structure revision number: 1
Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   {value:03d}   {value:03d}   036    Pre-fail  Always   {failed} {raw}

"""
RUNNING = """Self-test execution status:      ( 249)\tSelf-test routine in progress...
\t\t\t\t\t90% of test remaining.
"""
SCSI_RUNNING = """=== START OF INFORMATION SECTION ===
Vendor:               EXAMPLE
Product:              SAS
Serial number:        EX2
Device type:          disk
Transport protocol:   SAS (SPL-4)
SMART support is:     Available - device has SMART capability.
SMART support is:     Enabled

=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK
Self-test execution status:             73% of test remaining
"""


def _all(verdict: str, *, value: int = 100, failed: str = "    -", raw: int = 0) -> str:
    return (
        f"{HEAD}=== START OF INFORMATION SECTION ===\nDevice Model:     EXAMPLE SSD\nSerial Number:    EX1\n"
        "SMART support is: Available - device has SMART capability.\nSMART support is: Enabled\n\n"
        f"=== START OF READ SMART DATA SECTION ===\n"
        f"SMART overall-health self-assessment test result: {verdict}\n\n"
        + ATTRIBUTES.format(value=value, failed=failed, raw=raw)
    )


def _host(texts: dict[tuple[str, ...], tuple[int, str]]) -> Host:
    def answer(argv: tuple[str, ...]) -> ToolOutput:
        status, stdout = texts[argv]
        return ToolOutput(argv=argv, status=status, stdout=stdout, stderr="")

    return Host(answer)


def test_devices_are_found_without_opening_them() -> None:
    host = _host({("smartctl", "--scan"): (0, SCAN)})
    assert scan_devices(host) == (
        ScannedDevice(path="/dev/sda", kind="scsi"),
        ScannedDevice(path="/dev/nvme0", kind="nvme"),
    )
    assert host.asked == [(("smartctl", "--scan"), 30.0)]


def test_lines_of_another_kind_are_no_devices() -> None:
    text = "# scan_smart_devices: glob(3) found no matches\n\n/dev/sdb: failed: no\nnonsense -d\n"
    assert scan_devices(_host({("smartctl", "--scan"): (0, text)})) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_all("PASSED"), PysmartAnswer(verdict="PASS")),
        (_all("FAILED!"), PysmartAnswer(verdict="FAIL")),
        (
            _all("PASSED", value=20, failed="FAILING_NOW", raw=1000),
            PysmartAnswer(
                verdict="FAIL",
                messages=("Reallocated_Sector_Ct is failing now with value 020. [Threshold: 36]",),
            ),
        ),
        (
            _all("PASSED", value=90, failed="In_the_past"),
            PysmartAnswer(
                verdict="WARN",
                messages=("Reallocated_Sector_Ct failed in the past with value 90. [Threshold: 36]",),
            ),
        ),
        (f"{HEAD}Device is in STANDBY mode, exit(3)\n", PysmartAnswer(verdict="")),
        ("", PysmartAnswer(verdict="")),
    ],
    ids=["passed", "failed", "failing now", "failed once", "asleep", "silent"],
)
def test_a_disks_own_verdict(text: str, expected: PysmartAnswer) -> None:
    host = _host({READ_ALL: (0, text)})
    assert ask_disk(host, "sda", "sat", timeout_s=9.0) == expected
    assert set(host.asked) == {(READ_ALL, 9.0)}


def test_a_self_test_that_runs() -> None:
    host = _host({READ_ALL: (0, _all("PASSED") + RUNNING)})
    assert ask_disk(host, "sda", "sat") == PysmartAnswer(verdict="PASS", running=True, left_percent=90)


def test_how_far_a_scsi_disk_is() -> None:
    """Smartctl's JSON does not have that."""
    read = ("smartctl", "-n", "standby,3", "-d", "scsi", "--all", "/dev/sda")
    host = _host({read: (0, HEAD + SCSI_RUNNING)})
    assert ask_disk(host, "sda", "scsi") == PysmartAnswer(verdict="PASS", running=True, left_percent=73)


def test_a_kind_that_pysmart_does_not_know() -> None:
    with pytest.raises(PysmartError) as caught:
        ask_disk(_host({}), "sda", "bogus")
    assert str(caught.value) == (
        "sda: pySMART did not understand smartctl: "
        "ValueError('Unknown interface: bogus specified for /dev/sda')"
    )


@pytest.mark.parametrize("why", ["smartctl is not installed", "smartctl did not answer within 30 s"])
def test_a_smartctl_that_cannot_be_asked(why: str) -> None:
    host = Host(lambda argv: ToolOutput(argv=argv, status=None, stdout="", stderr="", why_not=why))
    for ask in (lambda: scan_devices(host), lambda: ask_disk(host, "sda", "sat")):
        with pytest.raises(PysmartError) as caught:
            ask()
        assert str(caught.value) == why


def test_it_leaves_no_marks_on_the_process() -> None:
    """In a process of its own: here pySMART may have been imported before."""
    script = (
        "import logging, os, sys\n"
        "from raidtui.host.smart import pysmart, smart_reader as smart\n"
        "assert 'pySMART' not in sys.modules\n"
        "before = logging.getLoggerClass()\n"
        "pysmart._library()\n"
        "assert 'pySMART' in sys.modules\n"
        "assert logging.getLoggerClass() is before\n"
        "print(os.environ.get('LANG'))\n"
    )
    for language in ("de_DE.UTF-8", None):
        environment = {key: value for key, value in os.environ.items() if key != "LANG"}
        environment |= {"LANG": language} if language else {}
        argv = (sys.executable, "-c", script)
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
        assert (done.stdout.strip(), done.stderr, done.returncode) == (str(language), "", 0)
    assert logging.getLoggerClass() is logging.Logger
