"""Bad blocks that md has recorded: what is reported of them is what the kernel then reads, or cannot read."""

import json

import pytest

from tests.extent import later
from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, raidtui, refusal
from tests.lab.test_verbs import idle

FIRST, SECTORS = 200, 8


def record(guest: Guest, made: Made, name: str) -> None:
    """Record sectors of a member's data as bad; it counts from the beginning of the device."""
    folder = f"/sys/block/{made.kernel}/md/dev-{name}"
    done = guest.run(f'echo "$(($(<{folder}/offset) + {FIRST})) {SECTORS}" >{folder}/bad_blocks')
    assert done.status == 0, done.output


def readable(guest: Guest, made: Made) -> bool:
    """Whether the whole array can be read."""
    return guest.run(f"dd if={made.path} of=/dev/null bs=64k iflag=direct").status == 0


@pytest.mark.parametrize(
    ("level", "layout", "count", "needed"),
    [later(1, None, 2, (0,)), later(10, "n2", 4, (0,)), (5, "ls", 3, (0, 2))],
)
def test_the_only_good_copy_is_kept(
    guest: Guest, level: int, layout: str | None, count: int, needed: tuple[int, ...]
) -> None:
    names = disk_names(guest)[:count]
    made = make_array(guest, "125", level, names, layout=layout, extra=["--assume-clean"])
    record(guest, made, names[1])
    report = json.loads(raidtui(guest, "status", "--json").stdout)
    assert report["exit_status"] == 1
    members = {each["name"]: each for each in report["arrays"][0]["members"]}
    assert members[names[1]]["bad_blocks"] == [[FIRST, SECTORS]]
    assert members[names[0]]["bad_sectors"] == 0
    assert [finding["code"] for finding in report["findings"]] == ["bad-blocks"]
    for slot in needed:
        assert refusal(guest, "fail", "125", names[slot]) == (
            f"{names[slot]} alone holds 4 KiB of 125: there are bad blocks on {names[1]}; replace {names[1]}"
            f" first: its bad blocks are then read from {names[slot]}"
        )
    assert level == 5 or readable(guest, made)  # RAID 5 writes anew what is bad when it reads
    # What was refused would have lost it.
    assert guest.run(f"mdadm {made.path} --fail /dev/{names[0]}").status == 0
    assert not readable(guest, made)
    report = json.loads(raidtui(guest, "status", "--json").stdout)
    assert "bad-blocks-lost" in [finding["code"] for finding in report["findings"]]
    reported = raidtui(guest, "plan", "remove", "125", names[0]).stdout
    assert f"{names[0]} may still hold that data: leave it unchanged." in reported


@pytest.mark.later
def test_the_member_with_bad_blocks_may_go(guest: Guest) -> None:
    first, second, third = disk_names(guest)[:3]
    made = make_array(guest, "125", 1, (first, second), extra=["--assume-clean"])
    record(guest, made, second)
    assert do(guest, "replace", "125", second, "--with", third).endswith("done\n")
    idle(guest, made.kernel)
    report = json.loads(raidtui(guest, "status", "--json").stdout)
    members = {each["name"]: each["bad_sectors"] for each in report["arrays"][0]["members"]}
    assert members[third] == 0
    assert do(guest, "fail", "125", first).endswith("done\n")
    assert readable(guest, made)
