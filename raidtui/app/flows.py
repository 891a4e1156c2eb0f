"""Which room of the screen carries out what a key of pane 1 asks for; each is imported when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from raidtui.model.array import Array

if TYPE_CHECKING:
    from raidtui.features.arrays.screen.arrays_pane import ArraysPane
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.watch.watch import Report


def flow_of(
    shell: ScreenShell, wanted: ArraysPane.FlowWanted, report: Report | None
) -> Callable[[], Coroutine[None, None, None]]:
    """Return what opens a verb's dialogs: zero, grow, locate, pace, mismatches; else the rescue guide."""
    snapshot, array = wanted.snapshot, wanted.array
    if wanted.verb == "zero":
        from raidtui.features.create.screen.build_flow import BuildFlow  # noqa: PLC0415

        return lambda: BuildFlow(shell).zero(snapshot)
    if wanted.verb == "grow" and isinstance(array, Array):
        from raidtui.features.reshape.screen.grow_flow import GrowFlow  # noqa: PLC0415

        return lambda: GrowFlow(shell).run(array, snapshot)
    if wanted.verb == "locate":
        from raidtui.features.pull.screen.pull_flow import PullFlow  # noqa: PLC0415

        return lambda: PullFlow(shell).run(array, snapshot)
    if wanted.verb == "pace" and isinstance(array, Array) and report is not None:
        from raidtui.features.pace.screen.pace_flow import PaceFlow  # noqa: PLC0415

        return lambda: PaceFlow(shell).run(array, report)
    if wanted.verb == "mismatches":
        from raidtui.features.rescue.screen.mismatch_screen import show_mismatches  # noqa: PLC0415

        return lambda: show_mismatches(shell, array)
    from raidtui.features.rescue.screen.rescue_flow import RescueFlow  # noqa: PLC0415

    uuid, label = (array.uuid, array.title) if array is not None else (None, "")
    return lambda: RescueFlow(shell).guide(snapshot, uuid, label)
