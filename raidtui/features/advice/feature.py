"""Pane 7, and ``advice``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane


def _pane() -> type[Pane]:
    from raidtui.features.advice.screen.advice_pane import AdvicePane

    return AdvicePane


def _advice() -> CommandModule:
    from raidtui.features.advice import cli

    return cli


FEATURE = Feature(
    name="advice",
    tab="advice",
    pane=_pane,
    commands=(
        Subcommand(
            name="advice",
            help="list what could be better on this host, why, and how to fix it",
            module=_advice,
        ),
    ),
)
