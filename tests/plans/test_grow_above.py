"""What stands on an array that becomes larger: from the bottom to the top, and only what is in use."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_above import Above, geometry_above, larger_above
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow
from raidtui.features.reshape.plan.grow_shape import GrowShape
from raidtui.features.reshape.plan.grow_stages import refuse_reshape
from raidtui.model.answer import known
from raidtui.model.disk import Disk, Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import raid5
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, planned, refused
from tests.plans.test_grow import grown

RAID5 = raid5()
PATH = f"/dev/{RAID5.name}"
PV = Use(kind="signature", what="LVM2_member")
LUKS = Use(kind="signature", what="crypto_LUKS")
VOLUMES = (
    Use(kind="holder", what="dm-0", detail="vg--x-home\n"),
    Use(kind="holder", what="dm-1", detail="vg--x-root\n"),
)


STRIDE = "stride=16,stripe_width=48"


def mounted(kind: str, where: str = "/srv") -> Use:
    return Use(kind="mount", what=where, detail=kind)


def signed(kind: str) -> Use:
    return Use(kind="signature", what=kind)


def standing(*uses: Use, **others: tuple[Use, ...]) -> Survey:
    """A host with something on an array, and on what stands on it: dm_0 is dm-0."""
    survey = grown(RAID5)
    disk = survey.snapshot.disks[RAID5.name]
    names = {name.replace("_", "-"): found for name, found in others.items()}
    more = {name: Disk(name=name, disk=name, uses=found) for name, found in names.items()}
    return replace(survey, above={RAID5.name: replace(disk, uses=uses), **more})


def above(survey: Survey, *volumes: str) -> Above:
    found = larger_above(survey, first(survey), volumes)
    assert isinstance(found, Above), found
    return found


@pytest.mark.parametrize(
    ("survey", "commands", "note"),
    [
        (standing(), [], ""),
        (standing(signed("ext4"), mounted("ext4")), [f"resize2fs {PATH}"], ""),
        (standing(signed("xfs"), mounted("xfs")), ["xfs_growfs /srv"], ""),
        (standing(signed("btrfs"), mounted("btrfs")), ["btrfs filesystem resize max /srv"], ""),
        (
            standing(signed("ext4")),
            [],
            f"What is on {PATH} (ext4) is not in use, and stays as large as it is.",
        ),
        (standing(mounted("f2fs")), [], "The f2fs file system at /srv stays as large as it is."),
        (
            standing(signed("gpt"), Use(kind="partition", what="md125p1")),
            [],
            f"{PATH} has partitions: they stay as large as they are.",
        ),
        (
            standing(LUKS),
            [],
            "The encrypted device is closed: opened again, it has the new size.",
        ),
        (
            standing(
                LUKS,
                Use(kind="holder", what="dm-0", detail="safe\n"),
                dm_0=(signed("ext4"), mounted("ext4", "/home")),
            ),
            ["cryptsetup resize safe", "resize2fs /dev/mapper/safe"],
            "If cryptsetup asks for a passphrase, run it by hand: cryptsetup resize safe",
        ),
        (
            standing(LUKS, Use(kind="holder", what="dm-0", detail="safe\n"), dm_0=(PV, *VOLUMES)),
            ["cryptsetup resize safe", "pvresize /dev/mapper/safe"],
            "If cryptsetup asks for a passphrase, run it by hand: cryptsetup resize safe",
        ),
        (
            standing(PV, *VOLUMES, dm_0=(signed("ext4"), mounted("ext4", "/home"))),
            [f"pvresize {PATH}"],
            "The new room is free in LVM's volume group; --extend=GROUP/VOLUME gives it to a volume.",
        ),
    ],
)
def test_what_takes_the_new_room(survey: Survey, commands: list[str], note: str) -> None:
    found = above(survey)
    assert [step.command for step in found.steps] == commands
    assert found.notes[:1] == ((note,) if note else ())


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_file_system_is_made_larger_where_it_is_mounted(kind: str) -> None:
    """A job that is resumed after a boot may find it unmounted: resize2fs would ask for e2fsck -f first."""
    [step] = above(standing(signed(kind), mounted(kind))).steps
    assert step.needs == (fact(FactKind.MOUNTED, "/srv"),)


def test_a_volume_that_is_named() -> None:
    """The device mapper doubles what is a "-" in the names of group and volume."""
    survey = standing(PV, *VOLUMES, dm_0=(signed("xfs"), mounted("xfs", "/home")))
    assert [step.command for step in above(survey, "vg-x/home").steps] == [
        f"pvresize {PATH}",
        "lvextend --extents +100%FREE vg-x/home",
        "xfs_growfs /home",
    ]
    found = larger_above(survey, first(survey), ("vg-x/none",))
    assert isinstance(found, Refusal)
    assert found.why == "no active volume vg-x/none stands on media"


def test_a_tool_that_is_missing() -> None:
    survey = replace(standing(signed("xfs"), mounted("xfs")), missing=("xfs_growfs",))
    found = larger_above(survey, first(survey))
    assert isinstance(found, Refusal)
    assert found.sentence == "xfs_growfs is not installed; apt install xfsprogs"


OLD = GrowShape(level="raid5", layout=2, chunk_bytes=1 << 16, disks=3)
NEW_SHAPE = replace(OLD, disks=4)


@pytest.mark.parametrize(
    ("uses", "path"),
    [
        ((signed("ext4"), mounted("ext4")), PATH),
        ((signed("ext4"),), PATH),
        ((LUKS, Use(kind="holder", what="dm-0", detail="safe\n")), "/dev/mapper/safe"),
    ],
)
def test_ext_takes_the_new_geometry(uses: tuple[Use, ...], path: str) -> None:
    """Mounted or not; what proves it is in its superblock, and it can be undone."""
    survey = standing(*uses, dm_0=(signed("ext4"), mounted("ext4", "/home")))
    [step] = geometry_above(survey, first(survey), OLD, NEW_SHAPE).steps
    assert step.argv == ("tune2fs", "-E", STRIDE, path)
    assert step.proves == (fact(FactKind.GEOMETRY, path, STRIDE),)
    assert step.undo[0].argv == ("tune2fs", "-E", "stride=16,stripe_width=32", path)


def test_the_geometry_comes_after_the_size() -> None:
    new = device("sdz", size_bytes=BIG)
    survey = grown(raid5(chunk_kib=64), new, mounts={RAID5.name: "/srv"})
    steps = planned(plan_grow(survey, first(survey), ("sdz",))).steps
    assert [step.argv[0] for step in steps[-2:]] == ["resize2fs", "tune2fs"]
    left = planned(plan_grow(survey, first(survey), ("sdz",), options=GrowOptions(above=False)))
    assert not any(step.argv[:1] == ("tune2fs",) for step in left.steps)


def test_a_mirror_has_no_geometry_to_go_back_to() -> None:
    survey = standing(signed("ext4"))
    mirror = GrowShape(level="raid1", layout=0, chunk_bytes=0, disks=2)
    [step] = geometry_above(survey, first(survey), mirror, NEW_SHAPE).steps
    assert step.undo[0].argv[2] == "stride=0,stripe_width=0"
    assert geometry_above(survey, first(survey), NEW_SHAPE, mirror) == Above()
    assert geometry_above(survey, first(survey), OLD, OLD) == Above()


NOT_KNOWN = f"The file system keeps the old geometry; with blocks of 4 KiB the new one is {STRIDE}."


@pytest.mark.parametrize(
    ("kind", "size_bytes", "missing", "notes"),
    [
        ("ext4", 1 << 28, (), (NOT_KNOWN,)),
        ("ext4", 1 << 40, ("tune2fs",), (NOT_KNOWN,)),
        (
            "xfs",
            1 << 40,
            (),
            (
                (
                    "XFS keeps the geometry it was made with. Where xfs_info PATH shows sunit and swidth that"
                    " are not 0, it can be mounted with sunit=128,swidth=384; else such a mount fails."
                ),
            ),
        ),
        ("btrfs", 1 << 40, (), ()),
    ],
)
def test_the_geometry_is_said(
    kind: str, size_bytes: int, missing: tuple[str, ...], notes: tuple[str, ...]
) -> None:
    survey = replace(standing(signed(kind), mounted(kind)), missing=missing)
    array = replace(first(survey), size_bytes=size_bytes)
    expected = tuple(note.replace("PATH", array.path) for note in notes)
    assert geometry_above(survey, array, OLD, NEW_SHAPE) == Above(notes=expected)


def test_no_mount_gives_xfs_another_sunit() -> None:
    """An allocation group need not be a multiple of it: that mount fails."""
    survey = standing(signed("xfs"), mounted("xfs"))
    wider = replace(OLD, chunk_bytes=1 << 19)
    [note] = geometry_above(survey, first(survey), OLD, wider).notes
    assert note == "XFS keeps the geometry it was made with: it was made for another chunk."


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"kernel": "3.4.113"},
            "kernels before 3.5 cannot move the data of a member elsewhere",
        ),
        ({"mdadm": known((3, 2))}, "mdadm before 3.3 cannot move the data of a member"),
    ],
)
def test_versions_that_cannot(changed: dict[str, Any], sentence: str) -> None:
    survey = grown(RAID5)
    if "kernel" in changed:
        host = replace(survey.snapshot.host, **changed)
        survey = replace(survey, snapshot=replace(survey.snapshot, host=host))
    else:
        survey = replace(survey, **changed)
    found = refuse_reshape(survey, first(survey))
    assert found is not None
    assert refused(found) == sentence
