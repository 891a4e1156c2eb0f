"""A member that answers late, by the kernel's own counters: it is named, and its siblings are not."""

from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.watching import watch

LATE_MS = 15
MEMBERS = ("one", "two", "three")

SCRIPT = """
from raidtui.monitor.sampler import Sampler
passed_s = 0.0
console.sampler = Sampler(console.reader, clock=lambda: passed_s)
for minute in range({minutes}):
    passed_s += 60
    sh("dd if=/dev/{md} of=/dev/null bs=4k count=330 iflag=direct skip=%d" % (400 * minute))
    show(console.refresh())
console.close()
for each in last.findings:
    print(each.code, each.sentence)
"""


@pytest.fixture
def delayed(guest: Guest) -> Iterator[Guest]:
    """Three disks behind dm-delay; the last one can be made late."""
    tables = [
        f'dmsetup create {name} --table "0 $(blockdev --getsz /dev/{disk}) delay /dev/{disk} 0 0"'
        for name, disk in zip(MEMBERS, disk_names(guest), strict=False)
    ]
    done = guest.run(" && ".join(["modprobe dm-delay", *tables, "udevadm settle"]))
    assert done.status == 0, done.output
    yield guest
    guest.run(
        f"udevadm settle; mdadm --stop --scan; udevadm settle; dmsetup remove --retry {' '.join(MEMBERS)}"
    )


@pytest.mark.later
def test_the_member_that_answers_late_is_named(delayed: Guest) -> None:
    paths = [f"/dev/mapper/{name}" for name in MEMBERS]
    md = make_array(delayed, "data", 5, paths, chunk=64, extra=("--assume-clean",)).kernel
    healthy = watch(delayed, SCRIPT.format(md=md, minutes=12))
    assert not [line for line in healthy if "slow-member" in line]
    disk = disk_names(delayed)[2]
    done = delayed.run(
        f'dmsetup reload three --table "0 $(blockdev --getsz /dev/{disk}) delay /dev/{disk} 0 {LATE_MS}"'
        " && dmsetup resume three && basename $(readlink -f /dev/mapper/three)"
    )
    assert done.status == 0, done.output
    late = done.stdout.split()[-1]
    said = watch(delayed, SCRIPT.format(md=md, minutes=12))
    (found,) = [line for line in said if line.startswith("slow-member")]
    assert found.startswith(f"slow-member member {late} takes "), said
    assert any(line.startswith(f"data: attention: member {late} takes ") for line in said)
