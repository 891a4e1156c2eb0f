"""The plan of a copy: what can be read first, then what needs patience. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import old_arrays, refuse_device
from raidtui.plans.contents import device_facts, losses_of
from raidtui.plans.target import needs_root
from raidtui.view.units import binary_size, joined

_RETRIES = 3
_LONGEST_S = 30 * 86400.0


class ImageFile(Struct, frozen=True, kw_only=True):
    """A file that is copied to.

    Args:
        path: absolute.
        room_bytes: the free bytes of its folder; None where there is no such folder.
        there: whether the file exists.
    """

    path: str
    room_bytes: int | None
    there: bool = False


class CopyRequest(Struct, frozen=True, kw_only=True):
    """A copy.

    Args:
        source: a kernel name.
        target: a kernel name, or a file.
        map_path: the absolute path of ddrescue's map file: with it, a copy continues where it ended; "" where
            none was named and none can be known.
        map_there: whether it exists.
        other: the disk that an earlier copy with this map file has read, where it is another one; else "".
        installed: whether ddrescue is.
    """

    source: str
    target: str | ImageFile
    map_path: str
    map_there: bool = False
    other: str = ""
    installed: bool = True


def plan_copy(survey: Survey, request: CopyRequest) -> Plan | Refusal:
    """Return the plan of a copy, or why there is none.

    Args:
        survey: the host, with the source, and the target where that is a device.
        request: the copy.
    """
    source = survey.devices.get(request.source)
    if refusal := needs_root(survey.snapshot) or _refuse_source(survey, request, source):
        return refusal
    assert source is not None  # noqa: S101  (it is refused above)
    if isinstance(request.target, ImageFile):
        refusal = _refuse_file(source, request, request.target)
        path, target = request.target.path, None
    else:
        path, target = f"/dev/{request.target}", survey.devices.get(request.target)
        refusal = _refuse_target(survey, source, request.target, target)
        if refusal is None and target is not None and not _continues(source, target, request):
            refusal = _refuse_needed(survey, target)
    if refusal is not None:
        return refusal
    losses = losses_of((target,), survey) if target is not None else ()
    same = device_facts(source, free=False, untouched=False)
    needs = (*same, *(device_facts(target, untouched=not request.map_there) if target is not None else ()))
    force = ("--force",) if target is not None else ()

    def read(*words: str) -> tuple[str, ...]:
        return ("ddrescue", *force, *words, source.path, path, request.map_path)

    folder = request.map_path.rpartition("/")[0]
    name = path.removeprefix("/dev/")
    return Plan(
        title=f"rescue copy: {request.source} to {name}",
        subject=request.source,
        steps=(
            RunTool(argv=("mkdir", "-p", folder), why="where the map file is"),
            RunTool(
                argv=read("--no-scrape"),
                why="copy what can be read easily; skip what cannot",
                needs=needs,
                destroys=target is not None,
                timeout_s=_LONGEST_S,
            ),
            RunTool(
                argv=read("--idirect", f"--retry-passes={_RETRIES}"),
                why=f"read the rest sector by sector, {_RETRIES} times again",
                needs=same,
                timeout_s=_LONGEST_S,
            ),
            RunTool(argv=("sync", path), why="everything is on the disk"),
        ),
        harm=Harm.HARMLESS if target is None else Harm.DESTROYS,
        losses=losses,
        notes=(
            (
                f"{request.source} is only read. The map file {request.map_path} records what could not"
                " be read; the same command continues an interrupted copy."
            ),
        ),
        confirm=(target.disk.identity or name) if target is not None else "",
        devices=(request.source, *((request.target,) if isinstance(request.target, str) else ())),
    )


def _refuse_source(survey: Survey, request: CopyRequest, source: Device | None) -> Refusal | None:
    if not request.installed:
        return Refusal(
            code=RefusalCode.NO_TOOL, why="ddrescue is not installed", remedy="apt install gddrescue"
        )
    if source is None:
        return survey.no_device(request.source)
    if source.disk.size_bytes is None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"the size of {request.source} is not known")
    if not request.map_path:
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why="a disk has no serial number to find its map file by",
            remedy="name the map file of this copy: --map FILE",
        )
    if request.other and request.map_there:
        return Refusal(
            code=RefusalCode.TAKEN,
            why=f"{request.map_path} belongs to a copy of another disk: {request.other}",
            remedy="name another map file: --map FILE",
        )
    mounted = [use for use in source.disk.uses if use.kind in {"mount", "swap"}]
    if mounted and not source.read_only:
        return Refusal(
            code=RefusalCode.IN_USE,
            why=f"{request.source} is in use: {source.disk.users}",
            remedy="unmount it first: the copy misses what is written meanwhile",
        )
    return None


def _refuse_file(source: Device, request: CopyRequest, file: ImageFile) -> Refusal | None:
    need = source.disk.size_bytes or 0
    if file.path.startswith("/dev/"):
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no device {file.path}")
    if file.room_bytes is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no folder for {file.path}")
    if file.there and not request.map_there:
        return Refusal(
            code=RefusalCode.TAKEN,
            why=f"{file.path} is there, and {request.map_path} is not: it is another file",
            remedy="name a new file, or the map file that belongs to it: --map FILE",
        )
    if not file.there and file.room_bytes < need:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"there is no room for {file.path}: {binary_size(file.room_bytes)} free,"
            f" {request.source} has {binary_size(need)}",
            remedy="name a file on a larger file system",
        )
    return None


def _continues(source: Device, target: Device, request: CopyRequest) -> bool:
    """Whether what is on the target is a part of this copy: the same superblock, by device and array."""
    block, copied = source.superblock, target.superblock
    if not request.map_there or block is None or copied is None:
        return False
    same = (block.device_uuid, block.uuid) == (copied.device_uuid, copied.uuid)
    return same and (block.device_uuid is not None or block.slot == copied.slot)


def _refuse_needed(survey: Survey, target: Device) -> Refusal | None:
    """A member of an array that does not run may be what it is saved with, of this array or of another."""
    labels = [block.label for block, _ in old_arrays((target,), survey).values()]
    if not labels:
        return None
    return Refusal(
        code=RefusalCode.IN_USE,
        why=f"{target.disk.name} may be a member: it has a superblock of {joined(labels)}, which does not"
        " run",
        remedy="choose a disk without one; zero the superblock of one that no array needs",
    )


def _refuse_target(survey: Survey, source: Device, name: str, target: Device | None) -> Refusal | None:
    if target is None:
        return survey.no_device(name)
    if target.disk.disk == source.disk.disk:
        return Refusal(code=RefusalCode.INVALID, why=f"{name} is on the disk to be copied")
    if refusal := refuse_device(target, survey):
        return refusal
    if (target.disk.size_bytes or 0) < (source.disk.size_bytes or 0):
        sizes = f"{binary_size(target.disk.size_bytes or 0)}, {source.disk.name} has"
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{name} is too small: {sizes} {binary_size(source.disk.size_bytes or 0)}",
            remedy="choose a disk that is at least as large",
        )
    return None
