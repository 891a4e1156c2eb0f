"""What is read about once a second while fio runs, in a thread of its own."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Generic, Self, TypeVar

from raidtui.features.bench.results.run_record import RunSample

T = TypeVar("T")
FIRST_S = 0.3  # before that processors and disks are as they were at rest
EACH_S = 1.0
_JOIN_S = 1.0


class Lookout(Generic[T]):
    """Reads something again and again within a ``with``, in a thread; after its end nothing is passed on.

    Args:
        read: returns what it is at so many seconds of the run.
        notify: called with each reading.
        clock: monotonic seconds.
        eager: whether it reads at once, too, where fio has reset its counters.

    Attributes:
        seen: the readings since fio last reset its counters.
    """

    def __init__(
        self,
        read: Callable[[float], T],
        notify: Callable[[T], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        eager: bool = False,
    ) -> None:
        self._read = read
        self._notify = notify
        self._clock = clock
        self._began_s = 0.0
        self._eager = eager
        self._over = threading.Event()
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="lookout", daemon=True)
        self.seen: list[T] = []

    def __enter__(self) -> Self:
        self._began_s = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over.set()
        self._woken.set()
        # A disk that does not answer keeps nobody: what it says then is thrown away.
        self._thread.join(_JOIN_S)

    def sampled(self, sample: RunSample) -> None:
        """Follow the clock of fio's samples; readings from before a reset are not part of the run."""
        with self._lock:
            self._began_s = self._clock() - sample.t_s
            if sample.anew:
                self.seen.clear()
        if sample.anew and self._eager:
            self._woken.set()

    def _look(self) -> None:
        # Signals are for the main thread, which holds them back while something is changed.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pause = FIRST_S
        while True:
            self._woken.wait(pause)
            self._woken.clear()
            if self._over.is_set():
                return
            found = self._read(round(max(0.0, self._clock() - self._began_s), 3))
            with self._lock:
                if self._over.is_set():
                    return
                self.seen.append(found)
                self._notify(found)
            pause = EACH_S
