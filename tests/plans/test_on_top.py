"""File systems with the array's geometry, their place in fstab, and what a plan shows of it."""

from __future__ import annotations

import hashlib

import pytest

from raidtui.model.fact import FactKind
from raidtui.model.plan import PutFile, RunTool
from raidtui.plans.create.create_request import Below, Geometry, OnTop
from raidtui.plans.create.file_system import geometry, on_top_notes, on_top_steps, refuse_on_top
from raidtui.plans.shell_script import shell_script
from tests.plans.new_array import FOUR, device, fact, plan, refused, request, survey

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


MKFS_EXT4 = ("mkfs.ext4", "-q", "-F", "-b", "4096")
MKFS_XFS = ("mkfs.xfs", "-q", "-f")


@pytest.mark.parametrize(
    ("wanted", "array", "argv", "reported", "why"),
    [
        (
            EXT4,
            below(),
            (*MKFS_EXT4, "-E", "stride=8,stripe_width=16", "-U", FS),
            "stride=8,stripe_width=16",
            "with the array's geometry",
        ),
        (
            OnTop(file_system="ext4"),
            below(NONE, level="raid1"),
            MKFS_EXT4,
            "",
            "a mirror has no stripe geometry",
        ),
        (
            XFS,
            below(),
            (*MKFS_XFS, "-d", "su=32k,sw=2", "-m", f"uuid={FS}"),
            "sunit=8,swidth=16",
            "with the array's geometry",
        ),
        (
            XFS,
            below(size_bytes=0),
            (*MKFS_XFS, "-d", "su=32k,sw=2", "-m", f"uuid={FS}"),
            "sunit=8,swidth=16",
            "with the array's geometry",
        ),
        (
            XFS,
            below(size_bytes=GIB),
            (*MKFS_XFS, "-d", "su=32k,sw=2", "-m", f"uuid={FS}"),
            "sunit=8,swidth=16",
            "with the array's geometry",
        ),
        (
            XFS,
            below(size_bytes=GIB - 4096),
            (*MKFS_XFS, "-m", f"uuid={FS}"),
            "",
            "too small for stripe geometry",
        ),
        (OnTop(file_system="xfs"), below(NONE), MKFS_XFS, "", "a mirror has no stripe geometry"),
    ],
)
def test_a_file_system(wanted: OnTop, array: Below, argv: tuple[str, ...], reported: str, why: str) -> None:
    """Its geometry is read back: the step is done when the file system has it."""
    [made] = on_top_steps(wanted, survey(), array)
    geometry_facts = (fact(FactKind.GEOMETRY, "/dev/md/127", reported),) if reported else ()
    assert made == RunTool(
        argv=(*argv, "/dev/md/127"),
        why=why,
        proves=(fact(FactKind.FILE_SYSTEM, "/dev/md/127", wanted.file_system), *geometry_facts),
        timeout_s=1800.0,
        destroys=True,
    )


def test_mounted_by_uuid_now_and_at_boot() -> None:
    old = "# fstab\nUUID=1 / ext4 defaults 0 1"
    host = survey(texts={"/etc/fstab": old})
    wanted = OnTop(file_system="ext4", mount="/srv/data", uuid=FS)
    _, folder, fstab, mount = on_top_steps(wanted, host, below())
    line = f"UUID={FS} /srv/data ext4 defaults,nofail 0 2"
    digest = fact(FactKind.DIGEST, "/etc/fstab", hashlib.sha256(old.encode()).hexdigest())
    nothing = fact(FactKind.MOUNTED, "/srv/data", "no")
    assert folder.argv == ("mkdir", "-p", "--", "/srv/data")
    assert fstab == PutFile(
        path="/etc/fstab",
        content=f"{old}\n{line}\n",
        why="mounts it at boot by UUID; without the array, the boot continues (nofail)",
        needs=(digest,),
        proves=(fact(FactKind.LINE, "/etc/fstab", line),),
        undo=(PutFile(path="/etc/fstab", content=old, why="restores /etc/fstab", proves=(digest,)),),
    )
    assert mount == RunTool(
        argv=("mount", "/srv/data"),
        why="mounts it as in fstab",
        needs=(nothing,),
        proves=(fact(FactKind.MOUNTED, "/srv/data"),),
        undo=(RunTool(argv=("umount", "/srv/data"), why="remove it", proves=(nothing,)),),
    )


def test_in_the_plan_between_the_array_and_its_line() -> None:
    made = plan(request(on_top=EXT4))
    tools = [step.argv[0] if step.argv else step.path for step in made.steps]
    assert tools == ["mdadm", "mkfs.ext4", "/etc/mdadm/mdadm.conf"]
    assert made.notes[-1] == (
        "ext4: stride 8, stripe width 16. By default, mke2fs omits the stripe width on SSDs since 1.47.3:"
        " ext4's allocator does not benefit from it there."
    )


def test_what_a_plan_knows_of_the_array() -> None:
    """Spares hold no data: the trial of TRIM does not wait for their discards."""
    host = survey(*(device(name, discards=True) for name in (*FOUR, "sde2")))
    made = plan(request(spares=("sde2",), on_top=OnTop(file_system="xfs", mount="/srv", uuid=FS)), host)
    trial = next(step for step in made.steps if step.argv[:1] == ("fstrim",))
    assert isinstance(trial, RunTool)
    assert trial.counts == FOUR
    assert made.notes[-2:] == (
        "XFS: su 32 KiB, sw 2.",
        "TRIM works: raid10 passes discards on, and all members support them.",
    )


def test_trials_and_the_weekly_one_come_last() -> None:
    host = survey(
        *(device(name, discards=True) for name in FOUR),
        systemd=True,
        trim_timer="disabled",
    )
    wanted = OnTop(file_system="ext4", mount="/srv", uuid=FS, trim_weekly=True)
    made = plan(request(on_top=wanted), host)
    assert [step.argv[0] if step.argv else step.path for step in made.steps] == [
        "mdadm",
        "mkfs.ext4",
        "mkdir",
        "/etc/fstab",
        "mount",
        "fstrim",
        "systemctl",
        "/etc/mdadm/mdadm.conf",
    ]
    assert "\nfstrim --verbose /srv || :\n" in shell_script(made)


def test_notes_of_a_small_xfs() -> None:
    assert on_top_notes(XFS, survey(), below(size_bytes=512 * MIB)) == (
        "XFS: no su and sw; mkfs.xfs omits them below 1 GiB, where its log is too small.",
    )
    assert on_top_notes(XFS, survey(), below(NONE, size_bytes=512 * MIB)) == ()


PLACE = "choose a path like /srv/data, without spaces"
WORDS = "use letters, digits, . _ + or -"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (OnTop(file_system="btrfs"), "raidtui does not create btrfs file systems; choose ext4 or xfs"),
        (OnTop(mount="/srv"), "there is nothing to mount; choose a file system"),
        (OnTop(file_system="xfs", mount="srv"), f"'srv' is not a valid mount point; {PLACE}"),
        (OnTop(file_system="xfs", mount="/"), f"'/' is not a valid mount point; {PLACE}"),
        (OnTop(file_system="xfs", mount="/srv/../etc"), f"'/srv/../etc' is not a valid mount point; {PLACE}"),
        (OnTop(file_system="xfs", mount="/srv a"), f"'/srv a' is not a valid mount point; {PLACE}"),
        (
            OnTop(file_system="xfs", mount="/home"),
            "/etc/fstab already mounts something at /home; choose another mount point",
        ),
        (OnTop(group="vg 1"), f"'vg 1' is not a valid name for a volume group; {WORDS}"),
        (
            OnTop(file_system="ext4", trim_weekly=True),
            "a weekly TRIM needs a mounted file system; choose a mount point",
        ),
    ],
)
def test_refused(wanted: OnTop, sentence: str) -> None:
    host = survey(texts={"/etc/fstab": "# /srv/data\nUUID=2 /home ext4 defaults 0 2\n"})
    refusal = refuse_on_top(wanted, host)
    assert refusal is not None
    assert refusal.sentence == sentence
    assert refused(request(on_top=wanted), host) == sentence


@pytest.mark.parametrize(
    ("wanted", "size_bytes", "sentence"),
    [
        (XFS, 299 * MIB, "XFS needs 300 MiB, and there is 299 MiB; choose ext4, or larger devices"),
        (XFS, 256 * MIB, "XFS needs 300 MiB, and there is 256 MiB; choose ext4, or larger devices"),
        (XFS, 300 * MIB, ""),
        (
            OnTop(file_system="xfs", group="vg"),
            300 * MIB,
            "XFS needs 300 MiB, and there is 296 MiB; choose ext4, or larger devices",
        ),
        (OnTop(file_system="xfs", group="vg"), 301 * MIB, ""),
        (
            EXT4,
            7 * MIB,
            "ext4 has no journal below 8 MiB, and there is 7 MiB; choose larger devices",
        ),
        (EXT4, 8 * MIB, ""),
        (EXT4, 0, ""),
        (OnTop(), 1, ""),
    ],
)
def test_too_small(wanted: OnTop, size_bytes: int, sentence: str) -> None:
    refusal = refuse_on_top(wanted, survey(), below(size_bytes=size_bytes))
    assert (refusal.sentence if refusal is not None else "") == sentence


def test_too_small_in_a_plan() -> None:
    """The size is the array's, not a member's."""
    host = survey(*(device(name, size_bytes=200 * MIB) for name in FOUR))
    assert (
        refused(request(level="raid1", chunk_kib=0, on_top=XFS), host)
        == "XFS needs 300 MiB, and there is 199 MiB; choose ext4, or larger devices"
    )
    assert plan(request(on_top=XFS), host).steps[1].argv[0] == "mkfs.xfs"


@pytest.mark.parametrize(
    ("tool", "wanted", "package"),
    [
        ("mkfs.xfs", OnTop(file_system="xfs"), "xfsprogs"),
        ("mkfs.ext4", OnTop(file_system="ext4"), "e2fsprogs"),
        ("pvcreate", OnTop(group="vg127"), "lvm2"),
        ("fstrim", OnTop(file_system="ext4", mount="/srv", trim_weekly=True), "util-linux"),
    ],
)
def test_a_tool_that_is_missing(tool: str, wanted: OnTop, package: str) -> None:
    refusal = refuse_on_top(wanted, survey(missing=(tool,)))
    assert refusal is not None
    assert refusal.sentence == f"{tool} is not installed; apt install {package}"
