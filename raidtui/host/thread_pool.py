"""A few threads that do many small readings at once. One that hangs does not delay the others.

Waiting uses a descriptor, never a lock with a timeout: see ``raidtui.watch.host_thread``.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Callable, Hashable
from threading import Lock, Thread

AT_ONCE = 8
LIMIT_S = 20.0
"""Work that takes longer is no longer waited for. Its result still counts when it arrives."""
_LOOK_MS = 250

Work = Callable[[], None]


class ThreadPool:
    """Does the work that is put in.

    Args:
        notify: called after each piece of work, in the thread that did it.
        threads: whether threads do the work; if not, ``step`` does it, one piece at a time.
        at_once: how many threads work; threads that hang do not count.
        limit_s: how long a piece of work is waited for.
    """

    def __init__(
        self,
        notify: Work = lambda: None,
        *,
        threads: bool = True,
        at_once: int = AT_ONCE,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._notify = notify
        self._threads = threads
        self._at_once = at_once
        self._limit_s = limit_s
        self._lock = Lock()
        self._waiting: deque[tuple[Hashable, Work]] = deque()
        self._begun_s: dict[Hashable, float] = {}
        self._workers = 0
        self._cancelled = False
        self._error: BaseException | None = None
        self._bell: int | None = None
        """Becomes readable after each piece of work. It is open only during ``wait``."""

    def put(self, key: Hashable, work: Work) -> None:
        """Queue a piece of work, unless one with the same key is queued already.

        Args:
            key: its name in ``open``. It may be queued again while it is being worked on.
            work: the work.
        """
        with self._lock:
            if not self._cancelled and all(key != other for other, _ in self._waiting):
                self._waiting.append((key, work))
        self._hire()

    def step(self) -> bool:
        """Do one piece of work here and now; return whether there was one."""
        with self._lock:
            taken = self._waiting.popleft() if self._waiting else None
        if taken is not None:
            self._do(*taken)
        return taken is not None

    def cancel(self) -> None:
        """Start no more work."""
        with self._lock:
            self._cancelled = True
            self._waiting.clear()

    @property
    def open(self) -> frozenset[Hashable]:
        """The keys of work that is queued or in progress, except late work.

        Raises:
            BaseException: a piece of work raised it; this is a bug.
        """
        self._hire()
        if self._error is not None:
            raise self._error
        late = self.late
        with self._lock:
            return frozenset((*(key for key, _ in self._waiting), *self._begun_s)) - late

    @property
    def late(self) -> frozenset[Hashable]:
        """The keys of work that takes longer than the limit."""
        before_s = time.monotonic() - self._limit_s
        with self._lock:
            waiting = {key for key, _ in self._waiting}
            return frozenset(
                key for key, begun_s in self._begun_s.items() if begun_s <= before_s and key not in waiting
            )

    def wait(self, until: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is checked after each piece of work, and every 250 ms."""
        if not self._threads:
            while not until() and self.step():
                pass
            return
        self._bell = bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            waiting = select.poll()
            waiting.register(bell, select.POLLIN)
            while not until():
                if waiting.poll(_LOOK_MS):
                    os.eventfd_read(bell)
        finally:
            with self._lock:
                self._bell = None
            os.close(bell)

    # -- called by the threads

    def _hire(self) -> None:
        late = len(self.late)
        with self._lock:
            missing = min(len(self._waiting), self._at_once - (self._workers - late))
            hired = max(0, missing) if self._threads else 0
            self._workers += hired
        for _ in range(hired):
            Thread(target=self._work, name="raidtui-read", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._workers -= 1
                    return
                key, work = self._waiting.popleft()
            self._do(key, work)

    def _do(self, key: Hashable, work: Work) -> None:
        with self._lock:
            self._begun_s[key] = time.monotonic()
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
            self._error = error
        finally:
            with self._lock:
                self._begun_s.pop(key, None)
        with self._lock:
            if self._bell is not None:
                os.eventfd_write(self._bell, 1)
        self._notify()
