"""Caches on the screen: their knobs in pane 4, and the dialog of key c in the stack."""

from __future__ import annotations

from raidtui.features.stack.screen.stack_screen import StackScreen
from raidtui.frame.choose import Choice
from raidtui.frame.plan_view import PlanView
from tests.features.tune.screen.tune_stage import opened, pictured
from tests.frame.staging import SIZES, Paces, Prepares, Shows, at, running, screen_text, staged, until
from tests.hosts.stack_host import STATUS_FILE
from tests.plans.test_caches import FILES, CacheHost


def host() -> CacheHost:
    """Dirty caches."""
    made = CacheHost()
    made.change(STATUS_FILE, " 295 0 3 metadata2", " 295 64 3 metadata2")
    made.put(f"{FILES}/state", "dirty\n")
    return made


async def dialog(pilot: Paces) -> Choice:
    """The dialog of key c, with its rows."""
    await pilot.press("down")
    found = await at(pilot, StackScreen, "v")
    await until(pilot, lambda: found.look is not None, "the first reading")
    choice = await at(pilot, Choice, "c")
    assert isinstance(choice, Choice)
    return choice


def offered(*keys: str) -> Prepares:
    """Return what opens the dialog, and presses keys in it, before a picture is taken."""

    async def prepare(pilot: Paces) -> None:
        await dialog(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return prepare


@SIZES
def test_the_dialog(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host()), size=size, prepare=offered())


@SIZES
def test_the_plan(shows: Shows, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await dialog(pilot)
        await at(pilot, PlanView, "down", "down", "down", "enter")

    shows(staged(host()), size=size, prepare=prepare)


@SIZES
def test_in_pane_4(shows: Shows, size: tuple[int, int]) -> None:
    """The row of LVM's cache is chosen; writeback on one disk is marked."""
    shows(staged(host()), size=size, prepare=pictured(*["down"] * 30))


async def test_a_writecache_is_offered() -> None:
    """Its last row detaches it and deletes its volume."""
    async with running(host()) as pilot:
        await dialog(pilot)
        await pilot.press(*["down"] * 9)
        await at(pilot, PlanView, "enter")
        await until(pilot, lambda: "lvconvert --yes --uncache vc/wslow" in screen_text(pilot))


async def test_without_caches() -> None:
    """The key is neither shown nor does it anything."""
    plain = host()
    for name in plain.names("/sys/class/block"):
        if name.startswith(("dm-", "bcache")):
            plain.drop(f"/sys/class/block/{name}")
    async with running(plain) as pilot:
        await pilot.press("down")
        found = await at(pilot, StackScreen, "v")
        await until(pilot, lambda: found.look is not None, "the first reading")
        await pilot.press("c")
        assert pilot.app.screen is found
        assert "c caches" not in screen_text(pilot)


async def test_no_sweep_changes_a_cache() -> None:
    async with running(host()) as pilot:
        await opened(pilot, *["down"] * 30, "t")
        await until(pilot, lambda: "a sweep does not change caches" in screen_text(pilot))
