"""What goes wrong while a rescue looks at a wreck: the members stay as they are, and nothing is left."""

import json
import signal
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.digests import digests
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, checksum, last_job, raidtui, states
from tests.lab.guests.wrecks.making import done, make
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.test_rescue_trial import applied, left, tried, two_kicked

pytestmark = pytest.mark.later

# Ends itself as it reads a device for the Nth time, which is everything that a search does to one.
KILLED = """
import os, signal
from raidtui.app.cli import run

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


def test_a_search_that_is_killed_while_its_trial_runs(wreck_guest: Guest) -> None:
    """The trial is a job of its own, which goes on; cleaning ends it, and nothing is left."""
    (wreck,) = (each for each in WRECKS if each.id == "r5-zero-all")
    make(wreck_guest, wreck)
    before, left = digests(wreck_guest), wreck_guest.run(LEFT).stdout
    words = " ".join((*RAIDTUI, "rescue", "search", "--trial", "--level=5", "--chunk=64", *wreck.given))
    search = wreck_guest.spawn(f"exec {words}")
    wait_until(lambda: wreck_guest.run("dmsetup ls | grep raidtui").status == 0, 120, "its trial")
    search.kill(signal.SIGKILL)
    cleaned = raidtui(wreck_guest, "rescue", "clean")
    assert cleaned.status == 0, cleaned.output
    assert (digests(wreck_guest), wreck_guest.run(LEFT).stdout) == (before, left)


@pytest.mark.parametrize("fault", ["killed_in_tool", "full_at_entry"])
def test_the_forced_start_is_taken_back_wherever_it_was_cut(wreck_guest: Guest, fault: str) -> None:
    """Its worker is killed while a tool runs, or there is no room any more for what it saves."""
    (wreck,) = (each for each in WRECKS if each.id == "r5-cable-two")
    small = "mkdir -p /var/lib/raidtui && mount -t tmpfs -o size=24m tmpfs /var/lib/raidtui"
    assert wreck_guest.run(small).status == 0
    try:
        make(wreck_guest, wreck)
        done(wreck_guest, "mask")  # what udev assembles of what was restored is none of ours
        names = list(wreck.given[:3])
        planned(wreck_guest, "force", *names)
        *rows, last = inside(wreck_guest, f"disturbed_real({names!r}, runs.{fault}, 1)")
    finally:
        done(wreck_guest, "unmask")
        assert wreck_guest.run("umount /var/lib/raidtui").status == 0
    assert last[1:] == [0, "rolled back", "", True]
    assert len(rows) > 16
    assert {(row[3], row[4]) for row in rows} == {("", True)}, rows
    assert {row[2] for row in rows} <= {"rolled back", "interrupted", "made", "failed"}, rows


@pytest.mark.parametrize(("entry", "status", "state"), [(28, 1, "rolled back"), (34, 0, "stuck")])
def test_a_member_that_vanishes_in_the_real_step(
    guest: Guest, sd: str, entry: int, status: int, state: str
) -> None:
    """Before the array is started, and when it runs: the others are restored, and it is said what is not."""
    names = [disk_names(guest)[0], sd]
    made = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    done = guest.run(
        f"mkfs.ext4 -q {made.path}; mdadm --stop {made.path} && udevadm settle &&"
        f" mdadm --zero-superblock /dev/{names[0]} /dev/{names[1]}"
    )
    assert done.status == 0, done.output
    planned(guest, "rebuild-superblocks", *names, "--overlays", "--geometry=level=1,offset=2048")
    ended, why, after, reason, left, same = inside(guest, f"vanished_real({names!r}, {sd!r}, {entry})")
    assert (ended, after, left, same) == (status, state, [""], True), (why, reason)
    assert sd in f"{why} {reason}"


HELD = """
cat >/tmp/hold <<'END'
exec 3<"/dev/$1" && echo "$1" >>/tmp/held
newest() { ls -d /var/lib/raidtui/jobs/2* | tail -n 1; }
until grep -q '"undo failed"' "$(newest)/journal.jsonl"; do sleep 0.1; done
END
mkdir -p /run/udev/rules.d && cat >/run/udev/rules.d/99-hold.rules <<'END'
ACTION!="remove", SUBSYSTEM=="block", KERNEL=="md*", PROGRAM="/bin/bash /tmp/hold $name"
END
udevadm control --reload
"""
"""udev has arrays open until the newest job has failed to undo a step: for longer than mdadm is patient."""
LET_GO = (
    "rm -f /run/udev/rules.d/99-hold.rules && udevadm control --reload && udevadm settle && rm -f /tmp/held"
)
FAILED = "grep -c '\"undo failed\"' $(ls -d /var/lib/raidtui/jobs/2* | tail -n 1)/journal.jsonl"


def test_what_udev_has_open_for_long_is_taken_down(wreck_guest: Guest) -> None:
    """After the trial, and when the real step is taken back."""
    guest = wreck_guest
    names = two_kicked(guest)
    assert guest.run(HELD).status == 0
    try:
        before = checksum(guest, names)
        outcome = tried(guest, "force", *names[:3])
        assert (outcome["proof"]["check"], checksum(guest, names)) == ("clean", before)
        assert int(guest.run(FAILED).stdout) > 0
        assert guest.run(LET_GO).status == 0
        applied(guest, outcome["job"], "--confirm=data")
        array = guest.run(f"{HELD}readlink -f /dev/md/data").stdout.strip().removeprefix("/dev/")
        assert guest.run(f"udevadm trigger --action=change /sys/block/{array}").status == 0
        wait_until(lambda: guest.run(f"grep -x {array} /tmp/held").status == 0, 30, "udev has it open")
        back = raidtui(guest, "jobs", "rollback", last_job(guest))
        assert (back.status, checksum(guest, names), left(guest)) == (0, before, ""), back.output
        assert int(guest.run(FAILED).stdout) > 0
    finally:
        guest.run(LET_GO)


def test_what_a_trial_stands_on_stays_as_long_as_it_stands(wreck_guest: Guest) -> None:
    """Somebody has its array open: the members stay read-only, and nothing of them is shown to udev."""
    guest = wreck_guest
    names = two_kicked(guest)[:3]
    before = checksum(guest, names)
    held = raidtui(guest, "rescue", "try", "force", *names, "--hold")
    assert held.status == 0, held.output
    opener = guest.spawn("exec 3</dev/md300 && echo open >/tmp/opened && sleep 1000")
    wait_until(lambda: guest.run("test -e /tmp/opened").status == 0, 30, "the opener")
    assert inside(guest, f"impatient(['jobs', 'rollback', {last_job(guest)!r}], 1.0)") == 1
    assert states(guest)[-1] == "stuck"
    there = guest.run(
        f"cat {' '.join(f'/sys/block/{name}/ro' for name in names)}; ls /run/udev/rules.d | grep -c raidtui"
    )
    assert there.stdout.split() == ["1", "1", "1", "1"], there.output
    opener.kill()
    cleaned = raidtui(guest, "rescue", "clean")
    assert (cleaned.status, left(guest), checksum(guest, names)) == (0, "", before), cleaned.output


def planned(guest: Guest, *words: str) -> None:
    """Rehearse, and save the plan of the real step."""
    tried = raidtui(guest, "rescue", "try", *words, "--json")
    assert tried.status == 0, tried.output
    job = json.loads(tried.stdout)["job"]
    made = raidtui(guest, "rescue", "plan", job, "--json", into=PLAN)
    assert made.status == 0, made.output


def inside(guest: Guest, call: str) -> Any:
    """Call a function of ``trial_runs`` in the guest."""
    script = "import json\nfrom tests.lab.guests.inside import runs, trial_runs\n"
    done = guest.run(f"{script}print(json.dumps(trial_runs.{call}))", interpreter="python", timeout=600)
    assert done.status == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])
