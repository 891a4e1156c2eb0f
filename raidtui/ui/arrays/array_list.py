"""The list of arrays, and which of them is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from textual import events

from raidtui.ui.arrays.array_rows import Listed
from raidtui.ui.frame.pane import RowList


class Chosen(Struct, frozen=True, kw_only=True):
    """Which array is chosen.

    Args:
        key: of the array; None where there is none.
        gone: was chosen when it was stopped; nothing else was chosen since.
    """

    key: str | None = None
    gone: str | None = None


def keep_choice(
    before: Chosen, shown: Sequence[Listed], listed: Sequence[Listed], *, is_there: bool = False
) -> Chosen:
    """Return the choice among the arrays that are shown now.

    It follows the array's identity; where that is gone, the row stays until it is back.

    Args:
        before: what was chosen.
        shown: the arrays that are shown from now on.
        listed: those that were shown before.
        is_there: whether the host has the chosen one, shown or not.
    """
    keys = [array.key for array in shown]
    key, gone = before.key, before.gone
    if gone in keys:
        key, gone = gone, None
    if key in keys:
        return Chosen(key=key, gone=gone)
    if gone is None and not is_there:
        gone = key
    if not shown:
        return Chosen(gone=gone)
    row = next((i for i, array in enumerate(listed) if array.key == key), 0)
    named = [array.key for array in shown if any(array.name == o.name for o in listed[row : row + 1])]
    return Chosen(key=named[0] if named else keys[min(row, len(keys) - 1)], gone=gone)


class ArrayList(RowList):
    """The rows. Pages and ends move the choice, too."""

    def on_key(self, event: events.Key) -> None:
        """Move by pages, and to the ends."""
        far = {"pageup": -self.size.height, "pagedown": self.size.height, "home": -(10**6), "end": 10**6}
        if event.key in far:
            event.stop()
            event.prevent_default()
            self._move(far[event.key])
