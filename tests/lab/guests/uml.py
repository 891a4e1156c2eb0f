"""User Mode Linux as a guest: the kernel is a program of this machine, its disks are sparse files."""

import contextlib
import os
import select
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from tests.lab.guests.boot import Parts, command_line, disk_names, find_parts, furnish
from tests.lab.guests.guest import Guest

BOOT_TIMEOUT_S = 90.0
WAKE_EVERY_S = 2.0


class UmlGuest(Guest):
    """A guest with disks ubda, ubdb, ...: md and all that is stacked on it, but no hardware."""

    agent_line = "ssl0"
    consoles: ClassVar[Mapping[str, str]] = {"/dev/tty1": "con1", "/dev/tty2": "con2"}

    out: frozenset[str] = frozenset()
    """The disks that are not plugged in at the next boot."""
    _parts: Parts
    _mem_mib: int

    @classmethod
    def boot(cls, disks: int = 8, size_mib: int = 128, mem_mib: int = 1024) -> Self:
        """Start a guest and wait until it takes jobs.

        Raises:
            LabMissingError: this machine lacks something.
            GuestDiedError: the guest did not come up; the text says what its console said.
        """
        parts = find_parts()
        guest = cls(Path(tempfile.mkdtemp(prefix="raidtui-lab.")), size_mib)
        try:
            guest._parts, guest._mem_mib = parts, mem_mib
            guest.disks = disk_names(disks)
            guest._files = furnish(guest.folder, parts, disks=disks, size_mib=size_mib)
            guest.switch_on()
        except BaseException:
            guest.shutdown()
            raise
        return guest

    def switch_on(self) -> None:
        """Boot it, with what its disks hold, and wait until it takes jobs.

        Raises:
            GuestDiedError: it did not come up; the text says what its console said.
        """
        self._launch(
            lambda lines: command_line(
                self.folder, self._parts, files=self._files, out=self.out, mem_mib=self._mem_mib, lines=lines
            )
        )
        self._link.wait_ready(BOOT_TIMEOUT_S)

    def _launch(self, argv_for: Callable[[Mapping[str, int]], Sequence[str]]) -> int:
        pid = super()._launch(argv_for)
        # Its kernel and its programs are processes here that hand over to each other at every system call:
        # on one processor that is four times as quick as across two.
        os.sched_setaffinity(pid, {own_processor()})
        threading.Thread(
            target=keep_awake, args=(os.pidfd_open(pid), pid), daemon=True, name="lab waker"
        ).start()
        return pid


class PowerGuest(UmlGuest):
    """A guest whose power can be cut: SIGKILL takes its memory, page cache included, and leaves its disks."""

    @classmethod
    def boot(cls, disks: int = 8, size_mib: int = 112, mem_mib: int = 768) -> Self:
        """Start it with less memory, and disks that have room for what a rescue saves."""
        return super().boot(disks, size_mib, mem_mib)

    def cut(self) -> None:
        """Cut the power."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for line in self._ours.values():
            line.shutdown(socket.SHUT_RDWR)
        self._link.join()
        self._console.join()
        for line in self._ours.values():
            line.close()
        self._ours = {}
        shutil.rmtree(self.folder / "uml", ignore_errors=True)


def own_processor() -> int:
    """A processor of this machine: the tests' workers (gw0, gw1, ...) have one each, as far as they go.

    Runs of one process that know nothing of each other share the processors out by chance.
    """
    processors = sorted(os.sched_getaffinity(0))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return processors[-1 - (int(worker) if worker else os.getpid()) % len(processors)]


def keep_awake(pidfd: int, pid: int, every_s: float = WAKE_EVERY_S) -> None:
    """Send the guest's kernel SIGALRM and SIGIO every `every_s` seconds until it has ended; closes `pidfd`.

    SIGALRM is the interrupt of the kernel's only timer, which fires once and is armed again by its handler.
    Linux 6.1 can lose it: when the timer fires again before the handler has returned, and while interrupts
    are disabled, unblock_signals() (arch/um/os-Linux/signal.c) drops it. From then on no sleep and no timeout
    in the guest ends, and all else works. One more SIGALRM makes the kernel look at its clock, run what is
    due, and arm its timer. The clock is this machine's, so nothing runs early, and nothing else is changed: a
    program that waits for what does not come still waits.

    SIGIO is the interrupt of its disks and lines, and goes the same way: what a disk has done is not heard of
    until a line says something. One more makes the kernel ask all of them what there is.
    """
    try:
        ended = select.poll()
        ended.register(pidfd, select.POLLIN)
        while not ended.poll(every_s * 1000):
            for number in (signal.SIGALRM, signal.SIGIO):
                with contextlib.suppress(ProcessLookupError):
                    if catches(pid, number):
                        signal.pidfd_send_signal(pidfd, number)
    finally:
        os.close(pidfd)


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal; the kernel has none at the beginning of its boot."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)
