"""Fewer devices, or less of each: what stands on the array first, room after the data, refusals whole."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.shrink_plan import plan_shrink, plan_shrink_size
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import ArraySpec, raid0, raid1, raid5, raid6, raid10
from tests.plans.running import fact, first, planned, refused
from tests.plans.test_grow import grown

FOUR = raid5(chunk_kib=64, members=("sdg", "sdh", "sdi", "sdj"))
KIB = 1024


def holding(array: ArraySpec, *uses: Use, **more: Any) -> Survey:
    """A host with something on an array."""
    survey = grown(array, **more)
    disk = survey.snapshot.disks[array.name]
    return replace(survey, above={array.name: replace(disk, uses=uses)})


def component(survey: Survey) -> int:
    return first(survey).component_kib or 0


def test_fewer_devices() -> None:
    """Mdadm needs no backup file where the kernel knows the direction, and there is room after the data."""
    survey = grown(FOUR, tail=256)
    name, path = FOUR.name, f"/dev/{FOUR.name}"
    size = component(survey) * 2
    cut, back, grow, wait, most = planned(plan_shrink(survey, first(survey), 3)).steps
    assert cut.argv == ("mdadm", "--grow", path, f"--array-size={size}")
    assert cut.proves == (fact(FactKind.SIZE, name, str(size * KIB)),)
    assert cut.undo[0].argv[-1] == "--array-size=max"
    assert (back.path.rpartition("/")[2], back.text, back.undo[0].text) == (
        "reshape_direction",
        "backwards",
        "forwards",
    )
    assert (grow.argv[3:], grow.final) == (("--raid-devices=3",), True)
    assert (wait.waits, most.argv[-1]) == (True, "--array-size=max")


def test_room_after_the_data_is_made() -> None:
    """A little less of each member: 256 sectors for 4 to 3 devices with chunks of 64 KiB."""
    survey = grown(FOUR, tail=255)
    kib = (component(survey) - 1) // 64 * 64
    size, cut, *_ = planned(plan_shrink(survey, first(survey), 3)).steps
    assert size.argv[-1] == f"--size={kib}"
    assert size.proves == (fact(FactKind.SIZE, FOUR.name, str(kib * 3 * KIB)),)
    assert size.undo[0].argv[-1] == f"--size={component(survey)}"
    assert cut.argv[-1] == f"--array-size={kib * 2}"


def test_raid10_makes_room_by_itself() -> None:
    """As measured: 5 to 4 devices of 64512 KiB with chunks of 64 KiB are 128896 KiB."""
    array = raid10(chunk_kib=64, members=("sda", "sdb", "sdc", "sdd", "sde"))
    survey = grown(array)
    five = replace(first(survey), component_kib=64512)
    cut, grow, wait, most = planned(plan_shrink(survey, five, 4)).steps
    assert cut.argv[-1] == "--array-size=128896"
    assert (grow.argv[3:], wait.waits, most.argv[-1]) == (("--raid-devices=4",), True, "--array-size=max")


@pytest.mark.parametrize(
    ("uses", "commands"),
    [
        ((), []),
        (
            (Use(kind="signature", what="ext4"),),
            ["e2fsck -f -p {path}", "resize2fs {path} {kib}K"],
        ),
        (
            (Use(kind="signature", what="LVM2_member"), Use(kind="holder", what="dm-0", detail="vg-lv")),
            ["pvresize --yes --setphysicalvolumesize {kib}k {path}"],
        ),
        (
            (Use(kind="signature", what="btrfs"), Use(kind="mount", what="/srv", detail="btrfs")),
            ["btrfs filesystem resize {kib}K /srv"],
        ),
    ],
)
def test_what_stands_on_it_is_made_smaller_first(uses: tuple[Use, ...], commands: list[str]) -> None:
    survey = holding(FOUR, *uses, tail=256)
    steps = planned(plan_shrink(survey, first(survey), 3)).steps
    place = next(place for place, step in enumerate(steps) if "--array-size" in step.command)
    words = {"path": f"/dev/{FOUR.name}", "kib": component(survey) * 2}
    assert [step.command for step in steps[:place]] == [each.format(**words) for each in commands]


XFS = "an XFS file system is on media, and XFS never becomes smaller; copy its contents elsewhere"
BY_HAND = "make it smaller by hand, or copy it elsewhere and clear it"


@pytest.mark.parametrize(
    ("uses", "sentence"),
    [
        ((Use(kind="mount", what="/srv", detail="xfs"),), XFS),
        ((Use(kind="signature", what="xfs"),), XFS),
        (
            (Use(kind="signature", what="ext4"), Use(kind="mount", what="/srv", detail="ext4")),
            "the file system at /srv becomes smaller only while it is not mounted; umount /srv",
        ),
        (
            (Use(kind="signature", what="crypto_LUKS"),),
            f"raidtui cannot make smaller what media holds: crypto_LUKS; {BY_HAND}",
        ),
        (
            (Use(kind="partition", what="md125p1"),),
            f"raidtui cannot make smaller what media holds: partitions; {BY_HAND}",
        ),
    ],
)
def test_what_cannot_be_made_smaller(uses: tuple[Use, ...], sentence: str) -> None:
    survey = holding(FOUR, *uses, tail=256)
    array = first(survey)
    for found in (plan_shrink(survey, array, 3), plan_shrink_size(survey, array, component(survey) - 64)):
        assert refused(found) == sentence


@pytest.mark.parametrize(
    ("array", "slots", "sentence"),
    [
        (FOUR, 4, "a raid5 of 4 devices cannot have 4; choose 3"),
        (FOUR, 2, "a raid5 of 4 devices cannot have 2; choose 3"),
        (raid6(), 3, "a raid6 of 4 devices cannot have 3; it has no more than it needs"),
        (raid1(), 1, "a raid1 of 2 devices cannot have 1; it has no more than it needs"),
        (raid0(), 1, "raidtui cannot take slots from a raid0; make a new array and copy"),
        (raid10(layout="f2"), 3, "a raid10 with far copies cannot be reshaped"),
        (replace(FOUR, spares=("sdy",)), 3, "media has spares (sdy); remove the spares first"),
        (replace(FOUR, failed=("sdi",)), 3, "media is degraded; replace the missing member first"),
    ],
)
def test_refused(array: ArraySpec, slots: int, sentence: str) -> None:
    survey = grown(array, tail=256)
    assert refused(plan_shrink(survey, first(survey), slots)) == sentence


def test_fewer_mirrors() -> None:
    """The last ones leave, one after the other, as long as those that stay serve; then the slots."""
    array = raid1(members=("sde", "sdf", "sdg", "sdh"))
    survey = grown(array)
    path = f"/dev/{array.name}"
    found = planned(plan_shrink(survey, first(survey), 2))
    assert [step.command for step in found.steps] == [
        f"mdadm --manage {path} --fail /dev/sdg",
        f"mdadm --manage {path} --remove /dev/sdg",
        "mdadm --zero-superblock /dev/sdg",
        f"mdadm --manage {path} --fail /dev/sdh",
        f"mdadm --manage {path} --remove /dev/sdh",
        "mdadm --zero-superblock /dev/sdh",
        f"mdadm --grow {path} --raid-devices=2",
    ]
    for name in ("sde", "sdf"):
        stays = fact(FactKind.MEMBER, f"{array.name}/{name}", "in_sync")
        assert all(stays in step.needs for step in found.steps if "--fail" in step.command)
    assert [step.undo[0].command for step in found.steps if step.undo] == [
        f"mdadm --manage {path} --add /dev/sdg",
        f"mdadm --manage {path} --add /dev/sdh",
        f"mdadm --grow {path} --raid-devices=4",
    ]
    assert found.warning == "sdg and sdh leave root at once."
    assert found.notes[0] == "It can lose 1 member then, now 3; its capacity stays."


def test_room_that_is_not_known() -> None:
    survey = grown(FOUR, room=None)
    assert refused(plan_shrink(survey, first(survey), 3)) == "how much room sdg has is not known"


def test_less_of_each() -> None:
    survey = grown(FOUR)
    kib = component(survey) - 64
    cut, size = planned(plan_shrink_size(survey, first(survey), kib)).steps
    assert (cut.argv[-1], size.argv[-1]) == (f"--array-size={kib * 3}", f"--size={kib}")


@pytest.mark.parametrize("kib", [-64, 1, 0])
def test_less_of_each_refused(kib: int) -> None:
    survey = grown(FOUR)
    wanted = component(survey) if not kib else kib if kib < 0 else component(survey) - kib
    found = plan_shrink_size(survey, first(survey), wanted)
    assert isinstance(found, Refusal)
    assert (found.code, found.remedy) == ("invalid", "give a smaller multiple of 64 KiB")
