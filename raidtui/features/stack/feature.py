"""The page of what stands on what, ``stack``, and plans for caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Verbs

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.model.absent import AbsentArray
    from raidtui.model.array import Array
    from raidtui.model.snapshot import Snapshot


def _stack() -> CommandModule:
    from raidtui.features.stack import cli

    return cli


def _verbs() -> Verbs:
    from raidtui.features.stack.cli_plan import VERBS

    return VERBS


async def _page(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.stack.screen.stack_screen import show_stack

    del array, snapshot
    await show_stack(shell, shell.chosen_device)


FEATURE = Feature(
    name="stack",
    commands=(
        Subcommand(
            name="stack", help="show what is on which device, its load, balance and caches", module=_stack
        ),
    ),
    verbs=_verbs,
    flows={"stack": _page},
)
