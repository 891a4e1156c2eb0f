"""The real unit of a disk's write counter, from comparing its growth with what the kernel wrote.

The unit in an attribute's name is sometimes wrong. A published SATA DOM counts MiB where its name says
512-byte sectors, and smartctl's database, by its model string, GiB: 1024 times too much. A correct disk
must not be accused, so a verdict needs enough growth of both counts and exactly one unit that explains them:

- a counter in coarse units is late by up to one of them, on both ends: 64 units of growth make that 1.6 %;
- some disks bring their counter up to date late: a difference below ``LATE_BYTES`` proves nothing;
- writes that the kernel does not count as such, and writes of zeroes that a disk turns into TRIM, make a
  ratio, but hardly that of two units.

Write amplification is counted elsewhere and plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from raidtui.view.units import binary_size

MIB, GIB = 1 << 20, 1 << 30
CANDIDATES = (512, 4096, 10**6, MIB, 32 * MIB, 10**9, GIB)
"""Units in which disks are known to count host writes, bytes."""
ENOUGH_UNITS = 64
LATE_BYTES = 64 * MIB
_MEANT = {10**6: MIB, 10**9: GIB}
_NEAR, _NEAR_UNITS = 1.1, 256
_HONEST, _SAME, _SURE = 0.05, 0.02, 0.01
_MOST_OF = 5  # all stretches but one in five
_Span = tuple[int, int, int]  # growth in units; least and most that the kernel wrote, bytes
_NAMES = {
    512: "512-byte sectors",
    4096: "4096-byte sectors",
    10**6: "MB",
    MIB: "MiB",
    32 * MIB: "32 MiB",
    10**9: "GB",
    GIB: "GiB",
    512_000: "1000 x 512 bytes",
}


class CounterSample(Struct, frozen=True, kw_only=True):
    """A disk's counter, and what the kernel had written to the disk right before and right after it was read.

    Args:
        at_s: epoch seconds.
        since: a name of the time since which the kernel counts; samples of two times are not compared.
        count: the disk's counter, in its units.
        low_bytes, high_bytes: the kernel's.
    """

    at_s: float
    since: str
    count: int
    low_bytes: int
    high_bytes: int


class UnitState(StrEnum):
    """Whether the unit of a counter is right."""

    OPEN = "open"
    """Too little was written for a verdict."""
    CONFIRMED = "confirmed"
    WRONG = "wrong"
    """The disk counts in another unit, which is known now."""
    MEASURED = "measured"
    """No unit was promised; now it is known."""
    UNSTEADY = "unsteady"
    """No unit makes the counter agree with the kernel."""


class UnitVerdict(Struct, frozen=True, kw_only=True):
    """Whether the unit of a counter is right.

    Args:
        unit_bytes: the unit to use; None where none is known.
        growth: by how many units the counter rose, over what was compared.
        size_bytes: what the kernel wrote meanwhile.
    """

    kind: UnitState
    unit_bytes: int | None
    growth: int = 0
    size_bytes: int = 0


def unit_words(unit_bytes: int) -> str:
    """Return a unit as people name it: ``MiB``, ``512-byte sectors``."""
    return _NAMES.get(unit_bytes, f"{unit_bytes} bytes")


def verify_unit(samples: Sequence[CounterSample], unit_bytes: int | None) -> UnitVerdict:
    """Return whether a counter counts in the unit that its name promises, or in which it does.

    Args:
        samples: oldest first, of one disk.
        unit_bytes: what the name promises; None where it promises nothing.
    """
    spans = list(_spans(samples))
    kind, unit = _judge(spans, samples, unit_bytes)
    growth, size = sum(span[0] for span in spans), sum((span[1] + span[2]) // 2 for span in spans)
    return UnitVerdict(kind=kind, unit_bytes=unit, growth=growth, size_bytes=size)


def _judge(
    spans: Sequence[_Span], samples: Sequence[CounterSample], promised: int | None
) -> tuple[UnitState, int | None]:
    if not spans:
        return UnitState.OPEN, promised
    meant = _meant(spans, promised)
    if meant is not None:
        return UnitState.WRONG, meant
    if promised is not None and any(_explains(promised, span, _HONEST) for span in spans):
        return UnitState.CONFIRMED, promised
    fitting = [
        unit
        for unit in CANDIDATES
        if _MOST_OF * sum(_explains(unit, span, _SAME) for span in spans) >= (_MOST_OF - 1) * len(spans)
    ]
    if len(fitting) != 1 or not _possible(fitting[0], samples):
        return UnitState.OPEN if len(fitting) > 1 else UnitState.UNSTEADY, promised
    if promised is None:
        return UnitState.MEASURED, fitting[0]
    near = max(fitting[0], promised) < _NEAR * min(fitting[0], promised)
    return (
        (UnitState.OPEN, promised) if near or not _proved(promised, spans) else (UnitState.WRONG, fitting[0])
    )


def _spans(samples: Sequence[CounterSample]) -> Iterator[_Span]:
    """Yield stretches between samples in which enough was written, one after another."""
    first: CounterSample | None = None
    for sample in samples:
        if first is None or sample.since != first.since:
            first = sample
        elif sample.count < first.count or sample.low_bytes < first.high_bytes:
            first = sample  # another disk, a counter that began again, or nothing written
        else:
            growth = sample.count - first.count
            least = sample.low_bytes - first.high_bytes
            if growth >= ENOUGH_UNITS and least >= LATE_BYTES:
                yield growth, least, sample.high_bytes - first.low_bytes
                first = sample


def _explains(unit_bytes: int, span: _Span, doubt: float) -> bool:
    growth, least, most = span
    return least * (1 - doubt) <= (growth + 1) * unit_bytes and (growth - 1) * unit_bytes <= most * (
        1 + doubt
    )


def _meant(spans: Sequence[_Span], promised: int | None) -> int | None:
    """Return GiB where a name says GB and means GiB (or MiB for MB): only long and even growth shows it."""
    other = _MEANT.get(promised or 0)
    if other is None or promised is None or sum(span[0] for span in spans) < _NEAR_UNITS:
        return None
    even = all(_explains(other, span, _SURE) and not _explains(promised, span, _SAME) for span in spans)
    return other if even and _proved(promised, spans) else None


def _possible(unit_bytes: int, samples: Sequence[CounterSample]) -> bool:
    """A disk's counter is at least what the kernel wrote since it began to count."""
    last = samples[-1]
    return not is_impossible(last.count, unit_bytes, last.low_bytes)


def _proved(promised_bytes: int, spans: Sequence[_Span]) -> bool:
    """Whether the promised unit is off by more than rounding and a late counter can make."""
    return all(
        (growth + 1) * promised_bytes + LATE_BYTES < least
        or (growth - 1) * promised_bytes > most + LATE_BYTES
        for growth, least, most in spans
    )


def is_impossible(count: int, unit_bytes: int, since_boot_bytes: int) -> bool:
    """Whether a counter is below what the kernel wrote to the disk since it appeared."""
    return (count + 1) * unit_bytes + LATE_BYTES < since_boot_bytes


def verdict_words(verdict: UnitVerdict, source: str, promised_bytes: int | None) -> str:
    """Return a verdict as a sentence without its subject; "" for nothing."""
    if verdict.unit_bytes is None or verdict.kind not in {UnitState.WRONG, UnitState.MEASURED}:
        return ""
    what = f"counts {unit_words(verdict.unit_bytes)} in {source}"
    if promised_bytes is not None:
        what += f", not {unit_words(promised_bytes)}"
    return f"{what}: it rose by {verdict.growth} while {binary_size(verdict.size_bytes)} were written"
