"""``raidtui plan alerts``: its arguments, and its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.alert_setup import PARTS, AlertRequest
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the verb."""
    alerts = verb("alerts", "have mdadm and smartd report to raidtui, and keep the journal")
    alerts.add_argument("--only", action="append", default=[], choices=PARTS, help="set up only this")
    alerts.add_argument(
        "--replace", action="store_true", help="replace a PROGRAM or -M exec that raidtui did not write"
    )


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    """Return the plan."""
    from raidtui.features.alerts.alert_plan import read_alerts_plan  # noqa: PLC0415

    request = AlertRequest(parts=tuple(arguments.only), replaces=arguments.replace)
    return read_alerts_plan(reader, snapshot, request)


VERBS = Verbs(names=frozenset({"alerts"}), add=_add, of_host=_plan)
