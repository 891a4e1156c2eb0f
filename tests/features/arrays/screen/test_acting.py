"""What keys write to the kernel: exactly which files, with which text, in which order."""

from __future__ import annotations

import errno
import threading
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from tests.frame.staging import (
    Paces,
    app_of,
    asked,
    has_focus,
    in_worker,
    lines_of,
    look,
    main_of,
    message_of,
    move,
    running,
    says,
    screen_text,
    slider_of,
    slider_text,
    until,
)
from tests.frame.states import ARRAYS, CHECK, resyncing
from tests.hosts.kernel import Kernel, ends
from tests.hosts.specs import raid1, raid5, raid10

RESYNC = (resyncing(238_697_472), raid1())
MIN, MAX = "md127/sync_speed_min", "md127/sync_speed_max"
ACTION = "md127/sync_action"


async def wrote(pilot: Paces, kernel: Kernel, *writes: tuple[str, str]) -> None:
    """Wait for writes, and that the screen knows of them; then nothing else may have been written."""
    await until(pilot, lambda: len(kernel.writes) >= len(writes), f"{writes}, not {kernel.writes}")
    await look(pilot)
    assert ends(kernel.writes) == list(writes)


# -- sliders

Rest = Callable[[Paces, Callable[[], object]], Awaitable[None]]


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> Rest:
    """Sliders rest once a condition holds, and not before: a busy machine lets keys wait."""
    monkeypatch.setattr("raidtui.features.arrays.screen.arrays_pane._SETTLE_S", 3600.0)

    async def rested(pilot: Paces, condition: Callable[[], object]) -> None:
        await until(pilot, condition, "where the slider rests")
        await pilot.pause()  # the pane has the news, too
        main_of(pilot).arrays._ask()

    return rested


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("right",), "585938"),  # 600 MB/s
        (("left",), "390625"),
        (("right", "right"), "781250"),
        (("shift+right",), "976562"),
        (("shift+left",), "195312"),
        (("L",), "976562"),
        ((*"300", "enter"), "292969"),
        ((*"300000k", "enter"), "300000"),
        ((*"0.5k", "backspace", "backspace", "backspace", "backspace", *"310", "enter"), "302734"),
    ],
)
async def test_slider_keys(keys: tuple[str, ...], text: str, rest: Rest) -> None:
    kernel = Kernel(replace(RESYNC[0], limits=(1000, 488_281)), RESYNC[1])
    async with running(kernel) as pilot:
        await pilot.press("l", *keys)
        await rest(pilot, lambda: slider_of(pilot, "max").asked_kib_s == int(text))
        await wrote(pilot, kernel, (MAX, text))
        assert slider_text(pilot, "max").endswith("array")


async def test_one_write_for_many_keys(rest: Rest) -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *["right"] * 6)
        assert kernel.writes == []
        await rest(pilot, lambda: slider_of(pilot, "max").asked_kib_s == 1_953_125)
        await wrote(pilot, kernel, (MAX, "1953125"))
        await says(pilot, "data: max 500 MB/s → 2000 MB/s (this array) · u undoes it")


async def test_the_mouse(rest: Rest) -> None:
    kernel = Kernel(replace(RESYNC[0], limits=(1000, 488_281)), RESYNC[1])
    async with running(kernel) as pilot:
        knob = slider_text(pilot, "max").index("●")
        await pilot.click("#max", offset=(knob + 5, 0))
        await rest(pilot, lambda: slider_text(pilot, "max").index("●") == knob + 5)
        await until(pilot, lambda: kernel.writes)
        await look(pilot)
        assert slider_text(pilot, "max").index("●") == knob + 5
        await pilot.mouse_down("#max", offset=(knob + 5, 0))
        await pilot.hover("#max", offset=(knob + 3, 0))
        await pilot.hover("#max", offset=(knob - 4, 0))
        await pilot.mouse_up("#max", offset=(knob - 4, 0))
        await rest(pilot, lambda: slider_text(pilot, "max").index("●") == knob - 4)
        await until(pilot, lambda: len(kernel.writes) == 2)
        await look(pilot)
        assert slider_text(pilot, "max").index("●") == knob - 4
        assert {path for path, _ in ends(kernel.writes)} == {MAX}
        await pilot.hover("#max", offset=(knob + 9, 0))  # the button is up: nothing is dragged
        assert slider_of(pilot, "max").asked_kib_s is None


async def test_the_wheel() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot._post_mouse_events([_wheel("Up")], "#max", offset=(20, 0))
        await wrote(pilot, kernel, (MAX, "585938"))
        await pilot._post_mouse_events([_wheel("Down")], "#max", offset=(20, 0))
        await wrote(pilot, kernel, (MAX, "585938"), (MAX, "488281"))


def _wheel(direction: str) -> type:
    from textual import events  # noqa: PLC0415

    found: type = getattr(events, f"MouseScroll{direction}")
    return found


async def test_min_never_above_max() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", "shift+tab", *"900", "enter")
        await until(pilot, lambda: "min cannot" in message_of(pilot))
        await says(pilot, "min cannot be above max: move max first (in the kernel, min wins)")
        await wrote(pilot, kernel, (MIN, "488281"))
        await pilot.press("tab", *"10", "enter")
        await until(pilot, lambda: "move min" in message_of(pilot))
        await until(pilot, lambda: main_of(pilot).arrays.query_one("#max").asked_kib_s is None)  # type: ignore[attr-defined]
        assert ends(kernel.writes) == [(MIN, "488281")]


async def test_asked_and_kernel_are_both_shown_until_they_agree() -> None:
    kernel = Kernel(*RESYNC)
    kernel.deaf = True
    async with running(kernel) as pilot:
        await pilot.press("l", *"800", "enter")
        await wrote(pilot, kernel, (MAX, "781250"))
        assert "800 MB/s asked, is 500 MB/s" in slider_text(pilot, "max")
        assert "○" in slider_text(pilot, "max")
        await look(pilot)
        assert "800 MB/s asked, is 500 MB/s" in slider_text(pilot, "max")

        def hear() -> None:
            kernel.change(replace(RESYNC[0], limits=(195_313, 781_250)), RESYNC[1])

        await move(pilot, hear)
        assert "asked" not in slider_text(pilot, "max")
        assert "800 MB/s   this array" in slider_text(pilot, "max")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EINVAL, "the kernel refuses this value"),
        (errno.EBUSY, "the kernel is busy with another sync action"),
        (errno.EACCES, "permission denied: needs root"),
    ],
)
async def test_refused_by_the_kernel(code: int, words: str) -> None:
    kernel = Kernel(*RESYNC)
    kernel.refuses["sync_speed_max"] = code
    async with running(kernel) as pilot:
        await pilot.press("l", *"800", "enter")
        await until(pilot, lambda: words in message_of(pilot))
        assert message_of(pilot).startswith(f"data: not done: {words}")
        await until(pilot, lambda: "500 MB/s   this array" in slider_text(pilot, "max"))
        await pilot.press("u")
        await until(pilot, lambda: message_of(pilot) == "nothing to undo")


async def test_what_was_typed_in_kib_stands_beside_the_rate() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"250000k", "enter")
        await until(pilot, lambda: "256 MB/s (250000 KiB/s) array" in slider_text(pilot, "max"))
        await pilot.press("l", *"300", "enter")
        await until(pilot, lambda: "300 MB/s   this array" in slider_text(pilot, "max"))


async def test_what_was_typed_can_be_forgotten() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"16")  # digits are no panes here
        assert "16▏MB/s, Enter sets it" in slider_text(pilot, "max")
        await pilot.press("k")
        assert "16▏KiB/s, Enter sets it" in slider_text(pilot, "max")
        await pilot.press("escape")
        assert has_focus(pilot, "#max")
        await pilot.press("escape")
        assert has_focus(pilot, "#array-list")
        assert kernel.writes == []


async def test_zero_is_no_limit() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        for typed in ("0", "0.0", "0k", "1.2.3"):
            await pilot.press("l", *typed, "enter")
            refusal = f"{typed} is not a speed limit: type MB/s, or KiB/s with a k at the end"
            await says(pilot, refusal)
        assert kernel.writes == []


async def test_what_is_asked_of_one_array_is_not_asked_of_another() -> None:
    kernel = Kernel(raid10(limits=(1000, 488_281)), raid1())
    async with running(kernel) as pilot:
        await pilot.press("l", "right", "escape", "down")
        await pilot.pause()
        await until(pilot, lambda: main_of(pilot).arrays._settle is None or not _running(pilot))
        await look(pilot)
        assert {path for path, _ in ends(kernel.writes)} <= {MAX}


def _running(pilot: Paces) -> bool:
    timer = main_of(pilot).arrays._settle
    return timer is not None and timer._task is not None and not timer._task.done()


async def test_system_scope() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("s")
        assert "205 MB/s   all arrays" in slider_text(pilot, "max")
        await pilot.press("l", "shift+right")
        await wrote(pilot, kernel, ("/proc/sys/dev/raid/speed_limit_max", "488281"))
        await pilot.press("escape", "s")
        await pilot.pause()
        await says(pilot, "the sliders now set the limits of this array alone")
        await pilot.press("u")
        await wrote(
            pilot,
            kernel,
            ("/proc/sys/dev/raid/speed_limit_max", "488281"),
            ("/proc/sys/dev/raid/speed_limit_max", "200000"),
        )


async def test_give_back_and_undo() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("g")
        await wrote(pilot, kernel, (MIN, "system"), (MAX, "system"))
        assert "205 MB/s   system's" in slider_text(pilot, "max")
        await pilot.press("g")
        await until(pilot, lambda: "already" in message_of(pilot))
        await says(pilot, "data already follows the system's limits")
        await pilot.press("u")
        given = [(MIN, "system"), (MAX, "system")]
        await wrote(pilot, kernel, *given, (MIN, "195313"), (MAX, "488281"))
        assert "500 MB/s   this array" in slider_text(pilot, "max")


# -- checks and pauses


async def test_check_pause_resume_cancel() -> None:
    kernel = Kernel(raid10(), raid1())
    async with running(kernel) as pilot:
        await pilot.press("c")
        await wrote(pilot, kernel, (ACTION, "check"))
        await says(pilot, "data: check started · u undoes it")
        await move(pilot, lambda: kernel.change(raid10(sync=CHECK), raid1()))
        await pilot.press("c")
        await until(pilot, lambda: "already in progress" in message_of(pilot))
        await says(pilot, "a check is already in progress; wait for it, or cancel it (x)")
        kernel.writes.clear()
        await pilot.press("p")
        await wrote(pilot, kernel, (ACTION, "idle"))
        assert "check paused by raidtui: 33 % read, 0 mismatched sectors in it" in lines_of(
            pilot, "#array-head"
        )
        assert "p Resume" in lines_of(pilot, "#bottom")
        kernel.writes.clear()
        await pilot.press("p")
        await wrote(pilot, kernel, (ACTION, "check"))
        kernel.writes.clear()
        await pilot.press("x")
        await wrote(pilot, kernel, (ACTION, "idle"), ("md127/sync_min", "0"))
        await says(pilot, "data: check cancelled")


async def test_a_new_check_starts_at_the_start() -> None:
    kernel = Kernel(*ARRAYS["check-paused"])
    async with running(kernel) as pilot:
        await pilot.press("c")
        await wrote(pilot, kernel, ("md127/sync_min", "0"), (ACTION, "check"))


async def test_a_pause_is_asked_and_enter_is_no() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        for no in ("enter", "escape", "q"):
            await pilot.press("p")
            await asked(pilot)
            assert f"echo frozen > /sys/class/block/{ACTION.replace('/', '/md/')}" in screen_text(pilot)
            await pilot.press("n", "space", "c", no)
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
            await until(pilot, lambda: message_of(pilot) == "nothing was changed")
        assert kernel.writes == []
        await pilot.press("p")
        await asked(pilot)
        await pilot.press("y")
        await wrote(pilot, kernel, (ACTION, "frozen"))
        assert "frozen" in lines_of(pilot, "#array-list")
        await pilot.press("p")  # resuming harms nothing
        await wrote(pilot, kernel, (ACTION, "frozen"), (ACTION, "idle"))


async def test_escape_does_not_cancel_what_is_being_written() -> None:
    kernel, answers, begun = Kernel(*RESYNC), threading.Event(), threading.Event()

    def block(path: str, text: str) -> None:
        del path, text
        begun.set()
        assert answers.wait(30)

    kernel.on_write = block
    async with running(kernel) as pilot:
        await pilot.press("p")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, begun.is_set, "the write has begun")
        await pilot.press("escape")
        await pilot.pause()
        shown = message_of(pilot)
        answers.set()
        await wrote(pilot, kernel, (ACTION, "frozen"))
        await says(pilot, "data: resync paused · u undoes it")
        assert shown != "nothing was changed"


async def test_another_array_under_the_same_name_is_left_alone() -> None:
    kernel = Kernel(*RESYNC)
    other = raid10(label="other", limits=(1000, 2000))

    def swap(_: str = "", __: str = "") -> None:
        kernel.change(other, raid1(), after_s=0)

    async with running(kernel) as pilot:
        await pilot.press("p")
        await asked(pilot)
        await in_worker(pilot, swap)
        await pilot.press("y")
        await until(pilot, lambda: "another array" in message_of(pilot))
        assert message_of(pilot).startswith("data: not done: another array has this name now (resync paused")
        assert kernel.writes == []


async def test_an_array_that_is_gone_is_not_written_to() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("p")
        await asked(pilot)
        await in_worker(pilot, lambda: kernel.change(raid1(), after_s=0))
        await pilot.press("y")
        await until(pilot, lambda: "the array is gone" in message_of(pilot))
        assert kernel.writes == []


async def test_the_journals_trouble_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(raid10())
    async with running(kernel) as pilot:
        loop = app_of(pilot).session.loop
        loop.watch.journal.trouble = "journal /var/lib/raidtui/journal.jsonl: Read-only file system"
        await pilot.press("c")
        await until(pilot, lambda: "check started" in message_of(pilot))
        assert " · journal /var/lib/raidtui/journal.jsonl: Re" in message_of(pilot)


# -- leaving


async def leave(pilot: Paces, *keys: str) -> None:
    """Press q and answer; wait until the program has ended."""
    await pilot.press("q")
    if keys:
        await asked(pilot)
        await pilot.press(*keys)
    await until(pilot, lambda: pilot.app.return_code == 0)


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_leaving_unchanged(key: str) -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press(key)
        await until(pilot, lambda: pilot.app.return_code == 0)
    assert kernel.writes == []


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_leaving_asks_and_restores(key: str) -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"900", "enter")
        await wrote(pilot, kernel, (MAX, "878906"))
        await pilot.press("shift+tab", *"600", "enter")
        await wrote(pilot, kernel, (MAX, "878906"), (MIN, "585938"))
        await pilot.press(key)
        await asked(pilot)
        text = screen_text(pilot)
        assert text.index("echo 195313") < text.index("echo 488281")
        await pilot.press("enter")  # stays
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert len(kernel.writes) == 2
        kernel.writes.clear()
        await leave(pilot, "r")
    assert ends(kernel.writes) == [(MIN, "195313"), (MAX, "488281")]


async def test_leaving_restores_max_first_where_min_rises() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", "shift+tab", *"10", "enter")
        await wrote(pilot, kernel, (MIN, "9766"))
        await pilot.press("tab", *"20", "enter")
        await wrote(pilot, kernel, (MIN, "9766"), (MAX, "19531"))
        kernel.writes.clear()
        await leave(pilot, "r")
    assert ends(kernel.writes) == [(MAX, "488281"), (MIN, "195313")]


async def test_leaving_keeps() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"900", "enter")
        await wrote(pilot, kernel, (MAX, "878906"))
        await leave(pilot, "k")
    assert ends(kernel.writes) == [(MAX, "878906")]


async def test_what_was_undone_is_not_asked_about() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"900", "enter")
        await wrote(pilot, kernel, (MAX, "878906"))
        await pilot.press("escape", "u")
        await wrote(pilot, kernel, (MAX, "878906"), (MAX, "488281"))
        await leave(pilot)


async def test_a_restore_that_fails_is_said_and_does_not_leave() -> None:
    kernel = Kernel(*RESYNC)
    async with running(kernel) as pilot:
        await pilot.press("l", *"900", "enter")
        await wrote(pilot, kernel, (MAX, "878906"))
        kernel.refuses["sync_speed_max"] = errno.EBUSY
        await pilot.press("q")
        await asked(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "busy" in message_of(pilot))
        assert pilot.app.return_code is None
        await leave(pilot, "k")


async def test_a_frozen_array_is_thawed_by_restoring() -> None:
    kernel = Kernel(raid5(rebuilding=("sdi",), sync=ARRAYS["recover"][0].sync))
    async with running(kernel) as pilot:
        await pilot.press("p")
        await asked(pilot)
        await pilot.press("y")
        await wrote(pilot, kernel, ("md125/sync_action", "frozen"))
        await leave(pilot, "r")
    assert ends(kernel.writes) == [("md125/sync_action", "frozen"), ("md125/sync_action", "idle")]


async def test_a_window_too_small_to_draw_acts_on_nothing() -> None:
    """Whoever cannot see which array is chosen starts no check there; q quits all the same."""
    kernel = Kernel(raid10())
    async with running(kernel) as pilot:
        await pilot.resize_terminal(50, 12)
        await until(pilot, lambda: "make the window at least" in screen_text(pilot))
        await pilot.press("c", "p", "x")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "slot set" in screen_text(pilot))
        await pilot.pause()
        assert kernel.writes == []
        await pilot.press("c")
        await until(pilot, lambda: kernel.writes)
        await pilot.resize_terminal(50, 12)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app._exit)
