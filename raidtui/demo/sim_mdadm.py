"""What mdadm, and the tools that make larger what stands on an array, print and do in the demo.

Only what a plan of another shape needs is played; ``is_played`` says what that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidtui.demo.control import fail_member, remove_member
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.demo.sim_grow import GrowWords, SimRefusedError, add_spare, grow
from raidtui.host.tools import ToolOutput
from raidtui.model.levels import PARITY_LAYOUTS, layout_words

VERSION = "mdadm - v4.3 - 2024-02-15"
_SUPER_SECTORS = 8
_LOG_SECTORS = 24
_CHANGED_S = 1_750_000_000
_LARGER = frozenset(
    {"pvresize", "lvextend", "resize2fs", "xfs_growfs", "btrfs", "cryptsetup", "e2fsck", "tune2fs"}
)
TOOLS = frozenset({"mdadm", "wipefs", *_LARGER})
"""The programs that are played here."""


def is_played(argv: Sequence[str]) -> bool:
    """Whether a command that changes the host is carried out in the demo."""
    if argv[0] == "mdadm":
        return (
            (argv[1] == "--grow" and "--add" not in argv)
            or (argv[1] == "--manage" and argv[3] in {"--add-spare", "--fail", "--remove"})
            or argv[1] == "--zero-superblock"
        )
    return argv[0] in _LARGER


def run_tool(kernel: SimKernel, argv: tuple[str, ...]) -> ToolOutput:
    """Return what a tool prints; what it changes has changed in the kernel then."""
    try:
        text = _mdadm(kernel, argv) if argv[0] == "mdadm" else _other(kernel, argv)
    except SimRefusedError as refusal:
        return _output(argv, 1, stderr=f"mdadm: {refusal}\n")
    except OSError as error:
        return _output(argv, 1, stderr=f"mdadm: {error.strerror}\n")
    return _output(argv, 0, stdout=text)


def _output(argv: tuple[str, ...], status: int, *, stdout: str = "", stderr: str = "") -> ToolOutput:
    return ToolOutput(argv=argv, status=status, stdout=stdout, stderr=stderr)


def _other(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Nothing is left to clear on the free disks of the demo; its file systems have no size of their own."""
    if argv[0] == "tune2fs":
        return _tune2fs(kernel, argv)
    words = {"resize2fs": f"The filesystem on {argv[-1]} is larger now.\n"}
    words["pvresize"] = f'  Physical volume "{argv[-1]}" changed\n'
    words["lvextend"] = f"  Logical volume {argv[-1]} successfully resized.\n"
    return words.get(argv[0], "")


def _tune2fs(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    """Note a file system's stripes, or print them."""
    key = f"{argv[-1]}/stripes"
    if argv[1] == "-E":
        kernel.knobs[key] = argv[2]
        return ""
    stride, _, width = kernel.knobs.get(key, "=,=").partition(",")
    rows = {"RAID stride": stride.partition("=")[2], "RAID stripe width": width.partition("=")[2]}
    return "".join(f"{name + ':':<26}{figure}\n" for name, figure in rows.items() if figure)


def _mdadm(kernel: SimKernel, argv: tuple[str, ...]) -> str:
    if argv[1] == "--version":
        return f"{VERSION}\n"
    if argv[1] == "--examine":
        return _examine(kernel, argv[-1].removeprefix("/dev/"), export="--export" in argv)
    if argv[1] == "--grow":
        grow(kernel, _array(kernel, argv[2]), _words(argv[3:]))
        return ""
    if argv[1] == "--manage" and argv[3] == "--add-spare":
        device = argv[4].removeprefix("/dev/")
        add_spare(kernel, _array(kernel, argv[2]), device)
        _array(kernel, argv[2]).left.pop(device, None)
        return f"mdadm: added {argv[4]}\n"
    if argv[1] == "--manage" and argv[3] == "--fail":
        fail_member(kernel, _array(kernel, argv[2]), argv[4].removeprefix("/dev/"))
        return f"mdadm: set {argv[4]} faulty in {argv[2]}\n"
    if argv[1] == "--zero-superblock":
        for array in kernel.arrays:
            array.left.pop(argv[2].removeprefix("/dev/"), None)
        return ""
    if argv[1] == "--manage" and argv[3] == "--remove":
        array, device = _array(kernel, argv[2]), argv[4].removeprefix("/dev/")
        member = array.member(device)
        remove_member(kernel, array, device)
        array.left |= {device: member} if member is not None else {}
        return f"mdadm: hot removed {argv[4]} from {argv[2]}\n"
    raise SimRefusedError(f"the demo does not play {' '.join(argv[1:3])}")


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
    for array in kernel.arrays:
        member = array.member(device) or array.left.get(device)
        if member is not None:
            return _exported(array, member) if export else _printed(array, member)
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
            "MD_METADATA": "1.2",
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
        "Version": "1.2",
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
