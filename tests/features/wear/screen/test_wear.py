"""Pane 3: pictures of disks in every state, its keys, and what it does not do before it is opened."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from raidtui.features.wear.screen.wear_pane import WearPane
from raidtui.features.wear.session import WearSession
from raidtui.frame.command_palette import palette_entries
from raidtui.model.finding import EventKind
from raidtui.monitor.wear.readings import WearReader
from raidtui.watch.watch import Report
from tests.demo.scene import Scene
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    WIDE,
    Paces,
    Prepares,
    Shows,
    app_of,
    has_focus,
    in_worker,
    lines_of,
    look,
    main_of,
    message_of,
    move,
    running,
    says,
    slider_text,
    staged,
    until,
)
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid10
from tests.monitor.wear.hosts import GB, TB, WearHost, asleep, denied, dom, evo, nvme

DATA = raid10("md127", "data", members=("sda2", "sdb2", "sdc2", "sdd2"), component_kib=219_726_562)
VM = raid5("md126", "vm", members=("nvme0n1p1", "nvme1n1p1", "nvme2n1p1"), component_kib=751_616_000)
HEALTHY = {
    **{
        f"sd{letter}": evo(f"sd{letter}", 12_400 * GB + number * 30 * GB)
        for number, letter in enumerate("abcd")
    },
    **{f"nvme{n}n1": nvme(f"nvme{n}n1", 5, 371 * TB + n * TB, hours=9000 + 3000 * n) for n in range(3)},
}
SAID: dict[str, Mapping[str, str]] = {
    "healthy": HEALTHY,
    "skewed": {**HEALTHY, "sdd": evo("sdd", 61_700 * GB, 89)},
    "worn-out": {
        **HEALTHY,
        "sdb": evo("sdb", 140 * TB, 7),
        "nvme1n1": nvme("nvme1n1", 104, 1800 * TB),
        "sdc": evo("sdc", 12_400 * GB, passed=False),
    },
    "unknown": {**HEALTHY, "sda": dom("sda", 16_932), "sdb": dom("sdb", 17_416, "Host_Writes")},
    "standby": {**HEALTHY, "sdc": asleep(), "sdd": asleep()},
}


def host(said: Mapping[str, str], *arrays: ArraySpec, **more: Any) -> WearHost:
    return WearHost(*(arrays or (DATA, VM)), said=said, **more)


def pane_of(pilot: Paces) -> WearPane:
    """The pane."""
    pane = main_of(pilot).panes["wear"]
    assert isinstance(pane, WearPane)
    return pane


async def opened(pilot: Paces) -> WearPane:
    """Open the pane, and wait for its first reading."""
    await pilot.press("3")
    await until(pilot, lambda: "wear" in main_of(pilot).panes, "the pane")
    pane = pane_of(pilot)
    await until(pilot, lambda: pane.look is not None, "the disks are read")
    await pilot.pause()
    return pane


def pressing(*keys: str) -> Prepares:
    """Open the pane and press keys."""

    async def press(pilot: Paces) -> None:
        await opened(pilot)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await settled(pilot)

    return press


async def settled(pilot: Paces) -> None:
    """Wait until nothing is read any more."""
    await until(pilot, lambda: not app_of(pilot).workers._workers, "all is read")
    await pilot.pause()


# -- pictures


@SIZES
@pytest.mark.parametrize("state", SAID)
def test_state(shows: Shows, state: str, size: tuple[int, int]) -> None:
    shows(staged(host(SAID[state])), size=size, prepare=pressing())


@SIZES
def test_without_root(shows: Shows, size: tuple[int, int]) -> None:
    said = {name: denied(name) for name in HEALTHY}
    shows(staged(host(said, writable=False)), size=size, prepare=pressing())


@SIZES
def test_without_smartctl(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host({}, installed=False)), size=size, prepare=pressing())


@ALL_SIZES
def test_demo(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing())


def test_none(shows: Shows) -> None:
    shows(staged(WearHost(raid1("md1", "ram", members=("loop0", "loop1")))), prepare=pressing())


@SIZES
def test_since(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing("d"))


@SIZES
def test_history(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing("j", "j", "j", "h"))


def test_odd_names(shows: Shows) -> None:
    said = {**HEALTHY, "sda": evo("sda", 12 * TB, model="[bold red]写真[/] \x1b[2J", serial="\u202e[UU_]")}
    shows(staged(host(said)), size=WIDE, prepare=pressing())


def test_least_size(shows: Shows) -> None:
    shows(staged(host(SAID["skewed"])), size=(60, 15), prepare=pressing())


def test_help(shows: Shows) -> None:
    shows(staged(host(HEALTHY)), prepare=pressing("question_mark"))


# -- what it does and does not do


async def test_no_disk_is_asked_before_the_pane_is_opened() -> None:
    root = host(HEALTHY)
    async with running(root) as pilot:
        await look(pilot)
        assert root.asked == []
        await opened(pilot)
        assert [argv[-1] for argv in root.asked] == [
            "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd", "/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1",
        ]  # fmt: skip


def test_nothing_of_wear_is_loaded_before() -> None:
    """Neither by the start, nor by the jobs that it asks about, nor by a sync that runs already."""
    code = """
import asyncio, sys
from tests.demo.scene import Scene
from tests.frame.staging import app_of, running
async def main():
    async with running(Scene().reader) as pilot:
        await app_of(pilot)._show_unfinished_job()
        app_of(pilot)._take(app_of(pilot).report)
        await pilot.pause()
        wear = ("raidtui.features.wear.screen", "raidtui.monitor.wear")
        print([name for name in sys.modules if name.startswith(wear) or name == "sqlite3"])
        await pilot.press("3")
        await pilot.pause()
        print("raidtui.monitor.wear.readings" in sys.modules)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\nTrue\n"


async def test_keys_behind_the_one_that_opens_it_are_the_panes() -> None:
    """Above all not the sliders', which write."""
    root = host(HEALTHY)
    async with running(root) as pilot:
        limit = slider_text(pilot, "min")
        await pilot.press("3", "h", "right", "left", "j")
        pane = pane_of(pilot)
        await until(pilot, lambda: pane.look is not None)
        assert has_focus(pilot, "#wear-list")
        assert root.writes == []
        await pilot.press("1")
        await pilot.pause()
        assert slider_text(pilot, "min") == limit
        assert has_focus(pilot, "#array-list")


async def test_choosing_a_disk() -> None:
    async with running(host(HEALTHY)) as pilot:
        pane = await opened(pilot)
        assert pane.chosen == "sda"
        for key, name in (("j", "sdb"), ("down", "sdc"), ("k", "sdb"), ("up", "sda"), ("up", "sda")):
            await pilot.press(key)
            assert pane.chosen == name
        await pilot.click("#wear-list", offset=(3, 4))
        assert pane.chosen == "nvme0n1"


async def test_read_again() -> None:
    root = host(HEALTHY)
    async with running(root) as pilot:
        await opened(pilot)
        root.said["sda"] = evo("sda", 13_000 * GB)
        await pilot.press("r")
        await until(pilot, lambda: "~13 TB" in lines_of(pilot, "#wear-list"))
        assert len(root.asked) == 14


async def test_coming_back_does_not_read_again_so_soon() -> None:
    root = host(HEALTHY)
    async with running(root) as pilot:
        pane = await opened(pilot)
        await pilot.press("1", "3")
        pane.come()
        await settled(pilot)
        assert len(root.asked) == 7
        pane._read_at_s -= 600
        pane.come()
        await settled(pilot)
        assert len(root.asked) == 14
        pane._read_at_s -= 600
        await pilot.press("1")
        pane.come()
        await settled(pilot)
        assert len(root.asked) == 14  # nobody looks


async def test_a_mark_and_what_came_since() -> None:
    root = host(HEALTHY)
    async with running(root) as pilot:
        await opened(pilot)
        await pilot.press("d")
        await says(pilot, "no mark yet: m marks this moment")
        await pilot.press("m")
        await until(
            pilot, lambda: message_of(pilot) == "marked at 21:25: d shows what is written from now on"
        )
        root.said["sda"] = evo("sda", 12_400 * GB + 216 * GB)
        await pilot.press("r")
        await settled(pilot)
        await pilot.press("d")
        assert "216 GB" in lines_of(pilot, "#wear-list").split("\n")[0]
        assert lines_of(pilot, "#wear-rule").startswith(" ── read 21:25 · since the mark of 20 Nov 21:25 ─")
        await pilot.press("d")
        assert "12.6 TB" in lines_of(pilot, "#wear-list").split("\n")[0]


async def test_nothing_is_marked_where_nothing_was_read() -> None:
    async with running(host({name: denied(name) for name in HEALTHY})) as pilot:
        await opened(pilot)
        await pilot.press("m")
        await until(pilot, lambda: message_of(pilot) == "no disk could be read: there is nothing to mark")


async def test_the_history_follows_the_choice() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        await pilot.press("h")
        await until(pilot, lambda: "S2R5NX0H812345" in lines_of(pilot, "#wear-body"))
        await pilot.press("j")
        await until(pilot, lambda: "S2R5NX0H812346" in lines_of(pilot, "#wear-body"))
        await pilot.press("h")
        assert not pane.opened
        assert "out of line" in lines_of(pilot, "#wear-body")


async def test_a_disk_without_a_serial_number_has_no_history() -> None:
    root = host(
        {"sda": denied("sda")},
        raid1("md1", "x", members=("sda", "sdb")),
        disks={"sda": {"serial": "", "wwn": ""}},
    )
    async with running(root) as pilot:
        await opened(pilot)
        await pilot.press("h")
        await until(
            pilot,
            lambda: message_of(pilot) == "sda reports no serial number: it has no history",
        )


async def test_the_filter() -> None:
    async with running(host(HEALTHY)) as pilot:
        await opened(pilot)
        await pilot.press("slash", *"micron", "enter")
        await pilot.pause()
        assert [line.split()[0] for line in lines_of(pilot, "#wear-list").split("\n")] == [
            "nvme0n1", "nvme1n1", "nvme2n1",
        ]  # fmt: skip
        await pilot.press("slash", *"x")
        assert lines_of(pilot, "#wear-list") == " No disk matches. Esc shows all."
        await pilot.press("escape")
        await pilot.pause()
        assert len(lines_of(pilot, "#wear-list").split("\n")) == 7


async def test_an_array_that_comes_is_drawn() -> None:
    root = host(HEALTHY, DATA)
    async with running(root) as pilot:
        await opened(pilot)
        assert " boot " not in lines_of(pilot, "#wear-body")
        await move(pilot, lambda: root.change(DATA, raid1("md9", "boot", members=("sda1", "sdb1"))))
        await pilot.press("r")
        await until(pilot, lambda: " boot " in lines_of(pilot, "#wear-body"))


async def test_the_palette_has_its_commands() -> None:
    async with running(host(HEALTHY)) as pilot:
        await opened(pilot)
        titles = [entry.shown for entry in palette_entries(app_of(pilot))]
        assert titles[:5] == [
            "Mark now (m)", "Since mark (d) – not now", "Self-test (t)", "Read again (r)", "History (h)",
        ]  # fmt: skip


# -- what syncs cost


RUNS = Syncing(action="recover", done_kib=4096, speed_kib_s=200_000)
PAIR = raid1("md127", "data", members=("sdc2", "sdd2"), component_kib=219_726_562)
RECOVERS = raid1(
    "md127", "data", members=("sdc2", "sdd2"), rebuilding=("sdd2",), sync=RUNS, component_kib=219_726_562
)


async def test_the_log_reports_what_a_recover_cost() -> None:
    root = host({"sdc": evo("sdc", 12 * TB), "sdd": evo("sdd", 12 * TB, 96)}, PAIR)

    def become(array: ArraySpec, written_bytes: int) -> None:
        root.change(array)
        root.wrote(sdc=0, sdc2=0, sdd=written_bytes, sdd2=written_bytes)

    async with running(root) as pilot:
        await move(pilot, lambda: become(RECOVERS, 7 * GB))
        await settled(pilot)
        assert [argv[-1] for argv in root.asked] == ["/dev/sdc", "/dev/sdd"]
        await move(pilot, lambda: become(PAIR, 232 * GB))
        await settled(pilot)
        reported = [event for event in main_of(pilot).events if event.kind is EventKind.WEAR]
        assert [(event.subject, event.text) for event in reported] == [
            ("data", "recover wrote 225 GB to sdd (0.084 % of its life)")
        ]
        await pilot.press("6")
        await pilot.pause()
        assert "data         recover wrote 225 GB to sdd (0.084 % of its life)" in lines_of(
            pilot, "#log-lines"
        )
        await pilot.press("3")
        await until(pilot, lambda: "20 Nov 21:25 recover: 225 GB to" in lines_of(pilot, "#wear-body"))


async def test_a_check_that_was_started_here() -> None:
    """Its report is there before the watch loop brings another one."""
    root = host({"sdc": evo("sdc", TB), "sdd": evo("sdd", TB)}, PAIR)
    async with running(root) as pilot:
        await pilot.press("c")
        await until(pilot, lambda: root.asked, "the first reading")
        await settled(pilot)
        assert [argv[-1] for argv in root.asked] == ["/dev/sdc", "/dev/sdd"]


async def test_nothing_is_asked_while_a_sync_runs_on() -> None:
    root = host({"sdc": evo("sdc", TB), "sdd": evo("sdd", TB)}, RECOVERS)
    async with running(root) as pilot:
        for written in range(5):
            await in_worker(pilot, partial(root.wrote, sdc2=0, sdd2=written * GB))
            await look(pilot)
        await settled(pilot)
        assert root.asked == []


async def test_a_live_hosts_disks_are_asked_in_a_thread_of_their_own(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs must not hold up the sampling."""
    monkeypatch.setattr("raidtui.monitor.wear.readings.ledger_path", lambda: tmp_path / "wear.sqlite")
    root = host(HEALTHY)
    root.live = True
    said: list[str] = []
    looked: list[str] = []

    def watching(reader: WearReader, *more: Any, **options: Any) -> Any:
        looked.append(threading.current_thread().name)
        return original(reader, *more, **options)

    original = WearReader.look
    monkeypatch.setattr(WearReader, "look", watching)
    report = cast("Report", SimpleNamespace(snapshot=root.sampler().sample()))
    shell, loop = SimpleNamespace(report=report), SimpleNamespace(reader=root)
    session = SimpleNamespace(reader=root, shell=shell, loop=loop, ratings={}, on_trouble=said.append)
    wearing = WearSession(cast("Any", session))
    found = await wearing.look(report.snapshot)
    assert [disk.name for disk in found.disks] == list(HEALTHY)
    assert looked == ["raidtui-host"]
    assert threading.current_thread().name != "raidtui-host"
    assert (await wearing.look(report.snapshot)).known_since_s is not None  # it was kept
    wearing._thread.close()
