"""Whatever came before, the terminal shows what it would show if all of it were drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.widget import Widget

from raidtui.frame.lines import ScrollLines
from tests.frame.staging import SMALL, WIDE, Paces, main_of, move, running, until
from tests.frame.states import ARRAYS
from tests.frame.test_painting import Cell, Terminal, whole
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec

LEAST = (60, 15)
_POOL = {array.name + state: array for state, arrays in ARRAYS.items() for array in arrays}
KEYS = ("down", "up", "pagedown", "pageup", "home", "end", "l", "escape", "s", "slash", "6", "1")


def anew(pilot: Paces) -> list[list[Cell]]:
    """Return the screen, all of it drawn anew: nothing is taken from what was drawn or laid out before."""
    main = main_of(pilot)
    main._redraw()
    for widget in (main, *main.query(Widget)):
        widget._styles_cache.clear()
        widget._layout_cache.clear()
        widget._arrangement_cache.clear()
        widget.clear_cached_dimensions()
    main._compositor._full_map_invalidated = True
    main._refresh_layout(main.size)
    return whole(pilot)


def text_of(grid: list[list[Cell]]) -> str:
    """The cells without colours."""
    return "\n".join("".join(char for char, _ in row).rstrip() for row in grid)


def drawn_in(pilot: Paces, size: tuple[int, int]) -> bool:
    """Whether the screen is laid out, and drawn, in a size."""
    main = main_of(pilot)
    return main.size == size == main._drawn


def settled(pilot: Paces) -> bool:
    """Whether all that was asked for is drawn: Textual draws and lays out by timers, and sends messages."""
    main = main_of(pilot)
    waiting = main._dirty_widgets or main._layout_required or main._scroll_required
    return not waiting and not any(
        each._layout_required or each._scroll_required or each._repaint_required or each.message_queue_size
        for each in (main, *main.query(Widget))
        if each.is_mounted
    )


def sized(pilot: Paces) -> bool:
    """Whether each list scrolls over as many lines as it has, or is high."""
    return all(
        box.virtual_size.height == max(len(box.lines), box.size.height)
        for box in main_of(pilot).query(ScrollLines)
        if box.size.height
    )


async def check(pilot: Paces, terminal: Terminal, after: object) -> None:
    """Compare the terminal with the screen drawn anew."""
    await pilot.pause()
    await until(pilot, partial(settled, pilot), "all is drawn")
    # A widget hears of its new size by a message, which may still be on its way then.
    await until(pilot, partial(sized, pilot), f"all lines have room after {after}")
    # And draws its lines anew then, in another width where a scroll bar has come or gone.
    await until(pilot, partial(settled, pilot), "all is drawn in its new size")
    shown = [list(row) for row in terminal.grid]
    fresh = anew(pilot)
    assert text_of(shown) == text_of(fresh), after
    assert shown == fresh, after


@pytest.mark.parametrize("size", [LEAST, SMALL, WIDE], ids=["60x15", "80x24", "120x40"])
async def test_from_an_array_without_sliders_to_one_at_rest(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(Kernel(*ARRAYS["levels"]), size=size) as pilot:
        terminal = Terminal(pilot, monkeypatch)
        for key in (*["down"] * 9, *["up"] * 9, "end", "home"):
            await pilot.press(key)
            await check(pilot, terminal, key)


async def test_a_row_more_than_fits_leaves_the_chosen_array_in_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is as high as before, and gets a scroll bar with the layout that comes after the scrolling."""
    by_label = {array.label: array for array in _POOL.values()}
    first, second, more = (by_label[label] for label in ("offset", "far", "four"))
    media = [array for array in _POOL.values() if array.label == "media"]
    failed, whole_again = (next(each for each in media if bool(each.failed) is bad) for bad in (True, False))
    kernel = Kernel(first, second, failed)
    async with running(kernel, size=LEAST) as pilot:
        terminal = Terminal(pilot, monkeypatch)
        await move(pilot, partial(kernel.change, first, second, more, whole_again))
        await check(pilot, terminal, "a row more")
        rows = main_of(pilot).arrays.rows
        assert (rows.top, len(rows.lines), rows.size.height) == (1, 4, 3)


def hosts() -> st.SearchStrategy[Sequence[ArraySpec]]:
    """Arrays of different names, in any state."""
    arrays = st.sampled_from(sorted(_POOL)).map(_POOL.__getitem__)
    return st.lists(arrays, max_size=9, unique_by=lambda array: array.name)


@settings(max_examples=20)
@given(
    size=st.sampled_from((LEAST, SMALL, WIDE)),
    first=hosts(),
    moves=st.lists(st.sampled_from(KEYS) | hosts() | st.sampled_from((LEAST, SMALL, WIDE)), max_size=15),
)
async def test_any_moves(
    size: tuple[int, int],
    first: Sequence[ArraySpec],
    moves: list[str | Sequence[ArraySpec] | tuple[int, int]],
) -> None:
    kernel = Kernel(*first)
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with running(kernel, size=size) as pilot:
            terminal = Terminal(pilot, monkeypatch)
            for each in moves:
                if isinstance(each, str):
                    await pilot.press(each)
                elif isinstance(each, tuple):
                    await pilot.resize_terminal(*each)
                    await until(pilot, partial(drawn_in, pilot, each), "the new size")
                else:
                    await move(pilot, partial(kernel.change, *each))
                await check(pilot, terminal, each)
