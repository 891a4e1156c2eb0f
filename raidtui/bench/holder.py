"""Holding a device that is written to: whatever else would use it is told that it is busy.

A benchmark goes on for hours. Who asks only before it begins, or before each run, does not see what is
mounted in between. fio itself opens the device as everybody may.
"""

from __future__ import annotations

import errno
import os


class Holder:
    """Holds one device at a time, as mount, md, LVM and mkfs do (O_EXCL, open(2)).

    Attributes:
        name: the kernel's name of the device that is held; "" for none.
    """

    def __init__(self) -> None:
        self.name = ""
        self._number = -1

    def take(self, name: str) -> str:
        """Hold a device instead of what was held before; return why that cannot be, or ""."""
        if name == self.name:
            return ""
        self.let_go()
        try:
            self._number = os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.EBUSY:
                return f"{name} has come into use meanwhile; nothing more is written to it"
            return f"{name} cannot be held: {error.strerror}"
        self.name = name
        return ""

    def let_go(self) -> None:
        """Hold nothing."""
        if self.name:
            os.close(self._number)
        self.name = ""
