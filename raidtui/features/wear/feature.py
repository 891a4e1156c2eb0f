"""Pane 3, ``wear``, and self-tests of disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Verbs, Watching

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.model.plan import Plan, Refusal
    from raidtui.model.snapshot import Snapshot
    from raidtui.watch.session import Session
    from raidtui.watch.watch import Report


def _pane() -> type[Pane]:
    from raidtui.features.wear.screen.wear_pane import WearPane

    return WearPane


def _wear() -> CommandModule:
    from raidtui.features.wear import cli

    return cli


def _verbs() -> Verbs:
    from raidtui.features.wear.cli_plan import VERBS

    return VERBS


def _follow(session: Session, report: Report) -> None:
    from raidtui.features.wear.session import WearSession

    session.of(WearSession).follow(report)


def _plan(reader: HostReader, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.host.own_units import read_timer
    from raidtui.plans.timers import plan_timer

    return plan_timer(snapshot, read_timer(reader, "raidtui-wear"), "records the disks' wear each hour")


FEATURE = Feature(
    name="wear",
    tab="wear",
    pane=_pane,
    commands=(Subcommand(name="wear", help="print wear, host writes and faults of the disks", module=_wear),),
    verbs=_verbs,
    watching=Watching(name="wear", plan=_plan),
    follow=_follow,
)
