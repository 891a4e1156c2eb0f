"""The minimal monitor: wakes up every few seconds, reads one file, writes nothing.

`python -m benchmarks.waker SECONDS FILE`, `q` quits.  What this costs is the machine's price of waking a
process that has slept (on a virtual machine, milliseconds); it is subtracted where CPU in small percents is
judged.
"""

import os
import select
import sys
import termios
import tty


def main() -> int:
    """Wake, read, sleep, until `q`."""
    pause_s, path = float(sys.argv[1]), sys.argv[2]
    before = termios.tcgetattr(0)
    tty.setcbreak(0, termios.TCSANOW)
    os.write(1, b"waking up and reading, for comparison\r\n")
    try:
        while True:
            if select.select([0], [], [], pause_s)[0] and os.read(0, 16).startswith(b"q"):
                return 0
            fd = os.open(path, os.O_RDONLY)
            os.read(fd, 65536)
            os.close(fd)
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)


if __name__ == "__main__":
    sys.exit(main())
