"""The smaller verbs on real arrays: read-only, repair, a new chunk, a bitmap, a journal; refusals."""

import re

import pytest

from tests.lab.guests.arrays import disk_names, make_array, make_ram_disks, mdstat
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import (
    already,
    apply,
    bystander,
    checksum,
    do,
    last_job,
    plan,
    raidtui,
    refusal,
    states,
)

_FILL = "mkfs.ext4 -q {0} && mount {0} /mnt && dd if=/dev/urandom of=/mnt/file bs=1M count=10 status=none"


def idle(guest: Guest, kernel: str) -> None:
    """Wait until an array syncs no more."""
    path = f"/sys/block/{kernel}/md"

    def rests() -> bool:
        found = guest.run(f"cat {path}/sync_action {path}/reshape_position").stdout.split()
        return found == ["idle", "none"]

    wait_until(rests, what=f"{kernel} idle")


def read(guest: Guest, path: str) -> str:
    """A file's words."""
    return guest.run(f"cat {path}").stdout.strip()


def test_read_only_and_back(guest: Guest) -> None:
    made = make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    state = f"/sys/block/{made.kernel}/md/array_state"
    assert do(guest, "read-only", "125").endswith("done\n")
    assert read(guest, state) == "readonly"
    assert guest.run(f"dd if=/dev/zero of={made.path} bs=4k count=1 conv=fsync").status != 0
    assert already(guest, "read-only", "125") == "125 is already read-only"
    assert do(guest, "read-write", "125").endswith("done\n")
    assert read(guest, state) in {"clean", "active"}
    assert already(guest, "read-write", "125") == "125 is already read-write"
    assert guest.run(f"mkfs.ext4 -q {made.path} && mount {made.path} /mnt").status == 0
    assert refusal(guest, "read-only", "125") == (
        "125 is in use: ext4 mounted at /mnt; unmount or release it first"
    )


@pytest.mark.later
def test_what_is_stacked_on_an_array_is_reported(guest: Guest) -> None:
    made = make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    built = guest.run(
        f"pvcreate -q --yes {made.path} && vgcreate -q vglab {made.path}"
        " && lvcreate -q --yes -L 16M -n home vglab"
        " && mkfs.ext4 -q /dev/vglab/home && mount /dev/vglab/home /mnt"
    )
    assert built.status == 0, built.output
    reported = refusal(guest, "stop", "125")
    assert re.fullmatch(
        r"125 is in use: held by (dm-\d+) \(vglab-home\), \1: ext4 mounted at /mnt;"
        r" unmount or release it first",
        reported,
    )
    assert refusal(guest, "rename", "125", "--to=124") == reported
    assert (
        guest.run("umount /mnt && vgremove -q --force --yes vglab && pvremove -q --yes /dev/md/125").status
        == 0
    )


def test_repair_after_a_check(guest: Guest) -> None:
    """A byte that differs is counted by a check, and gone after a repair; the name is asked for."""
    first, second = disk_names(guest)[:2]
    made = make_array(guest, "125", 1, (first, second), extra=["--assume-clean"])
    assert (
        guest.run(f"{_FILL.format(made.path)} && umount /mnt && sha256sum {made.path} >/tmp/sum").status == 0
    )
    offset = int(read(guest, f"/sys/block/{made.kernel}/md/dev-{second}/offset"))
    # Behind md's back: the second copy of a free block.
    spoiled = guest.run(
        f"dd if=/dev/urandom of=/dev/{second} bs=512 seek=$(({offset} + 40000)) count=8 conv=fsync"
    )
    assert spoiled.status == 0, spoiled.output
    made_plan = plan(guest, "repair", "125")
    assert (
        "No check has counted the mismatches yet: run a check first, which writes nothing."
        in (made_plan["notes"])
    )
    assert do(guest, "check", "125").endswith("done\n")
    idle(guest, made.kernel)
    assert int(read(guest, f"/sys/block/{made.kernel}/md/mismatch_cnt")) > 0
    made_plan = plan(guest, "repair", "125")
    assert re.fullmatch(
        r"The last check found [1-9][0-9]* mismatched sectors; not known whether it was complete\.",
        made_plan["notes"][1],
    )
    assert "to confirm, give --confirm=125" in apply(guest, status=2)
    assert apply(guest, "--confirm=125").endswith("done\n")
    idle(guest, made.kernel)
    assert do(guest, "check", "125").endswith("done\n")
    idle(guest, made.kernel)
    assert int(read(guest, f"/sys/block/{made.kernel}/md/mismatch_cnt")) == 0
    assert guest.run("sha256sum -c /tmp/sum").status == 0


@pytest.mark.later
def test_a_check_is_taken_back(guest: Guest) -> None:
    made = make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    action = f"/sys/block/{made.kernel}/md/sync_action"
    assert guest.run(f"echo 100 >/sys/block/{made.kernel}/md/sync_speed_max").status == 0
    assert do(guest, "check", "125").endswith("done\n")
    assert read(guest, action) == "check"
    assert raidtui(guest, "jobs", "rollback", last_job(guest)).status == 0
    wait_until(lambda: read(guest, action) == "idle", what="the check has ended")
    assert states(guest)[-1] == "rolled back"


@pytest.mark.later
def test_a_new_chunk(guest: Guest) -> None:
    """Every block moves; the data stay, and no backup file is needed."""
    names = disk_names(guest)
    before = bystander(guest, names[7])
    for level, layout, chunk in ((10, "n2", 64), (5, "ls", 32)):
        made = make_array(guest, "125", level, names[:4], layout=layout, chunk=128, extra=["--assume-clean"])
        path = f"/sys/block/{made.kernel}/md/chunk_size"
        assert guest.run(f"{_FILL.format(made.path)} && sha256sum /mnt/file >/tmp/sum").status == 0
        reported = plan(guest, "grow-chunk", "125", str(chunk))
        commands = [step["argv"] for step in reported["steps"] if "argv" in step]
        assert commands == [["mdadm", "--grow", f"/dev/{made.kernel}", f"--chunk={chunk}"]]
        assert apply(guest).endswith("done\n")
        idle(guest, made.kernel)
        assert read(guest, path) == str(chunk * 1024)
        done = guest.run(
            "echo 3 >/proc/sys/vm/drop_caches; sha256sum -c /tmp/sum && umount /mnt"
            f" && fsck.ext4 -fn {made.path} && mdadm --stop {made.path} && mdadm --zero-superblock"
            f" {' '.join('/dev/' + name for name in names[:4])}"
        )
        assert done.status == 0, done.output
    assert checksum(guest, [names[7]]) == before


@pytest.mark.later
def test_a_bitmap_more_and_less(guest: Guest) -> None:
    made = make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    place = f"/sys/block/{made.kernel}/md/bitmap/location"
    assert do(guest, "bitmap", "125", "internal").endswith("done\n")
    assert read(guest, place) == "+8"
    assert already(guest, "bitmap", "125", "internal") == "125 already has a bitmap"
    assert do(guest, "bitmap", "125", "none").endswith("done\n")
    assert read(guest, place) == "none"
    assert raidtui(guest, "jobs", "rollback", last_job(guest)).status == 0
    assert read(guest, place) == "+8"


@pytest.mark.later
def test_a_journal(guest: Guest) -> None:
    names = disk_names(guest)
    before = bystander(guest, names[7])
    words = ("create", "--name=125", "--level=raid5", "--chunk=64", f"--write-journal={names[3]}", *names[:3])
    assert do(guest, *words, confirm="125").endswith("done\n")
    assert read(guest, "/sys/block/md125/md/consistency_policy") == "journal"
    assert read(guest, f"/sys/block/md125/md/dev-{names[3]}/state") == "journal"
    reported = refusal(guest, "fail", "125", names[3])
    assert reported == f"{names[3]} is the journal of 125, which is read-only without it"
    assert checksum(guest, [names[7]]) == before


def test_a_device_that_is_a_little_too_small(guest: Guest) -> None:
    """It holds a member's data, but not from where they begin: mdadm says so only after the wipe."""
    first, second = disk_names(guest)[:2]
    made = make_array(guest, "125", 1, (first, second), extra=["--assume-clean", "--size=15360"])
    gone = guest.run(f"mdadm {made.path} --fail /dev/{second} --remove /dev/{second}")
    assert gone.status == 0, gone.output
    (small,) = make_ram_disks(guest, 1, 15)
    reported = refusal(guest, "add", "125", small)
    assert re.fullmatch(
        rf"{small} is too small: 15728640 bytes, \d+ are needed; choose a larger device", reported
    )
    tried = guest.run(f"mdadm --manage {made.path} --add /dev/{small}")
    assert "not large enough" in tried.output
    assert tried.status != 0


def test_members_that_an_array_at_rest_needs(guest: Guest) -> None:
    """Neither wiped nor built over before somebody has given the array's name."""
    first, second, third = disk_names(guest)[:3]
    made = make_array(guest, "lab0", 0, (first, second), chunk=64)
    uuid = guest.run(f"mdadm --detail --export {made.path} | sed -n s/MD_UUID=//p").stdout.strip()
    assert guest.run(f"mdadm --stop {made.path} && udevadm settle").status == 0
    reported = refusal(guest, "zero-superblock", first)
    assert reported.startswith(f'{first} is needed to start the array "lab0" (raid0, 2 members, {uuid})')
    assert reported.endswith("assemble it instead? to destroy it for good, give its name: --destroy=lab0")
    reported = refusal(guest, "create", "--name=125", "--level=raid1", first, third)
    assert reported.startswith(f'{first} is a member of the array "lab0" (raid0, 2 members, {uuid})')
    assert f"assemble it instead? raidtui plan assemble /dev/{first} and its other members;" in reported
    assert do(guest, "assemble", first, second).endswith("done\n")
    assert guest.run("mdadm --stop /dev/md/lab0 && udevadm settle").status == 0
    words = ("create", "--name=125", "--level=raid1", "--size=15360", "--destroy=lab0", first, third)
    assert do(guest, *words, confirm="125").endswith("done\n")
    assert "md125" in mdstat(guest)
    # What is left of it starts no more, so it is needed for nothing.
    assert do(guest, "zero-superblock", second, confirm="lab0").endswith("done\n")


@pytest.mark.later
def test_a_name_that_two_arrays_at_rest_have(guest: Guest) -> None:
    """It gives up neither of them; a UUID gives up its own."""
    names = disk_names(guest)[:5]
    uuids = []
    for pair in (names[:2], names[2:4]):
        made = make_array(guest, "lab0", 1, pair, extra=["--assume-clean"])
        look = " ".join(f"/dev/{name}" for name in pair)
        shown = guest.run(
            f"mdadm --detail --export {made.path} && mdadm --stop {made.path}\n"
            f"udevadm trigger --settle {look}; mdadm --stop --scan"  # udev starts what it looks at
        )
        uuids += re.findall("^MD_UUID=(.+)$", shown.stdout, re.MULTILINE)
    words = ("create", "--name=125", "--level=raid1", names[0], names[4])
    reported = refusal(guest, *words, "--destroy=lab0")
    assert reported.endswith(
        f"because another array that is not running is also named lab0: --destroy={uuids[0]}"
    )
    assert plan(guest, *words, f"--destroy={uuids[0]}")["confirm"] == "125"
    assert refusal(guest, *words, f"--destroy={uuids[1]}") == reported
    for name in names[:2]:
        other = refusal(guest, "zero-superblock", name, "--destroy=lab0") if name == names[1] else ""
        assert name == names[0] or other.endswith(f"--destroy={uuids[0]}"), other
        assert do(guest, "zero-superblock", name, f"--destroy={uuids[0]}", confirm=uuids[0]).endswith(
            "done\n"
        )
    # The name is the other array's alone now.
    plan(guest, "create", "--name=125", "--level=raid1", "--destroy=lab0", names[2], names[4])


def test_a_former_member_says_how_far_it_is_behind(guest: Guest) -> None:
    first, second = disk_names(guest)[:2]
    made = make_array(guest, "125", 1, (first, second), bitmap="internal", extra=["--assume-clean"])
    assert guest.run(f"mdadm {made.path} --fail /dev/{second} --remove /dev/{second}").status == 0
    assert guest.run(_FILL.format(made.path) + " && sync").status == 0
    reported = plan(guest, "re-add", "125", second)["notes"]
    assert re.fullmatch(
        rf"{second} left the array at event \d+, \d+ s ago; 125 is at event \d+\.", reported[0]
    )
    assert re.fullmatch(
        r"At most \d+(\.\d)? MiB of \d+ MiB are copied: the bitmap knows what was written since it left\.",
        reported[1],
    )
    assert apply(guest).endswith("done\n")
    idle(guest, made.kernel)
    assert guest.run("umount /mnt").status == 0
