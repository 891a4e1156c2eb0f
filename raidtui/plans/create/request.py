"""A new array as somebody wants it."""

from __future__ import annotations

from msgspec import Struct

from raidtui.plans.on_top.plan import OnTop

MISSING = "missing"
LEVELS = ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10")


class CreateRequest(Struct, frozen=True, kw_only=True):
    """A new array as somebody wants it.

    Args:
        name: what it is called; a number of up to three digits is its md number too.
        uuid: what it will be known by, made up by the caller.
        level: raid0, raid1, raid4, raid5, raid6 or raid10; the number alone will do.
        devices: kernel names by slot, or "missing".
        layout: n2, f2, o2 for RAID-10, ls and so on for RAID-5 and -6; "" is n2 or left-symmetric.
        chunk_kib: 0 is 512, and none for RAID-1.
        bitmap: none or internal; "" is internal for levels with parity, where nothing else guards it.
        consistency_policy: "", resync, bitmap, ppl or journal.
        spares: further devices.
        write_mostly: of the devices, those that are read only where no other is left.
        failfast: whether a member fails at once instead of being asked again.
        assume_clean: whether the first sync is left out.
        size_kib: what is used of each member; 0 is all.
        number: the md number; None is the name's, or the kernel's choice.
        on_top: LVM and a file system, if wanted.
        journal: the device that takes the journal of RAID-4, -5 or -6.
        destroys: names of arrays that do not run and may be destroyed, as somebody typed them.
    """

    name: str
    uuid: str
    level: str
    devices: tuple[str, ...]
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    consistency_policy: str = ""
    metadata: str = "1.2"
    spares: tuple[str, ...] = ()
    write_mostly: tuple[str, ...] = ()
    failfast: bool = False
    assume_clean: bool = False
    size_kib: int = 0
    number: int | None = None
    on_top: OnTop = OnTop()
    journal: str = ""
    destroys: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All devices and spares, without empty slots, and the journal's."""
        names = (*self.devices, *self.spares, *((self.journal,) if self.journal else ()))
        return tuple(name for name in names if name != MISSING)

    @property
    def holes(self) -> tuple[int, ...]:
        """The slots that stay empty."""
        return tuple(slot for slot, name in enumerate(self.devices) if name == MISSING)


def canonical_level(word: str) -> str | None:
    """Return the kernel's word for a level ("10" is raid10), or None where none such can be created."""
    level = "raid" + word.lower().removeprefix("raid")
    return level if level in LEVELS else None
