"""File systems with the array's geometry, their place in fstab, and what a plan shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.plan import Plan, Refusal, Step
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import Below, Geometry, OnTop
from raidtui.plans.create.file_system import geometry, on_top_notes, on_top_steps, refuse_on_top
from raidtui.plans.shell_script import shell_script
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import FOUR, device, plan, request, survey

FS = "11111111-2222-3333-4444-555555555555"
NEAR, FAR, OFFSET = 0x102, 0x201, 0x10201
MIB = 1 << 20
GIB = 1 << 30
SHAPE = Geometry(stride=8, width=2)
NONE = Geometry(stride=0, width=0)
EXT4 = OnTop(file_system="ext4", uuid=FS)
XFS = OnTop(file_system="xfs", uuid=FS)


def below(shape: Geometry = SHAPE, *, size_bytes: int = 100 * GIB, level: str = "raid10") -> Below:
    """The array of the brief, or one of another shape."""
    return Below(path="/dev/md/127", level=level, shape=shape, size_bytes=size_bytes, members=FOUR)


@pytest.mark.parametrize(
    ("array", "stride", "width"),
    [
        (("raid10", NEAR, 32, 4), 8, 2),  # the published array: stride 8, stripe width 16
        (("raid10", NEAR, 32, 5), 8, 5),
        (("raid10", FAR, 64, 4), 16, 4),
        (("raid10", OFFSET, 64, 4), 16, 4),
        (("raid5", 2, 512, 4), 128, 3),
        (("raid6", 2, 64, 6), 16, 4),
        (("raid0", None, 64, 3), 16, 3),
        (("raid1", None, 0, 2), 0, 0),
    ],
)
def test_geometry(array: tuple[str, int | None, int, int], stride: int, width: int) -> None:
    assert geometry(*array) == Geometry(stride=stride, width=width)


def test_nothing() -> None:
    assert on_top_steps(OnTop(), survey(), below()) == ()
    assert on_top_notes(OnTop(), survey(), below()) == ()
    assert refuse_on_top(OnTop(), survey(), below()) is None


def made(wanted: OnTop, *discards: str, **more: Any) -> Plan:
    """On a host where these devices discard."""
    devices = [device(name, discards=name in discards) for name in (*FOUR, "sde2")]
    return plan(request(on_top=wanted, **more.pop("asked", {})), survey(*devices, **more))


def steps(wanted: OnTop, array: Below, **more: Any) -> tuple[Step, ...]:
    return on_top_steps(wanted, survey(**more), array)


MOUNTED = OnTop(file_system="ext4", mount="/srv/data", uuid=FS)
WEEKLY = OnTop(file_system="ext4", mount="/srv", uuid=FS, trim_weekly=True)
test_steps = accepted(
    {
        # Its geometry is read back: the step is done when the file system has it.
        "ext4": lambda: steps(EXT4, below()),
        "ext4 on a mirror": lambda: steps(OnTop(file_system="ext4"), below(NONE, level="raid1")),
        "xfs": lambda: steps(XFS, below()),
        "xfs on a mirror": lambda: steps(OnTop(file_system="xfs"), below(NONE)),
        "xfs on less than 1 GiB": lambda: steps(XFS, below(size_bytes=GIB - 4096)),
        "mounted by UUID, now and at boot": lambda: steps(
            MOUNTED, below(), texts={"/etc/fstab": "# fstab\nUUID=1 / ext4 defaults 0 1"}
        ),
        # Between the array and its line in mdadm.conf.
        "in a plan: ext4": lambda: brief(made(EXT4)),
        # Spares hold no data: the trial of TRIM does not wait for their discards.
        "in a plan: xfs with a spare, and TRIM": lambda: brief(
            made(OnTop(file_system="xfs", mount="/srv", uuid=FS), *FOUR, "sde2", asked={"spares": ("sde2",)})
        ),
        "in a plan: TRIM each week": lambda: brief(made(WEEKLY, *FOUR, systemd=True, trim_timer="disabled")),
        "notes: xfs on less than 1 GiB": lambda: on_top_notes(XFS, survey(), below(size_bytes=512 * MIB)),
    }
)


@pytest.mark.parametrize("size_bytes", [0, GIB])
def test_xfs_of_1_gib_has_stripes(size_bytes: int) -> None:
    """And one whose size is not known."""
    assert steps(XFS, below(size_bytes=size_bytes)) == steps(XFS, below())


def test_a_mirror_needs_no_note() -> None:
    assert on_top_notes(XFS, survey(), below(NONE, size_bytes=512 * MIB)) == ()


def test_the_trial_of_a_script_may_fail() -> None:
    script = shell_script(made(WEEKLY, *FOUR, systemd=True, trim_timer="disabled"))
    assert "\nfstrim --verbose /srv || :\n" in script


FSTAB = survey(texts={"/etc/fstab": "# /srv/data\nUUID=2 /home ext4 defaults 0 2\n"})


def refused(wanted: OnTop) -> Refusal | None:
    """The same whether it is asked of what is on top, or of the whole plan."""
    refusal = refuse_on_top(wanted, FSTAB)
    assert refusal == plan_create(request(on_top=wanted), FSTAB)
    return refusal


def without(tool: str, wanted: OnTop) -> Refusal | None:
    return refuse_on_top(wanted, survey(missing=(tool,)))


def of_size(wanted: OnTop, mib: int) -> Refusal | None:
    return refuse_on_top(wanted, survey(), below(size_bytes=mib * MIB))


test_refused = accepted(
    {
        "refused: btrfs": OnTop(file_system="btrfs"),
        "refused: nothing to mount": OnTop(mount="/srv"),
        "refused: mounted at a relative path": OnTop(file_system="xfs", mount="srv"),
        "refused: mounted at the root": OnTop(file_system="xfs", mount="/"),
        "refused: mounted at a path with ..": OnTop(file_system="xfs", mount="/srv/../etc"),
        "refused: mounted at a path with a blank": OnTop(file_system="xfs", mount="/srv a"),
        "refused: mounted where something is": OnTop(file_system="xfs", mount="/home"),
        "refused: a bad name for a group": OnTop(group="vg 1"),
        "refused: TRIM each week of nothing mounted": OnTop(file_system="ext4", trim_weekly=True),
    },
    refused,
)
test_refused_here = accepted(
    {
        "too small: xfs of 299 MiB": lambda: of_size(XFS, 299),
        "too small: xfs of 256 MiB": lambda: of_size(XFS, 256),
        "too small: xfs on a volume of 296 MiB": lambda: of_size(OnTop(file_system="xfs", group="vg"), 300),
        "too small: ext4 of 7 MiB": lambda: of_size(EXT4, 7),
        # The size is the array's, not a member's.
        "too small: xfs on a mirror": lambda: plan_create(
            request(level="raid1", chunk_kib=0, on_top=XFS),
            survey(*(device(name, size_bytes=200 * MIB) for name in FOUR)),
        ),
        "no tool: mkfs.xfs": lambda: without("mkfs.xfs", OnTop(file_system="xfs")),
        "no tool: mkfs.ext4": lambda: without("mkfs.ext4", OnTop(file_system="ext4")),
        "no tool: pvcreate": lambda: without("pvcreate", OnTop(group="vg127")),
        "no tool: fstrim": lambda: without("fstrim", WEEKLY),
    }
)


@pytest.mark.parametrize(
    ("wanted", "mib"), [(XFS, 300), (OnTop(file_system="xfs", group="vg"), 301), (EXT4, 8), (EXT4, 0)]
)
def test_large_enough(wanted: OnTop, mib: int) -> None:
    assert of_size(wanted, mib) is None


def test_large_enough_in_a_plan() -> None:
    small = survey(*(device(name, size_bytes=200 * MIB) for name in FOUR))
    assert plan(request(on_top=XFS), small).steps[1].argv[0] == "mkfs.xfs"
