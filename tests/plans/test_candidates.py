"""Devices that look free and are somebody's: of fstab, another storage system, an array at rest."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, Refusal, RefusalCode, RunTool
from raidtui.model.refuse_silence import AGAIN
from raidtui.model.survey import Device, Reference, Superblock, Survey
from raidtui.plans.candidates import refuse_device, refuse_needed, refuse_old_arrays
from raidtui.plans.contents import contents_of, device_facts, wipe_steps
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.leave import plan_zero_superblock
from raidtui.plans.repair import plan_add, plan_replace
from tests.hosts.specs import raid10
from tests.plans.new_array import GPT, device, fact, plain, refused, same, survey
from tests.plans.running import BIG, RAID, first, former, host
from tests.plans.running import refused as sentence_of

OLD = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
BLOCK = Superblock(uuid=OLD, name="nas:old", level="raid5", raid_disks=3, events=40, slot=0)
WORDS = f'the array "old" (raid5, 3 members, {OLD})'


def part(name: str) -> Use:
    return Use(kind="partition", what=name)


def test_what_the_next_boot_wants() -> None:
    free = device("sda2")
    named = Reference(path="/etc/fstab", line=2, text="LABEL=my data", devices=("sdx", "sda2"))
    seen = replace(survey(free, device("sdb2")), named=(named,))
    sentence = "sda2 is named in /etc/fstab, line 2; remove that line first if the device is no longer used"
    assert refused(plain("raid1", "sda2", "sdb2"), seen) == sentence
    asked = plain("raid1", "sda", "sdb")
    for parts in ((free,), ()):  # also where the partition itself was not read
        seen = replace(survey(device("sda", part("sda2")), *parts, device("sdb")), named=(named,))
        assert sentence_of(plan_on_disks(asked, seen, reserve_percent=10)) == sentence
    other = replace(named, devices=("sdx",))
    assert refuse_device(free, replace(survey(free), named=(other,))) is None


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("zfs_member", 'a part of a ZFS pool "tank"'),
        ("LVM2_member", 'an LVM physical volume "tank"'),
        ("crypto_LUKS", 'encrypted data (LUKS) "tank"'),
        ("bcache", 'a part of a bcache "tank"'),
        ("isw_raid_member", 'a part of an Intel RAID (IMSM) "tank"'),
        ("promise_fasttrack_raid_member", 'a part of another RAID (promise_fasttrack) "tank"'),
    ],
)
def test_other_storage_systems(what: str, words: str) -> None:
    """What they hold cannot be seen from here, so it cannot be said what would be lost."""
    use = Use(kind="signature", what=what, detail="tank")
    sentence = f"sdz holds {words}; if it is no longer needed: wipefs --all /dev/sdz"
    degraded = host(raid10(failed=("sdb",)), devices=(device("sdz", use, size_bytes=BIG),))
    assert sentence_of(plan_add(degraded, first(degraded), "sdz")) == sentence
    whole = host(raid10(), devices=(device("sdz", use, size_bytes=BIG),))
    assert sentence_of(plan_replace(whole, first(whole), "sda", "sdz")) == sentence
    assert refused(plain("raid1", "sdz", "sda2"), survey(device("sdz", use), device("sda2"))) == sentence


def test_another_storage_system_on_a_partition() -> None:
    inside = device("sdz1", Use(kind="signature", what="zfs_member"))
    seen = survey(device("sdz", part("sdz1")), inside, device("sdy"))
    assert sentence_of(plan_on_disks(plain("raid1", "sdy", "sdz"), seen, reserve_percent=10)) == (
        "sdz1 holds a part of a ZFS pool; if it is no longer needed: wipefs --all /dev/sdz1"
    )


def member(name: str, slot: int | None = 0, events: int = 40, **more: object) -> Device:
    block = replace(BLOCK, slot=slot, events=events, **more)
    return device(name, superblock=block, size_bytes=BIG)


@pytest.mark.parametrize(
    ("found", "names", "paths"),
    [
        (
            (member("sda2"), member("sdb2", 1)),
            "sda2, sdb2 are members",
            "/dev/sda2 /dev/sdb2 and its other members",
        ),
        ((member("sda2"), device("sdb2")), "sda2 is a member", "/dev/sda2 and its other members"),
        (
            (member("sda2", raid_disks=2), member("sdb2", 1, raid_disks=2)),
            "sda2, sdb2 are members",
            "/dev/sda2 /dev/sdb2",
        ),
    ],
)
def test_create_over_an_array_at_rest(found: tuple[Device, ...], names: str, paths: str) -> None:
    """Until somebody has typed its name, the question is whether it should not be assembled."""
    disks = found[0].superblock.raid_disks if found[0].superblock else 0
    words = WORDS.replace("3 members", f"{disks} members")
    assert refused(plain("raid1", "sda2", "sdb2"), survey(*found)) == (
        f"{names} of {words}, which is not running; assemble it instead? raidtui plan assemble {paths};"
        " to destroy it for good, give its name: --destroy=old"
    )
    assert isinstance(plan_create(plain("raid1", "sda2", "sdb2", destroys=("old",)), survey(*found)), Plan)
    other = plan_create(plain("raid1", "sda2", "sdb2", destroys=("oldest",)), survey(*found))
    assert isinstance(other, Refusal)


def test_an_array_at_rest_on_partitions_of_a_disk() -> None:
    seen = survey(device("sda", part("sda2")), member("sda2"), device("sdb"))
    asked = plain("raid1", "sda", "sdb")
    sentence = sentence_of(plan_on_disks(asked, seen, reserve_percent=10))
    assert sentence.startswith(f"sda2 is a member of {WORDS}, which is not running; assemble it instead?")
    made = plan_on_disks(replace(asked, destroys=("old",)), seen, reserve_percent=10)
    assert isinstance(made, Plan)
    assert [step.argv[:1] + step.argv[-1:] for step in made.steps[:4]] == [
        ("mdadm", "/dev/sda2"), ("wipefs", "/dev/sda2"), ("wipefs", "/dev/sda"), ("sfdisk", "/dev/sda"),
    ]  # fmt: skip


def test_add_and_replace_over_an_array_at_rest() -> None:
    found = device("sdz", superblock=former(), size_bytes=BIG)
    degraded, whole = host(raid10(failed=("sdb",)), devices=(found,)), host(raid10(), devices=(found,))
    sentence = (
        f'sdz is a member of the array "old" ({OLD}), which is not running; assemble it instead?'
        " raidtui plan assemble /dev/sdz; to destroy it for good, give its name: --destroy=old"
    )
    assert sentence_of(plan_add(degraded, first(degraded), "sdz")) == sentence
    assert sentence_of(plan_replace(whole, first(whole), "sda", "sdz")) == sentence
    assert isinstance(plan_add(degraded, first(degraded), "sdz", destroys=("old",)), Plan)
    assert isinstance(plan_replace(whole, first(whole), "sda", "sdz", destroys=("old",)), Plan)


SAME_NAME = "11111111:22222222:33333333:44444444"


def test_a_name_that_two_arrays_at_rest_have() -> None:
    """It says nothing: each of the two is given up by its UUID."""
    mine, other = member("sda2"), member("sdc2", uuid=SAME_NAME)
    seen = survey(mine, device("sdb2"), other)
    asked = plain("raid1", "sda2", "sdb2")
    assert refused(replace(asked, destroys=("old",)), seen) == (
        f"sda2 is a member of {WORDS}, which is not running; assemble it instead? raidtui plan"
        " assemble /dev/sda2 and its other members; to destroy it for good, give its UUID, because"
        f" another array that is not running is also named old: --destroy={OLD}"
    )
    assert isinstance(plan_create(replace(asked, destroys=(SAME_NAME,)), seen), Refusal)
    for typed in (OLD, OLD.upper(), OLD.replace(":", "-")):
        assert isinstance(plan_create(replace(asked, destroys=(typed,)), seen), Plan)
    both = plain("raid1", "sda2", "sdc2", destroys=(OLD,))
    assert "sdc2 is a member" in refused(both, seen)
    assert isinstance(plan_create(replace(both, destroys=(OLD, SAME_NAME)), seen), Plan)


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


def test_the_sentence_for_a_member_that_is_needed() -> None:
    assert sentence_of(plan_zero_superblock(at_rest(member("sda2"), member("sdb2", 1)), "sda2")) == (
        f"sda2 is needed to start {WORDS};"
        " assemble it instead? to destroy it for good, give its name: --destroy=old"
    )


def test_a_former_member_of_a_running_array_is_not_needed_there() -> None:
    there = raid10()
    found = device(
        "sdz", superblock=former(there.array_uuid, "nas:data", level="raid10", raid_disks=4, slot=0, events=9)
    )
    assert isinstance(plan_zero_superblock(host(there, devices=(found,)), "sdz"), Plan)


def test_nothing_is_left_in_the_middle_of_a_disk() -> None:
    """A file system, or a superblock, of a partition shows up again when one begins there later."""
    inside = device("sda2", Use(kind="signature", what="ext4"), size_bytes=BIG)
    whole = device("sda", part("sda1"), part("sda2"))
    seen = survey(whole, inside, device("sda1"))
    wipe = RunTool(
        argv=("wipefs", "--all", "/dev/sda2"),
        why="clears all signatures of sda2, so that none reappears",
        needs=(
            fact(FactKind.SERIAL, "sda2", "S-sda"),
            fact(FactKind.SIZE, "sda2", str(BIG)),
            fact(FactKind.FREE, "sda2"),
            fact(FactKind.UNTOUCHED, "sda2", "digest of sda2"),
            fact(FactKind.CONTENTS, "sda2", "ext4"),
        ),
        proves=(fact(FactKind.CLEAN, "sda2"),),
        destroys=True,
    )
    last = replace(
        wipe,
        argv=("wipefs", "--all", "/dev/sda"),
        why="clears all signatures of sda, so that none reappears",
        needs=same("sda", untouched=False),
        proves=(fact(FactKind.CLEAN, "sda"),),
    )
    assert wipe_steps(whole, seen) == (wipe, last)


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


def test_what_udev_does_not_know_is_refused_until_it_is_looked_at_again() -> None:
    """A LUKS container and a btrfs were taken for empty disks, and erased."""
    luks = Use(kind="signature", what="crypto_LUKS")
    btrfs = Use(kind="signature", what="btrfs")
    swap = Use(kind="signature", what="swap")
    again = "let udev look again, then plan again: udevadm trigger --settle /dev/sde"
    for seen, said, sentence in (
        ((luks,), (), "sde holds encrypted data (LUKS); if it is no longer needed: wipefs --all /dev/sde"),
        ((btrfs,), (), f"sde holds btrfs, and udev says nothing; {again}"),
        ((), (swap,), f"sde holds nothing, and udev says swap; {again}"),
        ((btrfs, GPT), (swap,), f"sde holds btrfs and gpt, and udev says swap; {again}"),
    ):
        found = device("sde", *said, probed=known(seen))
        refusal = refuse_device(found, survey(found))
        assert refusal is not None
        assert refusal.sentence == sentence


def test_what_mdadm_has_read_needs_no_udev() -> None:
    """Two have seen the superblock: blkid and mdadm; of another signature beside it that is not so."""
    raid, btrfs = (Use(kind="signature", what=word) for word in ("linux_raid_member", "btrfs"))
    found = device("sde", superblock=former(), probed=known((raid,)))
    assert refuse_device(found, survey(found)) is None
    both = device("sde", superblock=former(), probed=known((raid, btrfs)))
    refusal = refuse_device(both, survey(both))
    assert refusal is not None
    assert refusal.why == "sde holds btrfs, and udev says nothing"


@pytest.mark.parametrize("inside", [("gpt",), ("ext4", "dos")])
def test_a_table_inside_a_partition_is_lost_too(inside: tuple[str, ...]) -> None:
    """Udev says nothing of it."""
    uses = [Use(kind="signature", what=word) for word in inside]
    found = device("sda2", *(use for use in uses if use.what == "ext4"), probed=known(tuple(uses)))
    assert refuse_device(found, survey(found)) is None
    assert "partition table" in contents_of(found, survey(found))
    assert [step.argv[0] for step in wipe_steps(found, survey(found))] == ["wipefs"]


def test_a_device_that_does_not_say_what_it_holds() -> None:
    silent = Answer[tuple[Use, ...]](kind=AnswerKind.TIMED_OUT, why="blkid did not answer within 20 s")
    for found, code, sentence in (
        (
            device("sde", probed=silent),
            RefusalCode.NO_ANSWER,
            f"what sde holds is not known: blkid did not answer within 20 s; {AGAIN}",
        ),
        (
            device("sde", RAID),
            RefusalCode.UNKNOWN,
            (
                "sde has an md superblock which mdadm does not read: its array is not known; see mdadm"
                " --examine /dev/sde; if no longer needed: wipefs --all /dev/sde"
            ),
        ),
    ):
        refusal = refuse_device(found, survey(found))
        assert refusal is not None
        assert (refusal.code, refusal.sentence) == (code, sentence)
    within = device("sde", part("sde1"))
    refusal = refuse_device(within, survey(within, device("sde1", probed=silent)))
    assert refusal is not None
    assert refusal.why == "what sde1 holds is not known: blkid did not answer within 20 s"
