"""What keys do that change nothing on the host: choosing, panes, filter, hold, help, the demo."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.widgets import Input, OptionList

from raidtui.config import Config, read_config
from raidtui.features.history.screen.log_pane import LogLines
from raidtui.frame.command_palette import palette_entries
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.list_pane import BodyLines
from raidtui.host.readers.host_reader import READONLY
from raidtui.view.text import cell_width
from tests.frame.staging import (
    SMALL,
    WIDE,
    Paces,
    app_of,
    has_focus,
    header_of,
    lines_of,
    main_of,
    message_of,
    move,
    rows_of,
    running,
    says,
    screen_text,
    slider_text,
    until,
)
from tests.frame.states import ARRAYS, CHECK, REST, STATES
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid5, raid10
from tests.hosts.trees import host_tree

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]


def chosen(pilot: Paces) -> str:
    """The title of the chosen array."""
    array = main_of(pilot).arrays.array
    return array.title if array else ""


async def press(pilot: Paces, *keys: str) -> None:
    """Press keys, and let what they ask for be done."""
    await pilot.press(*keys)
    await pilot.pause()


async def test_arrows_and_letters_choose() -> None:
    async with running(STATES["levels"]) as pilot:
        seen = [chosen(pilot)]
        for key in ("down", "j", "down", "up", "k", "up", "up", "end", "down", "home", "pagedown", "pageup"):
            await press(pilot, key)
            seen.append(chosen(pilot))
        assert seen == [
            "data", "far", "offset", "backup", "offset", "far", "data", "data", "root", "root",
            "data", "archive", "data",
        ]  # fmt: skip


async def test_page_keys_go_by_what_is_in_view() -> None:
    async with running(STATES["many"]) as pilot:
        height = main_of(pilot).query_one("#array-list").size.height
        await press(pilot, "pagedown")
        assert rows_of(pilot)[height].split()[1] == chosen(pilot)
        await press(pilot, "end")
        assert chosen(pilot) == "vol511"
        assert lines_of(pilot, "#array-head").count("/dev/md511")
        await press(pilot, "home")
        assert chosen(pilot) == "vol300"  # the one that is degraded stands first


async def test_a_click_chooses() -> None:
    async with running(STATES["levels"]) as pilot:
        await pilot.click("#array-list", offset=(10, 3))
        await pilot.pause()
        assert chosen(pilot) == "backup"
        await pilot.click("#array-list", offset=(10, 0))
        await pilot.pause()
        assert chosen(pilot) == "data"


async def test_the_choice_follows_the_array() -> None:
    data, root, media = raid10(), raid1(), raid5()
    kernel = Kernel(data, root, media)
    async with running(kernel) as pilot:
        await press(pilot, "down")
        assert chosen(pilot) == "root"
        await move(pilot, lambda: kernel.change(media, data, root))
        assert chosen(pilot) == "root"
        moved = replace(root, name="md9", uuid=root.array_uuid.replace(":", ""), label="system")
        await move(pilot, lambda: kernel.change(moved, media, data))
        assert chosen(pilot) == "system"
        assert "/dev/md9" in lines_of(pilot, "#array-head")
        await move(pilot, lambda: kernel.change(moved, replace(media, failed=("sdh",)), data))
        assert chosen(pilot) == "system"
        await move(pilot, lambda: kernel.change(media, data))
        assert chosen(pilot) == "data"  # it is gone, and the row stays
        await move(pilot, kernel.change)
        assert chosen(pilot) == ""
        await move(pilot, lambda: kernel.change(data))
        assert chosen(pilot) == "data"


async def test_panes() -> None:
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        await press(pilot, "6")
        assert has_focus(pilot, "#log-lines")
        assert not main_of(pilot).arrays.display
        assert "optimal" in lines_of(pilot, "#log-lines")
        await press(pilot, "c", "p", "g", "x")  # keys of the other pane
        assert message_of(pilot) == ""
        await press(pilot, "1")
        assert has_focus(pilot, "#array-list")
        assert main_of(pilot).arrays.display


async def test_the_log_follows_its_end_only_from_there() -> None:
    kernel = Kernel(raid10())
    async with running(kernel) as pilot:
        for number in range(30):
            await move(pilot, partial(kernel.change, raid10(), limits=(1000, 200_000 + number * 5000)))
        await press(pilot, "6")
        log = main_of(pilot).query_one("#log-lines", ScrollLines)
        await until(pilot, lambda: log.max_scroll_y > 0 and log.scroll_offset.y == log.max_scroll_y)
        await press(pilot, "up", "k", "up")
        third = _chosen_line(log)
        assert third == log.text.split("\n")[-4]
        await move(pilot, lambda: kernel.change(raid10(), limits=(1000, 899_999)))
        assert _chosen_line(log) == third == log.text.split("\n")[-5]
        await press(pilot, "home")
        await until(pilot, lambda: log.scroll_offset.y == 0)
        await move(pilot, lambda: kernel.change(raid10(), limits=(1000, 999_999)))
        assert log.scroll_offset.y == 0
        await press(pilot, "end")
        await until(pilot, lambda: log.scroll_offset.y == log.max_scroll_y)
        await move(pilot, lambda: kernel.change(raid10(), limits=(2000, 999_999)))
        await until(pilot, lambda: log.scroll_offset.y == log.max_scroll_y)
        assert log.text.split("\n")[-1].endswith("min speed limit 1.0 MB/s → 2.0 MB/s (all arrays)")


def _chosen_line(log: ScrollLines) -> str:
    return log.text.split("\n")[log._selected[0]]


async def test_help_lists_keys_and_reasons() -> None:
    async with running(STATES["check"]) as pilot:
        await press(pilot, "question_mark")
        assert pilot.app.screen.query("#help-text")
        text = re.sub(r"\s+", " ", lines_of(pilot, "#help-text"))
        labels = ("Check", "Cancel", "Pause", "Scope", "Give back", "Yield", "Undo")
        repairs = ("Replace", "Add", "Fail", "Remove", "Rename", "Stop", "Writable", "Start", "Zero")
        for key, label in zip("cxpsgyuRAFMNTWaZm", (*labels, *repairs, "Mismatches"), strict=True):
            assert f" {key} {label} " in text
        assert text.count("not now: needs root; run it as: sudo raidtui") == 18  # the guide opens without
        await press(pilot, "escape")
        assert pilot.app.screen is main_of(pilot)
        await press(pilot, "6", "f1")
        assert "Check" not in lines_of(pilot, "#help-text").split("Speed limits")[0]
        await press(pilot, "q")
        assert pilot.app.screen is main_of(pilot)


@pytest.mark.parametrize("pane", ["1", "3", "4", "5", "6", "7"])
async def test_the_help_is_whole_in_the_smallest_window(pane: str) -> None:
    """No line is wider than the room for it, and the last one can be scrolled to; so it is after a resize."""
    async with running(STATES["check"], size=WIDE) as pilot:
        await press(pilot, pane, "question_mark")
        before = lines_of(pilot, "#help-text").split()
        await pilot.resize_terminal(60, 15)
        body = pilot.app.screen.query_one("#help-text", BodyLines)
        await until(pilot, lambda: body.scrollable_content_region.width < 60)

        def widest() -> int:
            return max(cell_width(line.rstrip()) for line in body.text.split("\n"))

        await until(pilot, lambda: widest() <= body.scrollable_content_region.width)
        assert body.text.split() == before
        await press(pilot, "end")
        await until(pilot, lambda: 0 < body.max_scroll_y == body.scroll_offset.y)
        assert "until you restore them." in screen_text(pilot)
        assert "Esc back" in screen_text(pilot)


@pytest.mark.parametrize("pane", ["1", "3", "4", "5", "7"])
async def test_read_only_as_root(pane: str) -> None:
    """Every key that acts is dim, with one reason; pressed, it gives that reason and does nothing."""
    root = Kernel(*ARRAYS["check"])
    root.readonly = True
    acting = {
        "1": "cxpgyRAFMNTWZm", "3": "mT", "4": "kpu", "5": "nsa", "7": "i",
    }  # fmt: skip
    async with running(root, size=WIDE) as pilot:
        assert "read-only" in header_of(pilot)
        await press(pilot, pane)
        await press(pilot, "question_mark")
        text = re.sub(r"\s+", " ", lines_of(pilot, "#help-text"))
        assert (f"not now: {READONLY}" in text) == bool(acting[pane])
        assert "needs root" not in text
        await press(pilot, "escape")
        for key in acting[pane]:
            await press(pilot, key)
            assert pilot.app.screen is main_of(pilot)
            assert READONLY in message_of(pilot)
        assert root.writes == []


async def test_help_says_why_not_now() -> None:
    async with running(Kernel(*ARRAYS["frozen-with-work"])) as pilot:
        await press(pilot, "question_mark")
        text = re.sub(r"\s+", " ", lines_of(pilot, "#help-text"))
        assert "p Resume" in text
        assert "not now: data already follows the system's limits" in text
        assert "needs root" not in text


async def test_hold() -> None:
    kernel = Kernel(raid10(), *REST)
    async with running(kernel) as pilot:
        before = rows_of(pilot)
        await press(pilot, "space")
        assert "held" in header_of(pilot)
        await move(pilot, lambda: kernel.change(raid10(failed=("sdb",)), *REST))
        assert rows_of(pilot) == before
        assert "✖ 1 degraded" in header_of(pilot)
        await press(pilot, "6")
        assert "member sdb failed" in lines_of(pilot, "#log-lines")
        await press(pilot, "1", "space")
        assert "held" not in header_of(pilot)
        assert "degraded" in rows_of(pilot)[0]


async def test_filter() -> None:
    async with running(STATES["levels"]) as pilot:
        await press(pilot, "slash", *"RAID10")
        assert [row.split()[1] for row in rows_of(pilot)] == ["data", "far", "offset"]
        await press(pilot, "backspace", "backspace", *"6")
        assert [row.split()[1] for row in rows_of(pilot)] == ["backup"]
        assert chosen(pilot) == "backup"
        await press(pilot, "enter")
        assert has_focus(pilot, "#array-list")
        assert len(rows_of(pilot)) == 1
        await press(pilot, "slash", *"zz")
        assert rows_of(pilot) == [" No array contains 'RAID6zz'. Esc shows all."]
        await press(pilot, "escape")
        assert len(rows_of(pilot)) == 9
        assert not main_of(pilot).query("#filter")
        assert has_focus(pilot, "#array-list")


async def test_filter_takes_every_letter_as_text() -> None:
    kernel = Kernel(*ARRAYS["check"])
    async with running(kernel) as pilot:
        await press(pilot, "slash", *LETTERS, *"16")
        assert kernel.writes == []
        assert pilot.app.screen is main_of(pilot)
        assert "xyz16" in lines_of(pilot, "#filter")


async def test_filter_of_the_log() -> None:
    async with running(Kernel(*ARRAYS["degraded"])) as pilot:
        await press(pilot, "6", "slash", *"DEGR")
        log = main_of(pilot).query_one("#log-lines", LogLines)
        begun = [line for line in log.text.split("\n") if not line.startswith("   ")]
        assert [line.split()[1] for line in begun] == ["media"]
        await press(pilot, *"zz")
        assert log.text.strip() == "No event contains this text."
        await press(pilot, "escape")
        assert sum(not line.startswith("   ") for line in log.text.split("\n")) == 3


async def test_filter_finds_members_and_states() -> None:
    async with running(STATES["levels"]) as pilot:
        await press(pilot, "slash", *"sdj")
        assert [row.split()[1] for row in rows_of(pilot)] == ["backup"]


async def test_d_opens_the_demo_only_without_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(STATES["optimal"]) as pilot:
        await press(pilot, "d")
        await says(pilot, "the demo opens here only without arrays: use raidtui --demo")
    async with running(STATES["no-md"]) as pilot:
        await press(pilot, "d")
        await until(pilot, lambda: len(rows_of(pilot)) == 4)
        assert header_of(pilot).split()[-2] == "demo"
        await says(pilot, "a simulated host: nothing here is real")


async def test_l_without_limits_says_why() -> None:
    async with running(Kernel(*ARRAYS["raid0"])) as pilot:
        await press(pilot, "l")
        await says(pilot, "raid0 has no redundancy, so nothing is synced")
    async with running(Kernel()) as pilot:
        await press(pilot, "l")
        await says(pilot, "no array is chosen")


async def test_nobody_may_write() -> None:
    """Without root, whatever key is pressed, and wherever the focus is."""
    kernel = Kernel(*ARRAYS["check"], writable=False)
    keys = [
        *LETTERS,
        *map(str, range(10)),
        "left",
        "right",
        "shift+left",
        "shift+right",
        "enter",
        "backspace",
    ]
    keys = [key for key in keys if key not in {"q", "d"}]
    async with running(kernel) as pilot:
        for before in ("1", "l"):
            for key in keys:
                await pilot.press(before, key)
                await until(pilot, lambda: main_of(pilot).arrays._settle is None or not _asking(pilot))
                while len(pilot.app.screen_stack) > 1:
                    await pilot.press("escape")
                for filter_line in main_of(pilot).query("#filter"):
                    filter_line.focus()
                    await pilot.press("escape")
        assert kernel.writes == []
        await press(pilot, "1", "l", "left")
        await until(pilot, lambda: "needs root" in message_of(pilot))
        assert "asked" not in slider_text(pilot, "max")
        await press(pilot, "q")
        await until(pilot, lambda: pilot.app.return_code == 0)
    assert kernel.writes == []


def _asking(pilot: Paces) -> bool:
    return any(slider.asked_kib_s is not None for slider in main_of(pilot).arrays.query("Slider"))  # type: ignore[attr-defined]


async def test_the_users_own_keys(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[keys]\n"arrays.check" = "f5"\n"app.log" = "f6"\n')
    kernel = Kernel(*ARRAYS["optimal"])
    async with running(kernel, config=read_config(tmp_path)) as pilot:
        assert "F5 Check" in lines_of(pilot, "#bottom")
        await press(pilot, "c")
        assert kernel.writes == []
        await press(pilot, "f5")
        await until(pilot, lambda: kernel.writes)
        await press(pilot, "f6")
        assert has_focus(pilot, "#log-lines")


async def test_troubles_with_the_settings_are_said() -> None:
    config = Config(theme="nosuch", troubles=("/etc/x: unknown setting 'y'",))
    async with running(STATES["optimal"], theme=None, config=config) as pilot:
        await until(pilot, lambda: message_of(pilot))
        assert message_of(pilot).startswith(
            "no usable theme 'nosuch'; using dark (available: ansi, catppuccin, dark"
        )
        assert pilot.app.theme == "dark"
        await press(pilot, "6")
        assert "unknown setting" in lines_of(pilot, "#log-lines")


async def test_the_palette_offers_everything() -> None:
    kernel = Kernel(*ARRAYS["optimal"])
    async with running(kernel) as pilot:
        titles = [entry.shown for entry in palette_entries(app_of(pilot))]
        assert titles[:3] == ["Check (c)", "Cancel (x) – not now", "Pause (p) – not now"]
        assert "Quit (q)" in titles
        await press(pilot, "ctrl+p")
        await pilot.press(*"check")
        await until(pilot, lambda: pilot.app.screen.query_one("CommandList").children or True)
        await pilot.press("enter")
        await until(pilot, lambda: kernel.writes or len(pilot.app.screen_stack) == 1)
        await until(pilot, lambda: kernel.writes == [("/sys/class/block/md127/md/sync_action", "check")])


async def test_themes_change_while_it_runs() -> None:
    async with running(STATES["degraded"]) as pilot:
        before = pilot.app.theme_variables["r-background"]
        app_of(pilot)._themes.load_all()
        app_of(pilot).theme = "light"
        await pilot.pause()
        assert pilot.app.theme_variables["r-background"] != before
        assert "degraded" in rows_of(pilot)[0]


async def test_nothing_to_undo() -> None:
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        await press(pilot, "u")
        await says(pilot, "nothing to undo")


async def test_a_capture_is_only_looked_at() -> None:
    async with running(host_tree(raid10()).root(source="bug.tar.gz")) as pilot:
        await press(pilot, "c")
        await says(pilot, "bug.tar.gz is a capture: nothing in it can be changed")
        assert header_of(pilot).split()[-2] == "capture"


# -- the list


async def test_what_is_not_at_rest_stands_above_what_is() -> None:
    arrays = (raid1("md1", "rest"), raid1("md2", "two", sync=CHECK), raid5("md3", "broken", failed=("sdh",)))
    async with running(Kernel(*arrays)) as pilot:
        assert [row.split()[1] for row in rows_of(pilot)] == ["broken", "two", "rest"]


async def test_arrays_of_one_label_show_the_kernels_names() -> None:
    arrays = (
        raid1("md126", "media"),
        raid1("md125", "media", members=("sdx", "sdy")),
        raid1("md124", "other"),
    )
    for size in (SMALL, WIDE, (60, 15)):
        async with running(Kernel(*arrays), size=size) as pilot:
            rows = rows_of(pilot)
            assert ["md126" in rows[0], "md125" in rows[1]] == [True, True]
            assert "md124" not in rows[2]
            words = ("attention", "attention", "optimal")
            assert len({row.index(word) for row, word in zip(rows, words, strict=True)}) == 1


async def test_the_new_array_is_chosen_when_it_is_there() -> None:
    kernel, new = Kernel(raid10(), raid1()), raid5("md3", "new")
    async with running(kernel) as pilot:
        main_of(pilot).arrays.expect(new.array_uuid)
        await move(pilot, partial(kernel.change, raid10(), raid1()))
        assert chosen(pilot) == "data"
        await move(pilot, partial(kernel.change, raid10(), raid1(), new))
        assert chosen(pilot) == "new"


async def test_whoever_chooses_meanwhile_is_left_alone() -> None:
    kernel, new = Kernel(raid10(), raid1()), raid5("md3", "new")
    async with running(kernel) as pilot:
        main_of(pilot).arrays.expect(new.array_uuid)
        await press(pilot, "down")
        await move(pilot, partial(kernel.change, raid10(), raid1(), new))
        assert chosen(pilot) == "root"


async def test_the_filter_leaves_commands_that_can_be_done() -> None:
    """With no array left, there is nothing to check."""
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        bottom = main_of(pilot).query_one("#bottom", Lines)
        assert (" c", "key") in bottom.lines[-1]
        await press(pilot, "slash", *"zzz")
        assert (" c", "dim") in bottom.lines[-1]


async def test_another_array_is_shown_from_its_first_line() -> None:
    async with running(STATES["levels"], size=(60, 15)) as pilot:
        body = main_of(pilot).arrays.body
        body.scroll_to(y=3, animate=False)
        await until(pilot, lambda: body.top == 3)
        await press(pilot, "down")
        await until(pilot, lambda: body.top == 0)


# -- the footer and the sentence above it


async def test_on_a_slider_the_footer_shows_its_keys() -> None:
    async with running(Kernel(*ARRAYS["check"])) as pilot:
        at_the_list = lines_of(pilot, "#bottom")
        await press(pilot, "l")
        on_a_slider = lines_of(pilot, "#bottom")
        for words in ("←→ Step", "⇧←→ Leap", "0-9 MB/s", "s Scope", "g Give back", "Esc Back"):
            assert words in on_a_slider
        assert "Replace" not in on_a_slider
        await press(pilot, "escape")
        assert lines_of(pilot, "#bottom") == at_the_list


@pytest.mark.parametrize("size", [(60, 15), SMALL, WIDE])
async def test_a_refusal_is_shown_whole_and_is_in_the_log(size: tuple[int, int]) -> None:
    sentence = " ".join(f"reason{number}" for number in range(14)) + "; do something else first"
    async with running(Kernel(*ARRAYS["optimal"]), size=size) as pilot:
        main_of(pilot).say(sentence)
        await pilot.pause()
        assert message_of(pilot) == sentence
        assert " ".join(screen_text(pilot).split()).count(sentence) == 1
        main_of(pilot).say("")
        await pilot.pause()
        assert lines_of(pilot, "#bottom").count("\n") == 1
        events = main_of(pilot).events
        assert [event.text for event in events if event.text == sentence] == [sentence]


async def test_what_is_refused_by_a_key_is_in_the_log_once() -> None:
    async with running(Kernel(*ARRAYS["check"])) as pilot:
        await press(pilot, "c", "c")
        said = "a check is already in progress; wait for it, or cancel it (x)"
        assert message_of(pilot) == said
        await press(pilot, "6")
        assert lines_of(pilot, "#log-lines").count("a check is already in progress") == 1


# -- the palette


async def in_the_palette(pilot: Paces, query: str) -> list[str]:
    """What the palette lists for a query."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
    listed = pilot.app.screen.query_one(OptionList)
    everything = len(list(palette_entries(app_of(pilot))))
    await until(pilot, lambda: listed.option_count == everything)
    if query:
        pilot.app.screen.query_one(Input).value = query
        await until(pilot, lambda: 0 < listed.option_count < everything)
    found = [str(listed.get_option_at_index(at).prompt).split("\n")[0] for at in range(listed.option_count)]
    await pilot.press("escape")
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
    return found


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("speed", "Limits (l)"),
        ("throttle", "Limits (l)"),
        ("scheduler", "Tune (4)"),
        ("create", "Build (b)"),
        ("grow", "Grow (G)"),
        ("smart", "Wear (3)"),
        ("fio", "Bench (5)"),
        ("scrub", "Check (c)"),
        ("theme dark", "Theme: dark"),
    ],
)
async def test_the_palette_finds_what_people_call_it(query: str, first: str) -> None:
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        found = await in_the_palette(pilot, query)
        assert found[0] == first
        assert not any(title.startswith("Fail") for title in found)


async def test_what_cannot_be_used_now_comes_last_in_the_palette() -> None:
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        for query in ("", "check", "a"):
            found = await in_the_palette(pilot, query)
            possible = [not title.endswith("not now") for title in found]
            assert possible == sorted(possible, reverse=True)
            assert not all(possible)
            assert any(possible)


async def test_the_palette_says_what_only_the_command_line_does() -> None:
    async with running(Kernel(*ARRAYS["optimal"])) as pilot:
        await press(pilot, "ctrl+p", *"writable")
        listed = pilot.app.screen.query_one(OptionList)
        await until(
            pilot, lambda: listed.option_count and "Read-only" in str(listed.get_option_at_index(0).prompt)
        )
        await press(pilot, "enter")
        await until(pilot, lambda: "raidtui plan read-only ARRAY" in message_of(pilot))


async def test_a_paste_into_the_palette() -> None:
    async with running(STATES["optimal"]) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: pilot.app.screen.query(Input))
        pilot.app.post_message(events.Paste("wear\nnext"))
        await until(pilot, lambda: pilot.app.screen.query_one(Input).value == "wear")
