"""The rescue guide, the comparison of members, and ``rescue``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CapturedPart, CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.model.absent import AbsentArray
    from raidtui.model.array import Array
    from raidtui.model.snapshot import Snapshot


def _rescue() -> CommandModule:
    from raidtui.features.rescue import cli

    return cli


async def _guide(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.rescue.screen.rescue_flow import RescueFlow

    uuid, label = (array.uuid, array.title) if array is not None else (None, "")
    await RescueFlow(shell).guide(snapshot, uuid, label)


async def _mismatches(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.rescue.screen.following_pages import show_mismatches

    del snapshot
    await show_mismatches(shell, array)


def _capture(reader: HostReader) -> CapturedPart:
    from raidtui.features.rescue.session import capture_members

    return capture_members(reader)


FEATURE = Feature(
    name="rescue",
    commands=(
        Subcommand(
            name="rescue", help="show why arrays do not start, and how to bring them back", module=_rescue
        ),
    ),
    flows={"assemble": _guide, "mismatches": _mismatches},
    capture=_capture,
)
