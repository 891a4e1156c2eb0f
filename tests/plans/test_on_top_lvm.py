"""LVM on a new array: whole stripes, further physical volumes, LVM's own stripes, and every refusal."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.answer import known
from raidtui.model.disk import Disk
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_request import Below, Geometry, OnTop
from raidtui.plans.create.file_system import on_top_notes, on_top_steps, refuse_on_top
from raidtui.plans.create.lvm import on_volume, refuse_other, volume_bytes, whole_stripe_kib
from tests.hosts.specs import ArraySpec
from tests.hosts.trees import raid0, raid1, raid5, raid10
from tests.plans.new_array import FOUR, GPT, MOUNT, device, fact, plan, refused, request, survey

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


def member(path: str) -> Fact:
    return fact(FactKind.FILE_SYSTEM, path, "LVM2_member")


def pvremove(path: str) -> Step:
    return RunTool(
        argv=("pvremove", "--yes", path),
        why="release it",
        needs=(member(path), fact(FactKind.GROUP, path)),
        proves=(fact(FactKind.FILE_SYSTEM, path),),
    )


def test_on_the_array_alone() -> None:
    array = "/dev/md/127"
    assert steps(OnTop(group="vg127")) == (
        RunTool(
            argv=("pvcreate", "--yes", "--dataalignment", "64k", array),
            why="makes the array a physical volume; data begins at a full stripe",
            proves=(member(array), fact(FactKind.EXTENTS, array, "65536")),
            undo=(pvremove(array),),
        ),
        RunTool(
            argv=("vgcreate", "--physicalextentsize", "4096k", "vg127", array),
            why="a volume group of this array alone",
            needs=(fact(FactKind.GROUP, array),),
            proves=(fact(FactKind.GROUP, array, "vg127"),),
            undo=(
                RunTool(
                    argv=("vgremove", "vg127"),
                    why="remove the group",
                    needs=(fact(FactKind.GROUP, array, "vg127"),),
                    proves=(fact(FactKind.GROUP, array),),
                ),
            ),
        ),
        RunTool(
            argv=("lvcreate", "--yes", "--extents", "100%FREE", "--name", "data", "vg127"),
            why="one volume of the whole group; md stripes below, so LVM does not",
            needs=(fact(FactKind.GROUP, array, "vg127"),),
            proves=(fact(FactKind.VOLUME, "vg127/data", "linear"), fact(FactKind.NODE, "/dev/vg127/data")),
            undo=(
                RunTool(
                    argv=("lvremove", "--yes", "vg127/data"),
                    why="remove the volume",
                    needs=(fact(FactKind.GROUP, array, "vg127"),),
                    proves=(fact(FactKind.VOLUME, "vg127/data"),),
                ),
            ),
        ),
    )


def test_a_mirror_has_no_stripes_to_begin_at() -> None:
    pvcreate, *_ = steps(OnTop(group="vg127"), array=below(Geometry(stride=0, width=0), level="raid1"))
    assert (pvcreate.argv, pvcreate.why, pvcreate.proves) == (
        ("pvcreate", "--yes", "/dev/md/127"),
        "makes the array a physical volume",
        (member("/dev/md/127"),),
    )


def test_striped_over_another_array() -> None:
    array, other = "/dev/md/127", "/dev/md126"
    first, second, group, volume = steps(TWO)
    assert first.argv == ("pvcreate", "--yes", "--dataalignment", "64k", array)
    assert second == RunTool(
        argv=("pvcreate", "--yes", "--dataalignment", "128k", other),
        why="makes md126 a physical volume; data begins at a full stripe",
        needs=(
            fact(FactKind.ARRAY, "md126", SCRATCH.array_uuid),
            fact(FactKind.SIZE, "md126", str(100 * GIB)),
            fact(FactKind.FREE, "md126"),
            fact(FactKind.UNTOUCHED, "md126", "digest of md126"),
            fact(FactKind.CONTENTS, "md126"),
            fact(FactKind.SUPERBLOCK, "md126"),
            fact(FactKind.CLEAN, "md126"),
        ),
        proves=(member(other), fact(FactKind.EXTENTS, other, "131072")),
        undo=(pvremove(other),),
    )
    assert group.argv == ("vgcreate", "--physicalextentsize", "4096k", "vg127", array, other)
    assert group.why == "a volume group of 2 physical volumes"
    assert group.needs == (fact(FactKind.GROUP, array), fact(FactKind.GROUP, other))
    assert group.proves == group.undo[0].needs
    assert group.proves == (fact(FactKind.GROUP, array, "vg127"), fact(FactKind.GROUP, other, "vg127"))
    assert group.undo[0].proves == group.needs
    assert volume.argv == (
        *("lvcreate", "--yes", "--extents", "100%FREE", "--stripes", "2", "--stripesize", "64k"),
        *("--name", "data", "vg127"),
    )
    assert volume.why == "one volume of the whole group, striped over 2 physical volumes"
    assert volume.proves[0] == fact(FactKind.VOLUME, "vg127/data", "2x64")


def test_a_disk_joins_as_it_is() -> None:
    """What is no array has no stripes; its serial number is looked at again."""
    found = host(device("sde", optimal_bytes=64 * KIB), arrays=())
    _, second, *_ = steps(OnTop(group="vg127", others=("sde",)), found)
    assert second.argv == ("pvcreate", "--yes", "/dev/sde")
    assert second.needs == (
        fact(FactKind.SERIAL, "sde", "S-sde"),
        fact(FactKind.SIZE, "sde", str(100 * GIB)),
        fact(FactKind.FREE, "sde"),
        fact(FactKind.UNTOUCHED, "sde", "digest of sde"),
        fact(FactKind.CONTENTS, "sde"),
        fact(FactKind.SUPERBLOCK, "sde"),
        fact(FactKind.CLEAN, "sde"),
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


def test_the_file_system_goes_on_the_volume() -> None:
    made = plan(request(on_top=OnTop(file_system="ext4", group="vg127", uuid=FS)), host())
    mkfs = next(step for step in made.steps if step.argv[:1] == ("mkfs.ext4",))
    assert mkfs.argv == (
        *("mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "stride=8,stripe_width=16", "-U", FS),
        "/dev/vg127/data",
    )
    assert mkfs.proves == (
        fact(FactKind.FILE_SYSTEM, "/dev/vg127/data", "ext4"),
        fact(FactKind.GEOMETRY, "/dev/vg127/data", "stride=8,stripe_width=16"),
    )


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


def test_notes() -> None:
    small = below(size_bytes=301 * MIB)
    found = host(md126(101 * MIB), issue_discards=False)
    weakest = (
        "A group is available only while all of its physical volumes are: the least reliable one decides."
    )
    discards = (
        "lvm.conf's issue_discards is {}: it matters only when a volume is removed or shrunk;"
        " fstrim passes through LVM either way."
    )
    assert on_top_notes(TWO, found, small) == (
        "200 MiB of the group stays free: each stripe needs room on 2 physical volumes at once.",
        weakest,
        discards.format("off"),
    )
    assert on_top_notes(OnTop(group="vg", others=("md126",)), host(issue_discards=True), small) == (
        "Without stripes, LVM fills one physical volume after the other: a single one takes the load.",
        weakest,
        discards.format("on"),
    )
    assert on_top_notes(TWO, host(), below()) == (weakest,)
    assert on_top_notes(OnTop(group="vg"), host(), small) == ()


WORDS = "use letters, digits, . _ + or -"
LONG = "v" * 60


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (OnTop(group="vg 1"), f"'vg 1' is not a valid name for a volume group; {WORDS}"),
        (OnTop(group="-vg"), f"'-vg' is not a valid name for a volume group; {WORDS}"),
        (OnTop(group="."), f"'.' is not a valid name for a volume group; {WORDS}"),
        (OnTop(group="vg", volume="a/b"), f"'a/b' is not a valid name for a volume; {WORDS}"),
        (OnTop(group="vg", volume=""), f"'' is not a valid name for a volume; {WORDS}"),
        (
            OnTop(group="vg", volume="snapshot1"),
            "LVM reserves names like snapshot1; choose another name",
        ),
        (
            OnTop(group="vg", volume="a_rimage_0"),
            "LVM reserves names like a_rimage_0; choose another name",
        ),
        (
            OnTop(group=LONG, volume=LONG),
            f"{LONG} and {LONG} together are too long for the kernel; choose shorter names",
        ),
        (
            OnTop(group="-".join("v" * 30), volume="-".join("v" * 12)),
            (
                f"{'-'.join('v' * 30)} and {'-'.join('v' * 12)} together are too long for the kernel;"
                " choose shorter names"
            ),
        ),
        (OnTop(group="old"), "volume group old already exists; choose another name"),
        (OnTop(group="mapper"), "/dev/mapper already exists; choose another name"),
        (
            OnTop(others=("md126",)),
            "md126 cannot join a volume group: there is none; name the group",
        ),
        (
            OnTop(stripes=2),
            "LVM stripes over the physical volumes of a group, and there is none; name the group",
        ),
        (OnTop(group="vg", stripes=-1), "-1 is not a valid number of stripes; 0 means none"),
        (
            OnTop(group="vg", stripes=2),
            (
                "2 stripes need as many physical volumes, and there is 1;"
                " name further devices, or choose fewer stripes"
            ),
        ),
        (
            OnTop(group="vg", others=("md126",), stripes=3),
            (
                "3 stripes need as many physical volumes, and there are 2;"
                " name further devices, or choose fewer stripes"
            ),
        ),
        (
            OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=48),
            (
                "a stripe of 48 KiB is not possible: LVM requires a power of two of at least 4 KiB;"
                " choose 64, for example"
            ),
        ),
        (
            OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=2),
            (
                "a stripe of 2 KiB is not possible: LVM requires a power of two of at least 4 KiB;"
                " choose 64, for example"
            ),
        ),
        (
            OnTop(group="vg", others=("md126",), stripes=2, stripe_kib=8192),
            "a stripe of 8192 KiB is larger than an extent of 4 MiB; choose 4096 at most",
        ),
        (OnTop(group="vg", others=("md125",)), "there is no device md125"),
        (OnTop(group="vg", others=("md126", "md126")), "md126 is named twice; name each device once"),
        (
            OnTop(group="vg", others=("sda2",)),
            "sda2 is a disk of the new array, or lies on one; choose another device",
        ),
    ],
)
def test_refused(wanted: OnTop, sentence: str) -> None:
    found = host(groups=known(("root", "old")), nodes=("mapper", "md"))
    refusal = refuse_on_top(wanted, found, below())
    assert refusal is not None
    assert refusal.sentence == sentence
    assert refused(request(on_top=wanted), found) == sentence


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


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (device("sde", MOUNT), "sde is in use: ext4 mounted at /srv; choose a free device"),
        (
            device("sde", GPT),
            ("sde is not empty: the GPT partition table; if it is no longer needed: wipefs --all /dev/sde"),
        ),
        (device("sde", read_only=True), "sde is read-only; choose a writable device"),
        (
            device("sde", sector_bytes=4096),
            (
                "sde has sectors of 4096 bytes and the new array of 512: a volume group needs one size;"
                " choose another device"
            ),
        ),
        (device("sda"), "sda is a disk of the new array, or lies on one; choose another device"),
        (device("sda5"), "sda5 is a disk of the new array, or lies on one; choose another device"),
        (device("sdx"), "sdx is a member of scratch; choose a free device"),
    ],
)
def test_a_device_that_cannot_join(other: Device, sentence: str) -> None:
    name = other.disk.name
    found = host(other)
    refusal = refuse_other(name, found, below())
    assert refusal is not None
    assert refusal.sentence == sentence
    assert refused(request(on_top=OnTop(group="vg", others=(name,))), found) == sentence


def test_a_device_that_can_join() -> None:
    assert refuse_other("md126", host(), below()) is None
    assert refuse_other("md126", host()) is None


def test_too_little_for_an_extent() -> None:
    refusal = refuse_on_top(OnTop(group="vg"), host(), below(size_bytes=5 * MIB - 1))
    assert refusal is not None
    assert (
        refusal.sentence
        == "5.0 MiB is too small for LVM, whose extents are 4 MiB; choose larger devices, or no LVM"
    )
    assert refuse_on_top(OnTop(group="vg"), host(), below(size_bytes=5 * MIB)) is None
