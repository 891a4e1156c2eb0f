"""Arrays that should run and do not: /proc/mdstat has no line of them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.view.units import counted


class Absence(StrEnum):
    """Why an array does not run."""

    GONE = "gone"
    """It was seen running, and failed because too few of its members were left."""
    NOT_STARTED = "not-started"
    """Some of its members are there, and no array runs on them."""
    NOT_THERE = "not-there"
    """A file names it, and no member was found."""


class AbsentMember(Struct, frozen=True, kw_only=True):
    """One member of an array that does not run.

    Args:
        name: the kernel's name of the device, now or when it was last seen.
        present: whether the device is there, with its superblock.
        slot: its slot in the array; None for spares and where it is not known.
        role: its role when the array was last seen: in_sync, rebuilding, faulty; "" where it was not seen.
        events_behind: how many events its superblock is behind the newest; above 1 its data are out of date.
        dropped: whether the newest superblock counts it as failed or missing.
        serial: the serial number of its disk.
    """

    name: str
    present: bool
    slot: int | None = None
    role: str = ""
    events_behind: int = 0
    dropped: bool = False
    serial: str | None = None


class AbsentArray(Struct, frozen=True, kw_only=True):
    """An array that does not run.

    Args:
        path: the device node that a file names, or that the array had or would have.
        raid_disks: the number of slots; None where it is not known (superblocks are read as root).
        filled: how many slots have a member that is present and up to date; None where it is not known.
        named_by: the files that name it, with the line: "/etc/fstab, line 3".
        wanted: whether one of these needs it at boot (not ``noauto``).
        seen_s: epoch seconds when it was last seen running in this session; None if it was not.
        awaits_udev: whether more members may be found: udev has not read all devices yet.
        unread: the devices that udev has no entry of, if it is known which.
        obstacle: why md does not start it as it is, with all members; "" for nothing.
        silence: why mdadm does not say what its members hold, a clause; "" where it was not asked, or does.
    """

    absence: Absence
    path: str
    uuid: str | None = None
    label: str | None = None
    level: str | None = None
    layout: int | None = None
    raid_disks: int | None = None
    filled: int | None = None
    members: tuple[AbsentMember, ...] = ()
    named_by: tuple[str, ...] = ()
    wanted: bool = False
    seen_s: float | None = None
    awaits_udev: bool = False
    unread: tuple[str, ...] = ()
    obstacle: str = ""
    silence: str = ""

    @property
    def key(self) -> str:
        """Its identity: the UUID where it is known."""
        return self.uuid or self.path

    @property
    def title(self) -> str:
        """The name to show."""
        return self.label or self.path.rpartition("/")[2] or self.key[:8]

    @property
    def name(self) -> str:
        """The last part of its path; it distinguishes rows with the same title."""
        return self.path.rpartition("/")[2]

    @property
    def complete(self) -> bool | None:
        """Whether all its members are present; None where that is not known."""
        if self.absence is Absence.NOT_THERE:
            return False
        if self.filled is None or self.raid_disks is None:
            return None
        return self.filled >= self.raid_disks

    def maybe_more(self, unread: tuple[str, ...]) -> AbsentArray:
        """Return it with a number of members that is not known: udev may still find some."""
        return self if self.complete else replace(self, filled=None, awaits_udev=True, unread=unread)

    @property
    def present(self) -> tuple[AbsentMember, ...]:
        """The members that are present."""
        return tuple(member for member in self.members if member.present)

    @property
    def count_words(self) -> str:
        """How many members are present: "2 of 3 members present"; without numbers that are not known."""
        return self._count(" present")

    @property
    def count_short(self) -> str:
        """The same where the sentence already says that they are present: "2 of 3 members"."""
        return self._count("")

    @property
    def count(self) -> tuple[int, int | None]:
        """How many members are present, and of how many; None where that is not known."""
        known = self.filled is not None and self.raid_disks is not None
        return self.filled if known and self.filled is not None else len(self.present), self.raid_disks

    def _count(self, present: str) -> str:
        if self.awaits_udev:
            there = len(self.present)
            found = (
                counted(there, "member")
                if self.raid_disks is None
                else (f"{there} of {counted(self.raid_disks, 'member')}")
            )
            return f"{found} found so far"
        if self.filled is not None and self.raid_disks is not None:
            return f"{self.filled} of {counted(self.raid_disks, 'member')}{present}"
        members = f"{counted(len(self.present), 'member')}{present}"
        return members if self.raid_disks is None else f"{members} of {self.raid_disks}"
