"""Ways back from end to end on the real kernel: the trial, its plan, the array that runs, the files."""

import json
import shlex

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


def tried(guest: Guest, words: Words, *, check: str = "clean") -> dict[str, object]:
    """Try, with the files of the wreck compared; the outcome."""
    told = raidtui(guest, "rescue", "try", *words, "--hashes", MANIFEST, "--json", timeout=300)
    assert told.stdout, told.output
    found: dict[str, object] = json.loads(told.stdout)
    proof = found["proof"]
    assert isinstance(proof, dict)
    assert proof["check"] == check, told.output
    return found


def carried_out(guest: Guest, job: object) -> str:
    """Carry out the plan of what a trial has rehearsed; the path of the array."""
    plan = guest.run(f"{shlex.join((*RAIDTUI, 'rescue', 'plan', str(job), '--json'))} >{PLAN} && cat {PLAN}")
    assert plan.status == 0, plan.output
    confirm = json.loads(plan.stdout)["plan"].get("confirm")
    ended = raidtui(guest, "apply", PLAN, *([f"--confirm={confirm}"] if confirm else []))
    assert ended.status == 0, ended.output
    return f"/dev/{guest.run('grep ^md /proc/mdstat').stdout.split()[0]}"


def test_a_journal_is_replayed_on_overlays_alone(wreck_guest: Guest) -> None:
    """Md replays it also read-only, and onto members that are set read-only."""
    before = made(wreck_guest, "r5-journal-full")
    members = ("ubde", "ubdf", "ubdg", "ubdh")
    outcome = tried(wreck_guest, ("start", *members))
    assert digests(wreck_guest) == before
    stored = outcome["store_sectors"]
    assert isinstance(stored, dict)
    assert min(stored[name] for name in members[:3]) > 64
    plan = raidtui(wreck_guest, "rescue", "plan", str(outcome["job"]))
    assert "md replays its log as it starts it, also read-only" in plan.stdout, plan.output
    assert digests(wreck_guest) == before
    array = carried_out(wreck_guest, outcome["job"])
    assert wreck_guest.run(f"cat /sys/block/{array[5:]}/md/array_state").stdout == "readonly\n"
    done(wreck_guest, f"check_files {array}")
