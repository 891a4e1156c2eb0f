"""Which room of the screen carries out what a key of pane 1 asks for; each is imported when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from raidtui.model.array import Array

if TYPE_CHECKING:
    from raidtui.session.watch import Report
    from raidtui.ui.arrays.arrays_pane import ArraysPane
    from raidtui.ui.frame.screen_shell import ScreenShell


def flow_of(
    shell: ScreenShell, wanted: ArraysPane.FlowWanted, report: Report | None
) -> Callable[[], Coroutine[None, None, None]]:
    """Return what opens a verb's dialogs: zero, grow, locate, pace, mismatches; else the rescue guide."""
    snapshot, array = wanted.snapshot, wanted.array
    if wanted.verb == "zero":
        from raidtui.ui.build.build_flow import BuildFlow  # noqa: PLC0415

        return lambda: BuildFlow(shell).zero(snapshot)
    if wanted.verb == "grow" and isinstance(array, Array):
        from raidtui.ui.build.grow_flow import GrowFlow  # noqa: PLC0415

        return lambda: GrowFlow(shell).run(array, snapshot)
    if wanted.verb == "locate":
        from raidtui.ui.pull.pull_flow import PullFlow  # noqa: PLC0415

        return lambda: PullFlow(shell).run(array, snapshot)
    if wanted.verb == "pace" and isinstance(array, Array) and report is not None:
        from raidtui.ui.arrays.pace_flow import PaceFlow  # noqa: PLC0415

        return lambda: PaceFlow(shell).run(array, report)
    if wanted.verb == "mismatches":
        from raidtui.ui.rescue.mismatch_screen import show_mismatches  # noqa: PLC0415

        return lambda: show_mismatches(shell, array)
    from raidtui.ui.rescue.rescue_flow import RescueFlow  # noqa: PLC0415

    uuid, label = (array.uuid, array.title) if array is not None else (None, "")
    return lambda: RescueFlow(shell).guide(snapshot, uuid, label)
