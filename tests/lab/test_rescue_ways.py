"""Ways back from end to end on the real kernel: the trial, its plan, the array that runs, the files."""

import json
import shlex
from typing import Any

from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, raidtui
from tests.lab.guests.wrecks.making import MANIFEST, digests, done, make
from tests.lab.guests.wrecks.saving import Words
from tests.lab.guests.wrecks.table import WRECKS


def made(guest: Guest, wreck: str) -> dict[str, str]:
    """Make a wreck; the digests of the disks."""
    make(guest, next(each for each in WRECKS if each.id == wreck))
    return digests(guest)


def tried(guest: Guest, words: Words, *, check: str | None = "clean") -> dict[str, Any]:
    """Try, with the files of the wreck compared; the outcome. ``check`` is what it must say, if it must."""
    result = raidtui(guest, "rescue", "try", *words, "--hashes", MANIFEST, "--json", timeout=300)
    assert result.stdout, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    proof = found["proof"]
    assert isinstance(proof, dict)
    assert check is None or proof["check"] == check, result.output
    return found


def carried_out(guest: Guest, job: object) -> str:
    """Carry out the plan of what a trial has rehearsed; the path of the array."""
    plan = guest.run(f"{shlex.join((*RAIDTUI, 'rescue', 'plan', str(job), '--json'))} >{PLAN} && cat {PLAN}")
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
        assert (planned.status, "has not shown that the data are whole" in planned.stderr) == (2, True)
    outcome = tried(wreck_guest, ("continue-reshape", *MEMBERS))
    assert "what it was to do is done nevertheless" in str(outcome["said"])
    assert digests(wreck_guest) == before
    assert wreck_guest.run("sha256sum /var/tmp/reshape-backup").stdout == file
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"{ENDED.format(name=array[5:])}check_files {array}")
    saved = wreck_guest.run("sha256sum /var/lib/raidtui/rescue/*/backup-file").stdout
    assert saved.split()[0] == file.split()[0]


def test_a_reshape_goes_on_without_a_backup_file_where_nothing_is_lost(wreck_guest: Guest) -> None:
    before = made(wreck_guest, "reshape-chunk-halted")
    tried(wreck_guest, ("revert-reshape", *MEMBERS))
    outcome = tried(wreck_guest, ("continue-reshape-without-backup", *MEMBERS))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    done(wreck_guest, f"{ENDED.format(name=array[5:])}check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/chunk_size").stdout == "131072\n"


def test_a_reshape_to_more_disks_goes_on_once_it_is_writable(wreck_guest: Guest) -> None:
    before = made(wreck_guest, "reshape-grow-cut")
    outcome = tried(wreck_guest, ("continue-reshape", *MEMBERS))
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    assert digests(wreck_guest) == before
    done(wreck_guest, f"check_files {array}\nmdadm --readwrite {array}\n{ENDED.format(name=array[5:])}")
    done(wreck_guest, f"check_files {array}")
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/raid_disks").stdout == "4\n"
