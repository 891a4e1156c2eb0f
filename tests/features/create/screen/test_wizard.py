"""The wizard: a picture of each step, and what each key does in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.create.screen.wizard_screen import TITLE, WizardScreen
from raidtui.frame.pages import FrameScreen, WhyScreen
from raidtui.frame.plan_view import PlanView
from raidtui.model.plan import Plan
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.plans.wizard.wizard_steps import STEPS
from tests.frame.machines import OLD, host, plain_host, ssd
from tests.frame.staging import ALL_SIZES, SIZES, SMALL, Paces, Shows, running, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid5, raid10
from tests.plans.new_array import FOUR, MOUNT, UUID, survey

FIRST_FOUR = ("space", "down") * 4
TEN = WizardDraft(devices=FOUR, level="raid10", layout="n2", chunk_kib=32, bitmap="none")
FIVE = WizardDraft(devices=FOUR, level="raid5", chunk_kib=64)
ON_TOP = replace(TEN, on_top="lvm+ext4", mount="/srv/data")


def pressing(make: Callable[[], FrameScreen[Any]], *keys: str) -> Callable[[Paces], Any]:
    """Open a screen and press keys."""

    async def prepare(pilot: Paces) -> None:
        await pilot.app.push_screen(make())
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    return prepare


def shown(
    shows: Shows,
    step: str,
    draft: WizardDraft | None = None,
    *keys: str,
    size: tuple[int, int] = SMALL,
    at: Any = None,
) -> None:
    """Show a step."""
    make = lambda: WizardScreen(at or plain_host(), draft, step=step)  # noqa: E731
    shows(staged(Kernel(raid10())), size=size, prepare=pressing(make, *keys))


# -- pictures


@SIZES
def test_devices(shows: Shows, size: tuple[int, int]) -> None:
    keys = (*("space", "down") * 2, "down", "space", "down", "space", "space", "up", "up", "up")
    shown(shows, "devices", None, *keys, size=size, at=host())


def test_device_that_cannot_be_taken(shows: Shows) -> None:
    shown(shows, "devices", None, *["down"] * 5, at=host())


def test_devices_and_empty_slots(shows: Shows) -> None:
    shown(shows, "devices", None, "space", "down", "space", "end", "right", "right")


def test_many_devices(shows: Shows) -> None:
    many = survey(*(ssd(f"sd{letter}{part}") for letter in "abcdefghijkl" for part in (2, 3)))
    shown(shows, "devices", WizardDraft(devices=FOUR), *["down"] * 15, at=many)


def test_no_devices(shows: Shows) -> None:
    shown(shows, "devices", None, "enter", at=replace(survey(), devices={}))


@SIZES
def test_old_arrays(shows: Shows, size: tuple[int, int]) -> None:
    draft = WizardDraft(devices=("sda2", "sdb2", "sdc2"))
    shown(shows, "old arrays", draft, *"new", "enter", size=size, at=host())


@SIZES
def test_disks(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "disks", WizardDraft(devices=("sde", "sdf")), size=size)


@SIZES
def test_level(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "level", WizardDraft(devices=FOUR), size=size)


def test_level_with_the_longest_note(shows: Shows) -> None:
    shown(shows, "level", WizardDraft(devices=FOUR), "down", "down", "down")


def test_level_refused(shows: Shows) -> None:
    shown(shows, "level", WizardDraft(devices=FOUR[:2], spares=("sde",)), *["down"] * 5)


@SIZES
def test_chunk(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "chunk", replace(TEN, chunk_kib=0), size=size)


@SIZES
def test_bitmap(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "bitmap", FIVE, size=size)


def test_journal(shows: Shows) -> None:
    shown(shows, "bitmap", replace(FIVE, devices=FOUR[:3], journal="sdd2"))


@SIZES
def test_more(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "more", TEN, "left", "down", "down", "space", size=size)


def test_more_of_a_mirror(shows: Shows) -> None:
    draft = WizardDraft(devices=FOUR[:2], level="raid1", bitmap="none")
    shown(shows, "more", draft, "down", "down", "space", "down", "space", "enter")


@SIZES
def test_on_top(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "on top", TEN, "down", "down", "down", size=size)


@SIZES
def test_mount(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "mount", replace(TEN, on_top="ext4"), *"srv", "enter", size=size)


@SIZES
def test_volume(shows: Shows, size: tuple[int, int]) -> None:
    devices = (*(ssd(name) for name in (*FOUR, "sde", "md9")), ssd("sdf", MOUNT))
    there = survey(*devices, arrays=(raid5("md9"),), systemd=True, trim_timer="disabled")
    shown(shows, "volume", ON_TOP, "down", "down", "space", "down", "space", size=size, at=there)


@SIZES
def test_name(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "name", ON_TOP, *"127", "enter", size=size, at=plain_host(arrays=(raid10(),)))


def test_smallest(shows: Shows) -> None:
    shown(shows, "level", WizardDraft(devices=FOUR), size=(60, 15))


def review() -> PlanView:
    """The plan of a draft with everything in it."""
    draft = replace(
        ON_TOP, devices=("sda2", "sdb2", "sdc2", "sde"), disks="10", destroys=("old",), name="127"
    )
    made = plan_draft(draft, host(), UUID, "3e6be9de-8139-4e8b-9106-a43f08d823a6")
    assert isinstance(made, Plan), made
    return PlanView(made, host().devices, title=f"{TITLE}: 127", right="step 11 of 11: review")


@ALL_SIZES
def test_review(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(raid10())), size=size, prepare=pressing(review))


def test_review_end(shows: Shows) -> None:
    shows(staged(Kernel(raid10())), prepare=pressing(review, *["pagedown"] * 5, *"127"))


@SIZES
def test_why(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "chunk", TEN, "question_mark", *["pagedown"] * (size == SMALL), size=size)


# -- keys


async def given(make: Callable[[], FrameScreen[Any]], *keys: str) -> list[Any]:
    """What a screen gives when it closes after these keys; nothing while it stays."""
    results: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(make(), results.append)
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
    return results


TAKE = ("enter",)
WHOLE = replace(ON_TOP, on_top="xfs", mount="/srv", name="128")


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter",), []),  # no device yet
        (("escape",), [None]),
        (("space", "enter", "escape", "escape"), [None]),
        (  # devices, raid10 near 2, 32 KiB, none, more, XFS, /srv, volume, name
            (*FIRST_FOUR, *TAKE * 5, *("down", "down", *TAKE, *"/srv", *TAKE), *TAKE, *"128", *TAKE),
            [WHOLE],
        ),
        (  # the same by letters
            (*("space", "j") * 4, *TAKE * 5, *("j", "j", *TAKE, *"/srv", *TAKE), *TAKE, *"128", *TAKE),
            [WHOLE],
        ),
        (  # raid1, internal, more, nothing
            (*FIRST_FOUR[:4], *TAKE, *TAKE, "down", *TAKE, *TAKE, *TAKE, *"data", *TAKE),
            [WizardDraft(devices=FOUR[:2], level="raid1", bitmap="internal", on_top="nothing", name="data")],
        ),
        (  # back to the level: what was decided on top of it is undecided again
            (*FIRST_FOUR, *TAKE, *TAKE, "end", *TAKE, *("escape",) * 2, "home", *TAKE * 4, "1", *TAKE),
            [WizardDraft(devices=FOUR, level="raid1", bitmap="none", on_top="nothing", name="1")],
        ),
        (  # back and forth: what was decided stays
            (*FIRST_FOUR, *TAKE, *TAKE, "end", *TAKE, *("escape",) * 2, *TAKE * 5, "1", *TAKE),
            [replace(TEN, chunk_kib=2048, on_top="nothing", name="1")],
        ),
        (  # a spare, a journal, an empty slot: raid5 is the first that can be
            (
                *FIRST_FOUR[:4],
                *("space", "space", "down", "left", "end", "right"),
                *(*TAKE * 6, "1", *TAKE),
            ),
            [
                WizardDraft(
                    devices=FOUR[:2],
                    spares=("sdc2",),
                    journal="sdd2",
                    empty=1,
                    level="raid5",
                    chunk_kib=64,
                    bitmap="none",
                    policy="journal",
                    on_top="nothing",
                    name="1",
                )
            ],
        ),
        (  # what is typed is text, whatever else its letters do elsewhere
            (*FIRST_FOUR[:4], *TAKE * 5, *"hjklq7", *TAKE),
            [WizardDraft(devices=FOUR[:2], level="raid1", bitmap="none", on_top="nothing", name="hjklq7")],
        ),
    ],
)
async def test_building(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(lambda: WizardScreen(plain_host()), *keys) == result


@pytest.mark.parametrize(
    ("keys", "draft"),
    [
        (("space",), WizardDraft(devices=("sda2",))),
        (("space", "space"), WizardDraft(spares=("sda2",))),
        (("left",), WizardDraft(journal="sda2")),
        (("left", "right"), WizardDraft()),
        (("space",) * 4, WizardDraft()),
        (("end", "space", "right", "right", "left"), WizardDraft(empty=2)),
        (("end", "left"), WizardDraft()),
        (("pagedown", "up", "space"), WizardDraft(devices=("sdf",))),
    ],
)
async def test_what_devices_become(keys: tuple[str, ...], draft: WizardDraft) -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(plain_host())
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press(*keys)
        assert screen.draft == draft


async def test_a_device_that_is_used_is_not_taken() -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(host())
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press("end", "up", "space", "right", "enter")
        assert screen.draft == WizardDraft()
        assert "choose at least one device with Space" in screen_text(pilot)


async def test_an_old_array_is_given_up_by_its_name() -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(host(), WizardDraft(devices=("sdb2", "sdc2")))
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press("enter", "enter")
        assert screen.step == "old arrays"
        assert "no name was typed; type old, or go back and" in screen_text(pilot)
        await pilot.press(*"old", "enter")
        assert (screen.step, screen.draft.destroys) == ("level", ("old",))
        await pilot.press("escape")
        assert "old will be destroyed. Enter continues." in screen_text(pilot)
        await pilot.press("enter")
        assert (screen.step, screen.draft.destroys) == ("level", ("old",))


async def test_an_old_array_may_have_any_name() -> None:
    odd = ssd("sda2", superblock=replace(OLD, name="nas:who is it?"))
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(survey(odd), WizardDraft(devices=("sda2",)), step="old arrays")
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press(*"who", "space", *"is", "space", *"it", "question_mark")
        assert "> who is it?" in screen_text(pilot)
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(pilot.app.screen, WhyScreen)
        await pilot.press("escape", "enter")
        assert screen.draft.destroys == ("who is it?",)


async def test_another_size() -> None:
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(WizardScreen(plain_host(), WizardDraft(devices=FOUR), step="level"))
        await pilot.pause()
        assert "devices   sda2 sdb2" in screen_text(pilot)
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: "devices   " not in screen_text(pilot))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "devices   sda2 sdb2 sdc2 sdd2" in screen_text(pilot))


async def test_one_does_not_go_on_with_what_cannot_be() -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(
            plain_host(), WizardDraft(devices=FOUR[:2], level="raid1", write_mostly=FOUR[:2]), step="more"
        )
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press("enter")
        assert screen.step == "more"
        assert "all members would be write-mostly; omit one of them" in screen_text(pilot)


@pytest.mark.parametrize("step", [step for step in STEPS if step != "old arrays"])
async def test_a_page_behind_each_step(step: str) -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(plain_host(), replace(ON_TOP, devices=(*FOUR, "sde")), step=step)
        pilot.app.push_screen(screen)
        await pilot.pause()
        for key in ("question_mark", "f1"):
            await pilot.press(key)
            await pilot.pause()
            shown = pilot.app.screen
            assert isinstance(shown, WhyScreen)
            assert f"Build an array: {step}" in screen_text(pilot)
            await pilot.press("j", "pagedown", "up", "k", "escape")
            assert pilot.app.screen == screen
            assert screen.step == step


# -- many devices


def listed(pilot: Paces) -> list[str]:
    """The devices in the list, each without its marks."""
    lines = screen_text(pilot).split("\n")
    head = next(number for number, line in enumerate(lines) if "what is on it" in line)
    rows = [
        line.split("]", 1)[1].split() for line in lines[head + 1 :] if line.strip().startswith(("[", "▸["))
    ]
    return [row[0] for row in rows]


async def test_the_devices_are_filtered() -> None:
    many = survey(*(ssd(f"sd{letter}{part}") for letter in "abcdefghijkl" for part in (2, 3)))
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(many)
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press("slash", *"sdk")
        assert listed(pilot) == ["sdk2", "sdk3"]
        assert "/ sdk▏" in screen_text(pilot)
        await pilot.press("enter", "space", "down", "space")
        assert screen.draft.devices == ("sdk2", "sdk3")
        await pilot.press("slash", *"zz")
        assert "No such device." in screen_text(pilot)
        await pilot.press("space", "escape")  # Esc lists all again, and leaves nothing
        assert pilot.app.screen is screen
        assert listed(pilot)[0] == "sda2"
        assert screen.draft.devices == ("sdk2", "sdk3")
        await pilot.press("enter")
        assert screen.step == "level"


async def test_only_what_can_be_taken_is_listed() -> None:
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(WizardScreen(host()))
        await pilot.pause()
        assert "sdf" in listed(pilot)
        await pilot.press("f")
        assert "sdf" not in listed(pilot)
        assert "sda2" in listed(pilot)
        await pilot.press("f")
        assert "sdf" in listed(pilot)


async def test_a_path_is_typed_with_its_slashes() -> None:
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(WizardScreen(plain_host(), replace(ON_TOP, mount=""), step="mount"))
        await pilot.pause()
        await pilot.press("slash", "f")
        assert "> /f" in screen_text(pilot)
