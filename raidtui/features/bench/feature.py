"""Pane 5, and ``bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidtui.frame.pane import Pane
    from raidtui.watch.past import PastRun


def _pane() -> type[Pane]:
    from raidtui.features.bench.screen.bench_pane import BenchPane

    return BenchPane


def _bench() -> CommandModule:
    from raidtui.features.bench import cli

    return cli


def _past() -> Sequence[PastRun]:
    from raidtui.features.bench.past_benchmarks import past_benchmarks

    return past_benchmarks()


FEATURE = Feature(
    name="bench",
    tab="bench",
    pane=_pane,
    commands=(Subcommand(name="bench", help="run, compare and report benchmarks with fio", module=_bench),),
    past=_past,
)
