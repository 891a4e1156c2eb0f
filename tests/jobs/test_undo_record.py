"""The record of what was changed for now: for this boot alone, and for any run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from raidtui.jobs.undo_record import UndoEntry, UndoRecord, WrittenValue, changed_by, record_path
from raidtui.model.knob import By, ChangedValue
from raidtui.model.plan import Plan, Step
from tests.hosts.tune_host import TuneHost

PATH = "/sys/class/block/sda/queue/scheduler"
BOOT = "/proc/sys/kernel/random/boot_id"
HOST = TuneHost(files={BOOT: "0a0b"})


def done(ident: str, before: str = "mq-deadline", value: str = "none") -> UndoEntry:
    """A plan that wrote a scheduler."""
    step = Step(path=PATH, text=before, why="back")
    return UndoEntry(
        id=ident,
        at_s=1.5,
        who="ada",
        undo=Plan(title=f"undone: {ident}", subject="sda", steps=(step,)),
        writes=(WrittenValue(path=PATH, before=before, value=value),),
    )


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
    assert [path.name for path in place.parent.iterdir()] == ["tune.json"]
    assert record_path() == Path("/run/raidtui/tune.json")


def test_a_reboot_makes_it_void(place: Path) -> None:
    UndoRecord(HOST, place).add(done("1"))
    assert UndoRecord(TuneHost(files={BOOT: "0c0d"}), place).load() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"raidtui_tune": 2, "boot": "0a0b", "done": []}'])
def test_a_record_that_cannot_be_read_is_none(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert UndoRecord(HOST, place).load() == ()


def test_somebody_elses_record_is_none(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds would be written by root."""
    UndoRecord(HOST, place).add(done("1"))
    os.chown(place, 12345, 12345) if os.geteuid() == 0 else monkeypatch.setattr(os, "geteuid", lambda: 77)
    assert UndoRecord(HOST, place).load() == ()


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    record = UndoRecord(HOST, tmp_path / "file" / "tune.json")
    record.add(done("1"))
    assert record.trouble == f"{tmp_path}/file/tune.json: File exists"


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
