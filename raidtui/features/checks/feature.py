"""The plan that has arrays checked regularly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import Feature, Verbs, Watching

if TYPE_CHECKING:
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.model.plan import Plan, Refusal
    from raidtui.model.snapshot import Snapshot


def _verbs() -> Verbs:
    from raidtui.features.checks.cli_plan import VERBS

    return VERBS


def _plan(reader: HostReader, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.features.checks.check_setup import read_check_setup
    from raidtui.features.checks.plan_checks import CheckRequest, plan_checks

    return plan_checks(snapshot, read_check_setup(reader), CheckRequest())


FEATURE = Feature(name="checks", verbs=_verbs, watching=Watching(name="checks", plan=_plan))
