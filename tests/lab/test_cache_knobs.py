"""Knobs of caches by keys in pane 4, read back from bcache's files and from LVM; a cache written back."""

import re

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, plan, raidtui
from tests.lab.guests.terminal import Terminal
from tests.lab.test_stack import bcache, ok, over_md  # noqa: F401  (fixtures)

pytestmark = pytest.mark.later

WAIT_S = 60.0
_FILES = "/sys/block/bcache0/bcache"
RULES = "/etc/udev/rules.d/60-raidtui-io.rules"


def opened(guest: Guest, name: str) -> Terminal:
    """Pane 4 with the row of a cache chosen."""
    terminal = open_console(guest)
    terminal.press("4")
    terminal.wait_for(re.compile(rf"^ {name} +mode", re.MULTILINE), WAIT_S)
    terminal.press(*["down"] * 12, "up")  # the row above that of the system
    terminal.wait_for(re.compile(rf"^ cache_mode of {name}: ", re.MULTILINE), WAIT_S)
    return terminal


def applied(guest: Guest, *words: str, before: str = ":") -> None:
    """Make a plan and carry it out, after a command."""
    plan(guest, *words)
    ok(guest, before)
    done = raidtui(guest, "apply", PLAN)
    assert done.status == 0, done.output


def leave(terminal: Terminal) -> None:
    """Leave, and let stand what was changed."""
    terminal.press("q")
    terminal.wait_for(lambda text: "changes that last" in text or terminal.exit_status is not None, WAIT_S)
    if terminal.exit_status is None:
        terminal.press("k")
    assert terminal.wait_exit() == 0


@pytest.fixture
def cached(over_md: Guest) -> Guest:  # noqa: F811
    """A volume on a RAID 5, cached in writethrough mode on one disk."""
    disk = disk_names(over_md)[5]
    ok(
        over_md,
        f"lvcreate -q -y -n slow -L64M vc /dev/md/slow; lvcreate -q -y -n fast -L24M vc /dev/{disk}\n"
        "lvconvert -q -y --type cache --cachevol fast --cachemode writethrough --chunksize 64k vc/slow\n"
        "udevadm settle",
    )
    return over_md


def _lvm(guest: Guest) -> str:
    options = "cache_mode,cache_settings"
    return ok(guest, f"lvs --noheadings --separator , -o {options} vc/slow").strip()


def _status(guest: Guest) -> list[str]:
    return ok(guest, "dmsetup status --noflush vc-slow").split()


_WHY = re.compile(r"the cache of vc/slow\s+is\s+on\s+ubdf\s+alone")


def test_lvm_by_keys(cached: Guest) -> None:
    """The threshold and the mode; writeback on one disk above a RAID 5 is confirmed, with why; undone."""
    with opened(cached, "vc/slow") as terminal:
        terminal.press("tab", "tab", "right")
        terminal.wait_for("migration_threshold 2048 → 4096 (vc/slow) · u undoes it", WAIT_S)
        assert _lvm(cached) == "writethrough,migration_threshold=4096"
        assert "migration_threshold 4096" in " ".join(_status(cached))

        terminal.press("tab", "right")
        terminal.wait_for(_WHY, WAIT_S)
        terminal.press("escape")
        terminal.wait_for(lambda text: "nothing was changed" in text and "y do it" not in text, WAIT_S)
        terminal.press("right")
        terminal.wait_for("y do it", WAIT_S)
        terminal.wait_for(_WHY, WAIT_S)
        terminal.press("y")
        terminal.wait_for("cache_mode writethrough → writeback (vc/slow) · u undoes it", WAIT_S)
        assert _lvm(cached) == "writeback,migration_threshold=4096"
        assert "writeback" in _status(cached)

        terminal.press("u")
        terminal.wait_for("undone: cache_mode writeback → writethrough (vc/slow)", WAIT_S)
        assert _lvm(cached) == "writethrough,migration_threshold=4096"
        terminal.press("k")
        terminal.wait_for(re.compile(r"which\s+survives\s+reboots"), WAIT_S)
        leave(terminal)


def test_bcache_by_keys(bcache: Guest) -> None:  # noqa: F811
    """Mode, percent and cutoff, read back from its files; one is kept by udev; written back and detached."""
    disks = disk_names(bcache)
    make_array(bcache, "slow", 1, disks[:2], extra=("--assume-clean",))
    ok(
        bcache,
        "modprobe bcache\n"
        f"make-bcache --block 4k --bucket 64k --wipe-bcache -C /dev/{disks[2]} -B /dev/md/slow\n"
        f"udevadm settle; for each in {disks[2]} md/slow; do\n"
        "    echo /dev/$each >/sys/fs/bcache/register || :\n"
        "done\n"
        f"until [ -e {_FILES}/cache ]; do sleep 0.1; done; echo 0 >{_FILES}/writeback_delay; udevadm settle",
    )

    def is_now(file: str, value: str) -> None:
        wait_until(lambda: ok(bcache, f"cat {_FILES}/{file}").strip() == value, WAIT_S, f"{file} is {value}")

    with opened(bcache, "bcache0") as terminal:
        terminal.press("right")
        terminal.wait_for(re.compile(rf"on\s+{disks[2]}\s+alone"), WAIT_S)
        terminal.wait_for("y do it", WAIT_S)
        terminal.press("y")
        is_now("cache_mode", "writethrough [writeback] writearound none")
        terminal.wait_for("cache_mode writethrough → writeback (bcache0) · u undoes it", WAIT_S)
        terminal.press("tab", "right")
        is_now("writeback_percent", "15")
        terminal.wait_for("writeback_percent 10 → 15 (bcache0) · u undoes it", WAIT_S)
        terminal.press("u")
        is_now("writeback_percent", "10")
        terminal.wait_for("undone: writeback_percent", WAIT_S)
        terminal.press("tab", "enter")
        terminal.wait_for("Now 4194304; possible: 0 to 4294967295 bytes.", WAIT_S)
        terminal.type("20480000\r")
        is_now("sequential_cutoff", "19.5M")
        terminal.wait_for("sequential_cutoff 4194304 → 20480000 (bcache0) · u undoes it", WAIT_S)
        terminal.press("k")
        terminal.wait_for(re.compile("y do it"), WAIT_S)
        terminal.press("y")
        wait_until(lambda: "bcache/sequential_cutoff" in bcache.run(f"cat {RULES}").stdout, WAIT_S, RULES)
        terminal.wait_for("b undo it", WAIT_S)
        terminal.press("escape")
        terminal.wait_for(lambda text: "b undo it" not in text, WAIT_S)
        leave(terminal)

    ok(
        bcache,
        f"echo 0 >{_FILES}/writeback_running\n"
        "dd if=/dev/urandom of=/dev/bcache0 bs=4k count=300 oflag=direct 2>&1\n"
        "md5sum </dev/bcache0 >/tmp/sum",
    )
    is_now("state", "dirty")
    applied(bcache, "cache-flush", "bcache0", before=f"echo 1 >{_FILES}/writeback_running")
    is_now("state", "clean")
    assert ok(bcache, f"cat {_FILES}/cache_mode {_FILES}/writeback_percent").split()[1::3] == [
        "[writeback]",
        "10",
    ]
    applied(bcache, "cache-detach", "bcache0")
    is_now("state", "no cache")
    ok(bcache, "echo 3 >/proc/sys/vm/drop_caches; md5sum </dev/bcache0 | cmp - /tmp/sum")
