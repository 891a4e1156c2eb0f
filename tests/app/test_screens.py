"""Pictures of everything besides pane 1: dialogs, help, filter, log, sliders, themes, odd terminals."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.model.finding import Event, EventKind, Tone
from tests.frame.staging import (
    SIZES,
    WIDE,
    Paces,
    Prepares,
    Shows,
    app_of,
    asked,
    in_worker,
    main_of,
    message_of,
    play,
    screen_text,
    slider_of,
    staged,
    until,
)
from tests.frame.states import ARRAYS, RECOVER, REST, ROOT, STATES, resyncing
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid5, raid6, raid10
from tests.hosts.trees import host_tree
from tests.places import HOUSE

RESYNC = (resyncing(238_697_472, 494_000), *REST)


def pressing(*keys: str) -> Prepares:
    """Press keys before the picture is taken."""

    async def press(pilot: Paces) -> None:
        await pilot.press(*keys)
        await pilot.pause()

    return press


# -- reading


@SIZES
def test_help(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(*RESYNC)), size=size, prepare=pressing("question_mark"))


def test_help_without_root(shows: Shows) -> None:
    shows(staged(STATES["check"]), size=WIDE, prepare=pressing("question_mark"))


def test_help_end(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("question_mark", "end"))


@SIZES
def test_palette(shows: Shows, size: tuple[int, int]) -> None:
    async def open_it(pilot: Paces) -> None:
        await pilot.press("ctrl+p")
        await pilot.press(*"theme")
        await until(
            pilot, lambda: "Theme" in str(pilot.app.screen.query_one("CommandList").children or "Theme")
        )

    shows(staged(Kernel(*RESYNC)), size=size, prepare=open_it)


def test_filter_open(shows: Shows) -> None:
    shows(staged(STATES["levels"]), prepare=pressing("slash", *"raid1"))


def test_filtered(shows: Shows) -> None:
    shows(staged(STATES["levels"]), prepare=pressing("slash", *"raid10", "enter"))


def test_filter_without_a_match(shows: Shows) -> None:
    shows(staged(STATES["levels"]), prepare=pressing("slash", *"zfs"))


async def a_life(pilot: Paces, kernel: Kernel) -> None:
    """A disk fails, a spare is rebuilt; limits and a check in between."""
    whole = raid5(spares=("sdp",))
    failed = replace(whole, failed=("sdh",))
    taken = raid5(members=("sdg", "sdp", "sdi"), failed=(), rebuilding=("sdp",), sync=RECOVER)
    taken = replace(taken, spares=("sdh",), states={"sdh": "faulty"})
    trees = [
        host_tree(whole, ROOT),
        host_tree(whole, replace(ROOT, sync=Syncing(action="check", done_kib=1024, speed_kib_s=190_000))),
        host_tree(whole, replace(ROOT, last_sync_action="check")),
        host_tree(failed, ROOT),
        host_tree(taken, ROOT, limits=(1000, 400_000)),
        host_tree(raid5(members=("sdg", "sdp", "sdi")), ROOT, limits=(1000, 400_000)),
        host_tree(raid5(members=("sdg", "sdp", "sdi")), limits=(1000, 400_000)),
    ]
    await play(pilot, kernel, trees, after_s=61)
    main_of(pilot).note_events(
        [
            Event(at_s=kernel.now_s() + 9, kind=EventKind.ACTION, subject="you", text="media: check started"),
            Event(
                at_s=kernel.now_s() + 60, kind=EventKind.UDEV, subject="sdq", text="is gone", tone=Tone.WARN
            ),
        ]
    )


@SIZES
def test_log(shows: Shows, size: tuple[int, int]) -> None:
    kernel = Kernel(raid5(spares=("sdp",)), ROOT)

    async def live(pilot: Paces) -> None:
        await a_life(pilot, kernel)
        await pilot.press("6")

    shows(staged(kernel), size=size, prepare=live)


def test_log_filtered(shows: Shows) -> None:
    kernel = Kernel(raid5(spares=("sdp",)), ROOT)

    async def live(pilot: Paces) -> None:
        await a_life(pilot, kernel)
        await pilot.press("6", "slash", *"sdh")

    shows(staged(kernel), prepare=live)


# -- acting


@SIZES
def test_pause_asks(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(*RESYNC)), size=size, prepare=pressing("p"))


def test_pause_of_a_recovery_asks(shows: Shows) -> None:
    shows(staged(Kernel(*ARRAYS["recover"])), prepare=pressing("p"))


def test_refused(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("c"))


def test_refused_without_root(shows: Shows) -> None:
    shows(staged(STATES["check"]), prepare=pressing("p"))


def test_quit_asks(shows: Shows) -> None:
    kernel = Kernel(*RESYNC)

    async def change(pilot: Paces) -> None:
        await pilot.press("l", *"300", "enter")
        await until(pilot, lambda: len(kernel.writes) == 1)
        await pilot.press("escape", "s", "l", *"900", "enter")
        await until(pilot, lambda: len(kernel.writes) == 2)
        await pilot.press("q")
        await asked(pilot)

    shows(staged(kernel), prepare=change)


def test_slider_focused(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("l"))


def test_slider_typed(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("l", *"250"))


def test_slider_typed_kib(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("l", *"25000k"))


def test_slider_asked(shows: Shows) -> None:
    kernel = Kernel(*RESYNC)
    kernel.deaf = True

    async def ask(pilot: Paces) -> None:
        await pilot.press("l", "shift+left")
        await until(pilot, lambda: kernel.writes and "u undoes it" in message_of(pilot))

    shows(staged(kernel), prepare=ask)


def test_slider_refused(shows: Shows) -> None:
    kernel = Kernel(*RESYNC)
    kernel.refuses["sync_speed_max"] = errno.EINVAL

    async def ask(pilot: Paces) -> None:
        await pilot.press("l", "left")
        await until(pilot, lambda: "not done" in message_of(pilot))
        await until(pilot, lambda: slider_of(pilot, "max").asked_kib_s is None)

    shows(staged(kernel), prepare=ask)


def test_system_scope(shows: Shows) -> None:
    shows(staged(Kernel(*RESYNC)), prepare=pressing("s"))


def test_done(shows: Shows) -> None:
    kernel = Kernel(*ARRAYS["optimal"])

    async def check(pilot: Paces) -> None:
        await pilot.press("c")
        await until(pilot, lambda: "check started" in message_of(pilot))
        await until(pilot, lambda: "check" in main_of(pilot).arrays.array.sync_action)  # type: ignore[union-attr,operator]

    shows(staged(kernel), prepare=check)


def test_held(shows: Shows) -> None:
    kernel = Kernel(*RESYNC)

    async def hold(pilot: Paces) -> None:
        await pilot.press("space")
        await play(pilot, kernel, [host_tree(raid10(failed=("sdb",)), *REST)], after_s=120)

    shows(staged(kernel), prepare=hold)


def test_second_row(shows: Shows) -> None:
    shows(staged(STATES["delayed"]), prepare=pressing("down"))


def test_last_of_many(shows: Shows) -> None:
    async def last(pilot: Paces) -> None:
        await until(pilot, lambda: "/dev/md300" in screen_text(pilot), "the worst one's detail")
        await pilot.press("end")
        await until(pilot, lambda: "/dev/md511" in screen_text(pilot), "the last one's detail")

    shows(staged(STATES["many"]), prepare=last)


# -- terminals and themes


@pytest.mark.parametrize("size", [(59, 24), (80, 14), (20, 3)], ids=["59x24", "80x14", "20x3"])
def test_too_small(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(STATES["degraded"]), size=size)


def test_smallest(shows: Shows) -> None:
    shows(staged(STATES["degraded"]), size=(60, 15))


def test_too_small_and_back(shows: Shows) -> None:
    async def shrink(pilot: Paces) -> None:
        await until(pilot, lambda: "Help" in screen_text(pilot), "the first page")
        for width, height in ((40, 10), (80, 24)):
            await pilot.resize_terminal(width, height)
            small = width == 40
            await until(pilot, lambda small=small: small == ("make the window" in screen_text(pilot)))  # type: ignore[misc]
            await pilot.pause()

    shows(staged(STATES["degraded"]), prepare=shrink)


THEMED: Sequence[str] = ("light", "catppuccin", "gruvbox-light", "high-contrast", "ansi")


@pytest.mark.parametrize("theme", THEMED)
def test_theme(draws: Shows, theme: str) -> None:
    draws(staged(Kernel(raid6(failed=("sdk",)), *RESYNC), theme=theme), prepare=pressing("down"))


@pytest.mark.parametrize("theme", THEMED)
def test_theme_of_a_dialog(draws: Shows, theme: str) -> None:
    draws(staged(Kernel(*RESYNC), theme=theme), prepare=pressing("l", "p"))


def test_no_color(draws: Shows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    draws(staged(Kernel(raid6(failed=("sdk",)), *RESYNC), theme=None))


def test_broken_theme(shows: Shows, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("themes-of-nobody")
    monkeypatch.setattr("raidtui.frame.themes.theme_folders", lambda: [str(folder), *_shipped()])
    shows(staged(STATES["optimal"], theme="mine"))


def _shipped() -> list[str]:
    return [str(HOUSE / "themes")]


def test_trouble(shows: Shows) -> None:
    async def trouble(pilot: Paces) -> None:
        app_of(pilot)._say("sampling failed: KeyError('\x1b[2J'); please report it")
        await in_worker(pilot, lambda: None)

    shows(staged(STATES["optimal"]), prepare=trouble)
