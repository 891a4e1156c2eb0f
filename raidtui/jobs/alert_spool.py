"""The spool of alerts: one file each, on disk before anything is sent, until every channel has it.

``waiting`` has the alerts that a channel still lacks, ``sent`` the last ones that all have. A file is
replaced whole. One that a killed process had written, and not yet given its name, is taken up by the next.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from raidtui.jobs.state_files import PRIVATE_MODE, own_folder, state_folder, sync_folder, take, write_synced
from raidtui.model.alert import Alert, AlertEvent, Delivery

_KEPT = 100
_ENDING, _MARK = ".json", ".accepted"


def spool_folder() -> Path:
    """Return the folder: /var/lib/raidtui/alerts for root, else in the user's state folder."""
    return state_folder() / "alerts"


def new_alert(event: AlertEvent, host: str) -> Alert:
    """Return an alert of now; later ones sort behind it."""
    now_ns = time.time_ns()
    return Alert(id=f"{now_ns:020d}-{os.getpid()}", at_s=now_ns / 1e9, host=host, event=event)


class AlertSpool:
    """The spool.

    Args:
        folder: see :func:`spool_folder`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting = folder / "waiting"
        self._sent = folder / "sent"

    def keep(self, alert: Alert) -> None:
        """Write an alert, new or changed; return when it is on disk.

        Raises:
            OSError: it cannot be written.
        """
        for folder in (self._folder, self._waiting, self._sent):
            own_folder(folder, PRIVATE_MODE)
        write_synced(self._waiting / f"{alert.id}{_ENDING}", msgspec.json.encode(alert))

    def waiting(self) -> tuple[Alert, ...]:
        """Return the alerts that are not done, the oldest first.

        Raises:
            OSError: they cannot be read.
        """
        return tuple(_alerts(self._waiting))

    def sent(self) -> tuple[Alert, ...]:
        """Return the last alerts that are done, the oldest first.

        Raises:
            OSError: they cannot be read.
        """
        return tuple(_alerts(self._sent))

    def damaged(self) -> tuple[str, ...]:
        """Return the files among those that wait which cannot be read. They stay where they are."""
        return tuple(str(path) for path in _files(self._waiting) if _read(path) is None and path.exists())

    def finish(self, alert: Alert) -> None:
        """Move an alert that is done to the others; only the last of them are kept.

        Raises:
            OSError: it cannot be moved.
        """
        name, marks = f"{alert.id}{_ENDING}", self._marks_of(alert)
        (self._waiting / name).replace(self._sent / name)
        sync_folder(self._sent)
        sync_folder(self._waiting)
        for mark in marks:
            mark.unlink(missing_ok=True)
        for old in _files(self._sent)[:-_KEPT]:
            old.unlink(missing_ok=True)

    def adopt(self) -> None:
        """Take up what a killed process had written whole under a name of its own. Needs the lock.

        Such a file is newer than the one with the alert's name, if there is one.
        """
        if not self._waiting.is_dir():
            return
        for part in sorted(self._waiting.glob(".*.part")):
            name, _, pid = part.name[1:].removesuffix(".part").rpartition(".")
            if pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists():
                continue
            if (self._sent / name).exists():
                part.unlink(missing_ok=True)  # it is done: its process had lived on under this number
            elif name.endswith(_MARK) or _read(part) is not None:  # what begins a mark was accepted
                part.replace(self._waiting / name)
                sync_folder(self._waiting)
        for mark in self._waiting.glob(f"*{_MARK}"):
            if not (self._waiting / f"{mark.name.partition('.')[0]}{_ENDING}").exists():
                mark.unlink(missing_ok=True)  # its alert is done

    def marks(self, channel: str) -> str:
        """Return the path of a channel's marks, with {id} for the alert's."""
        return f"{self._waiting}/{{id}}.{channel}{_MARK}"

    def marked(self, alert: Alert) -> Alert:
        """Return an alert with what its marks say: the process that sent it may have outlived its starter."""
        deliveries = dict(alert.deliveries)
        for path in self._marks_of(alert):
            channel = path.name.removeprefix(f"{alert.id}.").removesuffix(_MARK)
            before = deliveries.get(channel, Delivery())
            if before.done_s is None:
                at_s = path.stat().st_mtime
                deliveries[channel] = replace(
                    before, done_s=at_s, tried_s=at_s, tries=before.tries + 1, why=""
                )
        return replace(alert, deliveries=deliveries)

    def _marks_of(self, alert: Alert) -> list[Path]:
        return list(self._waiting.glob(f"{alert.id}.*{_MARK}"))

    @contextlib.contextmanager
    def lock(self, wait_s: float) -> Iterator[int | None]:
        """Be the only one who sends; gives None where another still does after this time.

        The lock is held as long as any process has the descriptor that is given.

        Raises:
            OSError: the folder cannot be written to.
        """
        own_folder(self._folder, PRIVATE_MODE)
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield descriptor if take(descriptor, wait_s) else None
        finally:
            os.close(descriptor)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"[0-9]*{_ENDING}")) if folder.is_dir() else []


def _alerts(folder: Path) -> Iterator[Alert]:
    if folder.exists():
        os.listdir(folder)  # raises what pathlib's glob would hide
    for path in _files(folder):
        if (found := _read(path)) is not None:
            yield found


def _read(path: Path) -> Alert | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Alert)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
