"""What is known of sectors that do not match, and the words for it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from raidtui.view.units import amount, counted, joined

_FEW_BYTES = 2
_MOST_CONTENTS = 8


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
        ended_sector: the array's sector with which it continues, where it was ended before its end: by the
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


def sectors_words(first: int, count: int) -> str:
    """Return ``sector 7`` or ``sectors 8 to 15``."""
    return f"sector {first}" if count == 1 else f"sectors {first} to {first + count - 1}"


def verdict_text(found: Mismatch) -> str:
    """Return which member disagrees and how that is known; whole sentences."""
    names = joined([part.device for part in found.wrong])
    few = (
        f" Only {counted(found.bytes_differ, 'byte')} differ{'s' if found.bytes_differ == 1 else ''}: if two"
        " members are wrong, they may point to a third by chance."
        if found.bytes_differ <= _FEW_BYTES
        else ""
    )
    match found.verdict:
        case MismatchVerdict.BY_P_AND_Q:
            return (
                f"{names} disagrees: P and Q both say that its data should differ. After a crash in"
                f" the middle of a write, it may also be the only one with new data.{few}"
            )
        case MismatchVerdict.P_ALONE | MismatchVerdict.Q_ALONE:
            mine, other = ("P", "Q") if found.verdict is MismatchVerdict.P_ALONE else ("Q", "P")
            return f"{names} disagrees: it holds {mine}; the data and {other} agree.{few}"
        case MismatchVerdict.MAJORITY:
            same = [part.device for part in found.parts if part.agrees]
            be = "disagrees" if len(found.wrong) == 1 else "disagree"
            return f"{names} {be}: {joined(same)} are equal, and outnumber it."
        case MismatchVerdict.CHANGING:
            return (
                "It was being written to while it was read, so nothing is known about it: compare it again."
            )
    return _not_known(found)


def _not_known(found: Mismatch) -> str:
    parts = found.parts
    if parts[0].role is PartRole.COPY:
        versions: dict[str, list[str]] = {}
        for part in parts:
            versions.setdefault(part.version, []).append(part.device)
        each = "; ".join(f"{letter}: {joined(names)}" for letter, names in sorted(versions.items()))
        return f"There is no way to know which copy is right. {len(versions)} versions: {each}."
    if any(part.role is PartRole.Q for part in parts) and len(parts) > 2:
        return (
            "There is no way to know which member disagrees: P and Q do not point to a single one, so"
            " more than one is wrong, or one is missing."
        )
    return (
        "There is no way to know which member disagrees: with"
        f" one parity, it may be any of {joined([part.device for part in parts])}."
    )


def repair_text(found: Mismatch) -> str:
    """Return what a repair would do there (md(4)); whole sentences."""
    first = found.parts[0]
    if found.verdict is MismatchVerdict.CHANGING:
        return ""
    if first.role is PartRole.COPY:
        text = f"A repair copies {first.device}, the first copy, over the others"
        if found.verdict is not MismatchVerdict.MAJORITY:
            return f"{text}, whether it is right or not."
        if first.agrees:
            return f"{text}: it is one of the equal ones."
        return f"{text}: it is the one that disagrees, so what the others agree on would be lost."
    if found.verdict in {MismatchVerdict.P_ALONE, MismatchVerdict.Q_ALONE}:
        return "A repair recomputes it from the data. No file is affected."
    if found.verdict is MismatchVerdict.BY_P_AND_Q:
        return (
            "A repair recomputes P and Q from the present data: wrong data stays, and"
            " nothing shows it any longer. Restore what lies there first."
        )
    return (
        "A repair recomputes the parity from the present data: wrong data stays wrong,"
        " and nothing shows it any longer."
    )


def place_text(found: Contents) -> str:
    """Return what lies in a stretch, and on what: ``file /a/b (inode 12), ext4 on dm-0, volume vg0/data``."""
    word = "file " if found.kind is ContentKind.FILE else ""
    inode = f" (inode {found.inode})" if found.inode is not None and found.paths else ""
    parts = [f"{word}{found.text}{inode}"]
    if found.file_system:
        parts.append(f"{found.file_system} on {found.device}")
    parts += found.volumes
    if found.mounted:
        parts.append(f"mounted on {found.mounted}")
    return ", ".join(parts)


def summary_text(found: MismatchResult) -> str:
    """Return the outcome in whole sentences."""
    compared = f"{amount(found.compared_bytes)} of {amount(found.total_bytes)} compared"
    if found.stretches:
        stretches = counted(len(found.stretches), "stretch" if len(found.stretches) == 1 else "stretche")
        text = f"{counted(found.sectors, 'sector')} do{'es' if found.sectors == 1 else ''} not match, in"
        text = f"{text} {stretches}; {compared}."
    else:
        text = f"All members match; {compared}."
    if found.settled:
        text += (
            f" {counted(found.settled, 'place')} matched when read again: writes in progress, not mismatches."
        )
    if found.uncompared or found.uncompared_bytes:
        text += " Some places could not be compared, see below."
    if found.ended_sector is not None:
        why = "There are very many: it ended"
        if found.changed:
            why = f"It ended, as {found.changed},"
        elif found.cancelled:
            why = "It was ended"
        text += f" {why} at array sector {found.ended_sector}; --from {found.ended_sector} continues."
    return text


class SaidLine(Struct, frozen=True, kw_only=True):
    """A paragraph of a result, not wrapped yet; an empty one is an empty line.

    Args:
        role: as ``raidtui.view.line`` has them.
        indent: of its first line; the others have three more.
    """

    text: str
    role: str = "plain"
    indent: int = 0


def mismatch_lines(found: MismatchResult) -> Iterator[SaidLine]:
    """Yield the result."""
    yield SaidLine(text=summary_text(found), role="warn" if found.stretches else "ok")
    for number, each in enumerate(found.stretches, 1):
        yield SaidLine(text="")
        yield from _stretch_lines(number, each)
    if found.uncompared:
        yield SaidLine(text="")
        yield SaidLine(text="Not compared:", role="warn")
    for rest in found.uncompared:
        where = sectors_words(rest.first_sector, rest.sectors)
        yield SaidLine(text=f"{rest.device}, {where}: {rest.why}", indent=2)


def _stretch_lines(number: int, found: Mismatch) -> Iterator[SaidLine]:
    text = f"{number}. {counted(found.sectors, 'sector')}. {verdict_text(found)}"
    yield SaidLine(text=text, role="strong")
    for part in found.parts:
        role = {PartRole.P: "P", PartRole.Q: "Q"}.get(
            part.role, f"array {sectors_words(part.array_sector or 0, found.sectors)}"
        )
        sign = {True: "agrees", False: "DISAGREES", None: ""}[part.agrees]
        version = f"version {part.version}" if part.version and part.agrees is None else ""
        words = [f"{part.device} {sectors_words(part.first_sector, found.sectors)}", role, sign, version]
        text = ", ".join(word for word in words if word)
        yield SaidLine(text=text, role="bad" if part.agrees is False else "plain", indent=3)
    for lies in found.contents[:_MOST_CONTENTS]:
        where = f"array {sectors_words(lies.array_sector, lies.sectors)}"
        yield SaidLine(text=f"There: {place_text(lies)} ({where})", role="accent", indent=3)
    if len(found.contents) > _MOST_CONTENTS:
        more = f"... and {len(found.contents) - _MOST_CONTENTS} more; --json has all"
        yield SaidLine(text=more, indent=3)
    if text := repair_text(found):
        yield SaidLine(text=text, indent=3)
