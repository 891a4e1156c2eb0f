"""``raidtui --demo --tour``: by the keys of a user, to its end; and how it is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from raidtui.ui.frame.help import HelpScreen
from raidtui.ui.tour import STOPS, Tour
from tests.command.test_status import status_of_usage_error
from tests.demo.scene import Scene
from tests.ui.demo.audit import watched
from tests.ui.demo.test_repairs_played import ready
from tests.ui.staging import (
    SIZES,
    Paces,
    Shows,
    app_of,
    in_worker,
    main_of,
    running,
    screen_text,
    staged,
    until,
)

_SECONDS = (100, 140)
SEEN = (
    "54.",
    "→ 800 MB/s",
    "Stack of md127",
    "step 1: devices",
    ": level",
    "nvme3n1 ▲ has used 93 %",
    "scheduler of sda",
    "Measure",
    "simulated: random read 8K",
    "member nvme1n1p1 failed",
    "Enter Plan",
    "/dev/md125",
    "demo · review",
    "mdadm: hot removed /dev/nvme1n1p1",
    "remove: nvme1n1p1: done",
)
"""What is on the screen at each stop."""


class Walk:
    """A tour on a demo host whose clock moves as fast as the tour; it notes what is seen at each stop."""

    def __init__(self, pilot: Paces, scene: Scene) -> None:
        self.pilot, self.scene = pilot, scene
        self.seen: list[int] = []
        self.tour = Tour(app_of(pilot), sleep=self.sleep)
        self.go = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Let so much time pass on the demo host; at a stop, note the screen, and wait to be let on."""
        await in_worker(self.pilot, lambda: self.scene.go(seconds))
        app_of(self.pilot).session.loop.look()
        await asyncio.sleep(0)
        if seconds > 1:
            said, what = self.tour._text.split()[0], SEEN[self.tour.at]
            await until(self.pilot, lambda: said in screen_text(self.pilot), "the sentence")
            await until(self.pilot, lambda: what in screen_text(self.pilot), what)
            self.seen.append(self.tour.at)
            await self.go.wait()


@asynccontextmanager
async def walking() -> AsyncIterator[Walk]:
    """Start a tour that waits at its first stop."""
    scene = Scene()
    async with running(scene.root) as pilot:
        await ready(pilot)
        walk = Walk(pilot, scene)
        walk.tour.start()
        await until(pilot, lambda: 0 in walk.seen, "the first stop")
        yield walk


async def test_it_leads_through_all_panes_to_its_end_and_touches_nothing() -> None:
    with watched() as deeds:
        async with walking() as walk:
            walk.go.set()
            await until(walk.pilot, lambda: not walk.tour.runs, "its end")
            assert walk.seen == list(range(len(STOPS)))
            await until(walk.pilot, lambda: "tour, " not in screen_text(walk.pilot), "its sentence is gone")
            assert main_of(walk.pilot).is_current
            vm = walk.scene.root.simulated.array("vm")
            assert vm is not None
            assert vm.member("nvme1n1p1") is None  # it was removed, by the plan
            await walk.pilot.press("question_mark")
            await until(walk.pilot, lambda: isinstance(walk.pilot.app.screen, HelpScreen), "keys work")
    assert deeds == []


def test_it_takes_about_two_minutes() -> None:
    assert _SECONDS[0] < sum(stop.seconds + 0.5 * len(stop.keys) for stop in STOPS) < _SECONDS[1]


async def test_a_key_ends_it_and_does_nothing_else() -> None:
    async with walking() as walk:
        await walk.pilot.press("4")
        await until(walk.pilot, lambda: not walk.tour.runs, "it has ended")
        await until(walk.pilot, lambda: "tour, " not in screen_text(walk.pilot), "its sentence is gone")
        assert main_of(walk.pilot).pane == "arrays"
        await walk.pilot.press("4")
        await until(walk.pilot, lambda: main_of(walk.pilot).pane == "tune", "the next key does what it does")


async def test_escape_leaves_the_page_that_the_tour_is_at() -> None:
    async with walking() as walk:
        walk.go.set()
        await until(walk.pilot, lambda: 2 in walk.seen, "the stack")
        walk.go.clear()
        await walk.pilot.press("escape")
        await until(walk.pilot, lambda: main_of(walk.pilot).is_current, "the page is left")
        assert not walk.tour.runs


async def test_q_quits() -> None:
    async with walking() as walk:
        await walk.pilot.press("q")
        await until(walk.pilot, lambda: walk.pilot.app._exit, "it has quit")


async def test_space_pauses_it() -> None:
    async with walking() as walk:
        await walk.pilot.press("space")
        await until(walk.pilot, lambda: "paused: space goes on" in screen_text(walk.pilot), "it says so")
        walk.go.set()
        for _ in range(20):
            await walk.pilot.pause(0.01)
        assert walk.tour.at == 0
        await walk.pilot.press("space")
        await until(walk.pilot, lambda: walk.tour.at > 0, "it goes on")


@pytest.mark.parametrize("line", [["--tour"], ["--demo", "--tour", "status"], ["--root", "/", "--tour"]])
def test_it_walks_through_the_demo_alone(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of_usage_error(*line) == 64
    assert "walks through the console on the demo host: raidtui --demo --tour" in capsys.readouterr().err


@SIZES
def test_the_tour_at_its_first_stop(shows: Shows, size: tuple[int, int]) -> None:
    scene = Scene()

    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    async def prepare(pilot: Paces) -> None:
        await ready(pilot)
        Tour(app_of(pilot), sleep=forever).start()
        await until(pilot, lambda: "tour, 1 of" in screen_text(pilot), "its sentence")
        await pilot.pause()

    shows(staged(scene.root), size=size, prepare=prepare)
