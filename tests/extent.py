"""How much is tried of what takes long: all of it by ``make whole``, a part in the whole check."""

import os

WHOLE = os.environ.get("RAIDTUI_WHOLE") == "yes"
"""Whether tests marked ``later`` run, and every place is tried where something can go wrong."""


def each(count: int) -> int:
    """Return how far the places are apart that are tried: `count`, or 1 where all of them are."""
    return 1 if WHOLE else count
