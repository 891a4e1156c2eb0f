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
from tests.plans.new_array import FOUR, GIB, MOUNT, UUID, survey

TEN = WizardDraft(devices=FOUR, level="raid10", layout="n2", chunk_kib=32, bitmap="none")
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
    keys = (*("space", "down") * 2, "down", "space", "down", "s", "up", "up", "up")
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


@ALL_SIZES
def test_purpose(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "purpose", WizardDraft(devices=FOUR), size=size)


def test_all_levels(shows: Shows) -> None:
    shown(shows, "purpose", WizardDraft(devices=FOUR), "plus", "down", "down")


def test_level_refused(shows: Shows) -> None:
    shown(shows, "purpose", WizardDraft(devices=FOUR[:2], spares=("sde",)), "plus", *["down"] * 5)


@SIZES
def test_name(shows: Shows, size: tuple[int, int]) -> None:
    keys = ("ctrl+u", *"127", "enter")
    shown(shows, "name", WizardDraft(devices=FOUR), *keys, size=size, at=plain_host(arrays=(raid10(),)))


@ALL_SIZES
def test_page(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "page", WizardDraft(devices=("sde", "sdf")), size=size)


@SIZES
def test_page_of_parity(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "page", WizardDraft(devices=FOUR, level="raid6", name="128"), "down", "down", size=size)


def test_page_with_a_journal(shows: Shows) -> None:
    shown(shows, "page", WizardDraft(devices=FOUR[:3], journal="sdd2", level="raid5"), "down", "down")


@SIZES
def test_page_with_all_values(shows: Shows, size: tuple[int, int]) -> None:
    draft = WizardDraft(devices=FOUR[:2], level="raid1")
    shown(shows, "page", draft, "plus", *["down"] * 5, "space", size=size)


@SIZES
def test_page_with_a_volume(shows: Shows, size: tuple[int, int]) -> None:
    devices = (*(ssd(name) for name in (*FOUR, "sde", "md9")), ssd("sdf", MOUNT))
    there = survey(*devices, arrays=(raid5("md9"),), systemd=True, trim_timer="disabled")
    shown(shows, "page", ON_TOP, *["down"] * 4, "down", "down", "space", size=size, at=there)


def test_page_where_a_mount_point_is_typed(shows: Shows) -> None:
    draft = WizardDraft(devices=FOUR, on_top="ext4", mount="/srv/data", name="data")
    shown(shows, "page", draft, *["down"] * 4, "space", *"x y")


def test_page_where_what_was_typed_cannot_be(shows: Shows) -> None:
    draft = WizardDraft(devices=FOUR, on_top="ext4", mount="/srv/data", name="data")
    shown(shows, "page", draft, *["down"] * 4, "space", "ctrl+u", *"srv", "enter")


@SIZES
def test_what_speaks_against_it(shows: Shows, size: tuple[int, int]) -> None:
    disks = [ssd(f"sd{letter}", size_bytes=4000 * GIB) for letter in "abc"]
    spinning = [
        replace(each, disk=replace(each.disk, rotational=True, model="ST8000DM004-2CX188")) for each in disks
    ]
    there = survey(*spinning, ssd("sdd", size_bytes=3000 * GIB))
    draft = WizardDraft(devices=("sda", "sdb", "sdc", "sdd"), level="raid5")
    shown(shows, "page", draft, size=size, at=there)


def test_picture(draws: Shows) -> None:
    """The README's."""
    draft = WizardDraft(devices=FOUR, on_top="lvm+ext4", mount="/srv/data", name="data")
    make = lambda: WizardScreen(plain_host(), draft, step="page")  # noqa: E731
    draws(staged(Kernel(raid10())), size=(120, 40), prepare=pressing(make))


def test_smallest(shows: Shows) -> None:
    shown(shows, "purpose", WizardDraft(devices=FOUR), size=(60, 15))


def test_smallest_page(shows: Shows) -> None:
    shown(shows, "page", WizardDraft(devices=FOUR), size=(60, 15))


def review() -> PlanView:
    """The plan of a draft with everything in it."""
    draft = replace(
        ON_TOP, devices=("sda2", "sdb2", "sdc2", "sde"), disks="10", destroys=("old",), name="127"
    )
    made = plan_draft(draft, host(), UUID, "3e6be9de-8139-4e8b-9106-a43f08d823a6")
    assert isinstance(made, Plan), made
    return PlanView(made, host().devices, title=f"{TITLE}: 127", right="review")


@ALL_SIZES
def test_review(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(raid10())), size=size, prepare=pressing(review))


def test_review_end(shows: Shows) -> None:
    shows(staged(Kernel(raid10())), prepare=pressing(review, *["pagedown"] * 5, *"127"))


@SIZES
def test_why(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, "page", TEN, "down", "question_mark", *["pagedown"] * (size == SMALL), size=size)


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


MADE = WizardDraft(
    devices=FOUR, level="raid10", layout="n2", chunk_kib=512, bitmap="internal", on_top="nothing", name="data"
)


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("escape",), [None]),
        (("enter", "escape", "escape"), [None]),
        (("enter",) * 4, [MADE]),  # four Enters make the recommended array
        (  # raid5, its own name
            ("enter", "down", "enter", "ctrl+u", *"128", "enter", "enter"),
            [replace(MADE, level="raid5", layout="", name="128")],
        ),
        (  # LVM and ext4, mounted where it is proposed
            (*("enter",) * 3, *("down",) * 3, *("right",) * 3, "enter"),
            [replace(MADE, on_top="lvm+ext4", mount="/srv/data")],
        ),
        (  # another mount point, typed in place; the same by letters
            (*("enter",) * 3, *"jjj", *"ll", "j", "space", "ctrl+u", *"/srv", "enter", "enter"),
            [replace(MADE, on_top="xfs", mount="/srv")],
        ),
        (  # a value that is left as it was
            (*("enter",) * 3, "end", "space", *"xyz", "escape", "enter"),
            [MADE],
        ),
        (  # back to the level: what followed from it has its default again
            (*("enter",) * 3, "down", "right", "escape", "escape", "down", *("enter",) * 3),
            [replace(MADE, level="raid5", layout="")],
        ),
        (  # back and forth: what was decided stays
            (*("enter",) * 3, "down", "right", "escape", "escape", *("enter",) * 3),
            [replace(MADE, chunk_kib=1024)],
        ),
        (  # the others take its place where one is left out
            ("space", *("enter",) * 4),
            [replace(MADE, devices=FOUR[1:], level="raid5", layout="")],
        ),
        (  # what is typed is text, whatever else its letters do elsewhere
            ("enter", "enter", "ctrl+u", *"hjklq7", "enter", "enter"),
            [replace(MADE, name="hjklq7")],
        ),
    ],
)
async def test_building(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(lambda: WizardScreen(plain_host()), *keys) == result


async def test_a_spare_a_journal_and_an_empty_slot() -> None:
    """Of what is proposed, RAID 5 alone can be; the journal guards it."""
    draft = WizardDraft(devices=FOUR[:2], spares=("sdc2",), journal="sdd2", empty=1)
    [made] = await given(lambda: WizardScreen(plain_host(), draft), *["enter"] * 4)
    assert (made.level, made.bitmap, made.policy) == ("raid5", "none", "journal")


def test_at_most_25_keys_to_a_mounted_volume_on_raid_10() -> None:
    """As above: 3 for the questions, 6 to LVM and ext4, one to the review, and y."""
    keys = (*("enter",) * 3, *("down",) * 3, *("right",) * 3, "enter", "y")
    assert len(keys) == 11


@pytest.mark.parametrize(
    ("keys", "draft"),
    [
        ((), WizardDraft(devices=FOUR)),
        (("space",), WizardDraft(devices=FOUR[1:])),
        (("space", "space"), WizardDraft(devices=(*FOUR[1:], "sda2"))),
        (("s",), WizardDraft(devices=FOUR[1:], spares=("sda2",))),
        (("s", "space"), WizardDraft(devices=FOUR[1:])),
        (("w", "down", "w"), WizardDraft(devices=FOUR[2:], journal="sdb2")),
        (("left", "left"), WizardDraft(devices=FOUR[1:])),
        (("left",), WizardDraft(devices=FOUR[1:])),
        (("left", "right"), WizardDraft(devices=(*FOUR[1:], "sda2"))),
        (("end", "space", "right", "right", "left"), WizardDraft(devices=FOUR, empty=2)),
        (("end", "left"), WizardDraft(devices=FOUR)),
        (("pagedown", "up", "space"), WizardDraft(devices=(*FOUR, "sdf"))),
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
        assert (screen.step, screen.draft.destroys) == ("purpose", ("old",))
        await pilot.press("escape")
        assert "old will be destroyed. Enter continues." in screen_text(pilot)
        await pilot.press("enter")
        assert (screen.step, screen.draft.destroys) == ("purpose", ("old",))


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
        pilot.app.push_screen(WizardScreen(plain_host(), WizardDraft(devices=FOUR), step="purpose"))
        await pilot.pause()
        assert "rebuild   " not in screen_text(pilot)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "rebuild   " in screen_text(pilot))
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: "rebuild   " not in screen_text(pilot))


async def test_one_does_not_go_on_with_what_cannot_be() -> None:
    async with running(Kernel(raid10())) as pilot:
        screen = WizardScreen(
            plain_host(), WizardDraft(devices=FOUR[:2], level="raid1", write_mostly=FOUR[:2]), step="page"
        )
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press("enter")
        assert screen.step == "page"
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
            assert f"Build an array: {'level' if step == 'page' else step}" in screen_text(pilot)
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
        screen = WizardScreen(many, WizardDraft())
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
        assert screen.step == "purpose"


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
        screen = WizardScreen(plain_host(), replace(ON_TOP, mount="", name="data"), step="page")
        pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press(*["down"] * 4, "space", "slash", "f")
        assert "[ /f▏ ]" in screen_text(pilot)
