"""How much advice there was when a host was last looked at: kept, so that showing it costs no reading."""

from __future__ import annotations

from pathlib import Path

import msgspec

from raidtui.jobs.state_files import own_folder, state_folder, write_synced
from raidtui.model.advice_count import AdviceCount

FRESH_S = 2 * 86_400
"""For how long a count is shown: the timer looks once a day."""


def last_look_path() -> Path:
    """Return where it is kept: /var/lib/raidtui for root, else the user's state folder."""
    return state_folder() / "advice.json"


def keep_look(count: AdviceCount) -> None:
    """Keep a count, in place of the one before.

    Raises:
        OSError: it cannot be written.
    """
    path = last_look_path()
    own_folder(path.parent)
    write_synced(path, msgspec.json.encode(count))


class LastLook:
    """The count of the last look; the file is read again when it has changed."""

    def __init__(self) -> None:
        self._path = last_look_path()
        self._stamp: tuple[int, int] | None = None
        self._count: AdviceCount | None = None

    def read(self, now_s: float) -> AdviceCount | None:
        """Return the count; None where there is none, where it is old, or where it cannot be read.

        Args:
            now_s: epoch seconds.
        """
        try:
            found = self._path.stat()
            stamp = found.st_mtime_ns, found.st_ino
            if stamp != self._stamp:
                self._stamp = stamp
                self._count = msgspec.json.decode(self._path.read_bytes(), type=AdviceCount)
        except (OSError, msgspec.MsgspecError):
            self._count = None
        count = self._count
        return count if count is not None and -FRESH_S < now_s - count.at_s < FRESH_S else None
