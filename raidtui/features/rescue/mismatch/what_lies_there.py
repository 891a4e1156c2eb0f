"""What lies in stretches of an array: layers first, then what the file system says of its blocks.

Files of a mounted file system are asked where they lie (FIEMAP: Linux, Documentation/filesystems/fiemap.rst).
Nothing is written out for it: FIEMAP_FLAG_SYNC is not given.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.rescue.mismatch.block_owners import (
    TOO_MANY,
    Owner,
    find_ext_owners,
    find_space_at,
    find_xfs_owners,
    make_file_owner,
    unknown,
)
from raidtui.features.rescue.mismatch.layers import LaidStretch, Layers
from raidtui.features.rescue.mismatch.mismatch_records import ContentKind, Contents, Mismatch
from raidtui.host.block import BLOCK
from raidtui.host.mounts import Mount, read_mounts
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.units import SECTOR_BYTES

_FIEMAP = 0xC020660B
_HEAD = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_MOST = 128
_LAST, _NOT_PLACED = 1, 2 | 4 | 8  # unknown, delayed allocation, encoded
_EXT = frozenset({"ext2", "ext3", "ext4"})
_ENDED = "not looked up: the comparison was ended first"
_UNKNOWN = {
    "btrfs": "a btrfs file system, which has checksums of its own: btrfs scrub finds which copy is right"
}
Slice = tuple[int, int, Owner]
"""First byte of a device, the one after the last, and who owns them."""


def find_files_at(
    top: str, spans: Sequence[tuple[int, int]], cancelled: Callable[[], bool] = lambda: False
) -> list[tuple[int, int, int, str]]:
    """Return what of files and folders lies in stretches of the device: first byte, end, inode, path.

    Args:
        top: where the file system is mounted; other file systems below are left out.
        spans: bytes of its device: first, and the one after the last.
        cancelled: whether to end.

    Raises:
        OSError: the mount point cannot be read.
    """
    low, high = min(first for first, _ in spans), max(end for _, end in spans)
    found = []
    device = Path(top).stat().st_dev
    for path in _all_files(top, device):
        if cancelled():
            break
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            opened = os.fstat(descriptor)
            if opened.st_dev != device or not (stat.S_ISREG(opened.st_mode) or stat.S_ISDIR(opened.st_mode)):
                continue  # another one has its name by now
            inode = opened.st_ino
            for start, length in extents(descriptor):
                if start >= high or start + length <= low:
                    continue
                for first, end in spans:
                    if start < end and first < start + length:
                        cut = max(first, start), min(end, start + length)
                        found.append((*cut, inode, "/" + os.path.relpath(path, top).removeprefix(".")))
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return sorted(found)


def extents(descriptor: int) -> Iterator[tuple[int, int]]:
    """Return where an open file lies: first byte on its device, and length.

    Raises:
        OSError: the file system does not say.
    """
    start = 0
    while True:
        buffer = bytearray(_HEAD.pack(start, (1 << 64) - 1 - start, 0, 0, _MOST, 0))
        buffer += bytes(_EXTENT.size * _MOST)
        fcntl.ioctl(descriptor, _FIEMAP, buffer)
        count = _HEAD.unpack_from(buffer)[3]
        if not count:
            return
        for number in range(count):
            fields = _EXTENT.unpack_from(buffer, _HEAD.size + number * _EXTENT.size)
            logical, physical, length, flags = fields[0], fields[1], fields[2], fields[5]
            if not flags & _NOT_PLACED:
                yield physical, length
            if flags & _LAST:
                return
            start = logical + length


def _all_files(top: str, device: int) -> Iterator[str]:
    """Return all folders and regular files of one file system."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.stat(follow_symlinks=False).st_dev == device:
                            waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path
        except OSError:
            continue


def add_contents(
    reader: HostReader,
    array: str,
    stretches: Sequence[Mismatch],
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Mismatch, ...]:
    """Return stretches with what lies there. Nothing is written.

    Args:
        reader: the host, live.
        array: the kernel's name.
        stretches: what was found.
        cancelled: whether to end; what was not looked up then says so.
    """
    layers = Layers(reader)
    grounds = [
        [each for at in stretch.addresses for each in layers.grounds(array, at, stretch.sectors)]
        for stretch in stretches
    ]
    wanted: dict[str, list[LaidStretch]] = {}
    for each in (each for some in grounds for each in some if each.kind is None):
        wanted.setdefault(each.device, []).append(each)
    mounts = _mounts(reader, wanted)
    read = {
        device: _owned(reader, device, some, mounts.get(device), cancelled) for device, some in wanted.items()
    }
    return tuple(
        replace(
            stretch,
            contents=tuple(part for each in some for part in _contents(each, read, mounts.get(each.device))),
        )
        for stretch, some in zip(stretches, grounds, strict=True)
    )


def _mounts(reader: HostReader, devices: Mapping[str, list[LaidStretch]]) -> dict[str, Mount]:
    """Return where devices are mounted, at a place where all of the file system is seen if there is one."""
    numbers = {reader.text(f"{BLOCK}/{name}/dev"): name for name in devices}
    found: dict[str, Mount] = {}
    for mount in read_mounts(reader):
        name = numbers.get(mount.dev)
        if name is not None and (name not in found or found[name].top != "/"):
            found[name] = mount
    return found


def _owned(
    reader: HostReader,
    device: str,
    grounds: list[LaidStretch],
    mount: Mount | None,
    cancelled: Callable[[], bool],
) -> list[Slice] | str:
    """Return who owns what on a device, or why that is not known."""
    if cancelled():
        return _ENDED
    spans = [(each.first * SECTOR_BYTES, (each.first + each.sectors) * SECTOR_BYTES) for each in grounds]
    kind = mount.kind if mount is not None else grounds[0].file_system
    if kind == "xfs" and mount is not None:
        return _of_mounted(reader, mount, spans, cancelled)
    if kind in _EXT or kind == "xfs":
        size, owners = (find_xfs_owners if kind == "xfs" else find_ext_owners)(reader, device, spans)
        if isinstance(owners, str):
            return owners
        return [(block * size, (block + 1) * size, owner) for block, owner in sorted(owners.items())]
    return _UNKNOWN.get(kind, f"a file system ({kind}) whose files are not looked up")


def _of_mounted(
    reader: HostReader, mount: Mount, spans: Sequence[tuple[int, int]], cancelled: Callable[[], bool]
) -> list[Slice] | str:
    """Return the files by their extents, then free space and tables by the map of the file system."""
    try:
        files = find_files_at(mount.where, spans, cancelled)
    except OSError as error:
        return f"{mount.where} cannot be read: {error.strerror}"
    if cancelled():
        return _ENDED
    names: dict[int, dict[str, None]] = {}
    for _, _, inode, path in files:
        names.setdefault(inode, {})[path] = None
    found: list[Slice] = [
        (first, end, make_file_owner(inode, tuple(names[inode]))) for first, end, inode, _ in files
    ]
    return sorted({*found, *find_space_at(reader, mount.where, spans)}, key=lambda each: each[:2])


def _contents(
    ground: LaidStretch, read: Mapping[str, list[Slice] | str], mount: Mount | None
) -> Iterator[Contents]:
    """Return a stretch of a device, cut where another owner begins."""
    if ground.kind is not None:
        yield _content(ground, ground.first, ground.sectors, Owner(kind=ground.kind, text=ground.text), None)
        return
    owned = read[ground.device]
    if isinstance(owned, str):
        yield _content(ground, ground.first, ground.sectors, unknown(owned), mount)
        return
    at, end = ground.first, ground.first + ground.sectors
    held: tuple[int, int, Owner] | None = None
    while at < end:
        last, owner = _owner_at(owned, at, end)
        if held is not None and held[2] == owner:
            held = (held[0], last, owner)
        else:
            if held is not None:
                yield _content(ground, held[0], held[1] - held[0], held[2], mount)
            held = (at, last, owner)
        at = last
    if held is not None:
        yield _content(ground, held[0], held[1] - held[0], held[2], mount)


def _owner_at(owned: list[Slice], at: int, end: int) -> tuple[int, Owner]:
    """Return who owns a sector of a device, and the sector up to which that holds.

    Files that share blocks (reflink) own them together: the first is named with the paths of all.
    """
    byte = at * SECTOR_BYTES
    here = [each for each in owned if each[0] <= byte < each[1]]
    edges = [edge for each in owned for edge in each[:2] if byte < edge]
    last = min([end, *(-(-edge // SECTOR_BYTES) for edge in edges)])
    if not here:
        return last, unknown(TOO_MANY if len(owned) else "its owner is not known")
    files = [owner for _, _, owner in here if owner.kind is ContentKind.FILE]
    if len(files) < 2:
        return last, (files or [here[0][2]])[0]
    paths = tuple(dict.fromkeys(path for owner in files for path in owner.paths))
    return last, make_file_owner(files[0].inode, paths)


def _content(ground: LaidStretch, first: int, sectors: int, owner: Owner, mount: Mount | None) -> Contents:
    return Contents(
        array_sector=ground.array_sector + first - ground.first,
        sectors=sectors,
        kind=owner.kind,
        text=owner.text,
        device=ground.device,
        volumes=ground.volumes,
        file_system=ground.file_system,
        paths=owner.paths,
        inode=owner.inode,
        mounted=mount.where if mount is not None else "",
    )
