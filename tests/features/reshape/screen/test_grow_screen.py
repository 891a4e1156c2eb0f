"""Key G: another shape for an array: what is chosen, its plan below, and the way to the review."""

from __future__ import annotations

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_draft import GrowAim, GrowDraft
from raidtui.features.reshape.screen.grow_screen import GrowScreen
from raidtui.frame.pages import WhyScreen
from raidtui.model.plan import Plan
from raidtui.model.survey import Survey
from tests.features.create.screen.test_forms_open import slow
from tests.features.create.screen.test_wizard import pressing
from tests.frame.staging import SIZES, SMALL, Shows, at, message_of, running, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid5
from tests.plans.new_array import MOUNT, device
from tests.plans.running import BIG, first
from tests.plans.test_grow import NEW, RAID5, grown
from tests.plans.test_grow_draft import under_lvm

OTHER = device("sdy", size_bytes=BIG)
USED = device("sdx", MOUNT, size_bytes=BIG)


def page(survey: Survey, draft: GrowDraft | None = None) -> GrowScreen:
    """The page, when all has been read."""
    made = GrowScreen(survey, first(survey), draft)
    made.show_survey(survey, "", ready=True)
    return made


def shown(
    shows: Shows, survey: Survey, *keys: str, draft: GrowDraft | None = None, size: tuple[int, int] = SMALL
) -> None:
    """Show the page after some keys."""
    shows(staged(Kernel(RAID5)), size=size, prepare=pressing(lambda: page(survey, draft), *keys))


@SIZES
def test_more_devices(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, grown(RAID5, NEW, OTHER, USED), "down", "down", "space", size=size)


@SIZES
def test_a_spare_and_a_volume(shows: Shows, size: tuple[int, int]) -> None:
    spec = raid5(spares=("sdj",))
    survey = under_lvm(grown(spec, NEW, device("sdj", size_bytes=BIG)), "vg0-my--data")
    keys = ("down", "down", "down", "right", "down", "space")
    shows(staged(Kernel(spec)), size=size, prepare=pressing(lambda: page(survey), *keys))


def test_nothing_is_chosen_yet(shows: Shows) -> None:
    shown(shows, grown(RAID5, NEW, USED))


@SIZES
def test_several_stages_as_one_plan(shows: Shows, size: tuple[int, int]) -> None:
    mirror = raid1(members=("sdg", "sdh"))
    keys = ("right", "right", "right", "down", "right", "right", *("down",) * 3, "space", "down", "space")
    shown(shows, grown(mirror, NEW, OTHER), *keys, size=size)


def test_another_chunk(shows: Shows) -> None:
    shown(shows, grown(RAID5, NEW), draft=GrowDraft(aim=GrowAim.CHUNK, value="64"))


async def test_every_aim_is_reached_and_each_key_keeps_the_page_whole() -> None:
    """Keys alone: all aims with all of their values, and the plan or the reason below each."""
    survey = grown(RAID5, NEW, OTHER)
    async with running(Kernel(RAID5)) as pilot:
        made = page(survey)
        await pilot.app.push_screen(made)
        seen: dict[GrowAim, set[str]] = {}
        for _ in GrowAim:
            first_value = made.draft.value
            while True:
                assert isinstance(made.plan(), Plan) or "not possible: " in screen_text(pilot)
                seen.setdefault(made.draft.aim, set()).add(made.draft.value)
                await pilot.press("down", "right", "up")
                if made.draft.value in {first_value, ""}:
                    break
            await pilot.press("right")
            await pilot.pause()
        assert set(seen) == set(GrowAim)
        assert seen[GrowAim.LEVEL] == {"raid0", "raid6", "raid10"}
        assert seen[GrowAim.FEWER] == {"2", "1"}


async def test_enter_leads_on_only_where_there_is_a_plan() -> None:
    survey = grown(RAID5, NEW)
    given: list[GrowDraft | None] = []
    async with running(Kernel(RAID5)) as pilot:
        await pilot.app.push_screen(page(survey), given.append)
        await pilot.press("enter")
        assert given == []
        await pilot.press("down", "down", "space", "enter")
        await until(pilot, lambda: bool(given), "the page is left")
    assert given == [GrowDraft(devices=("sdz",))]


async def test_why() -> None:
    async with running(Kernel(RAID5)) as pilot:
        await pilot.app.push_screen(page(grown(RAID5, NEW)))
        await at(pilot, WhyScreen, "question_mark")
        assert "A reshape continues after a reboot" in screen_text(pilot)


async def test_the_key_opens_it_and_esc_leaves_it() -> None:
    with slow(raid5()) as host:
        async with running(host) as pilot:
            found = await at(pilot, GrowScreen, "G")
            assert "more devices" in screen_text(pilot)
            assert isinstance(found, GrowScreen)
            await pilot.press("escape")
            host.answers.set()
            await until(pilot, lambda: message_of(pilot) == "nothing was changed", "it is left")


async def test_enter_waits_for_what_is_read() -> None:
    survey = grown(RAID5, NEW, OTHER)
    async with running(Kernel(RAID5)) as pilot:
        made = GrowScreen(survey, first(survey))
        await pilot.app.push_screen(made)
        await pilot.press("down", "down", "space", "enter")
        assert made.is_current
        made.show_survey(survey, "", ready=True)
        await until(pilot, lambda: not made.is_current, "Enter was held until all had been read")


PLACES = {
    "": BackupPlace(path="/root/reshape-md127.backup", where="/", kind="ext4"),
    "/run/x": BackupPlace(path="/run/x", where="/run", kind="tmpfs"),
    "/none/x": BackupPlace(path="/none/x", why_not="there is no folder /none"),
}


async def look(path: str, survey: Survey) -> BackupPlace:
    """Find a place; "" proposes one."""
    del survey
    return PLACES[path]


def short_page() -> GrowScreen:
    """The page of an array without room beside its data; a device is taken."""
    survey = grown(RAID5, NEW, room=0)
    made = GrowScreen(survey, first(survey), GrowDraft(devices=("sdz",)), places=look)
    made.show_survey(survey, "", ready=True)
    return made


@SIZES
def test_a_backup_file_is_proposed(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(RAID5)), size=size, prepare=pressing(short_page, "down", "down"))


@SIZES
def test_a_place_that_will_not_do(shows: Shows, size: tuple[int, int]) -> None:
    keys = ("down", "down", "space", "ctrl+u", *"/run/x", "enter")
    shows(staged(Kernel(RAID5)), size=size, prepare=pressing(short_page, *keys))


async def test_the_backup_file_is_typed_and_its_fault_stands_beside_it() -> None:
    given: list[GrowDraft | None] = []
    async with running(Kernel(RAID5)) as pilot:
        made = short_page()
        await pilot.app.push_screen(made, given.append)
        await until(pilot, lambda: "/root/reshape-md127.backup" in screen_text(pilot), "it is proposed")
        assert isinstance(made.plan(), Plan)
        await pilot.press("down", "down", "space", "ctrl+u", *"/none/x", "enter")
        await until(
            pilot, lambda: "[ /none/x ]   there is no folder /none" in screen_text(pilot), "its fault"
        )
        await pilot.press("enter")
        assert made.is_current
        await pilot.press("space", *"yz", "escape")
        assert "/none/xyz" not in screen_text(pilot)
        assert made.is_current
        await pilot.press("space", "ctrl+u", *"/run/x", "enter")
        await until(pilot, lambda: "/run is in memory: after a crash" in screen_text(pilot), "its fault")
        await pilot.press("space", "ctrl+u", "enter")
        await until(pilot, lambda: isinstance(made.plan(), Plan), "it is proposed again")
        await pilot.press("enter")
        await until(pilot, lambda: bool(given), "the page is left")
    assert given == [GrowDraft(devices=("sdz",), backup=PLACES[""])]


async def test_less_of_each_is_typed() -> None:
    survey = grown(RAID5)
    given: list[GrowDraft | None] = []
    async with running(Kernel(RAID5)) as pilot:
        made = page(survey, GrowDraft(aim=GrowAim.LESS))
        await pilot.app.push_screen(made, given.append)
        await pilot.press("down", "space", "ctrl+u", *"many", "enter", "enter")
        assert made.is_current
        assert "not a size; use 900M or 1.5T" in screen_text(pilot)
        await pilot.press("space", "ctrl+u", *"64M", "enter", "enter")
        await until(pilot, lambda: bool(given), "the page is left")
    assert given == [GrowDraft(aim=GrowAim.LESS, size="64M")]


async def test_the_cursor_stays_where_it_is_when_a_row_comes() -> None:
    survey = grown(RAID5, NEW, OTHER, room=0)
    async with running(Kernel(RAID5)) as pilot:
        await pilot.app.push_screen(page(survey))
        await pilot.press("down", "down", "space")
        await until(pilot, lambda: "backup file" in screen_text(pilot), "it is asked for")
        assert "▸[ 1 ]" in screen_text(pilot)
        await pilot.press("space")
        assert "backup file" not in screen_text(pilot)
        assert "▸[   ]" in screen_text(pilot)
