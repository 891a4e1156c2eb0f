"""Pane 7: pictures of what it says, its plan, and what is ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import Advice
from raidtui.features.advice.screen.advice_pane import AdvicePane
from raidtui.features.advice.session import AdviceSession, mending
from raidtui.frame.plan_view import PlanView
from raidtui.model.advice_count import AdviceCount
from raidtui.model.answer import known
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.watch.watch import HostWatch
from tests.demo.scene import Scene
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    WIDE,
    Paces,
    Prepares,
    Shows,
    main_of,
    message_of,
    running,
    screen_text,
    staged,
    until,
)
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid5, raid10
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.monitor.boot.images import image_root

CONF = "/etc/mdadm/mdadm.conf"
BARE = {
    "/proc/1/comm": "systemd\n",
    "/proc/1/cmdline": "/sbin/init\0",
    CONF: "ARRAY /dev/md/other UUID=11111111:22222222:33333333:44444444\n",
    "/sys/bus/pci/drivers/ahci/0000:00:17.0/remapped_nvme": "2\n",
}
"""A host on which nobody watches, nothing checks, and the firmware hides disks."""


def sick() -> Kernel:
    kernel = Kernel(raid5(component_kib=1 << 30, bitmap=None))
    for path, text in BARE.items():
        kernel.put(path, text)
    return kernel


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ignored advice is kept, of this host too; the user is ada."""
    path = tmp_path / "state" / "advice.sqlite"
    for place in ("raidtui.features.advice.ignored", "raidtui.features.advice.session"):
        monkeypatch.setattr(f"{place}.ignored_path", lambda: path)
    monkeypatch.setattr(AdviceSession, "keeps", property(lambda _: True))
    monkeypatch.setenv("SUDO_USER", "ada")
    return path


async def opened(pilot: Paces) -> AdvicePane:
    """Open the pane, and wait for its first reading."""
    await pilot.press("7")
    await until(pilot, lambda: "advice" in main_of(pilot).panes, "the pane")
    pane = main_of(pilot).panes["advice"]
    assert isinstance(pane, AdvicePane)
    await until(pilot, lambda: pane.look is not None, "the host is read")
    await pilot.pause()
    return pane


def pressing(*keys: str) -> Prepares:
    """Open the pane and press keys."""

    async def press(pilot: Paces) -> None:
        await opened(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return press


def rows(pane: AdvicePane) -> list[str]:
    """The rows, each with all of its lines."""
    lines = ["".join(text for text, _ in line).strip() for line in pane.rows.lines]
    places = pane.rows.places or [range(at, at + 1) for at in range(len(lines))]
    return [" ".join(lines[each.start : each.stop]) for each in places]


@SIZES
def test_sick(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(sick()), size=size, prepare=pressing())


@SIZES
def test_last_one(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(sick()), size=size, prepare=pressing("end"))


@ALL_SIZES
def test_demo(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing())


@SIZES
def test_caches(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(StackHost()), size=size, prepare=pressing())


@SIZES
def test_boot(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(image_root("no-boot-code")), size=size, prepare=pressing("end"))


async def test_enter_shows_the_plan_of_a_boot() -> None:
    async with running(image_root("no-boot-code")) as pilot:
        pane = await opened(pilot)
        at = next(number for number, row in enumerate(rows(pane)) if "does not boot" in row)
        await pilot.press(*["down"] * at, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
        await until(pilot, lambda: "grub-install --target=i386-pc /dev/ubdb" in screen_text(pilot), "it")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed", "the pane again")


def test_well(shows: Shows) -> None:
    shows(staged(Kernel(raid10(bitmap=(0, 1)))), prepare=pressing())


def test_not_all_could_be_read(shows: Shows) -> None:
    host = StackHost()
    host.put(STATUS_FILE, "exit 1\nno permission\n")
    shows(staged(host), size=WIDE, prepare=pressing())


@pytest.mark.usefixtures("kept")
def test_ignored(shows: Shows) -> None:
    async def ignore(pilot: Paces) -> None:
        pane = await opened(pilot)
        await pilot.press("i", "enter", *"a copy", "enter")
        await until(pilot, lambda: pane.look is not None and bool(pane.look.ignored), "it is ignored")
        await pilot.press("a", "end")
        await pilot.pause()

    shows(staged(Kernel(raid5(component_kib=1 << 30, bitmap=None))), prepare=ignore)


async def test_enter_shows_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is installed on another host: of a host in memory nothing is known about mdadm."""

    def planned(survey: Survey, each: Advice) -> Plan | Refusal | None:
        return mending(replace(survey, mdadm=known((4, 2))), each)

    monkeypatch.setattr("raidtui.features.advice.screen.advice_flow.mending", planned)
    async with running(sick()) as pilot:
        pane = await opened(pilot)
        at = next(number for number, row in enumerate(rows(pane)) if "neither a bitmap" in row)
        await pilot.press(*["down"] * at, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
        await until(pilot, lambda: "--bitmap=internal" in screen_text(pilot), "its command")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed", "the pane again")


async def pressed_on(pilot: Paces, words: str) -> None:
    """Press Enter on the row with these words."""
    pane = await opened(pilot)
    at = next(number for number, row in enumerate(rows(pane)) if words in row)
    await pilot.press(*["down"] * at, "enter")


async def test_without_a_channel_it_says_how_one_is_added() -> None:
    async with running(sick()) as pilot:
        await pressed_on(pilot, "a failed member alerts no one")
        await until(pilot, lambda: "no channel is configured" in message_of(pilot), "the refusal")


async def test_enter_shows_the_plan_of_the_alerts() -> None:
    host = sick()
    host.put("/etc/raidtui/alerts.toml", "")
    async with running(host) as pilot:
        await pressed_on(pilot, "a failed member alerts no one")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
        await until(pilot, lambda: "write /etc/raidtui/alert-hook" in screen_text(pilot), "its first step")


async def test_enter_shows_the_plan_of_the_checks() -> None:
    host = sick()
    host.put("/proc/500/cmdline", "/usr/sbin/cron\0-f\0")
    host.put("/usr/share/mdadm/checkarray", "#!/bin/sh\n")
    host.put("/etc/cron.d/mdadm", "57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all\n")
    host.put("/etc/default/mdadm", "AUTOCHECK=false\n")
    async with running(host) as pilot:
        await pressed_on(pilot, "no array is checked")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
        await until(pilot, lambda: "write /etc/default/mdadm" in screen_text(pilot), "its first step")


@SIZES
def test_the_plan_of_the_alerts(shows: Shows, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"PYTHONPATH": "/opt/raidtui"}
    for module in ("features.alerts.alert_plan", "host.own_units"):
        monkeypatch.setattr(f"raidtui.{module}.lasting_environment", lambda: own)
    monkeypatch.setattr("sys.executable", "/opt/raidtui/bin/python")

    async def show(pilot: Paces) -> None:
        await pressed_on(pilot, "a failed member alerts no one")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
        await pilot.pause()

    host = sick()
    host.put("/etc/raidtui/alerts.toml", "")
    host.put("/usr/lib/systemd/system/mdmonitor.service", "[Service]\n")
    shows(staged(host), size=size, prepare=show)


async def test_without_a_plan_it_says_so() -> None:
    async with running(sick()) as pilot:
        pane = await opened(pilot)
        at = next(number for number, row in enumerate(rows(pane)) if "hides 2 NVMe SSDs" in row)
        await pilot.press(*["down"] * at, "enter")
        await pilot.pause()
        assert message_of(pilot) == "there is no plan for this: its card says what to do"


@pytest.mark.usefixtures("kept")
async def test_what_is_ignored_goes_and_comes_again() -> None:
    async with running(sick(), size=WIDE) as pilot:
        pane = await opened(pilot)
        before = rows(pane)
        await pilot.press("i", "down", "down", "enter", "enter")
        await until(pilot, lambda: len(rows(pane)) == len(before) - 1, "one is gone")
        assert rows(pane) == before[1:]
        await pilot.press("a", "end")
        await until(pilot, lambda: len(rows(pane)) == len(before), "all are shown")
        text = screen_text(pilot)
        assert "by ada since" in text
        assert "for good" in text
        await pilot.press("i")
        await until(pilot, lambda: pane.look is not None and not pane.look.ignored, "it is reported again")
        await until(pilot, lambda: rows(pane) == before, "as before")


@pytest.mark.usefixtures("kept")
async def test_a_way_out_of_each_question() -> None:
    async with running(sick()) as pilot:
        pane = await opened(pilot)
        before = rows(pane)
        for keys in (("i", "escape"), ("i", "enter", "escape")):
            main_of(pilot).say("")  # what the question before has said
            await pilot.press(*keys)
            await until(pilot, lambda: message_of(pilot) == "nothing was changed", "left")
            assert rows(pane) == before
        await pilot.press("a")
        await pilot.pause()
        assert message_of(pilot) == "nothing is ignored"


async def test_a_host_that_is_not_live_keeps_nothing() -> None:
    async with running(sick()) as pilot:
        await opened(pilot)
        await pilot.press("i")
        await pilot.pause()
        assert message_of(pilot) == "this is not the live host, so ignored advice is not kept here"


async def test_nothing_is_read_before_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []
    look = AdviceSession.look

    async def noted(self: AdviceSession) -> object:
        asked.append(None)
        return await look(self)

    monkeypatch.setattr(AdviceSession, "look", noted)
    async with running(sick()) as pilot:
        for key in "134561":
            await pilot.press(key)
            await pilot.pause()
        assert asked == []
        await opened(pilot)
        assert len(asked) == 1
        await pilot.press("1", "7")
        await pilot.pause()
        assert len(asked) == 1
        await pilot.press("r")
        await until(pilot, lambda: len(asked) == 2, "read again")


async def test_the_filter() -> None:
    async with running(sick()) as pilot:
        pane = await opened(pilot)
        assert len(rows(pane)) > 2
        await pilot.press("slash", *"not-watched", "enter")
        await until(pilot, lambda: len(rows(pane)) == 1, "one row")
        assert "a failed member alerts no one" in rows(pane)[0]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (AdviceCount(at_s=1.0, attention=2), " ▲2"),
        (AdviceCount(at_s=1.0, attention=2, degraded=1), " ✖3"),
        (AdviceCount(at_s=1.0, failed=1), " ✖1"),
        (AdviceCount(at_s=1.0), ""),
        (None, ""),
    ],
)
async def test_the_tab_says_how_much_there_was(
    count: AdviceCount | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh = HostWatch.refresh
    monkeypatch.setattr(HostWatch, "refresh", lambda self: replace(refresh(self), advice=count))
    async with running(sick()) as pilot:
        await until(pilot, lambda: main_of(pilot).report is not None, "a report")
        await pilot.pause()
        tabs = screen_text(pilot).split("\n")[1]
        assert tabs.endswith(f"7 Advice{shown}")
