"""The record of what was changed for now: for this boot alone, and for any run."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.jobs.state_files import alone
from raidtui.jobs.undo_record import (
    UndoEntry,
    UndoPlace,
    UndoRecord,
    WrittenValue,
    changed_by,
    limits_before,
    record_path,
)
from raidtui.model.knob import By, ChangedValue
from raidtui.model.plan import Plan, RunTool, Write
from tests.hosts.tune_host import TuneHost
from tests.places import FIXTURES

PATH = "/sys/class/block/sda/queue/scheduler"
BOOT = "/proc/sys/kernel/random/boot_id"
HOST = TuneHost(files={BOOT: "0a0b"})
LIMIT = WrittenValue(path="/sys/class/block/md127/md/sync_speed_max", before="system", value="300000")


def done(ident: str, before: str = "mq-deadline", value: str = "none") -> UndoEntry:
    """A plan that wrote a scheduler."""
    step = Write(path=PATH, text=before, why="back")
    return UndoEntry(
        id=ident,
        at_s=1.5,
        who="ada",
        undo=Plan(title=f"undone: {ident}", subject="sda", steps=(step,)),
        writes=(WrittenValue(path=PATH, before=before, value=value),),
    )


def undo(words: str) -> Plan:
    """A plan that undoes something."""
    return Plan(title=words, subject="sda", steps=(Write(path=PATH, text="none", why="back"),))


def title(entry: UndoEntry | None) -> str:
    return entry.undo.title if entry is not None else ""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run" / "raidtui" / "tune.json"


def test_another_run_finds_it(place: Path) -> None:
    UndoRecord(HOST, place).add(done("1"))
    UndoRecord(HOST, place).add(done("2", "none", "bfq"))
    assert UndoRecord(HOST, place).load() == (done("1"), done("2", "none", "bfq"))
    UndoRecord(HOST, place).drop("2")
    assert UndoRecord(HOST, place).load() == (done("1"),)
    assert place.stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in place.parent.iterdir()) == ["private", "tune.json"]
    assert record_path() == Path("/run/raidtui/tune.json")


def test_a_reboot_makes_it_void(place: Path) -> None:
    UndoRecord(HOST, place).add(done("1"))
    assert UndoRecord(TuneHost(files={BOOT: "0c0d"}), place).load() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"raidtui_tune": 3, "boot": "0a0b", "done": []}'])
def test_a_record_that_cannot_be_read_is_none(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert UndoRecord(HOST, place).load() == ()


def test_somebody_elses_record_is_none(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds would be written by root."""
    UndoRecord(HOST, place).add(done("1"))
    os.chown(place, 12345, 12345) if os.geteuid() == 0 else monkeypatch.setattr(os, "geteuid", lambda: 77)
    assert UndoRecord(HOST, place).load() == ()


def test_what_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    record = UndoRecord(HOST, tmp_path / "file" / "tune.json")
    record.add(done("1"))
    assert record.trouble == f"{tmp_path}/file/tune.json: Not a directory"


def test_what_raidtui_does_not_make_is_left_out(place: Path) -> None:
    """Root would run it."""
    evil = Plan(title="t", subject="s", steps=(RunTool(argv=("touch", "/run/pwned"), why="w"),))
    record = UndoRecord(HOST, place)
    record.add(done("1"))
    record.add(replace(done("2"), undo=evil))
    other = UndoRecord(HOST, place)
    assert other.load() == (done("1"),)
    assert other.trouble == f"{place}: 2 is not one that raidtui makes, and is left out"


def test_whoever_may_look_cannot_stop_it(place: Path) -> None:
    """Any user may open the folder of the record, and lock it for ever."""
    place.parent.mkdir(parents=True)
    folder = os.open(place.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    record = UndoRecord(HOST, place)
    record.add(done("1"))
    os.close(folder)
    assert (record.load(), record.trouble) == ((done("1"),), "")
    assert stat.S_IMODE((place.parent / "private").stat().st_mode) == 0o700


def test_who_holds_it_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.jobs.state_files._WAIT_S", 0.0)
    record = UndoRecord(HOST, place)
    with alone(place.parent / "private"):
        record.add(done("1"))
    assert f"process {os.getpid()} has held the lock" in record.trouble
    assert UndoRecord(HOST, place).load() == ()
    assert record.load() == (done("1"),)  # this run can undo it


def test_without_a_place_it_is_in_memory() -> None:
    record = UndoRecord(HOST, None)
    record.add(done("1"))
    assert record.load() == (done("1"),)
    record.drop("1")
    assert record.load() == ()


def test_the_oldest_are_forgotten(place: Path) -> None:
    record = UndoRecord(HOST, place)
    for number in range(203):
        record.add(done(str(number)))
    found = json.loads(place.read_text())["done"]
    assert (len(found), found[0]["id"]) == (200, "3")


def test_what_stands_changed() -> None:
    """As it was before the first write, and after the last."""
    both = (done("1"), done("2", "none", "bfq"))
    assert changed_by(both, {"2"}) == {
        PATH: ChangedValue(path=PATH, before="mq-deadline", value="bfq", by=By.RUN)
    }
    assert changed_by(both)[PATH].by is By.NOW


def test_pane_1_and_pane_4_undo_their_own(place: Path) -> None:
    """Pane 1 undoes what this run did there; pane 4 what any run set as a knob."""
    other, record = UndoRecord(HOST, place), UndoRecord(HOST, place)
    other.note(undo("theirs"), (), UndoPlace.ARRAYS)
    other.note(undo("knob"), (), UndoPlace.TUNE)
    assert record.last(UndoPlace.ARRAYS) is None
    record.note(undo("limit"), (LIMIT,), UndoPlace.ARRAYS)
    assert title(record.last(UndoPlace.ARRAYS)) == "limit"
    assert title(record.last(UndoPlace.TUNE)) == "knob"
    assert title(UndoRecord(HOST, place).last(UndoPlace.TUNE)) == "knob"


def test_a_limit_of_pane_1_is_shared_and_a_check_is_not(place: Path) -> None:
    """Another run knows who has set a limit; a check ends by itself."""
    record = UndoRecord(HOST, place)
    record.note(undo("limit"), (LIMIT,), UndoPlace.ARRAYS)
    record.note(undo("check"), (), UndoPlace.ARRAYS)
    assert title(record.last(UndoPlace.ARRAYS)) == "check"
    (shared,) = UndoRecord(HOST, place).load()
    assert (title(shared), shared.place, shared.writes) == ("limit", UndoPlace.ARRAYS, (LIMIT,))
    assert UndoRecord(HOST, place).changed()[LIMIT.path].by is By.NOW
    assert record.changed()[LIMIT.path].by is By.RUN
    record.drop_own()
    assert record.load() == UndoRecord(HOST, place).load() == ()


def test_a_record_of_before_reads_as_one_of_knobs(place: Path) -> None:
    """Fields are only added, and those of pane 4 are not written."""
    UndoRecord(HOST, place).add(done("1"))
    assert set(json.loads(place.read_text())["done"][0]) == {"id", "at_s", "who", "undo", "writes"}
    assert UndoRecord(HOST, place).load()[0].place is UndoPlace.TUNE


def test_a_record_of_the_first_form(place: Path) -> None:
    """Written within this boot by the raidtui that was there before: what it set is undone as it meant."""
    place.parent.mkdir(parents=True)
    place.write_bytes((FIXTURES / "plans" / "first-form-tune.json").read_bytes())
    host = TuneHost(files={BOOT: "boot-1"})
    [entry] = UndoRecord(host, place).load()
    write, tool = entry.undo.steps
    assert (entry.place, write.command) == (UndoPlace.ARRAYS, f"echo idle > {write.path}")
    assert (tool.argv[0], tool.text) == ("lvchange", "writethrough")
    place.write_bytes(place.read_bytes().replace(b'"ada"', b'"eve"'))
    assert UndoRecord(host, place).load() == ()


def test_what_cannot_be_written_is_still_undone_by_this_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    record = UndoRecord(HOST, tmp_path / "file" / "tune.json")
    record.note(undo("knob"), (), UndoPlace.TUNE)
    last = record.last(UndoPlace.TUNE)
    assert title(last) == "knob"
    assert last is not None
    record.drop(last.id)
    assert record.last(UndoPlace.TUNE) is None


def test_no_clock_says_what_was_last(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is set back between three changes, of which the file has two, and another run makes a fourth."""
    record = UndoRecord(HOST, place)
    for at_s, words, writes in ((3e9, "1", [LIMIT]), (2e9, "2", []), (1e9, "3", [LIMIT]), (0.0, "4", [])):
        monkeypatch.setattr("time.time", lambda at_s=at_s: at_s)
        record.note(undo(words), writes, UndoPlace.ARRAYS)
    UndoRecord(HOST, place).note(undo("5"), [LIMIT], UndoPlace.ARRAYS)
    assert [title(entry) for entry in record.load()] == ["1", "2", "3", "4", "5"]
    found = []
    while (entry := record.last(UndoPlace.ARRAYS)) is not None:
        found.append(title(entry))
        record.drop(entry.id)
    assert found == ["4", "3", "2", "1"]


def test_what_left_no_undo_is_passed_over() -> None:
    """A capture holds values, and no plans."""
    record = UndoRecord(HOST, None)
    record.note(undo("knob"), (), UndoPlace.TUNE)
    record.note(None, (LIMIT,), UndoPlace.TUNE)
    assert title(record.last(UndoPlace.TUNE)) == "knob"


def test_an_array_that_this_run_has_frozen_goes_on() -> None:
    """As long as it is frozen: who has started something in it since has decided otherwise."""
    host, path = TuneHost(), "/sys/class/block/md127/md/sync_action"
    freeze = Write(path=path, text="frozen", why="nothing starts")
    before = limits_before(host, Plan(title="t", subject="data", steps=(freeze,)))
    assert [(step.path, step.text) for step in before] == [(path, "idle")]
    record = UndoRecord(host, None)
    record.note(None, (), UndoPlace.ARRAYS, before)
    assert record.left() is None
    host.by_hand(path, "frozen")
    left = record.left()
    assert left is not None
    assert left.steps == before
    host.by_hand(path, "check")
    assert record.left() is None
