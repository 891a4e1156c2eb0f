"""User Mode Linux as a guest: the kernel is a program of this machine, its disks are sparse files."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from tests.lab.guests.boot import Parts, command_line, disk_names, find_parts, furnish
from tests.lab.guests.guest import Guest

BOOT_TIMEOUT_S = 90.0
POWER_GUEST_MIB = 768


class UmlGuest(Guest):
    """A guest with disks ubda, ubdb, ...: md and all that is stacked on it, but no hardware."""

    agent_line = "ssl0"
    consoles: ClassVar[Mapping[str, str]] = {"/dev/tty1": "con1", "/dev/tty2": "con2"}

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
            guest.disks = disk_names(disks)
            guest._files = files = furnish(guest.folder, parts, disks=disks, size_mib=size_mib)
            pid = guest._launch(
                lambda lines: command_line(guest.folder, parts, files=files, mem_mib=mem_mib, lines=lines)
            )
            # Its kernel and its programs are processes here that hand over to each other at every system
            # call: on one processor that is four times as quick as across two.
            os.sched_setaffinity(pid, {own_processor()})
            guest._link.wait_ready(BOOT_TIMEOUT_S)
        except BaseException:
            guest.shutdown()
            raise
        return guest


class PowerGuest(UmlGuest):
    """A guest whose power can be cut: SIGKILL takes its memory, page cache included, and leaves its disks."""

    _parts: Parts

    @classmethod
    def furnished(cls, disks: int = 8, size_mib: int = 64) -> Self:
        """Make a guest that is switched off.

        Raises:
            LabMissingError: this machine lacks something.
        """
        guest = cls(Path(tempfile.mkdtemp(prefix="raidtui-power.")), size_mib)
        try:
            guest._parts = find_parts()
            guest.disks = disk_names(disks)
            guest._files = furnish(guest.folder, guest._parts, disks=disks, size_mib=size_mib)
        except BaseException:
            shutil.rmtree(guest.folder, ignore_errors=True)
            raise
        return guest

    def switch_on(self) -> None:
        """Boot it, with what its disks hold.

        Raises:
            GuestDiedError: it did not come up.
        """
        pid = self._launch(
            lambda lines: command_line(
                self.folder, self._parts, files=self._files, mem_mib=POWER_GUEST_MIB, lines=lines
            )
        )
        os.sched_setaffinity(pid, {own_processor()})
        self._link.wait_ready(BOOT_TIMEOUT_S)

    def cut(self) -> None:
        """Take the power away."""
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
    """A processor of this machine: the tests' workers (gw0, gw1, ...) have one each, as far as they go."""
    processors = sorted(os.sched_getaffinity(0))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return processors[-1 - int(worker) % len(processors)]
