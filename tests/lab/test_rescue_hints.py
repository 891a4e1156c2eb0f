"""What raidtui's own black boxes say of an array whose superblocks are gone."""

import json

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, plan, raidtui
from tests.lab.test_rescue_trial import filled

pytestmark = pytest.mark.later


def test_black_boxes_tell_which_disk_was_in_which_slot(guest: Guest) -> None:
    """Superblocks are zeroed by jobs, each of which keeps what it is about to destroy."""
    first, second, third = disk_names(guest)[:3]
    order = [second, first, third]
    made = make_array(guest, "data", 5, order, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(f"mdadm --stop {made.path} && udevadm settle && rm -rf /var/lib/raidtui")
    assert done.status == 0, done.output
    for name in order:
        confirm = plan(guest, "zero-superblock", name, "--destroy=data")["confirm"]
        applied = raidtui(guest, "apply", PLAN, f"--confirm={confirm}")
        assert applied.status == 0, applied.output
    result = raidtui(guest, "rescue", "search", "--json", first, second, third)
    found = json.loads(result.stdout)
    (hint,) = (each for each in found["hints"] if each["slots"])
    assert (hint["order"], hint["level"], hint["chunk_bytes"]) == (order, "raid5", 65536), hint
    assert hint["source"].startswith("black box of 20")
    best = found["candidates"][0]
    assert (result.status, best["order"]) == (0 if found["unique"] else 1, order), result.output
    assert best["notes"][-1] == f"It is as in {hint['source']}, which proves nothing."
    words = raidtui(guest, "rescue", "search", first, second, third).stdout
    assert f"{second} was slot 0" in " ".join(words.split())
