"""What is equal is not drawn again, and reports that come too fast are drawn once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from raidtui.app.app import Sampled
from raidtui.frame.lines import Lines
from raidtui.frame.painting import PaintingScreen
from raidtui.model.finding import Event, EventKind
from tests.frame.staging import WIDE, Paces, app_of, look, main_of, move, running, slider_of, until
from tests.frame.states import ARRAY_KIB, ARRAYS, STATES
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid1, raid10
from tests.hosts.trees import host_tree

Refreshed = list[tuple[str | None, tuple[Region, ...], dict[str, Any]]]


@pytest.fixture
def refreshed(monkeypatch: pytest.MonkeyPatch) -> Refreshed:
    """Every call of refresh, and what a screen gathers instead: of which widget, which regions."""
    calls: Refreshed = []
    real, real_gather = Widget.refresh, PaintingScreen.gather

    def gather(self: PaintingScreen, widget: Widget, regions: list[Region]) -> bool:
        if taken := real_gather(self, widget, regions):
            calls.append((widget.id, tuple(regions), {}))
        return taken

    def refresh(self: Widget, *regions: Region, **more: Any) -> Widget:
        calls.append((self.id, regions, more))
        return real(self, *regions, **more)

    monkeypatch.setattr(Widget, "refresh", refresh)
    monkeypatch.setattr(PaintingScreen, "gather", gather)
    return calls


@pytest.mark.parametrize("state", ["optimal", "degraded", "check", "many", "no-md", "frozen-with-work"])
async def test_the_same_again(refreshed: Refreshed, state: str) -> None:
    async with running(STATES[state]) as pilot:
        await look(pilot)
        refreshed.clear()
        for _ in range(3):
            await look(pilot)
        assert refreshed == []


async def test_the_log_at_rest(refreshed: Refreshed) -> None:
    async with running(STATES["degraded"]) as pilot:
        await pilot.press("6")
        log = main_of(pilot).query_one("#log-lines")
        await until(pilot, lambda: log.size.height > 0 and not log._layout_required, "the log is laid out")
        await look(pilot)
        await pilot.pause(0.1)
        refreshed.clear()
        await look(pilot)
        assert refreshed == []


async def test_progress_redraws_a_few_lines(refreshed: Refreshed) -> None:
    def at(done_kib: int) -> tuple[Any, ...]:
        sync = Syncing(action="resync", done_kib=done_kib, speed_kib_s=300_000)
        return (raid10(sync=sync, resync_start="0"), raid1())

    kernel = Kernel(*at(ARRAY_KIB // 2))
    async with running(kernel, size=WIDE) as pilot:
        for second in range(1, 4):
            await move(pilot, partial(kernel.change, *at(ARRAY_KIB // 2 + 300_000 * second)))
        refreshed.clear()
        await move(pilot, lambda: kernel.change(*at(ARRAY_KIB // 2 + 300_000 * 4)))
        assert refreshed
        lines = sum(region.height for _, regions, _ in refreshed for region in regions)
        assert all(regions for _, regions, _ in refreshed), "a widget was drawn as a whole"
        assert {name for name, _, _ in refreshed} <= {"array-list", "array-head", "array-body", "top"}
        assert lines < 13


async def test_a_slider_at_rest(refreshed: Refreshed) -> None:
    async with running(Kernel(*ARRAYS["check"])) as pilot:
        slider = slider_of(pilot, "max")
        refreshed.clear()
        slider.show(slider.kernel_kib_s, slider.scope, locked=False)
        slider.forget_asked()
        assert refreshed == []


def test_a_later_report_replaces_an_earlier_one() -> None:
    report: Any = object()
    assert Sampled(report).can_replace(Sampled(report))
    assert not Sampled(report).can_replace(Message())


async def test_reports_that_come_too_fast_are_drawn_once_and_lose_no_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel(raid10())
    async with running(kernel) as pilot:
        await look(pilot)
        app = app_of(pilot)
        assert app.report is not None
        shown: list[Any] = []
        monkeypatch.setattr(main_of(pilot), "show_report", shown.append)
        events = len(main_of(pilot).events)
        for number in range(20):
            event = Event(
                at_s=float(number), kind=EventKind.KERNEL, subject="data", text=f"happened {number}"
            )
            app._take(replace(app.report, new_events=(event,), next_s=float(number)))
        await pilot.pause()
        assert [report.next_s for report in shown] == [19.0]
        assert [event.text for event in main_of(pilot).events[events:]] == [
            f"happened {n}" for n in range(20)
        ]


async def test_only_changed_lines_are_drawn(refreshed: Refreshed) -> None:
    async with running(host_tree()) as pilot:
        top = main_of(pilot).query_one("#top", Lines)
        top.show([[("abcdef", "plain")], [("ghi", "ok")]])
        await pilot.pause()
        refreshed.clear()
        top.show([[("abXdef", "plain")], [("ghi", "ok")]])
        top.show([[("abXdef", "plain")], [("ghi", "ok")]])
        top.show([[("abXdef", "plain")], [("ghi", "bad")]])
        top.show([[("abXdef", "plain")], [("ghi", "bad")]], selected=0)
        lines = [[region.y for region in regions] for _, regions, _ in refreshed]
        assert lines == [[0], [1], [0]]


async def test_equal_samples_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(STATES["check"]) as pilot:
        await look(pilot)
        driver = pilot.app._driver
        assert driver is not None
        written: list[str] = []
        monkeypatch.setattr(driver, "write", written.append)
        await look(pilot)
        await _settled(pilot)
        assert "".join(written) == ""


async def _settled(pilot: Paces) -> None:
    for _ in range(3):
        await pilot.pause()
