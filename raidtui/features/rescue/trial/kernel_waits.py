"""What a trial waits for: reads that the kernel may not answer, and a reshape that is to halt.

Work that reads devices is attended: where the kernel does not answer, it is given up, and that is said. A
reshape that mdadm has continued in a trial is halted: what has been moved by then is looked at.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import raid_disks_of
from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.trial_writer import TrialWriter
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.reshape_place import ReshapePlace, place
from raidtui.view.units import SECTOR_BYTES, binary_size

_PACE_S = 0.2
_IDLE_S, _SILENT_S = 30.0, 600.0
_T = TypeVar("_T")
_AHEAD_SECTORS = 256 << 11
"""How much of each member is moved on, so that md has not passed that place when the limit is written."""
_HOLD_S, _HOLD_PACE_S = 120.0, 0.1


class GivenUpError(Exception):
    """The kernel has not answered reads; the text says which, a clause."""


class AnswerWatch:
    """Sees whether reads of a device are answered, by the kernel's counters of it and of what it lies on.

    Args:
        reader: the host.
        top: the kernel's name of what is read: an array, or a map.
        below: those of its members.
        clock: monotonic seconds.
    """

    def __init__(
        self, reader: HostReader, top: str, below: Sequence[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._reader = reader
        self._top = top
        self._names = (top, *below) if top else tuple(below)
        self._clock = clock
        self._seen: list[str | None] = []
        self._since_s = clock()

    def silence(self) -> str:
        """Return what has not been answered, a clause, or "".

        A disk that fails may take minutes for a read, and each that ends is an answer. Where no member has
        anything to do, md itself does not continue.
        """
        counted = [self._answered(name) for name in self._names]
        flights = {name: in_flight(self._reader, name) for name in self._names}
        now_s = self._clock()
        if counted != self._seen or not any(flights.values()):
            self._seen, self._since_s = counted, now_s
            return ""
        silent_s = now_s - self._since_s
        busy = [name for name, count in flights.items() if count]
        if busy == [self._top] and silent_s >= _IDLE_S:
            return f"md has answered no read of {self._top} for {silent_s:.0f} s, and its members are idle"
        if silent_s >= _SILENT_S:
            return f"{', '.join(busy)} did not answer for {silent_s:.0f} s"
        return ""

    def _answered(self, name: str) -> str | None:
        """Return the requests that have ended, as text; None where they are not known."""
        words = (self._reader.text(f"{BLOCK}/{name}/stat") or "").split()
        return " ".join(words[:8:4]) if len(words) > 8 else None  # reads, writes (block/stat.rst)


def in_flight(reader: HostReader, name: str) -> int:
    """Return how many reads and writes of a device have not been answered."""
    words = (reader.text(f"{BLOCK}/{name}/inflight") or "").split() if name else []
    return sum(int(word) for word in words if word.isdigit())


def attend(work: Callable[[], _T], why_given_up: Callable[[], str]) -> _T:
    """Do work in a thread of its own, which nothing can end; return what it returns.

    Args:
        work: what may wait for a device.
        why_given_up: asked all the time; a clause, or "" to wait on.

    Raises:
        GivenUpError: it was given up, and may wait still.
    """
    found: list[_T] = []
    failed: list[BaseException] = []

    def done() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  (it is raised where it is waited for)
            failed.append(error)

    thread = threading.Thread(target=done, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PACE_S)
        if thread.is_alive() and (why := why_given_up()):
            raise GivenUpError(why)
    if failed:
        raise failed[0]
    return found[0]


def hold_reshape(reader: HostReader, array: str) -> str:
    """Halt a reshape that mdadm has continued; return why it does not halt, or "".

    md halts at a place and records it: where it is frozen, what was moved and is not recorded cannot be read
    (make_stripe_request waits for it). The mdadm that watches it is ended: it would let it continue. A member
    that is not much larger than what is moved on is moved to its end.

    Args:
        reader: the host.
        array: the kernel's name of the trial's array.
    """
    base, writer = _base(array), TrialWriter(reader)
    arrays = parse_mdstat(reader.text("/proc/mdstat") or "").arrays
    moved = next(
        (each.sync.done_kib or 0 for each in arrays if each.name == array and each.sync is not None), 0
    )
    with contextlib.suppress(OSError):
        writer.write(array, "sync_action", "frozen")
    writer.end_watchers(array)
    step = max(max(_chunks(reader, base), default=0) // SECTOR_BYTES, 1)
    halt = (moved * 2 + _AHEAD_SECTORS) // step * step
    size = int(reader.text(f"{base}/component_size") or "0") * 2
    try:
        writer.write(array, "sync_max", str(halt) if halt < size else "max")
        writer.write(array, "sync_action", "idle")
    except OSError as error:
        return f"the reshape cannot be halted: {error.strerror}"

    def halted() -> bool:
        done = (reader.text(f"{base}/sync_completed") or "").partition(" ")[0]
        return done.isdigit() and halt < size and int(done) >= halt

    return _waited(reader, base, halted)


def pass_cut_stripe(reader: HostReader, array: str) -> tuple[str, str]:
    """Let a reshape continue where it stands within a stripe of the old form, which nothing can be read from.

    It goes on to the next place where stripes of both forms end, and halts there. Reads that wait go on, too.

    Args:
        reader: the host.
        array: the kernel's name of the trial's array, which is on overlays.

    Returns:
        what was done, a clause, and why it does not halt: "" for nothing.
    """
    base = _base(array)
    found = read_place(reader, array)
    if found is None or found.waiting is None:
        return "", ""
    to = found.whole(found.position)
    size = int(reader.text(f"{base}/component_size") or "0") * 2
    if found.backwards:  # md counts what it has done from the end of the smaller of both forms
        end = size // found.chunk * found.chunk * min(found.data_disks, found.old_data_disks)
        halt = (end - to) // found.data_disks if to > 0 else size
    else:
        halt = to // found.data_disks
    writer = TrialWriter(reader)
    try:
        writer.write(array, "sync_max", str(halt) if halt < size else "max")
        if reader.text(f"{base}/array_state") in {"readonly", "read-auto"}:
            writer.write(array, "array_state", "active")
        if reader.text(f"{base}/sync_action") == "frozen":
            writer.write(array, "sync_action", "idle")
    except OSError as error:
        return "", f"the reshape cannot be moved on: {error.strerror}"
    if why := _waited(reader, base, lambda: reader.text(f"{base}/reshape_position") == str(to)):
        return "", why
    moved = binary_size(abs(to - found.position) * SECTOR_BYTES)
    return f"the reshape was moved on by {moved}, since nothing can be read where it splits a stripe", ""


def read_place(reader: HostReader, array: str) -> ReshapePlace | None:
    """Return how far the reshape of an array is that is assembled; None where there is none."""
    base = _base(array)
    position = reader.text(f"{base}/reshape_position") or ""
    parity = PARITY_LEVELS.get(reader.text(f"{base}/level") or "")
    old, new = raid_disks_of(reader.text(f"{base}/raid_disks"))
    chunks = _chunks(reader, base)
    if not position.isdigit() or parity is None or new is None or not chunks:
        return None
    return place(
        position=int(position),
        chunks=(chunks[-1], chunks[0]),
        data_disks=((old or new) - parity, new - parity),
        backwards=reader.text(f"{base}/reshape_direction") == "backwards",
    )


def _base(array: str) -> str:
    return f"/sys/block/{array}/md"


def _chunks(reader: HostReader, base: str) -> list[int]:
    """Return the chunk in bytes, "131072 (65536)": during a reshape the new one first, then the old one."""
    words = (reader.text(f"{base}/chunk_size") or "").split()
    return [int(word.strip("()")) for word in words]


def _waited(reader: HostReader, base: str, halted: Callable[[], bool]) -> str:
    end_s = time.monotonic() + _HOLD_S
    while time.monotonic() < end_s:
        if reader.text(f"{base}/reshape_position") == "none" or halted():
            return ""
        time.sleep(_HOLD_PACE_S)
    return f"the reshape has not halted within {_HOLD_S:.0f} s"
