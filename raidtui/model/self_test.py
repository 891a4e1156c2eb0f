"""A disk's self-tests (smartctl(8), -t and -l selftest): what its log says, and what it runs now. Records."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

HOURS_WRAP = 1 << 16
"""ATA and SCSI logs count power-on hours in 16 bits; those of NVMe do not wrap."""


class SelfTestKind(StrEnum):
    """What a self-test covers, by smartctl's name of it."""

    SHORT = "short"
    LONG = "long"
    CONVEYANCE = "conveyance"
    SELECTIVE = "selective"
    OFFLINE = "offline"
    OTHER = "other"
    """A vendor's own, or one whose kind the disk does not report."""


class SelfTestOutcome(StrEnum):
    """How a self-test ended."""

    PASSED = "passed"
    FAILED = "failed"
    ABORTED = "aborted"
    """By a command: of the host's, or of a person's."""
    INTERRUPTED = "interrupted"
    """By a reset of the disk or its controller."""
    UNKNOWN = "unknown"


class SelfTest(Struct, frozen=True, kw_only=True):
    """One entry of a disk's self-test log.

    Args:
        hours: the disk's power-on hours at that time, as its log has them; None where it has none.
        lba: the first sector that failed.
        text: smartctl's words for the outcome, "Completed: read failure"; for the eye.
    """

    kind: SelfTestKind
    outcome: SelfTestOutcome
    hours: int | None = None
    lba: int | None = None
    text: str = ""


class RunningSelfTest(Struct, frozen=True, kw_only=True):
    """The self-test that a disk runs now.

    Args:
        kind: OTHER where the disk does not report it (ATA).
        left_percent: how much is left to do; None where the disk does not report it (SCSI).
    """

    kind: SelfTestKind = SelfTestKind.OTHER
    left_percent: int | None = None


class SelfTests(Struct, frozen=True, kw_only=True):
    """All that a disk reports about its self-tests.

    Args:
        running: None where none runs.
        log: those that have ended, the newest first.
        kinds: those that can be started; None where the disk does not report it.
        minutes: (kind, how long the disk says it takes).
    """

    running: RunningSelfTest | None = None
    log: tuple[SelfTest, ...] = ()
    kinds: tuple[SelfTestKind, ...] | None = None
    minutes: tuple[tuple[SelfTestKind, int], ...] = ()

    @property
    def last(self) -> SelfTest | None:
        """The newest one that has ended."""
        return self.log[0] if self.log else None

    @property
    def failed(self) -> SelfTest | None:
        """The newest one that failed and that no later one has superseded.

        A long test that passes supersedes all before it, another one those of its kind (as in smartd(8)).
        """
        passed: set[SelfTestKind] = set()
        for each in self.log:
            if each.outcome is SelfTestOutcome.PASSED:
                passed.add(each.kind)
            elif each.outcome is SelfTestOutcome.FAILED and not {each.kind, SelfTestKind.LONG} & passed:
                return each
        return None

    def minutes_of(self, kind: SelfTestKind) -> int | None:
        """Return how long the disk says that a self-test takes."""
        return dict(self.minutes).get(kind)
