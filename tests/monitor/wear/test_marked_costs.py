"""Marks in pairs: what began and ended. And a ledger in memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from raidtui.monitor.wear.ledger import (
    CapturedHistory,
    MemoryLedger,
    captured_history_text,
    read_captured_history,
)
from raidtui.monitor.wear.ledger_entries import (
    DAY_S,
    LedgerEntry,
    Mark,
    MarkedCost,
    between,
    last_mark,
    marked_costs,
    measured_unit,
)


def mark(number: int, kind: str, what: str) -> Mark:
    return Mark(id=number, at_s=float(number), kind=kind, what=what)


def entry(disk: str, size: int, number: int | None = None, at_s: float = 0.0) -> LedgerEntry:
    return LedgerEntry(disk=disk, at_s=at_s, mark=number, source="NVMe health log", size_bytes=size)


MARKS = (
    mark(1, "before", "recover of data"),
    mark(2, "mark", "new cable"),
    mark(3, "before", "check of root"),
    mark(4, "after", "recover of data"),
    mark(5, "after", "replace sdb in data"),
    mark(6, "before", "recover of data"),
)
READINGS = {
    1: [entry("A", 100), entry("B", 50)],
    4: [entry("A", 175), entry("B", 50), entry("C", 9)],
}


def at_mark(number: int) -> Sequence[LedgerEntry]:
    return READINGS.get(number, [])


def test_pairs() -> None:
    """What has no end yet, or no begin, is none; neither is a disk that was read once."""
    assert marked_costs(MARKS, at_mark) == (
        MarkedCost(what="recover of data", began_s=1.0, ended_s=4.0, costs={"A": 75, "B": 0}),
    )


def test_the_last_mark_of_a_person() -> None:
    assert last_mark(MARKS) == mark(2, "mark", "new cable")
    assert last_mark(MARKS[:1]) is None


def test_between_with_measured_units() -> None:
    first = LedgerEntry(disk="A", at_s=0.0, source="attribute 241 X", count=10)
    last = LedgerEntry(disk="A", at_s=9.0, source="attribute 241 X", count=14)
    assert between([first], [last]) == {}
    assert between([first], [last], {"A": 1 << 20}) == {"A": 4 << 20}


def test_a_ledger_in_memory() -> None:
    ledger = MemoryLedger(
        CapturedHistory(marks=MARKS[:2], entries=(entry("A", 5, at_s=8.0), entry("A", 4, at_s=2.0)))
    )
    with ledger as pages:
        number = pages.mark("after", "recover of data", 9.0)
        pages.add(entry("B", 7, number, at_s=9.0))
        assert number == 3
        assert pages.disks() == ("A", "B")
        assert [each.size_bytes for each in pages.entries("A")] == [4, 5]
        assert [each.size_bytes for each in pages.entries("A", 5.0)] == [5]
        assert [each.disk for each in pages.at_mark(3)] == ["B"]
        assert [each.kind for each in pages.marks(1.5)] == ["mark", "after"]
        assert pages.thin(100.0) == 0


NOW_S = 1000.0 * DAY_S + 7200


def test_what_a_capture_keeps() -> None:
    """Of old days the last reading and those with a mark; of disks that are asked for alone."""
    old = NOW_S - 30 * DAY_S
    entries = (
        entry("A", 1, at_s=old),
        entry("A", 2, 7, at_s=old + 10),
        entry("A", 3, at_s=old + 20),
        entry("A", 4, 99, at_s=NOW_S - 20),
        entry("A", 5, at_s=NOW_S - 10),
        entry("B", 6, at_s=NOW_S - 10),
        entry("A", 0, at_s=NOW_S - 500 * DAY_S),
    )
    marks = (
        Mark(id=7, at_s=old + 10, kind="mark", what="here"),
        Mark(id=8, at_s=old, kind="mark", what="unused"),
    )
    text = captured_history_text(MemoryLedger(CapturedHistory(marks=marks, entries=entries)), ("A",), NOW_S)
    kept = read_captured_history(text.decode())
    assert kept is not None
    assert kept.marks == marks[:1]
    assert [(each.size_bytes, each.mark) for each in kept.entries] == [
        (2, 7),
        (3, None),
        (4, None),
        (5, None),
    ]
    assert b"null" not in text
    assert captured_history_text(MemoryLedger(), ("A",), NOW_S) == b""


def test_of_many_disks_a_capture_keeps_fewer_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.monitor.wear.ledger._MOST_BYTES", 20_000)
    names = ("A", "B", "C")
    entries = tuple(entry(name, day, at_s=NOW_S - day * DAY_S) for name in names for day in range(110))
    text = captured_history_text(MemoryLedger(CapturedHistory(entries=entries)), names, NOW_S)
    kept = read_captured_history(text.decode())
    assert kept is not None
    assert len(text) <= 20_000
    assert [(each.disk, each.size_bytes) for each in kept.entries] == [
        (name, day) for name in names for day in range(30, -1, -1)
    ]


def test_what_is_no_history() -> None:
    assert read_captured_history("") is None
    assert read_captured_history('{"entries": [{"disk": 5}]}') is None
    assert read_captured_history('{"entries": [{"disk": "A", "at_s": 1.5, "new": 1}]}') == CapturedHistory(
        entries=(LedgerEntry(disk="A", at_s=1.5),)
    )


DOM = ((16_737, 3_930_090), (16_835, 4_030_760), (16_932, 4_130_460))


def test_a_unit_from_a_history() -> None:
    entries = [
        LedgerEntry(
            disk="D",
            at_s=float(at),
            source="attribute 241 X",
            count=count,
            unit_bytes=1 << 30,
            since="boot",
            low_bytes=kib * 1024,
            high_bytes=kib * 1024,
        )
        for at, (count, kib) in enumerate(DOM)
    ]
    assert measured_unit(entries) == 1 << 20
    assert measured_unit(entries[:1]) is None
    assert measured_unit([]) is None
    assert (
        measured_unit([LedgerEntry(disk="N", at_s=0.0, source="NVMe health log", unit_bytes=512_000)]) is None
    )
