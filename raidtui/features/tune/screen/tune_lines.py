"""Pane 4's table as it is drawn: its head, a line for each row, what the chosen row has besides."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.tune.screen.tune_rows import (
    KHZ,
    NAME_CELLS,
    KnobColumn,
    KnobRow,
    disk_columns,
    speed_words,
)
from raidtui.model.attribution import who_set, who_set_words
from raidtui.model.knob import By, KnobScope, Subject, Tuning, Value, same_value
from raidtui.model.knob_table import KNOBS
from raidtui.plans.tune.findings import judge_tuning
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import binary_size

MARK = "▲"
_DIGITS = 4


class KnobCell(Struct, frozen=True, kw_only=True):
    """The chosen knob.

    Args:
        row: which row.
        knob: the knob's name.
        asked: the requested value that is not written yet; "" for none.
    """

    row: int
    knob: str
    asked: str = ""


def marks_of(tuning: Tuning) -> frozenset[tuple[str, str]]:
    """Return the (subject, knob) pairs that the findings below the table are about."""
    found = {pair for finding in judge_tuning(tuning) for pair in finding.about}
    for subject in tuning.subjects:
        for knob, value in subject.values.items():
            if value.kept is not None and not same_value(value.kept, value.text):
                found.add((subject.name, knob))
    return frozenset(found)


def head_line(width: int) -> Line:
    """Return the names of the disks' columns."""
    text = f" {'disk':<{NAME_CELLS - 1}}"
    for column in disk_columns(width):
        text += (
            f" {column.title:<{column.room + 2}}" if column.left else f"{column.title:>{column.room + 1}}  "
        )
    return [(fit(f"{text} set by", width), "dim")]


def row_line(
    row: KnobRow, marks: frozenset[tuple[str, str]], width: int, cell: KnobCell | None = None
) -> Line:
    """Return a row in ``width`` cells.

    Args:
        row: the row.
        marks: of ``marks_of``.
        width: of the window.
        cell: the chosen knob, if it is in this row.
    """
    scope = row.subject.scope
    name = f"cpu {row.cpus}" if scope is KnobScope.POLICY else row.subject.title
    line: Line = [(f" {fit(visible(name), NAME_CELLS - 2)} ", "plain")]
    for column in row.columns:
        if scope is not KnobScope.DISK and column.title:
            line.append((f" {column.title} ", "dim"))
        line += _cell(row, column, marks, _of_cell(cell, column))
    if scope is KnobScope.POLICY:
        line.append((f"{speed_words(row.subjects)} ", "plain"))
    used = sum(cell_width(text) for text, _ in line)
    gap = "" if scope is KnobScope.ARRAY else " "  # four knobs leave no room for it at 80 columns
    room = max(0, width - used)
    by = _set_by(row, cell.knob if cell is not None else "", room - len(gap))
    return [*line, (fit(f"{gap}{visible(by)}", room), "dim")]


def _cell(
    row: KnobRow,
    column: KnobColumn,
    marks: frozenset[tuple[str, str]] = frozenset(),
    chosen: KnobCell | None = None,
) -> Line:
    value = row.value(column.knob)
    text, role = _words(row.subject, column, value), "plain" if value is not None else "dim"
    if chosen is not None and chosen.asked:
        text, role = _figure(column, chosen.asked), "asked"
    text = visible(text)
    if not column.room:
        column = replace(column, room=cell_width(text))
    if cell_width(text) > column.room:
        text = fit(text, column.room)
    gap = " " * (column.room - cell_width(text))
    before, after = ("", gap) if column.left else (gap, "")
    left, right = ("[", "]") if chosen is not None else (" ", " ")
    marked = any((each.name, column.knob) in marks for each in row.of(column.knob))
    mark = (MARK, "warn") if marked else (" ", "plain")
    value_role = "warn" if marked and role == "plain" else role
    return [(before + left, "key"), (text, value_role), (right, "key"), mark, (after, "plain")]


def _words(subject: Subject, column: KnobColumn, value: Value | None) -> str:
    if value is None:
        return "–"
    if column.knob == "timeout":
        return f"{value.text} / {erc_words(subject)}"
    return _figure(column, value.text)


def _figure(column: KnobColumn, text: str) -> str:
    """Return a value as the table shows it; the details show it exactly."""
    unit = KNOBS[column.knob].unit
    if text.isdigit() and unit == "kHz":
        return f"{int(text) / KHZ:.1f} GHz"
    if text.isdigit() and unit == "bytes":
        return binary_size(int(text))
    if text.isdigit() and column.unit == "K" and len(text) > _DIGITS and not int(text) % 1024:
        return f"{int(text) // 1024}M"
    return f"{text}{column.unit}"


def erc_words(disk: Subject) -> str:
    """Return a disk's SCT ERC for reading: ``7.0 s``, ``off``, ``–`` without it, ``? s`` if not asked."""
    if not disk.erc_asked:
        return "? s"
    if disk.erc is None or disk.erc.read_ds is None:
        return "–"
    return f"{disk.erc.read_ds / 10:.1f} s" if disk.erc.read_ds else "off"


def _set_by(row: KnobRow, chosen: str, room: int) -> str:
    """Return who has set the chosen knob, or the knobs of a row, as far as it fits."""
    knobs = (chosen,) if chosen in row.knobs and row.value(chosen) is not None else row.knobs
    values = [
        (knob, value)
        for knob in knobs
        for each in row.of(knob)
        if (value := each.values.get(knob)) is not None
    ]
    setters = who_set(values, knobs if len(knobs) == 1 else {column.knob for column in row.columns})
    words = who_set_words(setters)
    if cell_width(words) <= room or (len(setters) == 1 and setters[0].by is not By.UNKNOWN):
        return words
    if len(setters) > 1 and {each.by for each in setters} != {By.KERNEL, By.UNKNOWN}:
        return "several"
    return "kernel, ?" if len(setters) > 1 and room >= len("kernel, ?") else "?"


def more_line(row: KnobRow, marks: frozenset[tuple[str, str]], width: int, cell: KnobCell) -> Line:
    """Return the line of a chosen row's knobs that have no column."""
    if not row.more:
        return []
    line: Line = [(f" {'more':<{NAME_CELLS - 1}}", "dim")]
    for column in row.more:
        shown = [(f" {column.title} ", "dim"), *_cell(row, column, marks, _of_cell(cell, column))]
        if sum(cell_width(text) for text, _ in (*line, *shown)) > width:
            break
        line += shown
    return line


def more_at(row: KnobRow, x: int) -> str:
    """Return the knob at a cell of ``more_line``, or ""."""
    at = NAME_CELLS
    for column in row.more:
        end = at + cell_width(column.title) + 2 + sum(cell_width(text) for text, _ in _cell(row, column))
        if at < x < end:
            return column.knob
        at = end
    return ""


def _of_cell(cell: KnobCell | None, column: KnobColumn) -> KnobCell | None:
    return cell if cell is not None and cell.knob == column.knob else None


def column_at(row: KnobRow, x: int) -> str:
    """Return the knob at a cell of a row, or ""."""
    at = NAME_CELLS
    for column in row.columns:
        if row.subject.scope is not KnobScope.DISK and column.title:
            at += cell_width(column.title) + 2
        if at <= x < at + column.room + 3:
            return column.knob
        at += column.room + 3
    return ""
