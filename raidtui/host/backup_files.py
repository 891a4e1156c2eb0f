"""Backup files of reshapes: which there are, of which array, and which part of it they hold.

mdadm gives one a header (struct mdp_backup_super of Grow.c) that has the array's UUID and the places of what
it holds. They are looked for where people keep them, and where mdadm links to them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader

BACKUPS = "/.raidtui/backups.json"
"""In a capture, the backup files of its host."""
LINKED = "/run/mdadm"
PLACES = (
    "/root", "/var/lib/raidtui/rescue", "/var/lib/mdadm", "/var/lib", "/var/backups", "/var", "/boot",
    "/home", "/var/tmp", "/tmp", "/",  # noqa: S108  (they are only looked into)
)  # fmt: skip
"""The folders that are looked into, not deeper; of /home, each person's."""
_MOST = 5000
_HEADER = struct.Struct("<15sc16s4Q8x3Q")
_MAGIC = b"md_backup_data-"


class ReshapeBackup(Struct, frozen=True, kw_only=True):
    """A backup file of a reshape.

    Args:
        uuid: of the array, 32 digits in the order in which they are stored.
        written_s: when mdadm wrote to it last, epoch seconds.
        parts: what it holds of the array: where that begins and ends, in sectors; () for nothing.
    """

    path: str
    uuid: str
    written_s: float
    parts: tuple[tuple[int, int], ...] = ()


def read_backups(reader: HostReader, files: tuple[str, ...] = ()) -> tuple[ReshapeBackup, ...]:
    """Return the backup files of a host, or of the host of a capture.

    Args:
        reader: the host.
        files: paths at which one was to be made, wherever that is.
    """
    if reader.live:
        return find_backups(files=files)
    return msgspec.json.decode(reader.text(BACKUPS) or "[]", type=tuple[ReshapeBackup, ...])


def find_backups(
    places: tuple[str, ...] = (LINKED, *PLACES), files: tuple[str, ...] = ()
) -> tuple[ReshapeBackup, ...]:
    """Return the backup files in some folders of the live host, and among some files; they are only read."""
    found: dict[str, ReshapeBackup] = {}
    for path in (*files, *_files(places)):
        real = os.path.realpath(path)
        if real not in found and (backup := read_backup(real)) is not None:
            found[real] = backup
    return tuple(found.values())


def read_backup(path: str) -> ReshapeBackup | None:
    """Return what a file says of itself; None where it is no backup file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        head = os.read(descriptor, _HEADER.size)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        return None
    _, version, uuid, written, _, start, length, _, second, more = _HEADER.unpack(head)
    parts = [(start, length), *([(second, more)] if version == b"2" else [])]
    return ReshapeBackup(
        path=path,
        uuid=uuid.hex(),
        written_s=float(written),
        parts=tuple((at, at + count) for at, count in parts if count),
    )


def _files(places: tuple[str, ...]) -> Iterator[str]:
    for place in places:
        homes = []
        if place == "/home":
            with contextlib.suppress(OSError):
                homes = [f"/home/{name}" for name in sorted(os.listdir(place))]
        for folder in (place, *homes):
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for number, entry in enumerate(entries):
                    if number >= _MOST:
                        break
                    if entry.is_file(follow_symlinks=folder == LINKED):
                        yield entry.path
