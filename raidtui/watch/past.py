"""What features have kept of their own runs, for the history of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct


class PastRun(Struct, frozen=True, kw_only=True):
    """A run that a feature has kept.

    Args:
        at_s: when it began, epoch seconds.
        code: what it is, for programs.
        text: what it was, a clause.
    """

    at_s: float
    code: str
    text: str


class PastError(Exception):
    """What was kept cannot be read; the message says why."""


PastReader = Callable[[], Sequence[PastRun]]
"""Reads what a feature has kept; raises ``PastError``."""
_readers: dict[str, PastReader] = {}


def keep_reader(feature: str, reader: PastReader) -> None:
    """Let the history have what a feature has kept."""
    _readers[feature] = reader


def past_runs() -> tuple[list[PastRun], list[str]]:
    """Return what features have kept, in any order, and what could not be read."""
    runs: list[PastRun] = []
    troubles = []
    for read in _readers.values():
        try:
            runs += read()
        except PastError as error:
            troubles.append(str(error))
    return runs, troubles
