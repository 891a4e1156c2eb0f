"""``fleet`` and ``ssh``: many hosts."""

from __future__ import annotations

from raidtui.frame.feature import CommandModule, Feature, Subcommand


def _fleet() -> CommandModule:
    from raidtui.features.fleet import cli

    return cli


def _ssh() -> CommandModule:
    from raidtui.features.fleet import cli_ssh

    return cli_ssh


FEATURE = Feature(
    name="fleet",
    commands=(
        Subcommand(name="fleet", help="show the arrays of many hosts, worst first, by ssh", module=_fleet),
        Subcommand(
            name="ssh", help="bring raidtui to a host by ssh, and run it there on this terminal", module=_ssh
        ),
    ),
)
