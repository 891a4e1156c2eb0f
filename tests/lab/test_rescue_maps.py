"""Members that are maps of the device mapper, which udev does not always know."""

import json

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui
from tests.lab.test_rescue_trial import SUMS, filled, tried

pytestmark = pytest.mark.later

MAPS = ("mine1", "mine2", "mine3")
FORGOTTEN = "".join(
    f"sed -i /ID_FS_/d /run/udev/data/b$(cat /sys/block/$(basename $(readlink -f /dev/mapper/{name}))/dev) &&"
    for name in MAPS
)
"""udev knows no longer what the maps hold."""


def test_members_that_are_maps_are_found_without_udev_and_tried(guest: Guest) -> None:
    """One of three maps is suspended: it is said to be silent, and nothing waits for it."""
    names = disk_names(guest)[:3]
    made = guest.run(
        "".join(
            f"echo 0 $(($(blockdev --getsz /dev/{disk}) - 4096)) linear /dev/{disk} 4096 |"
            f" dmsetup create {name} && "
            for disk, name in zip(names, MAPS, strict=True)
        )
        + f"udevadm settle && for map in {' '.join(MAPS)}; do basename $(readlink -f /dev/mapper/$map); done"
    )
    assert made.status == 0, made.output
    maps = made.stdout.split()
    array = make_array(guest, "data", 5, maps, chunk=64, extra=["--assume-clean"])
    filled(guest, str(array.path))
    done = guest.run(f"mdadm --stop {array.path} && udevadm settle && {FORGOTTEN} dmsetup suspend mine3")
    assert done.status == 0, done.output
    try:
        before = checksum(guest, names[:2])
        result = raidtui(guest, "rescue", "--json")
        found = json.loads(result.stdout)
        assert found["silent"] == maps[2:], result.output
        (one,) = found["arrays"]
        assert [each["device"] for each in one["members"]] == maps[:2]
        ways = {each["code"]: each for each in one["ways"]}
        assert ways["start-degraded"]["devices"] == maps[:2], ways
        outcome = tried(guest, "start-degraded", *maps[:2], "--hashes", SUMS)
        assert outcome["proof"]["check"] == "clean", outcome
        assert checksum(guest, names[:2]) == before
    finally:
        guest.run(
            f"dmsetup resume mine3; udevadm settle; mdadm --stop --scan; dmsetup remove {' '.join(MAPS)}"
        )
