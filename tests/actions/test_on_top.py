"""LVM, file systems with the array's geometry, and their place in fstab."""

from __future__ import annotations

import hashlib

import pytest

from raidtui.actions.on_top import (
    Geometry,
    OnTop,
    geometry,
    on_top_notes,
    on_top_steps,
    refuse_on_top,
)
from raidtui.model.plan import Fact, Kind, Step
from tests.actions.new_array import plan, refused, request, survey

FS = "11111111-2222-3333-4444-555555555555"
NEAR, FAR, OFFSET = 0x102, 0x201, 0x10201
SHAPE = Geometry(stride=8, width=2)


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


def commands(wanted: OnTop, shape: Geometry = SHAPE) -> list[str]:
    return [step.command for step in on_top_steps(wanted, survey(), "/dev/md/127", shape)]


@pytest.mark.parametrize(
    ("wanted", "shape", "lines"),
    [
        (OnTop(), SHAPE, []),
        (
            OnTop(file_system="ext4", uuid=FS),
            SHAPE,
            [f"mkfs.ext4 -q -F -b 4096 -E stride=8,stripe_width=16 -U {FS} /dev/md/127"],
        ),
        (OnTop(file_system="ext4"), Geometry(stride=0, width=0), ["mkfs.ext4 -q -F -b 4096 /dev/md/127"]),
        (
            OnTop(file_system="xfs", uuid=FS),
            SHAPE,
            [f"mkfs.xfs -q -f -d su=32k,sw=2 -m uuid={FS} /dev/md/127"],
        ),
        (
            OnTop(file_system="ext4", group="vg127"),
            SHAPE,
            [
                "pvcreate --yes /dev/md/127",
                "vgcreate vg127 /dev/md/127",
                "lvcreate --yes --extents 100%FREE --name data vg127",
                "mkfs.ext4 -q -F -b 4096 -E stride=8,stripe_width=16 /dev/vg127/data",
            ],
        ),
    ],
)
def test_commands(wanted: OnTop, shape: Geometry, lines: list[str]) -> None:
    assert commands(wanted, shape) == lines


def test_mounted_by_uuid_now_and_at_boot() -> None:
    old = "# fstab\nUUID=1 / ext4 defaults 0 1"
    host = survey(texts={"/etc/fstab": old})
    wanted = OnTop(file_system="ext4", mount="/srv/data", uuid=FS)
    _, folder, fstab, mount = on_top_steps(wanted, host, "/dev/md/127", SHAPE)
    line = f"UUID={FS} /srv/data ext4 defaults,nofail 0 2"
    digest = Fact(kind=Kind.DIGEST, subject="/etc/fstab", value=hashlib.sha256(old.encode()).hexdigest())
    assert folder.argv == ("mkdir", "-p", "--", "/srv/data")
    assert fstab == Step(
        path="/etc/fstab",
        content=f"{old}\n{line}\n",
        why="mounted at boot by UUID; without the array, the boot goes on (nofail)",
        needs=(digest,),
        proves=(Fact(kind=Kind.LINE, subject="/etc/fstab", value=line),),
        undo=(Step(path="/etc/fstab", content=old, why="/etc/fstab as it was", proves=(digest,)),),
    )
    assert mount == Step(
        argv=("mount", "/srv/data"),
        why="as fstab says",
        proves=(Fact(kind=Kind.MOUNTED, subject="/srv/data"),),
        undo=(Step(argv=("umount", "/srv/data"), why="let go of it"),),
    )


def test_in_the_plan_between_the_array_and_its_line() -> None:
    made = plan(request(on_top=OnTop(file_system="ext4", uuid=FS)))
    tools = [step.argv[0] if step.argv else step.path for step in made.steps]
    assert tools == ["mdadm", "mkfs.ext4", "/etc/mdadm/mdadm.conf"]
    assert made.notes[-1] == (
        "ext4: stride 8, stripe width 16. By itself, mke2fs leaves the stripe width out on SSDs since 1.47.3:"
        " ext4's allocator gains nothing by it there."
    )
    assert on_top_notes(OnTop(file_system="xfs"), SHAPE) == ("XFS: su 32 KiB, sw 2.",)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (OnTop(file_system="btrfs"), "btrfs is no file system that is made here; ext4 or xfs"),
        (OnTop(mount="/srv"), "there is nothing to mount; choose a file system"),
        (
            OnTop(file_system="xfs", mount="srv"),
            "'srv' is no place to mount at; a path like /srv/data, without blanks",
        ),
        (
            OnTop(file_system="xfs", mount="/"),
            "'/' is no place to mount at; a path like /srv/data, without blanks",
        ),
        (
            OnTop(file_system="xfs", mount="/srv/../etc"),
            "'/srv/../etc' is no place to mount at; a path like /srv/data, without blanks",
        ),
        (
            OnTop(file_system="xfs", mount="/srv a"),
            "'/srv a' is no place to mount at; a path like /srv/data, without blanks",
        ),
        (
            OnTop(file_system="xfs", mount="/home"),
            "/etc/fstab mounts something at /home already; choose another place",
        ),
        (OnTop(group="vg 1"), "'vg 1' is no name for a volume group; letters, digits, . _ + or -"),
        (OnTop(group="-vg"), "'-vg' is no name for a volume group; letters, digits, . _ + or -"),
        (OnTop(group="vg", volume="a/b"), "'a/b' is no name for a volume; letters, digits, . _ + or -"),
    ],
)
def test_refused(wanted: OnTop, sentence: str) -> None:
    host = survey(texts={"/etc/fstab": "# /srv/data\nUUID=2 /home ext4 defaults 0 2\n"})
    refusal = refuse_on_top(wanted, host)
    assert refusal is not None
    assert refusal.sentence == sentence
    assert refused(request(on_top=wanted), host) == sentence


@pytest.mark.parametrize(
    ("tool", "wanted", "package"),
    [
        ("mkfs.xfs", OnTop(file_system="xfs"), "xfsprogs"),
        ("mkfs.ext4", OnTop(file_system="ext4"), "e2fsprogs"),
        ("pvcreate", OnTop(group="vg127"), "lvm2"),
    ],
)
def test_a_tool_that_is_missing(tool: str, wanted: OnTop, package: str) -> None:
    refusal = refuse_on_top(wanted, survey(missing=(tool,)))
    assert refusal is not None
    assert refusal.sentence == f"{tool} is not installed; apt install {package}"
