"""The commands of pane 3, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

MARK = Command(
    id="wear.mark", keys="m", action="mark", label="Mark now",
    help="Mark this moment in the history: d shows what is written from now on.",
)  # fmt: skip
SINCE = Command(
    id="wear.since", keys="d", action="since", label="Since mark",
    help="Show what was written since the last mark, instead of over the disks' whole lives.",
)  # fmt: skip
READ = Command(
    id="wear.read", keys="r", action="read", label="Read again", words="smart refresh",
    help="Read the disks now; they are read every ten minutes. A sleeping disk is not woken.",
)  # fmt: skip
HISTORY = Command(
    id="wear.history", keys="h", action="history", label="History", words="tbw written smart",
    help="Show what was written to the chosen disk day by day, and what syncs and jobs wrote.",
)  # fmt: skip
SELF_TEST = Command(
    id="wear.self_test", keys="t", action="self_test", label="Self-test",
    words="smart smartctl short long extended conveyance abort",
    help="Start a self-test on the chosen disk, or abort the one that runs. The plan is shown first.",
)  # fmt: skip
WEAR = (MARK, SINCE, SELF_TEST, READ, HISTORY)
