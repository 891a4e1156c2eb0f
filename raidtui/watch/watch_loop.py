"""Decides when a host is sampled: when the kernel reports a change, and when the next sample is due.

The host is read and written in one thread, which also waits until the next sample is due: a sample that
shows nothing new does not wake the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array_sync import Stale
from raidtui.model.plan import Plan
from raidtui.monitor.kernel_watch import KernelWatch, Uevent
from raidtui.watch.host_thread import HostThread, call_soon
from raidtui.watch.watch import HostWatch, Report

if TYPE_CHECKING:
    from raidtui.jobs.runner import PlanOutcome

T = TypeVar("T")

_COALESCE_S = 0.008
_FIRST_S = 0.5
_UDEV_S = 0.25
_SCHEDULE_S, _SCHEDULE_AGAIN_S = 5.0, 3600.0
_AFTER_TROUBLE_S = 5.0
_GRACE_S = 2.0
"""On leaving, a thread that takes longer than this is considered hung."""
_SILENT_S = 15.0
"""When nothing was read for this long, the screen says that what it shows is stale."""


_WHY = {
    "md": "md has not answered for {:.0f} s",
    "write": "the kernel has not taken what was written for {:.0f} s",
    "": "nothing has been read for {:.0f} s",
}


class WatchLoop:
    """Samples a host when it changes, and at intervals that depend on what it does.

    Args:
        reader: the host.
        on_report: called in the event loop with each report that shows something new.
        on_trouble: called with a sentence when the watch cannot be set up, or a sample fails.
    """

    def __init__(
        self, reader: HostReader, on_report: Callable[[Report], None], on_trouble: Callable[[str], None]
    ) -> None:
        self.reader = reader
        self.watch = HostWatch(reader)
        self._on_report = on_report
        self._on_trouble = on_trouble
        self._thread = HostThread()
        self._aside = HostThread()  # never closed: a disk that hangs must not keep raidtui from ending
        self._later = HostThread()  # likewise: no one waits for it
        self._changes = KernelWatch(reader)
        self._uevents: deque[Uevent] = deque()
        self._shown: Report | None = None
        self._undelivered = False
        self._stopped = False
        self._read_s, self._read_at_s = time.monotonic(), 0.0
        self._silent = self._hangs = False
        self._asked = ""
        """What is under way in the thread: "md", "write", or something else."""

    def start(self, known: Report | None = None) -> None:
        """Begin.

        Args:
            known: the report that was made before, so that the next one is not due yet.
        """
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._changes.fileno(), self._on_change)
        self._shown = known
        if known is None:
            self._thread.after(0.0, self._beat)
        else:
            self._changes.follow(known.snapshot)
            self._thread.after(min(known.next_s, _FIRST_S), self._beat)
        self._loop.call_later(_UDEV_S, self._start_udev)
        self._loop.call_later(_SILENT_S, self._watch_over)
        if self.reader.live:
            self._loop.call_later(_SCHEDULE_S, self._read_schedule)

    def _read_schedule(self) -> None:
        if not self._stopped:
            task = asyncio.ensure_future(self.read_schedule())
            task.add_done_callback(self._schedule_read)

    def _schedule_read(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled():
            task.result()
            self._loop.call_later(_SCHEDULE_AGAIN_S, self._read_schedule)

    async def read_schedule(self) -> None:
        """Read when arrays are checked next; the next report has it."""
        from raidtui.host.check_times import read_next_check  # noqa: PLC0415  (not needed at the start)
        from raidtui.host.watch_facts import read_watchers  # noqa: PLC0415

        reader = self.reader.thread_safe_copy() or self.reader
        self.watch.next_check = await self._later.run(lambda: read_next_check(reader, read_watchers(reader)))
        self.sample_soon()

    def _start_udev(self) -> None:
        if self._stopped:
            return
        task = asyncio.ensure_future(self._thread.run(self._listen))
        task.add_done_callback(self._udev_started)

    def _udev_started(self, task: asyncio.Future[str | None]) -> None:
        if not task.cancelled() and (trouble := task.result()):
            self._on_trouble(trouble)

    def _on_change(self) -> None:
        _, uevents = self._changes.drain()
        self._uevents += uevents
        self.sample_soon()

    def sample_soon(self) -> None:
        """Sample soon: something changed."""
        if not self._stopped:
            self._thread.after(_COALESCE_S, self._beat)

    # -- in the thread

    def _listen(self) -> str | None:
        """Start to listen to udev, and look for what has left before."""
        trouble = self._changes.start_udev()
        self.watch.sampler.look_for_members()
        return trouble

    def _beat(self) -> None:
        """Sample, and report what is new."""
        if self._stopped:
            return
        if self._undelivered:  # the terminal does not take what is written to it
            self._read_s = time.monotonic()
            self._thread.again(_FIRST_S, self._beat)
            return
        try:
            self._asked = "md"
            report = self._refresh()
        except Exception as error:  # noqa: BLE001  (a defect of ours: say it, keep the last picture, go on)
            self._thread.again(_AFTER_TROUBLE_S, self._beat)
            call_soon(self._loop, self._on_trouble, f"sampling failed: {error!r}; please report it")
            return
        finally:
            self._asked = ""
        self._thread.again(report.next_s, self._beat)
        self._read_s, self._read_at_s = time.monotonic(), report.snapshot.taken_s
        if self._shown is None or self._silent or not report.looks_like(self._shown):
            self._shown, self._silent = report, False
            self._undelivered = True
            call_soon(self._loop, self._deliver, report)

    def _refresh(self) -> Report:
        uevents = [self._uevents.popleft() for _ in range(len(self._uevents))]
        if uevents:
            self.watch.take_uevents(tuple(uevents))
        return self.watch.refresh()

    def _do(self, plan: Plan, is_undo: bool) -> tuple[PlanOutcome, Report]:  # noqa: FBT001
        self._asked = "write"
        try:
            outcome = self.watch.execute(plan, is_undo=is_undo)
        finally:
            self._asked = ""
        self._shown = self.watch.refresh()
        return outcome, self._shown

    # -- in the event loop

    def _watch_over(self) -> None:
        """Say that what is shown is of the past where the thread hangs: in md, in a disk, in a tool."""
        if self._stopped:
            return
        self._loop.call_later(_SILENT_S, self._watch_over)
        silent_s = time.monotonic() - self._read_s
        shown = self._shown
        if silent_s < _SILENT_S or self._silent or shown is None:
            return
        self._silent = True
        why = _WHY[self._asked].format(silent_s)
        stale = Stale(since_s=self._read_at_s or shown.snapshot.taken_s, reason=why)
        self._on_report(replace(shown, snapshot=replace(shown.snapshot, stale=stale), new_events=()))

    def _deliver(self, report: Report) -> None:
        self._undelivered = False
        if not self._stopped:
            self._changes.follow(report.snapshot)
            self._on_report(report)

    def first(self) -> Report:
        """Return the first report, before the event loop is there."""
        return self.watch.refresh()

    async def execute(self, plan: Plan, *, is_undo: bool = False) -> tuple[PlanOutcome, Report]:
        """Carry a plan out, and read the host again before anything else can: the report knows the change."""
        outcome, report = await self._thread.run(lambda: self._do(plan, is_undo))
        self.sample_soon()
        return outcome, report

    async def on_host_thread(self, work: Callable[[], T]) -> T:
        """Do something with the host in its thread, where nothing else is done with it meanwhile."""
        return await self._thread.run(work)

    async def on_disk_thread(self, work: Callable[[], T]) -> T:
        """Do what needs no host, but a disk (journals, scripts), in a thread that nothing else waits for."""
        return await self._aside.run(work)

    async def left_changed(self) -> Plan | None:
        """Return the changes of this session that were not restored."""
        return await self._thread.run(self.watch.left_changed)

    async def answers(self) -> bool:
        """Whether the thread that reads and writes the host answers within a short time."""
        turn = asyncio.ensure_future(self._thread.run(lambda: None))
        done, _ = await asyncio.wait({turn}, timeout=_GRACE_S)
        turn.cancel()
        self._hangs = not done
        return bool(done)

    @property
    def has_written(self) -> bool:
        """Whether something was written to the host, or is being written."""
        return self.watch.has_written or self._asked == "write"

    async def stop(self) -> None:
        """End, after what is being written has been written; a thread that hangs is left alone."""
        self._stopped = True
        asyncio.get_running_loop().remove_reader(self._changes.fileno())
        if not self._hangs and await self.answers():
            await self._thread.run(self.watch.close)
            self._thread.close()
        self._changes.close()
