"""The page of a disk that is exchanged: pictures of all that it says, and its keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace

from raidtui.features.pull.screen.pull_screen import PullScreen
from raidtui.features.pull.session import PullSession
from raidtui.frame.choose import Choice
from raidtui.jobs.states import JobState
from raidtui.model.answer import known
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    Paces,
    Prepares,
    Shows,
    app_of,
    at,
    in_worker,
    look,
    staged,
    until,
)
from tests.hosts.bays import MEDIA, NEW, SERIALS, TO_SDE, BayHost, filled, without

Does = Callable[[BayHost], None]


async def shown(pilot: Paces, head: str) -> PullScreen:
    """Wait until the page says so."""
    screen = pilot.app.screen
    assert isinstance(screen, PullScreen)
    await until(pilot, lambda: screen.look is not None and screen.look.words.head.startswith(head), head)
    await pilot.pause()
    return screen


def page(host: BayHost, *does: tuple[Does, str], name: str = "sdc") -> Prepares:
    """Let an exchange begin, open its page once the disk is out, and let things happen while it is open."""

    async def prepare(pilot: Paces) -> None:
        pulls = app_of(pilot).session.of(PullSession).pulls
        await in_worker(pilot, lambda: pulls.begin(host.record(name)))
        await in_worker(pilot, lambda: host.now(without(name, array=host.arrays["md125"])))
        await look(pilot)
        await at(pilot, PullScreen, "i")
        await shown(pilot, "Pull it now")
        for do, head in does:
            await in_worker(pilot, partial(do, host))
            await look(pilot)
            await shown(pilot, head)

    return prepare


RAID6 = replace(MEDIA, level="raid6", layout="ls6")
TWO_GONE = without("sdb", "sdc", array=RAID6)
Happens = tuple[Does, str]
RIGHT: Happens = (lambda host: host.pull("sdc", without("sdc")), "The right disk left")
WRONG: Happens = (lambda host: host.pull("sdb", TWO_GONE), "WRONG DISK")
FRESH: Happens = (lambda host: host.push("sdc", NEW, bay=3), "A new disk is there")
FILLING: Happens = (lambda host: host.now(filled("sdc", 2)), "md copies: 34.1 %")
DONE: Happens = (lambda host: host.now(MEDIA), "Done")


@SIZES
def test_pull_it_now(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    shows(staged(host), size=size, prepare=page(host))


@ALL_SIZES
def test_the_right_one_left(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    shows(staged(host), size=size, prepare=page(host, RIGHT))


@SIZES
def test_the_wrong_one_left(shows: Shows, size: tuple[int, int]) -> None:
    """A RAID-6 survives it."""
    host = BayHost(RAID6)
    shows(staged(host), size=size, prepare=page(host, WRONG))


@SIZES
def test_the_wrong_one_left_and_the_array_is_down(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    down: Happens = (
        lambda host: host.pull("sdb", replace(without("sdb", "sdc"), array_state="broken")),
        "WRONG DISK",
    )
    shows(staged(host), size=size, prepare=page(host, down))


@SIZES
def test_the_wrong_one_is_back(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost(RAID6)
    back: Happens = (lambda host: host.push("sdf", SERIALS["sdb"], TWO_GONE, bay=2), "It is there, and out")
    shows(staged(host), size=size, prepare=page(host, WRONG, back))


@SIZES
def test_a_new_disk_is_there(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    shows(staged(host), size=size, prepare=page(host, RIGHT, FRESH))


@SIZES
def test_the_copy_runs(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    shows(staged(host), size=size, prepare=page(host, RIGHT, FRESH, FILLING))


def closed_page(host: BayHost) -> Prepares:
    """Its last page, with what the boot check has found."""
    whole = page(host, RIGHT, FRESH, FILLING, DONE)

    async def prepare(pilot: Paces) -> None:
        await whole(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, PullScreen)
        await until(pilot, lambda: screen.look is not None and screen.look.boot is not None, "the boot check")
        await pilot.pause()

    return prepare


@SIZES
def test_done(shows: Shows, size: tuple[int, int]) -> None:
    """And the machine boots without any one of its disks."""
    host = BayHost()
    host.keep_boot()
    shows(staged(host), size=size, prepare=closed_page(host))


@SIZES
def test_done_and_it_does_not_boot(shows: Shows, size: tuple[int, int]) -> None:
    """The new disk has no boot code, and a line of fstab wants another disk."""
    host = BayHost()
    host.keep_boot(without_loader=("sdc",), lines=(TO_SDE,))
    shows(staged(host), size=size, prepare=closed_page(host))


@SIZES
def test_done_and_whether_it_boots_cannot_be_told(shows: Shows, size: tuple[int, int]) -> None:
    host = BayHost()
    shows(staged(host), size=size, prepare=closed_page(host))


def test_the_former_disk_is_pushed_back(shows: Shows) -> None:
    host = BayHost()
    back: Happens = (lambda host: host.push("sdc", SERIALS["sdc"], bay=3), "This is the disk that was pulled")
    shows(staged(host), prepare=page(host, RIGHT, back))


@SIZES
def test_md_has_taken_it_back(shows: Shows, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its job had ended well: it was out of the array, and is a member again."""
    monkeypatch.setattr("raidtui.features.pull.session._states", lambda *_: {"job-7": JobState.DONE})
    host = BayHost()

    async def prepare(pilot: Paces) -> None:
        record = replace(host.record("sdc"), out_job="job-7")
        await in_worker(pilot, lambda: app_of(pilot).session.of(PullSession).pulls.begin(record))
        await at(pilot, PullScreen, "i")
        await shown(pilot, "Do not pull: it is in service again")

    shows(staged(host), size=size, prepare=prepare)


@SIZES
def test_nothing_has_begun(shows: Shows, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Mdadm is there, of which a host in memory knows nothing."""
    monkeypatch.setattr("raidtui.host.examine.read_mdadm_version", lambda _: known((4, 2)))
    host = BayHost()

    async def prepare(pilot: Paces) -> None:
        await at(pilot, Choice, "i")
        await at(pilot, PullScreen, "down", "down", "enter")

    shows(staged(host), size=size, prepare=prepare)
