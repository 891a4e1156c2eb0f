"""LVM on a new array: whole stripes, further physical volumes, LVM's own stripes, and every refusal."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.answer import known
from raidtui.model.disk import Disk
from raidtui.model.plan import Refusal, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import Below, Geometry, OnTop
from raidtui.plans.create.file_system import on_top_notes, on_top_steps, refuse_on_top
from raidtui.plans.create.lvm import on_volume, refuse_other, volume_bytes, whole_stripe_kib
from tests.hosts.specs import ArraySpec
from tests.hosts.trees import raid0, raid1, raid5, raid10
from tests.plans.goldens import accepted
from tests.plans.new_array import FOUR, GPT, MOUNT, device, plan, request, survey

FS = "11111111-2222-3333-4444-555555555555"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SHAPE = Geometry(stride=8, width=2)
SCRATCH = raid0("md126", "scratch", members=("sdx", "sdy"), chunk_kib=64)
TWO = OnTop(group="vg127", others=("md126",), stripes=2)


def below(shape: Geometry = SHAPE, *, size_bytes: int = 100 * GIB, **more: Any) -> Below:
    given: dict[str, Any] = {"level": "raid10", "members": FOUR, **more}
    return Below(path="/dev/md/127", shape=shape, size_bytes=size_bytes, **given)


def md126(size_bytes: int = 100 * GIB) -> Device:
    """Another array, empty."""
    return Device(
        disk=Disk(name="md126", disk="md126", size_bytes=size_bytes),
        digest="digest of md126",
        probed=known(()),
    )


def host(*more: Device, arrays: tuple[ArraySpec, ...] = (SCRATCH,), **given: Any) -> Survey:
    return survey(*(device(name) for name in FOUR), *(more or (md126(),)), arrays=arrays, **given)


def steps(wanted: OnTop, found: Survey | None = None, array: Below | None = None) -> tuple[Step, ...]:
    return on_top_steps(wanted, found or host(), array or below())


def notes(wanted: OnTop, *more: Device, array: Below | None = None, **given: Any) -> tuple[str, ...]:
    return on_top_notes(wanted, host(*more, **given), array or below(size_bytes=301 * MIB))


test_steps = accepted(
    {
        "on the array alone": lambda: steps(OnTop(group="vg127")),
        "on a mirror, which has no stripes": lambda: steps(
            OnTop(group="vg127"), array=below(Geometry(stride=0, width=0), level="raid1")
        )[:1],
        "striped over another array": lambda: steps(TWO),
        # What is no array has no stripes; its serial number is looked at again.
        "with a disk as it is": lambda: steps(
            OnTop(group="vg127", others=("sde",)), host(device("sde", optimal_bytes=64 * KIB), arrays=())
        )[1:2],
        "a file system on the volume": lambda: plan(
            request(on_top=OnTop(file_system="ext4", group="vg127", uuid=FS)), host()
        ).steps[4:5],
        "notes: striped, some of the group stays free": lambda: notes(
            TWO, md126(101 * MIB), issue_discards=False
        ),
        "notes: without stripes": lambda: notes(OnTop(group="vg", others=("md126",)), issue_discards=True),
        "notes: striped": lambda: notes(TWO, array=below()),
        "notes: of the array alone": lambda: notes(OnTop(group="vg")),
    }
)


@pytest.mark.parametrize(
    ("array", "kib"),
    [
        (raid0("md126", chunk_kib=64), 128),
        (raid10("md126"), 64),
        (raid10("md126", layout="f2"), 128),
        (raid5("md126"), 1024),
        (raid1("md126"), 0),
        (raid1("md120"), 0),
    ],
)
def test_the_whole_stripe_of_another_array(array: ArraySpec, kib: int) -> None:
    assert whole_stripe_kib("md126", host(arrays=(array,))) == kib


def test_undone_last_first_it_takes_away_what_was_made_alone() -> None:
    """Nothing is forced: a group that somebody else uses by then stays."""
    undone = [step.argv for each in reversed(steps(TWO)) for step in each.undo]
    assert undone == [
        ("lvremove", "--yes", "vg127/data"),
        ("vgremove", "vg127"),
        ("pvremove", "--yes", "/dev/md126"),
        ("pvremove", "--yes", "/dev/md/127"),
    ]


@pytest.mark.parametrize(
    ("shape", "stripes", "stripe_kib", "expected"),
    [
        (SHAPE, 0, 64, SHAPE),
        (SHAPE, 1, 64, SHAPE),
        (SHAPE, 2, 64, Geometry(stride=8, width=4)),  # a stripe of LVM is a stripe of the array
        (SHAPE, 2, 4096, Geometry(stride=8, width=256)),  # 64 of them
        (SHAPE, 3, 16, Geometry(stride=8, width=6)),  # four of LVM's make one
        (Geometry(stride=128, width=3), 2, 64, Geometry(stride=128, width=6)),
        (Geometry(stride=8, width=3), 2, 64, Geometry(stride=8, width=12)),  # every 192 KiB both begin anew
        (Geometry(stride=0, width=0), 2, 64, Geometry(stride=16, width=2)),
    ],
)
def test_the_geometry_of_a_striped_volume(
    shape: Geometry, stripes: int, stripe_kib: int, expected: Geometry
) -> None:
    wanted = OnTop(group="vg", others=("md126", "sde"), stripes=stripes, stripe_kib=stripe_kib)
    assert on_volume(wanted, shape) == expected


@pytest.mark.parametrize(
    ("wanted", "size_bytes", "other_bytes", "mib"),
    [
        (OnTop(group="vg"), 301 * MIB, 0, 300),
        (OnTop(group="vg"), 300 * MIB, 0, 296),
        (OnTop(group="vg", others=("md126",)), 301 * MIB, 101 * MIB, 400),
        (OnTop(group="vg", others=("md126",), stripes=1), 301 * MIB, 101 * MIB, 400),
        (OnTop(group="vg", others=("md126",), stripes=2), 301 * MIB, 101 * MIB, 200),
        (OnTop(group="vg", others=("md126",), stripes=2), 0, 101 * MIB, 0),
    ],
)
def test_the_size_of_a_volume(wanted: OnTop, size_bytes: int, other_bytes: int, mib: int) -> None:
    found = host(md126(other_bytes))
    assert volume_bytes(wanted, found, below(size_bytes=size_bytes)) == mib * MIB


def test_stripes_over_some_of_the_group() -> None:
    """As lvcreate did with 99, 49 and 24 extents: 73 in each of two stripes."""
    found = host(md126(99 * 4 * MIB + MIB), device("sde", size_bytes=25 * 4 * MIB))
    wanted = OnTop(group="vg", others=("md126", "sde"), stripes=2)
    assert volume_bytes(wanted, found, below(size_bytes=50 * 4 * MIB)) == 146 * 4 * MIB


def test_where_data_begin_takes_room() -> None:
    """Stripes of 1536 KiB: the first whole one begins there."""
    array = below(Geometry(stride=128, width=3), size_bytes=301 * MIB)
    assert volume_bytes(OnTop(group="vg"), host(), array) == 296 * MIB


@pytest.mark.parametrize(
    "wanted",
    [
        OnTop(group="vg.1", volume="a.b"),
        OnTop(group="_vg+", volume="a-b"),
        OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=4),
        OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=4096),
        OnTop(group="vg", others=("md126",), stripes=1, stripe_kib=48),
        OnTop(group="v" * 60, volume="v" * 59),
    ],
)
def test_not_refused(wanted: OnTop) -> None:
    assert refuse_on_top(wanted, host(groups=known(("vg.",))), below()) is None


def test_a_device_that_can_join() -> None:
    assert refuse_other("md126", host(), below()) is None
    assert refuse_other("md126", host()) is None


SAID = host(groups=known(("root", "old")), nodes=("mapper", "md"))
LONG = "v" * 60


def refused(wanted: OnTop, found: Survey = SAID) -> Refusal | None:
    """The same whether it is asked of what is on top, or of the whole plan."""
    refusal = refuse_on_top(wanted, found, below())
    assert refusal == plan_create(request(on_top=wanted), found)
    return refusal


def joined(other: Device) -> Refusal | None:
    found, name = host(other), other.disk.name
    refusal = refuse_other(name, found, below())
    assert refusal == refused(OnTop(group="vg", others=(name,)), found)
    return refusal


test_refused = accepted(
    {
        "group: with a blank": OnTop(group="vg 1"),
        "group: begins with -": OnTop(group="-vg"),
        "group: a dot": OnTop(group="."),
        "group: there": OnTop(group="old"),
        "group: a folder of /dev": OnTop(group="mapper"),
        "group: none, for another device": OnTop(others=("md126",)),
        "group: none, for stripes": OnTop(stripes=2),
        "volume: with a slash": OnTop(group="vg", volume="a/b"),
        "volume: empty": OnTop(group="vg", volume=""),
        "volume: reserved": OnTop(group="vg", volume="snapshot1"),
        "volume: reserved, within": OnTop(group="vg", volume="a_rimage_0"),
        "volume: too long": OnTop(group=LONG, volume=LONG),
        "volume: too long, as each - is doubled": OnTop(group="-".join("v" * 30), volume="-".join("v" * 12)),
        "stripes: negative": OnTop(group="vg", stripes=-1),
        "stripes: two of one": OnTop(group="vg", stripes=2),
        "stripes: three of two": OnTop(group="vg", others=("md126",), stripes=3),
        "stripes: of 48 KiB": OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=48),
        "stripes: of 2 KiB": OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=2),
        "stripes: larger than an extent": OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=8192),
        "device: not there": OnTop(group="vg", others=("md125",)),
        "device: named twice": OnTop(group="vg", others=("md126", "md126")),
        "device: of the new array": OnTop(group="vg", others=("sda2",)),
    },
    refused,
)
test_a_device_that_cannot_join = accepted(
    {
        "device: mounted": device("sde", MOUNT),
        "device: not empty": device("sde", GPT),
        "device: read-only": device("sde", read_only=True),
        "device: larger sectors": device("sde", sector_bytes=4096),
        "device: the disk of a new member": device("sda"),
        "device: beside a new member": device("sda5"),
        "device: a member of another array": device("sdx"),
    },
    joined,
)
test_too_little = accepted(
    {
        "size: too little for an extent": lambda: refuse_on_top(
            OnTop(group="vg"), host(), below(size_bytes=5 * MIB - 1)
        )
    }
)


def test_enough_for_an_extent() -> None:
    assert refuse_on_top(OnTop(group="vg"), host(), below(size_bytes=5 * MIB)) is None
