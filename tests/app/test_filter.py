"""The filter of each pane: Enter keeps it, Esc ends it, and another pane has its own."""

from __future__ import annotations

import pytest

from tests.frame.staging import Paces, lines_of, main_of, rows_of, running, until
from tests.frame.states import STATES
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid5

PANES = {"1": "arrays", "3": "wear", "4": "tune", "5": "bench", "6": "log", "7": "advice"}
OTHER = {key: "4" if key == "1" else "1" for key in PANES}


async def press(pilot: Paces, *keys: str) -> None:
    """Press keys, and let what they ask for be done."""
    await pilot.press(*keys)
    await pilot.pause()


def is_open(pilot: Paces) -> bool:
    """Whether the line of the filter is there."""
    return bool(main_of(pilot).query("#filter"))


async def filtered(pilot: Paces, key: str) -> None:
    """Open a pane and keep a filter in it."""
    await press(pilot, key)
    await until(pilot, lambda: main_of(pilot).pane == PANES[key])
    await press(pilot, "slash", *"zz", "enter")
    assert main_of(pilot).in_view.wanted_text == "zz"
    assert main_of(pilot).focused is main_of(pilot).in_view.rows


@pytest.mark.parametrize("key", PANES)
async def test_esc_ends_what_enter_has_kept(key: str) -> None:
    async with running(Kernel(raid1(), raid5())) as pilot:
        await filtered(pilot, key)
        assert "/ zz" in lines_of(pilot, "#filter")
        await press(pilot, "escape")
        assert main_of(pilot).in_view.wanted_text == ""
        await until(pilot, lambda: not is_open(pilot))


@pytest.mark.parametrize("key", PANES)
async def test_esc_while_it_is_typed(key: str) -> None:
    async with running(Kernel(raid1(), raid5())) as pilot:
        await press(pilot, key)
        await until(pilot, lambda: main_of(pilot).pane == PANES[key])
        await press(pilot, "slash", *"zz", "escape")
        assert main_of(pilot).in_view.wanted_text == ""
        await until(pilot, lambda: not is_open(pilot))
        assert main_of(pilot).focused is main_of(pilot).in_view.rows


@pytest.mark.parametrize("key", PANES)
async def test_another_pane_has_its_own(key: str) -> None:
    async with running(Kernel(raid1(), raid5())) as pilot:
        await filtered(pilot, key)
        await press(pilot, OTHER[key])
        await until(pilot, lambda: not is_open(pilot))
        assert main_of(pilot).in_view.wanted_text == ""
        await press(pilot, "slash", *"y", "enter", key)
        await until(pilot, lambda: "/ zz" in lines_of(pilot, "#filter"))
        await press(pilot, OTHER[key])
        await until(pilot, lambda: "/ y" in lines_of(pilot, "#filter"))


async def test_what_is_typed_then_goes_on_from_it() -> None:
    async with running(STATES["levels"]) as pilot:
        await press(pilot, "slash", *"raid1", "enter", "4", "1", "slash", *"0")
        assert [row.split()[1] for row in rows_of(pilot)] == ["data", "far", "offset"]


async def test_an_array_that_is_gone_to_is_not_hidden() -> None:
    async with running(STATES["levels"]) as pilot:
        await press(pilot, "slash", *"raid10", "enter")
        pane = main_of(pilot).arrays
        assert pane.report is not None
        backup = next(each for each in pane.report.snapshot.arrays if each.title == "backup")
        pane.post_message(pane.Wanted("arrays", key=backup.key))
        await until(pilot, lambda: len(rows_of(pilot)) == 9 and not is_open(pilot))
        assert pane.array is backup
