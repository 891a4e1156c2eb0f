"""``boot-check``, and the plans that fix a part of the boot."""

from __future__ import annotations

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Verbs


def _boot_check() -> CommandModule:
    from raidtui.features.boot import cli

    return cli


def _verbs() -> Verbs:
    from raidtui.features.boot.cli_plan import VERBS

    return VERBS


FEATURE = Feature(
    name="boot",
    commands=(
        Subcommand(
            name="boot-check",
            help="check whether the machine boots without any one of its disks, and why not",
            module=_boot_check,
        ),
    ),
    verbs=_verbs,
)
