"""The commands of pane 7, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

MEND = Command(
    id="advice.plan", keys="enter", action="mend", label="Plan", words="mend repair fix",
    help="Show the plan that mends what the chosen advice is about.",
)  # fmt: skip
IGNORE = Command(
    id="advice.ignore", keys="i", action="ignore", label="Ignore", words="silence dismiss hide unignore",
    help="Do not say the chosen advice any more, for good or for a while; or say it again.",
)  # fmt: skip
IGNORED = Command(
    id="advice.ignored", keys="a", action="ignored", label="All", words="ignored hidden",
    help="Show what is ignored, too, with who has said so and why.",
)  # fmt: skip
READ_ADVICE = Command(
    id="advice.read", keys="r", action="read", label="Read again", words="refresh",
    help="Look at the host again; that is done every ten minutes while the pane is in view.",
)  # fmt: skip
ADVICE = (MEND, IGNORE, IGNORED, READ_ADVICE)
