"""Whether a terminal is at the end of a slow line: a serial console.

Source: termios(3). A pseudo terminal has 38,400 baud unless told otherwise; ssh tells it the speed of the
line that it was called from.
"""

from __future__ import annotations

import fcntl
import struct
import termios

SLOW_BAUD = 19_200
"""Up to so many baud, 1,920 bytes a second, each byte is felt."""
BITS_OF_A_BYTE = 10
"""With its start bit and its stop bit."""
_SPEEDS = {
    getattr(termios, f"B{baud}"): baud
    for baud in (50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19_200, 38_400)
    if baud <= SLOW_BAUD
}


def slow_baud(descriptor: int) -> int | None:
    """Return the speed of a slow line, baud; None of any other, and of what is no terminal."""
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
