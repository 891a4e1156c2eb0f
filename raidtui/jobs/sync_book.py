"""Where the records of syncs are kept."""

from __future__ import annotations

from raidtui.jobs.array_book import ArrayBook
from raidtui.jobs.state_files import state_folder
from raidtui.model.sync_record import SyncRecord


class SyncBook(ArrayBook[SyncRecord]):
    """The records of syncs."""

    what, kind = "syncs", SyncRecord


def open_book(*, live: bool, writable: bool) -> SyncBook:
    """Return the book of a host; of one that is not this machine nothing is kept."""
    return SyncBook(state_folder() / "syncs" if live else None, writes=writable)
