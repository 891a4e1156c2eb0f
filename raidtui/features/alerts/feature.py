"""``alert``, and the plan that has mdadm and smartd report to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Verbs, Watching

if TYPE_CHECKING:
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.model.plan import Plan, Refusal
    from raidtui.model.snapshot import Snapshot


def _alert() -> CommandModule:
    from raidtui.features.alerts import cli

    return cli


def _verbs() -> Verbs:
    from raidtui.features.alerts.cli_plan import VERBS

    return VERBS


def _plan(reader: HostReader, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.features.alerts.alert_plan import read_alerts_plan
    from raidtui.model.alert_setup import AlertRequest

    return read_alerts_plan(reader, snapshot, AlertRequest())


FEATURE = Feature(
    name="alerts",
    watching=Watching(name="alerts", plan=_plan, needed=True),
    commands=(
        Subcommand(
            name="alert",
            help="send what mdadm and smartd report to mail, ntfy, Matrix, Slack, a webhook",
            module=_alert,
        ),
    ),
    verbs=_verbs,
)
