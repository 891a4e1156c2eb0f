"""``raidtui --demo bench run`` and ``sweep``: played to their end by the model of the demo's disks."""

from __future__ import annotations

import json

import pytest

from raidtui.app.cli import run
from tests.demo.scene import Scene


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A demo host whose clock moves as fast as is waited for."""
    scene = Scene()
    monkeypatch.setattr("raidtui.app.cli._root", lambda _: scene.reader)
    monkeypatch.setattr("raidtui.features.bench.demo.time.sleep", scene.go)
    return scene


WORDS = ["--rw=randread", "--size=16m", "--runtime=3", "--directory=/srv/data"]


def test_a_run(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "bench", "run", *WORDS]) == 0
    out = capsys.readouterr().out.split("\n")
    assert "   1 of 1   random read 4K" in out
    assert any(line.startswith("              1.0 s  ") for line in out)
    assert " IOPS  " in out[-2]


def test_a_sweep_is_compared(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "bench", "sweep", *WORDS, "--depth=1,8"]) == 0
    out = capsys.readouterr().out
    assert "  12 of 12   random read 4K" in out
    assert "depth 8 is faster than depth 1 by " in out


def test_as_json(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "bench", "run", *WORDS, "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["runs"]
    assert record["environment"]["fio"] == "simulated"


def test_it_cannot_go_on_by_itself(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "bench", "run", *WORDS, "--detach"]) == 2
    assert "what is simulated ends with this command; leave --detach out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("list",), ("compare", "1", "2"), ("report", "1"), ("attach",), ("stop",), ("restore",)]
)
def test_the_demo_shows_nothing_that_this_machine_has_measured(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("raidtui.features.bench.results.run_store.Results.__init__", None)
    monkeypatch.setattr("raidtui.features.bench.run.bench_jobs.all_jobs", None)
    assert run(["--demo", "bench", *words]) == 2
    assert "what was measured is of this host" in capsys.readouterr().err
