"""Trials on the real kernel: what is tried, what is said of it, and that nothing of it is left."""

import json
import shlex
import signal
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui

SUMS = "/tmp/sums"
LEFT = """
dmsetup ls | grep -v '^No devices found'; losetup --all | grep raidtui
ls -d /run/udev/rules.d/*raidtui* /run/raidtui-rescue* /var/tmp/raidtui-rescue* 2>/dev/null
grep ^md /proc/mdstat; for disk in /sys/block/ubd?; do [ "$(cat $disk/ro)" = 0 ] || echo $disk read-only; done
"""
"""Prints what is left of a trial: nothing."""


def filled(guest: Guest, path: str, *, kind: str = "ext4") -> None:
    """Make a file system with files on it; their sums go to a list."""
    made = guest.run(
        f"mkfs.{kind} -q {path} && mkdir -p /tmp/place && mount {path} /tmp/place && cd /tmp/place &&"
        " for n in 1 2 3 4 5 6; do dd if=/dev/urandom of=file$n bs=1M count=3 status=none || exit 1; done;"
        f" sha256sum file* >{SUMS} && cd / && umount /tmp/place"
    )
    assert made.status == 0, made.output


def two_kicked(guest: Guest) -> tuple[str, ...]:
    """RAID 5 of four: the last member fails, files are written, then the third fails."""
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", 5, names, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(
        f"cd /tmp && mdadm {made.path} --fail /dev/{names[3]} && mount {made.path} /tmp/place &&"
        " dd if=/dev/urandom of=/tmp/place/later bs=1M count=2 status=none &&"
        f" (cd /tmp/place && sha256sum later >>{SUMS}) && umount /tmp/place;"
        f" mdadm {made.path} --fail /dev/{names[2]}; mdadm --stop {made.path} && udevadm settle"
    )
    assert done.status == 0, done.output
    return names


def tried(guest: Guest, *words: str, status: int = 0) -> dict[str, Any]:
    """Try, and return the outcome; nothing of the trial is left."""
    told = raidtui(guest, "rescue", "try", *words, "--json")
    assert told.status == status, told.output
    assert left(guest) == ""
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def left(guest: Guest) -> str:
    """What is left of trials."""
    return guest.run(LEFT).stdout


def test_two_kicked_are_forced_on_overlays(guest: Guest) -> None:
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "force", *names[:3], "--hashes", SUMS)
    assert outcome["proof"]["check"] == "clean"
    assert outcome["proof"]["contents"] == "ext4"
    assert "7 have the sums of the list" in outcome["proof"]["sure"]
    assert "clearing FAULTY flag for device 2" in outcome["said"]
    assert checksum(guest, names) == before
    again = raidtui(guest, "rescue", "clean")
    assert (again.status, again.stdout) == (0, "Nothing is left of any trial.\n"), again.output


def test_the_plain_start_is_refused_as_mdadm_refuses_it(guest: Guest) -> None:
    """What the kernel refuses is an answer, not a trial that went wrong."""
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "start", *names, status=1)
    assert (outcome["proof"]["check"], outcome["void"]) == ("not-possible", "")
    assert "mdadm failed" in outcome["proof"]["sure"]
    assert checksum(guest, names) == before


def lost_superblocks(guest: Guest) -> tuple[str, ...]:
    """RAID 5 of four in another order, without superblocks; left-symmetric, 64 KiB, data at sector 2048."""
    names = disk_names(guest)
    order = (names[1], names[0], names[3], names[2])
    made = make_array(guest, "data", 5, order, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    devices = " ".join(f"/dev/{name}" for name in order)
    done = guest.run(f"mdadm --stop {made.path} && mdadm --zero-superblock {devices} && udevadm settle")
    assert done.status == 0, done.output
    return order


GEOMETRY = "level=5,layout=left-symmetric,chunk=64,offset=2048"


def test_a_geometry_is_tried_without_superblocks_and_without_a_store(guest: Guest) -> None:
    order = lost_superblocks(guest)
    before = checksum(guest, order)
    right = tried(guest, "rebuild-superblocks", *order, "--geometry", GEOMETRY, "--hashes", SUMS)
    assert (right["proof"]["check"], right["store_sectors"]) == ("clean", {})
    assert "6 have the sums of the list" in right["proof"]["sure"]
    three = (*order[:2], "missing", order[3])
    lost = tried(guest, "rebuild-superblocks", *three, "--geometry", GEOMETRY, "--hashes", SUMS)
    assert lost["proof"]["check"] == "clean"
    turned = (order[1], order[0], *order[2:])
    wrong = tried(guest, "rebuild-superblocks", *turned, "--geometry", GEOMETRY, status=1)
    assert wrong["proof"]["check"] in {"errors", "no-file-system"}
    assert checksum(guest, order) == before


def test_superblocks_are_made_again_and_taken_back_byte_for_byte(guest: Guest) -> None:
    order = lost_superblocks(guest)
    before = checksum(guest, order)
    words = ("rebuild-superblocks", *order, "--geometry", GEOMETRY, "--name", "data", "--hashes", SUMS)
    mapped = tried(guest, *words)
    refused = raidtui(guest, "rescue", "plan", mapped["job"])
    assert (refused.status, "has not rehearsed the command itself" in refused.stderr) == (2, True)
    rehearsed = tried(guest, *words, "--overlays")
    assert rehearsed["proof"]["check"] == "clean"
    assert checksum(guest, order) == before
    applied(guest, rehearsed["job"], "--confirm=data")
    assert guest.run("cat /sys/block/md*/md/array_state").stdout == "readonly\n"
    looked = guest.run(
        "mount -o ro,noload /dev/md/data /tmp/place && cd /tmp/place &&"
        f" sha256sum --check --quiet {SUMS}; cd /; umount /tmp/place"
    )
    assert (looked.status, looked.output) == (0, "")
    assert checksum(guest, order) != before
    job = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    back = raidtui(guest, "jobs", "rollback", job)
    assert back.status == 0, back.output
    assert (checksum(guest, order), left(guest)) == (before, "")


def test_the_forced_start_is_carried_out_as_it_was_tried_and_taken_back(guest: Guest) -> None:
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "force", *names[:3])
    told = raidtui(guest, "rescue", "plan", outcome["job"]).stdout
    assert f"{names[2]} is 1 event behind" in told
    assert f"{names[3]} is " in told
    assert "it is left out." in told
    applied(guest, outcome["job"], "--confirm=data")
    assert "[4/3] [UUU_]" in guest.run("cat /proc/mdstat").stdout
    job = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    back = raidtui(guest, "jobs", "rollback", job)
    assert back.status == 0, back.output
    assert (checksum(guest, names), left(guest)) == (before, "")


def applied(guest: Guest, job: str, *words: str) -> None:
    """Carry out the plan of what a trial has rehearsed."""
    made = guest.run(f"{shlex.join((*RAIDTUI, 'rescue', 'plan', job, '--json'))} >/tmp/plan.json")
    assert made.status == 0, made.output
    done = raidtui(guest, "apply", "/tmp/plan.json", *words)
    assert done.status == 0, done.output


def test_what_was_written_to_since_is_not_taken(guest: Guest) -> None:
    names = two_kicked(guest)
    outcome = tried(guest, "force", *names[:3])
    assert guest.run(f"dd if=/dev/urandom of=/dev/{names[0]} bs=512 count=1 seek=900").status == 0
    told = raidtui(guest, "rescue", "plan", outcome["job"])
    assert (told.status, told.stdout) == (2, "")
    assert f"{names[0]} does not read as when it was tried" in told.stderr


def mirror(guest: Guest) -> list[str]:
    """A mirror with a file system, stopped; one half is behind."""
    names = list(disk_names(guest)[:2])
    made = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(f"mdadm --stop {made.path} && udevadm settle")
    assert done.status == 0, done.output
    return names


@pytest.mark.parametrize("fault", ["killed_at_entry", "killed_in_tool"])
def test_a_trial_that_is_killed_anywhere_is_cleaned(guest: Guest, fault: str) -> None:
    """At the end of it nothing is there, nothing is read-only, and no byte of a member is another one."""
    names = mirror(guest)
    script = "import json\nfrom tests.lab.guests.inside import runs, trial_runs\n"
    script += f"print(json.dumps(trial_runs.killed_trials({names!r}, runs.{fault})))"
    done = guest.run(script, interpreter="python", timeout=900)
    assert done.status == 0, done.output
    *rows, last = json.loads(done.stdout)
    assert last[1:] == [0, [], "", True]
    assert {tuple(map(str, row[1:])) for row in rows} == {(str(-signal.SIGKILL), "[]", "", "True")}, rows
    assert len(rows) > (40 if fault == "killed_at_entry" else 20)
