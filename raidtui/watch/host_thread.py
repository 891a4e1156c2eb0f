"""The thread in which the host is read and written, so that the event loop never waits for the kernel.

It waits for a descriptor, not for a lock with a timeout: on User Mode Linux 6.1 and a busy machine, such a
wait overslept its timeout once every few minutes, and the screen showed stale values.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import select
import time
from collections import deque
from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class HostThread:
    """Runs one piece of work after the other, and one at a set time. Only results wake the event loop."""

    def __init__(self) -> None:
        self._jobs: deque[Callable[[], None] | None] = deque()
        self._bell = -1
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
            call_soon(future.get_loop(), _settle, future, done, value)

        self._put(job)
        return await future

    def after(self, delay_s: float, work: Callable[[], None]) -> None:
        """Run ``work`` in the thread after ``delay_s``, or at the time set before, whichever is earlier."""
        when_s = time.monotonic() + delay_s

        def job() -> None:
            if self._alarm is None or when_s < self._alarm[0]:
                self._alarm = (when_s, work)

        self._put(job)

    def again(self, delay_s: float, work: Callable[[], None]) -> None:
        """Run ``work`` after ``delay_s``; to be called in the thread itself."""
        self._alarm = (time.monotonic() + delay_s, work)

    def close(self) -> None:
        """End the thread after the work that is queued; work for a set time is dropped."""
        if self._thread is not None:
            self._put(None)
            self._thread.join()
            self._thread = None
            os.close(self._bell)

    def _put(self, job: Callable[[], None] | None) -> None:
        self._jobs.append(job)
        if self._thread is None:
            self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            self._thread = Thread(target=self._run, name="raidtui-host", daemon=True)
            self._thread.start()
        os.eventfd_write(self._bell, 1)

    def _run(self) -> None:
        waiting = select.poll()
        waiting.register(self._bell, select.POLLIN)
        while True:
            if waiting.poll(self._left_ms()):
                os.eventfd_read(self._bell)
            while self._jobs:
                job = self._jobs.popleft()
                if job is None:
                    return
                job()
            if self._alarm is not None and self._alarm[0] <= time.monotonic():
                alarm, self._alarm = self._alarm, None
                alarm[1]()

    def _left_ms(self) -> int | None:
        """Return how long to wait for the alarm, None without one."""
        if self._alarm is None:
            return None
        return max(0, math.ceil((self._alarm[0] - time.monotonic()) * 1000))


def call_soon(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *values: object) -> None:
    """Call something in the event loop, from a thread; do nothing if the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *values)


def _settle(future: asyncio.Future[Any], done: Callable[[Any], None], value: object) -> None:
    if not future.done():  # else it was cancelled
        done(value)
