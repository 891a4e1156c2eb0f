"""The one thread in which the host is read and written, so that the event loop never waits for the kernel."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class HostThread:
    """Does one piece of work after the other, and one by the clock: while all is quiet, nobody else wakes."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._alarm: tuple[float, Callable[[], None]] | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, or raise what it raises."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def job() -> None:
            try:
                done, value = future.set_result, work()
            except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
                done, value = future.set_exception, error  # type: ignore[assignment]
            tell(future.get_loop(), _settle, future, done, value)

        self._put(job)
        return await future

    def after(self, delay_s: float, work: Callable[[], None]) -> None:
        """Do ``work`` in the thread after ``delay_s``, or when the last one was due, if that is sooner."""
        when_s = time.monotonic() + delay_s

        def job() -> None:
            if self._alarm is None or when_s < self._alarm[0]:
                self._alarm = (when_s, work)

        self._put(job)

    def again(self, delay_s: float, work: Callable[[], None]) -> None:
        """The same, called in the thread itself."""
        self._alarm = (time.monotonic() + delay_s, work)

    def close(self) -> None:
        """End after what has been asked for; what the clock was to bring does not come."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _put(self, job: Callable[[], None]) -> None:
        self._queue.put(job)
        if self._thread is None:
            self._thread = Thread(target=self._run, name="raidtui-host", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            left_s = None if self._alarm is None else max(0.0, self._alarm[0] - time.monotonic())
            try:
                job = self._queue.get(timeout=left_s)
            except Empty:
                alarm, self._alarm = self._alarm, None
                if alarm is not None:
                    alarm[1]()
                continue
            if job is None:
                return
            job()


def tell(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *values: object) -> None:
    """Call something in the event loop soon, from the thread; nothing where the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *values)


def _settle(future: asyncio.Future[Any], done: Callable[[Any], None], value: object) -> None:
    if not future.done():  # else it was cancelled
        done(value)
