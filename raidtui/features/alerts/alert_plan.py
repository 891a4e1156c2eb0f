"""The plan that sets the alerts up, from what the host has and what raidtui brings."""

from __future__ import annotations

import shlex
from pathlib import Path

import raidtui
from raidtui.built import lasting_command, lasting_environment
from raidtui.features.alerts.plan_alerts import plan_alerts
from raidtui.host.alert_facts import read_alert_setup
from raidtui.host.own_units import own_unit_text
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.alert_setup import AlertRequest
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot

_UNITS = ("raidtui-alert.service", "raidtui-alert.timer")

_HOOK_TEXT = """\
#!/bin/sh
# Written by raidtui plan alerts. mdadm --monitor calls it with
# event, array and member, smartd with SMARTD_... set. It ends when
# that is on disk; another process sends it.
{environment}
export {names}
if [ -n "$SMARTD_FAILTYPE" ]; then
    set -- --smartd
else
    set -- --event "$@"
fi
{raidtui} alert "$@" </dev/null >/dev/null 2>&1 && exit 0
logger -t raidtui -p daemon.crit -- "an alert could not be kept: $* $SMARTD_DEVICE $SMARTD_MESSAGE"
exit 1
"""


def read_alerts_plan(reader: HostReader, snapshot: Snapshot, request: AlertRequest) -> Plan | Refusal:
    """Read the host, and return the plan.

    Args:
        reader: the host.
        snapshot: its arrays.
        request: what is asked for.
    """
    units = {name: own_unit_text(name) for name in _UNITS}
    setup = read_alert_setup(reader, hook=hook_text(), units=units, owned_by=owner() if reader.live else 0)
    return plan_alerts(snapshot, setup, request)


def owner() -> int:
    """Return the number of a user, not root, to whom this raidtui or its Python belongs; 0 for none."""
    program = Path(lasting_command()[0])
    paths = (Path(raidtui.__file__), program, program.resolve())
    return next((uid for path in paths if (uid := path.stat().st_uid)), 0)


def hook_text() -> str:
    """Return the hook that calls the raidtui that runs now."""
    own = lasting_environment()
    return _HOOK_TEXT.format(
        environment="\n".join(f"{key}={shlex.quote(value)}" for key, value in own.items()),
        names=" ".join(own),
        raidtui=shlex.join(lasting_command()),
    )
