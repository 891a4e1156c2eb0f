"""What goes wrong while a rescue looks at a wreck: the members stay as they are, and nothing is left."""

import signal

from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.wrecks.making import digests, make
from tests.lab.guests.wrecks.table import WRECKS

# Ends itself as it reads a device for the Nth time, which is everything that a search does to one.
KILLED = """
import os, signal
from raidtui.cli import run

real, count = os.pread, 0

def pread(descriptor, size, offset):
    global count
    count += 1
    if count == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(descriptor, size, offset)

os.pread = pread
raise SystemExit(run({words!r}))
"""
LEFT = "dmsetup ls; losetup --all; ls /run/udev/rules.d 2>/dev/null; grep ^md /proc/mdstat; true"


def test_a_search_that_is_killed_anywhere(wreck_guest: Guest) -> None:
    """It has only read; so nothing is left, and nothing is to be cleaned."""
    (wreck,) = (each for each in WRECKS if each.id == "r5-zero-all")
    make(wreck_guest, wreck)
    before, left = digests(wreck_guest), wreck_guest.run(LEFT).stdout
    for number in (1, 10, 100, 1000):
        words = ["rescue", "search", "--json", *wreck.given]
        killed = wreck_guest.run(KILLED.format(number=number, words=words), interpreter="python", timeout=120)
        assert killed.status == -signal.SIGKILL, (number, killed.output)
        assert (digests(wreck_guest), wreck_guest.run(LEFT).stdout) == (before, left), number
    cleaned = raidtui(wreck_guest, "rescue", "clean")
    assert (cleaned.status, cleaned.stdout) == (0, "Nothing is left of any trial.\n"), cleaned.output
