"""Keys in any order, at any pace, in a window of any size: see ``tests/torture/keys.py``."""

from __future__ import annotations

import pytest
from textual.command import CommandInput

from raidtui.features.arrays.screen.array_commands import CHECK
from raidtui.frame.choose import Choice
from raidtui.frame.command_palette import Palette
from raidtui.frame.dialog import Dialog, Question
from raidtui.frame.help import HelpScreen
from tests.features.tune.screen.tune_stage import at_rest, host, opened, pane_of
from tests.frame.staging import Paces, app_of, main_of, running, until
from tests.frame.states import ARRAYS, STATES
from tests.hosts.kernel import Kernel
from tests.torture.keys import play


@pytest.mark.parametrize("seed", [1, 2, 3, 27])
def test_random_keys(seed: int) -> None:
    play(seed, bursts=8)


@pytest.mark.parametrize(
    "make", [lambda: HelpScreen([]), lambda: Question([], (("y", "yes"),)), lambda: Choice("Which?", ())]
)
async def test_the_second_of_two_quick_keys_closes_nothing_else(make: object) -> None:
    async with running(STATES["degraded"]) as pilot:
        below: Dialog[None] = HelpScreen([])
        await pilot.app.push_screen(below)
        answers: list[object] = []
        dialog = make()  # type: ignore[operator]
        await pilot.app.push_screen(dialog, answers.append)
        await pilot.pause()
        for _ in range(3):
            dialog.dismiss()
        await until(pilot, lambda: pilot.app.screen is below)
        await pilot.pause()
        assert pilot.app.screen is below
        assert len(answers) == 1
        below.dismiss()
        below.dismiss()
        await until(pilot, lambda: pilot.app.screen is main_of(pilot))
        await pilot.pause()
        assert pilot.app._exception is None


async def palette_of(pilot: Paces) -> Palette:
    """Open the palette."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
    found = pilot.app.screen
    assert isinstance(found, Palette)
    return found


async def test_the_palette_closes_once() -> None:
    async with running(STATES["degraded"]) as pilot:
        palette = await palette_of(pilot)
        for _ in range(3):
            palette._action_escape()
        await until(pilot, lambda: pilot.app.screen is main_of(pilot))
        await pilot.pause()
        assert pilot.app._exception is None


async def test_two_quick_enters_run_a_command_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(*ARRAYS["optimal"])
    async with running(kernel) as pilot:
        palette = await palette_of(pilot)
        ran: list[str] = []
        monkeypatch.setattr(app_of(pilot), "run_in_pane", ran.append)
        await pilot.press(*"check")
        await until(pilot, lambda: palette._list_visible and palette._hit_count)
        line = palette.query_one(CommandInput)
        for _ in range(3):
            line.post_message(CommandInput.Submitted(line, line.value))
        await until(pilot, lambda: pilot.app.screen is main_of(pilot))
        await until(pilot, lambda: ran)
        await pilot.pause()
        assert ran == [CHECK.action]


@pytest.mark.parametrize("size", [(40, 4), (4, 3), (1, 1), (60, 3), (200, 2)])
async def test_the_palette_in_a_window_of_a_few_cells(size: tuple[int, int]) -> None:
    async with running(STATES["degraded"], size=size) as pilot:
        await palette_of(pilot)
        await pilot.press("pagedown", "pageup", "down", "up", "home", "end", *"zz", "enter", "escape")
        await pilot.pause()
        assert pilot.app._exception is None


async def test_a_knob_chosen_while_a_dialog_opens_is_not_the_dialogs() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot)
        first = pane.knob
        pane.action_exact()
        pane.action_knob(1)  # before the dialog is there
        assert pane.knob != first
        await until(pilot, lambda: isinstance(pilot.app.screen, Choice))
        assert first in pilot.app.screen._title


async def test_what_was_asked_for_is_for_no_other_knob() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        pane = await opened(pilot)
        await pilot.press("left")
        assert pane.asked
        pane.knob = "of another width"
        pane.redraw()
        assert (pane.asked, pane.knob) == ("", pane.row.knobs[0] if pane.row else "")
        pane.settle()
        await until(pilot, lambda: at_rest(pilot))
        assert pane_of(pilot).news == ()
        assert kernel.writes == []


async def test_keys_of_a_window_that_is_too_small_to_draw() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot)
        await pilot.resize_terminal(20, 5)
        pane.knob = ""
        await pilot.press("tab", "shift+tab")
        assert pilot.app._exception is None
