"""Pane 4, and ``tune``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane
    from raidtui.model.plan import Plan
    from raidtui.watch.session import Session


def _pane() -> type[Pane]:
    from raidtui.features.tune.screen.tune_pane import TunePane

    return TunePane


def _tune() -> CommandModule:
    from raidtui.features.tune import cli

    return cli


async def _unrestored(session: Session, plan: Plan) -> Plan | None:
    from raidtui.features.tune.session import TuneSession

    tuned = session.held(TuneSession)
    return plan if tuned is None else await tuned.without_kept(plan)


FEATURE = Feature(
    name="tune",
    tab="tune",
    pane=_pane,
    commands=(
        Subcommand(
            name="tune",
            help="show, set and keep I/O scheduler, NCQ depth, governor and md's knobs",
            module=_tune,
        ),
    ),
    unrestored=_unrestored,
)
