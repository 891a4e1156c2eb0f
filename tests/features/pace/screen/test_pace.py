"""``y``: what it asks, shows and refuses; the detail of an array whose sync yields."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from raidtui.host.md.array_names import read_uuid
from raidtui.model.pace import PacedArray, PaceNews, PaceWhy
from tests.frame.staging import (
    SIZES,
    Paces,
    Shows,
    app_of,
    look,
    main_of,
    running,
    says,
    screen_text,
    staged,
    until,
)
from tests.frame.states import REST, resyncing
from tests.hosts.kernel import Kernel
from tests.hosts.trees import EPOCH_S


def paced(**more: Any) -> Kernel:
    """A host whose first array is paced."""
    array = replace(resyncing(238_697_472, 110_000), limits=(1, more.get("limit_kib_s", 120_000)))
    kernel = Kernel(array, *REST)
    fields: dict[str, Any] = {
        "latency_ms": 14.25, "limit_kib_s": 120_000, "floor_kib_s": 1, "full_kib_s": 200_000, "queue": 4,
        "why": PaceWhy.LATENCY, "left_s": 5400.0, "by_s": EPOCH_S + 36_000.0, **more,
    }  # fmt: skip
    named = PacedArray(
        name=array.name, uuid=read_uuid(kernel, f"/sys/class/block/{array.name}/md") or "", title="data"
    )
    news = PaceNews(boot="boot", pid=7, started_s=1.0, at_s=EPOCH_S, array=named, target_ms=20.0, **fields)
    kernel.put("/proc/sys/kernel/random/boot_id", "boot\n")
    kernel.put("/run/raidtui/pace/1.json", msgspec.json.encode(news).decode())
    return kernel


def pressing(*keys: str) -> Any:
    async def press(pilot: Paces) -> None:
        await pilot.press(*keys)
        await pilot.pause()

    return press


@SIZES
def test_it_yields(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(paced()), size=size)


@SIZES
def test_it_does_not_hold(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(paced(latency_ms=71.0, why=PaceWhy.DEADLINE, limit_kib_s=160_000)), size=size)


@SIZES
def test_what_is_held(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(resyncing(238_697_472, 494_000), *REST)), size=size, prepare=pressing("y", *"20"))


@SIZES
def test_what_is_written(shows: Shows, size: tuple[int, int]) -> None:
    kernel = Kernel(resyncing(238_697_472, 494_000), *REST)

    async def type_it(pilot: Paces) -> None:
        await pilot.press("y", *"20 24", "enter")
        await until(pilot, lambda: "comes back" in screen_text(pilot))

    shows(staged(kernel), size=size, prepare=type_it)


@SIZES
def test_its_end(shows: Shows, size: tuple[int, int]) -> None:
    async def ask(pilot: Paces) -> None:
        await pilot.press("y")
        await until(pilot, lambda: "end the pacing" in screen_text(pilot))

    shows(staged(paced()), size=size, prepare=ask)


async def test_this_host_is_no_live_one() -> None:
    """All that is asked is asked, and nothing is written."""
    kernel = Kernel(resyncing(238_697_472, 494_000), *REST)
    async with running(kernel) as pilot:
        await pilot.press("y", *"20", "enter")
        await until(pilot, lambda: "comes back" in screen_text(pilot))
        await pilot.press("y")
        await says(pilot, "a simulated or captured host is never changed")
        await until(pilot, lambda: not app_of(pilot).in_flow)
        await pilot.press("y", *"fast", "enter")
        await says(pilot, "fast: type the milliseconds, and if the sync has to end, in how many hours")
        await until(pilot, lambda: not app_of(pilot).in_flow)
        await pilot.press("y", *"20", "enter")
        await until(pilot, lambda: "comes back" in screen_text(pilot))
        await pilot.press("escape")
        await says(pilot, "nothing was changed")
    assert kernel.writes == []


async def test_without_a_sync_it_says_why_not() -> None:
    async with running(Kernel(*REST)) as pilot:
        assert main_of(pilot).arrays.why_not("arrays.pace").startswith("nothing is synced on ")


async def test_limits_that_move_are_no_events() -> None:
    kernel = paced()
    async with running(kernel) as pilot:
        app = main_of(pilot)
        first = resyncing(238_697_472, 110_000)
        for limit_kib_s in (90_000, 70_000):
            news = kernel.text("/run/raidtui/pace/1.json") or ""
            kernel.change(replace(first, limits=(1, limit_kib_s)), *REST)
            kernel.put("/proc/sys/kernel/random/boot_id", "boot\n")
            kernel.put("/run/raidtui/pace/1.json", news)
            await look(pilot)
        assert "limit" not in " ".join(each.text for each in app.app.log_events)  # type: ignore[attr-defined]
