"""The screen's clock is the stage's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.widgets import Input

from raidtui.host.root import Root
from raidtui.monitor.sampler import Sampler
from tests.ui.staging import SMALL, Prepares, StagedApp

Compares = Callable[..., bool]


@pytest.fixture(autouse=True)
def staged_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that has a clock is sampled by it."""

    def sampler(root: Root) -> Sampler:
        clock = getattr(root, "clock", None)
        return Sampler(root) if clock is None else Sampler(root, clock=clock)

    monkeypatch.setattr("raidtui.console.Sampler", sampler)
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture
def shows(snap_compare: Compares) -> Callable[..., None]:
    """Compare the screen with the accepted picture."""

    def compare(app: StagedApp, *, size: tuple[int, int] = SMALL, prepare: Prepares | None = None) -> None:
        assert snap_compare(app, terminal_size=size, run_before=prepare)

    return compare
