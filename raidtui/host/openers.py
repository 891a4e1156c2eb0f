"""Who has a block device open without claiming it: loop devices and processes.

Many may have a device open, and O_EXCL fails only if somebody claims it: mounts, md, LVM, swap. A loop device
does not claim its backing device, nor does a running copy. Only root sees the open files of all processes.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Collection, Mapping

from msgspec import Struct

from raidtui.host.block import BLOCK, DiskReader, whole_disk
from raidtui.host.device_paths import DevicePaths
from raidtui.host.mounts import read_mounts, unescape
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader

_PACE_S = 0.1
_UDEV_S = 15.0
"""How long udev and what it starts is waited for: on a busy host it takes seconds to look at a device."""
_UDEV = frozenset({"systemd-udevd", "udevd", "(udev-worker)", "udev-worker", "eudev"})
_READERS = frozenset({
    "blkid", "blockdev", "btrfs", "debugfs", "dumpe2fs", "lsblk", "lvs", "mdadm", "pvs", "sfdisk", "smartctl",
    "tune2fs", "vgs", "wipefs", "xfs_db", "xfs_io",
})  # fmt: skip
"""Tools by which raidtui looks at a device; by a process that makes plans, they change nothing."""
# stat(2) of a file there may hang.
_REMOTE = ("nfs", "cifs", "smb", "fuse", "ceph", "9p", "afs", "gfs", "glusterfs", "lustre", "autofs")
_LOOP_ENDS = " (deleted)"


class Opener(Struct, frozen=True, kw_only=True):
    """Somebody who has a device open.

    Args:
        words: who, as a clause.
        writes: whether it is open for writing.
        of_udev: whether it is udev, or what udev has started: it closes it soon.
    """

    words: str
    writes: bool
    of_udev: bool = False


def open_words(reader: HostReader, names: Collection[str], *, patience_s: float = 1.0) -> Mapping[str, str]:
    """Return who has these devices or their partitions open, by kernel name; unopened devices are left out.

    For a partition, those who write to its disk count, too. Nobody counts who closes it in ``patience_s``,
    nor udev and its children, as long as they close it within ``_UDEV_S``: they look at what is new.

    Args:
        reader: the host; of one that is not live, only loop devices are known.
        names: kernel names.
        patience_s: how long to repeat the search while somebody is found.
    """
    related = {name: _related(reader, name) for name in names}
    numbers = {number for own, whole in related.values() for number in (*own, whole) if number}
    if not numbers:
        return {}
    loops = _loops(reader, names, numbers)
    since_s = time.monotonic()
    while True:
        processes, all_seen = _processes(reader, numbers)
        found = {}
        for name, (own, whole) in related.items():
            openers = [
                opener for number in own for opener in (*loops.get(number, ()), *processes.get(number, ()))
            ]
            openers += [each for each in (*loops.get(whole, ()), *processes.get(whole, ())) if each.writes]
            words = list(dict.fromkeys(opener.words for opener in openers))
            if words:
                found[name] = ", ".join(words)
            elif not all_seen:
                found[name] = "only root can see which processes have it open"
        is_udev = all(opener.of_udev for openers in processes.values() for opener in openers)
        if not processes or time.monotonic() - since_s >= (
            max(patience_s, _UDEV_S) if is_udev else patience_s
        ):
            return found
        time.sleep(_PACE_S)


def _related(reader: HostReader, name: str) -> tuple[tuple[str, ...], str]:
    """Return the numbers of a device and its partitions, and the number of a partition's disk or ""."""
    node = name.replace("/", "!")
    parts = [
        child
        for child in reader.names(f"{BLOCK}/{node}")
        if child.startswith(node) and reader.text(f"{BLOCK}/{node}/{child}/partition") is not None
    ]
    own = [reader.text(f"{BLOCK}/{each}/dev") for each in (node, *parts)]
    whole = ""
    if reader.text(f"{BLOCK}/{node}/partition") is not None:
        whole = reader.text(f"{BLOCK}/{whole_disk(reader, name).replace('/', '!')}/dev") or ""
    return tuple(number for number in own if number), whole


def _loops(reader: HostReader, names: Collection[str], numbers: set[str]) -> dict[str, list[Opener]]:
    """Return the loop devices on these devices, with the users of the loop devices."""
    found: dict[str, list[Opener]] = {}
    paths = DevicePaths(
        reader, None if not reader.live else names
    )  # on a live host, stat(2) of the path is enough
    for name in reader.names("/sys/block"):
        backing = reader.text(f"/sys/block/{name}/loop/backing_file") if name.startswith("loop") else None
        if not backing:
            continue
        number = paths.number(unescape(backing).removesuffix(_LOOP_ENDS))
        if number in numbers:
            disk = DiskReader(reader).read({name}).get(name)
            users = f" ({disk.users})" if disk is not None and disk.users else ""
            writes = (reader.text(f"/sys/block/{name}/ro") or "0").strip() != "1"
            found.setdefault(str(number), []).append(
                Opener(words=f"{name} is set up on it{users}", writes=writes)
            )
    return found


def _processes(reader: HostReader, numbers: set[str]) -> tuple[dict[str, list[Opener]], bool]:
    """Return the processes that have these devices open, and whether all processes could be read."""
    found: dict[str, list[Opener]] = {}
    if not (isinstance(reader, FolderReader) and reader.live):
        return found, True
    all_seen = True
    away = _remote_mounts(reader)
    import psutil  # noqa: PLC0415  (a plan alone needs it)

    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        try:
            files = os.listdir(f"/proc/{pid}/fd")
        except PermissionError:
            all_seen = False
            continue
        except OSError:  # it has ended
            continue
        for file in files:
            number = _block_number(f"/proc/{pid}/fd/{file}", away)
            if number not in numbers:
                continue
            name = reader.text(f"/proc/{pid}/comm")
            of_udev = _is_udev(pid)
            if name is not None and of_udev is not None and not _is_ours(reader, pid):
                who = "udev's worker" if name in _UDEV else name or "a process"
                more = ", which udev has started," if of_udev and name not in _UDEV else ""
                words = f"{who} (pid {pid}){more} has it open"
                opener = Opener(words=words, writes=_is_writing(reader, pid, file), of_udev=of_udev)
                found.setdefault(number, []).append(opener)
    return found, all_seen


def _block_number(path: str, away: tuple[str, ...]) -> str:
    """Return the number of the block device behind a process's open file, or ""; called for thousands."""
    with contextlib.suppress(OSError):
        target = os.readlink(path)  # noqa: PTH115
        if target.startswith("/") and not target.startswith(away):
            found = os.stat(path)  # noqa: PTH116
            if stat.S_ISBLK(found.st_mode):
                return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
    return ""


def _is_writing(reader: HostReader, pid: int, file: str) -> bool:
    """Whether a file is open for writing, by its flags in fdinfo (proc(5))."""
    lines = (reader.text(f"/proc/{pid}/fdinfo/{file}") or "").split("\n")
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY


def _remote_mounts(reader: HostReader) -> tuple[str, ...]:
    return tuple(f"{mount.where}/" for mount in read_mounts(reader) if mount.kind.startswith(_REMOTE))


def _is_ours(reader: HostReader, pid: int) -> bool:
    """Whether a process is a tool by which this process reads: what is being read is not in use by that.

    Jobs, which write, are carried out by processes of their own; their tools are no children of this one.
    """
    words = (reader.text(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()  # after "pid (comm)"
    return words[1:2] == [str(os.getpid())] and reader.text(f"/proc/{pid}/comm") in _READERS


def _is_udev(pid: int) -> bool | None:
    """Whether a process is udev or a descendant of it; None where it has ended, and has nothing open."""
    import psutil  # noqa: PLC0415  (as above)

    try:
        process = psutil.Process(pid)
        return any(each.name() in _UDEV for each in (process, *process.parents()))
    except psutil.NoSuchProcess:
        return None
    except psutil.Error:
        return False
