"""The journal of every write, with who made it and when: JSON lines, synced to disk, and the system log."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from raidtui.jobs.state_files import check_folder, own_folder, sync_folder


def journal_path() -> Path:
    """Return the path of the journal: in /var/lib/raidtui for root, else in the user's state folder."""
    if os.geteuid() == 0:
        return Path("/var/lib/raidtui/journal.jsonl")
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "raidtui" / "journal.jsonl"


def state_trouble() -> str:
    """Correct the mode of root's state folder, if it exists; return what is wrong with its owner, or ""."""
    if os.geteuid() != 0:
        return ""
    try:
        check_folder(journal_path().parent)
    except FileNotFoundError:
        return ""
    except OSError as error:
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
        path: the file; None keeps no file (the demo's writes are no writes).
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.trouble = ""
        """Why the journal could not be written, or "". It is shown, and prevents nothing."""

    def note(self, **entry: object) -> None:
        """Append one entry; ``at_s`` and ``who`` are added."""
        if self._path is None:
            return
        import json  # noqa: PLC0415  (only a write needs it)
        import syslog  # noqa: PLC0415

        line = json.dumps({"at_s": round(time.time(), 3), "who": who(), **entry}, ensure_ascii=False)
        with contextlib.suppress(OSError):  # a container may have no system log
            syslog.openlog("raidtui", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
            syslog.syslog(syslog.LOG_NOTICE, line)
        try:
            own_folder(self._path.parent)
            new = not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line.encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:
                sync_folder(self._path.parent)
        except OSError as error:
            self.trouble = f"journal {self._path}: {error.strerror}"
