"""What is kept of a disk's exchange, on disk, from its start to its end.

There is one at a time. It ties the plans of the exchange together: killed anywhere, or after a reboot, the
record and what the kernel shows say where it stands. It names disks by their serial numbers, or WWNs, and
arrays by their UUIDs: names of the kernel are only for the eye.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from raidtui.jobs.journal import journal_path
from raidtui.jobs.state_files import drop_synced, own_folder, write_synced
from raidtui.model.disk import disk_number

FORM = 1
_LARGEST = 4 << 20


class PullError(Exception):
    """The record cannot be read or written; the message says why, and what to do."""


class PullMember(Struct, frozen=True, kw_only=True):
    """A member of an array that a disk is, or holds.

    Args:
        uuid: the array's, in mdadm's form.
        array: what the array was called then.
        part: the partition's number; 0 where the whole disk is the member.
        slot: its slot; None for a spare, or where it had none any more.
    """

    uuid: str
    array: str
    part: int = 0
    slot: int | None = None


class PullDisk(Struct, frozen=True, kw_only=True):
    """A disk, as it was when the exchange began.

    Args:
        identity: its serial number, or WWN.
        name: the kernel's name of it then.
        label: the serial number on its label; "" where that is not known.
        bay: where it is plugged in, as udev names it; "" where that is not known.
    """

    identity: str
    name: str
    label: str = ""
    model: str = ""
    size_bytes: int | None = None
    bay: str = ""
    members: tuple[PullMember, ...] = ()

    @property
    def printed(self) -> str:
        """What to look for on the disk: the serial number, or else the WWN."""
        return self.label or self.identity

    @property
    def number(self) -> str:
        """The same with its kind: "serial S2R5NX0H812345"."""
        return disk_number(self.label, self.identity)


class PullRecord(Struct, frozen=True, kw_only=True):
    """An exchange that has begun.

    Args:
        target: the disk that is to be pulled.
        others: all other disks of the host: none of them is to be pulled.
        appearance: the target's boot ID and ``diskseq`` then: see ``Device.appearance``.
        light: whether the light of its bay was switched on.
        dark: why it was not, a clause; "" where that needs no word.
        booted: whether it had a boot loader, as far as that could be read.
        begun_s: epoch seconds.
        who: the user.
        out_job: the job that takes it out of its arrays; "" before it was started, and where none is needed.
        left_s: when its absence was first seen; None before.
        fresh: the identity of the disk that takes its place; "" before it is known.
        fill_job: the job that puts that one in.
        form: the number of this form.
    """

    target: PullDisk
    others: tuple[PullDisk, ...]
    begun_s: float
    who: str
    appearance: str = ""
    light: bool = False
    dark: str = ""
    booted: bool = False
    out_job: str = ""
    left_s: float | None = None
    fresh: str = ""
    fill_job: str = ""
    form: int = FORM


def record_path() -> Path:
    """Return where it is kept: /var/lib/raidtui for root, else the user's state folder."""
    return journal_path().parent / "pull.json"


def read_record(path: Path) -> PullRecord | None:
    """Return the record, or None where no disk is being exchanged.

    Raises:
        PullError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST)
        record = msgspec.json.decode(data, type=PullRecord)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PullError(f"{path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PullError(
            f"{path} cannot be understood: {error}; move it away to begin again, nothing on the disks is lost"
        ) from error
    if record.form > FORM:
        raise PullError(f"{path} was written by a newer raidtui (form {record.form})")
    return record


def write_record(path: Path, record: PullRecord) -> None:
    """Write the record; return when it is on disk.

    Raises:
        PullError: it cannot be written; an older one is unchanged.
    """
    try:
        own_folder(path.parent)
        write_synced(path, msgspec.json.format(msgspec.json.encode(record)))
    except OSError as error:
        raise PullError(f"{path} cannot be written: {error.strerror}; nothing was started") from error


def drop_record(path: Path) -> None:
    """Remove the record, where there is one.

    Raises:
        PullError: it cannot be removed.
    """
    try:
        drop_synced(path)
    except OSError as error:
        raise PullError(f"{path} cannot be removed: {error.strerror}") from error


def opening_words() -> tuple[str, ...]:
    """Return what a console says as it opens of a disk that is being exchanged, a sentence."""
    try:
        record = read_record(record_path())
    except PullError as error:
        return (str(error),)
    if record is None:
        return ()
    target = record.target
    return (f"the exchange of {target.name}, serial {target.printed}, is not finished; i shows it",)
