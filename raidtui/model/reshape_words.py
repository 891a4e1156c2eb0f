"""A reshape that is not finished, in words: what it changes, how far it is, what it needs. Pure."""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Reshape
from raidtui.model.levels import PARITY_LEVELS, layout_words
from raidtui.model.reshape_place import place, waiting_words
from raidtui.view.units import SECTOR_BYTES, binary_size


def change_words(array: Array) -> str:
    """Return what a reshape changes: ``3 → 4 devices, chunk 64 KiB → 128 KiB; 420 GiB → 630 GiB ...``.

    Args:
        array: as the kernel shows it; "" where it is not reshaped.
    """
    old, new, reshape = array.old_raid_disks, array.raid_disks, array.reshape
    parts = []
    if old and new and old != new:
        less = 1 if array.as_raid4 else 0  # the parity device that is not there
        parts.append(f"{old - less} → {new - less} devices")
    if reshape is not None and reshape.chunk_bytes and array.chunk_bytes:
        parts.append(f"chunk {binary_size(array.chunk_bytes)} → {binary_size(reshape.chunk_bytes)}")
    if reshape is not None and reshape.layout is not None:
        before, after = (layout_words(array.level, each) for each in (array.layout, reshape.layout))
        if before and after:
            parts.append(f"layout {before} → {after}")
    words = ", ".join(parts)
    then_bytes = array.reshaped_bytes
    if words and array.size_bytes and then_bytes and then_bytes != array.size_bytes:
        words += f"; {binary_size(array.size_bytes)} → {binary_size(then_bytes)} when it ends"
    return words


def progress_words(array: Array) -> tuple[str, ...]:
    """Return how far a reshape is, what it needs, and what cannot be read while it rests; sentences."""
    reshape = array.reshape
    if reshape is None:
        return ()
    said = []
    if reshape.position_sectors is not None:
        done = binary_size(reshape.position_sectors * SECTOR_BYTES)
        said.append(
            f"The array has its new shape from {done} on; the reshape moves towards the start."
            if reshape.backwards
            else f"The first {done} of the array have the new shape."
        )
    said.append(_needs(array, reshape))
    if array.sync is None or array.sync.phase is not Phase.RUNNING:
        said.append(_waiting(array, reshape))
    return tuple(text for text in said if text)


def stands_unguarded(array: Array) -> bool:
    """Whether a reshape in place stands at its recorded beginning, and no one saves what md moves.

    md may have moved data since it recorded that place. They are in mdadm's backup file alone, and come back
    when the array is assembled with that file; without it, md moves again what it has moved already. udev
    starts such an array, read-only at first; from any later place, mdadm does not start it without the file,
    and with the file it has put the data back (measured with mdadm 4.2 on Linux 6.1).
    """
    reshape = array.reshape
    return (
        reshape is not None
        and (reshape.shift_sectors, reshape.position_sectors) == (0, 0)
        and not reshape.attended
        and bool(array.read_only)
        and array.old_raid_disks in {None, array.raid_disks}
    )


def waits_words(array: Array) -> str:
    """Return what cannot be read of an array whose reshape stands still, a sentence; "" for nothing."""
    return _waiting(array, array.reshape) if array.reshape is not None else ""


def _needs(array: Array, reshape: Reshape) -> str:
    if reshape.shift_sectors is None:
        return ""
    if reshape.shift_sectors:
        size = binary_size(abs(reshape.shift_sectors) * SECTOR_BYTES)
        where = "end" if reshape.shift_sectors > 0 else "start"
        moves = f"The data of each member move by {size} towards its {where}"
        if array.old_raid_disks is not None or array.level == "raid10":
            return f"{moves}: there is no critical section."
        # As many disks have data as before: raidtui.jobs.reshape_pace says what that means.
        if array.sync_max_sectors is not None:
            return f"{moves}, and md halts where its place is not recorded."
        return (
            f"{moves}. Unless the array was restarted since the reshape began, a power cut can lose what"
            " was moved in the last ten seconds."
        )
    old, new = array.old_raid_disks or array.raid_disks or 0, array.raid_disks or 0
    part = "the whole reshape" if old == new else "its beginning" if new > old else "its end"
    file = f"the backup file is {reshape.backup}" if reshape.backup else "mdadm notes no backup file"
    return f"It moves data in place: {part} is a critical section; {file}."


def _waiting(array: Array, reshape: Reshape) -> str:
    parity = PARITY_LEVELS.get(array.level or "")
    if parity is None or reshape.position_sectors is None or not array.chunk_bytes or not array.raid_disks:
        return ""
    disks = (array.old_raid_disks or array.raid_disks, array.raid_disks)
    found = place(
        position=reshape.position_sectors,
        chunks=(array.chunk_bytes, reshape.chunk_bytes or array.chunk_bytes),
        data_disks=(disks[0] - parity, disks[1] - parity),
        backwards=reshape.backwards,
    )
    return waiting_words(found)
