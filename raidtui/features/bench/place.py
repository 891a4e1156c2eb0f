"""Where a benchmark runs: a folder or a device, and the disks below it.

Folders are only read on the live host. Writes nothing.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import refuse
from raidtui.host.block import BLOCK, DiskReader
from raidtui.host.mounts import Mount, read_mounts
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.fact import Fact
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import binary_size

_HALF_BYTES = 256  # of a sector: half of a simulated file system is free
_KEPT_FREE = 4  # a quarter of what is free stays free


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a benchmark runs.

    Args:
        directory: an absolute path; "" where a device is measured.
        device: a kernel name; "" where a folder is.
        writes: whether a device may be written to: its serial number was given.
        mount: where the folder's file system is mounted.
        file_system: its type.
        disks: kernel names of the whole disks below.
        members: kernel names of the devices directly below the lowest array, or of the device itself.
        arrays: kernel names of the arrays below, the uppermost first.
        layers: kernel names of the maps and bcache devices below, the device itself included.
        needs: what must hold before a device is written to.
        free_bytes: of a simulated file system; None where this host's kernel knows.
    """

    directory: str = ""
    device: str = ""
    writes: bool = False
    mount: str = ""
    file_system: str = ""
    disks: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    needs: tuple[Fact, ...] = ()
    free_bytes: int | None = None

    @property
    def words(self) -> str:
        """The folder or the device's path; where arrays are made, their devices."""
        return self.directory or (f"/dev/{self.device}" if self.device else ", ".join(self.members))


def is_simulated(reader: HostReader) -> bool:
    """Whether it is the demo host, whose folders are only its mount points."""
    return reader.source == "demo"


def find_directory(reader: HostReader, directory: str) -> Place | Refusal:
    """Return a folder as a place, or a refusal; on the demo host, what is mounted there."""
    if is_simulated(reader):
        return _mounted(reader, directory)
    # A form's "~" was not seen by a shell.
    path = os.path.realpath(os.path.expanduser(directory))  # noqa: PTH111
    if not os.path.isdir(path):  # noqa: PTH112
        what = "is not a folder" if os.path.exists(path) else "does not exist"  # noqa: PTH110
        return refuse(
            f"{directory} {what}", "name a folder on the file system to measure", code=RefusalCode.NOT_FOUND
        )
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return refuse(
            f"the file system at {path} is read-only", "choose another folder", code=RefusalCode.WRONG_STATE
        )
    if not os.access(path, os.W_OK | os.X_OK):
        return refuse(
            f"{path} is not writable by this user", "choose another folder", code=RefusalCode.WRONG_STATE
        )
    mount = _mount_of(reader, path)
    device = os.stat(path).st_dev  # noqa: PTH116
    name = _block_name(reader, f"{os.major(device)}:{os.minor(device)}") or _source_name(reader, mount.source)
    return _place(reader, path, mount, name)


def _mounted(reader: HostReader, directory: str) -> Place | Refusal:
    """Return a mount point of a simulated host as a place: it has no folders."""
    mount = next((each for each in read_mounts(reader) if each.where == directory), None)
    link = reader.link(mount.source) if mount is not None else None
    name = posixpath.basename(link or mount.source) if mount is not None else ""
    if mount is None or reader.text(f"{BLOCK}/{name}/size") is None:
        return refuse(
            f"nothing is mounted at {directory}", "name a mount point of the host", code=RefusalCode.NOT_FOUND
        )
    free = (whole_number(reader.text(f"{BLOCK}/{name}/size")) or 0) * _HALF_BYTES
    return replace(_place(reader, directory, mount, name), free_bytes=free)


def _place(reader: HostReader, directory: str, mount: Mount, name: str | None) -> Place:
    """Return a directory with what lies below the block device of its file system."""
    disks, members, arrays = below(reader, name) if name else ((), (), ())
    return Place(
        directory=directory,
        mount=mount.where,
        file_system=mount.kind,
        disks=disks,
        members=members,
        arrays=arrays,
        layers=layers_below(reader, name) if name else (),
    )


def find_device(reader: HostReader, name: str) -> Place | Refusal:
    """Return a block device as a place that is only read, or a refusal."""
    if reader.text(f"{BLOCK}/{name.replace('/', '!')}/size") is None:
        return refuse(f"there is no block device {name}", code=RefusalCode.NOT_FOUND)
    disks, members, arrays = below(reader, name)
    return Place(device=name, disks=disks, members=members, arrays=arrays, layers=layers_below(reader, name))


def refuse_room(place: Place, total_bytes: int) -> Refusal | None:
    """Return why files of this size do not fit: a quarter of what is free stays free; None where they do."""
    free = free_at(place)
    most = most_of(free)
    if total_bytes <= most:
        return None
    return refuse(
        f"the files would take {binary_size(total_bytes)}, and at {place.directory} they may take"
        f" {binary_size(most)}: a quarter of the {binary_size(free)} that are free stays free",
        "choose a smaller size, or fewer jobs",
        code=RefusalCode.TOO_SMALL,
    )


def refuse_size(reader: HostReader, place: Place, size_bytes: int) -> Refusal | None:
    """Return why a device is too small, or None."""
    has = device_bytes(reader, place)
    if size_bytes <= has:
        return None
    return refuse(
        f"/dev/{place.device} has {binary_size(has)}, but {binary_size(size_bytes)} are needed",
        "choose a smaller size",
        code=RefusalCode.TOO_SMALL,
    )


def device_bytes(reader: HostReader, place: Place) -> int:
    """Return the size of a place's device; 0 where it is not known."""
    return (whole_number(reader.text(f"{BLOCK}/{place.device.replace('/', '!')}/size")) or 0) * 512


def free_at(place: Place) -> int:
    """Return what is free in a place's file system, bytes."""
    return place.free_bytes if place.free_bytes is not None else free_bytes(place.directory)


def most_of(free: int) -> int:
    """Return how much of what is free files may take: a quarter of it stays free."""
    return free - free // _KEPT_FREE


def free_bytes(directory: str) -> int:
    """Return the bytes that users can write in a folder's file system."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def below(reader: HostReader, name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what is below a device: (whole disks, members of the lowest arrays or the device, arrays)."""
    chains = list(_chains(reader, name, ()))
    ends = tuple(dict.fromkeys(chain[-1] for chain in chains))
    arrays = tuple(dict.fromkeys(each for chain in chains for each in chain if _is_array(reader, each)))
    disk_reader = DiskReader(reader).read(set(ends))
    disks = tuple(dict.fromkeys(disk_reader[end].disk if end in disk_reader else end for end in ends))
    return disks, ends, arrays


def layers_below(reader: HostReader, name: str) -> tuple[str, ...]:
    """Return the maps of the device mapper and the bcache devices below a device, itself included."""
    chains = _chains(reader, name, ())
    found = (each for chain in chains for each in chain if each.startswith(("dm-", "bcache")))
    return tuple(dict.fromkeys(found))


def _chains(reader: HostReader, name: str, seen: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every chain of devices below a device; the disk of a partition does not count."""
    here = (*seen, name)
    slaves = [each.replace("!", "/") for each in reader.names(f"{BLOCK}/{name.replace('/', '!')}/slaves")]
    below = [each for each in slaves if each not in here]
    if not below:
        whole = _whole(reader, name)
        if whole != name and reader.names(f"{BLOCK}/{whole}/slaves"):  # a partition of an array
            yield from _chains(reader, whole, here)
            return
        yield here
        return
    for each in below:
        yield from _chains(reader, each, here)


def _whole(reader: HostReader, name: str) -> str:
    found = DiskReader(reader).read({name}).get(name)
    return found.disk if found is not None else name


def _is_array(reader: HostReader, name: str) -> bool:
    return reader.text(f"{BLOCK}/{name}/md/level") is not None


def _block_name(reader: HostReader, number: str) -> str:
    target = reader.link(f"/sys/dev/block/{number}")
    return posixpath.basename(target).replace("!", "/") if target else ""


def _source_name(reader: HostReader, source: str) -> str:
    """Some (btrfs) have a device number of their own: use the source of the mount."""
    if not source.startswith("/dev/"):
        return ""
    name = posixpath.basename(os.path.realpath(source)) if reader.live else posixpath.basename(source)
    return name if reader.text(f"{BLOCK}/{name}/size") is not None else ""


def _mount_of(reader: HostReader, path: str) -> Mount:
    """Return the mount of a folder; empty if none is known."""
    best = Mount("", "", "", "")
    for mount in read_mounts(reader):
        inside = path == mount.where or path.startswith(mount.where.rstrip("/") + "/")
        if inside and len(mount.where) >= len(best.where):
            best = mount
    return best
