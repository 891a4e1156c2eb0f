"""Walks all panes and some dialogs, in a Python of its own: how Textual is used is decided at the import."""

from __future__ import annotations

import asyncio
import json
import os

from tests.frame.staging import Paces, app_of, main_of, running, screen_text, until
from tests.frame.states import ARRAYS
from tests.hosts.kernel import Kernel


async def walk() -> dict[str, str]:
    """Return what each pane and dialog shows."""
    shown: dict[str, str] = {}
    kernel = Kernel(*ARRAYS["optimal"])
    async with running(kernel, size=(100, 36)) as pilot:
        panes = {"wear": "3", "tune": "4", "bench": "5", "log": "6", "advice": "7", "arrays": "1"}
        for name, key in panes.items():
            await pilot.press(key)
            await until(pilot, lambda name=name: main_of(pilot).pane == name)  # type: ignore[misc]
            await pilot.pause()
            shown[name] = screen_text(pilot)
        await pilot.press("down", "up", "l", "right", "escape")
        shown["help"] = await dialog(pilot, "question_mark", "Esc back")
        shown["palette"] = await dialog(pilot, "ctrl+p", "Stop (T)")
        shown["jobs"] = await dialog(pilot, "J", "there are no jobs yet")
        shown["replace"] = await dialog(pilot, "R", "run raidtui as root")
        shown["rename"] = await dialog(pilot, "N", "name▏", *"name")
        await pilot.press("slash", *"data", "enter")
        await pilot.pause()
        shown["filter"] = screen_text(pilot)
        await pilot.press("slash", "escape", "c")
        await until(pilot, lambda: kernel.writes, "the check begins")
        shown["writes"] = str(kernel.writes)
        shown["repaints"] = "yes" if vars(type(main_of(pilot)))["focused"]._repaint else "no"
        shown["status"] = str(app_of(pilot).crash)
    return shown


async def dialog(pilot: Paces, key: str, filled: str, *keys: str) -> str:
    """Open a dialog, press keys in it, and leave it once it is filled; return what it showed.

    Args:
        pilot: presses keys.
        key: opens it.
        filled: what it shows when everything has been read and typed.
        keys: pressed in it.
    """
    await pilot.press(key)
    await until(pilot, lambda: len(pilot.app.screen_stack) == 2, f"the dialog of {key}")
    await pilot.press(*keys)
    await until(pilot, lambda: filled in screen_text(pilot), f"the dialog of {key} is filled")
    await pilot.pause()
    shown = screen_text(pilot)
    await pilot.press("escape")
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1, f"the dialog of {key} closes")
    return shown


if __name__ == "__main__":
    os.geteuid = lambda: 12345  # root's jobs are the machine's
    print(json.dumps(asyncio.run(walk())))  # noqa: T201
