"""From entries of all sources to incidents: each gets its boot, and a boot that ended badly is noted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.history.entries import Entry, Origin
from raidtui.features.history.identity import Today
from raidtui.features.history.incidents import Incident, incidents_of
from raidtui.features.history.patterns import Weight

_ID_LENGTH = 32


class BootSpan(Struct, frozen=True, kw_only=True):
    """A boot of which there are lines.

    Args:
        first_s: the time of its first line.
        last_s: of its last one.
        shut_down: whether a shutdown was noted; None where the source notes none.
    """

    boot: str
    first_s: float
    last_s: float
    shut_down: bool | None


def boots_of(entries: Iterable[Entry]) -> tuple[BootSpan, ...]:
    """Return the boots that lines of logs are from, oldest first."""
    spans: dict[str, list[float]] = {}
    ended: set[str] = set()
    for entry in entries:
        if not entry.boot:
            continue
        span = spans.setdefault(entry.boot, [entry.at_s, entry.at_s])
        span[0], span[1] = min(span[0], entry.at_s), max(span[1], entry.at_s)
        if entry.code == "shutdown":
            ended.add(entry.boot)
    found = (
        BootSpan(
            boot=boot,
            first_s=first_s,
            last_s=last_s,
            shut_down=boot in ended if len(boot) == _ID_LENGTH else None,
        )
        for boot, (first_s, last_s) in spans.items()
    )
    return tuple(sorted(found, key=lambda span: span.first_s))


def assemble(
    logged: Sequence[Entry], ours: Sequence[Entry], today: Today
) -> tuple[tuple[Incident, ...], tuple[BootSpan, ...]]:
    """Return the incidents, by the time at which they begin, and the boots.

    Args:
        logged: entries from logs, in any order.
        ours: jobs, changes, benchmarks, in any order; their boots are found by their time.
        today: the host as it is now.
    """
    boots = boots_of(logged)
    starts = [span.first_s for span in boots]
    names = {name: array.name for array in today.arrays.values() for name in (array.title, array.key)}
    placed = [_placed(entry, boots, starts) for entry in ours]
    ends = _unclean(boots)
    order = {span.boot: place for place, span in enumerate(boots)}
    entries = [*logged, *placed, *ends]
    if names and today.boot:
        entries = [_named(entry, today, names) for entry in entries]
    entries.sort(key=lambda entry: (order.get(entry.boot, -1), entry.at_s))
    return incidents_of(entries, current_boot=today.boot, ports=today.ports), boots


def _placed(entry: Entry, boots: Sequence[BootSpan], starts: list[float]) -> Entry:
    place = bisect_right(starts, entry.at_s) - 1
    return replace(entry, boot=boots[place].boot) if place >= 0 else entry


def _named(entry: Entry, today: Today, names: Mapping[str, str]) -> Entry:
    """Return an entry of this boot with the kernel's name of its array."""
    if entry.boot != today.boot or entry.array not in names:
        return entry
    return replace(entry, array=names[entry.array])


def _unclean(boots: Sequence[BootSpan]) -> list[Entry]:
    """Return an entry at the start of each boot before which no shutdown was noted."""
    found: list[Entry] = []
    for before, after in pairwise(boots):
        if before.shut_down is False and after.shut_down is not None:
            found.append(
                Entry(
                    at_s=after.first_s,
                    boot=after.boot,
                    since_boot_s=0.0,
                    origin=Origin.JOURNAL,
                    code="unclean-end",
                    weight=Weight.WARNING,
                    text="booted; no shutdown was logged before",
                )
            )
    return found
