"""The ledger on disk, and what follows from its entries."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.monitor.wear.counter_units import CounterSample
from raidtui.monitor.wear.ledger import Ledger, LedgerError, ledger_path
from raidtui.monitor.wear.ledger_entries import (
    DAY_S,
    LedgerEntry,
    Mark,
    between,
    cost_bytes,
    samples_of,
    writes_per_day,
)

BASE = LedgerEntry(disk="SER1", at_s=1_795_000_000.0, name="sda", source="attribute 241 Total_LBAs_Written")


def _entry(at_s: float, size: int | None, **known: object) -> LedgerEntry:
    return replace(BASE, at_s=BASE.at_s + at_s, size_bytes=size, **known)


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert ledger_path() == tmp_path / "state" / "root" / "wear.sqlite"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert ledger_path() == tmp_path / "raidtui" / "wear.sqlite"


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    full = LedgerEntry(
        disk="SER2",
        at_s=5.5,
        name="sdb",
        model="M",
        firmware="F",
        hours=9,
        percent=3,
        size_bytes=10**15,
        source="attribute 241 X",
        count=7,
        unit_bytes=512,
        since="boot/3",
        low_bytes=1,
        high_bytes=2,
        crc_errors=0,
        reallocated=1,
        pending=2,
        uncorrectable=3,
        media_errors=4,
        nonmedium_errors=5,
        passed=False,
    )
    path = tmp_path / "state" / "wear.sqlite"
    with Ledger(path) as ledger:
        ledger.add(full, BASE)
    assert path.stat().st_mode & 0o777 == 0o600
    with Ledger(path) as ledger:
        assert ledger.disks() == ("SER1", "SER2")
        assert ledger.entries("SER2") == (full,)
        assert ledger.entries("SER1") == (BASE,)
        assert ledger.entries("SER1", since_s=BASE.at_s + 1) == ()
        assert ledger.entries("nobody") == ()


_FIRST_FORM = """CREATE TABLE entry (
    id INTEGER PRIMARY KEY, disk TEXT NOT NULL, at_s REAL NOT NULL, mark INTEGER,
    name TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT NULL, hours INTEGER, percent INTEGER,
    size_bytes INTEGER, source TEXT NOT NULL, count INTEGER, unit_bytes INTEGER,
    since TEXT NOT NULL, low_bytes INTEGER, high_bytes INTEGER, crc_errors INTEGER, reallocated INTEGER,
    pending INTEGER, uncorrectable INTEGER, media_errors INTEGER, passed INTEGER)"""


def test_a_ledger_of_before_gains_the_new_column(tmp_path: Path) -> None:
    path = tmp_path / "wear.sqlite"
    file = sqlite3.connect(path)
    file.execute(_FIRST_FORM)
    file.execute("CREATE TABLE mark (id INTEGER PRIMARY KEY, at_s REAL, kind TEXT, what TEXT)")
    columns = "disk, at_s, name, model, firmware, source, since"
    old = f"INSERT INTO entry ({columns}) VALUES (?, 1, '', '', '', '', '')"  # noqa: S608
    file.execute(old, ("SER1",))
    file.execute("PRAGMA user_version = 1")
    file.commit()
    file.close()
    with Ledger(path) as ledger:
        ledger.add(_entry(0, 1000, nonmedium_errors=7))
        assert [each.nonmedium_errors for each in ledger.entries("SER1")] == [None, 7]
    with sqlite3.connect(path) as file:  # a raidtui of before still writes into it
        file.execute(old, ("SER1",))
    file.close()
    with Ledger(path) as ledger:
        assert len(ledger.entries("SER1")) == 3


def test_marks_name_moments(tmp_path: Path) -> None:
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        before = ledger.mark("before", "recover data", 10.0)
        ledger.add(_entry(0, 1000, mark=before), _entry(0, 5000, disk="SER2", mark=before))
        after = ledger.mark("after", "recover data", 20.0)
        ledger.add(_entry(10, 3000, mark=after), _entry(10, 5000, disk="SER2", mark=after))
        assert ledger.marks() == (
            Mark(id=before, at_s=10.0, kind="before", what="recover data"),
            Mark(id=after, at_s=20.0, kind="after", what="recover data"),
        )
        assert ledger.marks(since_s=15.0)[0].id == after
        assert between(ledger.at_mark(before), ledger.at_mark(after)) == {"SER1": 2000, "SER2": 0}


def test_thinning_keeps_each_days_last_and_marked_readings(tmp_path: Path) -> None:
    begin_s = 1_795_046_400.0  # midnight
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        mark = ledger.mark("now", "by hand", begin_s)
        marked = replace(BASE, at_s=begin_s + 100, mark=mark)
        days = [replace(BASE, at_s=begin_s + hour * 3600) for hour in (1, 5, 23, 25, 30, 80)]
        other = replace(BASE, disk="SER2", at_s=begin_s + 3600)
        ledger.add(*days, marked, other)
        # The marked one was added last of its day, but stands before the others of that day.
        assert ledger.thin(begin_s + 3 * DAY_S) == 4
        assert [entry.at_s - begin_s for entry in ledger.entries("SER1")] == [100, 30 * 3600, 80 * 3600]
        assert ledger.entries("SER2") == (other,)


def test_a_number_beyond_sqlites_is_none(tmp_path: Path) -> None:
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        ledger.add(replace(BASE, count=1 << 70, size_bytes=(1 << 63) - 1))
        (found,) = ledger.entries("SER1")
    assert (found.count, found.size_bytes) == (None, (1 << 63) - 1)


def test_all_or_none_are_added(tmp_path: Path) -> None:
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        with pytest.raises(LedgerError, match=r"NOT NULL constraint failed: entry\.disk"):
            ledger.add(BASE, replace(BASE, disk=None))
        assert ledger.disks() == ()


def test_two_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "wear.sqlite") as one, Ledger(tmp_path / "wear.sqlite") as two:
        one.add(BASE)
        two.add(replace(BASE, at_s=BASE.at_s + 1))
        assert len(one.entries("SER1")) == len(two.entries("SER1")) == 2


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "wear.sqlite"
    path.write_text("this is a shopping list, and long enough to be looked at" * 20)
    with pytest.raises(LedgerError) as caught:
        Ledger(path)
    assert str(caught.value) == (
        f"the ledger {path} cannot be used: file is not a database; move it away to start a new one"
    )


def test_a_ledger_of_a_newer_raidtui(tmp_path: Path) -> None:
    path = tmp_path / "wear.sqlite"
    file = sqlite3.connect(path)
    file.execute("PRAGMA user_version = 7")
    file.close()
    with pytest.raises(LedgerError) as caught:
        Ledger(path)
    assert str(caught.value) == f"the ledger {path} was written by a newer raidtui (form 7)"


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger(tmp_path)
    assert str(caught.value) == f"the ledger {tmp_path} cannot be opened: Is a directory"


def test_a_counter_that_began_anew_or_is_another_costs_nothing_known() -> None:
    assert cost_bytes(_entry(0, 500), _entry(1, 800)) == 300
    assert cost_bytes(_entry(0, 800), _entry(1, 500)) is None
    assert cost_bytes(_entry(0, None), _entry(1, 500)) is None
    assert cost_bytes(_entry(0, 500), _entry(1, 800, source="NVMe health log")) is None


def test_a_measured_unit_corrects_the_cost() -> None:
    first, last = _entry(0, 16737 * 512, count=16737), _entry(1, 16932 * 512, count=16932)
    assert cost_bytes(first, last) == 195 * 512
    assert cost_bytes(first, last, 1 << 20) == 195 << 20
    assert between([first], [last], {"SER1": 1 << 20}) == {"SER1": 195 << 20}


def test_writes_per_day() -> None:
    begin_s = 1_795_046_400.0
    entries = [
        replace(BASE, at_s=begin_s + hour * 3600, size_bytes=size)
        for hour, size in ((1, 100), (9, 150), (25, 400), (30, 410), (80, 300), (81, 333))
    ]
    assert writes_per_day(entries) == [
        (begin_s, 50),
        (begin_s + DAY_S, 260),
        (begin_s + 3 * DAY_S, 33),
    ]
    assert writes_per_day([]) == []


def test_samples_are_of_the_counter_that_counts_now() -> None:
    known = {"since": "boot/1", "count": 5, "low_bytes": 10, "high_bytes": 20}
    entries = [
        _entry(0, 1, **{**known, "source": "another"}),
        _entry(1, 1, **known),
        _entry(2, 1, **{**known, "low_bytes": None}),
        _entry(3, 1, **known),
    ]
    assert [sample.at_s - BASE.at_s for sample in samples_of(entries)] == [1.0, 3.0]
    assert samples_of(entries)[0] == CounterSample(
        at_s=BASE.at_s + 1, since="boot/1", count=5, low_bytes=10, high_bytes=20
    )
    assert samples_of([]) == ()
