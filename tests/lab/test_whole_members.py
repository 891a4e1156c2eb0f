"""What a superblock says of a member is what decides: whose it is, and whether its data are whole."""

import json
import re

import pytest

from tests.lab.guests.arrays import disk_names, make_array, slow
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, plan, raidtui, refusal
from tests.lab.test_verbs import idle


@pytest.mark.later
def test_metadata_0_90_is_reported_as_by_mdadm(guest: Guest) -> None:
    """The kernel prints the bytes of its UUID in another order than mdadm."""
    first, second, third = disk_names(guest)[:3]
    made = guest.run(
        "mdadm --create /dev/md90 --run --metadata=0.90 --level=1 -n2 --assume-clean --bitmap=internal"
        f" /dev/{first} /dev/{second} && udevadm settle && mdadm --detail --export /dev/md90"
    )
    assert made.status == 0, made.output
    (uuid,) = [line[8:] for line in made.stdout.splitlines() if line.startswith("MD_UUID=")]
    (array,) = json.loads(raidtui(guest, "status", "--json").stdout)["arrays"]
    assert array["uuid"] == uuid
    assert do(guest, "read-only", "md90").endswith("done\n")  # the step's identity is that UUID
    assert do(guest, "read-write", "md90").endswith("done\n")
    do(guest, "fail", "md90", second)
    do(guest, "remove", "md90", second)
    write = "dd if=/dev/urandom of=/dev/md90 bs=64k count=1 oflag=direct status=none"
    assert guest.run(write).status == 0
    assert refusal(guest, "assemble", "--run", second) == f"{uuid[:8]} is already assembled as md90"
    assert refusal(guest, "add", "md90", second) == (
        f"{second} was a member, and the bitmap records what has changed since;"
        " re-add it; where that fails, zero its superblock and add it"
    )
    assert plan(guest, "re-add", "md90", second)["devices"] == [second]
    assert do(guest, "re-add", "md90", second).endswith("done\n")
    idle(guest, "md90")
    assert "[UU]" in guest.run("cat /proc/mdstat").stdout
    assert do(guest, "add", "md90", third).endswith("done\n")  # as a spare
    assert do(guest, "stop", "md90").endswith("done\n")
    assert do(guest, "assemble", first, second, third).endswith("done\n")
    assert f"MD_UUID={uuid}" in guest.run("mdadm --detail --export /dev/md/*").stdout


def members_of(guest: Guest, level: int, count: int, *options: str) -> tuple[str, ...]:
    """Make the array /dev/md/t of the first disks, their data whole, and stop it."""
    names = disk_names(guest)[:count]
    make_array(guest, "t", level, names, extra=("--assume-clean", *options))
    assert guest.run("mdadm --stop /dev/md/t && udevadm settle").status == 0
    return names


def wipe(guest: Guest, *names: str) -> None:
    """Take disks away: nothing of the array is left on them."""
    gone = " ".join(f"/dev/{name}" for name in names)
    assert guest.run(f"mdadm --zero-superblock {gone} && udevadm settle").status == 0


def mdadm_refuses(guest: Guest, *names: str) -> None:
    """Demand that mdadm cannot start what we have not offered."""
    paths = " ".join(f"/dev/{name}" for name in names)
    result = guest.run(f"mdadm --assemble --run /dev/md/t {paths}; cat /sys/block/md*/md/array_state")
    assert not {"clean", "active", "readonly", "read-auto"} & {*result.stdout.split()}, result.output
    assert "ot enough devices" in result.output or "failed to RUN_ARRAY" in result.output, result.output
    assert guest.run("for md in /dev/md*[0-9]; do mdadm --stop $md; done; udevadm settle").status == 0


def starts(guest: Guest, level: str, *words: str) -> None:
    """Demand that what is offered works."""
    assert do(guest, "assemble", *words).endswith("done\n")
    running = guest.run("cat /proc/mdstat").stdout
    assert f" {level} " in running, running
    assert guest.run("mdadm --stop --scan && udevadm settle").status == 0


@pytest.mark.later
def test_one_of_three_does_not_start(guest: Guest) -> None:
    names = members_of(guest, 5, 3)
    wipe(guest, *names[1:])
    assert refusal(guest, "assemble", "--run", names[0]) == (
        f"t does not have enough members to start: slot 0 ({names[0]}) is up to date, slots 1 and 2 are"
        " missing;"
        " reconnect the disks of slots 1 and 2"
    )
    mdadm_refuses(guest, names[0])


@pytest.mark.later
def test_two_of_three_start_degraded(guest: Guest) -> None:
    names = members_of(guest, 5, 3)
    wipe(guest, names[1])
    assert refusal(guest, "assemble", names[0], names[2]) == (
        "t has 3 members, and only 2 of those given are up to date; name all of them, or start it"
        " degraded with --run"
    )
    starts(guest, "raid5", "--run", names[0], names[2])


@pytest.mark.later
def test_the_other_half_of_mirrors_is_missing(guest: Guest) -> None:
    names = members_of(guest, 10, 4, "--layout=n2")
    wipe(guest, names[2], names[3])
    assert refusal(guest, "assemble", "--run", *names[:2]) == (
        f"t does not have enough members to start: slot 0 ({names[0]}) is up to date, slot 1 ({names[1]})"
        " is up to date,"
        " slots 2 and 3 are missing; reconnect one of the disks of slots 2 and 3"
    )
    mdadm_refuses(guest, *names[:2])


@pytest.mark.later
def test_one_of_each_mirror_starts(guest: Guest) -> None:
    names = members_of(guest, 10, 4, "--layout=n2")
    wipe(guest, names[1], names[2])
    starts(guest, "raid10", "--run", names[0], names[3])


def test_a_member_that_was_being_rebuilt_does_not_count(guest: Guest) -> None:
    """Its superblock has a Recovery Offset; with udev's help it waits in an inactive array."""
    names = disk_names(guest)[:3]
    slow(guest, 500)
    made = make_array(guest, "t", 5, names)

    def stored() -> bool:
        result = guest.run(f"mdadm --examine /dev/{names[2]} | grep -o 'Recovery Offset : [0-9]*'").stdout
        return bool(result) and int(result.split()[-1]) > 0

    wait_until(stored, what="a place of the rebuild is stored")
    assert guest.run("mdadm --stop /dev/md/t && udevadm settle").status == 0
    starts(guest, "raid5", *names)  # the rebuild continues
    starts(guest, "raid5", "--run", names[0], names[1])
    del made
    wipe(guest, names[0])
    sentence = (
        rf"t does not have enough members to start: slot 1 \({names[1]}\) is up to date,"
        rf" {names[2]} \(slot 2\) was being rebuilt, up to [0-9.]+ [KM]iB,"
        r" slot 0 is missing; reconnect the disk of slot 0"
    )
    assert re.fullmatch(sentence, refusal(guest, "assemble", "--run", *names[1:]))
    # As at boot: an inactive array holds both.
    held = guest.run(f"mdadm -I /dev/{names[1]}; mdadm -I /dev/{names[2]}; udevadm settle; cat /proc/mdstat")
    assert "inactive" in held.stdout, held.output
    result = json.loads(raidtui(guest, "status", "--json").stdout)
    (finding,) = result["findings"]
    assert (finding["code"], "--run" in finding["remedy"]) == ("inactive", False)
    assert re.fullmatch(sentence, refusal(guest, "assemble", "--run", *names[1:]))
    assert refusal(guest, "zero-superblock", names[1]) == (
        f"{names[1]} is a member of t; remove it from the array first"
    )
    assert guest.run("for md in /dev/md*[0-9]; do mdadm --stop $md; done; udevadm settle").status == 0
    mdadm_refuses(guest, *names[1:])


@pytest.mark.later
def test_what_waits_in_an_inactive_array_starts_degraded(guest: Guest) -> None:
    names = members_of(guest, 5, 3)
    wipe(guest, names[0])
    held = guest.run(f"mdadm -I /dev/{names[1]}; mdadm -I /dev/{names[2]}; udevadm settle; cat /proc/mdstat")
    assert "inactive" in held.stdout, held.output
    starts(guest, "raid5", "--run", *names[1:])


def test_dirty_and_degraded_does_not_start(guest: Guest) -> None:
    """Parity may not fit, and nothing is left to compute it from: the kernel wants a --force."""
    names = disk_names(guest)[:3]
    slow(guest, 100)
    make_array(
        guest, "t", 5, names, extra=("--force",)
    )  # a resync, not a rebuild: it is dirty until that ends
    assert guest.run("mdadm --stop /dev/md/t && udevadm settle").status == 0
    wipe(guest, names[1])
    result = refusal(guest, "assemble", "--run", names[0], names[2])
    assert result == (
        "t was being written to when it stopped, and its parity cannot be corrected without slot 1: the"
        " kernel does not start it; reconnect the disk of slot 1"
    )
    mdadm_refuses(guest, names[0], names[2])
