"""What is sent of a change makes the terminal's cells what Textual's own full update makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.screen import Screen

from raidtui.frame.lines import Lines
from raidtui.frame.list_pane import RowList
from raidtui.view.text import cell_width
from tests.frame.staging import (
    Paces,
    app_of,
    in_worker,
    main_of,
    move,
    running,
    screen_text,
    slider_of,
    until,
)
from tests.frame.states import ARRAY_KIB, STATES
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid1, raid5, raid10

Cell = tuple[str, Style | None]


def cells(strip: Iterable[Any]) -> list[Cell]:
    """Return a strip's cells; the second one of a wide character is empty."""
    found: list[Cell] = []
    for segment in strip:
        for char in segment.text:
            found += [(char, segment.style), *[("", segment.style)] * (cell_width(char) - 1)]
    return found


def whole(pilot: Paces) -> list[list[Cell]]:
    """Return the screen as Textual draws all of it."""
    return [cells(strip) for strip in main_of(pilot)._compositor.render_strips()]


class Terminal:
    """Takes what the screen displays."""

    def __init__(self, pilot: Paces, monkeypatch: pytest.MonkeyPatch) -> None:
        self.grid = whole(pilot)
        monkeypatch.setattr(type(app_of(pilot)), "_display", self.display)

    def display(self, screen: Screen[Any], update: Any) -> None:
        del screen
        if update is None:
            return
        if isinstance(update, LayoutUpdate):
            self.grid = [cells(part for strip in line for part in strip) for line in update.strips]
            return
        assert isinstance(update, ChopsUpdate)
        for y, first, end in update.spans:  # what is beside them was not drawn
            for x, strip in update.chops[y].items():
                row = cells(strip or ())
                for at in range(max(x, first), min(x + len(row), end)):
                    self.grid[y][at] = row[at - x]


def resyncing(done_kib: int, model: str) -> tuple[Any, ...]:
    sync = Syncing(action="resync", done_kib=done_kib, speed_kib_s=300_000)
    return (raid10(sync=sync, resync_start="0"), raid1(), raid5(label=model))


async def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(*resyncing(ARRAY_KIB // 2, "media"))
    async with running(kernel) as pilot:
        await move(pilot, partial(kernel.change, *resyncing(ARRAY_KIB // 2 + 300_000, "media")))
        terminal = Terminal(pilot, monkeypatch)
        for second in range(2, 9):
            change = resyncing(ARRAY_KIB // 2 + 300_000 * second, "media" if second < 5 else "映画" * second)
            await move(pilot, partial(kernel.change, *change))
            assert terminal.grid == whole(pilot)


async def test_keys_panes_and_dialogs(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(*resyncing(ARRAY_KIB // 2, "media"))
    async with running(kernel) as pilot:
        await pilot.pause()
        terminal = Terminal(pilot, monkeypatch)
        for key in ("down", "down", "up", "s", "x", "l", "left", "escape", "6", "1", "question_mark"):
            await pilot.press(key)
            await pilot.pause()
        for second in range(1, 4):  # under the help
            await move(pilot, partial(kernel.change, *resyncing(ARRAY_KIB // 2 + 300_000 * second, "media")))
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert terminal.grid == whole(pilot)
        await move(pilot, partial(kernel.change, *resyncing(ARRAY_KIB // 2 + 3_000_000, "media")))
        assert terminal.grid == whole(pilot)


async def test_a_key_that_chooses_is_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(Kernel(*resyncing(ARRAY_KIB // 2, "media"))) as pilot:
        await pilot.pause()
        terminal = Terminal(pilot, monkeypatch)
        rows, before = main_of(pilot).arrays.rows, whole(pilot)
        assert isinstance(rows, RowList)
        rows.action_move(1)
        assert terminal.grid == whole(pilot) != before


async def test_what_waits_for_textual_is_drawn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(Kernel(*resyncing(ARRAY_KIB // 2, "media"))) as pilot:
        await pilot.pause()
        terminal = Terminal(pilot, monkeypatch)
        screen, slider = main_of(pilot), slider_of(pilot, "max")
        slider.scope = "all arrays"
        slider._set_dirty()
        screen._dirty_widgets.add(slider)  # as it is between the widget's message and Textual's timer
        screen.say("something else is drawn first")
        assert "all arrays" in "".join(char for char, _ in terminal.grid[slider.region.y])


async def test_what_changes_while_textual_batches_is_left_to_it() -> None:
    async with running(STATES["optimal"]) as pilot:
        screen = main_of(pilot)
        with app_of(pilot).batch_update(), screen.painting():
            assert not screen.gather(screen.arrays.rows, [Region(0, 0, 1, 1)])
        with screen.painting(), screen.painting():
            assert screen.gather(screen.arrays.rows, [Region(0, 0, 1, 1)])
        assert not screen.gather(screen.arrays.rows, [Region(0, 0, 1, 1)])


async def test_what_loses_its_place_while_another_is_drawn() -> None:
    """Drawing the header asks for a map of the screen, in which the list is no more: its pane was left."""
    async with running(STATES["optimal"]) as pilot:
        screen = main_of(pilot)
        top, rows = screen.query_one("#top", Lines), screen.arrays.rows
        await screen.open_pane("log")
        await screen.open_pane("arrays")
        await pilot.pause()
        screen.show_pane("log")
        screen._compositor._full_map_invalidated = True
        with screen.painting():
            assert screen.gather(top, [Region(0, 1, 9, 1)])
            assert screen.gather(rows, [Region(0, 0, 5, 1)])
        assert rows not in screen._compositor.visible_widgets
        await pilot.pause()
        assert "1 Arrays" in screen_text(pilot)


async def test_the_thread_does_work_in_order_and_by_the_clock() -> None:
    async with running(STATES["optimal"]) as pilot:
        loop = app_of(pilot).session.loop
        done: list[str] = []
        loop._thread.after(0.0, lambda: done.append("alarm"))
        loop._thread.after(60.0, lambda: done.append("late"))
        await in_worker(pilot, lambda: done.append("job"))
        with pytest.raises(ZeroDivisionError):
            await in_worker(pilot, lambda: 1 // 0)
        await pilot.pause(0.05)
        assert sorted(done) == ["alarm", "job"]


async def test_what_changed_out_of_view_is_drawn_when_it_comes_back() -> None:
    async with running(Kernel(raid10())) as pilot:
        main = main_of(pilot)
        main.arrays.display = False
        await pilot.pause()
        count = len(main.arrays.head.lines)
        main.arrays.head.show([[(" changed meanwhile", "plain")]] * count)
        main.arrays.display = True
        await until(pilot, lambda: main.arrays.head.size.height == count)
        await pilot.pause()
        assert screen_text(pilot).count("changed meanwhile") == count
