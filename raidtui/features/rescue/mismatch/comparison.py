"""A comparison of an array's members as a whole: at what pace, for how long, and with what lies there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, Span
from raidtui.features.rescue.mismatch.find_mismatches import MismatchWatch, find_mismatches
from raidtui.features.rescue.mismatch.mismatch_records import MismatchResult
from raidtui.features.rescue.mismatch.reading_pace import OthersAtWork, Pace
from raidtui.features.rescue.mismatch.what_lies_there import with_contents
from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array

_STILL = frozenset({"idle", "check", "frozen"})
_APART = frozenset({"faulty", "replacement", "journal"})


class ReadingLimits(Struct, frozen=True, kw_only=True):
    """How fast members are read, KiB/s of each; None for no limit.

    Args:
        max_kib_s: at most.
        min_kib_s: at least, however much others use the disks.
    """

    max_kib_s: int | None = None
    min_kib_s: int | None = None


def limits_of(array: Array) -> ReadingLimits:
    """Return the limits of a check of an array, as they are in force."""
    limit = array.speed_limit
    if limit is None:
        return ReadingLimits()
    return ReadingLimits(max_kib_s=limit.ceiling_kib_s, min_kib_s=limit.min_kib_s)


def compare(
    root: HostReader,
    array: ComparedArray,
    spans: Sequence[Span] | None,
    limits: ReadingLimits,
    *,
    progress: Callable[[int, int], None] | None,
    ended: Callable[[], bool],
    pause: Callable[[float], None],
) -> MismatchResult:
    """Compare an array's members, and look up what lies where they do not match. Nothing is written.

    Args:
        root: the host.
        array: what is compared.
        spans: parts of its walk; None for all.
        limits: how fast members are read.
        progress: called with the bytes of the array that are done, and all of them.
        ended: whether to end.
        pause: waits for so many seconds.

    Raises:
        OSError: a member cannot be opened.
    """
    watch = MismatchWatch(progress, ended, pause, lambda: why_changed(root, array))
    others = OthersAtWork(root, array.name, [member.device for member in array.members])
    pace = Pace(max_kib_s=limits.max_kib_s, min_kib_s=limits.min_kib_s, others=others)
    found = find_mismatches(array, spans, watch, pace=pace)
    return replace(found, stretches=with_contents(root, array.name, found.stretches, ended))


def why_changed(root: HostReader, array: ComparedArray) -> str:
    """Return why members may not match although nothing is wrong, a clause; "" where all is as it was.

    A member that was failed or replaced, or that md writes to, would differ everywhere.
    """
    folder = f"{BLOCK}/{array.name}/md"
    action = (root.text(f"{folder}/sync_action") or "").strip()
    if not action:
        return f"{array.name} was stopped"
    if action not in _STILL:
        return f"a {action} of {array.name} has begun"
    now = {}
    for name in root.names(folder):
        states = set((root.text(f"{folder}/{name}/state") or "").strip().split(","))
        if name.startswith("dev-") and "in_sync" in states and not states & _APART:
            slot = (root.text(f"{folder}/{name}/slot") or "").strip()
            now[name.removeprefix("dev-").replace("!", "/")] = slot
    if now != {member.device: str(member.slot) for member in array.members}:
        return f"the members of {array.name} have changed"
    return ""
