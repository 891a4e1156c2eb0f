"""Arrays that get another shape while they serve: every conversion on a real kernel, all data compared."""

import pytest

from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.inside.conversion_table import CONVERSIONS
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


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion(wreck_guest: Guest, name: str) -> None:
    """What was on the array is on it afterwards, and nothing is left to be synced."""
    guest = wreck_guest
    conversion = CONVERSIONS[name]
    made = made_of(guest, conversion.level, conversion.disks)
    names = disk_names(guest)
    assert do(guest, *(word.format(*names) for word in conversion.words)).endswith("done\n")
    assert shape(guest, made) == conversion.wanted.split()
