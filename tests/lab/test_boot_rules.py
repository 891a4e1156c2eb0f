"""What the rules of a boot check rest on, on the real kernel."""

from __future__ import annotations

import pytest

from tests.lab.guests.guest import Guest

pytestmark = pytest.mark.later

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


def test_device_in_mdadm_conf_and_a_line_that_contradicts(guest: Guest) -> None:
    """What DEVICE leaves out is refused as udev adds it; a wrong number only by ``--assemble``."""
    made = guest.run(CREATE)
    try:
        assert made.status == 0, made.output
        uuid = guest.run("mdadm --examine --export /dev/ubda | sed -n s/^MD_UUID=//p").stdout.strip()
        conf = f"HOMEHOST any\nARRAY /dev/md/srv num-devices=3 UUID={uuid}\n"
        write = "cat >/run/conf <<'END'\n{}END\nmdadm {} --config=/run/conf {}"
        refused = guest.run(write.format(f"DEVICE /dev/ubda*\n{conf}", "--incremental", "/dev/ubdb"))
        assert (refused.status, "not permitted by mdadm.conf" in refused.output) == (1, True)
        wrong = guest.run(write.format(conf, "--assemble --scan --verbose", ""))
        assert "requires wrong number of drives" in wrong.output
        assert "md" not in guest.run("grep ^md /proc/mdstat").stdout
        taken = guest.run(write.format(conf, "--incremental", "/dev/ubdb"))
        assert (taken.status, "not enough to start safely" in taken.output) == (0, True)
    finally:
        guest.run(END)


def test_md_starts_no_dirty_degraded_parity(guest: Guest) -> None:
    speed = "/proc/sys/dev/raid/speed_limit_max"
    made = guest.run(f"""
set -e
cp {speed} /run/speed
echo 100 >{speed}
mdadm --create /dev/md/r6 --level=6 --raid-devices=4 --run --homehost=any /dev/ubd[a-d]
udevadm settle
cat /sys/block/$(basename $(readlink -f /dev/md/r6))/md/resync_start
mdadm --stop /dev/md/r6
udevadm settle
udevadm control --stop-exec-queue
""")
    try:
        assert made.status == 0, made.output
        assert "none" not in made.stdout
        guest.run("for disk in b c d; do mdadm --incremental /dev/ubd$disk; done")
        run = guest.run(
            "for array in /dev/md[0-9]*; do mdadm --run $array; done; dmesg | tail -5; cat /proc/mdstat"
        )
        assert "cannot start dirty degraded array" in run.output
        assert " inactive " in run.output
    finally:
        guest.run(f"cat /run/speed >{speed}\n{END} /dev/ubdc /dev/ubdd".replace("ubdb\n /dev", "ubdb /dev"))
