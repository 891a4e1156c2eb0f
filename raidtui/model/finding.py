"""Findings: what is wrong or worth knowing, with a sentence and a remedy; and the events of the timeline."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from msgspec import Struct


class Severity(IntEnum):
    """Ordered: the worst finding decides."""

    INFO = 0
    ATTENTION = 1
    DEGRADED = 2
    FAILED = 3

    @property
    def word(self) -> str:
        """The word shown beside glyph and colour."""
        return self.name.lower()


class Health(IntEnum):
    """What an array's findings come to. The order is how urgent it is."""

    OPTIMAL = 0
    UNKNOWN = 1
    ATTENTION = 2
    DEGRADED = 3
    FAILED = 4

    @property
    def word(self) -> str:
        """The word shown beside glyph and colour."""
        return self.name.lower()


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to tell.

    Args:
        code: stable, for machines: ``member-faulty``.
        subject: the array's key (its UUID, or name without one), or "" for the host.
        name: the subject's name for the eye.
        sentence: what is the case.
        remedy: what to do about it; "" where nothing is to be done.
    """

    severity: Severity
    code: str
    subject: str
    name: str
    sentence: str
    remedy: str = ""


class EventKind(StrEnum):
    """Where an event comes from."""

    KERNEL = "kernel"
    UDEV = "udev"
    HEALTH = "health"
    ACTION = "action"
    WEAR = "wear"


class Tone(StrEnum):
    """How an event is to be read."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened.

    Args:
        at_s: epoch seconds.
        subject: array label, disk name or ``you``.
        text: what happened, a phrase without the subject.
    """

    at_s: float
    kind: EventKind
    subject: str
    text: str
    tone: Tone = Tone.PLAIN
