"""Trials on the real kernel: what is tried, what is said of it, and that nothing of it is left."""

import json
from typing import Any

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui

SUMS = "/tmp/sums"
LEFT = """
dmsetup ls | grep -v '^No devices found'; losetup --all | grep raidtui
ls -d /run/udev/rules.d/*raidtui* /run/raidtui-rescue* /var/tmp/raidtui-rescue* 2>/dev/null
grep ^md /proc/mdstat; for disk in /sys/block/ubd?; do [ "$(cat $disk/ro)" = 0 ] || echo $disk read-only; done
"""
"""Prints what is left of a trial: nothing."""


def filled(guest: Guest, path: str, *, kind: str = "ext4") -> None:
    """Make a file system with files on it; their sums go to a list."""
    made = guest.run(
        f"mkfs.{kind} -q {path} && mkdir -p /tmp/place && mount {path} /tmp/place && cd /tmp/place &&"
        " for n in 1 2 3 4 5 6; do dd if=/dev/urandom of=file$n bs=1M count=3 status=none || exit 1; done;"
        f" sha256sum file* >{SUMS} && cd / && umount /tmp/place"
    )
    assert made.status == 0, made.output


def two_kicked(guest: Guest) -> tuple[str, ...]:
    """RAID 5 of four: the last member fails, files are written, then the third fails."""
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", 5, names, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(
        f"cd /tmp && mdadm {made.path} --fail /dev/{names[3]} && mount {made.path} /tmp/place &&"
        " dd if=/dev/urandom of=/tmp/place/later bs=1M count=2 status=none &&"
        f" (cd /tmp/place && sha256sum later >>{SUMS}) && umount /tmp/place;"
        f" mdadm {made.path} --fail /dev/{names[2]}; mdadm --stop {made.path} && udevadm settle"
    )
    assert done.status == 0, done.output
    return names


def tried(guest: Guest, *words: str, status: int = 0) -> dict[str, Any]:
    """Try, and return the outcome; nothing of the trial is left."""
    told = raidtui(guest, "rescue", "try", *words, "--json")
    assert told.status == status, told.output
    assert left(guest) == ""
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def left(guest: Guest) -> str:
    """What is left of trials."""
    return guest.run(LEFT).stdout


def test_two_kicked_are_forced_on_overlays(guest: Guest) -> None:
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "force", *names[:3], "--hashes", SUMS)
    assert outcome["proof"]["check"] == "clean"
    assert outcome["proof"]["contents"] == "ext4"
    assert "7 have the sums of the list" in outcome["proof"]["sure"]
    assert "clearing FAULTY flag for device 2" in outcome["said"]
    assert checksum(guest, names) == before
    again = raidtui(guest, "rescue", "clean")
    assert (again.status, again.stdout) == (0, "Nothing is left of any trial.\n"), again.output


def test_the_plain_start_is_refused_as_mdadm_refuses_it(guest: Guest) -> None:
    """What the kernel refuses is an answer, not a trial that went wrong."""
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "start", *names, status=1)
    assert (outcome["proof"]["check"], outcome["void"]) == ("not-possible", "")
    assert "mdadm failed" in outcome["proof"]["sure"]
    assert checksum(guest, names) == before
