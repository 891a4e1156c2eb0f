"""``raidtui bench`` over caches: what is printed of their hits, and of cold ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidtui.app.cli import run
from raidtui.features.bench.cli_run import _Printer
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run.bench_progress import Line
from tests.features.bench.host import Host
from tests.features.bench.records import cache_samples, over_cache

COLD = over_cache(1, 31_000, 0.62, cold=True, note="first")
FILLED = over_cache(2, 88_000, 0.97, cold=False, note="second")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs in a folder of the test's."""
    path = tmp_path / "lib" / "journal.jsonl"
    monkeypatch.setattr("raidtui.features.bench.results.run_store.journal_path", lambda: path)
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: Host())
    with Results() as results:
        results.add(COLD, cache_samples(COLD, 0.05, 0.8))
        results.add(FILLED, cache_samples(FILLED, 0.97, 0.97))


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "list"]) == 0
    first, second = capsys.readouterr().out.split("\n")[:2]
    assert first.endswith("  hits 62.0 % of 1,860,000 requests  began cold  first")
    assert second.endswith("  hits 97.0 % of 5,280,000 requests  second")


def test_compared_by_hits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "compare", "1", "2", "--by=hits"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split() for line in lines[:3]] == [
        ["hits", "from", "to", "runs"],
        ["#1", "first", *["62.0", "%"] * 3, "1"],
        ["#2", "second", *["97.0", "%"] * 3, "1"],
    ]
    words = (
        "#1 first began with a cold cache, #2 second did not: what differs between them may be what was in"
    )
    assert f"{words} the cache." in lines
    assert run(["bench", "compare", "1", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["cold"] for row in data["rows"]] == [[True], [False]]
    assert data["remarks"][0] == f"{words} the cache."
    assert len(data["curves"][0]["hits"]) == 59


def test_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "report", "1", "2", "--json=-"]) == 0
    data = json.loads(capsys.readouterr().out)
    (cache,) = data["runs"][0]["caches"]
    assert (cache["cold"], cache["before"]["mode"], cache["hits"]) == (True, "writeback", 1_153_200)
    assert data["samples"]["1"][0]["caches"][0]["counts"][0]["name"] == "dm-0"
    assert run(["bench", "report", "1", "2", "--html=-"]) == 0
    assert "<h2>Hit ratio of the cache over time</h2>" in capsys.readouterr().out


def test_hits_are_printed_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the last second beside the IOPS of the sample; of a run without a cache none."""
    printer = _Printer(quiet=False)
    seen = cache_samples(COLD, 0.2, 0.8, seconds=4)
    printer.take((Line(begins=COLD), *(Line(sample=each) for each in seen)))
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert len(lines) == 4
    assert "hits" not in lines[0]
    assert [line.split("  ")[-1] for line in lines[1:]] == ["hits 22.0 %", "hits 24.0 %", "hits 26.0 %"]
    _Printer(quiet=True).take((Line(begins=COLD), *(Line(sample=each) for each in seen)))
    assert capsys.readouterr().out == ""
