"""A guest whose power can be cut: its disks keep what had reached them, all else is gone."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path

from tests.lab.boot import Parts, command_line, disk_names, find_parts, furnish
from tests.lab.uml import BOOT_TIMEOUT_S, UmlGuest, own_processor

MEM_MIB = 768


class PowerGuest(UmlGuest):
    """User Mode Linux, a process: SIGKILL takes its memory, page cache included, and nothing else."""

    _parts: Parts

    @classmethod
    def furnished(cls, disks: int = 8, size_mib: int = 64) -> PowerGuest:
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
                self.folder, self._parts, files=self._files, mem_mib=MEM_MIB, lines=lines
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
