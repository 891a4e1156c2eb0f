"""Containers of external metadata that are tried: read-only on their disks, where mdmon writes nothing."""

import json
import shlex

import pytest

from tests.lab.guests.arrays import disk_names, make_container
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui
from tests.lab.test_rescue_trial import SUMS, filled, left, tried

pytestmark = pytest.mark.later

SERIALS = """
tool=$(readlink -f /sbin/mdadm) && cp $tool /tmp/mdadm.real && cat >/tmp/mdadm.named <<'END'
#!/bin/sh
export IMSM_DEVNAME_AS_SERIAL=1
exec /tmp/mdadm.real "$@"
END
chmod 755 /tmp/mdadm.* && mount --bind /tmp/mdadm.named $tool
"""
"""mdadm, which takes a disk's name for its serial number: the guest's disks answer no SCSI command."""


def container(guest: Guest, kind: str, names: tuple[str, ...]) -> None:
    """A container with a RAID 5 and files on it, stopped."""
    options = {"IMSM_NO_PLATFORM": "1", "IMSM_DEVNAME_AS_SERIAL": "1"}
    make_container(guest, kind, names, "--level=5", "--chunk=64")
    filled(guest, "/dev/md/vol")
    guest.run("mdadm --wait /dev/md/vol", env=options)
    # mdmon may stop a volume after mdadm has given up: what counts is that both are gone.
    stop = "until mdadm --stop /dev/md/{0} || [ ! -e /dev/md/{0} ]; do udevadm settle; done; udevadm settle;"
    done = guest.run(f"{stop.format('vol')} {stop.format('box')} ! pgrep mdmon", env=options)
    assert done.status == 0, done.output


@pytest.mark.parametrize("kind", ["ddf", "imsm"])
def test_a_container_is_tried_whole_and_without_a_disk(guest: Guest, kind: str) -> None:
    """The files are there; no byte of a disk is another one, and no array, map or mdmon is left."""
    names = disk_names(guest)[:3]
    container(guest, kind, names)
    named = guest.run(SERIALS)
    assert named.status == 0, named.output
    try:
        before = checksum(guest, names)
        for way, given in (("start", names), ("start-degraded", names[:2])):
            outcome = tried(guest, way, *given, "--hashes", SUMS, "--verify")
            found = [(each["place"], each["proof"]["contents"]) for each in outcome["findings"]]
            assert found == [("", kind), ("vol", "ext4")]
            assert (outcome["proof"]["check"], "6 have the sums" in outcome["proof"]["sure"]) == (
                "clean",
                True,
            )
            assert guest.run("pgrep mdmon").stdout == ""
        lacking = tried(guest, "start", *names[:2], status=1)
        assert (lacking["proof"]["check"], lacking["void"]) == ("not-possible", "")
        real = raidtui(guest, "rescue", "plan", outcome["job"])
        assert (real.status, "by hand: " in real.stderr) == (2, True), real.output
        over = raidtui(guest, "rescue", "try", "start", *names, "--overlays", "--json", timeout=200)
        if kind == "ddf":
            assert json.loads(over.stdout)["proof"]["check"] == "clean", over.output
        else:
            assert (over.status, "know their disks by serial numbers" in over.stdout) == (2, True), (
                over.output
            )
        assert (left(guest), checksum(guest, names)) == ("", before)
    finally:
        assert guest.run(f"umount $(readlink -f {shlex.quote('/sbin/mdadm')})").status == 0
