"""Pane 4: pictures, when it reads, who may, how one moves about."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys

from msgspec.structs import replace

from raidtui.demo.demo_host import demo_root
from raidtui.frame.choose import Choice
from raidtui.frame.help import HelpScreen
from raidtui.model.knob import KnobScope, Tuning
from raidtui.model.snapshot import Snapshot
from tests.features.tune.screen.tune_stage import AHEAD, VM, at_rest, host, opened, pictured, row_of
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    Paces,
    Shows,
    at,
    lines_of,
    message_of,
    running,
    says,
    screen_text,
    staged,
    until,
)
from tests.frame.states import CHECK
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, POLICIES

# -- pictures


@ALL_SIZES
def test_plain(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host()), size=size, prepare=pictured())


@SIZES
def test_a_member_that_differs(shows: Shows, size: tuple[int, int]) -> None:
    rule = 'KERNEL=="sdc", ATTR{device/queue_depth}="1"\n'
    kernel = host(
        nodes={"sdc": {"device/queue_depth": "1"}, "sdd": {"queue/scheduler": "[none] mq-deadline"}},
        files={**AHEAD, "/etc/udev/rules.d/60-ssd.rules": rule},
    )
    shows(staged(kernel), size=size, prepare=pictured("down", "down", "tab"))


@SIZES
def test_powersave(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host(cpus=INTEL)), size=size, prepare=pictured(*["down"] * 7))


@SIZES
def test_no_cpufreq(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host(cpus={})), size=size, prepare=pictured())


@SIZES
def test_without_root(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host(writable=False)), size=size, prepare=pictured("right"))


@SIZES
def test_a_refused_write(shows: Shows, size: tuple[int, int]) -> None:
    kernel = host()
    kernel.refuses["sda/queue/scheduler"] = errno.EINVAL

    async def prepare(pilot: Paces) -> None:
        await opened(pilot, "left")
        await until(pilot, lambda: "not done" in message_of(pilot) and at_rest(pilot))

    shows(staged(kernel), size=size, prepare=prepare)


@SIZES
def test_profiles(shows: Shows, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await opened(pilot)
        await at(pilot, Choice, "P")

    shows(staged(host(cpus=INTEL)), size=size, prepare=prepare)


# -- reading


async def test_somebody_elses_change_is_seen() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        pane = await opened(pilot)
        kernel.by_hand(f"{BLOCK}/sdb/device/queue_depth", "7")
        pane.look()
        await until(pilot, lambda: " 7 ▲" in row_of(pilot, 1))


async def test_a_fresh_reading_that_is_asked_for_during_another_comes_after_it() -> None:
    """A rule that was just written must not be missed because the values were being read."""
    async with running(host()) as pilot:
        pane = await opened(pilot)
        knobs = pane.knobs()
        assert knobs is not None
        read, asked, go_on = knobs.read, list[bool](), asyncio.Event()

        async def slow(snapshot: Snapshot, *, afresh: bool = False) -> Tuning:
            asked.append(afresh)
            tuning = await read(snapshot, afresh=afresh)
            await go_on.wait()
            return tuning

        knobs.read = slow  # type: ignore[method-assign]
        pane.look()
        await until(pilot, lambda: asked == [False])
        pane.action_read()
        await pilot.pause()
        go_on.set()
        await until(pilot, lambda: at_rest(pilot))
        assert asked == [False, True]


async def test_nothing_is_read_while_the_pane_is_hidden() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot)
        assert pane._timer is not None
        assert pane._timer._active.is_set()
        await pilot.press("1")
        assert not pane._timer._active.is_set()
        before = pane._read_at_s
        pane.look()
        await pilot.pause()
        assert (pane._read_at_s, pane._reading) == (before, None)


async def test_processors_are_followed_while_a_sync_runs() -> None:
    kernel = host()
    policies = ("policy0", "policy2")

    def run_at(khz: int) -> None:
        for name in policies:
            kernel.by_hand(f"{POLICIES}/{name}/scaling_cur_freq", f"{khz}")

    def khz_of(tuning: Tuning | None) -> set[int | None]:
        return {each.now_khz for each in tuning.of(KnobScope.POLICY)} if tuning is not None else set()

    async with running(kernel) as pilot:
        pane = await opened(pilot)
        drawn: list[set[int | None]] = []
        pane.redraw = lambda: drawn.append(khz_of(pane.tuning))  # type: ignore[method-assign]
        run_at(3_900_000)
        pane.look()
        await until(pilot, lambda: khz_of(pane.tuning) == {3_900_000})
        assert drawn == []
        kernel.change(replace(FOUR, sync=CHECK), VM)
        await until(pilot, lambda: pane.report is not None and pane.report.snapshot.syncing)
        run_at(2_900_000)
        pane.look()
        await until(pilot, lambda: {2_900_000} in drawn, "drawn")


# -- who may


async def test_without_root_values_are_shown_and_nothing_is_written() -> None:
    kernel = host(writable=False)
    async with running(kernel) as pilot:
        for key in ("left", "right", "equals_sign", "k", "K", "u", "P", "enter"):
            await opened(pilot, key)
            await says(pilot, "needs root; run it as: sudo raidtui")
        await at(pilot, HelpScreen, "question_mark")
        assert "needs root" in screen_text(pilot)
    assert kernel.writes == []


async def test_the_demo_host_takes_values_and_keeps_none() -> None:
    async with running(demo_root()) as pilot:
        await opened(pilot)
        await pilot.press("left")
        await until(pilot, lambda: "none" in message_of(pilot))
        await says(pilot, "scheduler mq-deadline → none (sda) · u undoes it")
        await pilot.press("slash", *"policy", "enter", "left")
        await until(pilot, lambda: "performance" in message_of(pilot))
        await says(
            pilot, "governor schedutil → performance (policy0, policy1, policy2, policy3) · u undoes it"
        )
        await until(pilot, lambda: "[performance]" in screen_text(pilot), "it is read back")


# -- the rest


async def test_the_filter() -> None:
    async with running(host()) as pilot:
        await opened(pilot)
        await pilot.press("slash", *"sdf")
        await until(pilot, lambda: lines_of(pilot, "#knob-list").startswith(" sdf"))
        assert len(lines_of(pilot, "#knob-list").split("\n")) == 1
        await pilot.press(*"xx")
        assert lines_of(pilot, "#knob-list") == " Nothing matches. Esc shows all."


async def test_a_click_chooses_a_knob() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot)
        await pilot.click("#knob-list", offset=(38, 2))
        assert (pane.chosen, pane.knob) == ("sdc", "nr_requests")
        assert row_of(pilot, 2).startswith(" sdc       mq-deadline      32       [64] ")


async def test_the_choice_goes_round_in_a_row() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot, "shift+tab")
        assert pane.knob == "discard_max_bytes"
        assert lines_of(pilot, "#knob-rule").split("\n")[1] == (
            " more      affinity  1   wbt  2000µs   rotational  0   discard [2.0 GiB]"
        )
        await pilot.press("tab")
        assert pane.knob == "scheduler"


def test_nothing_of_it_is_loaded_before_it_is_opened() -> None:
    code = (
        "import sys, raidtui.app.app; print(sorted(name for name in sys.modules if name.startswith("
        "('raidtui.features.tune', 'raidtui.app.leaving', 'raidtui.host.knobs.knob_reader',"
        " 'raidtui.plans.tune.now'))))"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
