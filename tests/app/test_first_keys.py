"""Keys that are typed before the screen is there, and keys that go to another pane."""

from __future__ import annotations

import pytest
from textual import events

from tests.frame.staging import main_of, message_of, running, staged, until
from tests.hosts.specs import raid1
from tests.hosts.trees import host_tree

MANY = [raid1(f"md{n}", f"vol{n}", uuid=f"{n:032x}", members=(f"sd{n}a", f"sd{n}b")) for n in range(1, 31)]


@pytest.mark.parametrize(("key", "rows"), [("end", range(29, 30)), ("pagedown", range(1, 29))])
async def test_the_rows_move_with_the_choice(key: str, rows: range) -> None:
    """The key is there before the list has the focus, and a size."""
    app = staged(host_tree(*MANY))
    app.post_message(events.Key(key, None))
    async with app.run_test(size=(80, 24)) as pilot:
        pane = main_of(pilot).arrays
        await until(pilot, lambda: pane.chosen != pane._listed[0].key)
        await until(pilot, lambda: pane.rows.size.height > 0)
        (chosen,) = pane.rows._selected
        assert chosen in rows
        assert pane.chosen == pane._listed[chosen].key
        assert pane.rows.top <= chosen < pane.rows.top + pane.rows.size.height


async def test_what_a_pane_said_goes_with_it() -> None:
    async with running(host_tree(*MANY)) as pilot:
        main_of(pilot).say("nothing was built", "plain")
        assert message_of(pilot) == "nothing was built"
        await pilot.press("1")
        assert message_of(pilot) == "nothing was built"
        await pilot.press("6")
        assert message_of(pilot) == ""


async def test_the_page_keys_move_the_choice_of_pane_3() -> None:
    async with running(host_tree(*MANY)) as pilot:
        await pilot.press("3")
        pane = main_of(pilot).panes["wear"]
        await until(pilot, lambda: len(pane.rows.lines) > 1)
        await pilot.press("end")
        await until(pilot, lambda: list(pane.rows._selected) == [len(pane.rows.lines) - 1])
        await pilot.press("pageup", "home")
        await until(pilot, lambda: list(pane.rows._selected) == [0])
