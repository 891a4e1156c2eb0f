"""The report of a defect that ended the console: what is needed to fix it, without serial numbers."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

import raidtui
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.journal import journal_path
from raidtui.jobs.new_files import create_file
from raidtui.jobs.state_files import own_folder
from raidtui.model.finding import Event
from raidtui.model.snapshot import Snapshot
from raidtui.view.glyphs import encoding
from raidtui.view.text import visible

CRASHED = 70  # EX_SOFTWARE
_MOST_EVENTS = 40
_SHORTEST_SERIAL = 4
_UDEV = "/run/udev/data"
_SECRET = frozenset(
    {"E:ID_SERIAL", "E:ID_SERIAL_SHORT", "E:ID_WWN", "E:ID_WWN_WITH_EXTENSION", "E:ID_SCSI_SERIAL"}
)


def crash_text(
    error: BaseException, *, events: Sequence[Event] = (), secrets: Iterable[str] = (), view: str = ""
) -> str:
    """Return a report.

    Args:
        error: the exception.
        events: the log, oldest first.
        secrets: serial numbers and WWNs to leave out.
        view: the screens that were open, and the pane.
    """
    with contextlib.suppress(OSError):
        view += ", {} x {}".format(*os.get_terminal_size(1))
    words = [f"{name}={os.environ[name]}" for name in _ENVIRONMENT if name in os.environ]
    inner = getattr(error, "error", None)  # what a worker of Textual's raised
    lines = [
        f"raidtui {raidtui.__version__}, Python {platform.python_version()}, Linux {platform.release()}",
        f"taken {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        f"terminal {' '.join(words)}, {encoding()}",
        f"screen {view}",
        "",
        "".join(traceback.format_exception(error)),
        "".join(traceback.format_exception(inner)) if isinstance(inner, BaseException) else "",
        "last events:",
        *(
            f"  {time.strftime('%H:%M:%S', time.localtime(event.at_s))} {event.subject}: {event.text}"
            for event in events[-_MOST_EVENTS:]
        ),
    ]
    text = "\n".join("\n".join(visible(part) for part in line.split("\n")) for line in lines) + "\n"
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SERIAL:
            text = text.replace(secret, "(serial)")
    return text


def defect_report(
    error: BaseException, *, events: Sequence[Event], snapshot: Snapshot | None, reader: HostReader, view: str
) -> str:
    """Return the report of a defect, without the serial numbers of the host's disks.

    Args:
        error: the exception.
        events: the log, oldest first.
        snapshot: the last state of the host, where one was read.
        reader: the host.
        view: the screens that were open, and the pane.
    """
    disks = snapshot.disks.values() if snapshot is not None else ()
    secrets = {text for disk in disks for text in (disk.serial, disk.wwn) if text}
    return crash_text(error, events=events, secrets=secrets | serials_of(reader), view=view)


_ENVIRONMENT = ("TERM", "COLORTERM", "TERM_PROGRAM", "TMUX", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONIOENCODING")


def serials_of(reader: HostReader) -> set[str]:
    """Return the serial numbers and WWNs of all disks, as udev knows them."""
    found: set[str] = set()
    for name in reader.names(_UDEV):
        for line in (reader.text(f"{_UDEV}/{name}") or "").split("\n"):
            key, _, value = line.partition("=")
            if key in _SECRET:
                found.add(value)
    return found


def keep(text: str) -> Path | None:
    """Write a report beside the journal, or to the directory for temporary files; return its path, if any."""
    name = time.strftime("crash-%Y%m%d-%H%M%S")
    for folder in (journal_path().parent, Path(tempfile.gettempdir())):
        path = folder / f"{name}-{os.getpid()}.txt"
        with contextlib.suppress(OSError):
            own_folder(folder) if folder == journal_path().parent else None
            with create_file(path, 0o600) as file:
                file.write(text.encode("utf-8", "replace"))
            return path
    return None


def report_crash(text: str) -> None:
    """Save a report, and print on standard error where it is."""
    path = keep(text)
    if path is None:
        sys.stderr.write(text)
    sys.stderr.write(
        "raidtui: the console ended because of a defect in raidtui. Arrays and jobs are not affected.\n"
        f"Please report it with this file, which holds no serial numbers:\n{path or 'it is printed above'}\n"
    )
