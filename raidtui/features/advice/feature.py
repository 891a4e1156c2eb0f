"""Pane 7, and ``advice``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand, Watching

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.model.plan import Plan, Refusal
    from raidtui.model.snapshot import Snapshot


def _pane() -> type[Pane]:
    from raidtui.features.advice.screen.advice_pane import AdvicePane

    return AdvicePane


def _advice() -> CommandModule:
    from raidtui.features.advice import cli

    return cli


def _plan(reader: HostReader, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.host.own_units import read_timer
    from raidtui.plans.timers import plan_timer

    return plan_timer(snapshot, read_timer(reader, "raidtui-advice"), "counts what could be better, each day")


FEATURE = Feature(
    name="advice",
    tab="advice",
    pane=_pane,
    watching=Watching(name="advice", plan=_plan),
    commands=(
        Subcommand(
            name="advice",
            help="list what could be better on this host, why, and how to fix it",
            module=_advice,
        ),
    ),
)
