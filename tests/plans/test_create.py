"""Create: the whole plan, whole commands, and what is said to be lost."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, PutFile, Refusal, RunTool, Step
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.create import create_plan as create
from raidtui.plans.create.create_request import CreateRequest, canonical_level
from tests.plans.new_array import (
    FOUR,
    GPT,
    UUID,
    argv,
    device,
    fact,
    plain,
    plan,
    request,
    same,
    survey,
)

OLD = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
HEAD = ("--run", "--homehost=nas", "--name=127", f"--uuid={UUID}", "--metadata=1.2")
CONF = PutFile(path="/etc/mdadm/mdadm.conf", content="ARRAY\n", why="the array's name at boot")


@pytest.fixture(autouse=True)
def conf(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What mdadm.conf's steps are asked for."""
    asked: list[dict[str, str]] = []

    def steps(_: Survey, **what: str) -> tuple[Step, ...]:
        asked.append(what)
        return (CONF,)

    monkeypatch.setattr(create, "conf_steps", steps)
    return asked


def test_the_whole_plan(conf: list[dict[str, str]]) -> None:
    expected = RunTool(
        argv=(
            *("mdadm", "--create", "/dev/md/127", *HEAD),
            *("--level=raid10", "--raid-devices=4", "--chunk=32", "--layout=n2", "--bitmap=none"),
            *("/dev/sda2", "/dev/sdb2", "/dev/sdc2", "/dev/sdd2"),
        ),
        why="every option is given: mdadm's defaults change",
        needs=(*(each for name in FOUR for each in same(name)), fact(FactKind.GONE, "md127")),
        proves=(
            fact(FactKind.RUNNING, UUID),
            fact(FactKind.NAME, UUID, "127"),
            *(fact(FactKind.SUPERBLOCK, name, UUID) for name in FOUR),
            fact(FactKind.ARRAY, "md127", UUID),
            fact(FactKind.LEVEL, "md127", "raid10"),
            *(fact(FactKind.MEMBER, f"md127/{name}", "present") for name in FOUR),
        ),
        undo=(
            RunTool(
                argv=("mdadm", "--stop", "/dev/md/127"),
                why="releases its members",
                needs=(fact(FactKind.ARRAY, "md127", UUID), fact(FactKind.UNUSED, "md127")),
                proves=(fact(FactKind.GONE, UUID),),
            ),
            *(
                RunTool(
                    argv=("mdadm", "--zero-superblock", f"/dev/{name}"),
                    why=f"{name} is no longer a member",
                    needs=(*same(name, untouched=False), fact(FactKind.SUPERBLOCK, name, UUID)),
                    proves=(fact(FactKind.SUPERBLOCK, name),),
                    destroys=True,
                )
                for name in FOUR
            ),
        ),
        destroys=True,
    )
    assert plan(request()) == Plan(
        title="create: 127, raid10 of 4 devices",
        subject="127",
        steps=(expected, CONF),
        harm=Harm.DESTROYS,
        notes=(
            "200 GiB on 4 devices.",
            (
                "If one fails: safe · two: safe, unless 0 and 1, or 2 and 3"
                " (0 and 1: sda2 sdb2; 2 and 3: sdc2 sdd2)."
            ),
            "RAID 10 near 2: the 2 copies of a chunk lie side by side on neighbouring devices.",
            "The first sync reads everything and writes only where copies differ.",
            "No bitmap: writes are faster, but after a crash the whole array is resynced.",
            "The commands take seconds, the first sync at least 17 min at the limit of 205 MB/s.",
        ),
        confirm="127",
        devices=FOUR,
    )
    assert conf == [{"uuid": UUID, "link": "/dev/md/127", "metadata": "1.2"}]


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (
            plain("raid10", layout="f2"),
            "--level=raid10 --raid-devices=4 --chunk=512 --layout=f2 --bitmap=none sda2 sdb2 sdc2 sdd2",
        ),
        (
            plain("10", layout="o2", bitmap="internal", failfast=True),
            (
                "--level=raid10 --raid-devices=4 --chunk=512 --layout=o2 --bitmap=internal --failfast"
                " sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (
            plain("raid10", "sda2", "missing", "sdb2", "missing", consistency_policy="bitmap"),
            (
                "--level=raid10 --raid-devices=4 --chunk=512 --layout=n2 --bitmap=internal"
                " sda2 missing sdb2 missing"
            ),
        ),
        (plain("1", "sda2", "sdb2"), "--level=raid1 --raid-devices=2 --bitmap=none sda2 sdb2"),
        (
            plain("raid1", "sda2", "sdb2", "sdc2", write_mostly=("sda2",), size_kib=1024, assume_clean=True),
            (
                "--level=raid1 --raid-devices=3 --bitmap=none --size=1024 --assume-clean"
                " sdb2 sdc2 --write-mostly sda2"
            ),
        ),
        (
            plain("raid5"),
            (
                "--level=raid5 --raid-devices=4 --chunk=512 --layout=left-symmetric --bitmap=internal"
                " sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (
            plain("raid5", "sda2", "sdb2", "sdc2", spares=("sdd2",), consistency_policy="ppl", layout="ra"),
            (
                "--level=raid5 --raid-devices=3 --chunk=512 --layout=right-asymmetric --bitmap=none"
                " --consistency-policy=ppl --spare-devices=1 sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (
            plain("4", "sda2", "sdb2", "missing", chunk_kib=64),
            "--level=raid4 --raid-devices=3 --chunk=64 --bitmap=internal sda2 sdb2 missing",
        ),
        (
            plain("raid6", layout="ls"),
            (
                "--level=raid6 --raid-devices=4 --chunk=512 --layout=left-symmetric --bitmap=internal"
                " sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (
            plain("raid5", journal="sde", chunk_kib=64),
            (
                "--level=raid5 --raid-devices=4 --chunk=64 --layout=left-symmetric --bitmap=none"
                " --write-journal=/dev/sde sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (
            plain("raid6", journal="sde", consistency_policy="journal"),
            (
                "--level=raid6 --raid-devices=4 --chunk=512 --layout=left-symmetric --bitmap=none"
                " --write-journal=/dev/sde sda2 sdb2 sdc2 sdd2"
            ),
        ),
        (plain("raid0", chunk_kib=12), "--level=raid0 --raid-devices=4 --chunk=12 sda2 sdb2 sdc2 sdd2"),
        (plain("0", bitmap="none"), "--level=raid0 --raid-devices=4 --chunk=512 sda2 sdb2 sdc2 sdd2"),
    ],
)
def test_commands(asked: CreateRequest, options: str) -> None:
    words = [
        word if word.startswith("--") or word == "missing" else f"/dev/{word}" for word in options.split()
    ]
    assert argv(asked) == ("mdadm", "--create", "/dev/md/127", *HEAD, *words)


def test_an_array_with_a_word_for_a_name(conf: list[dict[str, str]]) -> None:
    found = plan(request(name="data", metadata="1.0"), survey(homehost=""))
    step = found.steps[0]
    head = ("mdadm", "--create", "/dev/md/data", "--run", "--name=data", f"--uuid={UUID}", "--metadata=1.0")
    assert step.argv[: len(head)] == head
    assert step.proves == (
        fact(FactKind.RUNNING, UUID),
        fact(FactKind.NAME, UUID, "data"),
        *(fact(FactKind.SUPERBLOCK, name, UUID) for name in FOUR),
    )
    assert FactKind.GONE not in {each.kind for each in step.needs}
    assert step.undo[0] == RunTool(
        argv=("mdadm", "--stop", "/dev/md/data"),
        why="releases its members",
        needs=(fact(FactKind.NAME, UUID, "data"),),
        proves=(fact(FactKind.GONE, UUID),),
    )
    assert conf == [{"uuid": UUID, "link": "/dev/md/data", "metadata": "1.0"}]


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


def test_a_device_with_a_file_system_is_wiped() -> None:
    used = device("sdb2", Use(kind="signature", what="ext4", detail="root"))
    found = plan(plain("raid1", "sda2", "sdb2"), survey(device("sda2"), used))
    assert found.loss_sentences == ('sdb2: the ext4 file system "root"',)
    assert found.warning == "What is on the devices is lost, and undo does not restore it."
    assert found.steps[0] == RunTool(
        argv=("wipefs", "--all", "/dev/sdb2"),
        why="clears all signatures of sdb2, so that none reappears",
        needs=same("sdb2", holds="ext4"),
        proves=(fact(FactKind.CLEAN, "sdb2"),),
        destroys=True,
    )
    assert found.steps[1].needs == (
        *same("sda2"),
        *same("sdb2", untouched=False),
        fact(FactKind.GONE, "md127"),
    )


def test_a_member_of_an_array_that_does_not_run() -> None:
    block = Superblock(uuid=OLD, name="nas:old", level="raid5", raid_disks=3, updated_s=1_795_209_900.0)
    signature = Use(kind="signature", what="linux_raid_member", detail="nas:old")
    old = [device(name, signature, superblock=block) for name in ("sda2", "sdb2")]
    found = plan(plain("raid1", "sda2", "sdb2", destroys=("old",)), survey(*old))
    words = f'a member of the array "old" (raid5, 3 members, {OLD}), last changed 2026-11-20 21:25 UTC'
    assert found.loss_sentences == (f"sda2: {words}", f"sdb2: {words}")
    assert (
        'The array "old" is not running; to keep it, assemble it instead:'
        " raidtui plan assemble /dev/sda2 /dev/sdb2 (and its other members)."
    ) in found.notes
    zero, wipe = found.steps[:2]
    assert zero == RunTool(
        argv=("mdadm", "--zero-superblock", "/dev/sda2"),
        why="sda2 no longer belongs to old",
        needs=(*same("sda2", holds="linux_raid_member"), fact(FactKind.SUPERBLOCK, "sda2", OLD)),
        proves=(fact(FactKind.SUPERBLOCK, "sda2"),),
        destroys=True,
    )
    assert wipe == RunTool(
        argv=("wipefs", "--all", "/dev/sda2"),
        why="clears all signatures of sda2, so that none reappears",
        needs=(*same("sda2", untouched=False), fact(FactKind.SUPERBLOCK, "sda2")),
        proves=(fact(FactKind.CLEAN, "sda2"),),
        destroys=True,
    )
    empty = ((*same(name, untouched=False), fact(FactKind.SUPERBLOCK, name)) for name in ("sda2", "sdb2"))
    assert found.steps[4].needs == (
        *(each for facts in empty for each in facts),
        fact(FactKind.GONE, "md127"),
    )


@pytest.mark.parametrize(
    ("found", "loss"),
    [
        (device("sdb2"), ""),
        (device("sdb2", Use(kind="signature", what="swap")), "sdb2: swap space"),
        (device("sdb2", superblock=Superblock(uuid=None)), 'sdb2: a member of the array "unknown" (no UUID)'),
        (
            device("sdb", GPT, Use(kind="partition", what="sdb1"), Use(kind="partition", what="sdb3")),
            (
                "sdb: the GPT partition table, the partition sdb1 with the xfs file system,"
                f' the partition sdb3 with a member of the array "old" ({OLD})'
            ),
        ),
    ],
)
def test_losses(found: Device, loss: str) -> None:
    xfs = device("sdb1", Use(kind="signature", what="xfs"))
    part = device("sdb3", superblock=Superblock(uuid=OLD, name="old"))
    asked = plain("raid1", "sda2", found.disk.name, destroys=("old", "unknown"))
    made = plan(asked, survey(device("sda2"), found, xfs, part))
    assert made.loss_sentences == ((loss,) if loss else ())
    assert any(step.argv[:1] == ("wipefs",) for step in made.steps) == bool(loss)


@pytest.mark.parametrize("metadata", ["1.0", "1.1", "1.2"])
def test_metadata(metadata: str) -> None:
    assert f"--metadata={metadata}" in argv(request(metadata=metadata))


def test_what_is_not_known_is_not_asked_for() -> None:
    bare = [
        replace(each, digest=None, disk=replace(each.disk, serial=None))
        for each in (device("sda2"), device("sdb2"))
    ]
    step = plan(plain("raid1", "sda2", "sdb2"), survey(*bare)).steps[0]
    assert {each.kind for each in step.needs} == {
        FactKind.SIZE,
        FactKind.FREE,
        FactKind.CONTENTS,
        FactKind.GONE,
    }


def test_a_journal() -> None:
    """It takes no data, so it may be smaller; it is a device like the others in all else."""
    small = device("sde", size_bytes=1 << 30)
    found = plan(plain("raid5", journal="sde"), survey(*map(device, FOUR), small))
    assert found.devices == (*FOUR, "sde")
    assert fact(FactKind.SUPERBLOCK, "sde", UUID) in found.steps[0].proves
    assert fact(FactKind.SIZE, "sde", str(1 << 30)) in found.steps[0].needs
    assert found.steps[0].undo[-1].argv == ("mdadm", "--zero-superblock", "/dev/sde")
    assert found.notes[0] == "300 GiB on 4 devices."
    assert (
        "The journal closes the write hole: after a crash, incomplete writes are completed from it."
        " Without its device the array is read-only. Use an SSD with power-loss"
        " protection."
    ) in found.notes


@pytest.mark.parametrize("level", ["raid0", "raid1", "raid4", "raid5", "raid6", "raid10"])
@pytest.mark.parametrize("journal", ["", "sde"])
@pytest.mark.parametrize("policy", ["", "resync", "bitmap", "ppl", "journal"])
@pytest.mark.parametrize("bitmap", ["", "none", "internal"])
def test_no_bitmap_is_left_to_mdadm(level: str, journal: str, policy: str, bitmap: str) -> None:
    """Some versions make one of themselves from 100 GB on, others ask; RAID 0 takes no such option."""
    asked = plain(level, journal=journal, consistency_policy=policy, bitmap=bitmap)
    made = create.plan_create(asked, survey())
    if isinstance(made, Refusal):
        return
    [words] = [step.argv for step in made.steps if "--create" in step.argv]
    kinds = [word for word in words if word.startswith("--bitmap")]
    assert kinds in ([[]] if level == "raid0" else [["--bitmap=none"], ["--bitmap=internal"]])


def test_the_smallest_chunk() -> None:
    assert "--chunk=4" in argv(request(chunk_kib=4))
