"""Wear of real disks behind a real array, as smartctl and the kernel report it: command line and pane."""

import json
import re
from typing import Any

import pytest

from tests.lab.guests.arrays import make_array, slow
from tests.lab.guests.console import open_console
from tests.lab.guests.jobs import do, raidtui
from tests.lab.guests.qemu.disks import Disk
from tests.lab.guests.qemu.guest import QemuGuest

SLOW_S = 60.0  # a start takes seconds here
MIB = 1 << 20


def report(qemu: QemuGuest) -> dict[str, Any]:
    """What ``raidtui wear --json`` reports."""
    result = raidtui(qemu, "wear", "--json")
    assert (result.status, result.stderr) == (0, ""), result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def mirror(qemu: QemuGuest) -> tuple[str, Disk, Disk]:
    """A RAID-1 of a SATA and an NVMe disk that needs no resync; the kernel's name, and its disks."""
    disks = qemu.sata[0], qemu.nvme[0]
    made = make_array(qemu, "data", 1, [disk.path for disk in disks], extra=["--assume-clean"])
    return made.kernel, *disks


def write(qemu: QemuGuest, kernel: str, mib: int) -> None:
    """Write to an array."""
    done = qemu.run(f"dd if=/dev/urandom of=/dev/{kernel} bs=1M count={mib} oflag=direct status=none")
    assert done.status == 0, done.output


@pytest.mark.later
def test_the_command_line(qemu: QemuGuest) -> None:
    kernel, sata, nvme = mirror(qemu)
    before = {disk["serial"]: disk for disk in report(qemu)["disks"]}
    assert {serial: disk["model"] for serial, disk in before.items()} == {
        disk.serial: disk.model for disk in qemu.hardware
    }
    assert before[sata.serial]["percent"]["note"].startswith("smartctl does not know this disk")
    found = before[nvme.serial]
    assert (found["percent_used"], found["unit_bytes"], found["confidence"], found["smart_passed"]) == (
        0,
        512_000,
        "standard",
        True,
    )
    assert raidtui(qemu, "wear", "--record").output == ""
    marked = raidtui(qemu, "wear", "--mark", "new cable")
    assert marked.stdout.startswith('Marked "new cable": sda, '), marked.output
    write(qemu, kernel, 64)

    after = report(qemu)
    grown = {disk["serial"]: disk["bytes_written"] for disk in after["disks"]}[nvme.serial]
    assert 64 * MIB <= grown - found["bytes_written"] + 512_000 < 66 * MIB
    since = {qemu.kernel_name(disk): after["mark"]["bytes"][qemu.kernel_name(disk)] for disk in (sata, nvme)}
    assert all(64 * MIB <= size < 66 * MIB for size in since.values()), since
    assert after["mark"]["bytes"][qemu.kernel_name(qemu.sata[1])] == 0

    qemu.warn(nvme)
    result = raidtui(qemu, "wear")
    assert result.status == 2, result.output
    assert "  failed: it reports that it has become unreliable; replace it while" in result.stdout


def test_the_pane_and_what_a_recover_cost(qemu: QemuGuest) -> None:
    kernel, sata, nvme = mirror(qemu)
    name = qemu.kernel_name(nvme)
    with open_console(qemu, cols=120) as terminal:
        terminal.press("3")
        terminal.wait_for(
            re.compile(rf" {name}  +QEMU NVMe Ctrl +{nvme.serial} .* 100 % +health log"), SLOW_S
        )
        terminal.wait_for(re.compile(rf" {qemu.kernel_name(sata)} \? +Laboratory SSD "), SLOW_S)
        terminal.press("m")
        terminal.wait_for("d shows what is written from now on", SLOW_S)

        slow(qemu, 20_000)
        again = f"--fail {nvme.path} --remove {nvme.path}"
        done = qemu.run(
            f"mdadm /dev/{kernel} {again} && mdadm --zero-superblock {nvme.path}"
            f" && mdadm /dev/{kernel} --add {nvme.path}"
        )
        assert done.status == 0, done.output
        terminal.press("6")
        terminal.wait_for(re.compile(rf"data +recover wrote 1[0-9]{{2}} MB to {name}"), SLOW_S)

        terminal.press("3", "r", "d")
        terminal.wait_for(re.compile(rf" {name}  .* health log +1[0-9]{{2}} MB "), SLOW_S)
        terminal.wait_for(re.compile(rf"recover: 1[0-9]{{2}} MB to {name}"), SLOW_S)
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.later
def test_a_self_test_by_the_command_line(qemu: QemuGuest) -> None:
    disk = qemu.sata[0]
    name = qemu.kernel_name(disk)
    do(qemu, "self-test", disk.path, "short")
    (found,) = [each for each in report(qemu)["disks"] if each["serial"] == disk.serial]
    log = found["self_tests"]["log"]
    assert [(each["kind"], each["outcome"]) for each in log] == [("short", "passed")]
    result = raidtui(qemu, "wear")
    assert "  self-test  short self-test passed" in result.stdout

    refused = raidtui(qemu, "plan", "self-test", qemu.kernel_name(qemu.nvme[0]), "short")
    assert refused.status == 2, refused.output
    ended = raidtui(qemu, "plan", "self-test", name, "abort")
    assert (ended.status, ended.stdout) == (0, f"already so: {name} runs no self-test\n")


@pytest.mark.later
def test_a_self_test_on_the_screen(qemu: QemuGuest) -> None:
    _, sata, _ = mirror(qemu)
    name = qemu.kernel_name(sata)
    with open_console(qemu, cols=120) as terminal:
        terminal.press("3")
        terminal.wait_for(re.compile(rf" {name} \? +Laboratory SSD "), SLOW_S)
        rows_above = ord(name[-1]) - ord("a")
        terminal.press(*["down"] * rows_above, "t")
        terminal.wait_for(f"Self-test of {name}", SLOW_S)
        terminal.wait_for("the disk's own verdict is PASSED", SLOW_S)  # pySMART has answered
        terminal.press("enter")
        terminal.wait_for(f"smartctl -d sat -t short /dev/{name}", SLOW_S)
        terminal.press("y")
        terminal.wait_for("Testing has begun", SLOW_S)
        terminal.press("escape")
        terminal.wait_for(re.compile(rf" {name} +short self-test passed"), SLOW_S)
        terminal.press("q")
        assert terminal.wait_exit() == 0
