"""A search for a geometry, in a thread of its own: how far it is, its end, and what it has found."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from raidtui.model.survey import Survey
from raidtui.rescue.search.find_geometry import SearchRequest, search_geometry
from raidtui.rescue.search.limits import SearchCancelledError, SearchStage, SearchWatch
from raidtui.rescue.search.outcome import SearchResult


class SearchRun:
    """One search. Its devices are read, and nothing is written.

    Args:
        survey: the host, with the devices.
        names: kernel names of the devices.
    """

    def __init__(self, survey: Survey, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.stage: tuple[SearchStage, int, int] | None = None
        """What it does, how much of that is done, and how much there is to do."""
        self.result: SearchResult | None = None
        self.error = ""
        """Why it has ended without a result."""
        blocks = {name: survey.devices[name].superblock for name in names if name in survey.devices}
        self._request = SearchRequest(
            superblocks={name: block for name, block in blocks.items() if block is not None}
        )
        self._ends = False
        self._thread = threading.Thread(target=self._search, name="raidtui-search", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result is not None or bool(self.error)

    def cancel(self) -> None:
        """End it; it reads no further."""
        self._ends = True

    def _search(self) -> None:
        paths = [f"/dev/{name}" for name in self.names]
        watch = SearchWatch(self._at, lambda: self._ends)
        try:
            self.result = search_geometry(paths, self._request, watch)
        except SearchCancelledError:
            self.error = "it was ended"
        except OSError as error:
            self.error = f"{error.filename or 'a device'} cannot be read: {error.strerror}"

    def _at(self, stage: SearchStage, done: int, total: int) -> None:
        self.stage = (stage, done, total)
