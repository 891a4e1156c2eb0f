"""``alert``, and the plan that has mdadm and smartd report to it."""

from __future__ import annotations

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Verbs


def _alert() -> CommandModule:
    from raidtui.features.alerts import cli

    return cli


def _verbs() -> Verbs:
    from raidtui.features.alerts.cli_plan import VERBS

    return VERBS


FEATURE = Feature(
    name="alerts",
    commands=(
        Subcommand(
            name="alert",
            help="send what mdadm and smartd report to mail, ntfy, Matrix, Slack, a webhook",
            module=_alert,
        ),
    ),
    verbs=_verbs,
)
