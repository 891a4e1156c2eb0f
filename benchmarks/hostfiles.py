"""The files of one synthetic host: the text the kernel would print, and writing it below a directory.

Values follow what Linux 6.12 to 7.2 print for real arrays (drivers/md/md.c: md_seq_show, status_resync and
the md sysfs attributes).  Sizes are KiB where the kernel says "blocks", sectors in sysfs `size` files.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SYNC_SLOTS = 20  # the width of mdstat's progress bar
SECTORS_PER_KIB = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """A resync that runs: how far it is (KiB of the array's `total`), and its speed."""

    done_kib: int
    total_kib: int
    speed_kib_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """One md array: its geometry, its members by slot, and what it is doing."""

    number: int
    level: str
    members: tuple[str, ...]
    raid_disks: int
    component_kib: int
    chunk_kib: int = 0
    bitmap: bool = False
    sync: Sync | None = None

    @property
    def name(self) -> str:
        """The kernel's name, `md127`."""
        return f"md{self.number}"

    @property
    def degraded(self) -> int:
        """The number of empty slots."""
        return self.raid_disks - len(self.members)

    @property
    def size_kib(self) -> int:
        """Capacity, without copies and parity."""
        data = {
            "raid1": 1.0,
            "raid10": self.raid_disks / 2,
            "raid5": self.raid_disks - 1,
            "raid6": self.raid_disks - 2,
        }
        return int(self.component_kib * data[self.level])


def mdstat_entry(array: Array) -> str:
    """The array's lines of /proc/mdstat."""
    members = " ".join(f"{name}[{slot}]" for slot, name in reversed(tuple(enumerate(array.members))))
    parity = f" level {array.level[4:]}, {array.chunk_kib}k chunk, algorithm 2"
    persona = {"raid1": "", "raid10": f" {array.chunk_kib}K chunks 2 near-copies"}.get(array.level, parity)
    health = f"[{array.raid_disks}/{len(array.members)}] [{'U' * len(array.members)}{'_' * array.degraded}]"
    text = f"{array.name} : active {array.level} {members}\n"
    text += f"      {array.size_kib} blocks super 1.2{persona} {health}\n      "
    if array.sync is not None:
        text += f"{_progress(array.sync)}\n      "
    if array.bitmap:
        text += "bitmap: 0/4 pages [0KB], 65536KB chunk\n"
    return text + "\n"


def _progress(sync: Sync) -> str:
    """The line of status_resync: bar, per mille rounded down, minutes with one decimal."""
    permille = sync.done_kib * 1000 // sync.total_kib
    filled = permille * SYNC_SLOTS // 1000
    left_s = (sync.total_kib - sync.done_kib) // max(1, sync.speed_kib_s)
    bar = "=" * filled + ">" + "." * (SYNC_SLOTS - filled)
    return (
        f"[{bar}]  resync ={permille // 10:3d}.{permille % 10}% ({sync.done_kib}/{sync.total_kib})"
        f" finish={left_s // 60}.{left_s % 60 // 6}min speed={sync.speed_kib_s}K/sec"
    )


def mdstat(arrays: Iterable[Array]) -> str:
    """Return the text of /proc/mdstat, newest array first."""
    entries = "".join(mdstat_entry(array) for array in arrays)
    return f"Personalities : [raid1] [raid4] [raid5] [raid6] [raid10] \n{entries}unused devices: <none>\n"


def sync_attributes(array: Array) -> dict[str, str]:
    """The md attributes that move while an array resyncs."""
    if array.sync is None:
        idle = {"sync_action": "idle", "sync_completed": "none", "sync_speed": "none"}
        return {**idle, "resync_start": "none"}
    done, total = (kib * SECTORS_PER_KIB for kib in (array.sync.done_kib, array.sync.total_kib))
    return {
        "sync_action": "resync",
        "sync_completed": f"{done} / {total}",
        "sync_speed": str(array.sync.speed_kib_s),
        "resync_start": str(done),
    }


def md_attributes(array: Array) -> dict[str, str]:
    """Return the files below `mdN/md/` except the members: name to text (without the newline)."""
    layout = {"raid1": "0", "raid10": "258"}.get(array.level, "2")
    hexes = f"{array.number:08x}96fc09a4d00dfeed12345678"
    return {
        **sync_attributes(array),
        "array_state": "clean" if array.sync is None else "active",
        "level": array.level,
        "layout": layout,
        "chunk_size": str(array.chunk_kib * 1024),
        "metadata_version": "1.2",
        "raid_disks": str(array.raid_disks),
        "degraded": str(array.degraded),
        "sync_speed_min": "1000 (system)",
        "sync_speed_max": "200000 (system)",
        "mismatch_cnt": "0",
        "component_size": str(array.component_kib),
        "array_size": "default",
        "consistency_policy": "bitmap" if array.bitmap else "resync",
        "uuid": "-".join((hexes[:8], hexes[8:12], hexes[12:16], hexes[16:20], hexes[20:])),
        "last_sync_action": "resync" if array.sync is not None else "check",
        "reshape_position": "none",
        "sync_min": "0",
        "sync_max": "max",
        "safe_mode_delay": "0.204",
        "bitmap/location": "+8" if array.bitmap else "none",
    }


def member_attributes(array: Array, slot: int) -> dict[str, str]:
    """Return the files below `mdN/md/dev-X/` except the link to the disk."""
    return {
        "state": "in_sync",
        "slot": str(slot),
        "errors": "0",
        "offset": "264192",
        "size": str(array.component_kib),
        "recovery_start": "none",
    }


def disk_attributes(index: int, size_kib: int) -> dict[str, str]:
    """Everything below `sdX/`; the sizes of SCSI's padded strings are kept."""
    reads, writes = 10_000 + 37 * index, 20_000 + 41 * index
    return {
        "size": str(size_kib * SECTORS_PER_KIB),
        "dev": f"8:{16 * index}" if index < 16 else f"259:{index}",
        "ro": "0",
        "removable": "0",
        "queue/rotational": "0",
        "stat": f"{reads:8} 12 {reads * 64} 900 {writes} 70 {writes * 64} 1800 0 2400 2700 0 0 0 0 90 40",
        "device/model": "Samsung SSD 850 ",
        "device/vendor": "ATA     ",
    }


def disk_name(index: int) -> str:
    """`sda` for 0, `sdaa` for 26, as the sd driver counts."""
    letters = ""
    left = index + 1
    while left:
        left, digit = divmod(left - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return f"sd{letters}"


def write_host(root: Path, arrays: tuple[Array, ...], *, disk_kib: int) -> None:
    """Write the tree: the parts of /proc and /sys that an md console reads.

    Every disk of `disk_kib` belongs to one array as a whole.  Files that are there are replaced.
    """
    files: dict[Path, str] = {
        root / "proc/mdstat": mdstat(arrays)[:-1],
        root / "proc/sys/dev/raid/speed_limit_min": "1000",
        root / "proc/sys/dev/raid/speed_limit_max": "200000",
        root / "proc/sys/kernel/hostname": "alpha",
        root / "proc/sys/kernel/osrelease": "6.12.3",
    }
    links: dict[Path, str] = {}
    block = root / "sys/class/block"
    for array in arrays:
        top = block / array.name
        files[top / "size"] = str(array.size_kib * SECTORS_PER_KIB)
        files[top / "dev"] = f"9:{array.number}"
        files[top / "ro"] = "0"
        files.update(_below(top / "md", md_attributes(array)))
        for slot, disk in enumerate(array.members):
            files.update(_below(top / f"md/dev-{disk}", member_attributes(array, slot)))
            links[top / f"md/dev-{disk}/block"] = f"../../../{disk}"
            links[top / f"md/rd{slot}"] = f"dev-{disk}"
    disks = [disk for array in arrays for disk in array.members]
    for index, disk in enumerate(disks):
        files.update(_below(block / disk, disk_attributes(index, disk_kib)))
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")
    for path, target in links.items():
        path.unlink(missing_ok=True)
        path.symlink_to(target)


def _below(top: Path, attributes: dict[str, str]) -> Iterator[tuple[Path, str]]:
    return ((top / name, text) for name, text in attributes.items())


def replace_text(path: Path, text: str) -> None:
    """Replace a file atomically: a reader sees the old text or the new one."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="ascii")
    new.rename(path)


def rewrite_in_place(path: Path, text: str) -> None:
    """Change a file that readers keep open, as the kernel does: same inode, new text."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(fd, os.pwrite(fd, text.encode("ascii"), 0))
    finally:
        os.close(fd)
