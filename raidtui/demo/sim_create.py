"""Arrays that begin, end and begin again: what ``mdadm --create``, ``--stop`` and ``--assemble`` do.

Sources: Create.c, Assemble.c, Manage.c (Manage_stop) and mdopen.c of mdadm; md_run and do_md_stop of
drivers/md/md.c.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.demo.sim_grow import SimRefusedError
from raidtui.demo.sim_maps import PHYSICAL
from raidtui.demo.sim_stack import has_volumes
from raidtui.model.geometry import raid10_layout, usable_kib
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LAYOUTS

_FIRST_NUMBER = 127
_MISSING = "missing"
_NEAR_2 = 0x102
_LEFT_SYMMETRIC = 2
_SIX = 6


def create(kernel: SimKernel, argv: Sequence[str]) -> str:
    """Create an array and start it; its first resync begins.

    Raises:
        SimRefusedError: mdadm refuses it, or it is not simulated.
    """
    words = _options(argv)
    if "--write-journal" in words or words.get("--consistency-policy"):
        raise SimRefusedError("the demo does not play a journal, nor a partial parity log")
    names = [each.removeprefix("/dev/") for each in argv[3:] if not each.startswith("--")]
    disks = int(words["--raid-devices"])
    level = words["--level"]
    chunk_kib = int(words.get("--chunk", "0"))
    real = [name for name in names if name != _MISSING]
    for name in real:
        if holder_of(kernel, name):
            raise SimRefusedError(f"super1.x cannot open /dev/{name}: Device or resource busy")
    sizes = [size_bytes(kernel, name) for name in real]
    usable = usable_kib(sizes, metadata=words["--metadata"], chunk_kib=chunk_kib)
    forget_superblocks(kernel, real)
    array = SimArray(
        name=_kernel_name(kernel, argv[2]),
        label=words["--name"],
        uuid=words["--uuid"].replace(":", ""),
        level=level,
        layout=_layout(level, words.get("--layout", "")),
        chunk_kib=chunk_kib,
        component_kib=int(words.get("--size", "0")) or min(usable),
        raid_disks=disks,
        members=_members(kernel, names, disks, words, late=_late(argv)),
        bitmap=words.get("--bitmap") == "internal",
        metadata=words["--metadata"],
        offset_sectors=max(0, sizes[0] // 512 - 2 * usable[0]) if words["--metadata"] != "1.0" else 0,
        holds="",
    )
    synced = level in NO_REDUNDANCY or "--assume-clean" in argv or level == "raid5" or _MISSING in names
    array.recovery_cp = None if synced else 0
    _start(kernel, array)
    return f"mdadm: array {argv[2]} started.\n"


def _options(argv: Sequence[str]) -> dict[str, str]:
    return {key: value for key, _, value in (each.partition("=") for each in argv) if value}


def _late(argv: Sequence[str]) -> frozenset[str]:
    """Return the devices that come after --write-mostly."""
    at = argv.index("--write-mostly") if "--write-mostly" in argv else len(argv)
    return frozenset(each.removeprefix("/dev/") for each in argv[at:])


def _layout(level: str, word: str) -> int:
    """Return md's number of a layout."""
    if level == "raid10":
        return raid10_layout(word) or _NEAR_2
    if level in {"raid4", "raid5", "raid6"}:
        named = {name: number for number, name in PARITY_LAYOUTS.items() if number < _SIX}
        return named.get(word, _LEFT_SYMMETRIC)
    return 0


def _members(
    kernel: SimKernel, names: Sequence[str], disks: int, words: dict[str, str], *, late: frozenset[str]
) -> list[SimMember]:
    """Return the members: of a RAID 5, the last one is a spare to which md recovers (Create.c)."""
    found = []
    whole = _MISSING not in names[:disks] and words["--level"] == "raid5"
    for slot, name in enumerate(names):
        if name == _MISSING:
            continue
        target = slot >= disks or (whole and slot == disks - 1)
        found.append(
            SimMember(
                device=name,
                disk=disk_of(kernel, name),
                number=slot + 1 if whole and slot >= disks - 1 else slot,
                slot=None if target else slot,
                in_sync=not target,
                write_mostly=name in late,
            )
        )
    return found


def _kernel_name(kernel: SimKernel, path: str) -> str:
    """Return the name that an array gets: its own, or the highest one that is free (mdopen.c)."""
    word = path.removeprefix("/dev/").removeprefix("md/")
    taken = {array.name for array in kernel.arrays}
    number = word.removeprefix("md")
    if number.isdigit() and f"md{int(number)}" not in taken:
        return f"md{int(number)}"
    return next(name for n in range(_FIRST_NUMBER, -1, -1) if (name := f"md{n}") not in taken)


def _start(kernel: SimKernel, array: SimArray) -> None:
    kernel.stopped = [each for each in kernel.stopped if each.uuid != array.uuid]
    kernel.start(array, newest=True)
    kernel.emit(array.name, "change", source="uevent")


def stop(kernel: SimKernel, array: SimArray, path: str) -> str:
    """Stop an array.

    Raises:
        SimRefusedError: something uses it.
    """
    if uses(kernel, array):
        why = "Perhaps a running process, mounted filesystem or active volume group?"
        raise SimRefusedError(f"Cannot get exclusive access to {path}:{why}")
    kernel.stop(array)
    return f"mdadm: stopped {path}\n"


def uses(kernel: SimKernel, array: SimArray) -> bool:
    """Whether a volume stands on an array, or it is mounted."""
    held = array.name in PHYSICAL and has_volumes(kernel)
    return held or any(mount.device == array.name for mount in kernel.mounts)


def assemble(kernel: SimKernel, argv: Sequence[str]) -> str:
    """Assemble a stopped array, maybe under another name.

    Raises:
        SimRefusedError: there is no such array, or its members are in use.
    """
    words = _options(argv)
    digits = words.get("--uuid", "").replace(":", "")
    array = next((each for each in kernel.stopped if each.uuid == digits), None)
    named = [each.removeprefix("/dev/") for each in argv[3:] if not each.startswith("--")]
    if array is None:
        raise SimRefusedError(f"{argv[2]} not assembled: no array with this UUID is stopped")
    if busy := next((name for name in named if holder_of(kernel, name)), None):
        raise SimRefusedError(f"/dev/{busy} is busy - skipping")
    if words.get("--update") == "name" or "--update=name" in argv:
        array.label = words.get("--name", array.label)
    for member in list(array.members):
        if member.device not in named:
            array.members.remove(member)
            array.left[member.device] = member
    up = array.raid_disks - array.degraded
    array.name = _kernel_name(kernel, argv[2])
    _start(kernel, array)
    drives = "drive" if up == 1 else "drives"
    out_of = f" (out of {array.raid_disks})" if array.degraded else ""
    return f"mdadm: {argv[2]} has been started with {up} {drives}{out_of}.\n"


def holder_of(kernel: SimKernel, device: str, *, parts: bool = True) -> str:
    """Return the array that has a device, or with ``parts`` one of its partitions; else ""."""
    for array in kernel.arrays:
        for member in array.members:
            if device == member.device or (parts and member.disk == device):
                return array.name
    return ""


def disk_of(kernel: SimKernel, device: str) -> str:
    """Return the disk that a device is, or is on; "" where there is none."""
    for disk in kernel.disks.values():
        if device in {disk.name, *(disk.partition_name(each.number) for each in disk.partitions)}:
            return disk.name
    return ""


def size_bytes(kernel: SimKernel, device: str) -> int:
    """Return the size of a disk or partition.

    Raises:
        SimRefusedError: it is not there.
    """
    disk = kernel.disks.get(disk_of(kernel, device))
    if disk is None:
        raise SimRefusedError(f"cannot open /dev/{device}: No such file or directory")
    parts = {disk.partition_name(each.number): each.sectors for each in disk.partitions}
    return 512 * parts.get(device, disk.sectors)


def superblock_of(kernel: SimKernel, device: str) -> tuple[SimArray, SimMember] | None:
    """Return the array and the member that the superblock on a device tells of."""
    for array in (*kernel.arrays, *kernel.stopped):
        member = array.member(device) or array.left.get(device)
        if member is not None:
            return array, member
    return None


def forget_superblocks(kernel: SimKernel, devices: Sequence[str]) -> None:
    """Clear the superblocks on devices that no running array has; an array without any is forgotten."""
    for array in (*kernel.arrays, *kernel.stopped):
        for device in devices:
            array.left.pop(device, None)
    for array in kernel.stopped:
        array.members = [member for member in array.members if member.device not in devices]
    kernel.stopped = [array for array in kernel.stopped if array.members]
    kernel.generation += 1
