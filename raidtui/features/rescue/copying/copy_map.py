"""The map file of GNU ddrescue: what of a device has been read, and what could not be. Pure.

GNU ddrescue manual, "Mapfile structure": a line of the current position, then lines of position, size and
status.
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.view.units import binary_size, counted


class CopyProgress(Struct, frozen=True, kw_only=True):
    """How far a copy is.

    Args:
        read_bytes: how much has been copied.
        bad_bytes: how much could not be read.
        bad_places: in how many places that lies.
        left_bytes: how much has not been tried to its end.
    """

    read_bytes: int = 0
    bad_bytes: int = 0
    bad_places: int = 0
    left_bytes: int = 0

    @property
    def percent(self) -> int:
        """How much has been copied, of 100, rounded down."""
        whole = self.read_bytes + self.bad_bytes + self.left_bytes
        return self.read_bytes * 100 // whole if whole else 0

    @property
    def words(self) -> str:
        """The progress in one line."""
        parts = [f"{self.percent} % copied, {binary_size(self.read_bytes)}"]
        if self.bad_bytes:
            places = counted(self.bad_places, "place")
            parts.append(f"{binary_size(self.bad_bytes)} in {places} could not be read")
        return "; ".join(parts)


def read_map(text: str) -> CopyProgress | None:
    """Return the progress that a map file records, or None where it is none."""
    rows = [line.split() for line in text.split("\n") if line and not line.startswith("#")]
    read = bad = left = places = 0
    for row in rows[1:]:
        try:
            size, status = int(row[1], 16), row[2]
        except (IndexError, ValueError):
            return None
        if status == "+":
            read += size
        elif status == "-":
            bad += size
            places += 1
        else:
            left += size
    if not rows:
        return None
    return CopyProgress(read_bytes=read, bad_bytes=bad, bad_places=places, left_bytes=left)
