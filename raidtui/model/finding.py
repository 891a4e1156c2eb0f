"""Findings: what is wrong or worth knowing, with a sentence and a remedy; and the events of the timeline."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from msgspec import Struct


class Severity(IntEnum):
    """How severe a finding is; the worst one decides an array's health."""

    INFO = 0
    ATTENTION = 1
    DEGRADED = 2
    FAILED = 3

    @property
    def word(self) -> str:
        """The word that is shown beside the glyph."""
        return self.name.lower()


class Health(IntEnum):
    """The state of an array by its worst finding, ordered by urgency."""

    OPTIMAL = 0
    UNKNOWN = 1
    ATTENTION = 2
    DEGRADED = 3
    FAILED = 4

    @property
    def word(self) -> str:
        """The word that is shown beside the glyph."""
        return self.name.lower()


class FindingCode(StrEnum):
    """What a finding about an array says, for programs. docs/status-json.md documents each; none changes."""

    AUTO_READ_ONLY = "auto-read-only"
    BAD_BLOCKS = "bad-blocks"
    BAD_BLOCKS_LOST = "bad-blocks-lost"
    BROKEN = "broken"
    CONF_LINE_STALE = "conf-line-stale"
    CREATED_OVER = "created-over"
    DEGRADED = "degraded"
    DELAYED = "delayed"
    FAILED = "failed"
    FROZEN = "frozen"
    FROZEN_WITH_WORK = "frozen-with-work"
    GONE = "gone"
    INACTIVE = "inactive"
    JOURNAL_MISSING = "journal-missing"
    MEMBER_DETACHED = "member-detached"
    MEMBER_FAULTY = "member-faulty"
    MEMBER_TROUBLE = "member-trouble"
    MISMATCHES = "mismatches"
    NOT_STARTED = "not-started"
    NOT_THERE = "not-there"
    NOT_UNDERSTOOD = "not-understood"
    PARITY_AWAITED = "parity-awaited"
    PENDING = "pending"
    PHANTOM_PARITY = "phantom-parity"
    READ_ERRORS = "read-errors"
    READ_ONLY = "read-only"
    RESHAPE_WAITS = "reshape-waits"
    SAME_UUID = "same-uuid"
    SLOTS_UNFILLED = "slots-unfilled"
    SLOW_MEMBER = "slow-member"
    STALE = "stale"


class Finding(Struct, frozen=True, kw_only=True):
    """One statement about an array or a disk.

    Args:
        code: what it says, for programs: a ``FindingCode`` for arrays; ``monitor/wear`` has codes for disks.
        subject: the array's key (its UUID, or its name without one), or "" for the host.
        name: the subject's name for people.
        sentence: the fact.
        remedy: what to do about it; "" for nothing.
    """

    severity: Severity
    code: str
    subject: str
    name: str
    sentence: str
    remedy: str = ""


class EventKind(StrEnum):
    """The source of an event."""

    KERNEL = "kernel"
    UDEV = "udev"
    HEALTH = "health"
    ACTION = "action"
    WEAR = "wear"


class Tone(StrEnum):
    """Whether an event is good or bad news."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


class Event(Struct, frozen=True, kw_only=True):
    """One line of the timeline.

    Args:
        at_s: epoch seconds.
        subject: an array's label, a disk's name, or ``you``.
        text: what happened, a phrase without its subject.
    """

    at_s: float
    kind: EventKind
    subject: str
    text: str
    tone: Tone = Tone.PLAIN
