"""Create: plans, and what is said to be lost."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Superblock
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest, canonical_level
from tests.plans.goldens import accepted
from tests.plans.new_array import FOUR, GPT, argv, device, plain, plan, request, survey

OLD = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"


def mirror(*found: Device, destroys: tuple[str, ...] = ()) -> Plan:
    """Of two devices, on a host that has these."""
    others = [device(name) for name in ("sda2", "sdb2") if name not in {each.disk.name for each in found}]
    return plan(plain("raid1", "sda2", "sdb2", destroys=destroys), survey(*others, *found))


def of_an_array_that_does_not_run() -> Plan:
    block = Superblock(uuid=OLD, name="nas:old", level="raid5", raid_disks=3, updated_s=1_795_209_900.0)
    signature = Use(kind="signature", what="linux_raid_member", detail="nas:old")
    old = [device(name, signature, superblock=block) for name in ("sda2", "sdb2")]
    return mirror(*old, destroys=("old",))


def of_a_whole_disk() -> tuple[str, ...]:
    xfs = device("sdb1", Use(kind="signature", what="xfs"))
    part = device("sdb3", superblock=Superblock(uuid=OLD, name="old"))
    disk = device("sdb", GPT, Use(kind="partition", what="sdb1"), Use(kind="partition", what="sdb3"))
    asked = plain("raid1", "sda2", "sdb", destroys=("old",))
    return plan(asked, survey(device("sda2"), disk, xfs, part)).loss_sentences


def unknown(name: str) -> Device:
    """Without a serial number, its contents not read."""
    found = device(name)
    return replace(found, digest=None, disk=replace(found.disk, serial=None))


EXT4 = Use(kind="signature", what="ext4", detail="root")
test_plans = accepted(
    {
        "of the brief": lambda: plan(request()),
        "a word for a name, and no homehost": lambda: plan(
            request(name="data", metadata="1.0"), survey(homehost="")
        ),
        "a device with a file system": lambda: mirror(device("sdb2", EXT4)),
        "members of an array that does not run": of_an_array_that_does_not_run,
        # What is not known is not asked for.
        "serial numbers and contents are not known": lambda: mirror(unknown("sda2"), unknown("sdb2")),
        # It takes no data, so it may be smaller; it is a device like the others in all else.
        "a journal": lambda: plan(
            plain("raid5", journal="sde"), survey(*map(device, FOUR), device("sde", size_bytes=1 << 30))
        ),
    }
)
test_losses = accepted(
    {
        "lost: nothing": lambda: mirror(device("sdb2")).loss_sentences,
        "lost: swap": lambda: mirror(device("sdb2", Use(kind="signature", what="swap"))).loss_sentences,
        "lost: a member without a UUID": lambda: (
            mirror(device("sdb2", superblock=Superblock(uuid=None)), destroys=("unknown",)).loss_sentences
        ),
        "lost: a table with partitions": of_a_whole_disk,
    }
)


def created(asked: CreateRequest) -> list[str]:
    """The options of the command from the level on."""
    words = argv(asked)
    return [" ".join(words[words.index("--metadata=1.2") + 1 :])]


test_commands = accepted(
    {
        "command: raid10 f2": plain("raid10", layout="f2"),
        "command: raid10 o2 with a bitmap, failfast": plain(
            "10", layout="o2", bitmap="internal", failfast=True
        ),
        "command: raid10, half of it missing": plain(
            "raid10", "sda2", "missing", "sdb2", "missing", consistency_policy="bitmap"
        ),
        "command: raid1": plain("1", "sda2", "sdb2"),
        "command: raid1, write-mostly": plain(
            "raid1", "sda2", "sdb2", "sdc2", write_mostly=("sda2",), size_kib=1024, assume_clean=True
        ),
        "command: raid5": plain("raid5"),
        "command: raid5 with a spare and ppl": plain(
            "raid5", "sda2", "sdb2", "sdc2", spares=("sdd2",), consistency_policy="ppl", layout="ra"
        ),
        "command: raid4, one missing": plain("4", "sda2", "sdb2", "missing", chunk_kib=64),
        "command: raid6": plain("raid6", layout="ls"),
        "command: raid5 with a journal": plain("raid5", journal="sde", chunk_kib=64),
        "command: raid6 with a journal": plain("raid6", journal="sde", consistency_policy="journal"),
        "command: raid0, chunks of 12 KiB": plain("raid0", chunk_kib=12),
        "command: raid0": plain("0", bitmap="none"),
    },
    created,
)


@pytest.mark.parametrize(
    ("more", "node"),
    [
        ({"name": "007"}, "/dev/md7"),
        ({"name": "1234"}, "/dev/md/1234"),
        ({"name": "data", "number": 10}, "/dev/md10"),
        ({"name": "127", "number": 0}, "/dev/md0"),
    ],
)
def test_the_device_that_is_made(more: dict[str, Any], node: str) -> None:
    assert argv(request(**more))[2] == node


def test_levels() -> None:
    assert [canonical_level(word) for word in ("0", "raid1", "RAID5", "10", "linear", "7", "", "raid")] == [
        "raid0", "raid1", "raid5", "raid10", None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("metadata", ["1.0", "1.1", "1.2"])
def test_metadata(metadata: str) -> None:
    assert f"--metadata={metadata}" in argv(request(metadata=metadata))


@pytest.mark.parametrize("level", ["raid0", "raid1", "raid4", "raid5", "raid6", "raid10"])
@pytest.mark.parametrize("journal", ["", "sde"])
@pytest.mark.parametrize("policy", ["", "resync", "bitmap", "ppl", "journal"])
@pytest.mark.parametrize("bitmap", ["", "none", "internal"])
def test_no_bitmap_is_left_to_mdadm(level: str, journal: str, policy: str, bitmap: str) -> None:
    """Some versions make one of themselves from 100 GB on, others ask; RAID 0 takes no such option."""
    asked = plain(level, journal=journal, consistency_policy=policy, bitmap=bitmap)
    made = plan_create(asked, survey())
    if isinstance(made, Refusal):
        return
    [words] = [step.argv for step in made.steps if "--create" in step.argv]
    kinds = [word for word in words if word.startswith("--bitmap")]
    assert kinds in ([[]] if level == "raid0" else [["--bitmap=none"], ["--bitmap=internal"]])


def test_the_smallest_chunk() -> None:
    assert "--chunk=4" in argv(request(chunk_kib=4))
