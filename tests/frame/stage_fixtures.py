"""Fixtures of screens: the clock is the stage's; pictures; a host that is asked for benchmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from raidtui.demo.demo_host import DemoReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.monitor.sampler import Sampler
from tests.features.bench.forms.choices import Asked
from tests.frame.goldens import Golden, golden_of
from tests.frame.staging import SMALL, Prepares, StagedApp

Compares = Callable[..., bool]
_LOOKS = 400


@pytest.fixture
def staged_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that has a clock is sampled by it."""

    def sampler(root: HostReader, *, absent: bool = False, patient: bool = False) -> Sampler:
        clock = root._clock if isinstance(root, DemoReader) else getattr(root, "clock", None)
        if clock is None:
            return Sampler(root, absent=absent, patient=patient)
        return Sampler(root, clock=clock, absent=absent, patient=patient)

    monkeypatch.setattr("raidtui.watch.watch.Sampler", sampler)
    monkeypatch.setattr(Input, "cursor_blink", False)


async def _let_all_run(*_: object) -> None:
    """Messages are handed on in the event loop's turns alone: enough of these, and all have been."""
    for _turn in range(60):
        await asyncio.sleep(0)
    app = active_app.get(None)
    if app is None:
        return
    for _look in range(_LOOKS):  # what is laid out next is so by a timer
        if not (app.is_running and app.screen_stack):
            return
        if not (app.screen._layout_required or app.screen._scroll_required):
            return
        await asyncio.sleep(0.005)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual reports that all is done by the processor's idling for 20 ms and more, after each key."""
    monkeypatch.setattr("textual.pilot.wait_for_idle", _let_all_run)
    monkeypatch.setattr("textual.app.wait_for_idle", _let_all_run)


@pytest.fixture
def shows(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare the screen with the accepted text of it."""
    golden = Golden(request)

    def compare(app: App[Any], *, size: tuple[int, int] = SMALL, prepare: Prepares | None = None) -> None:
        now = app.run(headless=True, size=size, auto_pilot=partial(_look, prepare=prepare))
        assert now is not None
        golden.compare(now)

    return compare


async def _look(pilot: Pilot[Any], *, prepare: Prepares | None) -> None:
    if prepare is not None:
        await prepare(pilot)
    for _wait in range(2):
        await pilot.pause()
        await pilot.wait_for_scheduled_animations()
    pilot.app.exit(golden_of(pilot.app))


@pytest.fixture
def draws(snap_compare: Compares) -> Callable[..., None]:
    """Compare the screen with the accepted picture of it, for colours and for the README."""

    def compare(app: StagedApp, *, size: tuple[int, int] = SMALL, prepare: Prepares | None = None) -> None:
        assert snap_compare(app, terminal_size=size, run_before=prepare)

    return compare


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """A host with fio, on which nobody else has devices open."""
    return Asked(monkeypatch)
