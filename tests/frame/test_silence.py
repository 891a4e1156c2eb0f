"""A host that does not answer: what is shown is of the past, the screen says so, and can be left."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from raidtui.frame.dialog import Question
from raidtui.watch.watch import Report
from tests.frame.staging import Paces, app_of, header_of, lines_of, running, screen_text, until
from tests.frame.states import STATES


@asynccontextmanager
async def hanging(pilot: Paces, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The thread that reads the host hangs in a read."""
    loop = app_of(pilot).session.loop
    hangs, answers = threading.Event(), threading.Event()
    refresh = loop.watch.refresh

    def hang() -> Report:
        hangs.set()
        assert answers.wait(60)
        return refresh()

    monkeypatch.setattr(loop.watch, "refresh", hang)
    try:
        loop.sample_soon()
        await until(pilot, hangs.is_set, "the host hangs")
        yield
    finally:
        answers.set()


async def test_what_is_of_the_past_is_said_so_until_the_host_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.watch.watch_loop._SILENT_S", 0.05)
    async with running(STATES["optimal"]) as pilot:
        async with hanging(pilot, monkeypatch):
            app_of(pilot).session.loop._silent = False  # it may have been quiet for so long before
            await until(pilot, lambda: "md has" in lines_of(pilot, "#bottom"))
            await until(pilot, lambda: "stale since" in header_of(pilot))
            said = r" md has not answered for \d+ s; what is shown was read before that"
            assert re.match(said, lines_of(pilot, "#bottom"))
        await until(pilot, lambda: "stale since" not in header_of(pilot))


async def test_a_host_that_does_not_answer_does_not_keep_the_console_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("raidtui.watch.watch_loop._GRACE_S", 0.0)
    async with running(STATES["optimal"]) as pilot, hanging(pilot, monkeypatch):
        await pilot.press("q")
        await until(pilot, lambda: app_of(pilot)._exit, "the console is left")
        assert app_of(pilot).return_code == 0
        thread = app_of(pilot).session.loop._thread._thread
        assert thread is not None
        assert thread.is_alive()


@pytest.mark.parametrize(("keys", "leaves"), [(("escape",), False), (("l",), True)])
async def test_what_cannot_be_restored_is_said_before_the_console_is_left(
    keys: tuple[str, ...], *, leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raidtui.watch.watch_loop._GRACE_S", 0.0)
    async with running(STATES["optimal"]) as pilot:
        assert app_of(pilot).session.loop.watch.record.load() == ()  # it was opened for a write
        async with hanging(pilot, monkeypatch):
            await pilot.press("q")
            await until(pilot, lambda: isinstance(pilot.app.screen, Question), "the question")
            text = screen_text(pilot)
            assert "What this session set cannot be restored now; it lasts until reboot." in text
            await pilot.press(*keys)
            await until(pilot, lambda: not isinstance(pilot.app.screen, Question) or app_of(pilot)._exit)
            assert app_of(pilot)._exit is leaves
