"""The screen upon a staged host: times come from the stage, and waiting is for conditions alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual._context import visible_screen_stack
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

import raidtui.app
from raidtui.app.app import RaidApp
from raidtui.app.main_screen import MainScreen
from raidtui.config import Config
from raidtui.features.arrays.screen.slider import Slider
from raidtui.frame.lines import LineBox, Lines, ScrollLines
from raidtui.host.readers.host_reader import HostReader
from raidtui.watch.watch import Report
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.hosts.trees import Stage, Tree

SMALL, WIDE = (80, 24), (120, 40)
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
"""For tests whose picture is taken in a small and in a wide window."""
LARGE = (200, 60)
ALL_SIZES = pytest.mark.parametrize("size", [SMALL, WIDE, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
"""For tests whose picture is taken in a large one, too: there is more room than there are words."""
PATIENCE_S = 60.0  # on a busy machine; nothing waits longer than it must

Paces = Pilot[int]
Prepares = Callable[[Paces], Awaitable[None]]
Shows = Callable[..., None]
"""The fixture ``shows``: compares a screen with its accepted picture."""


class StagedApp(RaidApp):
    """The console; ends its worker with itself."""

    CSS_PATH: ClassVar[str] = str(Path(raidtui.app.__file__).parent / "raidtui.tcss")

    async def _press_keys(self, keys: Iterable[str]) -> None:
        """Press keys, and wait until each has been delivered that does not wait for a form."""
        await super()._press_keys(keys)
        while self._held and self._passing and not self._opening and not self._exit:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    async def on_unmount(self) -> None:
        if not self.session.loop._stopped:
            await self.session.loop.stop()


def staged(root: HostReader | Tree, *, theme: str | None = "dark", config: Config | None = None) -> StagedApp:
    """Return the console on a host."""
    return StagedApp(root.root() if isinstance(root, Tree) else root, config=config, theme=theme)


@asynccontextmanager
async def running(
    root: HostReader | Tree,
    *,
    size: tuple[int, int] = SMALL,
    theme: str | None = "dark",
    config: Config | None = None,
) -> Any:
    """Run the console; gives its pilot."""
    app = staged(root, theme=theme, config=config)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot


def app_of(pilot: Paces) -> StagedApp:
    """The console."""
    assert isinstance(pilot.app, StagedApp)
    return pilot.app


def main_of(pilot: Paces) -> MainScreen:
    """The main screen."""
    return app_of(pilot).main


async def until(pilot: Paces, condition: Callable[[], object], what: str = "") -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: it is not reached; the screen is in the error.
    """
    loop = asyncio.get_running_loop()
    end_s = loop.time() + PATIENCE_S
    while not condition():
        assert loop.time() < end_s, f"{what or condition} never held; the screen:\n{screen_text(pilot)}"
        await pilot.pause(0.005)


async def in_worker(pilot: Paces, work: Callable[[], Any]) -> Any:
    """Run something in the thread that alone reads and writes the host."""
    return await app_of(pilot).session.loop._thread.run(work)


async def play(pilot: Paces, stage: Stage, trees: Iterable[Tree], *, after_s: float = 1.0) -> None:
    """Let a host live through trees; the screen gets a report of each."""
    app = app_of(pilot)
    watch = app.session.loop.watch

    def live() -> Iterator[Report]:
        for tree in trees:
            stage.show(tree, after_s=after_s)
            yield watch.refresh()

    reports = await in_worker(pilot, lambda: list(live()))
    for report in reports:
        app._take(report)
    await seen(pilot, stage)


async def look(pilot: Paces) -> None:
    """Sample, and wait until the screen has the report, if it shows anything new."""
    app = app_of(pilot)
    loop = app.session.loop
    await in_worker(pilot, loop._beat)
    await until(pilot, lambda: not loop._undelivered, "the report is delivered")
    await pilot.pause()


async def seen(pilot: Paces, stage: Stage) -> None:
    """Wait until the screen shows what the stage has reached."""
    app = app_of(pilot)
    await until(
        pilot,
        lambda: app.report is not None and app.report.snapshot.taken_s == stage.now_s(),
        "the report of the last tree",
    )
    await pilot.pause()


async def move(pilot: Paces, change: Callable[[], None]) -> None:
    """Change the host, and wait for the report about it."""
    await in_worker(pilot, change)
    await look(pilot)


async def at(pilot: Paces, screen: type[Any] | tuple[type[Any], ...], *keys: str) -> Any:
    """Press keys, and wait until such a screen is there."""
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(pilot.app.screen, screen), f"{screen} in view")
    await pilot.pause()
    return pilot.app.screen


async def asked(pilot: Paces) -> None:
    """Wait until a question is on the screen."""

    def there() -> bool:
        found = pilot.app.screen.query("#question-answers").results(Lines)
        return any(len(lines.lines) > 1 for lines in found)

    await until(pilot, there, "a question")


# -- reading the screen


def lines_of(pilot: Paces, selector: str) -> str:
    """The text of a widget made of lines."""
    box = pilot.app.screen.query_one(selector)
    assert isinstance(box, LineBox)
    return box.text


def message_of(pilot: Paces) -> str:
    """The sentence above the footer."""
    lines = main_of(pilot).query_one("#bottom", Lines).text.split("\n")[:-1]
    return " ".join(line.strip() for line in lines)


async def says(pilot: Paces, sentence: str) -> None:
    """Wait for a sentence above the footer; an earlier one may still be there."""
    await until(pilot, lambda: message_of(pilot) == sentence, sentence)


def header_of(pilot: Paces) -> str:
    """The first line."""
    return main_of(pilot).query_one("#top", Lines).text.split("\n")[0]


def rows_of(pilot: Paces) -> list[str]:
    """The list of arrays."""
    return main_of(pilot).query_one("#array-list", ScrollLines).text.split("\n")


def slider_of(pilot: Paces, word: str) -> Slider:
    """A slider."""
    return main_of(pilot).query_one(f"#{word}", Slider)


def slider_text(pilot: Paces, word: str) -> str:
    """A slider as it is drawn."""
    return slider_of(pilot, word).render_line(0).text.rstrip()


def screen_text(pilot: Paces) -> str:
    """All cells of the screen in view, a dialog's on those of the screen below it."""
    screen = pilot.app.screen
    visible_screen_stack.set(pilot.app._background_screens)
    strips = screen._compositor.render_strips(screen.size)
    return "\n".join(strip.text.rstrip() for strip in strips)


def has_focus(pilot: Paces, selector: str) -> bool:
    """Whether a widget of the main screen has the focus."""
    found: Widget = main_of(pilot).query_one(selector)
    return found.has_focus


def with_screen(make: Callable[[], Screen[Any]], *keys: str) -> Prepares:
    """Open a dialog and press keys."""

    async def prepare(pilot: Paces) -> None:
        await pilot.app.push_screen(make())
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        await pilot.pause()

    return prepare


def shown(
    shows: Callable[..., None], make: Callable[[], Screen[Any]], *keys: str, size: tuple[int, int] = SMALL
) -> None:
    """Compare a dialog after some keys with the accepted picture."""
    shows(staged(Kernel(raid10())), size=size, prepare=with_screen(make, *keys))
