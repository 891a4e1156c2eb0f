"""`python -m tests.lab [--qemu] [shell|tui]`: a guest with a resyncing RAID-10, on the caller's terminal."""

import argparse
import os
import select
import shutil
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.guests.arrays import disk_names, make_array, slow
from tests.lab.guests.boot import REPOSITORY, LabMissingError
from tests.lab.guests.guest import Guest
from tests.lab.guests.link import LabError
from tests.lab.guests.qemu.guest import QemuGuest
from tests.lab.guests.uml import UmlGuest

TUI = (sys.executable, "-m", "raidtui")
SPEED_KIB_S = 500


def main() -> int:
    """Boot, make the array, hand the terminal over until the program ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("shell", "tui"), default="shell")
    parser.add_argument("--qemu", action="store_true", help="the guest with SATA, NVMe and governors")
    chosen = parser.parse_args()
    if not sys.stdin.isatty():
        parser.error("this needs a terminal")
    say("Booting the guest ...")
    try:
        guest = QemuGuest.boot(size_mib=256) if chosen.qemu else UmlGuest.boot(disks=6, size_mib=256)
    except (LabMissingError, LabError) as error:
        say(str(error))
        return 1
    try:
        slow(guest, SPEED_KIB_S)
        make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=64, bitmap="internal")
        if chosen.what == "tui":
            return relay(guest, TUI)
        free = " and ".join(
            guest.run(f"cd /dev && readlink -e {' '.join(disk_names(guest)[4:])}").stdout.split()
        )
        say(f"A guest with /dev/md/data, a RAID-10 that resyncs slowly, and two free disks, {free}.")
        say(f"Start raidtui with: {' '.join(TUI)}    Leave with: exit")
        return relay(guest, ("bash", "--norc", "-i"))
    except LabError as error:
        say(str(error))
        return 1
    finally:
        guest.shutdown()


def relay(guest: Guest, argv: tuple[str, ...]) -> int:
    """Carry bytes between the caller's terminal and a program in the guest; returns its exit status."""
    size = shutil.get_terminal_size()
    env = {"TERM": os.environ.get("TERM", "xterm-256color"), "PS1": r"\h:\w# "}
    env |= {name: os.environ[name] for name in ("COLORTERM", "NO_COLOR") if name in os.environ}
    fd, program = guest.start_on_console(argv, cols=size.columns, rows=size.lines, env=env)
    with raw_terminal(), resized() as woken:
        while program.status is None:
            ready, _, _ = select.select([sys.stdin, fd, woken], [], [], 0.1)
            if sys.stdin in ready:
                if not (data := os.read(sys.stdin.fileno(), 1024)):
                    break
                os.write(fd, data)
            if fd in ready:
                show(fd)
            if woken in ready:
                woken.recv(64)
                size = shutil.get_terminal_size()
                program.resize(size.columns, size.lines)
        while select.select([fd], [], [], 0.2)[0]:
            show(fd)
    os.close(fd)
    return 1 if program.status is None else program.status & 0xFF


def show(fd: int) -> None:
    """Pass on what the program wrote."""
    data = memoryview(os.read(fd, 65536))
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]


@contextmanager
def raw_terminal() -> Iterator[None]:
    """The caller's terminal passes every key on; as before at the end."""
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def resized() -> Iterator[socket.socket]:
    """A socket that becomes readable when the caller's terminal changed its size."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno())
    before = signal.signal(signal.SIGWINCH, lambda *_: None)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGWINCH, before)
        reading.close()
        writing.close()


def say(text: str) -> None:
    """One line for the person."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY))
    sys.exit(main())
