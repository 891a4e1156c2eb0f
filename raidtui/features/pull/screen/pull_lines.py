"""The page of an exchange, as lines: the disk, what is to be done, and the disks that must stay."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.pull.record import PullDisk, PullRecord
from raidtui.features.pull.standing import OtherState, PullStage, PullStanding
from raidtui.features.pull.words import PullWords
from raidtui.view.big import big_rows
from raidtui.view.line import Line
from raidtui.view.text import fit, tail, visible
from raidtui.view.units import short_size
from raidtui.view.wrapping import wrapped

_SIGNS = {"bad": "✖", "warn": "▲", "ok": "●", "plain": "●"}
_OTHERS = {
    OtherState.THERE: ("there", "ok"),
    OtherState.LEFT: ("LEFT: push it back", "bad"),
    OtherState.OUT: ("out of its array", "warn"),
    OtherState.FILLING: ("md fills it", "accent"),
}
_SERIAL, _NAME, _BAY = 20, 9, 16
_WIDE, _WIDEST_ROW = 110, 96


def pull_lines(
    record: PullRecord,
    words: PullWords,
    found: PullStanding | None,
    width: int,
    *,
    notes: Sequence[str] = (),
    plain: bool = False,
) -> list[Line]:
    """Return the page.

    Args:
        record: of the exchange, or of one that has not begun.
        words: what is said.
        found: where it stands; None where it has not begun.
        width: the cells of a line.
        notes: further sentences.
        plain: whether the terminal has ASCII alone.
    """
    shown = _shown(record, found)
    lines = _disk_lines(shown, width, words.role, plain=plain)
    lines += [[], [(f"{_SIGNS[words.role]} {visible(words.head)}", _strong(words.role))]]
    for text in filter(None, (*words.text, *notes)):
        lines += wrapped(text, width, indent=2)
    lines += [[], *_other_lines(record, found, width)]
    return lines


def _strong(role: str) -> str:
    return role if role != "plain" else "strong"


def _shown(record: PullRecord, found: PullStanding | None) -> PullDisk:
    """Return the disk whose serial number is drawn large: the one that a hand is on, or should be."""
    if found is not None and (first := (*found.wrong, *found.those(OtherState.OUT))):
        return first[0]
    if found is not None and found.fresh and found.stage in _OF_NEW:
        new = found.fresh[0]
        return PullDisk(
            identity=new.identity,
            label=new.label,
            name=new.name,
            model=new.model,
            size_bytes=new.size_bytes,
            bay=new.bay,
        )
    return record.target


_OF_NEW = frozenset({PullStage.FRESH, PullStage.FILLING, PullStage.DONE})


def _disk_lines(disk: PullDisk, width: int, role: str, *, plain: bool) -> list[Line]:
    size = short_size(disk.size_bytes) if disk.size_bytes else ""
    members = ", ".join(
        f"{member.array}{f' slot {member.slot}' if member.slot is not None else ''}"
        for member in disk.members
    )
    facts = "  ·  ".join(filter(None, (disk.name, disk.model, size, members)))
    serial = visible(disk.printed)
    rows = (" ".join(serial),) if plain else big_rows(serial, width - 2)
    lines: list[Line] = [[(fit(f"  {visible(facts)}", width), "plain")]]
    lines += [[(f"  {row}", _strong(role))] for row in rows]
    where = f"  {visible(disk.number)}" + (f"    at {visible(disk.bay)}" if disk.bay else "    bay not known")
    return [*lines, [(fit(where, width), "plain")]]


def _other_lines(record: PullRecord, found: PullStanding | None, width: int) -> list[Line]:
    others = found.others if found is not None else [(each, OtherState.THERE) for each in record.others]
    if not others:
        return [[("No other disk is plugged in.", "dim")]]
    order = sorted(others, key=lambda each: (each[1] is not OtherState.LEFT, not _kin(record, each[0])))
    bay = _BAY if width < _WIDE else 2 * _BAY
    lines: list[Line] = [[("Not these:", "strong")]]
    for disk, state in order:
        word, role = _OTHERS[state]
        members = ", ".join(dict.fromkeys(visible(member.array) for member in disk.members)) or "no array"
        row = (
            f"  {fit(visible(disk.name), _NAME)} {fit(tail(visible(disk.printed), _SERIAL), _SERIAL)}"
            f" {fit(tail(visible(disk.bay), bay), bay)} {fit(members, 10)} "
        )
        lines.append([(fit(row, min(width, _WIDEST_ROW) - len(word)), "plain"), (word, role)])
    return lines


def _kin(record: PullRecord, other: PullDisk) -> bool:
    """Whether a disk is in an array of the one that is to be pulled: as a rule, they are neighbours."""
    own = {member.uuid for member in record.target.members}
    return any(member.uuid in own for member in other.members)
