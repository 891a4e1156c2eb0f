"""Hosts described in a few words, as the trees that the kernel, udev and mdadm would show.

``host_tree(raid10(failed=("sdb",)), mounts={"md127": "/srv"})`` is a ``Tree``; ``tree.root()`` reads it, and
a ``Stage`` shows one tree after another to a sampler, with clocks that only the test moves. Attributes are
those of kernel 7.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import output_path
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from tests.hosts.specs import (
    COMPONENT_KIB,
    ArraySpec,
    Syncing,
    container,
    growing_raid0,
    inactive,
    mdstat_text,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)

__all__ = [
    "COMPONENT_KIB", "EPOCH_S", "ArraySpec", "Stage", "Syncing", "Tree", "container", "device_number",
    "growing_raid0", "host_tree", "inactive", "mdstat_text", "raid0", "raid1", "raid5", "raid6", "raid10",
    "snapshot_of", "whole_disk",
]  # fmt: skip

EPOCH_S = 1_795_209_900.0


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A host's files and links, by absolute path."""

    files: dict[str, str]
    links: dict[str, str]

    def root(self, *, source: str = "") -> Stage:
        """Return a root that reads this tree."""
        return Stage(self, source=source)

    def write_to(self, folder: Path) -> None:
        """Make the tree real below a folder."""
        for path, text in self.files.items():
            place = folder / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        for path, target in self.links.items():
            place = folder / path[1:]
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(target)


class Stage(SimulatedReader):
    """A root whose host changes when the test says so.

    Args:
        tree: what is there first.
        source: what the header calls it.
    """

    def __init__(self, tree: Tree, *, source: str = "") -> None:
        super().__init__(tree.files, links=tree.links, source=source)
        self.passed_s = 0.0

    def show(self, tree: Tree, *, after_s: float = 1.0, pulled: Collection[str] = ()) -> None:
        """Replace the whole host, ``after_s`` later.

        A stopped array takes no disk with it: those of before are still there, but for ``pulled``.
        """
        disks = {path: data for path, data in self._files.items() if _is_of_a_disk(path, pulled)}
        self.drop("")
        for path, data in disks.items():
            self.put(path, data)
        for path, text in tree.files.items():
            self.put(path, text)
        self._links = dict(tree.links)
        for path in tree.links:
            self._enter(path)
        self.passed_s += after_s

    def now_s(self) -> float:
        """See ``HostReader.now_s``: ``EPOCH_S`` and what has passed."""
        return EPOCH_S + self.passed_s

    def clock(self) -> float:
        """Monotonic seconds, for ``Sampler(root, clock=root.clock)``."""
        return 1000.0 + self.passed_s

    def sampler(self) -> Sampler:
        """Return a sampler of this host by its own clock."""
        return Sampler(self, clock=self.clock)


def _is_of_a_disk(path: str, pulled: Collection[str]) -> bool:
    folder, _, name = path.removeprefix("/sys/class/block/").partition("/")
    return (
        path.startswith("/sys/class/block/")
        and name == "dev"
        and not folder.startswith("md")
        and whole_disk(folder) not in pulled
    )


def host_tree(
    *arrays: ArraySpec,
    limits: tuple[int, int] | None = (1000, 200_000),
    hostname: str = "nas",
    kernel: str = "7.2.13",
    disks: Mapping[str, Mapping[str, str]] | None = None,
    mounts: Mapping[str, str] | None = None,
    swaps: Sequence[str] = (),
    holders: Mapping[str, Sequence[str]] | None = None,
    io: Mapping[str, Sequence[int]] | None = None,
    sysfs: bool = True,
    udev: bool = True,
    mdadm: bool = False,
) -> Tree:
    """Return a host with these arrays, newest first.

    Args:
        *arrays: what mdstat lists.
        limits: the system's (min, max), KiB/s; None: md is not loaded, and there is no mdstat.
        hostname: as /proc reports it.
        kernel: the release.
        disks: disk -> any of model, serial, wwn, rotational ("0"), size (sectors); others get made-up ones.
        mounts: device -> mount point (ext4).
        swaps: devices.
        holders: device -> holders, ``dm-0`` or ``dm-0=vg-lv``.
        io: device -> the ten counters of /proc/diskstats from "reads" to "busy ms".
        sysfs: whether /sys/class/block/mdN is there.
        udev: whether there is a database.
        mdadm: whether captured output of ``mdadm --detail/--examine --export`` is there.
    """
    files = {"/proc/sys/kernel/hostname": f"{hostname}\n", "/proc/sys/kernel/osrelease": f"{kernel}\n"}
    links: dict[str, str] = {}
    if limits is not None:
        files["/proc/mdstat"] = mdstat_text(*arrays)
        files["/proc/sys/dev/raid/speed_limit_min"] = f"{limits[0]}\n"
        files["/proc/sys/dev/raid/speed_limit_max"] = f"{limits[1]}\n"
    members = {device for array in arrays for device in array.devices}
    names = sorted(members | set(disks or {}))
    pulled = {device for array in arrays for device in array.pulled}
    for name in (each for each in names if each not in pulled):
        _disk(files, links, name, (disks or {}).get(whole_disk(name), {}), udev=udev, member=name in members)
    for array in arrays:
        if sysfs:
            _md(files, array, limits or (1000, 200_000))
        if udev and array.state != "inactive":
            _md_udev(files, links, array, hostname)
        if mdadm:
            _md_mdadm(files, array, hostname)
    _usage(files, mounts or {}, swaps, holders or {})
    if io:
        files["/proc/diskstats"] = "".join(
            f"   8       0 {name} {' '.join(map(str, values))} 0 0 0 0 0 0\n" for name, values in io.items()
        )
    return Tree(files=files, links=links)


def whole_disk(name: str) -> str:
    """Return the disk of a partition: sda of sda2, nvme0n1 of nvme0n1p2."""
    if name.startswith("nvme"):
        return name.partition("p")[0]
    return name.rstrip("0123456789") if name.startswith(("sd", "vd")) else name


def device_number(name: str) -> str:
    """Return "major:minor" as the kernel would number it."""
    if name.startswith("md"):
        return f"9:{int(''.join(filter(str.isdigit, name)) or 0)}"
    if name.startswith("dm-"):
        return f"253:{name[3:]}"
    disk = whole_disk(name)
    partition = int(name[len(disk) :].lstrip("p") or 0)
    if disk.startswith("sd"):
        index = 0
        for letter in disk[2:]:
            index = index * 26 + ord(letter) - ord("a") + 1
        return f"8:{(index - 1) * 16 + partition}"
    return f"259:{sum(map(ord, disk)) * 16 % 4096 + partition}"


def _disk(
    files: dict[str, str],
    links: dict[str, str],
    name: str,
    known: Mapping[str, str],
    *,
    udev: bool,
    member: bool,
) -> None:
    disk = whole_disk(name)
    block = "/sys/class/block"
    serial = known.get("serial", f"S{disk.upper()}0001")
    values = {"dev": device_number(disk), "size": known.get("size", "468862128")}
    values |= {
        "device/model": known.get("model", "SSDSC2BB240G4   "),
        "queue/rotational": known.get("rotational", "0"),
    }
    sysfs_name = disk.replace("/", "!")
    files.update({f"{block}/{sysfs_name}/{key}": f"{value}\n" for key, value in values.items()})
    links[f"{block}/{sysfs_name}"] = f"../../devices/pci0000:00/0000:00:06.0/ata1/block/{sysfs_name}"
    identity = f"E:ID_SERIAL_SHORT={serial}\nE:ID_WWN={known.get('wwn', '0x55cd2e4' + serial.lower())}\n"
    signed = "E:ID_FS_TYPE=linux_raid_member\n" if member else ""
    if udev:
        files[f"/run/udev/data/b{device_number(disk)}"] = identity + ("" if name != disk else signed)
    if name == disk:
        return
    number = name[len(disk) :].lstrip("p")
    values = {"dev": device_number(name), "size": "440401920", "partition": number}
    for folder in (f"{block}/{name}", f"{block}/{disk}/{name}"):
        files.update({f"{folder}/{key}": f"{value}\n" for key, value in values.items()})
    links[f"{block}/{name}"] = f"../../devices/pci0000:00/0000:00:06.0/ata1/block/{disk}/{name}"
    if udev:
        files[f"/run/udev/data/b{device_number(name)}"] = identity + signed


def _md(files: dict[str, str], array: ArraySpec, limits: tuple[int, int]) -> None:
    node = f"/sys/class/block/{array.name}"
    files[f"{node}/dev"] = f"{device_number(array.name)}\n"
    files[f"{node}/size"] = f"{0 if array.state == 'inactive' else array.size_kib * 2}\n"
    for key, value in (_attributes(array, limits) | dict(array.attributes)).items():
        if value is not None:
            files[f"{node}/md/{key}"] = f"{value}\n"
    for device in array.devices:
        folder = f"{node}/md/dev-{device.replace('/', '!')}"
        files[f"{folder}/state"] = f"{array.state_words(device)}\n"
        files[f"{folder}/slot"] = "none\n" if array.state == "inactive" else f"{array.slot(device)}\n"
        files[f"{folder}/errors"] = f"{array.errors.get(device, 0)}\n"
        if device in array.bad_blocks:
            files[f"{folder}/bad_blocks"] = array.bad_blocks[device]
        files[f"{folder}/size"] = f"{array.component_kib}\n"
        files[f"{folder}/offset"] = "264192\n"
        if array.shift is not None:
            files[f"{folder}/new_offset"] = f"{264192 + array.shift}\n"


def _attributes(array: ArraySpec, limits: tuple[int, int]) -> dict[str, str]:
    count = len(array.members)
    disks = f"{count} ({array.old_raid_disks})" if array.old_raid_disks else str(count)
    state = array.array_state or {"inactive": "inactive", "broken": "broken"}.get(array.state, "clean")
    if array.read_only and not array.array_state:
        state = {"read-only": "readonly", "auto-read-only": "read-auto"}[array.read_only]
    values = {
        "array_state": state,
        "level": array.level,
        "layout": str(array.layout_number),
        "chunk_size": "0" if array.level == "raid1" else str(array.chunk_kib * 1024),
        "component_size": str(array.component_kib),
        "metadata_version": array.metadata,
        "raid_disks": "0" if array.level == "container" else disks,
        "uuid": _dashed(array.array_uuid),
        "resync_start": array.resync_start,
        "reshape_position": array.reshape_position,
        "consistency_policy": _policy(array),
    }
    if array.bitmap is not None:
        values |= {"bitmap/location": "+8", "bitmap/chunksize": str(array.bitmap_chunk_kib * 1024)}
    if not array.redundant or array.state == "inactive":
        return values
    action = "frozen" if array.frozen else array.sync.action if array.sync else "idle"
    return values | {
        "sync_action": action if array.sync is None or array.sync.waiting != "PENDING" else "idle",
        "last_sync_action": array.last_sync_action,
        "degraded": str(array.up.count("_")),
        "mismatch_cnt": str(array.mismatches),
        "sync_min": str(array.sync_min),
        "sync_speed_min": _limit(array.limits[0], limits[0]),
        "sync_speed_max": _limit(array.limits[1], limits[1]),
    }


def _limit(local: int | None, system: int) -> str:
    return f"{system} (system)" if local is None else f"{local} (local)"


def _policy(array: ArraySpec) -> str:
    if array.consistency_policy:
        return array.consistency_policy
    if array.state == "inactive":
        return "unknown"
    if not array.redundant:
        return "none"
    return "journal" if array.journal else "bitmap" if array.bitmap else "resync"


def _dashed(uuid: str) -> str:
    digits = uuid.replace(":", "")
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _full_name(array: ArraySpec, hostname: str) -> str:
    return f"{hostname}:{array.label}" if array.label else ""


def _md_udev(files: dict[str, str], links: dict[str, str], array: ArraySpec, hostname: str) -> None:
    lines = [f"S:md/{array.label}"] if array.label else []
    lines += [
        f"E:MD_LEVEL={array.level}",
        f"E:MD_DEVICES={len(array.members)}",
        f"E:MD_METADATA={array.metadata}",
    ]
    lines.append(f"E:MD_UUID={array.array_uuid}")
    if array.label:
        lines += [f"E:MD_NAME={_full_name(array, hostname)}", f"E:MD_DEVNAME={array.label}"]
        links[f"/dev/md/{array.label}"] = f"../{array.name}"
    files[f"/run/udev/data/b{device_number(array.name)}"] = "\n".join(lines) + "\n"


def _md_mdadm(files: dict[str, str], array: ArraySpec, hostname: str) -> None:
    common = f"MD_LEVEL={array.level}\nMD_DEVICES={len(array.members)}\n"
    name = f"MD_NAME={_full_name(array, hostname)}\n" if array.label else ""
    uuid = f"MD_UUID={array.array_uuid}\n"
    if array.state != "inactive":
        argv = ("mdadm", "--detail", "--export", f"/dev/{array.name}")
        files[output_path(argv)] = (
            f"exit 0\n{common}MD_METADATA={array.metadata}\n{uuid}MD_RESHAPE_ACTIVE=False\n{name}"
        )
    for device in array.devices:
        argv = ("mdadm", "--examine", "--export", f"/dev/{device}")
        files[output_path(argv)] = (
            f"exit 0\n{common}{name}MD_ARRAY_SIZE=838.86MB\n{uuid}MD_UPDATE_TIME=1795209977\nMD_EVENTS=17\n"
        )


def _usage(
    files: dict[str, str],
    mounts: Mapping[str, str],
    swaps: Sequence[str],
    holders: Mapping[str, Sequence[str]],
) -> None:
    mountinfo = ""
    for index, (device, place) in enumerate(mounts.items()):
        escaped = place.replace(" ", "\\040")
        mountinfo += f"{30 + index} 1 {device_number(device)} / {escaped} rw - ext4 /dev/{device} rw\n"
    files["/proc/self/mountinfo"] = mountinfo
    table = "".join(f"/dev/{device}\tpartition\t1048572\t0\t-2\n" for device in swaps)
    files["/proc/swaps"] = f"Filename\tType\tSize\tUsed\tPriority\n{table}"
    for device, held_by in holders.items():
        for holder in held_by:
            name, _, mapped = holder.partition("=")
            files[f"/sys/class/block/{device}/holders/{name}/dev"] = f"{device_number(name)}\n"
            if mapped:
                files[f"/sys/class/block/{name}/dm/name"] = f"{mapped}\n"


def snapshot_of(tree: Tree) -> Snapshot:
    """Return one sample of a tree."""
    return tree.root().sampler().sample()


def timeless(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot without what differs from one sample to the next when nothing has changed."""
    return replace(snapshot, taken_s=0.0, clock_s=0.0, io={})
