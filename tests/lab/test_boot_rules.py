"""What the rules of a boot check rest on, on the real kernel."""

from __future__ import annotations

from tests.lab.guests.guest import Guest

CREATE = """
set -e
mdadm --create /dev/md/srv --level=1 --raid-devices=2 --run --assume-clean --homehost=any --name=srv \\
    /dev/ubda /dev/ubdb
udevadm settle
mdadm --stop /dev/md/srv
udevadm settle
udevadm control --stop-exec-queue
"""
END = """
mdadm --stop --scan
udevadm control --start-exec-queue
udevadm settle
mdadm --zero-superblock /dev/ubda /dev/ubdb
"""


def test_an_incomplete_array_is_announced_once(guest: Guest) -> None:
    """Udev starts the timer that starts it degraded by what mdadm prints: in the initramfs, and not again.

    So an array that the initramfs has taken in, and left incomplete, is started by nobody: array-not-started.
    """
    made = guest.run(CREATE)
    try:
        assert made.status == 0, made.output
        first = guest.run("mdadm --incremental --export /dev/ubda")
        assert "MD_STARTED=unsafe" in first.stdout
        assert "MD_FOREIGN=no" in first.stdout
        again = guest.run("mdadm --incremental --export /dev/ubda")
        assert (again.status, again.stdout) == (1, "")
        assert " inactive ubda[0](S)" in guest.run("cat /proc/mdstat").stdout
    finally:
        guest.run(END)
