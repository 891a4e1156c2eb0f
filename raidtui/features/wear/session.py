"""The app's side of wear: readings in the background, and what syncs cost while raidtui is open.

A live host's disks are asked in a thread of their own, since one that hangs would hold up the sampling; of a
host in memory the sampling's thread alone may read. Nothing of wear is loaded before the pane is
opened or a sync begins or ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from raidtui.model.finding import Event
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.spans import Begun, Ended, SyncSpans
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session
from raidtui.watch.watch import Report

if TYPE_CHECKING:
    from raidtui.features.wear.self_tests import SelfTestDisk
    from raidtui.monitor.wear.cost_watch import CostWatch
    from raidtui.monitor.wear.readings import DiskHistory, WearLook, WearReader

T = TypeVar("T")


class WearSession:
    """One host's disks.

    Args:
        session: of the host; its log gets what syncs have cost. Those of the report that it has now had begun
            unseen.
    """

    def __init__(self, session: Session) -> None:
        self._shell = shell = session.shell
        self._say = session.on_trouble
        self.loop = session.loop
        self._reader = session.reader.thread_safe_copy() or session.reader
        self._ratings = session.ratings
        self._spans = SyncSpans()
        self._seen_s = 0.0
        if shell.report is not None:
            self._spans.see(shell.report.snapshot)
        self._thread = HostThread()  # never closed: a disk that hangs must not keep raidtui from ending
        self._wear_reader: WearReader | None = None
        self._watch: CostWatch | None = None

    def follow(self, report: Report) -> None:
        """Let be measured what a sync costs that has begun or ended since the report before; cheap."""
        if report.snapshot.clock_s < self._seen_s:
            return  # it is from before our own last write
        self._seen_s = report.snapshot.clock_s
        for change in self._spans.see(report.snapshot):
            self._shell.in_background(self._measure(change))

    async def _measure(self, change: Begun | Ended) -> None:
        event, trouble = await self._work(lambda: self._measured(change))
        if event is not None:
            self._shell.note_events((event,))
        if trouble:
            self._say(trouble)

    def _measured(self, change: Begun | Ended) -> tuple[Event | None, str]:
        if self._watch is None:
            from raidtui.monitor.wear.cost_watch import CostWatch  # noqa: PLC0415

            self._watch = CostWatch(self._reader, self._opened_reader())
        event = None
        if isinstance(change, Begun):
            self._watch.begun(change)
        else:
            event = self._watch.ended(change)
        return event, self._watch.trouble

    async def look(self, snapshot: Snapshot, mark: str | None = None) -> WearLook:
        """Read the disks; with ``mark`` this moment is marked."""
        keeps = self._reader.live and self._reader.writable
        return await self._work(lambda: self._opened_reader().look(snapshot, record=keeps, mark=mark))

    async def history(self, disk: str) -> DiskHistory | str:
        """Return a disk's history by its serial number or WWN, or why it cannot be read."""
        return await self._work(lambda: self._history(disk))

    async def look_again(self, look: WearLook, snapshot: Snapshot, names: Collection[str]) -> WearLook:
        """Read some of the disks again; the others stay as they were read."""
        return await self._work(lambda: self._opened_reader().look_again(look, snapshot, names))

    async def self_test_disk(self, name: str) -> SelfTestDisk:
        """Ask a disk about its self-tests; see ``read_self_test_disk``."""
        return await self._work(lambda: self._self_test_disk(name))

    def _self_test_disk(self, name: str) -> SelfTestDisk:
        from raidtui.features.wear.self_tests import read_self_test_disk  # noqa: PLC0415

        return read_self_test_disk(self._reader, name)

    def _history(self, disk: str) -> DiskHistory | str:
        from raidtui.monitor.wear.ledger import LedgerError  # noqa: PLC0415

        try:
            return self._opened_reader().history(disk)
        except LedgerError as error:
            return str(error)

    def _opened_reader(self) -> WearReader:
        if self._wear_reader is None:
            from raidtui.monitor.wear.readings import WearReader  # noqa: PLC0415

            self._wear_reader = WearReader(self._reader, self._ratings)
        return self._wear_reader

    async def _work(self, work: Callable[[], T]) -> T:
        return await (self._thread.run(work) if self._reader.live else self.loop.on_host_thread(work))
