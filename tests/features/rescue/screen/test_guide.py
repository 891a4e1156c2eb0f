"""The guide: a picture of each wreck, and what each key does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import RescueFacts
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.frame.choose import Choice
from raidtui.frame.plan_view import PlanView
from tests.features.arrays.screen.test_key_to_job import Fake, closed, console, done
from tests.features.rescue.screen.wreck_stage import UUID, WRECKS, disks, member
from tests.frame.machines import plain_host, ssd
from tests.frame.staging import SMALL, WIDE, Paces, at, message_of, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")


def wreck(fake: Fake, name: str) -> None:
    """Let the host have these devices."""
    fake.devices = {device.disk.name: device for device in WRECKS[name]()}


def opened(*keys: str) -> Callable[[Paces], Any]:
    """Choose the array, and press keys."""

    async def prepare(pilot: Paces) -> None:
        await at(pilot, Choice, "a")
        await at(pilot, GuideScreen, "enter")
        await pilot.press(*keys)
        await pilot.pause()

    return prepare


# -- pictures


@SIZES
@pytest.mark.parametrize("name", WRECKS)
def test_what_happened(shows: Shows, fake: Fake, name: str, size: tuple[int, int]) -> None:
    wreck(fake, name)
    shows(staged(Kernel(raid10())), size=size, prepare=opened())


def test_picture(draws: Shows, fake: Fake) -> None:
    """The README's."""
    wreck(fake, "two-kicked")
    draws(staged(Kernel(raid10())), size=WIDE, prepare=opened())


def test_a_way_that_is_not_possible(shows: Shows, fake: Fake) -> None:
    wreck(fake, "two-kicked")
    shows(staged(Kernel(raid10())), prepare=opened("end"))


@SIZES
def test_which_array(shows: Shows, fake: Fake, size: tuple[int, int]) -> None:
    async def choose(pilot: Paces) -> None:
        await at(pilot, Choice, "a")

    shows(staged(Kernel(raid10())), size=size, prepare=choose)


@SIZES
def test_review_of_a_start(shows: Shows, fake: Fake, size: tuple[int, int]) -> None:
    wreck(fake, "one-missing")

    async def choose(pilot: Paces) -> None:
        await opened()(pilot)
        await chosen(pilot, "start degraded")
        await at(pilot, PlanView, "enter")

    shows(staged(Kernel(raid10())), size=size, prepare=choose)


# -- keys


async def chosen(pilot: Paces, words: str) -> None:
    """Move down to a row."""
    screen = pilot.app.screen
    assert isinstance(screen, GuideScreen)
    while (here := screen.here) is not None and here.words != words:
        await pilot.press("down")
        assert screen.here is not here, words
    assert here is not None
    await pilot.pause()


@pytest.mark.parametrize(
    ("words", "flags"),
    [("degraded, read-only", ("--run", "--readonly")), ("start degraded", ("--run",))],
    ids=["read-only", "degraded"],
)
async def test_a_degraded_array_is_started(fake: Fake, words: str, flags: tuple[str, ...]) -> None:
    wreck(fake, "one-missing")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, words)
        await at(pilot, PlanView, "enter")
        await pilot.press("enter")  # Enter alone never does it
        assert await done(pilot, "y") == "assemble: media: done"
    [plan] = fake.begun
    assert [step.argv for step in plan.steps] == [
        (
            "mdadm",
            "--assemble",
            "/dev/md/media",
            f"--uuid={UUID}",
            *flags,
            "/dev/sda2",
            "/dev/sdb2",
            "/dev/sdc2",
        )
    ]


async def test_a_whole_array_is_started(fake: Fake) -> None:
    wreck(fake, "whole")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "start")
        await at(pilot, PlanView, "enter")
        assert await done(pilot, "y") == "assemble: media: done"
    [plan] = fake.begun
    names = [f"/dev/sd{letter}2" for letter in "abcd"]
    assert [step.argv for step in plan.steps] == [
        ("mdadm", "--assemble", "/dev/md/media", f"--uuid={UUID}", *names)
    ]


async def test_leaving_the_review_leads_back_to_the_row(fake: Fake) -> None:
    wreck(fake, "whole")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "start")
        await at(pilot, PlanView, "enter")
        await at(pilot, GuideScreen, "escape")
        assert "▸ start " in screen_text(pilot)
        assert await closed(pilot, "escape") == "nothing was changed"
    assert fake.begun == []


async def test_enter_does_nothing_where_no_way_is_possible(fake: Fake) -> None:
    wreck(fake, "two-missing")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "start")
        assert "Not possible: " in screen_text(pilot)
        assert "Enter" not in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, GuideScreen)
        assert await closed(pilot, "escape") == "nothing was changed"


async def test_reading_again_finds_what_was_reconnected(fake: Fake) -> None:
    wreck(fake, "one-missing")
    async with console() as pilot:
        await opened()(pilot)
        assert "missing" in screen_text(pilot)
        wreck(fake, "whole")
        await pilot.press("r")
        await until(pilot, lambda: "agree" in screen_text(pilot))
        assert await closed(pilot, "escape") == "nothing was changed"


async def test_what_has_changed_meanwhile_is_judged_again(fake: Fake) -> None:
    """A member went away between the page and Enter."""
    wreck(fake, "whole")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "start")
        fake.devices = {device.disk.name: device for device in disks(member(0), member(1))}
        await pilot.press("enter")
        await until(pilot, lambda: "Not possible: " in screen_text(pilot))
        assert isinstance(pilot.app.screen, GuideScreen)
    assert fake.begun == []


async def test_nothing_that_does_not_run(fake: Fake) -> None:
    fake.devices = {"sdd2": ssd("sdd2")}
    async with console() as pilot:
        await at(pilot, Choice, "a")
        assert "no device has a superblock of an array that is not running" in screen_text(pilot)
        assert await closed(pilot, "enter", "escape") == "nothing was changed"


async def test_another_job_is_running(fake: Fake) -> None:
    fake.busy = "another job is running: job-0; wait for it, or cancel it"
    wreck(fake, "whole")
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "start")
        await at(pilot, PlanView, "enter")
        assert await closed(pilot, "y") == fake.busy


@pytest.mark.parametrize("keys", [("escape",), ("enter", "escape")])
async def test_leaving_before_anything_is_started(fake: Fake, keys: tuple[str, ...]) -> None:
    async with console() as pilot:
        await at(pilot, Choice, "a")
        for key in keys:
            before = pilot.app.screen
            await pilot.press(key)
            await until(pilot, lambda before=before: pilot.app.screen is not before)  # type: ignore[misc]
            await pilot.pause()
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert message_of(pilot) == "nothing was changed"
    assert fake.begun == []


# -- while it is read


def test_while_devices_are_read(shows: Shows) -> None:
    """Two devices have been read, one does not answer."""

    async def prepare(pilot: Paces) -> None:
        screen = GuideScreen("media")
        await pilot.app.push_screen(screen)
        survey = replace(
            plain_host(),
            devices={device.disk.name: device for device in disks(member(0), member(1))},
            pending=frozenset({"sdc2"}),
            silent={"sdd2": "it does not answer"},
        )
        [array] = diagnose(RescueFacts(survey=survey))
        screen.show_array(array, survey, "2 of 4 devices read …")
        await pilot.press("enter")  # it waits
        await pilot.pause()

    shows(staged(Kernel(raid10())), prepare=prepare)


def test_nothing_was_found_of_it(shows: Shows) -> None:
    async def prepare(pilot: Paces) -> None:
        screen = GuideScreen("media")
        await pilot.app.push_screen(screen)
        screen.show_array(None, plain_host(), "")
        await pilot.pause()

    shows(staged(Kernel(raid10())), prepare=prepare)
