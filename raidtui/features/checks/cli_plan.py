"""``raidtui plan checks``: its arguments, and its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    checks = verb("checks", "have all arrays checked regularly, in hours that you choose")
    rhythm = checks.add_mutually_exclusive_group()
    rhythm.add_argument("--monthly", action="store_true", help="on the first Sunday of each month (default)")
    rhythm.add_argument("--weekly", action="store_true", help="each Sunday")
    checks.add_argument(
        "--window",
        default="",
        metavar="01:00-05:00",
        help="check only in these hours; what is left continues the next day (mdcheck only)",
    )


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.features.checks.check_setup import Rhythm, read_check_setup  # noqa: PLC0415
    from raidtui.features.checks.plan_checks import CheckRequest, plan_checks  # noqa: PLC0415

    rhythm = Rhythm.WEEKLY if arguments.weekly else Rhythm.MONTHLY
    request = CheckRequest(rhythm=rhythm, window=arguments.window)
    return plan_checks(snapshot, read_check_setup(reader), request)


VERBS = Verbs(names=frozenset({"checks"}), add=_add, of_host=_plan)
