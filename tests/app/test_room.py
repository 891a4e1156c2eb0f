"""In a wide window nothing is cut, scrolled or left out while much of it is empty."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from raidtui.demo.demo_host import demo_root
from raidtui.frame.lines import ScrollLines
from raidtui.frame.list_pane import RowList
from raidtui.host.readers.host_reader import HostReader
from tests.frame.staging import LARGE, SMALL, WIDE, Paces, app_of, main_of, running, screen_text, until
from tests.hosts.wrecks import wrecked

PANES = {"1": "arrays", "3": "wear", "4": "tune", "5": "bench", "6": "log", "7": "advice"}
HOSTS: dict[str, Callable[[], HostReader]] = {
    "demo": demo_root,
    "failed": lambda: wrecked("r5-cable-two"),
    "stale": lambda: wrecked("r1-three-apart"),
}
_CUT = re.compile(r"…(?=  |\s*$)|(?<=\s)…(?=\S)")
"""At the end of a column or a line, or at the beginning of a word; not between two figures."""


def lacks_of(pilot: Paces) -> list[str]:
    """What is not in view, or not whole: lists that scroll, texts that are cut."""
    boxes = pilot.app.screen.query(ScrollLines).results()
    hidden = [each.id or "" for each in boxes if each.size.height and each.max_scroll_y]
    return hidden + [line for line in screen_text(pilot).split("\n") if _CUT.search(line)]


def empty_share(pilot: Paces) -> float:
    """How many of the rows have nothing in them."""
    lines = screen_text(pilot).split("\n")
    return sum(not line.strip() for line in lines) / len(lines)


async def settled(pilot: Paces) -> None:
    """Wait until nothing is read any more."""
    await until(pilot, lambda: not app_of(pilot).workers._workers, "all is read")
    await pilot.pause()


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("size", [WIDE, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_what_is_not_whole_has_no_room(size: tuple[int, int], host: str) -> None:
    async with running(HOSTS[host](), size=size) as pilot:
        for key, name in PANES.items():
            await pilot.press(key)
            await until(pilot, partial(_in_view, pilot, name), name)
            await settled(pilot)
            for end in ("end", "home"):
                lacks = lacks_of(pilot)
                assert not lacks or empty_share(pilot) <= 1 / 3, f"{name}: {lacks}\n{screen_text(pilot)}"
                await pilot.press(end)
                await settled(pilot)


def _in_view(pilot: Paces, name: str) -> bool:
    return main_of(pilot).panes[name].display


async def test_rows_of_several_lines_are_chosen_whole() -> None:
    """A click anywhere on a row chooses it; on a day's rule, nothing."""
    async with running(demo_root(), size=WIDE) as pilot:
        await pilot.press("7")
        await settled(pilot)
        rows = main_of(pilot).panes["advice"].rows
        assert isinstance(rows, RowList)
        assert [len(each) for each in rows.places] == [1, 4, 4]
        await pilot.click("#advice-list", offset=(5, 7))
        assert rows._selected == rows.places[2]
        await pilot.press("up")
        assert rows._selected == rows.places[1]
        await pilot.press("6")
        await settled(pilot)
        log = main_of(pilot).panes["log"].rows
        assert log.lines[0][1][0] == ""
        before = log._selected
        await pilot.click("#log-lines", offset=(5, 0))
        assert log._selected == before
        await pilot.press("home")
        assert list(log._selected) == [1]
        assert log.top == 0


async def test_where_rows_are_free_a_benchmark_is_drawn_over_time() -> None:
    """The curve follows the choice. In a small window it has no room, and is not read."""
    async with running(demo_root(), size=WIDE) as pilot:
        await pilot.press("5")
        await settled(pilot)
        assert "── IOPS over time ──" in screen_text(pilot)
        assert " a #2 again  #2  median  85.5k" in screen_text(pilot)
        await pilot.press("down")
        await until(pilot, lambda: " a #1 cold cache  #1  median" in screen_text(pilot), "the other one")
    async with running(demo_root(), size=SMALL) as pilot:
        await pilot.press("5")
        await settled(pilot)
        assert "IOPS over time" not in screen_text(pilot)
