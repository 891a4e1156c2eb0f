"""What mdadm, and the tools for what stands on an array, print and do in the demo.

Only what plans need is played; ``is_played`` says what that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidtui.demo.control import fail_member, remove_member, replace_member, take_back
from raidtui.demo.disks import SimPartition
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.demo.sim_create import (
    assemble,
    create,
    forget_superblocks,
    holder_of,
    size_bytes,
    stop,
    superblock_of,
)
from raidtui.demo.sim_file_system import FILE_SYSTEM_TOOLS, file_system_tool
from raidtui.demo.sim_grow import GrowWords, SimRefusedError, add_spare, grow
from raidtui.demo.sim_stack import VOLUME_TOOLS, change_volume
from raidtui.host.tools import ToolOutput
from raidtui.model.levels import PARITY_LAYOUTS, layout_words

VERSION = "mdadm - v4.3 - 2024-02-15"
_SUPER_SECTORS = 8
_LOG_SECTORS = 24
_CHANGED_S = 1_750_000_000
_LARGER = frozenset({"pvresize", "lvextend", "resize2fs", "xfs_growfs", "btrfs", "cryptsetup", "e2fsck"})
_MANAGED = frozenset({"--add", "--add-spare", "--re-add", "--replace", "--fail", "--remove"})
_MODES = frozenset({"--create", "--assemble", "--stop", "--zero-superblock"})
TOOLS = frozenset({"mdadm", "wipefs", "sfdisk", "udevadm", *_LARGER, *FILE_SYSTEM_TOOLS, *VOLUME_TOOLS})
"""The programs that are played here."""


def is_played(argv: Sequence[str]) -> bool:
    """Whether a command that changes the host is carried out in the demo."""
    if argv[0] == "mdadm":
        return (
            (argv[1] == "--grow" and "--add" not in argv)
            or (argv[1] == "--manage" and argv[3] in _MANAGED)
            or (argv[1] in _MODES and not {"--write-journal", "--consistency-policy"} & _keys(argv))
        )
    return argv[0] in TOOLS


def _keys(argv: Sequence[str]) -> set[str]:
    return {each.partition("=")[0] for each in argv}


def run_tool(kernel: SimKernel, argv: tuple[str, ...], stdin: str = "") -> ToolOutput:
    """Return what a tool prints; what it changes has changed in the kernel then."""
    try:
        text = _mdadm(kernel, argv) if argv[0] == "mdadm" else _other(kernel, argv, stdin)
    except SimRefusedError as refusal:
        return _output(argv, 1, stderr=f"{argv[0]}: {refusal}\n")
    except OSError as error:
        return _output(argv, 1, stderr=f"{argv[0]}: {error.strerror}\n")
    return _output(argv, 0, stdout=text)


def _output(argv: tuple[str, ...], status: int, *, stdout: str = "", stderr: str = "") -> ToolOutput:
    return ToolOutput(argv=argv, status=status, stdout=stdout, stderr=stderr)


def _other(kernel: SimKernel, argv: tuple[str, ...], stdin: str) -> str:
    """The file systems of the demo have no size of their own."""
    if argv[0] in VOLUME_TOOLS:
        return change_volume(kernel, argv)
    if argv[0] in FILE_SYSTEM_TOOLS:
        return file_system_tool(kernel, argv)
    if argv[0] == "wipefs":
        return _wipefs(kernel, argv)
    if argv[0] == "sfdisk":
        return _partition(kernel, argv[-1].removeprefix("/dev/"), stdin)
    words = {"resize2fs": f"The filesystem on {argv[-1]} is larger now.\n"}
    words["pvresize"] = f'  Physical volume "{argv[-1]}" changed\n'
    words["lvextend"] = f"  Logical volume {argv[-1]} successfully resized.\n"
    return words.get(argv[0], "")


def _wipefs(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Clear a device, or say what is on it."""
    device = argv[-1].removeprefix("/dev/")
    if "--all" not in argv:
        found = superblock_of(kernel, device)
        return f"{device} 0x1000 linux_raid_member {_uuid(found[0].uuid)}\n" if found is not None else ""
    _refuse_held(kernel, device, "probing initialization failed")
    forget_superblocks(kernel, (device,))
    kernel.part(device)
    return ""


def _partition(kernel: SimKernel, name: str, table: str) -> str:
    """Write a partition table with one partition: ``start=2048, size=1000, type=...``."""
    _refuse_held(kernel, name, "Checking that no-one is using this disk right now ... FAILED")
    last = table.strip().split("\n")[-1].replace(" ", "").split(",")
    words = dict(each.split("=", 1) for each in last)
    kernel.part(name, SimPartition(number=1, start=int(words["start"]), sectors=int(words["size"])))
    return ""


def _refuse_held(kernel: SimKernel, device: str, words: str) -> None:
    """Refuse what needs a device for itself alone.

    Raises:
        SimRefusedError: an array has it.
    """
    if holder_of(kernel, device):
        raise SimRefusedError(f"/dev/{device}: {words}: Device or resource busy")


def _mdadm(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    if argv[1] == "--version":
        return f"{VERSION}\n"
    if argv[1] == "--examine":
        return _examine(kernel, argv[-1].removeprefix("/dev/"), export="--export" in argv)
    if argv[1] == "--detail":
        return _detail(_array(kernel, argv[-1]))
    if argv[1] == "--manage":
        return _manage(kernel, _array(kernel, argv[2]), argv)
    if argv[1] == "--create":
        return create(kernel, argv)
    if argv[1] == "--assemble":
        return assemble(kernel, argv)
    if argv[1] == "--stop":
        return stop(kernel, _array(kernel, argv[2]), argv[2])
    if argv[1] == "--grow":
        grow(kernel, _array(kernel, argv[2]), _words(argv[3:]))
        return ""
    if argv[1] == "--zero-superblock":
        device = argv[-1].removeprefix("/dev/")
        _refuse_held(kernel, device, "Couldn't open for write")
        if superblock_of(kernel, device) is None:
            raise SimRefusedError(f"Unrecognised md component device - {argv[-1]}")
        forget_superblocks(kernel, (device,))
        return ""
    raise SimRefusedError(f"the demo does not play {' '.join(argv[1:3])}")


def _manage(kernel: SimKernel, array: SimArray, argv: tuple[str, ...]) -> str:
    """Do what a call of ``mdadm --manage`` does (Manage.c); return what it prints."""
    _, _, path, option, given = argv[:5]
    device = given.removeprefix("/dev/")
    if option in {"--add", "--add-spare"}:
        _add(kernel, array, device)
        return f"mdadm: added {given}\n"
    if option == "--re-add":
        try:
            take_back(kernel, array, device)
        except OSError:
            raise SimRefusedError(f"--re-add for {given} to {path} is not possible") from None
        return f"mdadm: re-added {given}\n"
    if option == "--replace":
        return _replace(kernel, array, argv)
    if option == "--fail":
        fail_member(kernel, array, device)
        return f"mdadm: set {given} faulty in {path}\n"
    if option == "--remove":
        remove_member(kernel, array, device)
        return f"mdadm: hot removed {given} from {path}\n"
    raise SimRefusedError(f"the demo does not play {' '.join(argv[1:4])}")


def _add(kernel: SimKernel, array: SimArray, device: str) -> None:
    if holder_of(kernel, device):
        raise SimRefusedError(f"Cannot open /dev/{device}: Device or resource busy")
    if size_bytes(kernel, device) < array.component_kib * 1024 + array.offset_sectors * 512:
        raise SimRefusedError(f"/dev/{device} not large enough to join array")
    add_spare(kernel, array, device)


def _replace(kernel: SimKernel, array: SimArray, argv: tuple[str, ...]) -> str:
    path, old, new = argv[2], argv[4], argv[6]
    member = array.member(old.removeprefix("/dev/"))
    slot = None if member is None else member.slot
    try:
        replace_member(kernel, array, old.removeprefix("/dev/"), new.removeprefix("/dev/"))
    except OSError:
        raise SimRefusedError(f"Failed to set {new} as preferred replacement.") from None
    return (
        f"mdadm: Marked {old} (device {slot} in {path}) for replacement\n"
        f"mdadm: Marked {new} in {path} as replacement for device {slot}\n"
    )


def _detail(array: SimArray) -> str:
    words = {"MD_LEVEL": array.level, "MD_DEVICES": str(array.raid_disks), "MD_METADATA": array.metadata}
    words |= {"MD_UUID": _uuid(array.uuid), "MD_DEVNAME": array.label, "MD_NAME": f"demo:{array.label}"}
    return _lines(words, "=")


def _array(kernel: SimKernel, path: str) -> SimArray:
    array = kernel.array(path.removeprefix("/dev/").removeprefix("md/"))
    if array is None:
        raise SimRefusedError(f"error opening {path}: No such file or directory")
    return array


def _words(options: Sequence[str]) -> GrowWords:
    found = {key: value for key, _, value in (each.partition("=") for each in options) if value}
    level = found.get("--level", "")
    at = options.index("--add") if "--add" in options else len(options)
    return GrowWords(
        level=f"raid{level}" if level else "",
        disks=int(found.get("--raid-devices", "0")),
        layout=found.get("--layout", ""),
        chunk_kib=int(found.get("--chunk", "0")),
        size_kib=int(found.get("--size", "0")),
        array_size=found.get("--array-size", ""),
        bitmap=found.get("--bitmap", ""),
        adds=tuple(options[at + 1 :]),
    )


def _examine(kernel: SimKernel, device: str, *, export: bool) -> str:
    found = superblock_of(kernel, device)
    if found is not None:
        return _exported(*found) if export else _printed(*found)
    raise SimRefusedError(f"No md superblock detected on /dev/{device}.")


def _uuid(digits: str) -> str:
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def _device_uuid(array: SimArray, member: SimMember) -> str:
    return _uuid(f"{member.number + 1:04x}{array.uuid[4:]}")


def _exported(array: SimArray, member: SimMember) -> str:
    return _lines(
        {
            "MD_LEVEL": array.level,
            "MD_DEVICES": str(array.raid_disks),
            "MD_NAME": f"demo:{array.label}",
            "MD_UUID": _uuid(array.uuid),
            "MD_UPDATE_TIME": str(_CHANGED_S),
            "MD_DEV_UUID": _device_uuid(array, member),
            "MD_EVENTS": "4242",
            "MD_METADATA": array.metadata,
        },
        "=",
    )


def _printed(array: SimArray, member: SimMember) -> str:
    """Return a superblock as examine_super1 of super1.c prints it, in the main."""
    used = array.component_kib * 2
    before = array.offset_sectors - _SUPER_SECTORS - _LOG_SECTORS
    role = "spare" if member.slot is None else f"Active device {member.slot}"
    words = {
        "Magic": "a92b4efc",
        "Version": array.metadata,
        "Feature Map": "0x1" if array.bitmap else "0x0",
        "Array UUID": _uuid(array.uuid),
        "Name": f"demo:{array.label}  (local to host demo)",
        "Raid Level": array.level,
        "Raid Devices": str(array.raid_disks),
        "Avail Dev Size": f"{used} sectors",
        "Used Dev Size": f"{used} sectors",
        "Data Offset": f"{array.offset_sectors} sectors",
        "Super Offset": f"{_SUPER_SECTORS} sectors",
        "Unused Space": f"before={before} sectors, after=0 sectors",
        "State": "clean",
        "Device UUID": _device_uuid(array, member),
        "Checksum": "5a3c1f07 - correct",
        "Events": "4242",
        "Device Role": role,
        "Array State": f"{array.up.replace('U', 'A').replace('_', '.')} ('A' == active, '.' == missing)",
    }
    if array.chunk_kib:
        words["Chunk Size"] = f"{array.chunk_kib}K"
    if array.level in {"raid5", "raid6"}:
        words["Layout"] = PARITY_LAYOUTS.get(array.layout, "-unknown-")
    elif array.level == "raid10":
        words["Layout"] = layout_words(array.level, array.layout) or ""
    return f"/dev/{member.device}:\n{_lines(words, ' : ')}"


def _lines(words: Mapping[str, str], sign: str) -> str:
    return "".join(f"{key}{sign}{value}\n" for key, value in words.items())
