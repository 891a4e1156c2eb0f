"""A bad cable told from a dying disk, by what the disk says of itself before and after, and now.

Transfers that fail on the way (attribute 199, CRC errors) and link resets are the link's: cable, connector,
backplane, power. Sectors that cannot be read, are reallocated or wait for it are the disk's. All of these
count over a disk's whole life: only their growth is news here; ``wear.faults`` judges how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from raidtui.model.smart import SmartReading
from raidtui.view.units import counted, duration
from raidtui.wear.faults import HANDFUL

SHORT_OUTAGE_S = 600.0
"""A disk that is back so soon was not gone: its link was."""

_SPARE, _HOT, _UNRELIABLE, _READ_ONLY, _BACKUP, _PMR = (1 << bit for bit in range(6))


class Trouble(Struct, frozen=True, kw_only=True):
    """What is wrong with a disk or its link.

    Args:
        word: "dying", "cable?" or "hot": what a member's row shows.
        reason: one sentence without its subject.
        remedy: what to do.
    """

    word: str
    reason: str
    remedy: str


def find_trouble(
    now: SmartReading,
    before: SmartReading | None = None,
    *,
    link_resets: int = 0,
    outage_s: float | None = None,
) -> Trouble | None:
    """Return what is wrong with a disk or its link, or None where nothing speaks for either.

    Args:
        now: what the disk says now.
        before: what it said before whatever happened to it; that of another disk is passed over.
        link_resets: how often the kernel reset its link meanwhile.
        outage_s: how long it was away, where it came back.
    """
    if before is not None and before.identity != now.identity:
        before = None
    if reasons := [*_says_itself(now), *_medium(now, before)]:
        return Trouble(
            word="dying", reason="; ".join(reasons), remedy="replace it while its data can be read"
        )
    if reasons := list(_link(now, before, link_resets, outage_s)):
        well = "; it found nothing wrong with itself" if now.passed else ""
        remedy = "reseat or change the cable and look at power and backplane; the disk may stay"
        return Trouble(word="cable?", reason="; ".join(reasons) + well, remedy=remedy)
    if (now.critical_warning or 0) & _HOT:
        hot = f" ({now.temperature_c} °C)" if now.temperature_c is not None else ""
        return Trouble(word="hot", reason=f"is too hot{hot} by its own limits", remedy="look at its airflow")
    return None


def _says_itself(now: SmartReading) -> Iterator[str]:
    """The disk's own verdict. NVMe's is one for all warnings, heat among them: its bits say which."""
    warning = now.critical_warning or 0
    if now.passed is False and not warning:
        yield "its own SMART verdict is FAILED"
    if warning & _UNRELIABLE:
        yield "it reports that it has become unreliable"
    if warning & _READ_ONLY:
        yield "it takes no more writes (read-only)"
    for each in now.attributes:
        if each.when_failed.casefold() == "now" and each.prefailure:
            yield f"{each.name} is at {each.value}, and its limit is {each.threshold}"


def _medium(now: SmartReading, before: SmartReading | None) -> Iterator[str]:
    """An SSD that retires a block or two is no dying disk."""
    if before is None:
        return
    remapped = _growth(before.reallocated, now.reallocated)
    if remapped >= (HANDFUL if now.rotation_rpm == 0 else 1):
        yield f"{remapped} more {'sector was' if remapped == 1 else 'sectors were'} reallocated"
    for old, new, one, many in (
        (before.pending, now.pending, "place cannot be read", "places cannot be read"),
        (before.uncorrectable, now.uncorrectable, "error was uncorrectable", "errors were uncorrectable"),
        (before.media_errors, now.media_errors, "media error", "media errors"),
    ):
        if more := _growth(old, new):
            yield f"{more} more {one if more == 1 else many}"


def _link(
    now: SmartReading, before: SmartReading | None, link_resets: int, outage_s: float | None
) -> Iterator[str]:
    failed = _growth(before.crc_errors, now.crc_errors) if before is not None else 0
    happened = bool(link_resets) or outage_s is not None
    if failed:
        yield f"{counted(failed, 'transfer')} failed on the way (CRC errors)"
    elif happened and before is None and now.crc_errors:
        yield f"{counted(now.crc_errors, 'transfer')} failed on the way so far (CRC errors)"
    if link_resets:
        yield f"its link was reset {counted(link_resets, 'time')}"
    if outage_s is not None and outage_s <= SHORT_OUTAGE_S:
        yield f"it was away for {duration(outage_s)} and came back"


def _growth(old: int | None, new: int | None) -> int:
    """A count that fell began anew (other firmware, other disk): nothing can be said of it."""
    return max(0, new - old) if old is not None and new is not None else 0
