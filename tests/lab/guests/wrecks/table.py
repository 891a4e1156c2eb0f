"""The whole table of wrecks."""

from tests.lab.guests.wrecks import further, lost, odd, stale

WRECKS = (
    *(*lost.ZEROED, *lost.SOME, *lost.RECREATED),
    *(*stale.ABSENT, *stale.KICKED, *stale.REBUILDING, *stale.TWICE),
    *(*odd.RESHAPES, *odd.JOURNAL, *odd.TABLES, *odd.BAD, *odd.INSIDE, *odd.EXTERNAL),
    *(*further.MIRRORS, *further.SPARES, *further.WRITTEN_OVER, *further.NAMES),
)
