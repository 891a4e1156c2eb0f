"""Pane 4 by keys, on real schedulers and queues of SCSI disks (scsi_debug): each is read back from sysfs."""

import re
from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.terminal import Terminal
from tests.lab.test_tune import RULES, read, scsi_disks

WAIT_S = 20.0


@pytest.fixture
def disks(guest: Guest) -> Iterator[tuple[str, ...]]:
    """The three members of a RAID-5."""
    with scsi_disks(guest, 3) as names:
        make_array(guest, "data", 5, names, extra=["--assume-clean"])
        yield names


def opened(guest: Guest, cols: int = 80, rows: int = 24) -> Terminal:
    """The console with pane 4 in view."""
    terminal = open_console(guest, cols=cols, rows=rows)
    terminal.press("4")
    terminal.wait_for(re.compile(r"^ sd\w +\[mq-deadline\]", re.MULTILINE), WAIT_S)
    return terminal


def is_now(guest: Guest, path: str, value: str) -> None:
    """Wait until a file below /sys/block has a value."""
    wait_until(lambda: read(guest, path) == [value], WAIT_S, f"{path} is {value}")


def leave(terminal: Terminal) -> None:
    """Leave, and let stand what was changed."""
    terminal.press("q")
    terminal.wait_for(lambda text: "changes that last" in text or terminal.exit_status is not None, WAIT_S)
    if terminal.exit_status is None:
        terminal.press("k")
    assert terminal.wait_exit() == 0


def test_every_scheduler_and_the_depth_by_keys(guest: Guest, disks: tuple[str, ...]) -> None:
    """One disk through all its schedulers; its depth; the same for the others; all of it back."""
    first, second, third = disks
    scheduler, depth = (f"{first}/{file}" for file in ("queue/scheduler", "device/queue_depth"))
    with opened(guest) as terminal:
        for key, name in (("right", "kyber"), ("right", "bfq"), ("left", "kyber"), ("left", "mq-deadline"),
                          ("left", "none")):  # fmt: skip
            terminal.press(key)
            is_now(guest, scheduler, name)
            terminal.wait_for(f"→ {name} ({first}) · u undoes it", WAIT_S)
            terminal.wait_for(f"scheduler of {first}: {name}", WAIT_S)
        terminal.wait_for(re.compile(rf"^ {first} +\[none\]▲", re.MULTILINE), WAIT_S)  # the others differ
        terminal.press("left")
        terminal.wait_for(f"scheduler of {first}: there is nothing below none", WAIT_S)

        terminal.press("tab", "left", "left")  # one write for two keys
        is_now(guest, depth, "48")
        terminal.wait_for(f"queue_depth 192 → 48 ({first}) · u undoes it", WAIT_S)
        terminal.press("enter")
        terminal.wait_for("Now 48; possible: 1 to 192.", WAIT_S)
        terminal.type("8\r")
        is_now(guest, depth, "8")
        terminal.wait_for(re.compile(rf"queue_depth \({first} 8, the\s+others\s+192\)"), WAIT_S)
        terminal.press("=")
        terminal.wait_for(f"queue_depth 192 → 8 ({second}, {third}) · u undoes it", WAIT_S)
        assert read(guest, *(f"{name}/device/queue_depth" for name in disks)) == ["8", "8", "8"]
        terminal.wait_for(lambda text: f"({first} 8" not in text, WAIT_S)

        terminal.press("u")
        terminal.wait_for(f"undone: queue_depth 8 → 192 ({second}, {third})", WAIT_S)
        assert read(guest, f"{second}/device/queue_depth", f"{third}/device/queue_depth") == ["192", "192"]
        terminal.press("q")
        terminal.wait_for("This session made changes that last until reboot", WAIT_S)
        terminal.wait_for(f"echo mq-deadline > /sys/class/block/{first}/queue/scheduler", WAIT_S)
        terminal.press("r")
        assert terminal.wait_exit() == 0
    assert read(guest, scheduler, depth, f"{first}/queue/nr_requests") == ["mq-deadline", "192", "256"]


@pytest.mark.later
def test_what_the_kernel_refuses_by_keys(guest: Guest, disks: tuple[str, ...]) -> None:
    """EINVAL of a module that cannot be loaded, EROFS of a /sys that is read-only: what stands is shown."""
    first = disks[0]
    scheduler, depth = (f"{first}/{file}" for file in ("queue/scheduler", "device/queue_depth"))
    blocked = guest.run("modprobe -r bfq; echo 'install bfq /bin/false' >/etc/modprobe.d/lab.conf")
    assert blocked.status == 0, blocked.output
    with opened(guest, cols=120, rows=44) as terminal:
        terminal.wait_for("no cpufreq on this host", WAIT_S)
        terminal.press("right")
        is_now(guest, scheduler, "kyber")
        terminal.wait_for(f"scheduler of {first}: kyber", WAIT_S)
        terminal.press("right")
        terminal.wait_for(
            f" scheduler of {first} is not set to bfq: the kernel refuses this value; it is kyber",
            WAIT_S,
        )
        terminal.wait_for(re.compile(rf"^ {first} +\[kyber\]", re.MULTILINE), WAIT_S)
        assert read(guest, scheduler) == ["kyber"]

        assert guest.run("mount -o remount,ro /sys").status == 0
        terminal.press("tab", "left")
        terminal.wait_for(
            f" queue_depth of {first} is not set to 96: /sys is mounted read-only here, as in a container;"
            " it is 192",
            WAIT_S,
        )
        assert guest.run("mount -o remount,rw /sys").status == 0
        terminal.wait_for(re.compile(rf"^ {first} +kyber ▲ +\[192\]", re.MULTILINE), WAIT_S)
        assert read(guest, depth) == ["192"]
        terminal.press("u")  # what was done can be undone, and only that
        is_now(guest, scheduler, "mq-deadline")
        terminal.wait_for("undone: scheduler kyber → mq-deadline", WAIT_S)
        leave(terminal)


@pytest.mark.later
def test_further_knobs_by_keys(guest: Guest, disks: tuple[str, ...]) -> None:
    """Knobs without a column, those of the array, and the system's; drift of what is kept is reported."""
    first = disks[0]
    kept = guest.run(
        f"serial=$(sed -n s/^E:ID_SERIAL=//p /run/udev/data/b$(cat /sys/block/{first}/dev)) && mkdir -p"
        f' $(dirname {RULES}) && printf \'ACTION=="add", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk",'
        f' ENV{{ID_SERIAL}}=="%s", ATTR{{queue/scheduler}}="bfq"\\n\' "$serial" >{RULES}'
    )
    assert kept.status == 0, kept.output
    with opened(guest) as terminal:
        terminal.wait_for(
            f"▲ {first}     scheduler of {first} is mq-deadline; raidtui keeps it at bfq.", WAIT_S
        )
        terminal.press(*["tab"] * 5)
        terminal.wait_for(re.compile(r"^ more +affinity \[1\]", re.MULTILINE), WAIT_S)
        terminal.press("right")  # EINVAL: this kernel is built for one processor
        terminal.wait_for(
            f" rq_affinity of {first} is not set to 2: the kernel refuses this value; it is 1\n",
            WAIT_S,
        )
        terminal.press("tab", "tab", "right")
        is_now(guest, f"{first}/queue/rotational", "1")
        terminal.wait_for(f"rotational 0 → 1 ({first}) · u undoes it", WAIT_S)
        terminal.wait_for("rotational [1]▲", WAIT_S)
        terminal.wait_for(re.compile(rf"^ {first} .* this run$", re.MULTILINE), WAIT_S)
        terminal.press(*["down"] * 20)  # the last row
        terminal.wait_for("speed_limit_min of system: 1000 KiB/s", WAIT_S)
        terminal.press("tab", "left")
        limit = "/proc/sys/dev/raid/speed_limit_max"
        wait_until(lambda: guest.run(f"cat {limit}").stdout == "100000\n", WAIT_S, limit)
        terminal.wait_for("speed_limit_max 200000 → 100000 (system) · u undoes it", WAIT_S)
        terminal.wait_for(re.compile(r"^ system +sync min +1000 +sync max +\[100000\]", re.MULTILINE), WAIT_S)
        terminal.press("u")
        wait_until(lambda: guest.run(f"cat {limit}").stdout == "200000\n", WAIT_S, limit)
        terminal.wait_for("undone: ", WAIT_S)
        terminal.press("up", "tab", "tab", "right")
        is_now(guest, "md127/md/stripe_cache_size", "512")
        terminal.wait_for("stripe_cache_size of data: 512 pages per member", WAIT_S)
        terminal.press("shift+tab", "shift+tab", "shift+tab")
        terminal.wait_for("sync_speed_max of data: system", WAIT_S)
        terminal.press("enter")
        terminal.wait_for("Now system; possible: 1 to 2147483647 KiB/s, or system.", WAIT_S)
        terminal.type("12345\r")
        is_now(guest, "md127/md/sync_speed_max", "12345 (local)")
        terminal.wait_for("sync_speed_max of data: 12345 KiB/s", WAIT_S)
        leave(terminal)
