"""A line that is typed: keys, what is pasted, how it is shown, and that all places have the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.features.reshape.plan.grow_draft import GrowAim, GrowDraft
from raidtui.features.reshape.screen.grow_screen import GrowScreen
from raidtui.frame.choose import Ask
from raidtui.frame.export_form import ExportForm
from raidtui.frame.plan_view import PlanView
from raidtui.frame.text_field import FilterLine, TextField, Typing, field_lines, field_of
from raidtui.model.plan import Harm, Plan
from raidtui.plans.wizard.wizard_draft import WizardDraft
from tests.frame.machines import plain_host
from tests.frame.staging import Paces, main_of, running, screen_text, slider_of, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.plans.new_array import FOUR


def test_typing() -> None:
    line = field_of("/srv/a.html", 14)
    for key, character in (("left", None), ("home", None), ("delete", None), ("x", "x"), ("end", None)):
        line = line.pressed(key, character) or line
    assert (line.text, line.at) == ("xsrv/a.html", 11)
    line = line.pasted("1\x1b234\nnot this")
    assert (line.text, line.at) == ("xsrv/a.html123", 14)
    assert line.pressed("y", "y") == line
    assert line.pressed("f5", None) is None
    for key in ("backspace", "left", "left", "backspace", "right"):
        line = line.pressed(key, None) or line
    assert (line.text, line.at) == ("xsrv/a.htm12", 11)
    emptied = line.pressed("ctrl+u", None)
    assert emptied is not None
    assert (emptied.text, emptied.at) == ("2", 0)


@pytest.mark.parametrize(
    ("text", "left"), [("one two", "one "), ("one two ", "one "), ("one", ""), (" one", ""), ("", "")]
)
def test_a_word_is_cut(text: str, left: str) -> None:
    line = field_of(text, 40).pressed("ctrl+w", None)
    assert line is not None
    assert (line.text, line.at) == (left, len(left))


def test_characters_that_are_no_text() -> None:
    assert TextField(refused="? ").pressed("question_mark", "?") is None
    assert TextField(refused="? ").pasted("a b?c").text == "abc"
    assert TextField(only="12").pressed("3", "3") is None
    assert TextField(only="12").pasted("1 2 3").text == "12"


def test_a_long_line_takes_several() -> None:
    lines = field_lines(field_of("/srv/bench/写真/results.html", 99), 20)
    assert ["".join(part for part, _ in line) for line in lines] == [
        "   /srv/bench/写真/r",
        "   esults.html▏",
    ]


# -- every place in which something is typed

Open = Callable[[Paces], Awaitable[Typing]]


def _screen(make: Callable[[Paces], Any], *keys: str) -> Open:
    """Return what opens a screen, and presses keys until its line is open."""

    async def opened(pilot: Paces) -> Typing:
        screen: Any = make(pilot)
        await pilot.app.push_screen(screen)
        await pilot.pause()
        await pilot.press(*keys)
        await until(pilot, lambda: screen.line is not None, "the line is open")
        found: Typing = screen
        return found

    return opened


async def _filter(pilot: Paces) -> Typing:
    await pilot.press("slash")
    return main_of(pilot).query_one(FilterLine)


async def _slider(pilot: Paces) -> Typing:
    await pilot.press("l")
    return slider_of(pilot, "max")


def _destroying(pilot: Paces) -> PlanView:
    del pilot
    return PlanView(Plan(title="t", subject="s", steps=(), harm=Harm.DESTROYS, confirm="1234"))


def _write(path: Path, kind: str) -> Path:
    del kind
    return path


def _growing(pilot: Paces) -> GrowScreen:
    report = main_of(pilot).report
    assert report is not None
    survey = plain_host()
    return GrowScreen(survey, report.snapshot.arrays[0], GrowDraft(aim=GrowAim.LESS))


PLACES: dict[str, Open] = {
    "filter": _filter,
    "slider": _slider,
    "plan": _screen(_destroying),
    "ask": _screen(lambda _: Ask("Name?", "a word")),
    "export": _screen(lambda _: ExportForm("Export", "x", {"txt": "text"}, _write), "ctrl+u"),
    "grow": _screen(_growing, "down", "space", "ctrl+u"),
    "wizard filter": _screen(lambda _: WizardScreen(plain_host()), "slash"),
    "wizard name": _screen(lambda _: WizardScreen(plain_host(), step="name"), "ctrl+u"),
    "wizard mount": _screen(
        lambda _: WizardScreen(plain_host(), WizardDraft(devices=FOUR, on_top="ext4"), step="page"),
        *("down", "down", "down", "down", "space", "ctrl+u"),
    ),
}


@pytest.mark.parametrize("place", PLACES)
async def test_all_places_edit_alike(place: str) -> None:
    async with running(Kernel(raid10())) as pilot:
        here = await PLACES[place](pilot)

        async def after(*keys: str, paste: str = "") -> str:
            if paste:
                pilot.app.post_message(events.Paste(paste))
            await pilot.press(*keys)
            await pilot.pause()
            assert here.line is not None
            return here.line.text[: here.line.at] + "|" + here.line.text[here.line.at :]

        assert await after(*"13") == "13|"
        assert await after("left", "2") == "12|3"
        assert screen_text(pilot).count("12▏3") == 1
        assert await after("home", "0") == "0|123"
        assert await after("end", "4") == "01234|"
        assert await after("ctrl+a", "right", "delete") == "0|234"
        assert await after("ctrl+k") == "0|"
        assert await after("ctrl+e", paste="567\n8") == "0567|"
        assert await after("left", "backspace", "ctrl+u") == "|7"
        assert await after("ctrl+e", "8", "ctrl+w") == "|"
