"""Each verb done twice on real arrays: the second time it is so already, and nothing is changed."""

import json

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, already, do, plan, raidtui, refusal
from tests.lab.test_verbs import idle

pytestmark = pytest.mark.later


def test_an_array_from_its_creation_to_its_end(guest: Guest) -> None:
    first, second, third, fourth = disk_names(guest)[:4]
    words = ("create", "--name=one", "--level=raid1", "--bitmap=none", "--assume-clean", first, second)
    assert do(guest, *words, confirm="one").endswith("done\n")
    assert already(guest, *words).endswith(f"is one, raid1 of {first} and {second}")
    assert "differs: its members are" in refusal(guest, *words[:-1], third)
    assert "differs: it is raid1" in refusal(guest, *words[:2], "--level=raid10", *words[3:])
    assert "differs: it has no bitmap" in refusal(guest, *words[:3], "--bitmap=internal", *words[4:])

    assert do(guest, "rename", "one", "--to=two").endswith("done\n")
    assert already(guest, "rename", "one", "--to=two").endswith("is named two, and nothing is named one")
    assert already(guest, "rename", "two", "--to=two") == "it is already named two"
    assert "there is no array 'one'" in refusal(guest, "rename", "one", "--to=three")

    # Right after a start md has written nothing yet, and mdadm blames a resync that is not there.
    alone = guest.run("cat /sys/block/md*/md/array_state; mdadm --grow /dev/md/two --bitmap=internal")
    assert alone.stdout.split() == ["read-auto"]
    assert (alone.status != 0, "resyncing or reshaping" in alone.stderr) == (True, True), alone.output
    assert do(guest, "bitmap", "two", "internal").endswith("done\n")
    assert already(guest, "bitmap", "two", "internal") == "two already has a bitmap"
    assert do(guest, "bitmap", "two", "none").endswith("done\n")
    assert already(guest, "bitmap", "two", "none") == "two already has no bitmap"
    for verb in ("read-only", "read-write"):
        assert do(guest, verb, "two").endswith("done\n")
        assert already(guest, verb, "two") == f"two is already {verb}"

    assert do(guest, "add", "two", third).endswith("done\n")
    assert already(guest, "add", "two", third) == f"{third} is spare in two"
    assert do(guest, "remove", "two", third).endswith("done\n")
    assert already(guest, "remove", "two", third) == f"{third} is not a member of two"
    assert do(guest, "zero-superblock", third, confirm="two").endswith("done\n")
    assert already(guest, "zero-superblock", third) == f"{third} has no md superblock"

    assert do(guest, "replace", "two", first, "--with", fourth).endswith("done\n")
    sentence = f"{fourth} is in service in two, and {first} is not"
    assert already(guest, "replace", "two", first, "--with", fourth) == sentence
    assert do(guest, "remove", "two", first).endswith("done\n")
    assert already(guest, "replace", "two", first, "--with", fourth) == sentence

    assert do(guest, "fail", "two", second).endswith("done\n")
    assert already(guest, "fail", "two", second) == f"{second} has already failed; remove it"
    assert f"{second} is faulty of two already" in refusal(guest, "add", "two", second)
    assert do(guest, "remove", "two", second).endswith("done\n")
    assert already(guest, "remove", "two", second) == f"{second} is not a member of two"

    assert do(guest, "stop", "two").endswith("done\n")
    assert " are its members" in already(guest, "stop", "two")
    assert "there is no array 'other'" in refusal(guest, "stop", "other")
    assert "there is no array 'two'" in refusal(guest, "rename", "two", "--to=three")
    assert do(guest, "assemble", "--run", fourth).endswith("done\n")
    assert already(guest, "assemble", "--run", fourth) == f"two runs, with {fourth}"
    assert "in use" in refusal(guest, "assemble", "--run", fourth, third)


def test_more_and_fewer_slots(guest: Guest) -> None:
    names = disk_names(guest)[:4]
    made = make_array(guest, "grown", 5, names[:3], chunk=64, bitmap="internal", extra=["--assume-clean"])
    assert do(guest, "grow", "grown", "--add", names[3]).endswith("done\n")
    idle(guest, made.kernel)
    assert (
        already(guest, "grow", "grown", "--add", names[3]) == f"grown has 4 slots, and {names[3]} is in them"
    )
    assert already(guest, "grow", "grown", "--devices=4") == "grown has 4 slots"
    assert already(guest, "grow-chunk", "grown", "64") == "grown already has chunks of 64 KiB"
    assert "grown has 4 slots already" in refusal(guest, "grow", "grown", "--devices=3")


def test_what_was_changed_is_said(guest: Guest) -> None:
    """``apply --json``: standard output is one object, and the journal goes to standard error."""
    make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    assert plan(guest, "read-only", "125")["steps"]
    done = raidtui(guest, "apply", "--json", PLAN)
    result = json.loads(done.stdout)
    assert done.stderr.endswith("done\n")
    assert (done.status, result["changed"], result["already"], result["state"]) == (0, True, False, "done")
    wait_until(lambda: "readonly" in guest.run("cat /sys/block/md*/md/array_state").stdout, what="read-only")
