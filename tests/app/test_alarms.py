"""Alarms: what becomes worse is told wherever a person is, by bell and title too."""

from __future__ import annotations

import re

import pytest

from raidtui.app import alarms
from raidtui.app.alarms import Alarms
from raidtui.config import Config
from tests.features.arrays.screen.test_arrays import Unreadable
from tests.frame.staging import (
    SIZES,
    Paces,
    app_of,
    header_of,
    look,
    main_of,
    message_of,
    move,
    rows_of,
    running,
    screen_text,
    until,
)
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid5, raid10
from tests.hosts.trees import host_tree

WORSE = "media is degraded: 1 of 3 members missing (slot 1), sdh failed"


class Rung:
    """A terminal that notes its bell and its titles."""

    def __init__(self) -> None:
        self.bells = 0
        self.notes: list[str] = []
        self.titles: list[str] = []

    def ring(self) -> None:
        self.bells += 1

    def notify(self, text: str) -> None:
        self.notes.append(text)

    def set_title(self, title: str) -> None:
        self.titles.append(title)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Rung:
    found = Rung()
    monkeypatch.setattr(Alarms, "_driver", property(lambda _: found))
    return found


async def fail(pilot: Paces, kernel: Kernel) -> None:
    await move(pilot, lambda: kernel.change(raid5(failed=("sdh",)), raid10()))


@SIZES
async def test_a_member_fails_while_the_wizard_is_open(
    terminal: Rung, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    kernel = Kernel(raid5(), raid10())
    async with running(kernel, size=size) as pilot:
        await pilot.press("b")
        await until(pilot, lambda: len(app_of(pilot).screen_stack) > 1)
        assert terminal.bells == 0
        await fail(pilot, kernel)
        await until(pilot, lambda: WORSE[:40] in screen_text(pilot.app).split("\n")[0])
        assert terminal.bells == 1
        await pilot.press("down")  # pressed at once, it was meant for the page
        assert WORSE[:40] in screen_text(pilot.app)
        monkeypatch.setattr(alarms, "_READ_S", 0.0)
        await pilot.press("down")
        await until(pilot, lambda: WORSE[:40] not in screen_text(pilot.app))
        head = screen_text(pilot.app).split("\n")[0]
        assert re.search("Build an array .*✖ ?1.* [0-9]{2}:[0-9]{2}", head), "the page's head has the counts"
        await pilot.press("escape")
        await until(pilot, lambda: app_of(pilot).screen is main_of(pilot))
        await until(pilot, lambda: "meanwhile: media is degraded" in message_of(pilot))
        assert rows_of(pilot)[0].split()[:2] == ["✖", "media"]
        assert terminal.bells == 1


async def test_what_came_while_the_screen_was_held_is_told(terminal: Rung) -> None:
    kernel = Kernel(raid5(), raid10())
    async with running(kernel) as pilot:
        await pilot.press("space")
        await fail(pilot, kernel)
        assert "held" in header_of(pilot)
        assert terminal.bells == 1
        await pilot.press("space")
        assert "meanwhile: media is degraded" in message_of(pilot)


async def test_the_arrays_in_view_say_it_themselves(terminal: Rung) -> None:
    kernel = Kernel(raid5(), raid10())
    async with running(kernel) as pilot:
        await fail(pilot, kernel)
        assert terminal.bells == 1
        assert "meanwhile" not in message_of(pilot)
        await move(pilot, lambda: kernel.change(raid5(failed=("sdh",)), raid10()))
        assert terminal.bells == 1, "one bell for one trouble"


async def test_no_bell_at_the_start_and_none_where_it_is_turned_off(terminal: Rung) -> None:
    kernel = Kernel(raid5(failed=("sdh",)), raid10())
    async with running(kernel, config=Config(bell=False)) as pilot:
        await move(pilot, lambda: kernel.change(raid5(failed=("sdh",)), raid10(failed=("sdb",))))
        assert rows_of(pilot)[1].split()[:2] == ["✖", "data"]
        assert terminal.bells == 0
    async with running(Kernel(raid5(failed=("sdh",)))) as pilot:
        await pilot.pause()
        assert terminal.bells == 0


async def test_the_title_names_the_host_and_what_is_wrong_as_long_as_it_is(terminal: Rung) -> None:
    kernel = Kernel(raid5(), raid1("md1", "\x1b]2;owned\x07", members=("sdp", "sdq")))
    async with running(kernel) as pilot:
        assert terminal.titles == []
        await move(pilot, lambda: kernel.change(raid5(failed=("sdh",)), raid1()))
        assert terminal.titles == ["✖ nas: media degraded"]
        await move(pilot, lambda: kernel.change(raid5(failed=("sdh",)), raid1(failed=("sdf",))))
        assert terminal.titles[-1].endswith("degraded and 1 more")
        await move(pilot, lambda: kernel.change(raid5(), raid1()))
        assert terminal.titles[-1] == ""
        wrong = raid1("md1", "\x1b]2;owned\x07", members=("sdp", "sdq"), failed=("sdq",))
        await move(pilot, lambda: kernel.change(raid5(), wrong))
        assert "\x1b" not in terminal.titles[-1]
        assert "\x07" not in terminal.titles[-1]


async def test_arrays_that_cannot_be_read_are_neither_well_nor_degraded(terminal: Rung) -> None:
    host = Unreadable(host_tree(raid5(failed=("sdh",))))
    async with running(host) as pilot:
        await look(pilot)
        host.broken = True
        await look(pilot)
        await until(pilot, lambda: terminal.titles[-1:] == ["? nas: the arrays cannot be read"])


async def test_a_desktop_notification_where_one_is_wanted(terminal: Rung) -> None:
    kernel = Kernel(raid5(), raid10())
    async with running(kernel, config=Config(bell=False, notify=True)) as pilot:
        await fail(pilot, kernel)
        assert terminal.bells == 0
        [note] = terminal.notes
        assert note.startswith(WORSE)
    kernel = Kernel(raid5(), raid10())
    async with running(kernel) as pilot:
        await fail(pilot, kernel)
        assert (terminal.bells, len(terminal.notes)) == (1, 1)
