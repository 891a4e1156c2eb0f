"""What a caller of the search holds of it while it runs: how far it is, and how it is ended."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class SearchStage(StrEnum):
    """What a search is doing, in its order."""

    SAMPLES = "samples"
    ANCHORS = "anchors"
    CANDIDATES = "candidates"
    PROOF = "proof"


class SearchCancelledError(Exception):
    """The caller has ended the search."""


class SearchWatch:
    """Reports to a caller how far a search is, and asks whether to go on.

    Args:
        progress: called with the stage, what is done and what there is to do; the last may grow.
        cancelled: whether to end; asked at least once for each MiB or thousand blocks read.
    """

    def __init__(
        self,
        progress: Callable[[SearchStage, int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._progress = progress
        self._cancelled = cancelled

    def at(self, stage: SearchStage, done: int, total: int) -> None:
        """Report how far it is.

        Raises:
            SearchCancelledError: the caller does not want to go on.
        """
        if self._cancelled is not None and self._cancelled():
            raise SearchCancelledError
        if self._progress is not None:
            self._progress(stage, done, total)
