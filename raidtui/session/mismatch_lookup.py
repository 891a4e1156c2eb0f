"""A comparison of an array's members: what can be compared, and what was found, with what lies there."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.host.roots.root import Root
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.rescue.mismatch.compared_array import ComparedArray, Span, compared_array
from raidtui.rescue.mismatch.find_mismatches import MismatchWatch, find_mismatches
from raidtui.rescue.mismatch.mismatch_records import MismatchResult
from raidtui.rescue.mismatch.what_lies_there import with_contents


def comparison_of(root: Root, array: Array) -> ComparedArray | Refusal:
    """Return what can be compared of an array, or why nothing can, here and now."""
    if not root.live:
        return Refusal(code=RefusalCode.NOT_HERE, why="a simulated or captured host has no content of disks")
    return compared_array(array)


def compare(
    root: Root,
    array: ComparedArray,
    spans: Sequence[Span] | None,
    watch: MismatchWatch,
    limit_kib_s: int | None = None,
) -> MismatchResult:
    """Compare an array's members, and look up what lies where they do not match. Nothing is written.

    Args:
        root: the host.
        array: what is compared.
        spans: parts of its walk; None for all.
        watch: the caller's.
        limit_kib_s: how much is read of each member in a second; None for no limit.

    Raises:
        OSError: a member cannot be opened.
    """
    found = find_mismatches(array, spans, watch, limit_kib_s=limit_kib_s)
    stretches = with_contents(root, array.name, found.stretches, watch.cancelled)
    return replace(found, stretches=stretches)


class MismatchRun:
    """One comparison of a whole array.

    Args:
        root: a root that another thread may read.
        array: what is compared.
        limit_kib_s: as for ``compare``.
    """

    def __init__(self, root: Root, array: ComparedArray, limit_kib_s: int | None) -> None:
        self.array = array
        self.done: tuple[int, int] | None = None
        """How much of the array was compared, and all of it, in bytes."""
        self.result: MismatchResult | None = None
        self.error = ""
        """Why it has ended without a result."""
        self._root = root
        self._limit = limit_kib_s
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._compare, name="raidtui-mismatches", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result is not None or bool(self.error)

    def cancel(self) -> None:
        """End it; it reads no further, and keeps what it has found."""
        self._ends.set()

    def _compare(self) -> None:
        watch = MismatchWatch(self._at, self._ends.is_set, self._pause)
        try:
            self.result = compare(self._root, self.array, None, watch, self._limit)
        except OSError as error:
            self.error = f"{error.filename or 'a member'} cannot be read: {error.strerror}"
        except RuntimeError:  # the program ends: nothing more is handed to threads
            self.error = "it was ended"

    def _at(self, done: int, total: int) -> None:
        self.done = (done, total)

    def _pause(self, seconds: float) -> None:
        self._ends.wait(seconds)
