"""The journal of a job: JSON lines, each synced before the next thing happens.

Whatever is killed, whenever, it says which step was under way. Where the disk runs full, room that was kept
is given up for it: a job can always say how it ended, and go back.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raidtui.jobs.journal import entries_of, sealed, who
from raidtui.jobs.old_steps import is_first_form
from raidtui.jobs.state_files import read_own, write_synced

# Of a step's entries, with what the tools print, most take a tenth of that.
_ROOM_BYTES, _STEP_BYTES = 32 << 10, 8 << 10
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class JobJournal:
    """The journal in a job's folder.

    Args:
        folder: the job's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.full = ""
        """Why the journal needed the room that is reserved for it, or ""."""
        self._older: bool | None = None

    def reserve_room(self, steps: int) -> None:
        """Reserve room on the disk for the entries of so many steps and undoings.

        Raises:
            OSError: there is none.
        """
        # Random bytes: a file system that compresses reserves nothing for zeros.
        write_synced(self.folder / "room", os.urandom(_ROOM_BYTES + steps * _STEP_BYTES))

    def give_room_up(self) -> bool:
        """Release the reserved room; return whether there was any."""
        try:
            (self.folder / "room").unlink()
        except OSError:
            return False
        return True

    def note(self, **entry: object) -> None:
        """Append an entry to the journal, durably.

        Raises:
            OSError: it cannot be written, and the job must not continue.
        """
        line = json.dumps({"at_s": round(time.time(), 3), "who": who(), **entry}, ensure_ascii=False)
        try:
            self._append(line)
        except OSError as error:
            if error.errno not in _FULL or not self.give_room_up():
                raise
            self.full = f"{self.folder.parent}: {error.strerror}"
            self._append(line)

    def _append(self, line: str) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.folder / "journal.jsonl", flags, 0o600)
        try:
            data = sealed(line).encode("utf-8", "replace") + b"\n"
            end = os.fstat(descriptor).st_size
            if end and os.pread(descriptor, 1, end - 1) != b"\n":  # a crash has cut the last line
                data = b"\n" + data
            if os.write(descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def entries(self) -> list[Mapping[str, Any]]:
        """Return the entries of the journal: ``event`` is a string, ``at_s`` a time, a step a number.

        Lines that are not entries are left out, such as one that a crash has cut.

        Raises:
            OSError: it cannot be read, or another user could have written it.
        """
        found: list[Mapping[str, Any]] = []
        with contextlib.suppress(FileNotFoundError):
            text = read_own(self.folder / "journal.jsonl").decode("utf-8", "replace")
            found += entries_of(text, older=self._is_older())
        return found

    def _is_older(self) -> bool:
        """Whether the plan beside it is of the first form: in no other job are lines without a checksum."""
        if self._older is None:
            with contextlib.suppress(OSError):
                self._older = is_first_form(read_own(self.folder / "plan.json"))
        return bool(self._older)

    def since_work(self) -> list[Mapping[str, Any]]:
        """Return the entries of the journal since the last worker began."""
        entries = self.entries()
        last = max((place for place, entry in enumerate(entries) if entry["event"] == "work"), default=0)
        return entries[last:]

    def done_steps(self) -> tuple[set[int], set[int]]:
        """Return (steps done, steps that were started and may be done), without those undone since."""
        done: set[int] = set()
        begun: set[int] = set()
        for entry in self.entries():
            step = entry.get("of" if entry.get("event") == "undo" else "step")
            if not isinstance(step, int):
                continue
            if entry.get("event") == "begin":
                begun.add(step)
            elif entry.get("event") == "step done":
                done.add(step)
                begun.discard(step)
            elif entry.get("event") == "undo":  # it may be undone in part
                done.discard(step)
                begun.add(step)
            elif entry.get("event") == "undone":
                done.discard(step)
                begun.discard(step)
        return done, begun
