"""What is saved of members before superblocks are written, and how it is written back. Pure.

Both ends of each member are copied to files: all that mdadm may write to lies in them. They are written back
only where nothing was written to the array: the data may reach into the ends.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.rescue.mdadm_words import Assembly, Recreation
from raidtui.features.rescue.trial.trial_record import flat
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Device
from raidtui.plans.contents import device_facts
from raidtui.view.units import SECTOR_BYTES, binary_size, counted

EDGE_BYTES = 128 << 20
"""What is saved of each end of a member, where there is room."""
LEAST_BYTES = 1 << 20
"""What is saved at least: md's superblocks lie in the first 8 KiB and in the last 128."""
FIRST_EVENTS = 0
"""What mdadm --create leaves as the count of events, until the array is writable."""
_SAVE_S = 3600.0
_SPARE_BYTES = 8 << 20


class SavingRoom(Struct, frozen=True, kw_only=True):
    """A folder for what is saved.

    Args:
        free_bytes: its room.
        why_not: why nothing can be saved there; "" where it can.
        in_memory: whether it is gone after a boot.
    """

    folder: str
    free_bytes: int
    why_not: str = ""
    in_memory: bool = False


class SavedEnds(Struct, frozen=True, kw_only=True):
    """How the ends of all members are saved, and written back.

    Args:
        folder: where they are.
        note: how much is saved and where, a sentence or two.
    """

    folder: str
    forth: tuple[Step, ...]
    back: tuple[Step, ...]
    note: str


def saved_ends(
    made: Assembly | Recreation, devices: Sequence[Device], room: SavingRoom, ident: str
) -> SavedEnds | Refusal:
    """Return how the ends of members are saved, or why they cannot be.

    Args:
        made: what is done to them.
        devices: the members.
        room: where they are saved.
        ident: the trial's letters: a folder of its own.
    """
    heads = {device.disk.name: _head_bytes(made, device) for device in devices}
    most = sum(max(head, EDGE_BYTES) + EDGE_BYTES for head in heads.values())
    least = sum(head + LEAST_BYTES for head in heads.values())
    other = "name another folder: --save-to FOLDER, or e on the page of the proof"
    if room.why_not:
        return Refusal(code=RefusalCode.NOT_FOUND, why=room.why_not, remedy=other)
    free = f"{binary_size(room.free_bytes)} are free in {room.folder}"
    if room.free_bytes < least + _SPARE_BYTES:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"there is no room to save both ends of {counted(len(devices), 'member')} before superblocks"
            f" are written: {binary_size(least)} at least, and {binary_size(_SPARE_BYTES)} that stay free,"
            f" are needed; {free}",
            remedy=f"make room there, or {other}",
        )
    edge = EDGE_BYTES if room.free_bytes > 2 * most else LEAST_BYTES
    total = most if edge == EDGE_BYTES else least
    note = f"The ends of the members are saved in {room.folder}: {binary_size(total)}; {free}."
    if edge != EDGE_BYTES:
        note += f" {binary_size(EDGE_BYTES)} of each end are saved where {binary_size(2 * most)} are free."
    if room.in_memory:
        note += " That folder is in memory: a reboot clears it, and then nothing can be restored."
    folder = f"{room.folder.rstrip('/')}/{ident}"
    counts = {device.disk.name: _unwritten(made, device, devices) for device in devices}
    saved = [
        _member(device, heads[device.disk.name], edge, folder, counts[device.disk.name]) for device in devices
    ]
    return SavedEnds(
        folder=folder,
        forth=tuple(step for forth, _ in saved for step in forth),
        back=tuple(step for _, back in saved for step in back),
        note=note,
    )


def still_unwritten(made: Assembly | Recreation, devices: Sequence[Device]) -> Fact:
    """Return the fact that nothing was written to the array since it was started; RAID 0 counts no events."""
    levels = {device.superblock.level for device in devices if device.superblock is not None}
    striped = made.geometry.level == 0 if isinstance(made, Recreation) else bool(levels & {"raid0", "linear"})
    return Fact(kind=FactKind.UNWRITTEN, subject=made.uuid, value="runs" if striped else "")


def _unwritten(made: Assembly | Recreation, device: Device, devices: Sequence[Device]) -> tuple[Fact, ...]:
    """Md counts an event before the first write, and mdadm none beyond the newest of those it is given."""
    found = [each.superblock.events or 0 for each in devices if each.superblock is not None]
    most = FIRST_EVENTS if isinstance(made, Recreation) else max(found, default=0)
    return (Fact(kind=FactKind.EVENTS, subject=device.disk.name, value=f"{made.uuid}/{most}"),)


def _head_bytes(made: Assembly | Recreation, device: Device) -> int:
    """Return how much of the start of a member mdadm may write to: all that lies before the data."""
    if isinstance(made, Recreation):
        sectors = made.geometry.data_offset_sectors
    else:
        sectors = (device.superblock.offset_sectors or 0) if device.superblock is not None else 0
    return min(max(sectors * SECTOR_BYTES, LEAST_BYTES), device.disk.size_bytes or LEAST_BYTES)


def _member(
    device: Device, head: int, edge: int, folder: str, unwritten: tuple[Fact, ...]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return how the ends of a member are saved, and how they are written back."""
    size = device.disk.size_bytes or 0
    first = min(max(head, edge), size)
    last = min(max(LEAST_BYTES, edge), size)
    base = f"{folder}/{flat(device.disk.name)}"
    tail = f"bs=1M iflag=skip_bytes,count_bytes,fullblock skip={size - last} count={last}"
    return (
        (
            RunTool(
                argv=_dd(device.path, f"{base}.first", f"bs=1M iflag=count_bytes,fullblock count={first}"),
                why=f"save the first {binary_size(first)} of {device.disk.name}",
                timeout_s=_SAVE_S,
            ),
            RunTool(
                argv=_dd(device.path, f"{base}.last", tail),
                why=f"save the last {binary_size(last)} of {device.disk.name}",
                timeout_s=_SAVE_S,
            ),
            RunTool(
                argv=("cmp", f"--bytes={first}", f"{base}.first", device.path),
                why="read it back, and compare",
                timeout_s=_SAVE_S,
            ),
            RunTool(
                argv=(
                    "cmp",
                    f"--bytes={last}",
                    f"--ignore-initial=0:{size - last}",
                    f"{base}.last",
                    device.path,
                ),
                why="read it back, and compare",
                timeout_s=_SAVE_S,
            ),
        ),
        (
            RunTool(
                argv=_dd(
                    f"{base}.first",
                    device.path,
                    f"bs=1M iflag=count_bytes,fullblock count={head} conv=notrunc,fsync",
                ),
                why=f"restore the start of {device.disk.name}, up to its data",
                needs=(*device_facts(device, untouched=False), *unwritten),
                timeout_s=_SAVE_S,
            ),
            RunTool(
                argv=_dd(
                    f"{base}.last",
                    device.path,
                    f"bs=1M iflag=skip_bytes,fullblock skip={last - LEAST_BYTES} oflag=seek_bytes"
                    f" seek={size - LEAST_BYTES} conv=notrunc,fsync",
                ),
                why=f"restore the end of {device.disk.name}",
                needs=(*device_facts(device, untouched=False), *unwritten),
                proves=(Fact(kind=FactKind.UNTOUCHED, subject=device.disk.name, value=device.digest or ""),),
                timeout_s=_SAVE_S,
            ),
        ),
    )


def _dd(source: str, target: str, words: str) -> tuple[str, ...]:
    options = words if "conv=" in words else f"{words} conv=fsync"
    return ("dd", f"if={source}", f"of={target}", *shlex.split(options), "status=none")
