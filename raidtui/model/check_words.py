"""What is known of the last check or repair, in words. Nothing is said of what was not read."""

from __future__ import annotations

from raidtui.model.sync_record import LastCheck
from raidtui.model.watchers import NextCheck
from raidtui.view.units import counted, duration


def check_words(result: LastCheck, when: str = "") -> str:
    """Return the result: ``last check: 4 % read, 0 mismatched sectors in it, 27 Nov 10:12``.

    Args:
        result: what is known.
        when: when it ended, for people; "" where that is not known.
    """
    found = counted(result.mismatches, "mismatched sector")
    if result.complete is None:
        return f"last {result.action}: {found}; not known whether it was complete"
    when = f", {when}" if when else ""
    if result.paused and not result.complete:
        return f"{paused_words(result)}{when}"
    if not result.complete:
        stopped = f"stopped{_by(result)}, " if result.stopped_by else ""
        return f"last {result.action}: {stopped}{result.percent} read, {found} in it{when}"
    took = f", in {duration(result.took_s)}" if result.took_s is not None else ""
    gaps = f"; unwatched for {duration(result.unwatched_s)}" if result.unwatched_s else ""
    return f"last {result.action}: complete, {found}{when}{took}{gaps}"


def next_check_words(check: NextCheck, when: str) -> str:
    """Return when the next check is due: ``next check: Sun 06 Dec 01:00, by mdcheck_start.timer``.

    Args:
        check: what is known.
        when: its time, for people.
    """
    if check.at_s is not None:
        return f"next check: {when}, by {check.by}"
    return f"next check: {'none' if check.none else 'not known'}: {check.why}"


def paused_words(result: LastCheck) -> str:
    """Return what was read before the pause: ``check paused: 4 % read, 0 mismatched sectors in it``."""
    found = counted(result.mismatches, "mismatched sector")
    return f"{result.action} paused{_by(result)}: {result.percent} read, {found} in it"


def _by(result: LastCheck) -> str:
    """Return who stopped it; nothing where that is not known: it may have been anyone."""
    return f" by {result.stopped_by}" if result.stopped_by else ""


def found_words(result: LastCheck) -> str:
    """Return what it has found, after a subject: ``found 128 mismatched sectors in the 4 % that it read``."""
    verb = "rewrote" if result.action == "repair" else "found"
    found = f"{verb} {counted(result.mismatches, 'mismatched sector')}"
    if result.complete is None:
        return f"{found}; not known whether it was complete"
    return found if result.complete else f"{found} in the {result.percent} that it read"


def ended_words(result: LastCheck) -> str:
    """Return how a run of it ended, for the log: ``check ended, 0 mismatched sectors``."""
    found = counted(result.mismatches, "mismatched sector")
    if result.complete:
        return f"{result.action} ended, {found}"
    if result.complete is None:
        return f"{result.action} ended or was interrupted, {found}"
    return f"{result.action} interrupted{_by(result)} at {result.percent}, {found} in what was read"
