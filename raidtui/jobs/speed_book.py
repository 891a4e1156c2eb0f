"""Where it is kept how fast the members of arrays are."""

from __future__ import annotations

from raidtui.jobs.array_book import ArrayBook
from raidtui.jobs.state_files import state_folder
from raidtui.model.speed_record import SpeedRecord


class SpeedBook(ArrayBook[SpeedRecord]):
    """The records of members' speeds."""

    what, kind = "members' speeds", SpeedRecord


def open_speed_book(*, live: bool, writable: bool) -> SpeedBook:
    """Return the book of a host; of one that is not this machine nothing is kept."""
    return SpeedBook(state_folder() / "speeds" if live else None, writes=writable)
