"""Halts a reshape that mdadm has continued in a trial: what has been moved by then is looked at."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable

from raidtui.host.md.array_attributes import raid_disks_of
from raidtui.host.md.mdstat import MdstatArray, parse_mdstat
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.trial_writer import TrialWriter
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.reshape_place import ReshapePlace, place
from raidtui.view.units import SECTOR_BYTES, binary_size

_AHEAD_SECTORS = 256 << 11
"""How much of each member is moved on, so that md has not passed that place when the limit is written."""
_HOLD_S, _PACE_S = 120.0, 0.1


def hold_reshape(root: HostReader, array: str) -> str:
    """Halt a reshape that mdadm has continued; return why it does not halt, or "".

    md halts at a place and records it: where it is frozen, what was moved and is not recorded cannot be read
    (make_stripe_request waits for it). The mdadm that watches it is ended: it would let it continue. A member
    that is not much larger than what is moved on is moved to its end.

    Args:
        root: the host.
        array: the kernel's name of the trial's array.
    """
    base, writer = _base(array), TrialWriter(root)
    moved = next(
        (each.sync.done_kib or 0 for each in _arrays(root) if each.name == array and each.sync is not None), 0
    )
    with contextlib.suppress(OSError):
        writer.write(array, "sync_action", "frozen")
    writer.end_watchers(array)
    step = max(max(_chunks(root, base), default=0) // SECTOR_BYTES, 1)
    halt = (moved * 2 + _AHEAD_SECTORS) // step * step
    size = int(root.text(f"{base}/component_size") or "0") * 2
    try:
        writer.write(array, "sync_max", str(halt) if halt < size else "max")
        writer.write(array, "sync_action", "idle")
    except OSError as error:
        return f"the reshape cannot be halted: {error.strerror}"

    def halted() -> bool:
        done = (root.text(f"{base}/sync_completed") or "").partition(" ")[0]
        return done.isdigit() and halt < size and int(done) >= halt

    return _waited(root, base, halted)


def pass_cut_stripe(root: HostReader, array: str) -> tuple[str, str]:
    """Let a reshape go on where it stands within a stripe of the old form, which nothing can be read from.

    It goes on to the next place where stripes of both forms end, and halts there. Reads that wait go on, too.

    Args:
        root: the host.
        array: the kernel's name of the trial's array, which is on overlays.

    Returns:
        what was done, a clause, and why it does not halt: "" for nothing.
    """
    base = _base(array)
    found = read_place(root, array)
    if found is None or found.waiting is None:
        return "", ""
    to = found.whole(found.position)
    size = int(root.text(f"{base}/component_size") or "0") * 2
    if found.backwards:  # md counts what it has done from the end of the smaller of both forms
        end = size // found.chunk * found.chunk * min(found.data_disks, found.old_data_disks)
        halt = (end - to) // found.data_disks if to > 0 else size
    else:
        halt = to // found.data_disks
    writer = TrialWriter(root)
    try:
        writer.write(array, "sync_max", str(halt) if halt < size else "max")
        if root.text(f"{base}/array_state") in {"readonly", "read-auto"}:
            writer.write(array, "array_state", "active")
        if root.text(f"{base}/sync_action") == "frozen":
            writer.write(array, "sync_action", "idle")
    except OSError as error:
        return "", f"the reshape cannot be moved on: {error.strerror}"
    if why := _waited(root, base, lambda: root.text(f"{base}/reshape_position") == str(to)):
        return "", why
    moved = binary_size(abs(to - found.position) * SECTOR_BYTES)
    return f"the reshape was moved on by {moved}, since nothing can be read where it cuts a stripe", ""


def read_place(root: HostReader, array: str) -> ReshapePlace | None:
    """Return how far the reshape of an array is that is assembled; None where there is none."""
    base = _base(array)
    position = root.text(f"{base}/reshape_position") or ""
    parity = PARITY_LEVELS.get(root.text(f"{base}/level") or "")
    old, new = raid_disks_of(root.text(f"{base}/raid_disks"))
    chunks = _chunks(root, base)
    if not position.isdigit() or parity is None or new is None or not chunks:
        return None
    return place(
        position=int(position),
        chunks=(chunks[-1], chunks[0]),
        data_disks=((old or new) - parity, new - parity),
        backwards=root.text(f"{base}/reshape_direction") == "backwards",
    )


def _base(array: str) -> str:
    return f"/sys/block/{array}/md"


def _chunks(root: HostReader, base: str) -> list[int]:
    """Return the chunk in bytes, "131072 (65536)": during a reshape the new one first, then the old one."""
    words = (root.text(f"{base}/chunk_size") or "").split()
    return [int(word.strip("()")) for word in words]


def _waited(root: HostReader, base: str, halted: Callable[[], bool]) -> str:
    end_s = time.monotonic() + _HOLD_S
    while time.monotonic() < end_s:
        if root.text(f"{base}/reshape_position") == "none" or halted():
            return ""
        time.sleep(_PACE_S)
    return f"the reshape has not halted within {_HOLD_S:.0f} s"


def _arrays(root: HostReader) -> Iterable[MdstatArray]:
    return parse_mdstat(root.text("/proc/mdstat") or "").arrays
