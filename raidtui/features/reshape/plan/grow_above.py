"""What stands on an array that has become larger: what makes it larger, from the bottom to the top.

LVM's physical volume, an opened LUKS device, and a mounted file system take the new room in service. A volume
of LVM takes it only where that is asked: which of them is to have it, no one else knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_shape import GrowShape
from raidtui.model.array import Array
from raidtui.model.disk import Disk
from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import data_disks
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.create.create_request import BLOCK_KIB
from raidtui.plans.create.lvm import is_reserved
from raidtui.view.units import KIB, SECTOR_BYTES

_RESIZE_S = 3600.0
_EXT = frozenset({"ext2", "ext3", "ext4"})
_FREE = "The new room is free in LVM's volume group; --extend=GROUP/VOLUME gives it to a volume."
_SMALL_BYTES = 512 << 20
"""Below that, mke2fs makes blocks of 1 KiB."""


class Above(Struct, frozen=True, kw_only=True):
    """What makes larger what stands on an array.

    Args:
        steps: from the bottom to the top.
        notes: what is left to the person, a sentence each.
        tools: the programs that the steps need.
    """

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


def larger_above(survey: Survey, array: Array, volumes: Sequence[str] = ()) -> Above | Refusal:
    """Return the steps that let what stands on an array take its new room.

    Args:
        survey: the host.
        array: the array.
        volumes: of LVM, as group/volume, which take the free room of their group.
    """
    found = _on(survey, array.name, array.path, set())
    if volumes:
        found = replace(found, notes=tuple(note for note in found.notes if note != _FREE))
    for volume in volumes:
        node = _volume_of(survey, volume)
        if node is None:
            return Refusal(
                code=RefusalCode.NOT_FOUND,
                why=f"no active volume {volume} is on {array.title}",
                remedy="name it as GROUP/VOLUME",
            )
        extend = RunTool(
            argv=("lvextend", "--extents", "+100%FREE", volume),
            why=f"{volume} takes the free room of its group",
            timeout_s=_RESIZE_S,
        )
        found = _joined(found, Above(steps=(extend,)), _on(survey, node, f"/dev/{volume}", set()))
    return survey.refuse_tool(*found.tools) or found


def _on(survey: Survey, name: str, path: str, seen: set[str]) -> Above:
    """Return what makes larger what is on one device."""
    disk = survey.above.get(name) or survey.snapshot.disks.get(name)
    if disk is None or name in seen:
        return Above()
    seen.add(name)
    kind = signature_of(disk)
    if kind == "LVM2_member":
        step = RunTool(argv=("pvresize", path), why="the physical volume takes the new room")
        return Above(steps=(step,), notes=(_FREE,), tools=("pvresize",))
    if kind == "crypto_LUKS":
        return _on_luks(survey, disk, seen)
    mount = next((use for use in disk.uses if use.kind == "mount"), None)
    if mount is not None:
        return _mounted(mount.detail, mount.what, path)
    if any(use.kind == "partition" for use in disk.uses):
        return Above(notes=(f"{path} has partitions: they keep their size.",))
    if kind:
        return Above(notes=(f"What {path} holds ({kind}) is not in use, and keeps its size.",))
    return Above()


def _on_luks(survey: Survey, disk: Disk, seen: set[str]) -> Above:
    holder = next((use for use in disk.uses if use.kind == "holder" and use.detail), None)
    if holder is None:
        return Above(notes=("The encrypted device is closed: opened again, it has the new size.",))
    name = holder.detail.strip()
    step = RunTool(
        argv=("cryptsetup", "resize", name),
        why="the encrypted device takes the new room",
        may_fail=True,  # LUKS 2 with its key in the kernel's keyring asks for the passphrase
    )
    note = f"If cryptsetup asks for a passphrase, run it by hand: cryptsetup resize {name}"
    here = Above(steps=(step,), notes=(note,), tools=("cryptsetup",))
    return _joined(here, _on(survey, holder.what, f"/dev/mapper/{name}", seen))


def _mounted(kind: str, place: str, path: str) -> Above:
    """Return what makes a mounted file system larger."""
    if kind in _EXT:
        argv: tuple[str, ...] = ("resize2fs", path)
    elif kind == "xfs":
        argv = ("xfs_growfs", place)
    elif kind == "btrfs":
        argv = ("btrfs", "filesystem", "resize", "max", place)
    else:
        return Above(notes=(f"The {kind} file system at {place} keeps its size.",))
    step = RunTool(
        argv=argv,
        why=f"the file system at {place} takes the new room",
        needs=(Fact(kind=FactKind.MOUNTED, subject=place),),  # else resize2fs asks for e2fsck -f first
        timeout_s=_RESIZE_S,
    )
    return Above(steps=(step,), tools=(argv[0],))


def _joined(*parts: Above) -> Above:
    return Above(
        steps=tuple(step for part in parts for step in part.steps),
        notes=tuple(note for part in parts for note in part.notes),
        tools=tuple(tool for part in parts for tool in part.tools),
    )


def volumes_on(survey: Survey, array: Array) -> tuple[str, ...]:
    """Return the active volumes of LVM that stand on an array, as group/volume.

    Args:
        survey: the host, with what stands on the array.
        array: the array.
    """
    found: dict[str, None] = {}
    wanted, seen = [(array.name, False)], set[str]()
    while wanted:
        name, is_part = wanted.pop(0)
        disk = survey.above.get(name)
        if disk is None or name in seen:
            continue
        seen.add(name)
        of_lvm = is_part or signature_of(disk) == "LVM2_member"
        for use in disk.uses:
            if use.kind != "holder":
                continue
            volume = _group_and_volume(use.detail) if of_lvm else ""
            found |= {volume: None} if volume else {}
            wanted.append((use.what, of_lvm and not volume))
    return tuple(sorted(found))


def _group_and_volume(mapped: str) -> str:
    """Return group/volume of a name of the device mapper, which doubles a "-"; "" for parts of volumes."""
    words = mapped.strip().replace("--", "\0").split("-")
    if len(words) != 2 or is_reserved(words[1].replace("\0", "-")):
        return ""
    return "/".join(word.replace("\0", "-") for word in words)


def _volume_of(survey: Survey, volume: str) -> str | None:
    """Return the kernel's name of an active volume: the device mapper doubles a "-" within its names."""
    group, _, name = volume.partition("/")
    wanted = f"{group.replace('-', '--')}-{name.replace('-', '--')}"
    holders = (use for disk in survey.above.values() for use in disk.uses if use.kind == "holder")
    return next((use.what for use in holders if use.detail.strip() == wanted), None)


def signature_of(disk: Disk) -> str:
    """Return what udev found on a device itself; "" for nothing."""
    tables = {"gpt", "dos"}
    return next((use.what for use in disk.uses if use.kind == "signature" and use.what not in tables), "")


def geometry_above(survey: Survey, array: Array, old: GrowShape, new: GrowShape) -> Above:
    """Return what gives the file system on an array the new geometry: ext's can be changed, XFS's cannot.

    The figures are hints for the placing of data. An ext file system has blocks of 4 KiB, but for small ones
    (mke2fs.conf(5)): of those, what is to be done is only said.

    Args:
        survey: the host.
        array: the array.
        old: its shape.
        new: the new one.
    """
    before, after = _stripe(old), _stripe(new)
    if before == after or not after[0]:
        return Above()
    kind, path = _file_system(survey, array.name, array.path, set())
    if kind == "xfs":
        return Above(notes=(_xfs_note(before, after, path),))
    if kind not in _EXT:
        return Above()
    words, back = _hints(after), _hints(before)
    if (array.size_bytes or 0) < _SMALL_BYTES or "tune2fs" in survey.missing:
        note = f"The file system keeps the old geometry; with blocks of 4 KiB the new one is {words}."
        return Above(notes=(note,))
    step = RunTool(
        argv=("tune2fs", "-E", words, path),
        why="the file system places its data by the new stripes",
        proves=(Fact(kind=FactKind.GEOMETRY, subject=path, value=words),),
        undo=(RunTool(argv=("tune2fs", "-E", back, path), why="as it was"),),
    )
    return Above(steps=(step,))


def _xfs_note(before: tuple[int, int], after: tuple[int, int], path: str) -> str:
    """Say what a mount can change: the kernel refuses a geometry where there was none, or another sunit.

    xfs_mount.c: without the feature bit of an alignment, and where an allocation group is no multiple of it.
    """
    kept = "XFS keeps the geometry it was made with"
    if before[0] != after[0]:
        return f"{kept}: it was made for another chunk."
    sectors, width = after[0] * KIB // SECTOR_BYTES, after[1] * KIB // SECTOR_BYTES
    return (
        f"{kept}. Where xfs_info {path} shows sunit and swidth that are not 0, it can be mounted with"
        f" sunit={sectors},swidth={width}; else such a mount fails."
    )


def _stripe(shape: GrowShape) -> tuple[int, int]:
    """Return the chunk, and the data of a stripe, in KiB; (0, 0) where there are none."""
    chunk = shape.chunk_bytes // KIB
    return (chunk, chunk * data_disks(shape.level, shape.layout, shape.disks)) if chunk else (0, 0)


def _hints(stripe: tuple[int, int]) -> str:
    return f"stride={stripe[0] // BLOCK_KIB},stripe_width={stripe[1] // BLOCK_KIB}"


def _file_system(survey: Survey, name: str, path: str, seen: set[str]) -> tuple[str, str]:
    """Return the type and path of the file system on a device, or in the open LUKS device on it."""
    disk = survey.above.get(name) or survey.snapshot.disks.get(name)
    if disk is None or name in seen:
        return "", ""
    seen.add(name)
    kind = signature_of(disk)
    if kind == "crypto_LUKS":
        holder = next((use for use in disk.uses if use.kind == "holder" and use.detail), None)
        if holder is None:
            return "", ""
        return _file_system(survey, holder.what, f"/dev/mapper/{holder.detail.strip()}", seen)
    mount = next((use for use in disk.uses if use.kind == "mount"), None)
    return (mount.detail if mount is not None else kind), path
