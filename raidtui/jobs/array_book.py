"""A book of records: a small file per array in a folder of raidtui's state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import msgspec

from raidtui.jobs.state_files import PRIVATE_MODE, alone, own_folder, write_synced

_MOST_BYTES = 64 * 1024
_DIGITS = 32
"""Of a UUID: an array without one has no name that lasts."""


class ArrayRecord(Protocol):
    """What is kept of an array."""

    @property
    def uuid(self) -> str:
        """The array's, as mdadm writes it."""


R = TypeVar("R", bound=ArrayRecord)


class ArrayBook(Generic[R]):
    """The files of all arrays. One that is damaged, foreign or too large counts as none.

    Args:
        folder: where they are; None keeps nothing.
        writes: whether this process may write them.
    """

    what: ClassVar[str]
    """What the records are of, in messages."""
    kind: type[R]
    """What a file holds."""

    def __init__(self, folder: Path | None, *, writes: bool) -> None:
        self._folder = folder
        self._writes = writes
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self.trouble = ""
        """Why the last record could not be written."""

    def read(self, uuid: str) -> R | None:
        """Return what is kept of an array; None where there is nothing that can be read."""
        path = self._path(uuid)
        self._stamps[uuid] = _stamp(path)
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            if path is not None and path.stat().st_size <= _MOST_BYTES:
                record = msgspec.json.decode(path.read_bytes(), type=self.kind)
                return record if record.uuid == uuid else None
        return None

    def records(self) -> Iterator[R]:
        """Yield what is kept of all arrays, by their UUIDs."""
        for path in sorted(self._folder.glob("*.json")) if self._folder is not None else ():
            uuid = ":".join(path.stem[at : at + 8] for at in range(0, len(path.stem), 8))
            if (record := self.read(uuid)) is not None:
                yield record

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Let no other process write meanwhile: what it has written is read before it is written over.

        Where the folder cannot be made or locked, nothing is held: ``trouble`` says why.
        """
        with contextlib.ExitStack() as held:
            if self._folder is not None and self._writes:
                try:
                    held.enter_context(alone(self._folder))
                except OSError as error:
                    self.trouble = f"the records of {self.what} are not kept from others: {error.strerror}"
            yield

    def changed(self, uuid: str) -> bool:
        """Whether another process has written it since it was read or written here."""
        return _stamp(self._path(uuid)) != self._stamps.get(uuid)

    def write(self, record: R) -> None:
        """Keep a record in place of the one before; where that is not possible, ``trouble`` says why."""
        path = self._path(record.uuid)
        if path is None or not self._writes:
            return
        try:
            own_folder(path.parent, PRIVATE_MODE)
            write_synced(path, msgspec.json.encode(record))
            self.trouble = ""
        except OSError as error:
            self.trouble = f"{path} cannot be written: {error.strerror or error}"
        self._stamps[record.uuid] = _stamp(path)

    def _path(self, uuid: str) -> Path | None:
        name = uuid.replace(":", "")
        return (
            self._folder / f"{name}.json"
            if self._folder is not None and len(name) == _DIGITS and name.isalnum()
            else None
        )


def _stamp(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino) if found is not None else None
