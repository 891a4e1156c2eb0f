"""What a trial makes is hidden from udev, from LVM and from automatic assembly, as long as it lasts."""

import shlex

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui
from tests.lab.test_rescue_trial import left

RULES = "ls /run/udev/rules.d/ 2>/dev/null | grep raidtui-rescue"
SHOWN = """
ls -d /dev/beside /dev/disk/by-uuid/* /dev/disk/by-id/md-* /dev/disk/by-id/lvm-* 2>/dev/null
dmsetup ls | grep beside; grep ^md /proc/mdstat | cut -d' ' -f1
"""
"""Links to what is on disks, volumes that are active, arrays."""


def triggered(guest: Guest) -> None:
    """All block devices are announced again, and udev has handled that."""
    done = guest.run("udevadm trigger --subsystem-match=block --action=add && udevadm settle", timeout=120)
    assert done.status == 0, done.output


def test_nothing_takes_what_a_trial_has_made(guest: Guest) -> None:
    """A mirror with a volume group is held, and another one is at rest; without the rules, both are taken."""
    tried_names, others = disk_names(guest)[:2], disk_names(guest)[2:4]
    held = make_array(guest, "data", 1, tried_names, extra=["--assume-clean"])
    other = make_array(guest, "other", 1, others, extra=["--assume-clean"])
    done = guest.run(
        f"pvcreate -q {held.path} && vgcreate -q beside {held.path} && lvcreate -q -y -n one -L 20M beside &&"
        " mkfs.ext4 -q /dev/beside/one && vgchange -q -an beside && udevadm settle &&"
        f" mdadm --stop {held.path} && mdadm --stop {other.path} && udevadm settle &&"
        # as after a boot: pvscan takes a volume that is noted with another array's number for a duplicate
        " rm -f /run/lvm/pvs_online/* /run/lvm/vgs_online/*"
    )
    assert done.status == 0, done.output
    assert guest.run(RULES).stdout == ""
    before = checksum(guest, (*tried_names, *others))
    trial = raidtui(guest, "rescue", "try", "force", *tried_names, "--hold", "--files")
    assert trial.status == 0, trial.output
    triggered(guest)
    assert len(guest.run(RULES).stdout.split()) == 1
    assert guest.run(SHOWN).stdout.split() == ["md300"]
    cleaned = raidtui(guest, "rescue", "clean")
    assert (cleaned.status, guest.run(RULES).stdout, left(guest)) == (0, "", ""), cleaned.output
    assert checksum(guest, (*tried_names, *others)) == before
    triggered(guest)
    wait_until(
        lambda: "/dev/beside" in guest.run(SHOWN).stdout, what="the volume group, which udev activates"
    )
    arrays = guest.run("grep ^md /proc/mdstat").stdout
    assert all(name in arrays for name in (*tried_names, *others)), arrays
    assert guest.run(f"vgchange -q -an beside; mdadm --stop {shlex.quote(str(held.path))}").status == 0
