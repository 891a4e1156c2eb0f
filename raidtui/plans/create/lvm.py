"""LVM on a new array: physical volumes at whole stripes, a group, one volume of the whole group.

Sources: lvm(8) for names, lvcreate(8) for stripes and its rounding (as seen with LVM 2.03), pvcreate(8) and
lvm.conf(5) for where data begin. LVM takes the same extent size for the whole group; a stripe is a power of
two of at least 4 KiB and at most an extent.
"""

from __future__ import annotations

import math

from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import data_disks
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device
from raidtui.plans.contents import contents_of, device_facts
from raidtui.plans.create.create_request import BLOCK_KIB, Below, Geometry, OnTop
from raidtui.view.units import KIB, binary_size, counted

_LEAST_STRIPE_KIB = 4
_LONGEST = 120
"""The kernel's limit of 127 for a mapped device, less what LVM itself puts behind a name."""
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")
_RESERVED_STARTS = ("snapshot", "pvmove")
_RESERVED_PARTS = (
    *("_cdata", "_cmeta", "_corig", "_cpool", "_cvol", "_imeta", "_iorig", "_mimage", "_mlog", "_pmspare"),
    *("_rimage", "_rmeta", "_tdata", "_tmeta", "_vdata", "_vorigin", "_wcorig"),
)


def is_reserved(volume: str) -> bool:
    """Whether LVM keeps a name for its own parts of volumes (lvm(8), VALID NAMES)."""
    return volume.startswith(_RESERVED_STARTS) or any(part in volume for part in _RESERVED_PARTS)


def refuse_lvm(wanted: OnTop, survey: Survey, below: Below | None) -> Refusal | None:
    """Return why there cannot be such a group and volume, or None."""
    if not wanted.group:
        return _refuse_without_group(wanted)
    return (
        _refuse_names(wanted, survey)
        or _refuse_stripes(wanted)
        or _refuse_others(wanted, survey, below)
        or _refuse_room(wanted, survey, below)
    )


def _refuse_without_group(wanted: OnTop) -> Refusal | None:
    if wanted.others:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{wanted.others[0]} cannot join a volume group: there is none",
            remedy="name the group",
        )
    if wanted.stripes > 1:
        return Refusal(
            code=RefusalCode.INVALID,
            why="LVM stripes over the physical volumes of a group, and there is none",
            remedy="name the group",
        )
    return None


def _refuse_names(wanted: OnTop, survey: Survey) -> Refusal | None:
    for word, what in ((wanted.group, "volume group"), (wanted.volume, "volume")):
        if not word or not set(word) <= _WORD or word[0] in ".-":
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{word!r} is not a valid name for a {what}",
                remedy="use letters, digits, . _ + or -",
            )
    group, volume = wanted.group, wanted.volume
    if is_reserved(volume):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"LVM reserves names like {volume}",
            remedy="choose another name",
        )
    if len(f"{group}{volume}") + group.count("-") + volume.count("-") >= _LONGEST:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{group} and {volume} together are too long for the kernel",
            remedy="choose shorter names",
        )
    if refusal := refuse_silence(survey.groups, package="lvm2"):
        return refusal
    if group in (survey.groups.value or ()):
        return Refusal(
            code=RefusalCode.TAKEN,
            why=f"volume group {group} already exists",
            remedy="choose another name",
        )
    if group in survey.nodes:
        return Refusal(
            code=RefusalCode.TAKEN, why=f"/dev/{group} already exists", remedy="choose another name"
        )
    return None


def _refuse_stripes(wanted: OnTop) -> Refusal | None:
    volumes, kib = 1 + len(wanted.others), wanted.stripe_kib
    if wanted.stripes < 0:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{wanted.stripes} is not a valid number of stripes",
            remedy="0 means none",
        )
    if wanted.stripes > volumes:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{wanted.stripes} stripes need as many physical volumes, and there"
            f" {'is' if volumes == 1 else 'are'} {volumes}",
            remedy="name further devices, or choose fewer stripes",
        )
    if wanted.stripes < 2:
        return None
    if kib < _LEAST_STRIPE_KIB or kib & (kib - 1):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"a stripe of {kib} KiB is not possible: LVM requires a power of two of at least 4 KiB",
            remedy="choose 64, for example",
        )
    if kib > EXTENT_KIB:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"a stripe of {kib} KiB is larger than an extent of 4 MiB",
            remedy="choose 4096 at most",
        )
    return None


def _refuse_others(wanted: OnTop, survey: Survey, below: Below | None) -> Refusal | None:
    for name in wanted.others:
        if wanted.others.count(name) > 1:
            return Refusal(
                code=RefusalCode.INVALID, why=f"{name} is named twice", remedy="name each device once"
            )
        if refusal := refuse_other(name, survey, below):
            return refusal
    return None


def refuse_other(name: str, survey: Survey, below: Below | None = None) -> Refusal | None:
    """Return why a device cannot join the volume group of a new array, or None.

    Args:
        name: its kernel name.
        survey: the host, with this device.
        below: the new array, where it is known.
    """
    device = survey.devices.get(name)
    if device is None:
        return survey.no_device(name)
    members = below.members if below is not None else ()
    disks = {survey.devices[each].disk.disk for each in members if each in survey.devices}
    if name in members or device.disk.disk in disks:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name} is a disk of the new array, or is on one",
            remedy="choose another device",
        )
    if refusal := refuse_device(device, survey):
        return refusal
    if has := contents_of(device, survey):
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{name} is not empty: {has}",
            remedy=f"if it is no longer needed: wipefs --all {device.path}",
        )
    if below is not None and device.sector_bytes != below.sector_bytes:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{name} has sectors of {device.sector_bytes} bytes and the new array of"
            f" {below.sector_bytes}: a volume group needs one size",
            remedy="choose another device",
        )
    return None


def _refuse_room(wanted: OnTop, survey: Survey, below: Below | None) -> Refusal | None:
    if below is None or not below.size_bytes:
        return None
    if not volume_bytes(wanted, survey, below):
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{binary_size(below.size_bytes)} is too small for LVM, whose extents are 4 MiB",
            remedy="choose larger devices, or no LVM",
        )
    return None


def lvm_steps(wanted: OnTop, survey: Survey, below: Below) -> tuple[Step, ...]:
    """Return the steps that make the group and its volume; each is undone by what undoes ours alone."""
    others = tuple(survey.devices[name] for name in wanted.others)
    paths = (below.path, *(device.path for device in others))
    return (
        _take(below.path, below.shape.stripe_kib, "makes the array a physical volume"),
        *(_take_other(device, survey) for device in others),
        _make_group(wanted, paths),
        _make_volume(wanted, below.path),
    )


def _take(path: str, whole_kib: int, why: str, needs: tuple[Fact, ...] = ()) -> Step:
    aligned = ("--dataalignment", f"{whole_kib}k") if whole_kib else ()
    begins = (Fact(kind=FactKind.EXTENTS, subject=path, value=str(whole_kib * KIB)),) if whole_kib else ()
    ours = Fact(kind=FactKind.FILE_SYSTEM, subject=path, value="LVM2_member")
    back = RunTool(
        argv=("pvremove", "--yes", path),
        why="release it",
        needs=(ours, Fact(kind=FactKind.GROUP, subject=path)),
        proves=(Fact(kind=FactKind.FILE_SYSTEM, subject=path),),
    )
    return RunTool(
        argv=("pvcreate", "--yes", *aligned, path),
        why=f"{why}; data begins at a full stripe" if whole_kib else why,
        needs=needs,
        proves=(ours, *begins),
        undo=(back,),
    )


def _take_other(device: Device, survey: Survey) -> Step:
    name = device.disk.name
    uuid = next((array.uuid for array in survey.snapshot.arrays if array.name == name), None)
    needs = (
        *((Fact(kind=FactKind.ARRAY, subject=name, value=uuid),) if uuid else ()),
        *device_facts(device),
        Fact(kind=FactKind.SUPERBLOCK, subject=name),
        Fact(kind=FactKind.CLEAN, subject=name),
    )
    return _take(device.path, whole_stripe_kib(name, survey), f"makes {name} a physical volume", needs)


def _make_group(wanted: OnTop, paths: tuple[str, ...]) -> Step:
    joined = tuple(Fact(kind=FactKind.GROUP, subject=path, value=wanted.group) for path in paths)
    left = tuple(Fact(kind=FactKind.GROUP, subject=path) for path in paths)
    back = RunTool(argv=("vgremove", wanted.group), why="remove the group", needs=joined, proves=left)
    return RunTool(
        argv=("vgcreate", "--physicalextentsize", f"{EXTENT_KIB}k", wanted.group, *paths),
        why="a volume group of this array alone"
        if len(paths) == 1
        else f"a volume group of {counted(len(paths), 'physical volume')}",
        needs=left,
        proves=joined,
        undo=(back,),
    )


def _make_volume(wanted: OnTop, path: str) -> Step:
    name = f"{wanted.group}/{wanted.volume}"
    ours = Fact(kind=FactKind.GROUP, subject=path, value=wanted.group)
    striped = wanted.stripes > 1
    stripes = ("--stripes", str(wanted.stripes), "--stripesize", f"{wanted.stripe_kib}k") if striped else ()
    made = Fact(
        kind=FactKind.VOLUME,
        subject=name,
        value=f"{wanted.stripes}x{wanted.stripe_kib}" if striped else "linear",
    )
    back = RunTool(
        argv=("lvremove", "--yes", name),
        why="remove the volume",
        needs=(ours,),
        proves=(Fact(kind=FactKind.VOLUME, subject=name),),
    )
    return RunTool(
        argv=(
            *("lvcreate", "--yes", "--extents", "100%FREE", *stripes),
            *("--name", wanted.volume, wanted.group),
        ),
        why=f"one volume of the whole group, striped over {wanted.stripes} physical volumes"
        if striped
        else "one volume of the whole group; md stripes below, so LVM does not",
        needs=(ours,),
        proves=(made, Fact(kind=FactKind.NODE, subject=f"/dev/{name}")),
        undo=(back,),
    )


def lvm_notes(wanted: OnTop, survey: Survey, below: Below) -> tuple[str, ...]:
    """Return what there is to know of the group and its volume."""
    notes = []
    extents = extents_of(wanted, survey, below)
    left = sum(extents) * EXTENT_KIB * KIB - volume_bytes(wanted, survey, below)
    if wanted.stripes > 1 and below.size_bytes and left:
        notes.append(
            f"{binary_size(left)} of the group stays free:"
            f" each stripe needs room on {wanted.stripes} physical volumes at once."
        )
    if wanted.others and wanted.stripes < 2:
        notes.append(
            "Without stripes, LVM fills one physical volume after the other: a single one takes the load."
        )
    if wanted.others:
        notes.append("A volume group needs all of its physical volumes: the least reliable one decides.")
    if survey.issue_discards is not None:
        notes.append(
            f"lvm.conf's issue_discards is {'on' if survey.issue_discards else 'off'}: it matters only when a"
            " volume is removed or shrunk; fstrim passes through LVM either way."
        )
    return tuple(notes)


EXTENT_KIB = 4096
_FIRST_KIB = 1024
"""LVM's metadata are before it; data begin here, or at the next whole stripe."""


def volume_bytes(wanted: OnTop, survey: Survey, below: Below) -> int:
    """Return the size of the volume that takes all of the group; 0 where the array's is not known.

    Striped, it ends where fewer than ``stripes`` physical volumes have extents left.
    """
    extents = extents_of(wanted, survey, below)
    stripes = max(1, wanted.stripes)
    each = sum(extents) // stripes
    while (found := sum(min(count, each) for count in extents) // stripes) < each:
        each = found
    return each * stripes * EXTENT_KIB * KIB if below.size_bytes else 0


def extents_of(wanted: OnTop, survey: Survey, below: Below) -> list[int]:
    """Return how many extents each physical volume has, the array's first."""
    sizes = [(below.size_bytes, below.shape.stripe_kib)]
    sizes += [
        (device.disk.size_bytes or 0, whole_stripe_kib(name, survey))
        for name in wanted.others
        if (device := survey.devices.get(name)) is not None
    ]
    return [max(0, size // KIB - _begins_kib(whole)) // EXTENT_KIB for size, whole in sizes]


def _begins_kib(whole_kib: int) -> int:
    return -(-_FIRST_KIB // whole_kib) * whole_kib if whole_kib else _FIRST_KIB


def whole_stripe_kib(name: str, survey: Survey) -> int:
    """Return the full stripe of another array; 0 for a mirror, and for what is not an array."""
    array = next((each for each in survey.snapshot.arrays if each.name == name), None)
    if array is None or array.level in {None, "raid1"} or not array.chunk_bytes or not array.raid_disks:
        return 0
    return array.chunk_bytes // KIB * data_disks(array.level or "", array.layout, array.raid_disks)


def on_volume(wanted: OnTop, shape: Geometry) -> Geometry:
    """Return the geometry of a striped volume: whole stripes of the array below, on all stripes of LVM."""
    if wanted.stripes < 2:
        return shape
    if not shape.stride:
        return Geometry(stride=wanted.stripe_kib // BLOCK_KIB, width=wanted.stripes)
    whole_kib = math.lcm(shape.stripe_kib, wanted.stripe_kib) * wanted.stripes
    return Geometry(stride=shape.stride, width=whole_kib // (shape.stride * BLOCK_KIB))
