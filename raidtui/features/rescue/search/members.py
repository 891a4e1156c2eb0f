"""Members as a search reads them, the one that is missing, and what a caller holds of the search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from raidtui.model.striping import xor


class SearchStage(StrEnum):
    """What a search is doing, in its order."""

    SAMPLES = "samples"
    ANCHORS = "anchors"
    CANDIDATES = "candidates"
    PROOF = "proof"


class SearchCancelledError(Exception):
    """The caller has ended the search."""


class SearchWatch(Struct, frozen=True):
    """Reports to a caller how far a search is, and asks whether to continue.

    Args:
        progress: called with the stage, what is done and what there is to do; the last may grow.
        cancelled: whether to end; asked at least once for each MiB or thousand blocks read.
    """

    progress: Callable[[SearchStage, int, int], None] | None = None
    cancelled: Callable[[], bool] | None = None

    def at(self, stage: SearchStage, done: int, total: int) -> None:
        """Report how far it is.

        Raises:
            SearchCancelledError: the caller does not want to continue.
        """
        if self.cancelled is not None and self.cancelled():
            raise SearchCancelledError
        if self.progress is not None:
            self.progress(stage, done, total)


class Source(Protocol):
    """Something that is read like a member."""

    @property
    def size_bytes(self) -> int:
        """Its size; 0 where that is not known."""

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; b"" where they cannot be read or do not exist."""


class SearchedMember(Source, Protocol):
    """A device that is searched, or an image of one."""

    @property
    def name(self) -> str:
        """What it is called in results."""

    @property
    def bytes_read(self) -> int:
        """How much has been read of it."""

    @property
    def unreadable(self) -> Collection[int]:
        """The bytes at which reads have failed."""


class Rebuilt:
    """The member that is missing from an array with one parity: the XOR of all others.

    Args:
        others: the members that are there.
    """

    size_bytes = 0

    def __init__(self, others: Sequence[Source]) -> None:
        self._others = others

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes that the member had; b"" where one of the others cannot be read."""
        return xor([source.read(offset, length) for source in self._others])
