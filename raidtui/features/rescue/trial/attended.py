"""Work that reads devices is attended: where the kernel does not answer, it is given up, and that is said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader

_PACE_S = 0.2
_IDLE_S, _SILENT_S = 30.0, 600.0
_T = TypeVar("_T")


class GivenUpError(Exception):
    """The kernel has not answered reads; the text says which, a clause."""


class AnswerWatch:
    """Sees whether reads of a device are answered, by the kernel's counters of it and of what it lies on.

    Args:
        root: the host.
        top: the kernel's name of what is read: an array, or a map.
        below: those of its members.
        clock: monotonic seconds.
    """

    def __init__(
        self, root: HostReader, top: str, below: Sequence[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._root = root
        self._top = top
        self._names = (top, *below) if top else tuple(below)
        self._clock = clock
        self._seen: list[str | None] = []
        self._since_s = clock()

    def silence(self) -> str:
        """Return what has not been answered, a clause, or "".

        A disk that fails may take minutes for a read, and each that ends is an answer. Where no member has
        anything to do, md itself does not go on.
        """
        counted = [self._answered(name) for name in self._names]
        flights = {name: in_flight(self._root, name) for name in self._names}
        now_s = self._clock()
        if counted != self._seen or not any(flights.values()):
            self._seen, self._since_s = counted, now_s
            return ""
        silent_s = now_s - self._since_s
        busy = [name for name, count in flights.items() if count]
        if busy == [self._top] and silent_s >= _IDLE_S:
            return f"md has answered no read of {self._top} for {silent_s:.0f} s, and its members are idle"
        if silent_s >= _SILENT_S:
            return f"{', '.join(busy)} did not answer for {silent_s:.0f} s"
        return ""

    def _answered(self, name: str) -> str | None:
        """Return the requests that have ended, as text; None where they are not known."""
        words = (self._root.text(f"{BLOCK}/{name}/stat") or "").split()
        return " ".join(words[:8:4]) if len(words) > 8 else None  # reads, writes (block/stat.rst)


def in_flight(root: HostReader, name: str) -> int:
    """Return how many reads and writes of a device have not been answered."""
    words = (root.text(f"{BLOCK}/{name}/inflight") or "").split() if name else []
    return sum(int(word) for word in words if word.isdigit())


def attend(work: Callable[[], _T], why_given_up: Callable[[], str]) -> _T:
    """Do work in a thread of its own, which nothing can end; return what it returns.

    Args:
        work: what may wait for a device.
        why_given_up: asked all the time; a clause, or "" to wait on.

    Raises:
        GivenUpError: it was given up, and may wait still.
    """
    found: list[_T] = []
    failed: list[BaseException] = []

    def done() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  (it is raised where it is waited for)
            failed.append(error)

    thread = threading.Thread(target=done, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PACE_S)
        if thread.is_alive() and (why := why_given_up()):
            raise GivenUpError(why)
    if failed:
        raise failed[0]
    return found[0]
