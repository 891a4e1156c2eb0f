"""Whether a terminal is at the end of a slow line: a serial console.

Source: termios(3). A pseudo terminal has 38,400 baud unless told otherwise; ssh tells it the speed of the
line that it was called from.
"""

from __future__ import annotations

import fcntl
import struct
import termios
import time

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Callable

SLOW_BAUD = 19_200
"""Up to so many baud, 1,920 bytes a second, each byte is felt."""
_BITS_OF_A_BYTE = 10  # with its start bit and its stop bit
_NEARLY_SENT_S = 0.02
_SPEEDS = {
    getattr(termios, f"B{baud}"): baud
    for baud in (50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19_200, 38_400)
    if baud <= SLOW_BAUD
}


def slow_baud(descriptor: int) -> int | None:
    """Return the speed of a slow line, baud; None of any other, and of what is not a terminal."""
    try:
        return _SPEEDS.get(termios.tcgetattr(descriptor)[5])
    except (OSError, termios.error):
        return None


def unsent_bytes(descriptor: int) -> int:
    """Return how much the kernel has yet to send on a line; 0 where it does not say.

    Source: tty_ioctl(4), TIOCOUTQ.
    """
    try:
        found: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)))[0]
    except OSError:
        return 0
    return found


class SlowLine:
    """When a slow line is free again.

    The kernel knows what a serial port has yet to send. Behind ssh that is not known: what was sent takes as
    long there as it takes at the line's speed.

    Args:
        baud: its speed.
        unsent: returns how many bytes the kernel has yet to send.
        clock: seconds that only increase.
    """

    def __init__(
        self, baud: int, *, unsent: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._byte_s = _BITS_OF_A_BYTE / baud
        self._unsent = unsent
        self._clock = clock
        self._busy_until_s = clock()

    def note(self, count: int) -> None:
        """Note that so many bytes were written."""
        self._busy_until_s = max(self._busy_until_s, self._clock()) + count * self._byte_s

    def wait_s(self) -> float:
        """Return how long to wait until the line is free; 0 where it is."""
        seconds = max(self._busy_until_s - self._clock(), self._unsent() * self._byte_s)
        return seconds if seconds > _NEARLY_SENT_S else 0.0
