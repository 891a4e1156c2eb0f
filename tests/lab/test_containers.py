"""Containers of external metadata and their volumes, as mdadm makes them: Intel's (IMSM) and DDF."""

import json

import pytest

from tests.lab.guests.arrays import make_container, make_ram_disks
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, last_job, raidtui, refusal

pytestmark = pytest.mark.later


@pytest.mark.parametrize("kind", ["imsm", "ddf"])
def test_a_container_and_its_volume(guest: Guest, kind: str) -> None:
    first, second = make_ram_disks(guest, 2, 128)
    make_container(guest, kind, (first, second), "--level=1")
    made = guest.run("mdadm --detail --export /dev/md/vol && cat /proc/mdstat")
    assert made.status == 0, made.output
    report = json.loads(raidtui(guest, "status", "--json").stdout)
    volume, container = sorted(report["arrays"], key=lambda array: array["label"] == "box")
    assert (volume["label"], volume["container"], volume["level"]) == ("vol", container["name"], "raid1")
    assert f"MD_UUID={volume['uuid']}\n" in made.stdout
    reported = raidtui(guest, "status").stdout.splitlines()
    assert (
        f"box (/dev/{container['name']}) is a container: {kind} on 2 disks, with the volume vol." in reported
    )
    assert not any("level unknown" in line for line in reported)
    guest.run("mdadm --wait /dev/md/vol")  # its first resync, if that still runs
    # The kernel knows no UUID of the volume; udev's is what a step is bound to.
    assert do(guest, "check", "vol").endswith("done\n")
    assert refusal(guest, "check", "box") == "box is a container of volumes; choose one of its volumes"
    assert refusal(guest, "stop", "box") == "box holds vol; stop that first"
    guest.run("mdadm --wait /dev/md/vol")
    assert do(guest, "stop", "vol").endswith("done\n")
    if kind == "ddf":  # imsm finds its disks by their serial numbers, which these have not
        back = raidtui(guest, "jobs", "rollback", last_job(guest))
        assert (back.status, "rolled back" in back.output) == (0, True), back.output
        assert guest.run("mdadm --detail --export /dev/md/vol").stdout.count("MD_LEVEL=raid1") == 1
        assert do(guest, "stop", "vol").endswith("done\n")
    assert do(guest, "stop", "box").endswith("done\n")
