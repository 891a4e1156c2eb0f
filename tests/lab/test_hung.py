"""Syncs on the real kernel: a member that does not answer, and checks that are cancelled or paused."""

import re
from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import Made, disk_names, make_array, slow
from tests.lab.guests.console import kernel_text, open_console, shows_row
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.qemu.guest import QemuGuest

HUNG = "/dev/mapper/hung"


@pytest.fixture
def mapped(guest: Guest) -> Iterator[Guest]:
    """A guest with a disk below a map that can be suspended."""
    disk = disk_names(guest)[1]
    done = guest.run(
        "modprobe dm-mod && "
        f'dmsetup create hung --table "0 $(blockdev --getsz /dev/{disk}) linear /dev/{disk} 0" && '
        "udevadm settle"
    )
    assert done.status == 0, done.output
    yield guest
    guest.run("dmsetup resume hung")
    guest.run("udevadm settle; mdadm --stop --scan; udevadm settle; dmsetup remove --retry hung")


@pytest.fixture
def arrays(mapped: Guest) -> tuple[Made, Made]:
    """A mirror that is resynced slowly, one member of which can be made to hang; and one at rest."""
    disks = disk_names(mapped)
    slow(mapped, 1000)
    stuck = make_array(mapped, "stuck", 1, (disks[0], HUNG))
    well = make_array(mapped, "well", 1, disks[2:4], extra=("--assume-clean",))
    return stuck, well


def hang(guest: Guest) -> None:
    """Let the member hang."""
    done = guest.run("dmsetup suspend --noflush --nolockfs hung")
    assert done.status == 0, done.output


@pytest.fixture
def hanging_bitmap(qemu: QemuGuest) -> Iterator[tuple[QemuGuest, str, str]]:
    """A guest with a mirror with a bitmap, one disk of which can hang; and a mirror at rest."""
    disks = [disk.path for disk in qemu.sata]
    below = disks[1]
    done = qemu.run(
        "modprobe dm-mod && "
        f'dmsetup create hung --table "0 $(blockdev --getsz {below}) linear {below} 0" && udevadm settle'
    )
    assert done.status == 0, done.output
    bitmap = ("--bitmap-chunk=4M", "--assume-clean")
    stuck = make_array(qemu, "stuck", 1, (disks[0], HUNG), bitmap="internal", extra=bitmap)
    well = make_array(qemu, "well", 1, disks[2:4], extra=("--assume-clean",))
    yield qemu, stuck.kernel, well.kernel
    qemu.run("pkill -f '[b]s=4k seek'; dmsetup resume hung; while pkill -x dd; do sleep 0.1; done")
    qemu.run("udevadm settle; mdadm --stop --scan; udevadm settle")
    qemu.run("dmsetup remove --retry hung")


def hang_mdstat(guest: Guest, stuck: str) -> None:
    """Let the member hang while md's bitmap daemon has bits to clear: it waits with the lock of mdstat.

    It depends on what md's thread does at that moment, which may be another write that it waits for.
    """
    write = f"dd if=/dev/zero of=/dev/{stuck} oflag=direct"
    for _ in range(6):
        done = guest.run(
            f"{write} bs=64k count=400 &&"
            f" (while {write} bs=4k seek=2000 count=900; do :; done >/dev/null 2>&1 &) && sleep 0.5"
        )
        assert done.status == 0, done.output
        hang(guest)
        waits = guest.run(
            "for each in $(seq 15); do cat /proc/mdstat >/dev/null & sleep 1;"
            " grep -qs '^State:.D' /proc/$!/status && exit 0; done; exit 1"
        )
        if waits.status == 0:
            return
        guest.run("pkill -f '[b]s=4k seek'; dmsetup resume hung; while pkill -x dd; do sleep 0.1; done")
    pytest.fail("md's bitmap daemon has never waited")


def kept(guest: Guest, made: Made) -> int:
    """Return md's last step, in sectors."""
    return int(kernel_text(guest, f"/sys/block/{made.kernel}/md/sync_completed").split()[0])


def test_a_write_that_md_does_not_take_leaves_the_console_alive(
    mapped: Guest, arrays: tuple[Made, Made]
) -> None:
    _, well = arrays
    with open_console(mapped, rows=30) as terminal:
        terminal.wait_for(shows_row("stuck", "resync"))
        hang(mapped)
        terminal.wait_for(re.compile(r"has not moved since \d\d:\d\d"), timeout=60)
        terminal.press("home")
        terminal.type("p")
        terminal.wait_for("do it", timeout=30)
        terminal.type("y")
        terminal.wait_for(re.compile(r"md has not taken it for 5 s"), timeout=60)
        terminal.wait_for(re.compile(r"md has taken no write since \d\d:\d\d"), timeout=60)
        mapped.run(f"echo faulty >/sys/block/{well.kernel}/md/dev-{disk_names(mapped)[3]}/state")
        terminal.wait_for(shows_row("well", "degraded"), timeout=60)
        terminal.type("q")
        assert terminal.wait_exit(60) == 0


@pytest.mark.later
def test_a_cancelled_check_and_one_that_was_paused_are_said_as_they_were(guest: Guest) -> None:
    disks = disk_names(guest)[:2]
    slow(guest, 4000)
    made = make_array(guest, "one", 1, disks, extra=("--assume-clean",))
    guest.run(
        f"dd if=/dev/urandom of=/dev/{disks[1]} bs=64k seek=320 count=3 oflag=direct conv=notrunc status=none"
    )
    action = f"/sys/block/{made.kernel}/md/sync_action"
    with open_console(guest, rows=30) as terminal:
        terminal.wait_for(shows_row("one", "optimal"))
        terminal.type("c")
        terminal.wait_for(shows_row("one", "check"))
        terminal.type("x")
        terminal.wait_for(
            re.compile(r"last check: stopped by raidtui, \d+(\.\d)? % read, \d+ mismatched sectors in it"),
            timeout=60,
        )
        terminal.type("c")
        terminal.wait_for(re.compile(r"the check has found [1-9]\d* mismatched sectors so far"), timeout=90)
        terminal.type("p")
        terminal.wait_for(
            re.compile(r"check paused by raidtui: \d+ % read, [1-9]\d* mismatched sectors in it"), timeout=60
        )
        terminal.type("p")
        terminal.wait_for(shows_row("one", "check"), timeout=60)
        guest.run("echo 200000 >/proc/sys/dev/raid/speed_limit_max")
        wait_until(lambda: kernel_text(guest, action) == "idle", 90, "the end of the check")
        terminal.wait_for(re.compile(r"last check: complete, [1-9]\d* mismatched sectors"), timeout=60)
    done = guest.run("cat /var/lib/raidtui/syncs/*.json")
    assert '"complete"' in done.stdout, done.output


def test_the_console_and_the_report_go_on_where_mdstat_hangs(
    hanging_bitmap: tuple[QemuGuest, str, str],
) -> None:
    guest, stuck, well = hanging_bitmap
    with open_console(guest, rows=30) as terminal:
        terminal.wait_for(shows_row("well", "optimal"), timeout=60)
        hang_mdstat(guest, stuck)
        terminal.wait_for(re.compile(r"mdstat: it has not answered since \d\d:\d\d"), timeout=60)
        failing = guest.kernel_name(guest.sata[3])
        assert guest.run(f"echo faulty >/sys/block/{well}/md/dev-{failing}/state").status == 0
        terminal.wait_for(shows_row("well", "degraded"), timeout=60)
        said = raidtui(guest, "status", timeout=60)
        assert "Not known: /proc/mdstat: it has not answered since" in said.stdout, said.output
        assert "well" in said.stdout, said.output
        terminal.type("q")
        assert terminal.wait_exit(60) == 0
    with open_console(guest, rows=30) as terminal:
        terminal.wait_for(shows_row("well", "degraded"), timeout=60)
        guest.run("dmsetup resume hung")
        terminal.wait_for(lambda text: "not answered" not in text, timeout=60)
        terminal.type("q")
        assert terminal.wait_exit(60) == 0
