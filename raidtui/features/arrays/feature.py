"""Pane 1, which the console opens with, and ``status``."""

from __future__ import annotations

from raidtui.frame.feature import CommandModule, Feature, Subcommand


def _status() -> CommandModule:
    from raidtui.features.arrays import cli

    return cli


FEATURE = Feature(
    name="arrays",
    commands=(
        Subcommand(name="status", help="print the state of the arrays, and exit with it", module=_status),
    ),
)
