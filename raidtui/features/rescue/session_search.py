"""The search on a host: devices, which are only read, searched or compared as a geometry says."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from raidtui.features.rescue.hints import read_hints
from raidtui.features.rescue.search.find_geometry import GeometrySearch, SearchRequest
from raidtui.features.rescue.search.logical_array import LogicalArray, compare_copies, compare_parity
from raidtui.features.rescue.search.members import SearchCancelledError, SearchStage, SearchWatch
from raidtui.features.rescue.search.ranking import IN_USE
from raidtui.features.rescue.search.results import (
    CandidateEvidence,
    RescueGeometry,
    SearchResult,
    order_by_hints,
)
from raidtui.features.rescue.search.samples import take_samples
from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.geometry import MISSING
from raidtui.model.striping import StripeShape, compute_far_stride
from raidtui.model.survey import Survey
from raidtui.view.units import SECTOR_BYTES, counted
from raidtui.watch.reading_thread import ReadingEndedError, ReadingThread

_KEPT_BLOCKS = 2048
_LARGEST_KEPT = 16 << 10
_SEED = 1
_BLIND = "There is nothing to compare the members with: an outdated one would not show."


class OpenMember:
    """A device or an image file.

    Args:
        path: where it is.
        name: what it is called in results; the last part of the path otherwise.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: str, name: str = "") -> None:
        self.path = path
        self.name = name or path.rpartition("/")[2]
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size_bytes = os.lseek(self._descriptor, 0, os.SEEK_END)
        self.bytes_read = 0
        self.unreadable: set[int] = set()
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the device; b"" where they cannot be read or lie outside of it."""
        if offset < 0 or offset + length > self.size_bytes:
            return b""
        key = (offset, length)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        try:
            data = os.pread(self._descriptor, length, offset)
        except OSError:
            self.unreadable.add(offset)
            data = b""
        self.bytes_read += len(data)
        if len(data) != length:
            data = b""
        if length <= _LARGEST_KEPT:
            self._kept[key] = data
            if len(self._kept) > _KEPT_BLOCKS:
                self._kept.popitem(last=False)
        return data

    def close(self) -> None:
        """Close the device."""
        os.close(self._descriptor)


def search_geometry(
    paths: Sequence[str], request: SearchRequest | None = None, watch: SearchWatch | None = None
) -> SearchResult:
    """Search for the geometry of an array on devices or images.

    Args:
        paths: of the devices; a spare or a blank disk may be among them.
        request: what is searched for.
        watch: receives how far it is; may end it.

    Raises:
        OSError: a device cannot be opened.
        SearchCancelledError: the caller has ended it.
        ValueError: no device is given.
    """
    if not paths:
        raise ValueError(counted(0, "device"))
    request = request or SearchRequest()
    members: list[OpenMember] = []
    try:
        members += (OpenMember(path) for path in paths)
        found = GeometrySearch(members, request, watch or SearchWatch()).run()
        return order_by_hints(found, request.hints)
    finally:
        for member in members:
            member.close()


def compare_members(geometry: RescueGeometry) -> CandidateEvidence:
    """Compare the members of a geometry at random places; nothing is written.

    Raises:
        OSError: a device cannot be opened.
    """
    offset, chunk = geometry.data_offset_sectors * SECTOR_BYTES, geometry.chunk_bytes or SECTOR_BYTES
    with ExitStack() as stack:
        members = {name: OpenMember(f"/dev/{name}", name) for name in geometry.present}
        for member in members.values():
            stack.callback(member.close)
        room = min((member.size_bytes for member in members.values()), default=0) - offset
        size = geometry.size_sectors * SECTOR_BYTES if geometry.size_sectors else room
        slots = len(geometry.order)
        shape = StripeShape(
            level=geometry.level,
            layout=geometry.layout,
            slots=slots,
            chunk_bytes=chunk,
            stride_bytes=compute_far_stride(geometry.layout, slots, chunk, size)
            if geometry.level == 10
            else 0,
        )
        order = [members[name] if name != MISSING else None for name in geometry.order]
        array = LogicalArray(shape, offset, order)
        samples = take_samples(list(members.values()), SearchWatch(), seed=_SEED, first=offset)
        found = compare_parity(array, samples, offset, 0) or compare_copies(array, IN_USE, _SEED)
    if found is None:
        blind = MISSING in geometry.order and geometry.level != 0
        return CandidateEvidence(tie=_BLIND if blind else "")
    return CandidateEvidence(
        compared=found.compared, unmatched=found.unmatched, mirrored=geometry.level in {1, 10}
    )


class SearchRun(ReadingThread[SearchResult]):
    """One search.

    Args:
        reader: a reader that another thread may use.
        survey: the host, with the devices.
        names: kernel names of the devices.
    """

    def __init__(self, reader: HostReader, survey: Survey, names: Sequence[str]) -> None:
        super().__init__("raidtui-search")
        self._reader = reader
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
        hints = read_hints(self._reader, DiskReader(self._reader).read(self.names).values())
        request = msgspec.structs.replace(self._request, hints=hints)
        try:
            return search_geometry(paths, request, SearchWatch(self._at, self.ends.is_set))
        except SearchCancelledError as error:
            raise ReadingEndedError from error

    def _at(self, stage: SearchStage, done: int, total: int) -> None:
        self.stage = (stage, done, total)
