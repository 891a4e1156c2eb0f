"""What is known of sectors that do not match. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class MismatchVerdict(StrEnum):
    """Which member disagrees, and how that is known; for programs. None changes."""

    BY_P_AND_Q = "by-p-and-q"  # RAID 6: P and Q both say that one member's data are others
    P_ALONE = "p-alone"  # RAID 6: the data and Q agree; P does not
    Q_ALONE = "q-alone"  # RAID 6: the data and P agree; Q does not
    MAJORITY = "majority"  # of three copies or more, most are equal
    NOT_KNOWN = "not-known"  # nothing says which member is right
    CHANGING = "changing"  # it was being written to: what was read is not of one moment


class PartRole(StrEnum):
    """What a member holds there; for programs. None changes."""

    DATA = "data"
    P = "p"
    Q = "q"
    COPY = "copy"


class ContentKind(StrEnum):
    """What lies there; for programs. None changes."""

    FILE = "file"  # a file or a directory, with its path
    METADATA = "metadata"  # a file system's or LVM's own tables, a journal, a header of LUKS
    FREE = "free"  # nothing is kept there
    SWAP = "swap"  # swap space
    TABLE = "table"  # a partition table
    ENCRYPTED = "encrypted"  # it cannot be known without the key
    NOT_KNOWN = "not-known"  # it cannot be known, or nothing known stands there


class MismatchPart(Struct, frozen=True, kw_only=True):
    """What one member holds of a stretch that does not match.

    Args:
        device: the kernel's name.
        role: what it holds.
        first_sector: on the device, in 512-byte sectors.
        array_sector: the array's sector whose data these are; None for P and Q.
        agrees: whether it agrees with the others; None where that cannot be known.
        version: members with the same letter hold the same; "" for parity, where members differ anyway.
    """

    device: str
    slot: int
    role: PartRole
    first_sector: int
    array_sector: int | None = None
    agrees: bool | None = None
    version: str = ""


class Contents(Struct, frozen=True, kw_only=True):
    """What lies in a stretch of an array.

    Args:
        array_sector: where it begins in the array, in 512-byte sectors.
        sectors: how long it is.
        kind: what it is.
        text: a phrase for people.
        device: the kernel's name of what it lies on: the array, a partition, a map of the device mapper.
        volumes: what was gone through, from the array upwards: partitions, volumes, opened mappings.
        file_system: its type; "" where there is none.
        paths: of a file, all its names that are known, from the root of its file system.
        inode: of a file.
        mounted: where the file system is mounted; "" where it is not.
    """

    array_sector: int
    sectors: int
    kind: ContentKind
    text: str
    device: str
    volumes: tuple[str, ...] = ()
    file_system: str = ""
    paths: tuple[str, ...] = ()
    inode: int | None = None
    mounted: str = ""


class Mismatch(Struct, frozen=True, kw_only=True):
    """A stretch that does not match, all of one kind.

    Args:
        sectors: how long it is on each member, in 512-byte sectors.
        bytes_differ: in how many bytes members disagree.
        parts: by slot; of copies, the first is the one that a repair writes over the others. The members
            without a part could not be read there.
        contents: what lies there; () where nothing of the array does (parity alone), or it was not asked.
    """

    verdict: MismatchVerdict
    sectors: int
    bytes_differ: int
    parts: tuple[MismatchPart, ...]
    contents: tuple[Contents, ...] = ()

    @property
    def wrong(self) -> tuple[MismatchPart, ...]:
        """The members that are known to disagree."""
        return tuple(part for part in self.parts if part.agrees is False)

    @property
    def addresses(self) -> tuple[int, ...]:
        """The array's sectors whose data may be wrong: where a stretch of ``sectors`` begins, each once."""
        if self.verdict in {MismatchVerdict.P_ALONE, MismatchVerdict.Q_ALONE}:
            return ()
        parts = self.wrong if self.verdict is MismatchVerdict.BY_P_AND_Q else self.parts
        found = {part.array_sector for part in parts if part.array_sector is not None}
        return tuple(sorted(found))


class Uncompared(Struct, frozen=True, kw_only=True):
    """A stretch of a member that could not be compared.

    Args:
        first_sector: on the device.
        why: read error, or bad blocks that md has recorded.
    """

    device: str
    first_sector: int
    sectors: int
    why: str


class MismatchResult(Struct, frozen=True, kw_only=True):
    """What a comparison of all members has found.

    Args:
        stretches: in the order of the array.
        sectors: how many sectors of a member do not match, over all stretches.
        settled: stretches that matched when they were read again: writes in flight.
        uncompared: what of members could not be compared; of very many, the first.
        uncompared_bytes: how much of a member that is where nothing was left to compare with.
        compared_bytes: how much of the array was gone through.
        total_bytes: how much was to be.
        cancelled: whether it was ended by the caller.
        changed: why the members were not the array's any more, which ended it, a clause; "" for nothing.
        ended_sector: the array's sector with which it goes on, where it was ended before its end: by the
            caller, or because there are very many stretches.
        seconds: how long it took.
    """

    stretches: tuple[Mismatch, ...]
    sectors: int
    settled: int
    uncompared: tuple[Uncompared, ...]
    uncompared_bytes: int
    compared_bytes: int
    total_bytes: int
    cancelled: bool = False
    changed: str = ""
    ended_sector: int | None = None
    seconds: float = 0.0
