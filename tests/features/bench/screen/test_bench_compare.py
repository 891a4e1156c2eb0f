"""Benchmarks side by side, their history and one of them in full: pictures, and what each key does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.bench.results.run_record import FAILED, PARTIAL, RunRecord
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.features.bench.screen.compare_page import Comparison, Export
from raidtui.features.bench.screen.history_lines import details_lines, entries_of, history_head, history_line
from raidtui.frame.pages import PageScreen, rule
from raidtui.view.line import Line
from tests.features.bench.records import (
    EPOCH_S,
    RANDOM,
    SCHEDULERS,
    cache_samples,
    chunk_sweep,
    curve_samples,
    measured,
    over_cache,
    record,
    sweep,
)
from tests.frame.staging import SIZES, SMALL, Shows, running, screen_text, shown, until, with_screen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

SCHEDULED = tuple(sweep("scheduler", SCHEDULERS))
HEAT = tuple(chunk_sweep())


def comparison(records: tuple[RunRecord, ...] = SCHEDULED, **more: Any) -> Comparison:
    """The runs side by side."""
    files = RunFiles(samples=curve_samples(records))
    return Comparison(records, files, records[0].title if records else "nothing", **more)


@SIZES
def test_table(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, comparison, size=size)


@SIZES
def test_over_time(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, comparison, "tab", size=size)


OVER_CACHE = (
    over_cache(1, 31_000, 0.62, cold=True, note="first"),
    over_cache(2, 88_000, 0.97, cold=False, note="second"),
)


def over_caches(**more: Any) -> Comparison:
    """A run on a cold cache beside one on a filled one."""
    first, second = OVER_CACHE
    samples = {1: cache_samples(first, 0.05, 0.8), 2: cache_samples(second, 0.97, 0.97)}
    return Comparison(OVER_CACHE, RunFiles(samples=samples), "hot-spots", **more)


@SIZES
def test_caches(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, over_caches, size=size)


@SIZES
def test_hits_beside_iops_over_time(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, over_caches, "tab", size=size)


def test_hits_alone_over_time(shows: Shows) -> None:
    shown(shows, lambda: over_caches(by="hits"), "tab")


@SIZES
def test_heat_map(draws: Shows, size: tuple[int, int]) -> None:
    """A picture, which docs/keys.md shows: colours stand for figures."""
    shown(draws, lambda: comparison(HEAT, start="heat"), size=size)


def test_heat_map_of_yours(shows: Shows) -> None:
    shown(shows, lambda: comparison(HEAT, start="heat"), "l")


def test_heat_map_in_percent(shows: Shows) -> None:
    shown(shows, lambda: comparison(HEAT, start="heat"), "l", "l")


class Page(PageScreen[None]):
    """Lines as pane 5 shows them: over the whole width."""

    CSS = ".page { padding: 0; }"

    def __init__(self, make: Callable[[int], list[Line]]) -> None:
        super().__init__("")
        self._make = make

    def on_mount(self) -> None:
        self.draw()

    def draw(self) -> None:
        self._head.show([[], []])
        self.show_body(self._make(self.app.size.width))


def history() -> tuple[RunRecord, ...]:
    """Benchmarks of a few days."""
    before = measured(
        RANDOM, 98_300, id=1, job="a", title="hot-spots", note="before the update", at_s=EPOCH_S - 9e5
    )
    stopped = measured(
        RANDOM, 84_000, id=2, job="b", title="mixed", state=PARTIAL, reason="stopped before it finished",
        at_s=EPOCH_S - 2e5,
    )  # fmt: skip
    failed = record(
        id=3, job="c", title="random-write", state=FAILED, reason="fio: no space left on device",
        at_s=EPOCH_S - 1e5, iops=0.0,
    )  # fmt: skip
    pair = sweep("queue-depth", {"1": (24_100, 24_300, 24_000), "32": (101_900, 102_400, 101_500)},
                 first=10, job="d", at_s=EPOCH_S - 5e4)  # fmt: skip
    like = sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "mq-deadline")},
                 first=20, job="e", at_s=EPOCH_S - 4e4)  # fmt: skip
    return (before, stopped, failed, *pair, *like, *SCHEDULED, *HEAT)


@SIZES
def test_history(shows: Shows, size: tuple[int, int]) -> None:
    def lines(width: int) -> list[Line]:
        entries = entries_of(history())
        rows = [history_line(each, width, each.key in {"b", "d"}) for each in entries]
        return [history_head(width), *rows, rule(width), *details_lines(entries[1], width)]

    shown(shows, lambda: Page(lines), size=size)


@SIZES
def test_details(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, lambda: Page(lambda width: details_lines(entries_of(HEAT)[0], width)), size=size)


async def shown_after(make: Callable[[], PageScreen[None]], *keys: str, size: tuple[int, int] = SMALL) -> str:
    """All cells after these keys."""
    async with running(Kernel(raid10()), size=size) as pilot:
        await with_screen(make, *keys)(pilot)
        return screen_text(pilot)


@pytest.mark.parametrize(
    ("keys", "head"),
    [
        ((), "IOPS from to runs difference"),
        (("m",), "MB/s from to runs difference"),
        (("m", "m", "m"), "p99 from to runs difference"),
        (("m",) * 5, "IOPS from to runs difference"),
        (("tab",), "IOPS"),
        (("m", "m", "tab"), "p50, ms"),
        (("tab", "tab"), "There is no heat map here: it takes runs of at least two block sizes, or of"),
        (("shift+tab", "shift+tab"), "IOPS"),
        (
            ("tab", "tab", "m", "tab"),
            "IOPS from to runs difference",
        ),
    ],
)
async def test_views_and_measures(keys: tuple[str, ...], head: str) -> None:
    shown = await shown_after(comparison, *keys)
    assert " ".join(shown.split("\n")[2].split()) == head


async def test_runs_over_caches_have_one_measure_more() -> None:
    shown = await shown_after(over_caches, *["m"] * 5)
    assert " ".join(shown.split("\n")[2].split()) == "hits from to runs difference"
    shown = await shown_after(over_caches, *["m"] * 6)
    assert " ".join(shown.split("\n")[2].split()) == "IOPS from to runs difference"


async def test_a_small_window_has_iops_alone() -> None:
    shown = await shown_after(over_caches, "tab", size=(60, 15))
    assert "hits" not in shown.replace("m measure", "")


async def test_a_map_that_is_too_large_is_moved() -> None:
    make = lambda: comparison(HEAT, start="heat")  # noqa: E731
    first = await shown_after(make, size=(60, 15))
    assert " 8K       16K       32K       64K      128K\n" in first
    assert " 2 block sizes more with ← →: 1 to 5 of 7" in first
    assert " 512K 64 (67) " in first
    moved = await shown_after(make, *["right"] * 9, "left", "down", "down", size=(60, 10))
    assert " 16K       32K       64K      128K      512K\n" in moved
    assert " 2 block sizes more with ← →: 2 to 6 of 7" in moved
    assert " 2 chunks more with ↑ ↓: 3 to 4 of 4" in moved
    assert " 512K 134 (134) " in moved
    assert " one " not in moved


async def test_each_kind_of_access_has_a_map() -> None:
    writes = tuple(
        replace(
            run,
            id=run.id + 500,
            job="w",
            work=replace(run.work, rw="randwrite"),
            read=run.write,
            write=run.read,
        )
        for run in HEAT
        if run.work is not None
    )
    make = lambda: comparison((*HEAT, *writes), start="heat")  # noqa: E731
    assert "random read, MB/s" in await shown_after(make)
    assert "random write, MB/s" in await shown_after(make, "n")
    assert "random read, MB/s" in await shown_after(make, "n", "n")


async def test_many_curves_are_shown_by_six() -> None:
    make = lambda: comparison(HEAT)  # noqa: E731
    first = await shown_after(make, "tab")
    assert "series 1 to 6 of 28: ↑↓ shows others" in first
    assert " f chunk one, block 512K" in first
    assert "series 3 to 8 of 28" in await shown_after(make, "tab", "down", "j")
    assert "series 23 to 28 of 28" in await shown_after(make, "tab", *["pagedown"] * 9)
    assert "series 1 to 6 of 28" in await shown_after(make, "tab", "pagedown", "pageup", "up")


async def test_a_long_table_scrolls() -> None:
    make = lambda: comparison(HEAT)  # noqa: E731
    assert " a chunk one, block 8K" in await shown_after(make)
    assert " a chunk one, block 8K" not in await shown_after(make, "pagedown")
    assert "21 comparisons, corrected together (Holm)" in await shown_after(make, *["pagedown"] * 4)
    assert " a chunk one, block 8K" in await shown_after(make, "pagedown", "tab", "shift+tab")


async def test_nothing_to_compare() -> None:
    assert "Nothing to compare" in await shown_after(lambda: comparison(()))
    assert "No samples were kept of these runs" in await shown_after(lambda: comparison(()), "tab")
    assert "There is no heat map here" in await shown_after(lambda: comparison(()), "tab", "tab")


async def test_in_a_terminal_without_the_signs_curves_are_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    shown = await shown_after(comparison, "tab")
    assert not any("\u2800" <= char <= "\u28ff" for char in shown)
    assert "cccc" in shown


async def test_it_closes() -> None:
    results: list[None] = []
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(comparison(), results.append)
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
    assert results == [None]


async def test_it_exports_what_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(Kernel(raid10())) as pilot:
        await with_screen(comparison, "m", "e")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, Export))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Comparison))
        (name,) = os.listdir(tmp_path)
        path = tmp_path / name
        words = f"24runswrittento{path}"
        await until(pilot, lambda: words in "".join(screen_text(pilot).split()))
    assert "<h2>mb/s</h2>" in path.read_text()


async def test_another_size() -> None:
    async with running(Kernel(raid10())) as pilot:
        await with_screen(lambda: comparison(HEAT, start="heat"))(pilot)
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: "block sizes more" in screen_text(pilot))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "block sizes more" not in screen_text(pilot))
