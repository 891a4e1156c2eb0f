"""Files that runs are written to: new ones, whole or not at all."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from raidtui.features.bench.report.export import write_export
from raidtui.jobs.new_files import ExportError, new_path, typed_path
from tests.features.bench.records import EPOCH_S, record, samples

RUNS = [record(0, id=1), record(1, id=2)]
SAMPLES = {1: samples(100.0, 200.0)}


def test_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_export(Path("a.html"), "html", RUNS, SAMPLES, "p99") == tmp_path / "a.html"
    assert "<h2>p99</h2>" in (tmp_path / "a.html").read_text()
    assert write_export(Path("a.csv"), "csv", RUNS, SAMPLES).read_text().count("\n") == 3
    assert list(json.loads(write_export(Path("a.json"), "json", RUNS, SAMPLES).read_text())["samples"]) == [
        "1"
    ]


def test_what_is_there_stays(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path, why in (
        (mine, f"{mine} exists already: choose another name"),
        (link, f"{link} exists already: choose another name"),
        (folder, f"{folder} is a folder: name a file in it"),
        (tmp_path / "no" / "x", f"{tmp_path}/no/x: No such file or directory"),
        (mine / "x", f"{mine}/x: Not a directory"),
    ):
        with pytest.raises(ExportError) as error:
            write_export(path, "csv", RUNS, SAMPLES)
        assert str(error.value) == why
    assert mine.read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "link", "mine"]


def test_what_cannot_be_written_whole_is_not_left_behind(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(ExportError, match=r"^.*/a\.json: File too large; nothing was written$"):
            write_export(tmp_path / "a.json", "json", RUNS, SAMPLES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_path("raidtui-bench", "html", EPOCH_S)
    assert first == tmp_path / "raidtui-bench-20261120-2125.html"
    first.symlink_to("/nosuch")
    assert new_path("raidtui-bench", "html", EPOCH_S) == tmp_path / "raidtui-bench-20261120-2125-2.html"
    assert new_path("raidtui-bench", "csv", EPOCH_S) == tmp_path / "raidtui-bench-20261120-2125.csv"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert new_path("raidtui-bench", "csv", EPOCH_S) == Path.home() / "raidtui-bench-20261120-2125.csv"


def test_a_typed_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert typed_path(" ~/a b.html ") == Path("/home/ann/a b.html")
    assert typed_path("~nobody-at-all/x") == Path("~nobody-at-all/x")
    with pytest.raises(ExportError, match=r"^type a file name$"):
        typed_path("  ")
