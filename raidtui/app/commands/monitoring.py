"""``raidtui plan monitoring``: one plan, of what each feature has to keep a host watched."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.app.registry import FEATURES
from raidtui.frame.feature import Verbs, Watching
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def _watchings() -> dict[str, Watching]:
    """Return them by name, what the rest is of little use without first."""
    found = [each for feature in FEATURES if (each := feature.watching) is not None]
    return {each.name: each for each in sorted(found, key=lambda each: not each.needed)}


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    parser = verb("monitoring", "set up all that watches the arrays: alerts, checks, wear, advice")
    parser.add_argument(
        "--only", action="append", default=[], choices=tuple(_watchings()), help="set up only this"
    )


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.plans.combined import PlanPart, combined  # noqa: PLC0415

    wanted = arguments.only or tuple(_watchings())
    parts = [
        PlanPart(
            name=each.name,
            plan=each.plan(reader, snapshot),
            needed=each.needed or each.name in arguments.only,
        )
        for each in _watchings().values()
        if each.name in wanted
    ]
    return combined("set up monitoring", parts)


VERBS = Verbs(names=frozenset({"monitoring"}), add=_add, of_host=_plan)
