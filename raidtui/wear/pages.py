"""What a ledger is, wherever it is kept, and one in memory: of a capture, and of the demo host.

A capture holds its host's history in one JSON file, so that it shows the same wear. What is marked while a
capture or the demo is looked at lasts until raidtui ends.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from raidtui.wear.entries import DAY_S, Entry, Mark

PATH = "/.raidtui/wear.json"
"""Where a capture has its host's history."""
_RECENT_S = 2 * DAY_S
_DAYS = (400, 120, 30, 7)
_MOST_BYTES = 4 << 20


class Pages(Protocol):
    """A ledger that is open."""

    def __enter__(self) -> Self:
        """Itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close it."""

    def add(self, *entries: Entry) -> None:
        """Keep readings."""

    def mark(self, kind: str, what: str, at_s: float) -> int:
        """Make a mark and return its id."""

    def marks(self, since_s: float = 0.0) -> tuple[Mark, ...]:
        """Return the marks since a time, the oldest first."""

    def disks(self) -> tuple[str, ...]:
        """Return all disks that were ever read."""

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[Entry, ...]:
        """Return a disk's readings since a time, the oldest first."""

    def at_mark(self, mark: int) -> tuple[Entry, ...]:
        """Return the readings that belong to a mark."""

    def thin(self, before_s: float) -> int:
        """Let go of most of what is older; return how many readings went."""


class Kept(Struct, frozen=True, kw_only=True):
    """A history as a capture keeps it."""

    marks: tuple[Mark, ...] = ()
    entries: tuple[Entry, ...] = ()


class MemoryLedger:
    """A ledger in memory.

    Args:
        kept: what is in it at first.
    """

    def __init__(self, kept: Kept | None = None) -> None:
        found = kept or Kept()
        self._marks = list(found.marks)
        self._entries = sorted(found.entries, key=lambda each: each.at_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be closed."""

    def add(self, *entries: Entry) -> None:
        """See ``Pages``."""
        self._entries += entries

    def mark(self, kind: str, what: str, at_s: float) -> int:
        """See ``Pages``."""
        made = Mark(id=1 + max((each.id for each in self._marks), default=0), at_s=at_s, kind=kind, what=what)
        self._marks.append(made)
        return made.id

    def marks(self, since_s: float = 0.0) -> tuple[Mark, ...]:
        """See ``Pages``."""
        return tuple(each for each in self._marks if each.at_s >= since_s)

    def disks(self) -> tuple[str, ...]:
        """See ``Pages``."""
        return tuple(sorted({each.disk for each in self._entries}))

    def entries(self, disk: str, since_s: float = 0.0) -> tuple[Entry, ...]:
        """See ``Pages``."""
        return tuple(each for each in self._entries if each.disk == disk and each.at_s >= since_s)

    def at_mark(self, mark: int) -> tuple[Entry, ...]:
        """See ``Pages``."""
        return tuple(each for each in self._entries if each.mark == mark)

    def thin(self, before_s: float) -> int:
        """See ``Pages``: nothing is old in a session."""
        del before_s
        return 0


def read_kept(text: str) -> Kept | None:
    """Return a capture's history, or None where the text is none."""
    try:
        return msgspec.json.decode(text, type=Kept)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def kept_text(pages: Pages, disks: tuple[str, ...], now_s: float) -> bytes:
    """Return what a capture keeps of a ledger; b"" where there is nothing.

    Of what is older than two days that is each day's last reading, and of many disks fewer days.

    Args:
        pages: the ledger.
        disks: the disks in question.
        now_s: epoch seconds.
    """
    text = b""
    for days in _DAYS:
        found = _kept_of(pages, disks, now_s - days * DAY_S, now_s)
        entries = [
            {key: value for key, value in asdict(each).items() if value is not None} for each in found.entries
        ]
        text = msgspec.json.encode({"marks": found.marks, "entries": entries}) if entries else b""
        if len(text) <= _MOST_BYTES:
            return text
    return b""


def _kept_of(pages: Pages, disks: tuple[str, ...], since_s: float, now_s: float) -> Kept:
    entries = [each for disk in disks for each in _sparse(pages.entries(disk, since_s), now_s)]
    known = {each.mark for each in entries}
    marks = tuple(mark for mark in pages.marks(since_s) if mark.id in known)
    left = {mark.id for mark in marks}
    return Kept(
        marks=marks,
        entries=tuple(each if each.mark in left else replace(each, mark=None) for each in entries),
    )


def _sparse(entries: tuple[Entry, ...], now_s: float) -> list[Entry]:
    last_of = {each.at_s // DAY_S: each for each in entries}
    return [
        each
        for each in entries
        if each.mark is not None or each.at_s >= now_s - _RECENT_S or last_of[each.at_s // DAY_S] is each
    ]
