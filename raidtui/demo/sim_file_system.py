"""File systems on simulated arrays: made, mounted by fstab, trimmed, and asked for their geometry."""

from __future__ import annotations

from itertools import pairwise

from raidtui.demo.kernel import SimKernel, SimMount
from raidtui.demo.sim_array import SimArray
from raidtui.demo.sim_grow import SimRefusedError
from raidtui.model.levels import PARITY_LEVELS

FILE_SYSTEM_TOOLS = frozenset(
    {"mkfs.ext4", "mkfs.xfs", "blkid", "tune2fs", "xfs_info", "mkdir", "mount", "umount", "fstrim"}
)
_FSTAB = "/etc/fstab"
_FIELDS = 3
_MADE_KIB = 66_000
"""What making a file system writes to each member."""


def file_system_tool(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Do what a tool does; return what it prints.

    Raises:
        SimRefusedError: the tool fails.
    """
    if argv[0] in {"mkfs.ext4", "mkfs.xfs"}:
        return _make(kernel, argv)
    if argv[0] == "blkid":
        array = kernel.array(_word(argv[-1]))
        return f"{array.holds}\n" if array is not None and array.holds else ""
    if argv[0] in {"tune2fs", "xfs_info"}:
        return _geometry(kernel, argv)
    if argv[0] == "mount":
        _mount(kernel, argv[-1])
    elif argv[0] == "umount":
        kernel.mounts = [mount for mount in kernel.mounts if mount.where != argv[-1]]
        kernel.generation += 1
    elif argv[0] == "fstrim":
        return _trim(kernel, argv[-1])
    return ""


def _word(path: str) -> str:
    return path.removeprefix("/dev/").removeprefix("md/")


def _make(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Make a file system on an array, and keep its geometry for those who ask."""
    array = kernel.array(_word(argv[-1]))
    if array is None:
        raise SimRefusedError(f"cannot open {argv[-1]}: No such file or directory")
    if any(mount.device == array.name for mount in kernel.mounts):
        raise SimRefusedError(f"{argv[-1]} is mounted; will not make a filesystem here!")
    options = dict(pairwise(argv))
    array.holds = argv[0].removeprefix("mkfs.")
    array.holds_uuid = options.get("-U", options.get("-m", "").removeprefix("uuid="))
    for member in array.members:
        for name in {member.device, member.disk}:
            kernel.counters[name].add(read_kib=64, write_kib=_MADE_KIB, request_kib=64, request_ms=0.5)
    kernel.knobs[f"{argv[-1]}/stripes"] = options.get("-E" if array.holds == "ext4" else "-d", "")
    kernel.emit(array.name, "change", source="uevent")
    return ""


def _geometry(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Note a file system's stripes, or print them."""
    key = f"{argv[-1]}/stripes"
    if argv[1] == "-E":
        kernel.knobs[key] = argv[2]
        return ""
    words = dict(each.split("=") for each in kernel.knobs.get(key, "").split(",") if "=" in each)
    if argv[0] == "xfs_info":
        unit = int(words.get("su", "0k").removesuffix("k")) // 4
        width = unit * int(words.get("sw", "0"))
        return f"         =                       sunit={unit}      swidth={width} blks\n"
    rows = {"RAID stride": words.get("stride"), "RAID stripe width": words.get("stripe_width")}
    return "".join(f"{name + ':':<26}{figure}\n" for name, figure in rows.items() if figure)


def _mount(kernel: SimKernel, where: str) -> None:
    """Mount what fstab has for a place."""
    for line in kernel.texts.get(_FSTAB, "").split("\n"):
        words = line.split()
        if len(words) < _FIELDS or words[1] != where:
            continue
        array = _with_uuid(kernel, words[0].removeprefix("UUID="))
        if array is None:
            raise SimRefusedError(f"mount: {where}: can't find {words[0]}.")
        kernel.mounts.append(
            SimMount(device=array.name, source=array.name, dev=array.dev, where=where, kind=array.holds)
        )
        kernel.generation += 1
        return
    raise SimRefusedError(f"mount: {where}: can't find in /etc/fstab.")


def _with_uuid(kernel: SimKernel, uuid: str) -> SimArray | None:
    return next((array for array in kernel.arrays if uuid and array.holds_uuid == uuid), None)


def _trim(kernel: SimKernel, where: str) -> str:
    """Discard all of a new file system: levels with parity drop that, as raid456 does by default."""
    mount = next((mount for mount in kernel.mounts if mount.where == where), None)
    array = kernel.array(mount.device) if mount is not None else None
    if array is None:
        raise SimRefusedError(f"fstrim: {where}: the discard operation is not supported")
    size_bytes = array.array_kib * 1024
    if array.level not in PARITY_LEVELS:
        for member in array.members:
            for name in {member.device, member.disk}:
                kernel.counters[name].discards += 1
                kernel.counters[name].discarded_sectors += array.component_kib * 2
    return f"{where}: {size_bytes / (1 << 30):.1f} GiB ({size_bytes} bytes) trimmed\n"
