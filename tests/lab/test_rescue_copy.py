"""Copies as jobs, with a program in the place of GNU ddrescue that takes the same arguments."""

import json

import pytest

from tests.lab.guests import launch
from tests.lab.guests.arrays import disk_names
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui, states

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
def ddrescue(guest: Guest) -> None:
    """It is installed, and nothing of former jobs is there."""
    path = guest.put("ddrescue", DDRESCUE.replace("\\\\", "\\").replace("@@", launch.TUNABLES).encode())
    done = guest.run(
        f"rm -rf /var/lib/raidtui /tmp/disk.img* /tmp/wait; install -m 755 {path} /usr/local/bin/ddrescue &&"
        f" dd if=/dev/urandom of=/dev/{disk_names(guest)[0]} bs=1M count=128 status=none"
    )
    assert done.status == 0, done.output


def test_without_ddrescue(guest: Guest) -> None:
    assert guest.run("rm -f /usr/local/bin/ddrescue").status == 0
    told = raidtui(guest, "rescue", "copy", disk_names(guest)[0], "/tmp/disk.img")
    assert (told.status, told.stdout) == (2, "")
    assert told.stderr == "raidtui: not possible: ddrescue is not installed; apt install gddrescue\n"


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
def test_a_disk_is_overwritten_when_it_is_confirmed(guest: Guest) -> None:
    source, target = disk_names(guest)[:2]
    asked = raidtui(guest, "rescue", "copy", source, target)
    assert asked.status == 2
    assert "to confirm, give --confirm=LAB-UBDB-0002" in asked.stderr
    assert guest.run(f"cmp /dev/{source} /dev/{target}").status == 1
    done = raidtui(guest, "rescue", "copy", source, target, "--confirm=LAB-UBDB-0002")
    assert done.status == 0, done.output
    assert guest.run(f"cmp /dev/{source} /dev/{target}").status == 0
