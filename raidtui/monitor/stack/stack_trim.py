"""Where discards (TRIM) that a layer takes end on their way to the disks."""

from __future__ import annotations

from raidtui.model.stack import Stack


def discards_end(stack: Stack, name: str) -> str | None:
    """Return the kernel's name of the layer that passes no discards on, nearest to the disks.

    Returns:
        None where they reach all disks, or the kernel does not say.
    """
    below = (name, *stack.below(name))
    lost = [each for each in below if stack.nodes[each].discard_lost]
    if lost:
        return lost[-1]
    disks = [each for each in below if not stack.nodes[each].parents]
    return next((each for each in disks if stack.nodes[each].discards is False), None)
