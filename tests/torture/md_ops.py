"""Random md operations on RAM disks; raidtui, watching and started anew, against sysfs and mdadm."""

import json
import sys

from tests.torture.ram_disks import RamDisks

DISKS, SIZE_MIB, OPERATIONS = 8, 24, 25
_TAKE_DOWN = """\
echo 500000 >/proc/sys/dev/raid/speed_limit_max; echo 1000 >/proc/sys/dev/raid/speed_limit_min
for turn in 1 2 3; do
    for array in /sys/block/md*; do
        [ -e $array/md/sync_action ] && echo idle >$array/md/sync_action
        mdadm --quiet --stop /dev/${array##*/}
    done
    mdadm --quiet --zero-superblock --force /dev/ram?; udevadm settle
done 2>/dev/null
! grep ^md /proc/mdstat
"""
_RAM = RamDisks(DISKS, SIZE_MIB)
open_up, close_down = _RAM.open_up, _RAM.close_down


def round_of(seed: int) -> None:
    """Operations from a seed.

    Raises:
        AssertionError: raidtui reports something wrong; the error has the operations before.
    """
    guest = _RAM.guest
    disks = " ".join(f"ram{number}" for number in range(DISKS))
    words = f"-m tests.lab.guests.inside.md_runs --seed {seed} --operations {OPERATIONS} --disks {disks}"
    done = guest.run(f"{sys.executable} {words}", timeout=900)
    cleaned = guest.run(_TAKE_DOWN, timeout=120)
    assert done.status == 0, f"{done.output}\n{guest.run('dmesg | tail -40').stdout}"
    assert cleaned.status == 0, f"arrays are left:\n{cleaned.output}"
    assert json.loads(done.stdout)["fields"] > 0, "nothing was compared"
