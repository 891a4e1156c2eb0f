"""Times and gaps in the words of a diagnosis. Pure."""

from __future__ import annotations

from raidtui.features.rescue.groups import MemberGroup
from raidtui.view.units import binary_size, counted, duration


def behind_words(group: MemberGroup, name: str) -> str:
    """Return how far a member is behind the newest: ``3 events and 14 s behind, at most 64 MiB``."""
    events, seconds = group.events_behind(name), group.seconds_behind(name)
    words = [counted(events, "event")]
    if seconds is not None and seconds >= 1:
        words.append(duration(seconds))
    ahead = ""
    if seconds is not None and seconds <= -1:
        ahead = f" (the clock said {duration(-seconds)} later then: events decide, not times)"
    return f"{' and '.join(words)} behind the newest{ahead}; {_data_words(group, name)}"


def _data_words(group: MemberGroup, name: str) -> str:
    """Return how much was written since a member left, at most: by the bitmaps of the fresh members."""
    events = group.blocks[name].events or 0
    known = [
        block.dirty_bytes
        for other, block in group.blocks.items()
        if other in group.standing.whole.values()
        and block.dirty_bytes is not None
        and (block.cleared_events is None or block.cleared_events <= events)
    ]
    if not known:
        return "how much was written since then is not known: no bitmap says it, and events do not count data"
    return f"at most {binary_size(max(known))} of each member were written since then (bitmap)"
