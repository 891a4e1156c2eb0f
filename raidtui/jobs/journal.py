"""The journal of every write, with who made it and when: JSON lines, synced to disk, and the system log."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raidtui.jobs.state_files import (
    FOLDER_MODE,
    PRIVATE_MODE,
    check_folder,
    checksum,
    own_folder,
    refuse_writing,
    state_folder,
    sync_folder,
)

_STEPS = ("step", "of")
_SUM = ', "sum": "'
_CUT_SUM = re.compile(r'"[0-9a-f]{8}"\}\Z')
"""The end of a line whose checksum has lost its name."""
"""Nowhere else in JSON as it is written here: within a text, its quotes are escaped."""
_PRIVATE = ("jobs", "syncs", "alerts")
_MOST_STEPS = 1 << 20
_LEAST_BYTES = 16 << 10
_END_OF_TIME_S = 1 << 36  # some 2000 years; calendars end at the year 9999


def journal_path() -> Path:
    """Return the path of the journal: in /var/lib/raidtui for root, else in the user's state folder."""
    return state_folder() / "journal.jsonl"


def state_trouble() -> str:
    """Correct the modes of root's state folders that exist; return what is wrong with an owner, or ""."""
    if os.geteuid() != 0:
        return ""
    folder = journal_path().parent
    for place, mode in ((folder, FOLDER_MODE), *((folder / name, PRIVATE_MODE) for name in _PRIVATE)):
        try:
            check_folder(place, mode)
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno != errno.EPERM:
                return f"{place}: {error.strerror}"
            return f"{error.strerror}; check what is in it, then give it to root"
    return ""


def who() -> str:
    """Return the name of the user: the one who called sudo, else the login or user name."""
    for key in ("SUDO_USER", "LOGNAME", "USER"):
        if name := os.environ.get(key):
            return name
    import pwd  # noqa: PLC0415  (only a write needs it)

    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


class Journal:
    """Appends to the journal file and the system log.

    Args:
        path: the file; None keeps no file (the demo's writes are not writes).
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.trouble = ""
        """Why the journal could not be written, or "". It is shown, and prevents nothing."""

    def look(self) -> str:
        """Return why an entry could not be written now, or ""; nothing is written.

        It is read from the folder and its file system, so a disk that is full, read-only or another user's is
        known before a change.
        """
        if self._path is None:
            return ""
        try:
            own_folder(self._path.parent)
            found = os.statvfs(self._path.parent)
        except OSError as error:
            return f"journal {self._path}: {error.strerror}"
        full = found.f_blocks and found.f_bfree * found.f_frsize < _LEAST_BYTES
        code = errno.EROFS if found.f_flag & os.ST_RDONLY else errno.ENOSPC if full else 0
        return f"journal {self._path}: {os.strerror(code)}" if code else ""

    def note(self, **entry: object) -> None:
        """Append one entry; ``at_s`` and ``who`` are added."""
        if self._path is None:
            return
        import json  # noqa: PLC0415  (only a write needs it)
        import syslog  # noqa: PLC0415

        try:
            refuse_writing(self._path)
        except OSError as error:
            self.trouble = f"journal {self._path}: {error.strerror}"
            return
        line = json.dumps({"at_s": round(time.time(), 3), "who": who(), **entry}, ensure_ascii=False)
        with contextlib.suppress(OSError):  # a container may have no system log
            syslog.openlog("raidtui", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
            syslog.syslog(syslog.LOG_NOTICE, line)
        try:
            own_folder(self._path.parent)
            new = not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                data = line.encode("utf-8", "replace") + b"\n"
                if os.write(descriptor, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:
                sync_folder(self._path.parent)
        except OSError as error:
            self.trouble = f"journal {self._path}: {error.strerror}"


def sealed(line: str) -> str:
    """Return a line of a job's journal, a JSON object, with its checksum as the last member."""
    return f'{line[:-1]}{_SUM}{checksum(line.encode("utf-8", "replace"))}"}}'


def entries_of(text: str, *, older: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a job's journal. Lines that are none, or damaged, are left out.

    Args:
        text: the journal.
        older: whether an older raidtui may have begun it: its lines have no checksum, and come before all
            that have one.
    """
    for line in text.split("\n"):
        older = older and _SUM not in line
        if older and not _CUT_SUM.search(line):
            entry = _entry_of(line)
        else:
            plain = line.rpartition(_SUM)[0] + "}"
            entry = _entry_of(plain) if sealed(plain) == line else None
        if entry is not None:
            yield entry


def _entry_of(text: str) -> Mapping[str, Any] | None:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        return None
    for key in _STEPS:
        if key in entry and (not isinstance(entry[key], int) or not 0 <= entry[key] <= _MOST_STEPS):
            return None
    at_s = entry.get("at_s")
    known = isinstance(at_s, int | float) and 0 <= at_s < _END_OF_TIME_S
    return {**entry, "at_s": float(at_s) if known and at_s is not None else 0.0}
