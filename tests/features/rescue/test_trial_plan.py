"""Trials as values: every step has its undo, no step writes to a member, the command is the real one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import DIRTY, Assembly, Recreation, mdadm_words, starts_dirty
from raidtui.features.rescue.reshapes_halves_containers import find_container
from raidtui.features.rescue.search.results import RescueGeometry
from raidtui.features.rescue.trial.trial_members import choose_method, count_data_sectors, make_array_table
from raidtui.features.rescue.trial.trial_plan import TrialPlan, plan_trial
from raidtui.features.rescue.trial.trial_record import TrialHost, TrialMethod, TrialRequest
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Refusal, RunTool, Step
from raidtui.model.survey import ContainerVolume, PendingReshape, Superblock, Survey
from tests.plans.new_array import UUID, device, survey

GIB = 1 << 30
NAMES = ("sda", "sdb", "sdc")
HOST = TrialHost(loops=(7, 6, 64), array="md300", rooms=(("/var/tmp", 100 * GIB),))
FORCED = Assembly(devices=NAMES, uuid=UUID, force=True, run=True)
FIVE = RescueGeometry(
    level=5,
    order=("sdb", "missing", "sda"),
    layout="left-symmetric",
    chunk_bytes=64 << 10,
    data_offset_sectors=2048,
    size_sectors=200_000,
)
AGAIN = Recreation(geometry=FIVE, uuid=UUID, name="data", homehost="nas")
WRITERS = ("dd", "mkfs", "wipefs", "sfdisk", "tune2fs", "pvcreate")


def members(**more: Any) -> Survey:
    return survey(*(device(name, **more) for name in NAMES))


def request(method: TrialMethod, made: Assembly | Recreation = FORCED, **more: Any) -> TrialRequest:
    return TrialRequest(ident="abc", method=method, made=made, label="data", **more)


def planned(method: TrialMethod, made: Assembly | Recreation = FORCED, **more: Any) -> TrialPlan:
    found = plan_trial(members(), HOST, request(method, made, **more))
    assert isinstance(found, TrialPlan), found
    return found


def refused(found: TrialPlan | Refusal) -> str:
    assert isinstance(found, Refusal), found
    return found.sentence


def commands(steps: tuple[Step, ...]) -> list[str]:
    return [step.command for step in steps]


def test_the_overlays_whole() -> None:
    made = planned(TrialMethod.OVERLAYS)
    assert (made.record.start, made.record.target) == (len(made.plan.steps) - 1, "/dev/md300")
    assert (made.plan.harm, made.plan.devices, made.plan.arrays) == (Harm.HARMLESS, NAMES, ("md300",))
    stores = "/var/tmp/raidtui-rescue-abc"
    table = "0 209715200 snapshot /dev/sda /dev/loop7 P 8"
    assert commands(made.plan.steps) == [
        "modprobe --all dm-mod dm-snapshot loop",
        "mkdir -p /run/udev/rules.d",
        "write /run/udev/rules.d/01-raidtui-rescue-abc.rules",
        "udevadm control --reload",
        "udevadm trigger --action=change /sys/class/mem/null",
        "udevadm settle --timeout=60",
        "mkdir -m 700 /run/raidtui-rescue-abc",
        *(f"blockdev --setro /dev/{name}" for name in NAMES),
        f"mkdir -m 700 {stores}",
        f"truncate --size=268435456 {stores}/sda {stores}/sdb {stores}/sdc",
        f"losetup --sector-size 512 /dev/loop7 {stores}/sda",
        f"losetup --sector-size 512 /dev/loop6 {stores}/sdb",
        f"losetup --sector-size 512 /dev/loop64 {stores}/sdc",
        f"dmsetup create raidtui-rescue-abc-sda --table '{table}'",
        "dmsetup create raidtui-rescue-abc-sdb --table '0 209715200 snapshot /dev/sdb /dev/loop6 P 8'",
        "dmsetup create raidtui-rescue-abc-sdc --table '0 209715200 snapshot /dev/sdc /dev/loop64 P 8'",
        (
            f"mdadm --assemble /dev/md300 --config=/dev/null --uuid={UUID} --readonly --force --run"
            " /dev/mapper/raidtui-rescue-abc-sda /dev/mapper/raidtui-rescue-abc-sdb"
            " /dev/mapper/raidtui-rescue-abc-sdc"
        ),
    ]


def test_what_is_undone() -> None:
    """The last first; the members are writable again when nothing stands on them any more."""
    steps = planned(TrialMethod.OVERLAYS).plan.steps
    stores = "/var/tmp/raidtui-rescue-abc"
    assert [undo.command for step in reversed(steps) for undo in step.undo] == [
        "mdadm --stop /dev/md300",
        *(f"dmsetup remove --retry raidtui-rescue-abc-{name}" for name in reversed(NAMES)),
        *(f"losetup --detach /dev/loop{number}" for number in (64, 6, 7)),
        f"rm -f {stores}/sda {stores}/sdb {stores}/sdc",
        f"rmdir {stores}",
        *(f"blockdev --setrw /dev/{name}" for name in reversed(NAMES)),
        "rmdir /run/raidtui-rescue-abc",
        "rm -f /run/udev/rules.d/01-raidtui-rescue-abc.rules",
        "udevadm control --reload",
        "udevadm trigger --action=change /sys/class/mem/null",
    ]


def test_nothing_of_somebody_elses_is_stopped() -> None:
    """After a boot, md300 and loop7 may be other ones: then they are left alone."""
    steps = planned(TrialMethod.OVERLAYS).plan.steps
    overlays = "|".join(f"raidtui-rescue-abc-{name}" for name in NAMES)
    stop = steps[-1].undo[0]
    assert [(each.kind, each.subject, each.value) for each in stop.proves] == [
        (FactKind.STANDS_OFF, "md300", overlays)
    ]
    detach = next(step for step in steps if step.argv[:1] == ("losetup",)).undo[0]
    assert [(each.kind, each.subject, each.value) for each in (*detach.needs, *detach.proves)] == [
        (FactKind.BACKED, "loop7", "/var/tmp/raidtui-rescue-abc/sda"),
        (FactKind.UNBACKED, "loop7", "/var/tmp/raidtui-rescue-abc/sda"),
    ]


def test_each_member_is_the_one_that_was_looked_at() -> None:
    steps = planned(TrialMethod.OVERLAYS).plan.steps
    needs = {
        step.argv[-1]: {fact.kind for fact in step.needs} for step in steps if step.argv[1:2] == ("--setro",)
    }
    looked = {FactKind.SERIAL, FactKind.SIZE, FactKind.FREE, FactKind.UNTOUCHED, FactKind.CONTENTS}
    assert needs == {f"/dev/{name}": looked for name in NAMES}


def test_a_member_that_was_read_only_stays_so() -> None:
    found = plan_trial(members(read_only=True), HOST, request(TrialMethod.OVERLAYS))
    assert isinstance(found, TrialPlan)
    assert not [undo for step in found.plan.steps for undo in step.undo if "--setrw" in undo.argv]


@pytest.mark.parametrize("method", list(TrialMethod))
def test_no_step_writes_to_a_member(method: TrialMethod) -> None:
    made = planned(method, AGAIN if method is TrialMethod.MAPPED else FORCED)
    for step in made.plan.steps:
        for each in (step, *step.undo):
            assert each.argv[:1] not in [(tool,) for tool in WRITERS]
            if each.argv[:1] == ("mdadm",) and method is TrialMethod.OVERLAYS:
                assert not [word for word in each.argv if word.startswith("/dev/sd")]
            if each.argv[:1] == ("mdadm",) and "--stop" not in each.argv:
                assert "--readonly" in each.argv


def test_the_sector_size_is_that_of_the_member() -> None:
    found = plan_trial(members(sector_bytes=4096), HOST, request(TrialMethod.OVERLAYS))
    assert isinstance(found, TrialPlan)
    assert {step.argv[2] for step in found.plan.steps if step.argv[:1] == ("losetup",)} == {"4096"}


def test_superblocks_that_suffice_need_no_store() -> None:
    made = planned(TrialMethod.READ_ONLY, Assembly(devices=NAMES, uuid=UUID))
    assert made.record.overlays == {}
    assert made.plan.steps[-1].command == (
        f"mdadm --assemble /dev/md300 --config=/dev/null --uuid={UUID} --readonly /dev/sda /dev/sdb /dev/sdc"
    )


def test_a_geometry_by_the_device_mapper() -> None:
    made = planned(TrialMethod.MAPPED, AGAIN)
    assert (made.record.target, made.plan.arrays) == ("/dev/mapper/raidtui-rescue-abc-array", ())
    first, own = "/dev/mapper/raidtui-rescue-abc-", "raidtui-rescue-abc-"
    assert commands(made.plan.steps)[-3:] == [
        f"dmsetup create {own}sdb --readonly --table '0 199936 linear /dev/sdb 2048'",
        f"dmsetup create {own}sda --readonly --table '0 199936 linear /dev/sda 2048'",
        (
            f"dmsetup create {own}array --readonly --table"
            f" '0 399872 raid raid5_ls 2 128 nosync 3 - {first}sdb - - - {first}sda'"
        ),
    ]


def test_the_real_command_is_the_rehearsed_one() -> None:
    """Word for word, but for the paths of the devices."""
    for made in (FORCED, AGAIN):
        tried = planned(TrialMethod.OVERLAYS, made).plan.steps[-1].argv
        real = mdadm_words("/dev/md/data", made, lambda name: f"/dev/{name}")
        back = [word.replace("/dev/mapper/raidtui-rescue-abc-", "/dev/") for word in tried]
        assert ["/dev/md/data" if word == "/dev/md300" else word for word in back] == list(real)


def test_every_option_of_new_superblocks_is_said() -> None:
    assert mdadm_words("/dev/md/data", AGAIN, lambda name: f"/dev/{name}") == (
        *("mdadm", "--create", "/dev/md/data", "--run", "--readonly", "--assume-clean", "--homehost=nas"),
        *(f"--uuid={UUID}", "--metadata=1.2", "--name=data", "--level=5", "--raid-devices=3"),
        *("--layout=left-symmetric", "--chunk=64", "--data-offset=2048s", "--size=100000", "--bitmap=none"),
        *("/dev/sdb", "missing", "/dev/sda"),
    )


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"devices": ()}, "no device is given; name the members"),
        ({"devices": ("sda", "sda")}, "sda is named twice"),
        ({"devices": ("sdx",)}, "there is no device sdx"),
    ],
)
def test_refused(more: dict[str, Any], sentence: str) -> None:
    made = Assembly(**more)
    assert refused(plan_trial(members(), HOST, request(TrialMethod.OVERLAYS, made))) == sentence


def test_what_is_in_use_or_cannot_be_read_is_not_tried() -> None:
    mounted = survey(device("sda", Use(kind="mount", what="/srv", detail="ext4")))
    only = Assembly(devices=("sda",))
    assert refused(plan_trial(mounted, HOST, request(TrialMethod.READ_ONLY, only))) == (
        "sda is in use: ext4 mounted at /srv; release it first"
    )
    dead = survey(device("sda", digest=None))
    assert refused(plan_trial(dead, HOST, request(TrialMethod.READ_ONLY, only))) == (
        "sda cannot be read; copy it first: raidtui rescue copy sda FILE"
    )


def test_stores_need_room() -> None:
    small = TrialHost(loops=HOST.loops, array="md300", rooms=(("/tmp", 1 << 20),))
    assert refused(plan_trial(members(), small, request(TrialMethod.OVERLAYS))) == (
        "there is no room for the overlays' stores: they may take 48 MiB (3 x 16 MiB);"
        " free: 1 MiB in /tmp; name a folder with room: --store FOLDER"
    )
    large = request(TrialMethod.OVERLAYS, store_bytes=200 * GIB)
    assert "they may take 600 GiB (3 x 200 GiB); free:" in refused(plan_trial(members(), HOST, large))


MAPS = {"sda": "A", "sdb": "B", "sdc": "C", "sdd": "D"}


@pytest.mark.parametrize(
    ("level", "layout", "order", "table"),
    [
        (0, "", "sda sdb", "0 2000 striped 2 8 A 0 B 0"),
        (1, "", "missing sdb", "0 1000 linear B 0"),
        (4, "", "sda sdb sdc", "0 2000 raid raid5_n 2 8 nosync 3 - A - B - C"),
        (5, "right-asymmetric", "sdb sda sdc", "0 2000 raid raid5_ra 2 8 nosync 3 - B - A - C"),
        (5, "parity-last", "sdb - sdc", "0 2000 raid raid5_n 2 8 nosync 3 - B - - - C"),
        (10, "n2", "sda missing sdc sdd", "0 2000 striped 2 8 A 0 C 0"),
        (10, "n3", "sdb sda sdc", "0 1000 striped 1 8 B 0"),
    ],
)
def test_tables(level: int, layout: str, order: str, table: str) -> None:
    slots = tuple(order.replace(" - ", " missing ").split())
    geometry = RescueGeometry(level=level, order=slots, layout=layout, chunk_bytes=0 if level == 1 else 4096)
    assert make_array_table(geometry, 1000, MAPS) == table


@pytest.mark.parametrize(
    ("level", "layout", "order"),
    [
        (6, "left-symmetric", "sda sdb sdc sdd"),
        (5, "ddf-N-continue", "sda sdb sdc"),
        (0, "", "sda missing"),
        (5, "left-symmetric", "sda missing missing"),
        (10, "f2", "sda sdb"),
        (10, "n2", "sda sdb sdc"),
        (10, "n2", "sda sdb missing missing"),
    ],
)
def test_what_the_device_mapper_has_not(level: int, layout: str, order: str) -> None:
    geometry = RescueGeometry(level=level, order=tuple(order.split()), layout=layout, chunk_bytes=4096)
    assert isinstance(make_array_table(geometry, 1000, MAPS), Refusal)


def test_data_are_whole_chunks() -> None:
    assert count_data_sectors(FIVE, {"sda": 10_000, "sdb": 9_000}) == 6_912
    assert count_data_sectors(FIVE, {"sda": 1_000, "sdb": 9_000}) == 0


def test_of_a_disk_and_its_copy_one_is_named() -> None:
    block = Superblock(uuid=UUID, device_uuid="a", slot=0)
    host = survey(device("sda", superblock=block), device("sdb", superblock=block))
    made = Assembly(devices=("sda", "sdb"), uuid=UUID)
    assert refused(plan_trial(host, HOST, request(TrialMethod.READ_ONLY, made))) == (
        "sdb and sda have one superblock: one is a copy of the other; name one of the two"
    )


def of_container(kind: str, **more: Any) -> tuple[Survey, Assembly]:
    """Two disks of a container with two volumes of one name, and how they are started."""
    volumes = (ContainerVolume(name="vol"), ContainerVolume(name="vol"))
    block = Superblock(uuid=UUID, metadata=kind, volumes=volumes)
    host = survey(device("sda", superblock=block), device("sdb", superblock=block))
    made = find_container(("sda", "sdb"), [block], run=True)
    assert made is not None
    return host, replace(made, **more)


@pytest.mark.parametrize(("kind", "env"), [("imsm", "env IMSM_NO_PLATFORM=1 "), ("ddf", "")])
def test_a_container_is_assembled_and_its_volumes_are_started(kind: str, env: str) -> None:
    host, made = of_container(kind)
    found = plan_trial(host, HOST, request(TrialMethod.READ_ONLY, made))
    assert isinstance(found, TrialPlan)
    conf = "/run/raidtui-rescue-abc/mdadm.conf"
    written, assembled, started = found.plan.steps[-3:]
    assert commands((written, assembled, started)) == [
        f"write {conf}",
        f"{env}mdadm --assemble /dev/md300 --config=/dev/null --uuid={UUID} --readonly /dev/sda /dev/sdb",
        f"{env}mdadm --incremental --run --config={conf} /dev/md300",
    ]
    lines = [f"ARRAY /dev/md30{number + 1} container={UUID} member={number}\n" for number in (0, 1)]
    assert written.content == "".join(lines)
    assert commands(written.undo) == [f"rm -f {conf}"]
    assert commands(assembled.undo) == ["mdadm --stop /dev/md300"]
    assert commands(started.undo) == ["mdadm --stop /dev/md301", "mdadm --stop /dev/md302"]
    assert found.record.volumes == {"vol": "md301", "vol 1": "md302"}
    assert found.plan.arrays == ("md300", "md301", "md302")
    assert found.record.start == len(found.plan.steps) - 2
    (rules,) = (step.content for step in found.plan.steps if (step.path or "").endswith(".rules"))
    assert 'KERNEL=="md300|md300p[0-9]*|md301|md301p[0-9]*|md302|md302p[0-9]*"' in (rules or "")


def test_what_a_container_does_not_know_is_refused() -> None:
    host, made = of_container("ddf", force=True)
    said = refused(plan_trial(host, HOST, request(TrialMethod.OVERLAYS, made)))
    assert "sda is in a container of DDF metadata, which has no such method" in said
    host, made = of_container("imsm")
    said = refused(plan_trial(host, HOST, request(TrialMethod.OVERLAYS, made)))
    assert "Intel's metadata know their disks by serial numbers, which overlays do not have" in said
    host, made = of_container("ddf", uuid="")
    said = refused(plan_trial(host, HOST, request(TrialMethod.READ_ONLY, made)))
    assert "the container of sda has no UUID" in said
    assert find_container(NAMES, [Superblock(uuid=UUID)], run=False) is None


@pytest.mark.parametrize("features", [0x200, 0x400, 0x800])
def test_what_md_replays_is_never_tried_on_the_members_themselves(features: int) -> None:
    """Neither a read-only array nor a read-only device keeps md from it."""
    block = Superblock(uuid=UUID, features=features)
    host = survey(*(replace(device(name), superblock=block) for name in NAMES))
    made = Assembly(devices=NAMES, uuid=UUID)
    sentence = refused(plan_trial(host, HOST, request(TrialMethod.READ_ONLY, made)))
    assert "md replays the log of sda, sdb, sdc when it starts them, even read-only" in sentence
    assert isinstance(plan_trial(host, HOST, request(TrialMethod.OVERLAYS, made)), TrialPlan)
    assert choose_method(host, NAMES) is TrialMethod.OVERLAYS
    assert choose_method(members(), NAMES) is TrialMethod.READ_ONLY


def test_a_raid0_that_names_its_layout_has_no_log() -> None:
    """MD_FEATURE_RAID0_LAYOUT: since Linux 5.4, mdadm sets it."""
    host = survey(
        *(replace(device(name), superblock=Superblock(uuid=UUID, features=0x1000)) for name in NAMES)
    )
    assert choose_method(host, NAMES) is TrialMethod.READ_ONLY


def test_a_reshape_with_a_backup_file_gets_a_copy_of_it() -> None:
    made = Assembly(devices=NAMES, uuid=UUID, backup="/root/backup")
    found = plan_trial(members(), HOST, request(TrialMethod.OVERLAYS, made))
    assert isinstance(found, TrialPlan)
    *_, copied, start = found.plan.steps
    assert copied.command == "cp -- /root/backup /var/tmp/raidtui-rescue-abc/backup"
    assert "--backup-file=/var/tmp/raidtui-rescue-abc/backup" in start.command
    assert isinstance(start, RunTool)
    assert start.proof_decides
    new = replace(made, invalid_backup=True)
    found = plan_trial(members(), HOST, request(TrialMethod.OVERLAYS, new))
    assert isinstance(found, TrialPlan)
    assert found.plan.steps[-2].command == "truncate --size=0 /var/tmp/raidtui-rescue-abc/backup"


def test_a_dirty_array_in_the_middle_of_its_reshape() -> None:
    """The kernel starts it only when it is told to, and is told otherwise as soon as it has."""
    made = Assembly(devices=NAMES, uuid=UUID, dirty=True)
    found = planned(TrialMethod.OVERLAYS, made)
    *_, on, start, off = found.plan.steps
    assert [on.command, off.command] == [f"echo {text} > {DIRTY}" for text in (1, 0)]
    assert on.undo == (off,)
    assert found.plan.steps[found.record.start] == start
    assert start == planned(TrialMethod.OVERLAYS, replace(made, dirty=False)).plan.steps[-1]


def test_which_array_is_started_so() -> None:
    """The new member is not whole before the reshape ends (measured: 5 to 6, cut at 60 percent)."""
    reshape = PendingReshape(position_kib=32768, delta_disks=0)
    whole = Superblock(
        uuid=UUID, level="raid6", raid_disks=4, events=7, roles="AAAA", dirty=True, reshape=reshape
    )
    blocks = {name: replace(whole, slot=slot) for slot, name in enumerate(("sda", "sdb", "sdc", "sdd"))}
    assert not starts_dirty(blocks)
    blocks["sdd"] = replace(blocks["sdd"], recovery_sectors=20480)
    assert starts_dirty(blocks)
    assert not starts_dirty({name: replace(block, dirty=False) for name, block in blocks.items()})
    assert not starts_dirty({name: replace(block, reshape=None) for name, block in blocks.items()})
    assert not starts_dirty({})


def test_a_raid0_that_a_crash_left_as_a_raid4_is_started_so() -> None:
    """It is whole for mdadm, which does not mark it as clean (measured: RAID 0 of 2 to 3, cut at its end)."""
    whole = Superblock(uuid=UUID, level="raid4", raid_disks=4, events=7, roles="AAA.", dirty=True)
    blocks = {name: replace(whole, slot=slot) for slot, name in enumerate(("sda", "sdb", "sdc"))}
    assert starts_dirty(blocks)
    assert starts_dirty(blocks, forced=True)
    assert not starts_dirty({name: replace(block, dirty=False) for name, block in blocks.items()})
    assert not starts_dirty({name: block for name, block in blocks.items() if name != "sdb"})
