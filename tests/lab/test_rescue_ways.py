"""Ways back from end to end on the real kernel: the trial, its plan, the array that runs, the files."""

import json
import re
from typing import Any

import pytest

from tests.lab.guests.digests import digests
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, raidtui
from tests.lab.guests.wrecks.making import MANIFEST, done, make
from tests.lab.guests.wrecks.saving import Words
from tests.lab.guests.wrecks.table import WRECKS

pytestmark = pytest.mark.later

PROBED = "udevadm info --query=property /dev/md300 | grep -E '^(ANACONDA|MD_LEVEL|ID_FS_TYPE)='"
"""What says whether udev reads an array: only the first, if it does not."""
SHADOWS = "ls /run/udev/rules.d/63* 2>/dev/null"


def made(guest: Guest, wreck: str) -> dict[str, str]:
    """Make a wreck; the digests of the disks."""
    make(guest, next(each for each in WRECKS if each.id == wreck))
    return digests(guest)


def tried(guest: Guest, words: Words, *, check: str | None = "clean") -> dict[str, Any]:
    """Try, with the files of the wreck compared; the outcome. ``check`` is what it must say, if it must."""
    result = raidtui(guest, "rescue", "try", *words, "--hashes", MANIFEST, "--json", timeout=300)
    assert result.stdout, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert "proof" in found, result.output
    proof = found["proof"]
    assert isinstance(proof, dict)
    assert check is None or proof["check"] == check, result.output
    return found


def carried_out(guest: Guest, job: object) -> str:
    """Carry out the plan of what a trial has rehearsed; the path of the array."""
    plan = raidtui(guest, "rescue", "plan", str(job), "--json", into=PLAN)
    assert plan.status == 0, plan.output
    confirm = json.loads(plan.stdout)["plan"].get("confirm")
    ended = raidtui(guest, "apply", PLAN, *([f"--confirm={confirm}"] if confirm else []))
    assert ended.status == 0, ended.output
    return f"/dev/{guest.run('grep ^md /proc/mdstat').stdout.split()[0]}"


MEMBERS = ("ubda", "ubdb", "ubdc", "ubdd")
ENDED = """
until [ "$(cat /sys/block/{name}/md/reshape_position)" = none ]; do mdadm --wait /dev/{name} || true; done
"""


def test_a_reshape_goes_on_with_its_backup_file(wreck_guest: Guest) -> None:
    """The trial has a copy; the real step empties the file, which is saved before."""
    before = made(wreck_guest, "reshape-chunk-cut")
    file = wreck_guest.run("sha256sum /var/tmp/reshape-backup").stdout
    lost = tried(wreck_guest, ("continue-reshape-without-backup", *MEMBERS), check=None)
    planned = raidtui(wreck_guest, "rescue", "plan", str(lost["job"]))
    if lost["proof"]["check"] == "clean":  # the cut may have come right where md had recorded it
        assert planned.status == 0, planned.output
    else:
        assert (planned.status, "has not shown that the data are intact" in planned.stderr) == (2, True)
    outcome = tried(wreck_guest, ("continue-reshape", *MEMBERS))
    assert "its result is there nevertheless" in str(outcome["said"])
    assert digests(wreck_guest) == before
    assert wreck_guest.run("sha256sum /var/tmp/reshape-backup").stdout == file
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"{ENDED.format(name=array[5:])}check_files {array}")
    saved = wreck_guest.run("sha256sum /var/lib/raidtui/rescue/*/backup-file").stdout
    assert saved.split()[0] == file.split()[0]


def test_a_reshape_goes_on_without_a_backup_file_where_nothing_is_lost(wreck_guest: Guest) -> None:
    before = made(wreck_guest, "reshape-chunk-halted")
    tried(wreck_guest, ("revert-reshape", *MEMBERS, "--hold"))
    seen = wreck_guest.run(f"udevadm trigger --settle --action=change /dev/md300; {PROBED}; {SHADOWS}")
    assert seen.stdout == "ANACONDA=raidtui\n/run/udev/rules.d/63-md-raid-arrays.rules\n"
    assert raidtui(wreck_guest, "rescue", "clean").status == 0
    assert wreck_guest.run(SHADOWS).stdout == ""
    outcome = tried(wreck_guest, ("continue-reshape-without-backup", *MEMBERS))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"{ENDED.format(name=array[5:])}check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/chunk_size").stdout == "131072\n"


@pytest.mark.parametrize(
    ("wreck", "disks", "layout"),
    [
        ("reshape-layout-cut", 4, "0"),
        ("reshape-5-to-6-cut", 5, "2"),
        ("reshape-6-to-5-cut", 5, "18"),
    ],
)
def test_another_layout_or_level_is_gone_on_with(
    wreck_guest: Guest, wreck: str, disks: int, layout: str
) -> None:
    """The mdadm that continues it crashes (4.2): from 6 to 5, the level itself stays."""
    before = made(wreck_guest, wreck)
    outcome = tried(wreck_guest, ("continue-reshape", *wreck_guest.disks[:disks]))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"{ENDED.format(name=array[5:])}check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/layout").stdout == f"{layout}\n"


def test_what_was_moved_after_the_recorded_place_is_never_clean(wreck_guest: Guest) -> None:
    """By parity: 12 MiB are recorded, and 15 MiB were moved. Without its backup file, that is lost."""
    before = made(wreck_guest, "reshape-5-to-6-cut")
    outcome = tried(wreck_guest, ("continue-reshape-without-backup", *wreck_guest.disks[:5]), check="errors")
    sure = str(outcome["proof"]["sure"])
    found = re.search(r"in the new form up to (1[2-5](\.\d)?) MiB, and in the old form from (\d+)", sure)
    assert found is not None
    assert int(found[3]) >= 15 >= float(found[1]) > 12
    assert "but 12 MiB are recorded" in sure
    assert "are lost if the reshape continues like this" in sure
    assert digests(wreck_guest) == before
    assert raidtui(wreck_guest, "rescue", "plan", str(outcome["job"])).status == 2


def test_a_reshape_to_more_disks_goes_on_once_it_is_writable(wreck_guest: Guest) -> None:
    before = made(wreck_guest, "reshape-grow-cut")
    outcome = tried(wreck_guest, ("continue-reshape", *MEMBERS))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    assert digests(wreck_guest) == before
    done(wreck_guest, f"check_files {array}\nmdadm --readwrite {array}\n{ENDED.format(name=array[5:])}")
    done(wreck_guest, f"check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/raid_disks").stdout == "4\n"


def test_a_reshape_to_more_disks_is_reverted_where_old_stripes_end(wreck_guest: Guest) -> None:
    before = made(wreck_guest, "reshape-grow-cut")
    outcome = tried(wreck_guest, ("revert-reshape", *MEMBERS))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"check_files {array}\nmdadm --readwrite {array}\n{ENDED.format(name=array[5:])}")
    done(wreck_guest, f"check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/raid_disks").stdout == "3\n"


def test_a_reshape_that_stands_within_a_stripe_is_moved_on_before_it_is_read(wreck_guest: Guest) -> None:
    """A read of that stripe waits for ever while the reshape stands still, and cannot be killed."""
    before = made(wreck_guest, "reshape-grow-stripe-cut")
    told = raidtui(wreck_guest, "rescue", "--json", *MEMBERS)
    (array,) = json.loads(told.stdout)["arrays"]
    ways = {way["code"]: way for way in array["ways"]}
    assert (ways["revert-reshape"]["possible"], ways["continue-reshape"]["possible"]) == (False, True)
    for way in ("start", "continue-reshape"):
        outcome = tried(wreck_guest, (way, *MEMBERS))
        assert "the reshape was moved on by 192 KiB" in str(outcome["proof"]["sure"])
    assert digests(wreck_guest) == before
    plan = raidtui(wreck_guest, "rescue", "plan", str(outcome["job"])).stdout
    assert "Make it writable (mdadm --readwrite) before anything reads it." in " ".join(plan.split())
    path = carried_out(wreck_guest, outcome["job"])
    assert digests(wreck_guest) == before
    done(wreck_guest, f"mdadm --readwrite {path}\n{ENDED.format(name=path[5:])}check_files {path}")


@pytest.mark.parametrize("freed", [True, False])
def test_a_trial_whose_reads_wait_ends(wreck_guest: Guest, *, freed: bool) -> None:
    """Where they cannot be freed, it says so, and nothing is left after ``clean``, which frees them."""
    make(wreck_guest, next(each for each in WRECKS if each.id == "reshape-grow-stripe-cut"))
    script = "import json\nfrom tests.lab.guests.inside import trial_runs\n"
    call = f"trial_runs.standing({MEMBERS!r}, freed={freed})"
    run = wreck_guest.run(f"{script}print(json.dumps({call}))", interpreter="python", timeout=300)
    assert run.status == 0, run.output
    check, void, state, moved, left, same = json.loads(run.stdout)
    assert (left, same) == ([""], True)
    if freed:
        assert (check, void, state, len(moved)) == ("clean", "", "done", 1)
    else:
        assert (check, state, moved) == ("not-tried", "stuck", [])
        assert re.fullmatch(r"md has answered no read of md300 for \d+ s, and its members are idle", void)
