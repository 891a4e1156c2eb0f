"""A trial of TRIM: what fstrim says against what the members' counters say."""

from __future__ import annotations

import re
from collections.abc import Mapping

from raidtui.host.tools import ToolOutput
from raidtui.view.units import SECTOR_BYTES, binary_size

_NOTHING = re.compile(r"\(0 bytes\) trimmed")


def discarded(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return how many sectors each device discarded in between; those that do not count are left out."""
    return {name: max(0, count - before[name]) for name, count in after.items() if name in before}


def trial_sentence(output: ToolOutput, members: Mapping[str, int]) -> str:
    """Return in a sentence whether TRIM passes.

    Args:
        output: the tool's: ``/srv: 1.1 GiB (1181116006 bytes) trimmed``, or why not.
        members: the sectors that each member discarded meanwhile. What they say is true, also where fstrim
            claims success: kernels after 6.12 let raid456 do so and drop the discards.
    """
    lines = (output.stdout.strip() or output.stderr.strip() or output.why_not).split("\n")
    said = f'{output.argv[0]} says "{lines[-1].removeprefix(f"{output.argv[0]}: ")}"'
    total = sum(members.values())
    if total:
        deaf = sorted(name for name, count in members.items() if not count)
        much = f"the members discarded {binary_size(total * SECTOR_BYTES)}"
        if deaf:
            return f"{much}, but {', '.join(deaf)} nothing: TRIM passes in part"
        return f"{much}: TRIM passes"
    if not members:
        return f"{said}; the members' discards are not counted here, so that is all that is known"
    if output.status == 0 and _NOTHING.search(output.stdout):
        return f"{said}: there was nothing to trim, so whether TRIM passes is not known"
    conjunction = "but" if output.status == 0 else "and"
    return f"{said}, {conjunction} the members discarded nothing: TRIM does not pass"
