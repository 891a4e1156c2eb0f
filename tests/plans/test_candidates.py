"""Devices that look free and are somebody's: of fstab, another storage system, an array at rest."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, Refusal, Step
from raidtui.model.survey import Device, Reference, Superblock, Survey
from raidtui.plans.candidates import refuse_device, refuse_needed, refuse_old_arrays
from raidtui.plans.contents import contents_of, device_facts, wipe_steps
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.leave import plan_zero_superblock
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import raid10
from tests.plans.goldens import accepted, commands
from tests.plans.new_array import GPT, device, fact, plain, survey
from tests.plans.running import BIG, RAID, first, former, host
from tests.plans.running import refused as sentence_of

OLD = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
BLOCK = Superblock(uuid=OLD, name="nas:old", level="raid5", raid_disks=3, events=40, slot=0)


def part(name: str) -> Use:
    return Use(kind="partition", what=name)


def member(name: str, slot: int | None = 0, events: int = 40, **more: object) -> Device:
    block = replace(BLOCK, slot=slot, events=events, **more)
    return device(name, superblock=block, size_bytes=BIG)


SAME_NAME = "11111111:22222222:33333333:44444444"


def test_a_name_that_two_arrays_have_is_not_enough_to_wipe_a_superblock() -> None:
    alone = at_rest(member("sda2", level="raid1", raid_disks=2))
    made = plan_zero_superblock(alone, "sda2", destroys=("old",))
    assert isinstance(made, Plan)
    assert made.confirm == "old"
    two = at_rest(member("sda2", level="raid1", raid_disks=2), member("sdc2", uuid=SAME_NAME))
    assert isinstance(plan_zero_superblock(two, "sda2", destroys=("old",)), Refusal)
    made = plan_zero_superblock(two, "sda2", destroys=(OLD,))
    assert isinstance(made, Plan)
    assert made.confirm == OLD


def test_a_half_rebuilt_member_is_no_reason_to_wipe_a_whole_one() -> None:
    seen = at_rest(member("sda2"), member("sdb2", 1), member("sdc2", 2, recovery_sectors=5632))
    assert "sda2 is needed to start" in sentence_of(plan_zero_superblock(seen, "sda2"))
    assert isinstance(plan_zero_superblock(seen, "sdc2"), Plan)


def at_rest(*found: Device) -> Survey:
    return host(devices=found)


@pytest.mark.parametrize(
    ("found", "needed"),
    [
        ((member("sda2"), member("sdb2", 1), member("sdc2", 2)), False),  # raid5 does without one
        ((member("sda2"), member("sdb2", 1)), True),
        ((member("sda2"), member("sdb2", 1), member("sdc2", 2, events=30)), True),  # behind: of no use
        ((member("sda2"), member("sdb2", 1), member("sdc2", 2, events=39)), False),  # a crash, no more
        ((member("sda2", events=30), member("sdb2", 1), member("sdc2", 2)), False),
        ((member("sda2"),), False),  # nothing starts with it alone
        ((member("sda2", slot=None), member("sdb2", 1), member("sdc2", 2)), False),  # a spare
        (
            (member("sda2", level="raid1", raid_disks=2), member("sdb2", 1, level="raid1", raid_disks=2)),
            False,
        ),
        ((member("sda2", level="raid1", raid_disks=2),), True),
        (
            (member("sda2", level="raid10", raid_disks=2), member("sdb2", 1, level="raid10", raid_disks=2)),
            True,
        ),
        (
            (
                member("sda2", level="raid10", raid_disks=2, layout=0x102),
                member("sdb2", 1, level="raid10", raid_disks=2, layout=0x102),
            ),
            False,
        ),
        ((member("sda2", raid_disks=None),), False),
    ],
)
def test_members_that_an_array_at_rest_needs(found: tuple[Device, ...], *, needed: bool) -> None:
    seen = at_rest(*found)
    assert (refuse_needed(found[0], seen) is not None) == needed
    made = plan_zero_superblock(seen, "sda2")
    assert isinstance(made, Refusal) == needed
    assert isinstance(plan_zero_superblock(seen, "sda2", destroys=("old",)), Plan)


def test_a_former_member_of_a_running_array_is_not_needed_there() -> None:
    there = raid10()
    found = device(
        "sdz", superblock=former(there.array_uuid, "nas:data", level="raid10", raid_disks=4, slot=0, events=9)
    )
    assert isinstance(plan_zero_superblock(host(there, devices=(found,)), "sdz"), Plan)


def test_no_array_at_rest() -> None:
    assert refuse_old_arrays((device("sda2"),), survey()) is None
    there = raid10()
    own = device("sda2", superblock=former(there.array_uuid, "nas:data"))
    assert refuse_old_arrays((own,), host(there, devices=(own,))) is None


def test_the_facts_of_a_disk() -> None:
    """With what the kernel counts it by: a disk that takes its name later has another number."""
    seen = replace(device("sda2"), appearance="boot/17")
    facts = device_facts(seen)
    assert facts[:2] == (fact(FactKind.SERIAL, "sda2", "S-sda"), fact(FactKind.APPEARANCE, "sda2", "boot/17"))
    assert device_facts(device("sda2")) == (facts[0], *facts[2:])
    made = plan_create(plain("raid1", "sda2", "sdb2"), survey(seen, device("sdb2")))
    assert isinstance(made, Plan)
    assert facts[1] in made.steps[0].needs


@pytest.mark.parametrize("inside", [("gpt",), ("ext4", "dos")])
def test_a_table_inside_a_partition_is_lost_too(inside: tuple[str, ...]) -> None:
    """Udev says nothing of it."""
    uses = [Use(kind="signature", what=word) for word in inside]
    found = device("sda2", *(use for use in uses if use.what == "ext4"), probed=known(tuple(uses)))
    assert refuse_device(found, survey(found)) is None
    assert "partition table" in contents_of(found, survey(found))
    assert [step.argv[0] for step in wipe_steps(found, survey(found))] == ["wipefs"]


FSTAB = Reference(path="/etc/fstab", line=2, text="LABEL=my data", devices=("sdx", "sda2"))
SILENT = Answer[tuple[Use, ...]](kind=AnswerKind.TIMED_OUT, why="blkid did not answer within 20 s")
ZFS, SWAP, BTRFS, LUKS = (
    Use(kind="signature", what=word) for word in ("zfs_member", "swap", "btrfs", "crypto_LUKS")
)
MIRROR: dict[str, Any] = {"level": "raid1", "raid_disks": 2}


def created(
    *found: Device, destroys: tuple[str, ...] = (), named: tuple[Reference, ...] = ()
) -> Plan | Refusal:
    """A mirror of the first two."""
    names = [each.disk.name for each in found[:2]]
    return plan_create(plain("raid1", *names, destroys=destroys), replace(survey(*found), named=named))


def on_disks(
    *found: Device, destroys: tuple[str, ...] = (), named: tuple[Reference, ...] = ()
) -> Plan | Refusal:
    """The same on partitions of the whole disks sda and sdb."""
    seen = replace(survey(*found), named=named)
    return plan_on_disks(plain("raid1", "sda", "sdb", destroys=destroys), seen, reserve_percent=10)


def added(found: Device, *destroys: str) -> Plan | Refusal:
    """Added to a degraded array; the same refusal where it is to take a member's place."""
    degraded, whole = (host(array, devices=(found,)) for array in (raid10(failed=("sdb",)), raid10()))
    made = plan_add(degraded, first(degraded), "sdz", destroys=destroys)
    other = plan_replace(whole, first(whole), "sda", "sdz", destroys=destroys)
    assert made == other if isinstance(made, Refusal) else isinstance(other, Plan)
    return made


def foreign(what: str) -> Plan | Refusal:
    """Of another storage system; the same refusal wherever it is to go."""
    use = Use(kind="signature", what=what, detail="tank")
    found = added(device("sdz", use, size_bytes=BIG))
    assert found == created(device("sdz", use), device("sda2"))
    return found


def refused(found: Device, *more: Device) -> Refusal | None:
    return refuse_device(found, survey(found, *more))


def of_a_partitioned_disk() -> tuple[Step, ...]:
    inside = device("sda2", Use(kind="signature", what="ext4"), size_bytes=BIG)
    whole = device("sda", part("sda1"), part("sda2"))
    return wipe_steps(whole, survey(whole, inside, device("sda1")))


test_refused = accepted(
    {
        "boot: named in fstab": lambda: created(device("sda2"), device("sdb2"), named=(FSTAB,)),
        "boot: a partition is named in fstab": lambda: on_disks(
            device("sda", part("sda2")), device("sda2"), device("sdb"), named=(FSTAB,)
        ),
        "boot: a partition that was not read": lambda: on_disks(
            device("sda", part("sda2")), device("sdb"), named=(FSTAB,)
        ),
        # What they hold cannot be seen from here, so it cannot be said what would be lost.
        "foreign: ZFS": lambda: foreign("zfs_member"),
        "foreign: LVM": lambda: foreign("LVM2_member"),
        "foreign: LUKS": lambda: foreign("crypto_LUKS"),
        "foreign: bcache": lambda: foreign("bcache"),
        "foreign: IMSM": lambda: foreign("isw_raid_member"),
        "foreign: another RAID": lambda: foreign("promise_fasttrack_raid_member"),
        "foreign: on a partition": lambda: on_disks(
            device("sdb", part("sdb1")), device("sdb1", ZFS), device("sda")
        ),
        # Until somebody has typed its name, the question is whether it should not be assembled.
        "at rest: two members": lambda: created(member("sda2"), member("sdb2", 1)),
        "at rest: one member": lambda: created(member("sda2"), device("sdb2")),
        "at rest: both members": lambda: created(member("sda2", **MIRROR), member("sdb2", 1, **MIRROR)),
        "at rest: another name is typed": lambda: created(
            member("sda2"), member("sdb2", 1), destroys=("oldest",)
        ),
        "at rest: on a partition": lambda: on_disks(
            device("sda", part("sda2")), member("sda2"), device("sdb")
        ),
        "at rest: of another array": lambda: added(device("sdz", superblock=former(), size_bytes=BIG)),
        # The name says nothing: each of the two is given up by its UUID.
        "at rest: two of one name": lambda: created(
            member("sda2"), device("sdb2"), member("sdc2", uuid=SAME_NAME), destroys=("old",)
        ),
        "at rest: two of one name, the other is given up": lambda: created(
            member("sda2"), device("sdb2"), member("sdc2", uuid=SAME_NAME), destroys=(SAME_NAME,)
        ),
        "at rest: two of one name, one is given up": lambda: created(
            member("sda2"), member("sdc2", uuid=SAME_NAME), destroys=(OLD,)
        ),
        "at rest: it is needed": lambda: plan_zero_superblock(
            at_rest(member("sda2"), member("sdb2", 1)), "sda2"
        ),
        # A LUKS container and a btrfs were taken for empty disks, and erased.
        "udev: does not know of LUKS": lambda: refused(device("sde", probed=known((LUKS,)))),
        "udev: does not know of btrfs": lambda: refused(device("sde", probed=known((BTRFS,)))),
        "udev: knows of swap that is not there": lambda: refused(device("sde", SWAP, probed=known(()))),
        "udev: knows of swap, there are others": lambda: refused(
            device("sde", SWAP, probed=known((BTRFS, GPT)))
        ),
        # Two have seen the superblock: blkid and mdadm; of another signature beside it that is not so.
        "udev: does not know of btrfs beside a superblock": lambda: refused(
            device("sde", superblock=former(), probed=known((RAID, BTRFS)))
        ),
        "silent: what it holds": lambda: refused(device("sde", probed=SILENT)),
        "silent: what its partition holds": lambda: refused(
            device("sde", part("sde1")), device("sde1", probed=SILENT)
        ),
        "silent: mdadm does not read its superblock": lambda: refused(device("sde", RAID)),
    }
)
# A file system, or a superblock, of a partition shows up again when one begins there later.
test_wiped = accepted(
    {
        "wiped: a disk with partitions": of_a_partitioned_disk,
        "wiped: an array at rest on a partition": lambda: commands(
            on_disks(device("sda", part("sda2")), member("sda2"), device("sdb"), destroys=("old",))
        )[:4],
    }
)


def test_what_is_given_up_by_name_is_taken() -> None:
    assert isinstance(created(member("sda2"), member("sdb2", 1), destroys=("old",)), Plan)
    assert isinstance(added(device("sdz", superblock=former(), size_bytes=BIG), "old"), Plan)
    two = (member("sda2"), device("sdb2"), member("sdc2", uuid=SAME_NAME))
    for typed in (OLD, OLD.upper(), OLD.replace(":", "-")):
        assert isinstance(created(*two, destroys=(typed,)), Plan)
    both = (member("sda2"), member("sdc2", uuid=SAME_NAME))
    assert isinstance(created(*both, destroys=(OLD, SAME_NAME)), Plan)


def test_what_others_name_is_taken() -> None:
    free = device("sda2")
    assert refuse_device(free, replace(survey(free), named=(replace(FSTAB, devices=("sdx",)),))) is None


def test_what_mdadm_has_read_needs_no_udev() -> None:
    assert refused(device("sde", superblock=former(), probed=known((RAID,)))) is None
