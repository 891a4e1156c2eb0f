"""One line for Nagios and Icinga: state, what is wrong, performance data (Monitoring Plugins' guidelines).

The exit status is that of ``raidtui status``, which is the contract of their plugins: 0 OK, 1 WARNING,
2 CRITICAL, 3 UNKNOWN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidtui.model.finding import Health, Severity
from raidtui.view.text import visible
from raidtui.view.units import counted
from raidtui.watch.watch import Report

_WORDS = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
_NOT_IN_A_LABEL = re.compile(r"[^A-Za-z0-9_.-]", re.ASCII)


def nagios_line(report: Report) -> str:
    """Return the line, without its end."""
    said = visible(brief_words(report)).replace("|", "/")
    return f"MD {_WORDS[report.exit_status]} - {said} | {' '.join(_figures(report))}"


def brief_words(report: Report) -> str:
    """Return in one line what is wrong, the worst first, or that nothing is; and what is being synced."""
    wrong = sorted(
        (each for each in report.findings if each.severity > Severity.INFO),
        key=lambda each: -each.severity,
    )
    snapshot = report.snapshot
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return f"{wrong[0].name} {wrong[0].sentence}{more}"
    if report.exit_status:
        unknown = (each for each in report.findings if report.healths.get(each.subject) is Health.UNKNOWN)
        known = next((f"{each.name} {each.sentence}" for each in unknown), "")
        lack = next((each.sentence for each in snapshot.lacks), "")
        return known or lack or "the state of the arrays is not known"
    syncs = [f"{each.sync.action} of {each.title}" for each in snapshot.arrays if each.sync is not None]
    arrays = counted(len(snapshot.arrays), "array") if snapshot.arrays else "no md array"
    return ", ".join((arrays, *syncs))


def _figures(report: Report) -> Iterator[str]:
    """Yield ``label=value[unit];warn;crit;min;max``; what is not known is left out."""
    snapshot = report.snapshot
    healths = [report.healths[each.key] for each in snapshot.arrays]
    healths += [report.healths[each.key] for each in snapshot.absent]
    yield f"arrays={len(healths)};;;0"
    for health, limits in ((Health.ATTENTION, "0;"), (Health.DEGRADED, "0;"), (Health.FAILED, ";0")):
        yield f"{health.word}={healths.count(health)};{limits};0"
    for array in snapshot.arrays:
        label = _NOT_IN_A_LABEL.sub("_", array.title)
        if array.degraded is not None:
            missing = array.degraded - len(array.unfilled_slots)
            yield f"{label}_missing={missing};0;;0;{array.raid_disks or ''}".rstrip(";")
        fraction = array.sync.fraction if array.sync is not None else None
        if fraction is not None:
            yield f"{label}_synced={fraction * 100:.1f}%;;;0;100"
        estimate = report.estimates.get(array.key)
        if estimate is not None and estimate.left_s is not None:
            yield f"{label}_left={estimate.left_s:.0f}s;;;0"
