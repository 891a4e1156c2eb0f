"""Pane 4 upon a host with knobs: opened, waited for, read."""

from __future__ import annotations

from raidtui.features.tune.screen.tune_pane import TunePane
from tests.frame.staging import Paces, Prepares, lines_of, main_of, until
from tests.hosts.kernel import ends
from tests.hosts.specs import raid5
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, TuneHost, parity

VM = raid5(label="vm", members=("sde", "sdf", "sdg"), bitmap=(1, 2), attributes=parity(read_ahead_kb="1024"))
FAST = {**INTEL, "scaling_governor": "performance", "energy_performance_preference": "performance"}
AHEAD = {f"{BLOCK}/{name}/queue/read_ahead_kb": "512" for name in ("md127", "md125")}


def host(**more: object) -> TuneHost:
    """An array of four SSDs, one with parity, processors at full speed."""
    given: dict[str, object] = {"cpus": FAST, "files": AHEAD, **more}
    return TuneHost(FOUR, VM, **given)  # type: ignore[arg-type]


def pane_of(pilot: Paces) -> TunePane:
    found = main_of(pilot).panes["tune"]
    assert isinstance(found, TunePane)
    return found


def at_rest(pilot: Paces) -> bool:
    """Whether all that was asked for is done and shown."""
    pane = pane_of(pilot)
    return pane.tuning is not None and not pane.acting and not pane.asked and pane._reading is None


async def opened(pilot: Paces, *keys: str) -> TunePane:
    """Open the pane, and press keys in it."""
    await pilot.press("4")
    await until(pilot, lambda: "tune" in main_of(pilot).panes and at_rest(pilot), "the values")
    await pilot.press(*keys)
    await until(pilot, lambda: at_rest(pilot), "rest")
    await pilot.pause()
    return pane_of(pilot)


async def wrote(pilot: Paces, kernel: TuneHost, *writes: tuple[str, str]) -> None:
    """Wait for writes and until they are shown; nothing else may have been written."""
    await until(pilot, lambda: len(kernel.writes) >= len(writes), f"{writes}, not {kernel.writes}")
    await until(pilot, lambda: at_rest(pilot))
    await pilot.pause()
    assert ends(kernel.writes) == list(writes)


def pictured(*keys: str) -> Prepares:
    """Return what opens the pane, and presses keys in it, before a picture is taken."""

    async def prepare(pilot: Paces) -> None:
        await opened(pilot, *keys)

    return prepare


def row_of(pilot: Paces, number: int) -> str:
    return lines_of(pilot, "#knob-list").split("\n")[number]
