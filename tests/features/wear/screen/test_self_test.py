"""Pane 3: a self-test is chosen, shown, started, followed and aborted; in the demo, where nothing is real."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from raidtui.frame.choose import Choice
from raidtui.frame.plan_view import PlanView
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.readings import WearLook
from tests.demo.scene import Scene
from tests.features.wear.screen.test_wear import HEALTHY, host, opened, pane_of
from tests.frame.staging import (
    SIZES,
    Paces,
    Prepares,
    Shows,
    app_of,
    lines_of,
    main_of,
    message_of,
    running,
    screen_text,
    staged,
    until,
)
from tests.monitor.wear.hosts import denied

STARTED = "short self-test of sda started"


async def chosen(pilot: Paces, *keys: str) -> None:
    """Open the pane, press keys, and ask for a self-test; wait until the disk was read."""
    await opened(pilot)
    for key in (*keys, "t"):
        await pilot.press(key)
        await pilot.pause()
    await until(pilot, lambda: isinstance(app_of(pilot).screen, Choice), "the choice is there")
    await until(pilot, lambda: "abort the self-test that runs" in screen_text(pilot), "the disk is read")
    await pilot.pause()


async def started(pilot: Paces) -> None:
    """Start a short self-test on sda."""
    await chosen(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app_of(pilot).screen, PlanView), "the plan is there")
    await pilot.press("y")
    await until(pilot, lambda: message_of(pilot) == STARTED, "it is started")
    await until(pilot, lambda: "testing" in lines_of(pilot, "#wear-list"), "the disk is read again")
    await pilot.pause()


def choosing(*keys: str) -> Prepares:
    async def prepare(pilot: Paces) -> None:
        await chosen(pilot, *keys)
        await pilot.pause()

    return prepare


@SIZES
def test_choice(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=choosing())


@SIZES
def test_review(shows: Shows, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await chosen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app_of(pilot).screen, PlanView))

    shows(staged(Scene().reader), size=size, prepare=prepare)


@SIZES
def test_running(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=started)


async def test_it_is_followed_to_its_end() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        await started(pilot)
        body = lines_of(pilot, "#wear-body").split("\n")
        assert body[0] == " sda       self-test running, 0 % done; short self-test passed 20 power-on"
        scene.clock.at_s += 60
        pane_of(pilot)._follow_self_tests()
        await until(pilot, lambda: "testing 50%" in lines_of(pilot, "#wear-list"), "half of it is done")
        scene.clock.at_s += 61
        pane_of(pilot)._follow_self_tests()
        await until(pilot, lambda: "testing" not in lines_of(pilot, "#wear-list"), "it has ended")
        first = lines_of(pilot, "#wear-body").split("\n")[0]
        assert first == " sda       short self-test passed less than 1 power-on hour ago (at 4700)"


async def test_only_the_disks_that_run_one_are_read_meanwhile() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        await started(pilot)
        pane = pane_of(pilot)
        before = pane.look
        assert before is not None
        pane._follow_self_tests()
        await until(pilot, lambda: pane.look is not before)
        assert pane.look is not None
        assert pane.look.disk("sdb") is before.disk("sdb")
        assert pane.look.disk("sda") is not before.disk("sda")


async def test_it_is_aborted() -> None:
    async with running(Scene().reader) as pilot:
        await started(pilot)
        await pilot.press("t")
        await until(pilot, lambda: "abort the self-test that runs" in screen_text(pilot))
        await pilot.press("enter")  # the only row that can be taken
        await until(pilot, lambda: "smartctl -d sat -X /dev/sda" in screen_text(pilot))
        await pilot.press("y")
        await until(pilot, lambda: message_of(pilot) == "self-test of sda aborted")
        await until(pilot, lambda: "short self-test aborted" in lines_of(pilot, "#wear-body"))


async def test_keys_are_not_lost_while_the_disk_is_read_again() -> None:
    async with running(Scene().reader) as pilot:
        await chosen(pilot)
        wearing = pane_of(pilot).source()
        again, begun, go_on = wearing.look_again, asyncio.Event(), asyncio.Event()

        async def slow(look: WearLook, snapshot: Snapshot, names: Collection[str]) -> WearLook:
            begun.set()
            await go_on.wait()
            return await again(look, snapshot, names)

        wearing.look_again = slow  # type: ignore[method-assign]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app_of(pilot).screen, PlanView), "the plan is there")
        await pilot.press("y")
        await until(pilot, begun.is_set, "the disk is being read")
        await pilot.press("1")
        await until(pilot, lambda: main_of(pilot).pane == "arrays", "pane 1")
        go_on.set()


async def test_undo_aborts_it() -> None:
    async with running(Scene().reader) as pilot:
        await started(pilot)
        await pilot.press("1", "u")
        await until(pilot, lambda: "undone" in message_of(pilot))
        assert scene_runs(pilot) is False


def scene_runs(pilot: Paces) -> bool:
    """Whether a disk of the demo runs a self-test."""
    kernel = app_of(pilot).session.reader.simulated  # type: ignore[attr-defined]
    return any(test.left_percent(kernel.now_s) for tests in kernel.self_tests.values() for test in tests)


async def test_leaving_changes_nothing() -> None:
    async with running(Scene().reader) as pilot:
        await chosen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app_of(pilot).screen, PlanView))
        await pilot.press("enter", "escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed")
        assert scene_runs(pilot) is False


async def test_a_disk_that_sleeps_is_not_woken() -> None:
    async with running(Scene().reader) as pilot:
        await chosen(pilot, "down", "down", "down", "down", "down")  # sdg
        words = "sdg is asleep (standby) and was not woken"
        assert words in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app_of(pilot).screen, Choice)


async def test_without_root_it_says_so() -> None:
    said = {**HEALTHY, "sda": denied("sda")}
    async with running(host(said, writable=False)) as pilot:
        await chosen(pilot)
        assert "needs root" in screen_text(pilot) or "is a capture" in screen_text(pilot)
