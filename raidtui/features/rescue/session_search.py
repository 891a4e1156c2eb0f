"""A search for a geometry, in a thread of its own: how far it is, its end, and what it has found."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from raidtui.features.rescue.hints import read_hints
from raidtui.features.rescue.search.find_geometry import SearchRequest, search_geometry
from raidtui.features.rescue.search.limits import SearchCancelledError, SearchStage, SearchWatch
from raidtui.features.rescue.search.outcome import SearchResult
from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.survey import Survey
from raidtui.watch.reading_thread import ReadingEndedError, ReadingThread


class SearchRun(ReadingThread[SearchResult]):
    """One search.

    Args:
        root: a root that another thread may read.
        survey: the host, with the devices.
        names: kernel names of the devices.
    """

    def __init__(self, root: HostReader, survey: Survey, names: Sequence[str]) -> None:
        super().__init__("raidtui-search")
        self._root = root
        self.names = tuple(names)
        self.stage: tuple[SearchStage, int, int] | None = None
        """What it does, how much of that is done, and how much there is to do."""
        blocks = {name: survey.devices[name].superblock for name in names if name in survey.devices}
        self._request = SearchRequest(
            superblocks={name: block for name, block in blocks.items() if block is not None}
        )

    @property
    def progress(self) -> object:
        """What it does, and how much of that is done."""
        return self.stage

    def read(self) -> SearchResult:
        """Search; what is written down of former arrays orders what fits alike."""
        paths = [f"/dev/{name}" for name in self.names]
        hints = read_hints(self._root, DiskReader(self._root).read(self.names).values())
        request = msgspec.structs.replace(self._request, hints=hints)
        try:
            return search_geometry(paths, request, SearchWatch(self._at, self.ends.is_set))
        except SearchCancelledError as error:
            raise ReadingEndedError from error

    def _at(self, stage: SearchStage, done: int, total: int) -> None:
        self.stage = (stage, done, total)
