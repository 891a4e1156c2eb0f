"""What goes on top of a new array: LVM, a file system with the array's geometry, its place in fstab, TRIM.

``stride`` is the chunk in file system blocks, ``stripe_width`` is stride times the disks that hold data
(mke2fs(8)); XFS takes the same as ``su`` and ``sw`` (mkfs.xfs(8)).

raid456 passes no discards unless its parameter says that the members read zeros afterwards; since kernel 6.12
fstrim reports success all the same (drivers/md/raid5.c, Documentation/admin-guide/md.rst). So the members'
counters decide whether TRIM passes.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.fact import Fact, FactKind
from raidtui.model.geometry import data_disks
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_request import BLOCK_KIB, Below, Geometry, OnTop
from raidtui.plans.create.lvm import lvm_notes, lvm_steps, on_volume, refuse_lvm, volume_bytes
from raidtui.plans.persist import file_steps
from raidtui.view.units import binary_size

FILE_SYSTEMS = ("ext4", "xfs")
_MKFS_S = 1800.0
_LEAST_BYTES = {"ext4": 8 << 20, "xfs": 300 << 20}
"""Below 2048 blocks ext4 has no journal; mkfs.xfs takes nothing smaller since xfsprogs 5.19."""
_XFS_STRIPES_BYTES = 1 << 30
"""Below this mkfs.xfs leaves a volume's stripes alone: its log would become too small with them."""
_PLACE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/")


def geometry(level: str, layout: int | None, chunk_kib: int, raid_disks: int) -> Geometry:
    """Return the geometry for a file system; without a chunk (RAID-1) there is none."""
    if not chunk_kib or level == "raid1":
        return Geometry(stride=0, width=0)
    return Geometry(stride=chunk_kib // BLOCK_KIB, width=data_disks(level, layout, raid_disks))


def refuse_on_top(wanted: OnTop, survey: Survey, below: Below | None = None) -> Refusal | None:
    """Return why this cannot go on top, or None.

    Args:
        wanted: the request.
        survey: the host, with the devices that join the group.
        below: the new array, where it is known.
    """
    if wanted.file_system and wanted.file_system not in FILE_SYSTEMS:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"raidtui does not create {wanted.file_system} file systems",
            remedy="choose ext4 or xfs",
        )
    tools = (
        *((f"mkfs.{wanted.file_system}",) if wanted.file_system else ()),
        *(("pvcreate",) if wanted.group else ()),
    )
    return (
        survey.refuse_tool(*tools)
        or _refuse_place(wanted, survey)
        or refuse_lvm(wanted, survey, below)
        or _refuse_size(wanted, survey, below)
        or refuse_weekly(wanted, survey)
    )


def _refuse_place(wanted: OnTop, survey: Survey) -> Refusal | None:
    place = wanted.mount
    if not place:
        return None
    if not wanted.file_system:
        return Refusal(
            code=RefusalCode.INVALID, why="there is nothing to mount", remedy="choose a file system"
        )
    if not place.startswith("/") or place == "/" or not set(place) <= _PLACE or ".." in place:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{place!r} is not a valid mount point",
            remedy="choose a path like /srv/data, without spaces",
        )
    if any(line.split()[1:2] == [place] for line in _lines(survey)):
        return Refusal(
            code=RefusalCode.TAKEN,
            why=f"/etc/fstab already mounts something at {place}",
            remedy="choose another mount point",
        )
    return None


def _refuse_size(wanted: OnTop, survey: Survey, below: Below | None) -> Refusal | None:
    size = _size_bytes(wanted, survey, below) if below is not None else 0
    least = _LEAST_BYTES.get(wanted.file_system, 0)
    if not size or size >= least:
        return None
    if wanted.file_system == "xfs":
        why = f"XFS needs {binary_size(least)}, and there is {binary_size(size)}"
        return Refusal(code=RefusalCode.TOO_SMALL, why=why, remedy="choose ext4, or larger devices")
    return Refusal(
        code=RefusalCode.TOO_SMALL,
        why=f"ext4 has no journal below {binary_size(least)}, and there is {binary_size(size)}",
        remedy="choose larger devices",
    )


def _size_bytes(wanted: OnTop, survey: Survey, below: Below) -> int:
    """Return the size of what the file system is made on; 0 where it is not known."""
    return volume_bytes(wanted, survey, below) if wanted.group else below.size_bytes


def _geometry_of(wanted: OnTop, survey: Survey, below: Below) -> Geometry:
    """Return the geometry for the file system; none for a small XFS."""
    size = _size_bytes(wanted, survey, below)
    if wanted.file_system == "xfs" and 0 < size < _XFS_STRIPES_BYTES:
        return Geometry(stride=0, width=0)
    return on_volume(wanted, below.shape) if wanted.group else below.shape


def on_top_steps(wanted: OnTop, survey: Survey, below: Below) -> tuple[Step, ...]:
    """Return the steps that put it on the array, which is new and empty."""
    steps: list[Step] = []
    device = below.path
    if wanted.group:
        device = f"/dev/{wanted.group}/{wanted.volume}"
        steps += lvm_steps(wanted, survey, below)
    if wanted.file_system:
        steps.append(_make(wanted, device, _geometry_of(wanted, survey, below), below))
    if wanted.mount:
        steps += _mount(wanted, survey)
        steps += trial_steps(wanted, survey, below.members)
    return (*steps, *weekly_steps(wanted, survey))


def on_top_notes(
    wanted: OnTop, survey: Survey, below: Below, devices: Sequence[Device] = ()
) -> tuple[str, ...]:
    """Return what there is to know of it.

    Args:
        wanted: the request.
        survey: the host.
        below: the new array.
        devices: its members that hold data; TRIM is spoken of where one of them takes discards.
    """
    shape = _geometry_of(wanted, survey, below)
    notes = list(lvm_notes(wanted, survey, below)) if wanted.group else []
    if wanted.file_system == "ext4" and shape.stride:
        notes.append(
            f"ext4: stride {shape.stride}, stripe width {shape.stride * shape.width}."
            " By default, mke2fs omits the stripe width on SSDs since 1.47.3:"
            " ext4's allocator does not benefit from it there."
        )
    if wanted.file_system == "xfs" and shape.stride:
        notes.append(f"XFS: su {shape.stride * BLOCK_KIB} KiB, sw {shape.width}.")
    elif wanted.file_system == "xfs" and below.shape.stride:
        notes.append("XFS: no su and sw; mkfs.xfs omits them below 1 GiB, where its log is too small.")
    if any(device.discards for device in devices) or (devices and wanted.trim_weekly):
        notes.append(trim_words(below.level, survey, devices))
    return (*notes, *weekly_notes(wanted, survey))


def _make(wanted: OnTop, device: str, shape: Geometry, below: Below) -> Step:
    options: tuple[str, ...] = ()
    geometry_facts: tuple[Fact, ...] = ()
    stride, width = shape.stride, shape.stride * shape.width
    if wanted.file_system == "ext4":
        if stride:
            words = f"stride={stride},stripe_width={width}"
            options = ("-E", words)
            geometry_facts = (Fact(kind=FactKind.GEOMETRY, subject=device, value=words),)
        argv = (
            *("mkfs.ext4", "-q", "-F", "-b", str(BLOCK_KIB * 1024), *options),
            *(("-U", wanted.uuid) if wanted.uuid else ()),
            device,
        )
    else:
        if stride:
            options = ("-d", f"su={stride * BLOCK_KIB}k,sw={shape.width}")
            words = f"sunit={stride},swidth={width}"
            geometry_facts = (Fact(kind=FactKind.GEOMETRY, subject=device, value=words),)
        argv = (
            *("mkfs.xfs", "-q", "-f", *options),
            *(("-m", f"uuid={wanted.uuid}") if wanted.uuid else ()),
            device,
        )
    why = "a mirror has no stripe geometry" if not below.shape.stride else "too small for stripe geometry"
    return RunTool(
        argv=argv,
        why="with the array's geometry" if stride else why,
        proves=(Fact(kind=FactKind.FILE_SYSTEM, subject=device, value=wanted.file_system), *geometry_facts),
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
        why="mounts it at boot by UUID; without the array, the boot continues (nofail)",
        proves=(Fact(kind=FactKind.LINE, subject="/etc/fstab", value=line),),
        initramfs=False,
    )
    place = Fact(kind=FactKind.MOUNTED, subject=wanted.mount)
    nothing = Fact(kind=FactKind.MOUNTED, subject=wanted.mount, value="no")
    return [
        RunTool(argv=("mkdir", "-p", "--", wanted.mount), why="the mount point"),
        *fstab,
        RunTool(
            argv=("mount", wanted.mount),
            why="mounts it as in fstab",
            needs=(nothing,),
            proves=(place,),
            undo=(RunTool(argv=("umount", wanted.mount), why="remove it", proves=(nothing,)),),
        ),
    ]


def _lines(survey: Survey) -> list[str]:
    return [
        line for line in survey.texts.get("/etc/fstab", "").split("\n") if not line.lstrip().startswith("#")
    ]


_TIMER = "fstrim.timer"
_TRIAL_S = 1800.0
_BY_CRON = "for a weekly TRIM, run fstrim --fstab from cron (a script in /etc/cron.weekly)"


def trim_words(level: str, survey: Survey, devices: Sequence[Device]) -> str:
    """Return in a sentence or two whether TRIM passes through an array to its members.

    Args:
        level: raid0, raid1, raid4, raid5, raid6 or raid10.
        survey: the host.
        devices: those that hold data.
    """
    without = [device.disk.name for device in devices if not device.discards]
    if without and len(without) == len(devices):
        return "TRIM does not work: no member supports discards."
    if without:
        take = "does" if len(without) == 1 else "do"
        return f"TRIM does not reach all members: {', '.join(without)} {take} not support discards."
    if level not in PARITY_LEVELS:
        return f"TRIM works: {level} passes discards on, and all members support them."
    if survey.raid456_discards:
        return (
            "TRIM works: all members support discards, and raid456 relies on them to read zeros afterwards"
            " (devices_handle_discard_safely=Y)."
        )
    if survey.raid456_discards is None:
        return (
            f"TRIM works on {level} only if raid456 is loaded with devices_handle_discard_safely=Y:"
            " that is not the default, and safe only with SSDs that read zeros after a discard."
        )
    return (
        f"TRIM does not work: {level} drops discards, although fstrim may report success. With SSDs"
        " known to read zeros afterwards: options raid456 devices_handle_discard_safely=Y in"
        " /etc/modprobe.d."
    )


def refuse_weekly(wanted: OnTop, survey: Survey) -> Refusal | None:
    """Return why a weekly TRIM makes no sense, or None."""
    if not wanted.trim_weekly:
        return None
    if not wanted.mount:
        return Refusal(
            code=RefusalCode.INVALID,
            why="a weekly TRIM needs a mounted file system",
            remedy="choose a mount point",
        )
    return survey.refuse_tool("fstrim")


def trial_steps(wanted: OnTop, survey: Survey, members: Sequence[str]) -> tuple[Step, ...]:
    """Return a test of TRIM on the new mount; none if no member supports discards."""
    known = [survey.devices[name] for name in members if name in survey.devices]
    if "fstrim" in survey.missing or not any(device.discards for device in known):
        return ()
    step = RunTool(
        argv=("fstrim", "--verbose", wanted.mount),
        why="tests TRIM: the members' discard counters show whether it works, whatever fstrim reports",
        timeout_s=_TRIAL_S,
        counts=tuple(members),
        may_fail=True,
    )
    return (step,)


def weekly_steps(wanted: OnTop, survey: Survey) -> tuple[Step, ...]:
    """Return the step that switches the weekly TRIM on; none where that is so, or cannot be."""
    if not (wanted.trim_weekly and survey.systemd and survey.trim_timer == "disabled"):
        return ()
    off = RunTool(
        argv=("systemctl", "disable", "--now", _TIMER),
        why="as it was",
        proves=(_unit("disabled"), _unit("inactive")),
    )
    step = RunTool(
        argv=("systemctl", "enable", "--now", _TIMER),
        why="trims free space once a week",
        proves=(_unit("enabled"), _unit("active")),
        undo=(off,),
    )
    return (step,)


def weekly_notes(wanted: OnTop, survey: Survey) -> tuple[str, ...]:
    """Return what there is to know of the weekly TRIM."""
    if not wanted.trim_weekly:
        return ()
    if not survey.systemd:
        return (f"systemd is not running here: {_BY_CRON}.",)
    if survey.trim_timer.startswith("enabled"):
        return (f"{_TIMER} is already enabled: all file systems of fstab are trimmed once a week.",)
    if survey.trim_timer == "disabled":
        return (f"{_TIMER} trims all file systems of fstab, not only this one.",)
    if survey.trim_timer.startswith("masked"):
        return (f"{_TIMER} is masked and stays off; to allow it: systemctl unmask {_TIMER}.",)
    return (f"{_TIMER} is not available here: {_BY_CRON}.",)


def _unit(state: str) -> Fact:
    return Fact(kind=FactKind.UNIT, subject=_TIMER, value=state)
