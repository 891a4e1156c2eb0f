"""Stop and assemble: the plans whole, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, RunTool, Step
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.plans.assemble import plan_assemble
from raidtui.plans.stop import plan_read_only, plan_read_write, plan_stop
from tests.hosts.specs import ArraySpec, container, growing_raid0, inactive, raid0, raid1, raid5, raid10
from tests.plans.new_array import MOUNT, device
from tests.plans.running import OTHER, fact, first, former, host, planned, refused

UUID = raid10().array_uuid
NAMES = ("sda", "sdb", "sdc", "sdd")


def stopped(survey: Survey) -> Step:
    return planned(plan_stop(survey, first(survey))).steps[0]


def test_stop() -> None:
    back = RunTool(
        argv=("mdadm", "--assemble", "/dev/md/data", f"--uuid={UUID}", "/dev/sda", "/dev/sdc", "/dev/sdd"),
        why="start it again",
        proves=(fact(FactKind.RUNNING, UUID),),
    )
    survey = host(raid10(failed=("sdb",)))
    assert plan_stop(survey, first(survey)) == Plan(
        title="stop: data",
        subject="data",
        steps=(
            RunTool(
                argv=("mdadm", "--stop", "/dev/md127"),
                why="releases its members",
                needs=(fact(FactKind.ARRAY, "md127", UUID), fact(FactKind.UNUSED, "md127")),
                proves=(fact(FactKind.GONE, UUID),),
                undo=(back,),
            ),
        ),
        undo=(back,),
        harm=Harm.REDUCES,
        warning="Its data is unavailable until it is assembled again. Nothing on it is changed.",
        devices=("sda", "sdc", "sdd", "sdb"),
        arrays=("md127",),
    )


def test_stop_of_what_cannot_be_started_again_by_its_uuid() -> None:
    assert stopped(host(inactive(raid10()))).undo == ()
    survey = host(raid0())
    bare = planned(plan_stop(survey, replace(first(survey), uuid=None))).steps[0]
    assert (bare.needs, bare.proves, bare.undo) == (
        (fact(FactKind.UNUSED, "md123"),),
        (fact(FactKind.GONE, "md123"),),
        (),
    )


def test_stop_of_half_a_mirror() -> None:
    """The other half has the same UUID, and continues."""
    half = stopped(host(raid1("md126", members=("sda", None)), raid1("md125", members=(None, "sdb"))))
    assert half.proves == (fact(FactKind.GONE, "md126"),)
    assert half.undo[0].argv[-1] == "/dev/sda"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"writable": False}, "needs root; run it as: sudo raidtui"),
        (
            {"mounts": {"md127": "/srv"}},
            "data is in use: ext4 mounted at /srv; unmount or release it first",
        ),
        ({"swaps": ("md127",)}, "data is in use: swap in use; unmount or release it first"),
        ({"holders": {"md127": ("md9",)}}, "data is in use: held by md9; unmount or release it first"),
    ],
)
def test_stop_refused(more: dict[str, Any], sentence: str) -> None:
    survey = host(raid10(), **more)
    assert refused(plan_stop(survey, first(survey))) == sentence


def test_stop_of_an_array_with_a_partition_in_use() -> None:
    survey = host(raid10())
    snapshot = survey.snapshot
    whole = replace(snapshot.disks["md127"], uses=(Use(kind="partition", what="md127p1"),))
    part = replace(whole, name="md127p1", disk="md127", uses=(MOUNT,))
    seen = replace(survey, snapshot=replace(snapshot, disks={"md127": whole, "md127p1": part}))
    sentence = "data is in use: md127p1: ext4 mounted at /srv; unmount or release it first"
    assert refused(plan_stop(seen, first(seen))) == sentence
    seen = replace(survey, snapshot=replace(snapshot, disks={"md127": whole}))
    assert planned(plan_stop(seen, first(seen))).steps[0].needs[-1] == fact(FactKind.UNUSED, "md127")


def test_stop_names_all_that_is_stacked_on_it() -> None:
    """From the bottom to the top: that is the order in which it is taken down, from the end."""
    survey = host(raid10())
    held = (
        Use(kind="holder", what="dm-0", detail="vg-data"),
        Use(kind="holder", what="dm-1", detail="vg-swap"),
    )
    md = replace(survey.snapshot.disks["md127"], uses=held)
    data = replace(md, name="dm-0", disk="dm-0", uses=(Use(kind="holder", what="dm-2", detail="safe"),))
    swap = replace(md, name="dm-1", disk="dm-1", uses=(Use(kind="swap", what="dm-1"),))
    safe = replace(md, name="dm-2", disk="dm-2", uses=(MOUNT,))
    above = {disk.name: disk for disk in (md, data, swap, safe)}
    assert refused(plan_stop(replace(survey, above=above), first(survey))) == (
        "data is in use: held by dm-0 (vg-data), held by dm-1 (vg-swap), dm-0: held by dm-2 (safe),"
        " dm-2: ext4 mounted at /srv, dm-1: swap in use; unmount or release it first"
    )


def switch(option: str, why: str, states: str) -> Step:
    return RunTool(
        argv=("mdadm", option, "/dev/md127"),
        why=why,
        needs=(fact(FactKind.ARRAY, "md127", UUID),),
        proves=(fact(FactKind.STATE, "md127", states),),
        patient=option == "--readonly",
    )


def test_read_only_and_back() -> None:
    survey = host(raid10())
    found = planned(plan_read_only(survey, first(survey)))
    found = replace(found, steps=(replace(found.steps[0], undo=()),))
    assert planned(plan_read_only(survey, first(survey))).steps[0].undo == found.undo
    assert found == Plan(
        title="read-only: data",
        subject="data",
        steps=(switch("--readonly", "nothing is written to it, not even by md", "readonly"),),
        undo=(switch("--readwrite", "as it was", "clean|active|write-pending|active-idle"),),
        harm=Harm.REDUCES,
        warning="While it is read-only, no failed member is rebuilt.",
        arrays=("md127",),
    )
    survey = host(raid10(read_only="auto-read-only"))
    why = "allows writes; a pending resync starts"
    found = planned(plan_read_write(survey, first(survey)))
    assert found.steps[0].undo == found.undo
    assert replace(found, steps=(replace(found.steps[0], undo=()),)) == Plan(
        title="read-write: data",
        subject="data",
        steps=(switch("--readwrite", why, "clean|active|write-pending|active-idle"),),
        undo=(switch("--readonly", "as it was", "readonly"),),
        arrays=("md127",),
    )


@pytest.mark.parametrize(
    ("plan", "array", "more", "sentence"),
    [
        (plan_read_only, raid10(read_only="read-only"), {}, "data is already read-only"),
        (plan_read_write, raid10(), {}, "data is already read-write"),
        (
            plan_read_write,
            raid5(shift=0, reshape_position="0", read_only="auto-read-only"),
            {},
            (
                "media is at the beginning of a reshape in place, and no mdadm saves what moves: what"
                " was moved already is in its backup file alone, and a write now loses it; stop it, then"
                " let it go on with its backup file: raidtui rescue (a in the console)"
            ),
        ),
        (plan_read_only, inactive(raid10()), {}, "md127 is inactive; assemble it first"),
        (plan_read_write, raid10(), {"writable": False}, "needs root; run it as: sudo raidtui"),
        (
            plan_read_only,
            raid10(),
            {"mounts": {"md127": "/srv"}},
            "data is in use: ext4 mounted at /srv; unmount or release it first",
        ),
    ],
)
def test_read_only_refused(plan: Any, array: ArraySpec, more: dict[str, Any], sentence: str) -> None:
    survey = host(array, **more)
    assert refused(plan(survey, first(survey))) == sentence


def test_stop_of_an_array_whose_disk_is_not_known() -> None:
    survey = host(raid10())
    unread = replace(survey, snapshot=replace(survey.snapshot, disks={}))
    assert planned(plan_stop(unread, first(unread))).title == "stop: data"


def test_stop_of_a_container_with_volumes() -> None:
    volume = raid1("md126", "vol", members=("sda", "sdb"), metadata="external:/md127/0")
    survey = host(container(), volume)
    assert refused(plan_stop(survey, first(survey))) == "md127 holds vol; stop that first"


def members(*events: int | None, **more: Any) -> tuple[Device, ...]:
    """Members of the stopped array data, with these event counts."""
    return tuple(
        device(name, superblock=former(UUID, "nas:data", raid_disks=4, events=count), **more)
        for name, count in zip(NAMES, events, strict=False)
    )


def assemble(found: tuple[Device, ...], names: tuple[str, ...] = NAMES, **more: Any) -> Plan:
    return planned(plan_assemble(host(devices=found), names, **more))


def test_assemble() -> None:
    step = RunTool(
        argv=(
            *("mdadm", "--assemble", "/dev/md/data", f"--uuid={UUID}"),
            *("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"),
        ),
        why="start it by its superblocks",
        needs=(fact(FactKind.GONE, UUID), *(fact(FactKind.SUPERBLOCK, name, UUID) for name in NAMES)),
        proves=(fact(FactKind.RUNNING, UUID),),
        undo=(
            RunTool(
                argv=("mdadm", "--stop", "/dev/md/data"),
                why="stop it again",
                proves=(fact(FactKind.GONE, UUID),),
            ),
        ),
    )
    assert assemble(members(17, 17, None, 16)) == Plan(
        title="assemble: data",
        subject="data",
        steps=(step,),
        undo=step.undo,
        harm=Harm.HARMLESS,
        devices=NAMES,
    )


def test_assemble_degraded() -> None:
    found = assemble(members(17, 17, 17, 17), NAMES[:3], run=True, read_only=True)
    assert found.harm is Harm.REDUCES
    assert found.steps[0].argv == (
        *("mdadm", "--assemble", "/dev/md/data", f"--uuid={UUID}", "--run", "--readonly"),
        *("/dev/sda", "/dev/sdb", "/dev/sdc"),
    )
    assert assemble(members(17, 17, 17, 17), run=True).harm is Harm.HARMLESS


def test_assemble_under_the_newest_name() -> None:
    """A member that was away when the array was renamed has its old name."""
    old, *others = members(16, 17, 17, 17)
    away = replace(old, superblock=former(UUID, "nas:older", raid_disks=3, events=16))
    found = assemble((away, *others))
    assert (found.title, found.steps[0].argv[2]) == ("assemble: data", "/dev/md/data")


@pytest.mark.parametrize(("name", "path"), [(None, UUID[:8]), ("nas:a b", UUID[:8]), ("007", "007")])
def test_assemble_by_what_can_be_a_name(name: str | None, path: str) -> None:
    found = device("sda", superblock=former(UUID, name))
    assert assemble((found,), ("sda",)).steps[0].argv[2] == f"/dev/md/{path}"


MEMBER = former(UUID, "nas:data")


@pytest.mark.parametrize(
    ("names", "found", "sentence"),
    [
        ((), (), "no device is given; name the members"),
        (("sda", "sda"), members(1), "sda is named twice; name each member once"),
        (("sda",), (), "there is no device sda"),
        (("sda",), (device("sda"),), "sda has no md superblock"),
        (("sda",), (device("sda", superblock=former(None, None)),), "sda has no md superblock"),
        (("sda",), (device("sda", MOUNT, superblock=MEMBER),), "sda is in use: ext4 mounted at /srv"),
        (("sda",), (device("sda", superblock=MEMBER, busy="something uses it"),), "sda: something uses it"),
        (
            ("sda", "sdb"),
            (device("sda", superblock=MEMBER), device("sdb", superblock=former(OTHER))),
            "these are members of several arrays: sda of data, sdb of old; name the members of one array",
        ),
        (
            ("sda", "sdb"),
            members(17, 17),
            (
                "data has 4 members, and only 2 of those given are up to date; name all of them, or start it"
                " degraded with --run"
            ),
        ),
    ],
)
def test_assemble_refused(names: tuple[str, ...], found: tuple[Device, ...], sentence: str) -> None:
    assert refused(plan_assemble(host(devices=found), names)) == sentence


@pytest.mark.parametrize(
    ("array", "name", "sentence"),
    [
        (raid10(), "sda", "sda is a member of data, which is already running"),
        (
            inactive(raid10()),
            "sda",
            (
                "sda is a member of md127, which is inactive; name all of its members (sda sdb sdc sdd), or"
                " stop it first"
            ),
        ),
        (raid10(), "sdz", "data is already assembled as md127"),
    ],
)
def test_assemble_of_what_is_there(array: ArraySpec, name: str, sentence: str) -> None:
    survey = host(array, devices=(device(name, superblock=MEMBER),))
    assert refused(plan_assemble(survey, (name,))) == sentence


def test_assemble_needs_root() -> None:
    survey = host(devices=members(1), writable=False)
    assert refused(plan_assemble(survey, ("sda",))) == "needs root; run it as: sudo raidtui"
    capture: Snapshot = survey.snapshot
    seen = replace(survey, snapshot=replace(capture, host=replace(capture.host, source="bug.tar.gz")))
    assert refused(plan_assemble(seen, ("sda",))) == "bug.tar.gz is a capture: nothing in it can be changed"


def test_assemble_without_a_newer_member() -> None:
    """The stale half of a mirror would be taken for the newer one from then on."""
    survey = host(devices=members(17, 17, 17, 25))
    assert refused(plan_assemble(survey, NAMES[:3], run=True)) == (
        "sdd is newer, at event 25, and not named: the others are at 17, and what was written since"
        " then would be lost; name sdd too"
    )
    assert isinstance(plan_assemble(host(devices=members(17, 17, 17, 18)), NAMES[:3], run=True), Plan)


@pytest.mark.parametrize("make", [plan_stop, plan_read_only])
def test_a_raid0_that_gets_devices_is_not_interrupted(make: Any) -> None:
    survey = host(growing_raid0())
    assert refused(make(survey, first(survey))) == (
        "scratch is a RAID 0 that gets more devices: mdadm takes a pause for the end, and fails the new"
        " members; lower its speed limit, or wait until it has ended"
    )
