"""Key v: what stands on the chosen array, with the load of each layer, and the way back."""

from __future__ import annotations

import pytest

from raidtui.features.stack.screen import stack_screen
from raidtui.features.stack.screen.stack_screen import StackScreen
from tests.features.wear.screen.test_wear import HEALTHY
from tests.features.wear.screen.test_wear import host as worn_host
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    SMALL,
    WIDE,
    Paces,
    Prepares,
    Shows,
    at,
    in_worker,
    main_of,
    running,
    screen_text,
    staged,
    until,
)
from tests.hosts.stack_host import STATUS_FILE, StackHost

IDLE = (0, 0, 0, 0)
FLOW = {
    "dm-0": (4000, 32_000, 900, 14_400),
    "dm-4": (3600, 28_800, 400, 6400),
    "dm-6": (400, 3200, 500, 8000),
    "md20": (500, 4200, 1500, 190_000),
    "ubda": (170, 1400, 700, 95_000),
    "ubdb": (170, 1400, 700, 95_000),
    "ubdc": (160, 1400, 700, 95_000),
    "md21": (40, 320, 60, 9600),
    "ubdf": (3600, 28_800, 420, 6500),
    "dm-9": (0, 0, 1450, 185_000),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page reads again as soon as it can."""
    monkeypatch.setattr(stack_screen, "EVERY_S", 0.01)


async def page(pilot: Paces, *keys: str) -> StackScreen:
    """Open the page of the RAID 5, which is the second array, and wait for its first reading."""
    await pilot.press("down")
    found = await at(pilot, StackScreen, *keys, "v")
    assert isinstance(found, StackScreen)
    await until(pilot, lambda: found.look is not None, "the first reading")
    return found


async def after_work(pilot: Paces, host: StackHost, shown: StackScreen) -> None:
    """Let ten seconds pass on the host, and wait until they are seen."""
    await in_worker(pilot, lambda: host.work(10.0, FLOW))
    await until(pilot, lambda: shown.look is not None and shown.look.meter.over_s(10.0) == 10.0)
    await pilot.pause()


def busy(host: StackHost, *keys: str) -> Prepares:
    """Open the page, let the host work, press keys."""

    async def prepare(pilot: Paces) -> None:
        await after_work(pilot, host, await page(pilot))
        await pilot.press(*keys)
        await pilot.pause()

    return prepare


@ALL_SIZES
def test_of_an_array(shows: Shows, size: tuple[int, int]) -> None:
    host = StackHost()
    shows(staged(host), size=size, prepare=busy(host))


@SIZES
def test_the_end_of_it(shows: Shows, size: tuple[int, int]) -> None:
    host = StackHost()
    shows(staged(host), size=size, prepare=busy(host, *["pagedown"] * 9))


def test_all_devices(shows: Shows) -> None:
    host = StackHost()
    shows(staged(host), size=WIDE, prepare=busy(host, "a"))


async def test_there_and_back() -> None:
    host = StackHost()
    async with running(host, size=WIDE) as pilot:
        shown = await page(pilot)
        assert "Stack of md20" in screen_text(pilot)
        assert "/mnt/s" in screen_text(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "Stack of" not in screen_text(pilot))
        assert "bcache0" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is not shown)
        assert pilot.app.screen is main_of(pilot)


async def test_it_follows_the_host() -> None:
    """A figure changes as the host's does."""
    host = StackHost()
    async with running(host, size=WIDE) as pilot:
        shown = await page(pilot)
        assert "9.7 MB" not in screen_text(pilot)
        await after_work(pilot, host, shown)
        await until(pilot, lambda: "9.7 MB" in screen_text(pilot), "the writes of md20")


async def test_a_host_without_volumes_says_what_there_is() -> None:
    host = StackHost()
    for name in host.names("/sys/class/block"):
        if name.startswith(("dm-", "bcache")):
            host.drop(f"/sys/class/block/{name}")
    async with running(host, size=SMALL) as pilot:
        await page(pilot)
        assert "raid" in screen_text(pilot)


async def test_a_tool_that_says_nothing() -> None:
    host = StackHost()
    host.drop(STATUS_FILE)
    async with running(host, size=WIDE) as pilot:
        await page(pilot)
        await pilot.press(*["pagedown"] * 9)
        await until(pilot, lambda: "its answer is not known" in screen_text(pilot))


async def test_of_the_disk_that_is_chosen_in_wear() -> None:
    """Pane 3 has disks: the page begins with the chosen one."""
    async with running(worn_host(HEALTHY), size=SMALL) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: main_of(pilot).in_view.device == "sda", "a disk is chosen")
        await at(pilot, StackScreen, "v")
        await until(pilot, lambda: "Stack of sda" in screen_text(pilot))
        await until(pilot, lambda: "sda2" in screen_text(pilot))
