"""In the smallest window, beside a scroll bar, a figure is whole or not there: half of it is another one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from raidtui.first_frame import SMALLEST
from tests.features.tune.screen import tune_stage
from tests.features.wear.screen import test_wear
from tests.frame.staging import Paces, main_of, move, play, rows_of, running, screen_text
from tests.frame.states import ARRAYS, STATES, resync_life
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid1, raid5

LARGE = (200, 60)
_UNITS = ("MB/s", "KB/s", "KiB/s", "GiB", "TiB", "MiB", "GB", "TB", "ms", "min", "KiB", "GHz")
_CUT = re.compile(r"^[^\w]*\d[\d.,:]*…$")
_NUMBER = re.compile(r"^\d[\d.,:]*$")


def figures(text: str) -> set[str]:
    """The numbers of a text, each with the unit behind it, where it has one."""
    found = set()
    words = re.sub(r"min +├|[│┤├●○▁▂▃▄▅▆▇█─]", " ", text).split()  # that min is a limit
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if _NUMBER.match(word) or _CUT.match(word):
            unit = any(each.startswith(following) for each in _UNITS) and following
            found.add(f"{word} {following}" if unit else word)
    return found


def body_of(pilot: Paces) -> str:
    """The screen without header, tabs, message and footer."""
    return "\n".join(screen_text(pilot).split("\n")[2:-2])


async def shown(
    root: Any, size: tuple[int, int], go: Callable[[Paces], Awaitable[Any]] | None = None
) -> set[str]:
    """The figures of each row's screen."""
    found = set()
    async with running(root, size=size) as pilot:
        if go is not None:
            await go(pilot)
        rows = main_of(pilot).in_view.rows
        for _ in range(len(rows.lines)):
            found |= figures(body_of(pilot))
            await pilot.press("down")
            await pilot.pause()
    return found


def test_half_a_figure_is_seen() -> None:
    whole = figures("raid5 ls 512K 420 GiB 54.2 % 501 MB/s 7 min ends about 14:07")
    assert whole == {"420 GiB", "54.2", "501 MB/s", "7 min", "14:07"}
    for cut in ("54.2 %  50", "54.2 %  501 MB", "501 MB/s 7 m", "about 14:0", "54…"):
        assert not figures(cut) <= whole


@pytest.mark.parametrize("state", sorted(set(STATES) - {"many", "no-md", "no-arrays"}))
async def test_arrays(state: str) -> None:
    assert await shown(STATES[state], SMALLEST) <= await shown(STATES[state], LARGE)


def many(speed_kib_s: int) -> tuple[Any, ...]:
    """More arrays than there is room for; one is checked."""
    sync = Syncing(action="check", done_kib=110_000_000 + speed_kib_s, speed_kib_s=speed_kib_s)
    rest = (
        raid1(f"md{number}", f"v{number}", members=(f"sd{number}a", f"sd{number}b")) for number in range(6)
    )
    return (raid5("md127", "data", sync=sync, limits=(1_000_000, 2_000_000)), *rest)


@pytest.mark.parametrize("speed_kib_s", [98, 9_800, 489_258, 1_220_000, 12_000_000])
async def test_rows_beside_a_scroll_bar(speed_kib_s: int) -> None:
    rows = []
    for size in (SMALLEST, LARGE):
        kernel = Kernel(*many(0))
        async with running(kernel, size=size) as pilot:
            await move(pilot, lambda kernel=kernel: kernel.change(*many(speed_kib_s)))  # type: ignore[misc]
            rows.append(figures(rows_of(pilot)[0]))
            assert main_of(pilot).arrays.rows.show_vertical_scrollbar == (size == SMALLEST)
    assert rows[0] <= rows[1]
    assert len(rows[0]) >= 2


async def test_a_resync_that_is_measured() -> None:
    texts = []
    for size in (SMALLEST, LARGE):
        kernel = Kernel(*ARRAYS["optimal"])
        async with running(kernel, size=size) as pilot:
            await play(pilot, kernel, resync_life())
            texts.append(" ".join(rows_of(pilot)))
    assert figures(texts[0]) <= figures(texts[1])
    assert "54.2 %" in texts[0]
    assert "487 MB/s" in texts[0]


@pytest.mark.parametrize("said", sorted(test_wear.SAID))
async def test_disks(said: str) -> None:
    size_of = {"small": SMALLEST, "years": (80, 60), "months": LARGE}  # of the end of a disk's life
    found = {
        name: await shown(test_wear.host(test_wear.SAID[said]), size, test_wear.opened)
        for name, size in size_of.items()
    }
    assert found["small"] <= found["years"] | found["months"]


async def test_knobs() -> None:
    small = await shown(tune_stage.host(), SMALLEST, tune_stage.opened)
    assert small <= await shown(tune_stage.host(), LARGE, tune_stage.opened)
