"""Pane 6, and ``history``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CapturedPart, CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane
    from raidtui.host.readers.host_reader import HostReader


def _pane() -> type[Pane]:
    from raidtui.features.history.screen.log_pane import LogPane

    return LogPane


def _history() -> CommandModule:
    from raidtui.features.history import cli

    return cli


def _capture(reader: HostReader) -> CapturedPart:
    from raidtui.features.history.session import captured_part, read_for_capture

    return captured_part(read_for_capture(reader))


FEATURE = Feature(
    name="history",
    tab="log",
    pane=_pane,
    commands=(
        Subcommand(
            name="history",
            help="print what happened to arrays and disks, over all boots, and what it points to",
            module=_history,
        ),
    ),
    capture=_capture,
)
