"""A comparison of an array's members: what can be compared, and what was found, with what lies there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.host.roots.root import Root
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.rescue.mismatch.compared_array import ComparedArray, Span, compared_array
from raidtui.rescue.mismatch.find_mismatches import MismatchWatch, find_mismatches
from raidtui.rescue.mismatch.mismatch_records import MismatchResult
from raidtui.rescue.mismatch.what_lies_there import with_contents
from raidtui.session.reading_thread import ReadingEndedError, ReadingThread


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


class MismatchRun(ReadingThread[MismatchResult]):
    """One comparison of a whole array; one that is cancelled keeps what it has found.

    Args:
        root: a root that another thread may read.
        array: what is compared.
        limit_kib_s: as for ``compare``.
    """

    def __init__(self, root: Root, array: ComparedArray, limit_kib_s: int | None) -> None:
        super().__init__("raidtui-mismatches")
        self.array = array
        self.done: tuple[int, int] | None = None
        """How much of the array was compared, and all of it, in bytes."""
        self._root = root
        self._limit = limit_kib_s

    @property
    def progress(self) -> object:
        """How much was compared."""
        return self.done

    def read(self) -> MismatchResult:
        """Compare."""
        watch = MismatchWatch(self._at, self.ends.is_set, self._pause)
        try:
            return compare(self._root, self.array, None, watch, self._limit)
        except RuntimeError as error:  # the program ends: nothing more is handed to threads
            raise ReadingEndedError from error

    def _at(self, done: int, total: int) -> None:
        self.done = (done, total)

    def _pause(self, seconds: float) -> None:
        self.ends.wait(seconds)
