"""The ways back for a mirror whose halves have run apart: split brain. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.rescue.groups import MemberGroup
from raidtui.features.rescue.records import WayBack, WayCode
from raidtui.view.units import joined


def look_at_halves(group: MemberGroup) -> Iterator[WayBack]:
    """Yield a look at each half alone."""
    for name in dict.fromkeys(name for pair in group.halves for name in pair):
        yield WayBack(
            code=WayCode.LOOK,
            text=f"Look at the half of {name} alone: set it read-only (blockdev --setro), assemble it with"
            " --run --readonly, mount it read-only, and list its newest files.",
            devices=(name,),
        )


def take_halves(group: MemberGroup) -> Iterator[WayBack]:
    """Yield the ways that take one half."""
    for kept in dict.fromkeys(name for pair in group.halves for name in pair):
        others = [name for pair in group.halves if kept in pair for name in pair if name != kept]
        left, is_kept = joined(others), "are kept as they are" if len(others) > 1 else "is kept as it is"
        yield WayBack(
            code=WayCode.TAKE_HALF,
            text=f"Take the half of {kept} (event {group.blocks[kept].events}): start it alone with --run,"
            f" after each was looked at read-only. {left} {is_kept} until all files there are safe, and added"
            " anew then.",
            writes=f"the superblock of {kept}; later all of {left}",
            forgives=f"what was written to {left} alone",
            devices=(kept,),
        )


def halves_refusal(group: MemberGroup) -> str:
    """Return why it is not started as it is; "" where its halves agree."""
    return "its halves disagree: choose one, or mdadm chooses" if group.halves else ""
