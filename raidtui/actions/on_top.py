"""What goes on top of a new array: LVM, a file system with the array's geometry, its place in fstab.

``stride`` is the chunk in file system blocks, ``stripe_width`` is stride times the disks that hold data
(mke2fs(8)); XFS takes the same as ``su`` and ``sw`` (mkfs.xfs(8)).
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.actions.persist import file_steps
from raidtui.model.capacity import data_disks
from raidtui.model.plan import Fact, Kind, Refusal, Step
from raidtui.model.survey import Survey

FILE_SYSTEMS = ("ext4", "xfs")
_BLOCK_KIB = 4
_MKFS_S = 1800.0
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")


class OnTop(Struct, frozen=True, kw_only=True):
    """What is wanted on top.

    Args:
        file_system: ext4 or xfs; "" for none.
        mount: where it is mounted, in fstab too; "" for nowhere.
        group: the LVM volume group to make on the array; "" for no LVM.
        volume: its logical volume, which takes all of it.
        uuid: what the file system will be known by, made up by the caller.
    """

    file_system: str = ""
    mount: str = ""
    group: str = ""
    volume: str = "data"
    uuid: str = ""


class Geometry(Struct, frozen=True, kw_only=True):
    """What a file system is told of the array below.

    Args:
        stride: the chunk in blocks of 4 KiB; 0 where there is none.
        width: data disks.
    """

    stride: int
    width: int


def geometry(level: str, layout: int | None, chunk_kib: int, raid_disks: int) -> Geometry:
    """Return the geometry for a file system; without a chunk (RAID-1) there is none to tell."""
    if not chunk_kib or level == "raid1":
        return Geometry(stride=0, width=0)
    return Geometry(stride=chunk_kib // _BLOCK_KIB, width=data_disks(level, layout, raid_disks))


def refuse_on_top(wanted: OnTop, survey: Survey) -> Refusal | None:
    """Return why this cannot go on top, or None."""
    if wanted.file_system and wanted.file_system not in FILE_SYSTEMS:
        return Refusal(why=f"{wanted.file_system} is no file system that is made here", remedy="ext4 or xfs")
    tools = (
        *((f"mkfs.{wanted.file_system}",) if wanted.file_system else ()),
        *(("pvcreate",) if wanted.group else ()),
    )
    if refusal := survey.refuse_tool(*tools):
        return refusal
    if wanted.mount and not wanted.file_system:
        return Refusal(why="there is nothing to mount", remedy="choose a file system")
    place = wanted.mount
    if place and (
        not place.startswith("/") or place == "/" or not set(place) <= _WORD | {"/"} or ".." in place
    ):
        return Refusal(
            why=f"{place!r} is no place to mount at", remedy="a path like /srv/data, without blanks"
        )
    if place and any(line.split()[1:2] == [place] for line in _lines(survey)):
        return Refusal(why=f"/etc/fstab mounts something at {place} already", remedy="choose another place")
    for word, what in ((wanted.group, "volume group"), (wanted.volume if wanted.group else "", "volume")):
        if word and (not set(word) <= _WORD or word[0] in ".-"):
            return Refusal(why=f"{word!r} is no name for a {what}", remedy="letters, digits, . _ + or -")
    return None


def on_top_steps(wanted: OnTop, survey: Survey, array: str, shape: Geometry) -> tuple[Step, ...]:
    """Return the steps that put it on the array with this path, which is new and empty."""
    steps: list[Step] = []
    device = array
    if wanted.group:
        device = f"/dev/{wanted.group}/{wanted.volume}"
        steps += _lvm(wanted, array, device)
    if wanted.file_system:
        steps.append(_make(wanted, device, shape))
    if wanted.mount:
        steps += _mount(wanted, survey)
    return tuple(steps)


def on_top_notes(wanted: OnTop, shape: Geometry) -> tuple[str, ...]:
    """Return what there is to know of it."""
    notes = []
    if wanted.file_system == "ext4" and shape.stride:
        notes.append(
            f"ext4: stride {shape.stride}, stripe width {shape.stride * shape.width}."
            " By itself, mke2fs leaves the stripe width out on SSDs since 1.47.3:"
            " ext4's allocator gains nothing by it there."
        )
    if wanted.file_system == "xfs" and shape.stride:
        notes.append(f"XFS: su {shape.stride * _BLOCK_KIB} KiB, sw {shape.width}.")
    return tuple(notes)


def _lvm(wanted: OnTop, array: str, device: str) -> list[Step]:
    node = (Fact(kind=Kind.NODE, subject=device),)
    return [
        Step(
            argv=("pvcreate", "--yes", array),
            why="LVM takes the array; it aligns to the array's stripes by itself",
            proves=(Fact(kind=Kind.FILE_SYSTEM, subject=array, value="LVM2_member"),),
            undo=(Step(argv=("pvremove", "--force", "--yes", array), why="give the array back"),),
        ),
        Step(
            argv=("vgcreate", wanted.group, array),
            why="a volume group of this array alone",
            undo=(Step(argv=("vgremove", "--force", "--yes", wanted.group), why="take the group away"),),
        ),
        Step(
            argv=("lvcreate", "--yes", "--extents", "100%FREE", "--name", wanted.volume, wanted.group),
            why="one volume of all of it; md stripes below, so LVM does not",
            proves=node,
        ),
    ]


def _make(wanted: OnTop, device: str, shape: Geometry) -> Step:
    if wanted.file_system == "ext4":
        told = f"stride={shape.stride},stripe_width={shape.stride * shape.width}"
        options = (*(("-E", told) if shape.stride else ()), *(("-U", wanted.uuid) if wanted.uuid else ()))
        argv = ("mkfs.ext4", "-q", "-F", "-b", str(_BLOCK_KIB * 1024), *options, device)
    else:
        told = f"su={shape.stride * _BLOCK_KIB}k,sw={shape.width}"
        options = (
            *(("-d", told) if shape.stride else ()),
            *(("-m", f"uuid={wanted.uuid}") if wanted.uuid else ()),
        )
        argv = ("mkfs.xfs", "-q", "-f", *options, device)
    return Step(
        argv=argv,
        why="with the array's geometry" if shape.stride else "a mirror has no geometry to tell",
        proves=(Fact(kind=Kind.FILE_SYSTEM, subject=device, value=wanted.file_system),),
        timeout_s=_MKFS_S,
        destroys=True,
    )


def _mount(wanted: OnTop, survey: Survey) -> list[Step]:
    old = survey.texts.get("/etc/fstab", "")
    line = f"UUID={wanted.uuid} {wanted.mount} {wanted.file_system} defaults,nofail 0 2"
    new = (old.rstrip("\n") + "\n" if old.strip() else "") + line + "\n"
    fstab = file_steps(
        survey,
        "/etc/fstab",
        new,
        why="mounted at boot by UUID; without the array, the boot goes on (nofail)",
        proves=(Fact(kind=Kind.LINE, subject="/etc/fstab", value=line),),
        initramfs=False,
    )
    place = Fact(kind=Kind.MOUNTED, subject=wanted.mount)
    return [
        Step(argv=("mkdir", "-p", "--", wanted.mount), why="the place to mount at"),
        *fstab,
        Step(
            argv=("mount", wanted.mount),
            why="as fstab says",
            proves=(place,),
            undo=(Step(argv=("umount", wanted.mount), why="let go of it"),),
        ),
    ]


def _lines(survey: Survey) -> list[str]:
    return [
        line for line in survey.texts.get("/etc/fstab", "").split("\n") if not line.lstrip().startswith("#")
    ]
