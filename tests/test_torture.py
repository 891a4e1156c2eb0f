"""How torture runs rounds: seeds, resuming, and what is kept of a round that failed."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.lab.guests.inside.conversion_table import POINTS, TABLE
from tests.lab.guests.uml import PowerGuest
from tests.torture import __main__ as torture
from tests.torture import conversion_cut


class Kind(ModuleType):
    """A kind whose rounds of some seeds fail."""

    def __init__(self, *bad: int) -> None:
        super().__init__("kind")
        self.calls: list[str] = []
        self.bad = bad

    def open_up(self) -> None:
        self.calls.append("open")

    def close_down(self) -> None:
        self.calls.append("close")

    def round_of(self, seed: int) -> None:
        self.calls.append(str(seed))
        if seed in self.bad:
            raise AssertionError("it is broken")


def test_a_round_that_failed_is_kept_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = Kind(8)
    monkeypatch.setattr(torture, "load", lambda _: kind)
    state = tmp_path / "state"
    words = ["power-cut", "--state", str(state), "--failures", str(tmp_path / "failures")]
    assert torture.main([*words, "--seed", "7", "--rounds", "3"]) == 1
    assert kind.calls == ["open", "7", "8", "close", "open", "9", "close"]
    again = "python -m tests.torture power-cut --seed 8 --rounds 1"
    kept = (tmp_path / "failures/power-cut-8.txt").read_text()
    assert kept.startswith(f"{again}\n\nTraceback")
    assert "it is broken" in kept
    reported = capsys.readouterr().out
    assert reported.startswith(
        "power-cut: seed 7, from round 0\nround 1 failed: AssertionError: it is broken\n"
    )
    assert json.loads(state.read_text()) == {"kind": "power-cut", "seed": 7, "finished": 3, "failed": [1]}

    kind.calls.clear()
    assert torture.main([*words, "--rounds", "4"]) == 1
    assert kind.calls == ["open", "10", "close"]
    with pytest.raises(SystemExit, match="is of power-cut with seed 7"):
        torture.main([*words, "--seed", "1"])


def test_the_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind()
    monkeypatch.setattr(torture, "load", lambda _: kind)
    assert torture.main(["keys", "--seed", "1", "--minutes", "0"]) == 0
    assert kind.calls == []


def test_a_kind_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torture, "load", lambda _: None)
    assert torture.main(["storm", "--seed", "1"]) == 2


def test_cuts_that_are_recorded_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the last line was cut; one that has failed gets a guest of its own afterwards."""
    done: list[tuple[str, str]] = []
    guests: list[str] = []

    class NoGuest:
        def shutdown(self) -> None:
            guests.append("off")

    def boot() -> NoGuest:
        guests.append("on")
        return NoGuest()

    def carried_out(guest: object, cut: conversion_cut.Cut) -> dict[str, object]:
        del guest
        done.append((cut.name, cut.point))
        return {"wrong": ["a file differs"] if cut.point == "50" else [], "notes": [], "met": "0.5\n"}

    monkeypatch.setattr(PowerGuest, "boot", boot)
    monkeypatch.setattr(conversion_cut, "carried_out", carried_out)
    state = tmp_path / "state"
    words = ["--only", "5 to 6", "--only", "0 to 5", "--seed", "7", "--state", str(state)]
    assert conversion_cut.main([*words, "--points", "20,50"]) == 1
    assert sorted(done) == [("0 to 5", "20"), ("0 to 5", "50"), ("5 to 6", "20"), ("5 to 6", "50")]
    assert guests[-1] == "off"
    assert guests.count("on") == guests.count("off")
    said = capsys.readouterr().out
    assert '--only "5 to 6" --points 50 --seed 7' in said
    assert "a file differs" in said

    with state.open("a") as file:
        file.write('{"name": "5 to 6", "point": "9')
    done.clear()
    assert conversion_cut.main([*words, "--points", "20,50,95", "--share", "1/1"]) == 1
    assert sorted(done) == [("0 to 5", "95"), ("5 to 6", "95")]


def test_each_conversion_is_cut_once_at_each_point() -> None:
    cuts = conversion_cut.all_cuts(tuple(TABLE), POINTS, 1)
    assert len({(cut.name, cut.point) for cut in cuts}) == len(cuts) == 10 * len(TABLE)
    assert len({cut.seed for cut in cuts}) == len(cuts)
