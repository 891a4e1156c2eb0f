"""Pane 4's knobs without a column, the driver, the system; processors one by one and live."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.features.tune.session import Tuner
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import PlanView
from raidtui.host.readers.opening import open_root
from tests.features.tune.screen.tune_stage import AHEAD, at_rest, host, opened, pictured, row_of, wrote
from tests.frame.staging import (
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
from tests.hosts.tune_host import ACPI, CPUS, INTEL, POLICIES, RULES

CPU, VM_ROW, SYSTEM = ["down"] * 7, ["down"] * 9, ["down"] * 10
DRIFTED = 'ACTION=="add", ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"\n'
WANTS = "/etc/systemd/system/multi-user.target.wants"
BOOST = {f"{CPUS}/intel_pstate/hwp_dynamic_boost": "0"}


def more_of(pilot: Paces) -> str:
    """The line below the rule."""
    return lines_of(pilot, "#knob-rule").split("\n")[1]


# -- by keys


async def test_frequencies_go_by_tenths_of_a_gigahertz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raidtui.features.tune.screen.tune_pane._SETTLE_S", 3600.0
    )  # a busy machine lets keys wait
    kernel = host(cpus=INTEL)
    async with running(kernel) as pilot:
        pane = await opened(pilot, *CPU, "tab", "tab", "tab")
        head = " max_freq_khz of policy0, policy2: 4200000 kHz"
        await until(pilot, lambda: lines_of(pilot, "#knob-body").startswith(head))
        await pilot.press("left", "left")
        await until(pilot, lambda: "max [4.0 GHz]" in more_of(pilot))
        assert kernel.writes == []
        pane.settle()
        writes = [(f"{POLICIES}/policy{number}/scaling_max_freq", "4000000") for number in (0, 2)]
        await wrote(pilot, kernel, *writes)
        await says(pilot, "max_freq_khz 4200000 → 4000000 (policy0, policy2) · u undoes it")


async def test_the_drivers_mode_is_shown_first() -> None:
    """It replaces governors and limits of all processors: nothing that is done at a key's stroke."""
    kernel = host(cpus=INTEL, files=BOOST)
    mode = f"{CPUS}/intel_pstate/status"
    async with running(kernel) as pilot:
        pane = await opened(pilot, *CPU, *["tab"] * 4)
        assert pane.knob == "driver_mode"
        await at(pilot, PlanView, "right")
        assert f"echo passive > {mode}" in screen_text(pilot)
        assert "Another mode resets the processors' governors and limits." in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed" and at_rest(pilot))
        assert kernel.writes == []
        await at(pilot, PlanView, "right")
        await pilot.press("y")
        await wrote(pilot, kernel, (mode, "passive"))
        await pilot.press("equals_sign")
        await says(pilot, "all processors share one driver: the value is already the same")
        await pilot.press("k")
        await until(pilot, lambda: "kernel command line" in message_of(pilot) and at_rest(pilot))
        await pilot.pause()
        assert (
            "The driver's mode is kept on the kernel command line: intel_pstate=MODE or amd_pstate=MODE."
            in " ".join(lines_of(pilot, "#knob-body").split())
        )
        await pilot.press("tab", "right")
        await wrote(pilot, kernel, (mode, "passive"), (f"{CPUS}/intel_pstate/hwp_dynamic_boost", "1"))


async def test_what_a_driver_does_not_have_says_why() -> None:
    async with running(host(cpus=ACPI)) as pilot:
        await opened(pilot, *CPU, *["tab"] * 3, "right")
        assert message_of(pilot).startswith("the driver acpi-cpufreq has only one mode")
        await pilot.press("tab")
        assert "The driver acpi-cpufreq has no energy_performance_preference." in lines_of(
            pilot, "#knob-body"
        )


async def test_the_systems_limits() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot, *SYSTEM, "tab", "right")
        await wrote(pilot, kernel, ("/proc/sys/dev/raid/speed_limit_max", "400000"))
        assert row_of(pilot, 10) == " system    sync min        1000   sync max     [400000]  this run"
        await pilot.press("equals_sign")
        assert message_of(pilot).endswith("there is only one system")


async def test_an_array_that_follows_the_system() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        pane = await opened(pilot, *VM_ROW, "shift+tab", "right")
        assert pane.knob == "sync_speed_max"
        await says(pilot, "sync_speed_max of vm is system: press Enter to type a value")
        await at(pilot, Ask, "enter")
        assert "Now system; possible: 1 to 2147483647 KiB/s, or system." in screen_text(pilot)
        await pilot.press(*"300000", "enter")
        await wrote(pilot, kernel, ("md125/sync_speed_max", "300000"))
        assert "sync max [300000]" in more_of(pilot)
        await at(pilot, Ask, "enter")
        await pilot.press(*"system", "enter")
        await wrote(pilot, kernel, ("md125/sync_speed_max", "300000"), ("md125/sync_speed_max", "system"))


async def test_one_processor_alone() -> None:
    kernel = host(cpus=INTEL)
    async with running(kernel) as pilot:
        await opened(pilot, *CPU, "o", "down")
        assert [row_of(pilot, number)[:9] for number in (7, 8)] == [" cpu 0-1 ", " cpu 2-3 "]
        await pilot.press("left")
        await wrote(pilot, kernel, (f"{POLICIES}/policy2/scaling_governor", "performance"))
        await pilot.press("o")
        assert [row_of(pilot, number)[:9] for number in (7, 8)] == [" cpu 0-1 ", " cpu 2-3 "]
        await pilot.press("u")
        await until(pilot, lambda: row_of(pilot, 7).startswith(" cpu 0-3 "))


async def test_a_click_on_a_knob_without_a_column() -> None:
    async with running(host()) as pilot:
        pane = await opened(pilot)
        await pilot.click("#knob-rule", offset=(more_of(pilot).index("rotational"), 1))
        assert (pane.chosen, pane.knob) == ("sda", "rotational")
        await pilot.click("#knob-rule", offset=(3, 1))
        await pilot.click("#knob-rule", offset=(3, 0))
        assert pane.knob == "rotational"
        await at(pilot, Choice, "enter")


async def test_a_host_without_cpufreq_says_so_where_the_processors_would_be() -> None:
    async with running(host(cpus={})) as pilot:
        pane = await opened(pilot)
        assert [row_of(pilot, number).rstrip() for number in (6, 7)] == [
            " sdg       mq-deadline      32        64     128K      30 / ? s   kernel, ?",
            " cpu       no cpufreq on this host",
        ]
        await pilot.click("#knob-list", offset=(2, 8))
        assert pane.chosen == "md127"
        await pilot.click("#knob-list", offset=(2, 7))
        assert pane.chosen == "md127"
        await pilot.press("up")
        assert pane.chosen == "sdg"
        await pilot.press("down", "down")
        assert pane.chosen == "md125"
        said = " This host has no cpufreq: the hypervisor or the firmware decides how fast the\n processors"
        await until(pilot, lambda: f"{said} run." in lines_of(pilot, "#knob-body"))


async def test_a_capture_shows_the_same_pane(tmp_path: Path) -> None:
    kernel = host(
        cpus=INTEL,
        files={
            **AHEAD,
            RULES: DRIFTED,
            "/etc/default/cpupower": "governor=powersave",
            f"{WANTS}/cpupower.service": "",
        },
        writable=False,
    )
    shown = []
    target = tmp_path / "host.tar.gz"
    write_capture(kernel, target, with_serials=True)
    for root in (kernel, open_root(str(target))):
        async with running(root) as pilot:
            await opened(pilot)
            shown.append((lines_of(pilot, "#knob-list"), more_of(pilot), lines_of(pilot, "#knob-body")))
    assert shown[0] == shown[1]
    assert "raidtui keeps it at none" in shown[1][2]
    assert " cpu 0-3   powersave ▲    EPP  balance_performance  1.2 of 4.2 GHz  several" in shown[1][0].split(
        "\n"
    )


# -- live


async def test_processors_are_followed_while_a_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = host()
    running_now = [False]
    monkeypatch.setattr(Tuner, "measuring", property(lambda _: running_now[0]))
    async with running(kernel) as pilot:
        pane = await opened(pilot)
        assert pane._soon is None
        running_now[0] = True
        await pane.read()
        assert pane._soon is not None
        for number in (0, 2):
            kernel.by_hand(f"{POLICIES}/policy{number}/scaling_cur_freq", "3900000")
        await until(pilot, lambda: "3.9 of 4.2 GHz" in row_of(pilot, 7))  # it looks by itself
        running_now[0] = False
        knobs = pane.knobs()
        assert knobs is not None
        await until(pilot, lambda: not knobs.measuring)
        for number in (0, 2):
            kernel.by_hand(f"{POLICIES}/policy{number}/scaling_cur_freq", "1200000")
        await pane.read()
        assert "3.9 of 4.2 GHz" in row_of(pilot, 7)


# -- pictures


@SIZES
def test_frequencies(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host(files=BOOST)), size=size, prepare=pictured(*CPU, "tab", "tab", "tab"))


@SIZES
def test_a_drivers_mode(shows: Shows, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await opened(pilot, *CPU, *["tab"] * 4)
        await at(pilot, PlanView, "right")

    shows(staged(host(files=BOOST)), size=size, prepare=prepare)


@SIZES
def test_drift(shows: Shows, size: tuple[int, int]) -> None:
    kernel = host(files={**AHEAD, RULES: DRIFTED})
    shows(staged(kernel), size=size, prepare=pictured())


@SIZES
def test_one_by_one(shows: Shows, size: tuple[int, int]) -> None:
    kernel = host(cpus=ACPI, files={f"{POLICIES}/policy2/scaling_governor": "ondemand"})
    shows(staged(kernel), size=size, prepare=pictured(*CPU, "o", "tab", "tab", "tab"))


@SIZES
def test_an_arrays_knobs(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host()), size=size, prepare=pictured(*VM_ROW, "shift+tab"))
