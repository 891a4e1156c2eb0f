"""Where runs are written to: the dialog, by its keys; and what is never overwritten."""

from __future__ import annotations

import csv
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import events

from raidtui.features.bench.results.run_store import RunFiles
from raidtui.features.bench.screen.compare_page import Export
from tests.features.bench.records import SCHEDULERS, curve_samples, sweep
from tests.frame.staging import Paces, running, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

RUNS = sweep("scheduler", SCHEDULERS)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's current folder, and the moment of the export."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("raidtui.frame.export_form.time.time", lambda: 1_795_209_900.0)
    return folder


class Opened:
    """The dialog on the screen, and what it gave."""

    def __init__(self, pilot: Paces) -> None:
        self.pilot = pilot
        self.given: list[Path | None] = []

    async def open(self) -> Opened:
        self.pilot.app.push_screen(
            Export(RUNS, RunFiles(samples=curve_samples(RUNS, seconds=3))), self.given.append
        )
        await self.pilot.pause()
        return self

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        self.pilot.app.screen.post_message(events.Paste(text))
        await self.pilot.pause()

    @property
    def text(self) -> str:
        return " ".join(screen_text(self.pilot).replace("│", " ").split())


def test_picture(shows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raidtui.frame.export_form.new_path",
        lambda _stem, kind, _at_s: Path(f"/home/ann/measurements/raidtui-bench-20261120-2125.{kind}"),
    )

    async def prepare(pilot: Paces) -> None:
        dialog = await Opened(pilot).open()
        await dialog.press("down", "down", "ctrl+u")
        await dialog.paste("/nosuch/folder/of a rather long name that takes more than one line/results.csv")
        await dialog.press("enter")
        await until(pilot, lambda: "No such file" in screen_text(pilot))

    shows(staged(Kernel(raid10())), prepare=prepare)


async def test_each_form(here: Path) -> None:
    async with running(Kernel(raid10())) as pilot:
        for down, name in enumerate(("html", "md", "csv", "json")):
            dialog = await Opened(pilot).open()
            await dialog.press(*["down"] * down, "enter")
            await until(pilot, partial(len, dialog.given))
            assert dialog.given == [here / f"raidtui-bench-20261120-2125.{name}"]
    assert (here / "raidtui-bench-20261120-2125.html").read_text().count("<svg") > 2
    assert (here / "raidtui-bench-20261120-2125.md").read_text().startswith("# ")
    with (here / "raidtui-bench-20261120-2125.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == [str(run.id) for run in RUNS]
    data = json.loads((here / "raidtui-bench-20261120-2125.json").read_text())
    assert len(data["samples"]) == 24


async def test_nothing_is_overwritten(here: Path) -> None:
    mine = here / "mine.html"
    mine.write_text("mine")
    async with running(Kernel(raid10())) as pilot:
        dialog = await Opened(pilot).open()
        await dialog.press("ctrl+u")
        await dialog.paste("mine.html\nmore")
        await dialog.press("enter")
        await until(pilot, lambda: "choose another name" in dialog.text)
        assert "▲ mine.html exists already: choose another name" in dialog.text
        await dialog.press("backspace", "2")
        assert "choose another name" not in dialog.text
        await dialog.press("enter")
        await until(pilot, lambda: dialog.given)
    assert dialog.given == [here / "mine.htm2"]
    assert mine.read_text() == "mine"


async def test_a_name_that_was_typed_ends_as_the_form_does(here: Path) -> None:
    async with running(Kernel(raid10())) as pilot:
        dialog = await Opened(pilot).open()
        await dialog.press("ctrl+u")
        await dialog.paste("a.html")
        await dialog.press("down", "down")
        assert " to a.csv▏ " in dialog.text
        await dialog.press("down", "home", "b", "up")
        assert " to ba.csv▏ " in dialog.text
        await dialog.press("backspace", "enter")
        await until(pilot, lambda: dialog.given)
    assert dialog.given == [here / "ba.cs"]


async def test_without_a_path_nothing_is_written(here: Path) -> None:
    async with running(Kernel(raid10())) as pilot:
        dialog = await Opened(pilot).open()
        await dialog.press("ctrl+u", "enter")
        assert "▲ type a file name" in dialog.text
        await dialog.press("escape")
    assert dialog.given == [None]
    assert os.listdir(here) == []
