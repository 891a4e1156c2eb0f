"""Grow, convert, shrink, and journals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import Feature, Verbs
from raidtui.model.array import Array

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.model.absent import AbsentArray
    from raidtui.model.snapshot import Snapshot


def _verbs() -> Verbs:
    from raidtui.features.reshape.cli_plan import VERBS

    return VERBS


async def _grow(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.reshape.screen.grow_flow import GrowFlow

    if isinstance(array, Array):
        await GrowFlow(shell).run(array, snapshot)


FEATURE = Feature(name="reshape", verbs=_verbs, flows={"grow": _grow})
