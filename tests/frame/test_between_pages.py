"""Between two pages of a flow the pane below is not drawn: no flash of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from textual.screen import Screen

from raidtui.app.main_screen import MainScreen
from raidtui.demo.demo_host import demo_root
from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.frame import key_order
from raidtui.frame.choose import Ask
from raidtui.frame.plan_view import PlanView
from raidtui.frame.textual_private import is_batching
from tests.frame.staging import Paces, app_of, at, main_of, running, screen_text, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take its time for the next page."""
    monkeypatch.setattr(key_order, "STILL_S", 60.0)


@contextmanager
def drawn(pilot: Paces, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type[Any]]]:
    """Give the screens that are drawn, in their order."""
    app, found = app_of(pilot), list[type[Any]]()
    display = app._display

    def noted(screen: Screen[Any], update: Any) -> None:
        if update is not None:
            found.append(type(screen))
        display(screen, update)

    with monkeypatch.context() as patch:
        patch.setattr(app, "_display", noted)
        yield found


def shows(pilot: Paces, words: str) -> bool:
    return words in screen_text(pilot)


async def test_from_the_wizard_to_its_review_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(demo_root()) as pilot:
        await at(pilot, WizardScreen, "b")
        await until(pilot, lambda: "[ 1 ]" in screen_text(pilot), "disks are ticked")
        with drawn(pilot, monkeypatch) as seen:
            for step in ("2 of 3", "3 of 3", "Enter review"):
                await pilot.press("enter")
                await until(pilot, partial(shows, pilot, step), step)
            await at(pilot, PlanView, "enter")
            await until(pilot, lambda: PlanView in seen)
            await at(pilot, WizardScreen, "escape")
            await until(pilot, lambda: seen[-1] is WizardScreen)
        assert MainScreen not in seen
        assert not is_batching(app_of(pilot))


async def test_from_a_dialog_to_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(Kernel(raid1())) as pilot:
        await at(pilot, Ask, "N")
        with drawn(pilot, monkeypatch) as seen:
            await pilot.press(*"new")
            await at(pilot, PlanView, "enter")
            await until(pilot, lambda: PlanView in seen)
        assert MainScreen not in seen


async def test_what_ends_a_flow_shows_the_pane_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(Kernel(raid1())) as pilot:
        await at(pilot, Ask, "N")
        with drawn(pilot, monkeypatch) as seen:
            await pilot.press("escape")
            await until(pilot, lambda: MainScreen in seen)
        assert not is_batching(app_of(pilot))


async def test_a_page_that_takes_longer_shows_the_pane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_order, "STILL_S", 0.01)
    async with running(Kernel(raid1())) as pilot:
        app = app_of(pilot)

        async def flow() -> None:
            await app.ask(Ask("One?", ""))
            await until(pilot, lambda: MainScreen in seen)
            await app.ask(Ask("Two?", ""))

        app.open_flow(flow)
        await until(pilot, lambda: isinstance(app.screen, Ask))
        with drawn(pilot, monkeypatch) as seen:
            await pilot.press("1", "enter")
            await until(pilot, lambda: "Two?" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main_of(pilot))
