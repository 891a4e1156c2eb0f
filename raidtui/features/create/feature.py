"""Pane 2, the wizard, and what zeroes a superblock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import Feature

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.model.absent import AbsentArray
    from raidtui.model.array import Array
    from raidtui.model.snapshot import Snapshot


async def _build(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.create.screen.build_flow import BuildFlow

    del array
    await BuildFlow(shell).build(snapshot)


async def _zero(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.create.screen.build_flow import BuildFlow

    del array
    await BuildFlow(shell).zero(snapshot)


FEATURE = Feature(name="create", flows={"build": _build, "zero": _zero})
