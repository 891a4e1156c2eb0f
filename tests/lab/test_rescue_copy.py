"""Copies as jobs, with a program in the place of GNU ddrescue that takes the same arguments."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests import launch
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.boot import serial_of
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, checksum, raidtui, states
from tests.lab.test_rescue_trial import SUMS, filled, tried

# Copies what the map has not; waits after half of it while there is /tmp/wait.
DDRESCUE = """#!/usr/bin/env -S GLIBC_TUNABLES=@@ python3 -IB
import os, signal, sys, time
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
source, target, place = [word for word in sys.argv[1:] if not word.startswith("--")]
size = os.stat(source).st_size or int(open(f"/sys/class/block/{os.path.basename(source)}/size").read()) * 512
try:
    done = int(open(place).read().split("\\\\n")[1].split()[1], 16)
except OSError:
    done = 0
into = os.open(target, os.O_RDWR | os.O_CREAT)
with open(source, "rb") as file:
    while done < size and not ended:
        file.seek(done)
        os.pwrite(into, file.read(1 << 20), done)
        done += 1 << 20
        with open(place + ".part", "w") as out:
            out.write(f"0x0 ? 1\\\\n0x0 {done:#x} +\\\\n{done:#x} {size - done:#x} ?\\\\n")
        os.rename(place + ".part", place)
        while done >= size // 2 and os.path.exists("/tmp/wait") and not ended:
            time.sleep(0.02)
"""


@pytest.fixture
def no_ddrescue(guest: Guest) -> Iterator[None]:
    """It is not installed."""
    hidden = "rm -f /usr/local/bin/ddrescue; ! [ -e /usr/bin/ddrescue ] || mv /usr/bin/ddrescue /usr/bin/away"
    assert guest.run(hidden).status == 0
    yield
    shown = "rm -f /usr/local/bin/ddrescue; ! [ -e /usr/bin/away ] || mv /usr/bin/away /usr/bin/ddrescue"
    assert guest.run(shown).status == 0


@pytest.fixture
def ddrescue(guest: Guest, no_ddrescue: None) -> None:
    """The program in its place is installed, and nothing of former jobs is there."""
    path = guest.put("ddrescue", DDRESCUE.replace("\\\\", "\\").replace("@@", launch.TUNABLES).encode())
    done = guest.run(
        f"rm -rf /var/lib/raidtui /tmp/disk.img* /tmp/wait; install -m 755 {path} /usr/local/bin/ddrescue &&"
        f" dd if=/dev/urandom of=/dev/{disk_names(guest)[0]} bs=1M count=128 status=none"
    )
    assert done.status == 0, done.output


@pytest.fixture
def real_ddrescue(guest: Guest) -> None:
    """GNU ddrescue itself, and nothing of former jobs."""
    found = guest.run("rm -rf /var/lib/raidtui; command -v ddrescue")
    assert found.status == 0, "not installed: ddrescue (Debian: apt install gddrescue)"


@pytest.mark.later
@pytest.mark.usefixtures("no_ddrescue")
def test_without_ddrescue(guest: Guest) -> None:
    result = raidtui(guest, "rescue", "copy", disk_names(guest)[0], "/tmp/disk.img")
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == "raidtui: not possible: ddrescue is not installed; apt install gddrescue\n"


@pytest.mark.later
@pytest.mark.usefixtures("ddrescue")
def test_a_copy_is_cancelled_and_continues(guest: Guest) -> None:
    name = disk_names(guest)[0]
    before = checksum(guest, [name])
    assert guest.run("touch /tmp/wait").status == 0
    begun = raidtui(guest, "rescue", "copy", name, "/tmp/disk.img", "--detach")
    assert begun.status == 0, begun.output
    wait_until(lambda: guest.run("grep -c 0x4000000 /tmp/disk.img.map").stdout == "2\n", 60, "half of it")
    job = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    cancelled = raidtui(guest, "jobs", "cancel", job)
    assert (cancelled.status, states(guest)) == (0, ["cancelled"]), cancelled.output
    assert guest.run("rm /tmp/wait").status == 0
    resumed = raidtui(guest, "jobs", "resume", job)
    assert (resumed.status, states(guest)) == (0, ["done"]), resumed.output
    assert "100 % copied, 128 MiB" in resumed.stdout
    assert guest.run(f"cmp /dev/{name} /tmp/disk.img").status == 0
    assert checksum(guest, [name]) == before


@pytest.mark.usefixtures("ddrescue")
@pytest.mark.later
def test_a_disk_is_overwritten_when_it_is_confirmed(guest: Guest) -> None:
    source, target = disk_names(guest)[:2]
    asked = raidtui(guest, "rescue", "copy", source, target)
    assert asked.status == 2
    assert "to confirm, give --confirm=LAB-UBDB-0002" in asked.stderr
    assert guest.run(f"cmp /dev/{source} /dev/{target}").status == 1
    done = raidtui(guest, "rescue", "copy", source, target, "--confirm=LAB-UBDB-0002")
    assert done.status == 0, done.output
    assert guest.run(f"cmp /dev/{source} /dev/{target}").status == 0


@pytest.mark.later
@pytest.mark.usefixtures("ddrescue")
def test_a_copy_that_is_killed_is_continued_by_the_same_command(guest: Guest) -> None:
    """SIGKILL to the worker ends ddrescue, too; the map file says where to continue."""
    name = disk_names(guest)[0]
    assert guest.run("touch /tmp/wait").status == 0
    begun = raidtui(guest, "rescue", "copy", name, "/tmp/disk.img", "--detach")
    assert begun.status == 0, begun.output
    wait_until(lambda: guest.run("grep -c 0x4000000 /tmp/disk.img.map").stdout == "2\n", 60, "half of it")
    job = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    pids = f'sed -n \'s/.*"event": "work", "pid": \\([0-9]*\\).*/\\1/p\' {JOBS}/{job}/journal.jsonl'
    assert guest.run(f"kill -KILL $({pids})").status == 0
    wait_until(lambda: guest.run("pgrep -f usr/local/bin/ddrescue").status == 1, 60, "the end of ddrescue")
    assert states(guest) == ["interrupted"]
    half = guest.run("stat --format=%Y /tmp/disk.img.map; rm /tmp/wait").stdout
    again = raidtui(guest, "rescue", "copy", name, "/tmp/disk.img")
    assert (again.status, half != "", states(guest)) == (0, True, ["interrupted", "done"]), again.output
    assert guest.run(f"cmp /dev/{name} /tmp/disk.img").status == 0


@pytest.mark.usefixtures("real_ddrescue")
def test_a_failing_disk_is_copied_and_the_rest_is_done_with_the_copy(guest: Guest) -> None:
    """RAID 5: a member is lost, another one gives read errors: files come back from its copy."""
    first, under, third, spare = disk_names(guest)[:4]
    made = guest.run(
        f"modprobe dm-dust && size=$(($(blockdev --getsz /dev/{under}) - 2048)) &&"
        f" echo 0 $size dust /dev/{under} 2048 512 | dmsetup create dust && udevadm settle &&"
        " basename $(readlink -f /dev/mapper/dust)"
    )
    assert made.status == 0, made.output
    sick = made.stdout.strip()
    array = make_array(guest, "data", 5, (first, sick, third), chunk=64, extra=["--assume-clean"])
    filled(guest, str(array.path), size="200M")  # ext4 places files by chance: none where reads will fail
    done = guest.run(
        f"mdadm --stop {array.path} &&"
        f" dd if=/dev/zero of=/dev/{third} bs=1M count=128 conv=fsync status=none;"
        " for sector in $(seq 255000 255015); do dmsetup message dust 0 addbadblock $sector; done;"
        " dmsetup message dust 0 enable; udevadm settle"
    )
    assert done.status == 0, done.output
    given = (first, sick, third, spare)
    result = diagnosed(guest, *given)
    assert "read-errors" in causes(result)
    assert [way["devices"] for way in result["ways"] if way["code"] == "copy-first"] == [[sick]]
    before = checksum(guest, [first, under, third])
    copied = raidtui(
        *(guest, "rescue", "copy", sick, spare, "--map", "/tmp/sick.map", f"--confirm={serial_of(spare)}"),
        timeout=300,
    )
    assert copied.status == 0, copied.output
    assert "8 KiB in 1 place could not be read" in copied.stdout
    result = diagnosed(guest, *given)
    assert causes(result)["clone"] == [sick, spare]
    assert "lacks 8 KiB that could not be read" in json.dumps(result["causes"])
    ways = {way["code"]: way["devices"] for way in result["ways"] if way["possible"]}
    assert ways["start-degraded"] == [first, spare]
    assert "copy-first" not in ways
    both = raidtui(guest, "rescue", "try", "start-degraded", first, sick, spare)
    assert (both.status, f"{spare} and {sick} have one superblock" in both.stderr) == (2, True), both.output
    outcome = tried(guest, "start-degraded", first, spare, "--hashes", SUMS)
    assert outcome["proof"]["check"] == "clean"
    assert "6 have the sums of the list" in outcome["proof"]["sure"]
    assert checksum(guest, [first, under, third]) == before


def diagnosed(guest: Guest, *names: str) -> dict[str, Any]:
    """What is said of the only array with a superblock."""
    result = raidtui(guest, "rescue", "--json", *names)
    found: list[dict[str, Any]] = json.loads(result.stdout)["arrays"]
    (array,) = (each for each in found if each["uuid"])
    return array


def causes(array: dict[str, Any]) -> dict[str, list[str]]:
    """The devices of each cause, by its code."""
    return {cause["code"]: cause["devices"] for cause in array["causes"]}
