"""How torture runs rounds: seeds, resuming, and what is kept of a round that failed."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.torture import __main__ as torture


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
