"""Pane 5 on the demo host: begun, live, compared, exported; simulated wherever it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidtui.features.bench.screen.compare_page import Comparison, Export
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.bench.session import BenchSession
from raidtui.frame.dialog import Question
from tests.app.played.audit import watched
from tests.app.played.test_repairs_played import let_pass, ready
from tests.demo.scene import Scene
from tests.frame.staging import SIZES, Paces, Shows, at, running, says, screen_text, staged, until


async def in_pane(pilot: Paces) -> None:
    """Open pane 5."""
    await ready(pilot)
    await pilot.press("5")
    await until(pilot, lambda: "simulated: hot-spots" in screen_text(pilot).replace("…", "s"), "the history")


async def begun(pilot: Paces, key: str) -> None:
    """Fill in no more of a form than it has, review, and begin."""
    await at(pilot, BenchForm, key)
    await until(pilot, lambda: "Enter review" in screen_text(pilot), "the form")
    await pilot.press("enter")
    await until(pilot, lambda: "simulated · review" in screen_text(pilot), "the review")
    await pilot.press("y")
    await says(pilot, "started; it is simulated, and ends with the demo")
    await until(pilot, lambda: "simulated: random read 8K" in screen_text(pilot), "it runs")


async def test_a_benchmark_from_the_form_to_its_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scene = Scene()
    async with running(scene.reader, size=(120, 40)) as pilot:
        with watched() as deeds:
            await in_pane(pilot)
            await begun(pilot, "n")
            await let_pass(pilot, scene, 1.6)
            await until(pilot, lambda: "of 500 MiB" in screen_text(pilot), "how far it is")
            await until(pilot, lambda: "IOPS           –" not in screen_text(pilot), "its figures come in")
            await let_pass(pilot, scene, 600)
            await says(pilot, "simulated: random-read by block: done")
            await until(pilot, lambda: "of 8 series" in screen_text(pilot), "its runs are kept")
            assert "simulated: random-read by block on " in screen_text(pilot)
            await at(pilot, Comparison, "c")
            assert "simulated: random-read" in screen_text(pilot)
            await pilot.press("escape")
        assert deeds == []
        await at(pilot, Export, "e")
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Export), "it is written")
    assert "demo host come from a model. No disk was measured." in exported(tmp_path)


def exported(folder: Path) -> str:
    """The one page that was written."""
    (page,) = folder.glob("*.html")
    return page.read_text()


async def test_what_is_stopped_is_kept_as_partial_and_can_be_noted_and_deleted() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        await in_pane(pilot)
        await begun(pilot, "n")
        await let_pass(pilot, scene, 1.6)
        await at(pilot, Question, "x")
        await pilot.press("y")
        await until(pilot, lambda: "1 partial" in screen_text(pilot), "it is kept as partial")
        session = pilot.app.session.of(BenchSession)
        (last,) = [each for each in (await session.history()).records if each.preset == "random-read"]
        assert (last.state, last.reason, last.simulated) == ("partial", "stopped", True)
        assert last.remarks == ("Simulated by a model of the demo host's disks: nothing was measured.",)
        assert await session.change([last.id], note="mine") == ""
        assert (await session.history()).records[-1].note == "mine"
        assert await session.change([last.id]) == ""
        assert [each.id for each in (await session.history()).records] == [1, 2]


async def test_json_and_csv_say_that_they_are_simulated() -> None:
    from raidtui.features.bench.demo_fio import demo_runs  # noqa: PLC0415
    from raidtui.features.bench.export import csv_text  # noqa: PLC0415
    from raidtui.features.bench.report.document import data_bytes  # noqa: PLC0415

    records = [record for record, _ in demo_runs(1e9)]
    assert csv_text(records).count("simulated: hot-spots") == csv_text(records).count(",simulated,") == 2
    (first, _) = json.loads(data_bytes(records))["runs"]
    assert first["title"] == "simulated: hot-spots"
    assert first["environment"]["fio"] == "simulated"


@SIZES
def test_a_simulated_benchmark_runs(shows: Shows, size: tuple[int, int]) -> None:
    scene = Scene()

    async def prepare(pilot: Paces) -> None:
        await in_pane(pilot)
        await begun(pilot, "n")
        await let_pass(pilot, scene, 1.6)
        await until(pilot, lambda: "IOPS           –" not in screen_text(pilot), "its figures come in")

    shows(staged(scene.reader), size=size, prepare=prepare)
