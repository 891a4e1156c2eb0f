"""The page on which a disk is exchanged, and ``pull``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.model.absent import AbsentArray
    from raidtui.model.array import Array
    from raidtui.model.snapshot import Snapshot


def _pull() -> CommandModule:
    from raidtui.features.pull import cli

    return cli


async def _page(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.pull.screen.pull_flow import PullFlow

    await PullFlow(shell).run(array, snapshot)


def _opening_words() -> tuple[str, ...]:
    from raidtui.features.pull.record import opening_words

    return opening_words()


FEATURE = Feature(
    name="pull",
    commands=(
        Subcommand(
            name="pull",
            help="exchange a disk: which one it is, which one has left, the new one put in",
            module=_pull,
        ),
    ),
    flows={"locate": _page},
    opening_words=_opening_words,
)
