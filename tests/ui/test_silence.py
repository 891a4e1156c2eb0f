"""A host that does not answer: what is shown is of the past, and the screen says so."""

from __future__ import annotations

import re
import threading

import pytest

from raidtui.session.watch import Report
from tests.ui.staging import app_of, header_of, lines_of, running, until
from tests.ui.states import STATES


async def test_what_is_of_the_past_is_said_so_until_the_host_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.session.watch_loop._SILENT_S", 0.05)
    async with running(STATES["optimal"]) as pilot:
        loop = app_of(pilot).session.loop
        hangs, answers = threading.Event(), threading.Event()
        refresh = loop.watch.refresh

        def hang() -> Report:
            hangs.set()
            assert answers.wait(60)
            return refresh()

        monkeypatch.setattr(loop.watch, "refresh", hang)
        try:
            loop.look()
            await until(pilot, hangs.is_set, "the host hangs")
            loop._silent = False  # it may have been quiet for so long before
            await until(pilot, lambda: "md has" in lines_of(pilot, "#bottom"))
            await until(pilot, lambda: "stale since" in header_of(pilot))
            said = r" md has not answered for \d+ s; all of this was read before"
            assert re.match(said, lines_of(pilot, "#bottom"))
        finally:
            answers.set()
        await until(pilot, lambda: "stale since" not in header_of(pilot))
