"""Arrays that get another shape while they serve: every conversion on a real kernel, all data compared."""

import pytest

from tests.extent import later
from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do

FILLED_MIB = 16


def made_of(guest: Guest, level: int, count: int) -> Made:
    """An array of the first disks, with a bitmap where it has parity or pairs, and noise at its start."""
    made = make_array(
        guest,
        "125",
        level,
        disk_names(guest)[:count],
        chunk=None if level == 1 else 64,
        bitmap="internal" if level in {5, 6, 10} else "none",
        extra=("--assume-clean", f"--size={FILLED_MIB}M") if level else (),
    )
    filled = guest.run(
        f"dd if=/dev/urandom of={made.path} bs=1M count={FILLED_MIB} oflag=direct status=none"
        f" && {digest(made)} >/tmp/before"
    )
    assert filled.status == 0, filled.output
    return made


def digest(made: Made) -> str:
    """The command that prints the digest of what was filled."""
    return f"dd if=/dev/{made.kernel} bs=1M count={FILLED_MIB} iflag=direct status=none | sha256sum"


def shape(guest: Guest, made: Made) -> list[str]:
    """Level, slots, layout, chunk and missing members of an array that rests."""
    names = "level raid_disks layout chunk_size degraded sync_action reshape_position"
    found = guest.run(
        f"cd /sys/block/{made.kernel}/md && cat {names} 2>/dev/null; {digest(made)} | cmp /tmp/before"
    )
    return found.output.split()


CONVERSIONS = {
    "0 to 3 devices": (0, 2, ("grow", "125", "--add", "{2}"), "raid0 3 0 65536 none"),
    "0 by two": (0, 2, ("grow", "125", "--add", "{2}", "{3}"), "raid0 4 0 65536 none"),
    "1 to 3 devices": (1, 2, ("grow", "125", "--add", "{2}"), "raid1 3 0 0 0 idle none"),
    "4 to 4 devices": (4, 3, ("grow", "125", "--add", "{3}"), "raid4 4 0 65536 0 idle none"),
    "5 to 4 devices": (5, 3, ("grow", "125", "--add", "{3}"), "raid5 4 2 65536 0 idle none"),
    "6 to 5 devices": (6, 4, ("grow", "125", "--add", "{4}"), "raid6 5 2 65536 0 idle none"),
    "10 to 5 devices": (10, 4, ("grow", "125", "--add", "{4}"), "raid10 5 258 65536 0 idle none"),
    "1 to 5": (1, 2, ("convert", "125", "--level=5", "--add", "{2}"), "raid5 3 2 65536 0 idle none"),
    "1 to 5 of 2": (1, 2, ("convert", "125", "--level=5"), "raid5 2 2 65536 0 idle none"),
    "5 to 6": (5, 3, ("convert", "125", "--level=6", "--add", "{3}"), "raid6 4 2 65536 0 idle none"),
    "5 to 6, nothing moves": (
        5,
        3,
        ("convert", "125", "--level=6", "--layout=preserve", "--add", "{3}"),
        "raid6 4 18 65536 0 idle none",
    ),
    "6 to 5": (6, 4, ("convert", "125", "--level=5"), "raid5 3 2 65536 0 idle none"),
    "1 to 5 to 6": (
        1,
        2,
        ("convert", "125", "--level=6", "--add", "{2}", "{3}"),
        "raid6 4 2 65536 0 idle none",
    ),
    "0 to 5": (0, 2, ("convert", "125", "--level=5", "--add", "{2}"), "raid5 3 2 65536 0 idle none"),
    "0 to 5 to 6": (
        0,
        2,
        ("convert", "125", "--level=6", "--add", "{2}", "{3}", "{4}"),
        "raid6 5 2 65536 0 idle none",
    ),
    "5 to 0": (5, 3, ("convert", "125", "--level=0"), "raid0 2 0 65536 none"),
    "0 to 10": (
        0,
        2,
        ("convert", "125", "--level=10", "--add", "{2}", "{3}"),
        "raid10 4 258 65536 0 idle none",
    ),
    "10 to 0": (10, 4, ("convert", "125", "--level=0"), "raid0 2 0 65536 none"),
    "4 to 5": (4, 3, ("convert", "125", "--level=5"), "raid5 3 2 65536 0 idle none"),
    "5 to 4": (5, 3, ("convert", "125", "--level=4"), "raid4 3 0 65536 0 idle none"),
    "6 to 4": (6, 4, ("convert", "125", "--level=4"), "raid4 3 0 65536 0 idle none"),
    "1 to 5 to 4": (1, 2, ("convert", "125", "--level=4", "--add", "{2}"), "raid4 3 0 65536 0 idle none"),
    "0 to 4": (0, 2, ("convert", "125", "--level=4", "--add", "{2}", "{3}"), "raid4 4 0 65536 0 idle none"),
    "4 to 0": (4, 3, ("convert", "125", "--level=0"), "raid0 2 0 65536 none"),
    "6 to 0": (6, 4, ("convert", "125", "--level=0"), "raid0 2 0 65536 none"),
    "1 to 2 devices": (1, 4, ("shrink", "125", "--devices=2"), "raid1 2 0 0 0 idle none"),
    "10 another chunk": (10, 4, ("convert", "125", "--chunk=128"), "raid10 4 258 131072 0 idle none"),
    "10 to 3 devices": (10, 4, ("shrink", "125", "--devices=3"), "raid10 3 258 65536 0 idle none"),
    "10 to 2 devices": (10, 4, ("shrink", "125", "--devices=2"), "raid10 2 258 65536 0 idle none"),
    "5 another layout": (
        5,
        3,
        ("convert", "125", "--layout=right-asymmetric"),
        "raid5 3 1 65536 0 idle none",
    ),
    "6 another chunk": (6, 4, ("convert", "125", "--chunk=128"), "raid6 4 2 131072 0 idle none"),
    "5 to 3 devices": (5, 4, ("shrink", "125", "--devices=3"), "raid5 3 2 65536 0 idle none"),
    "6 to 4 devices": (6, 5, ("shrink", "125", "--devices=4"), "raid6 4 2 65536 0 idle none"),
    "10 to 4 devices": (10, 5, ("shrink", "125", "--devices=4"), "raid10 4 258 65536 0 idle none"),
}


ALWAYS = {"5 another layout", "6 to 4 devices"}
"""Data that move to another place, and fewer devices."""


@pytest.mark.parametrize("name", [name if name in ALWAYS else later(name) for name in CONVERSIONS])
def test_a_conversion(wreck_guest: Guest, name: str) -> None:
    """What was on the array is on it afterwards, and nothing is left to be synced."""
    guest = wreck_guest
    level, count, words, wanted = CONVERSIONS[name]
    made = made_of(guest, level, count)
    names = disk_names(guest)
    assert do(guest, *(word.format(*names) for word in words)).endswith("done\n")
    assert shape(guest, made) == wanted.split()
    # What looks like one of its members is one: else udev may start that instead at the next boot.
    marked = (
        f"for name in {' '.join(names)}; do mdadm --examine /dev/$name >/dev/null 2>&1 && echo $name; done"
    )
    members = f"ls -d /sys/block/{made.kernel}/md/dev-* | sed 's/.*dev-//'"
    assert guest.run(f"{marked}; true").stdout.split() == sorted(guest.run(members).stdout.split())
