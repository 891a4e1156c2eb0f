"""A guest with RAM disks, for kinds that need nothing else."""

from __future__ import annotations

from tests.lab.guests.arrays import make_ram_disks
from tests.lab.guests.uml import UmlGuest


class RamDisks:
    """Boots the guest before the first round of a kind, and ends it after the last.

    Args:
        count: disks ram0, ram1, ...
        size_mib: of each.
    """

    def __init__(self, count: int, size_mib: int) -> None:
        self._count, self._size_mib = count, size_mib
        self._guest: UmlGuest | None = None

    @property
    def guest(self) -> UmlGuest:
        """The running guest."""
        assert self._guest is not None, "open_up() comes first"
        return self._guest

    def open_up(self) -> None:
        """Boot the guest and make its disks."""
        self._guest = UmlGuest.boot(disks=1)
        make_ram_disks(self._guest, self._count, self._size_mib)

    def close_down(self) -> None:
        """Shut the guest down."""
        if self._guest is not None:
            self._guest.shutdown()
            self._guest = None
