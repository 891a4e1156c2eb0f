"""What was found about mismatches, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.rescue.mismatch.mismatch_records import (
    ContentKind,
    Contents,
    Mismatch,
    MismatchResult,
    MismatchVerdict,
    PartRole,
)
from raidtui.view.units import amount, counted, joined

_FEW_BYTES = 2
_MOST_CONTENTS = 8


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
                f"{names} disagrees: P and Q both say that its data should be others. After a crash in the"
                f" middle of a write, it may also be the only one that is new.{few}"
            )
        case MismatchVerdict.P_ALONE | MismatchVerdict.Q_ALONE:
            mine, other = ("P", "Q") if found.verdict is MismatchVerdict.P_ALONE else ("Q", "P")
            return f"{names} disagrees: it holds {mine}; the data and {other} agree.{few}"
        case MismatchVerdict.MAJORITY:
            same = [part.device for part in found.parts if part.agrees]
            be = "disagrees" if len(found.wrong) == 1 else "disagree"
            return f"{names} {be}: {joined(same)} are equal, and they are more."
        case MismatchVerdict.CHANGING:
            return "It was being written to while it was read, so nothing is known of it: compare it again."
    return _not_known(found)


def _not_known(found: Mismatch) -> str:
    parts = found.parts
    if parts[0].role is PartRole.COPY:
        versions: dict[str, list[str]] = {}
        for part in parts:
            versions.setdefault(part.version, []).append(part.device)
        each = "; ".join(f"{letter}: {joined(names)}" for letter, names in sorted(versions.items()))
        return f"Which copy is right cannot be known. {len(versions)} versions: {each}."
    if any(part.role is PartRole.Q for part in parts) and len(parts) > 2:
        return (
            "Which member disagrees cannot be known: P and Q point to no single one, so more than one is"
            " wrong, or one is missing."
        )
    return (
        "Which member disagrees cannot be known: with one parity, any of"
        f" {joined([part.device for part in parts])} may be the one."
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
            return f"{text}: it is one of those that are equal."
        return f"{text}: it is the one that disagrees, so what the others agree on would be lost."
    if found.verdict in {MismatchVerdict.P_ALONE, MismatchVerdict.Q_ALONE}:
        return "A repair computes it anew from the data. No file is concerned."
    if found.verdict is MismatchVerdict.BY_P_AND_Q:
        return (
            "A repair computes P and Q anew from the data as they are: what is wrong stays, and nothing"
            " shows it any more. Restore what lies there first."
        )
    return (
        "A repair computes the parity anew from the data as they are: if the data are wrong, they stay so,"
        " and nothing shows it any more."
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
        text += f" {counted(found.settled, 'place')} matched when read again: writes under way, no mismatch."
    if found.uncompared or found.uncompared_bytes:
        text += " Some of it could not be compared, see below."
    if found.ended_sector is not None:
        why = "There are very many: it ended"
        if found.changed:
            why = f"It ended, as {found.changed},"
        elif found.cancelled:
            why = "It was ended"
        text += f" {why} at array sector {found.ended_sector}; --from {found.ended_sector} goes on."
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
