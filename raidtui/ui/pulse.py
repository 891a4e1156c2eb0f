"""The heartbeat: samples when the kernel says so, or when the cadence's time has come, never in between.

All reading and writing of the host happens in one worker thread; the event loop only waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from raidtui.console import Console, Report
from raidtui.host.root import Root
from raidtui.jobs.runner import Outcome
from raidtui.model.plan import Plan
from raidtui.monitor.watch import Uevent, Watch

T = TypeVar("T")

_COALESCE_S = 0.008
_AGAIN_S = 0.03
_FIRST_S = 0.5
_UDEV_S = 0.25


class Pulse:
    """Drives a console.

    Args:
        root: the host.
        on_report: called in the event loop with each report.
        on_trouble: called with a sentence when the watch could not be set up, or a sample failed.
    """

    def __init__(
        self, root: Root, on_report: Callable[[Report], None], on_trouble: Callable[[str], None]
    ) -> None:
        self.console = Console(root)
        self._on_report = on_report
        self._on_trouble = on_trouble
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="raidtui-host")
        self._watch = Watch(root)
        self._timer: asyncio.TimerHandle | None = None
        self._sampling: asyncio.Task[None] | None = None
        self._dirty = False
        self._uevents: list[Uevent] = []
        self._stopped = False

    def start(self, known: Report | None = None) -> None:
        """Begin.

        Args:
            known: the report that the console has made before, so that the next one is not due yet.
        """
        loop = asyncio.get_running_loop()
        loop.add_reader(self._watch.fileno(), self._on_change)
        if known is None:
            self._sample()
        else:
            self._watch.follow(known.snapshot)
            self._arm(min(known.next_s, _FIRST_S))
        loop.call_later(_UDEV_S, self._start_udev)

    def _start_udev(self) -> None:
        if self._stopped:
            return
        task = asyncio.ensure_future(self._in_worker(self._watch.start_udev))
        task.add_done_callback(self._udev_started)

    def _udev_started(self, task: asyncio.Future[str | None]) -> None:
        if not task.cancelled() and (trouble := task.result()):
            self._on_trouble(trouble)

    def _on_change(self) -> None:
        _, uevents = self._watch.drain()
        self._uevents += uevents
        self.look()

    def look(self) -> None:
        """Sample soon: something changed."""
        if self._sampling is not None:
            self._dirty = True
        else:
            self._arm(_COALESCE_S)

    def _arm(self, delay_s: float) -> None:
        if self._stopped:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._sample)

    def _sample(self) -> None:
        if self._stopped or self._sampling is not None:
            return
        self._timer = None
        self._sampling = asyncio.ensure_future(self._sample_once())

    async def _sample_once(self) -> None:
        uevents, self._uevents = tuple(self._uevents), []
        try:
            report = await self._in_worker(lambda: self._refresh(uevents))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  (a defect of ours: say it, keep the last picture, go on)
            self._sampling = None
            self._on_trouble(f"sampling failed: {error!r}; please report it")
            self._arm(5.0)
            return
        self._sampling = None
        if self._stopped:
            return
        self._watch.follow(report.snapshot)
        self._on_report(report)
        self._arm(_AGAIN_S if self._dirty else report.next_s)
        self._dirty = False

    def _refresh(self, uevents: tuple[Uevent, ...]) -> Report:
        if uevents:
            self.console.take_uevents(uevents)
        return self.console.refresh()

    async def _in_worker(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def first(self) -> Report:
        """Return the first report, before the event loop is there."""
        return self.console.refresh()

    async def execute(self, plan: Plan, *, is_undo: bool = False) -> tuple[Outcome, Report]:
        """Carry a plan out, and read the host again before anything else can: the report knows the change."""
        outcome, report = await self._in_worker(
            lambda: (self.console.execute(plan, is_undo=is_undo), self.console.refresh())
        )
        self.look()
        return outcome, report

    async def left_changed(self) -> Plan | None:
        """Return what this session has changed and not put back."""
        return await self._in_worker(self.console.left_changed)

    async def stop(self) -> None:
        """End, after what is being written has been written."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        asyncio.get_running_loop().remove_reader(self._watch.fileno())
        if self._sampling is not None:
            await self._sampling
        await self._in_worker(self.console.close)
        self._worker.shutdown(wait=True)
        self._watch.close()
