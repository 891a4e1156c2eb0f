"""One line of the timeline."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
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
    kind: Kind
    subject: str
    text: str
    tone: Tone = Tone.PLAIN
