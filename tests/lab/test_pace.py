"""Limits that move while a check runs, and come back: after its end, a signal, a kill, a power cut."""

import json
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array, slow
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, raidtui, started, states
from tests.lab.guests.uml import PowerGuest

FULL_KIB_S = 2000
BEFORE = ("1000 (system)", f"{FULL_KIB_S} (system)")
READER = """
import mmap, os, random
node = os.open("/dev/{}", os.O_RDONLY | os.O_DIRECT)
blocks, page = os.lseek(node, 0, os.SEEK_END) // 4096, mmap.mmap(-1, 4096)
while True:
    os.preadv(node, [page], 4096 * random.randrange(blocks))
"""


def checked(guest: Guest, name: str, disks: tuple[str, ...]) -> str:
    """Make an array that is checked, slowly, and read all the time; return the kernel's name."""
    assert guest.run(f"rm -rf {JOBS}; echo 1000 >/proc/sys/dev/raid/speed_limit_min").status == 0
    made = make_array(guest, name, 1, disks, extra=("--assume-clean",))
    guest.spawn(READER.format(made.kernel), interpreter="python")
    begun = guest.run(f"echo check >/sys/block/{made.kernel}/md/sync_action")
    assert begun.status == 0, begun.output
    return made.kernel


def limits(guest: Guest, md: str) -> tuple[str, ...]:
    """What the kernel says of both limits."""
    folder = f"/sys/block/{md}/md"
    return tuple(guest.run(f"cat {folder}/sync_speed_min {folder}/sync_speed_max").stdout.splitlines())


def pacing(guest: Guest) -> list[dict[str, Any]]:
    """What ``pace --status`` says."""
    said = raidtui(guest, "pace", "--status", "--json")
    assert said.status == 0, said.output
    found: list[dict[str, Any]] = json.loads(said.stdout)["pacing"]
    return found


def paced(guest: Guest, *words: str) -> dict[str, Any]:
    """Begin to pace, and wait until a limit was given; return what is said of it."""
    begun = started(guest, "pace", *words, "--latency", "200")
    assert begun.status == 0, begun.output
    assert "comes back at the end" in begun.stdout

    def given() -> bool:
        return any(each["limit_kib_s"] is not None for each in pacing(guest))

    wait_until(given, 60, "a limit is given")
    return pacing(guest)[0]


def is_back(guest: Guest, md: str) -> bool:
    return limits(guest, md) == BEFORE


@pytest.mark.later
def test_a_check_yields_and_the_limits_come_back(guest: Guest) -> None:
    slow(guest, FULL_KIB_S)
    md = checked(guest, "data", disk_names(guest)[:2])
    assert limits(guest, md) == BEFORE
    news = paced(guest, "data")
    assert (news["array"], news["target_ms"], news["full_kib_s"]) == (md, 200.0, FULL_KIB_S)
    assert news["why"] == "trial"
    low, high = limits(guest, md)
    assert low == "1 (local)"
    assert high.endswith(" (local)")
    assert int(high.split()[0]) < FULL_KIB_S
    again = started(guest, "pace", "data", "--latency", "5")
    assert again.status == 2
    assert "is paced already" in again.stderr
    guest.run(f"echo idle >/sys/block/{md}/md/sync_action")
    wait_until(lambda: states(guest) == ["done"], 60, "the job is done")
    assert limits(guest, md) == BEFORE
    (array,) = json.loads(raidtui(guest, "status", "--json").stdout)["arrays"]
    known = array["last_check"]
    assert (known["complete"], known["stopped_by"]) == (False, None), "no console watched it: pace did"
    assert 0 < known["read_fraction"] < 1
    assert pacing(guest) == []


def test_who_is_killed_gives_back_by_the_next_start(guest: Guest) -> None:
    slow(guest, FULL_KIB_S)
    md = checked(guest, "data", disk_names(guest)[:2])
    news = paced(guest, "data")
    guest.run(f"kill -9 {news['pid']}; while [ -d /proc/{news['pid']} ]; do :; done")
    assert limits(guest, md)[1].endswith("(local)")
    assert pacing(guest) == []
    assert states(guest) == ["interrupted"]
    back = raidtui(guest, "pace", "--restore")
    assert (back.status, back.stdout) == (0, "data: the limits are as before\n")
    assert limits(guest, md) == BEFORE
    # killed again: who comes next gives back first, and begins with what was there before
    news = paced(guest, "data")
    guest.run(f"kill -9 {news['pid']}; while [ -d /proc/{news['pid']} ]; do :; done")
    news = paced(guest, "data")
    assert news["full_kib_s"] == FULL_KIB_S
    ended = raidtui(guest, "pace", "--stop")
    assert ended.stdout == f"process {news['pid']} has ended, and gave the limits back\n"
    assert limits(guest, md) == BEFORE
    assert states(guest) == ["interrupted", "interrupted", "cancelled"]


@pytest.mark.later
def test_a_limit_of_somebody_else_is_left_alone(guest: Guest) -> None:
    """While it runs, and after a kill."""
    slow(guest, FULL_KIB_S)
    md = checked(guest, "data", disk_names(guest)[:2])
    paced(guest, "data")
    guest.run(f"echo 777 >/sys/block/{md}/md/sync_speed_max")
    wait_until(lambda: states(guest) == ["failed"], 60, "it gives up")
    assert limits(guest, md) == ("1000 (system)", "777 (local)")
    guest.run(f"echo system >/sys/block/{md}/md/sync_speed_max")
    news = paced(guest, "data")
    guest.run(f"kill -9 {news['pid']}; while [ -d /proc/{news['pid']} ]; do :; done")
    guest.run(f"echo 778 >/sys/block/{md}/md/sync_speed_max")
    back = raidtui(guest, "pace", "--restore").stdout
    assert back == f"data: the limits are as before; {md}/md/sync_speed_max stay as they were set meanwhile\n"
    assert limits(guest, md) == ("1000 (system)", "778 (local)")


@pytest.mark.later
def test_two_arrays_and_one_that_is_stopped(guest: Guest) -> None:
    slow(guest, FULL_KIB_S)
    disks = disk_names(guest)
    one, two = checked(guest, "one", disks[:2]), checked(guest, "two", disks[2:4])
    paced(guest, "one", "two", "--within", "0.01")

    def both() -> bool:
        return [each["why"] for each in pacing(guest)] == ["deadline", "deadline"]

    wait_until(both, 60, "both are paced, and hurry")
    low, high = limits(guest, one)
    assert low.split()[0] == high.split()[0]  # all that there was before, and no more
    assert int(low.split()[0]) <= FULL_KIB_S
    stopped = guest.run(f"pkill -f mmap.mma[p]; until mdadm --stop /dev/{two}; do sleep 0.1; done")
    assert stopped.status == 0, stopped.output
    wait_until(lambda: [each["array"] for each in pacing(guest) if each["why"]] == [one], 60, "one is left")
    assert raidtui(guest, "pace", "--stop", one).status == 0
    assert is_back(guest, one)


@pytest.mark.later
def test_a_unit_waits_for_the_next_sync_and_is_stopped(guest: Guest) -> None:
    """As systemd starts it: in the foreground; SIGTERM ends it."""
    slow(guest, FULL_KIB_S)
    assert guest.run("echo 1000 >/proc/sys/dev/raid/speed_limit_min").status == 0
    md = make_array(guest, "data", 1, disk_names(guest)[:2], extra=("--assume-clean",)).kernel
    words = ["pace", "data", "--latency", "200", "--here", "--stay"]
    unit = guest.begin_command(words, timeout=300)
    wait_until(lambda: len(pacing(guest)) == 1, 60, "it waits")
    assert limits(guest, md) == BEFORE
    guest.spawn(READER.format(md), interpreter="python")
    guest.run(f"echo check >/sys/block/{md}/md/sync_action")
    wait_until(lambda: limits(guest, md)[1].endswith("(local)"), 60, "it paces")
    guest.run(f"echo idle >/sys/block/{md}/md/sync_action")
    wait_until(lambda: is_back(guest, md), 60, "the limits are back")
    guest.run(f"echo check >/sys/block/{md}/md/sync_action")
    wait_until(lambda: limits(guest, md)[1].endswith("(local)"), 60, "it paces the next one")
    guest.run(f"kill -TERM {pacing(guest)[0]['pid']}")
    assert unit.wait(60).status == 0
    assert limits(guest, md) == BEFORE


@pytest.mark.later
def test_the_queues_of_the_members_are_lent_with_the_limits(guest: Guest, sd: str) -> None:
    """A disk that queues, beside one that does not."""
    slow(guest, FULL_KIB_S)
    queue = f"/sys/block/{sd}/queue/nr_requests"
    before = guest.run(f"cat {queue}").stdout
    md = checked(guest, "data", (sd, disk_names(guest)[0]))
    news = paced(guest, "data")
    assert news["queue"] == 4
    assert guest.run(f"cat {queue}").stdout == "4\n"
    guest.run(f"kill -9 {news['pid']}; while [ -d /proc/{news['pid']} ]; do :; done")
    assert raidtui(guest, "pace", "--restore").status == 0
    assert guest.run(f"cat {queue}").stdout == before
    guest.run(f"pkill -f mmap.mma[p]; until mdadm --stop /dev/{md}; do sleep 0.1; done")


@pytest.mark.later
def test_a_suspended_device_is_not_read(guest: Guest) -> None:
    """The limits stay, the status says why nothing is measured, and the pacing can be ended."""
    slow(guest, FULL_KIB_S)
    one, two = disk_names(guest)[:2]
    size = f"$(blockdev --getsz /dev/{one})"
    made = guest.run(f'dmsetup create below --table "0 {size} linear /dev/{one} 0" && udevadm settle')
    assert made.status == 0, made.output
    md = checked(guest, "data", ("/dev/mapper/below", two))
    paced(guest, "data")
    assert guest.run("dmsetup suspend --nolockfs below").status == 0
    try:
        wait_until(lambda: pacing(guest)[0]["trouble"], 60, "it says so")
        assert pacing(guest)[0]["trouble"] == "dm-0 is suspended"
        assert limits(guest, md)[1].endswith("(local)")
    finally:
        assert guest.run("dmsetup resume below").status == 0
    wait_until(lambda: not pacing(guest)[0]["trouble"], 60, "it is measured again")
    assert raidtui(guest, "pace", "--stop").status == 0
    assert is_back(guest, md)
    stopped = guest.run(
        f"pkill -f mmap.mma[p]; until mdadm --stop /dev/{md}; do sleep 0.1; done; dmsetup remove below"
    )
    assert stopped.status == 0, stopped.output


@pytest.mark.later
def test_nothing_is_left_after_a_power_cut() -> None:
    """The kernel's limits are new, the lease is of another boot, the job says that it was interrupted."""
    guest = PowerGuest.boot(disks=2)
    try:
        slow(guest, FULL_KIB_S)
        checked(guest, "data", guest.disks)
        paced(guest, "data")
        guest.cut()
        guest.switch_on()
        assert guest.run("mdadm --assemble --scan; udevadm settle; ls /sys/block").stdout.count("md127") == 1
        assert limits(guest, "md127") == ("1000 (system)", "200000 (system)")
        assert pacing(guest) == []
        back = raidtui(guest, "pace", "--restore")
        assert (back.status, back.stdout) == (0, "")
    finally:
        guest.shutdown()
