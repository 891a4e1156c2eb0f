"""A lookout: reads what surrounds a run, in a thread of its own.

Whoever reads fio must not wait for a disk that takes its time to tell its temperature.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from raidtui.bench.around import Around
from raidtui.bench.samples import Sample

FIRST_S = 0.3  # before that processors and disks are as they were at rest
EACH_S = 1.0
_JOIN_S = 1.0


class Lookout:
    """Reads from the beginning of a ``with`` to its end; after that nothing more is told.

    Args:
        read: returns what surrounds the run at so many of its seconds.
        tell: takes that.
        clock: monotonic seconds.

    Attributes:
        seen: what was read since fio last began to count anew.
    """

    def __init__(
        self,
        read: Callable[[float], Around],
        tell: Callable[[Around], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._tell = tell
        self._clock = clock
        self._began_s = 0.0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="lookout", daemon=True)
        self.seen: list[Around] = []

    def __enter__(self) -> Self:
        self._began_s = self._clock()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._over.set()
        # A disk that does not answer keeps nobody: what it says then is thrown away.
        self._thread.join(_JOIN_S)

    def sampled(self, sample: Sample) -> None:
        """Go by the clock of fio's samples; what was before it counted anew is no part of the run."""
        with self._lock:
            self._began_s = self._clock() - sample.t_s
            if sample.anew:
                self.seen.clear()

    def _look(self) -> None:
        # Signals are for the main thread, which holds them back while something is changed.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pause = FIRST_S
        while not self._over.wait(pause):
            around = self._read(round(max(0.0, self._clock() - self._began_s), 3))
            with self._lock:
                if self._over.is_set():
                    return
                self.seen.append(around)
                self._tell(around)
            pause = EACH_S
