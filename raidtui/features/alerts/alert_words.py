"""What an alert says: what happened, raidtui's own verdict on the array, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidtui.model.alert import AlertEvent, AlertWords
from raidtui.model.array import Array
from raidtui.model.finding import Finding, Severity
from raidtui.model.snapshot import Snapshot

_PROGRESS = re.compile(r"Rebuild[0-9]+")
_NOISE = frozenset({"NewArray", "RebuildStarted", "MoveSpare"})
_MISMATCHES = re.compile(r"mismatches found: *([0-9]+)")
_WRONG_LEVEL = "Wrong-Level"
_SHOWN = 3
_MOST = 1500

_SEVERITIES = {
    "DeviceDisappeared": Severity.FAILED,
    "Fail": Severity.DEGRADED,
    "DegradedArray": Severity.DEGRADED,
    "FailSpare": Severity.ATTENTION,
    "SparesMissing": Severity.ATTENTION,
    "SpareActive": Severity.INFO,
    "RebuildFinished": Severity.INFO,
    "TestMessage": Severity.INFO,
}
"""By mdadm's event; one that is not here may matter (mdadm(8), MONITOR MODE)."""

_DISK_SEVERITIES = {
    "EmailTest": Severity.INFO,
    "Health": Severity.FAILED,
    "FailedHealthCheck": Severity.DEGRADED,
    "FailedReadSmartData": Severity.DEGRADED,
    "FailedOpenDevice": Severity.DEGRADED,
}
"""By SMARTD_FAILTYPE (smartd.conf(5)); the others need attention."""


def is_noise(event: AlertEvent) -> bool:
    """Whether no one has to know: progress, and what someone at the host has just done."""
    if event.source != "mdadm":
        return False
    if event.name == "DeviceDisappeared":
        return event.detail == _WRONG_LEVEL  # it is there, and of a level that mdadm does not watch
    return event.name in _NOISE or bool(_PROGRESS.fullmatch(event.name))


def is_test(event: AlertEvent) -> bool:
    """Whether it says nothing but that alerts arrive."""
    return event.name in {"TestMessage", "EmailTest"}


def alert_words(
    event: AlertEvent, host: str, snapshot: Snapshot | None, findings: Sequence[Finding], *, unread: str = ""
) -> AlertWords:
    """Return what is sent about an event.

    Args:
        event: as it was reported.
        host: its name.
        snapshot: the arrays now; None where they could not be read.
        findings: about them, the worst first.
        unread: why they could not be read.
    """
    snapshot = snapshot if snapshot is not None and snapshot.readable else None
    disk = event.source == "smartd"
    concerned = () if snapshot is None else _concerned(event, snapshot)
    label = _name(event.device) if disk or not concerned else concerned[0].title
    happened = _disk_event(event) if disk else _array_event(event, label)
    keys = {each.key for each in concerned}
    own = [each for each in findings if each.subject in keys or (not disk and _is_of(each, event))]
    severity = _severity(event)
    if not is_test(event):
        severity = max((severity, *(each.severity for each in own)))
    parts = [f"{happened}."]
    if disk and concerned:
        parts.append(f"It is a member of {', '.join(each.title for each in concerned)}.")
    parts += _verdict(event, snapshot, concerned, own, unread)
    return AlertWords(
        severity=severity,
        title=_cut(f"{host}: {happened}", 200),
        sentence=_cut(" ".join(parts), _MOST),
    )


def _severity(event: AlertEvent) -> Severity:
    if event.source == "smartd":
        return _DISK_SEVERITIES.get(event.name, Severity.ATTENTION)
    if event.name == "RebuildFinished" and _mismatches(event):
        return Severity.ATTENTION
    return _SEVERITIES.get(event.name, Severity.ATTENTION)


def _mismatches(event: AlertEvent) -> int:
    found = _MISMATCHES.search(event.detail)
    return int(found[1]) if found and len(found[1]) < 19 else 0


def _concerned(event: AlertEvent, snapshot: Snapshot) -> tuple[Array, ...]:
    """Return the array of mdadm's event, or those that a disk is a member of, whole or in part."""
    name = _name(event.device)
    if event.source != "smartd":
        label = event.device.removeprefix("/dev/md/")
        return tuple(
            each for each in snapshot.arrays if each.name == name or label in {each.label, each.title}
        )[:1]
    return tuple(each for each in snapshot.arrays if any(_is_on(m.name, name) for m in each.members))


def _is_on(member: str, disk: str) -> bool:
    if member == disk:
        return True
    rest = member.removeprefix(disk)
    if rest == member or not disk:
        return False
    return bool(re.fullmatch(r"p[0-9]+" if disk[-1].isdigit() else r"[0-9]+", rest))


def _is_of(finding: Finding, event: AlertEvent) -> bool:
    """Whether a finding is about an array that does not run, which mdadm's event names."""
    return bool(event.device) and finding.name in {
        _name(event.device),
        event.device.removeprefix("/dev/md/"),
    }


def _name(device: str) -> str:
    return device.rpartition("/")[2] or device or "the host"


def _array_event(event: AlertEvent, label: str) -> str:
    member = _name(event.detail) if event.detail else "a member"
    mismatches = _mismatches(event)
    known = {
        "Fail": f"{member} of {label} has failed",
        "FailSpare": f"{member}, a spare or being rebuilt in {label}, has failed",
        "SpareActive": f"{member} is rebuilt, and serves in {label}",
        "DegradedArray": f"{label} is degraded",
        "DeviceDisappeared": f"{label} is gone: it was stopped, or all its members are lost",
        "SparesMissing": f"{label} has fewer spares than mdadm.conf says",
        "RebuildFinished": f"a sync of {label} has ended"
        + (f", with {mismatches} mismatches" if mismatches else ""),
        "TestMessage": f"this is a test alert, for {label}" if event.device else "this is a test alert",
    }
    said = f": {event.detail}" if event.detail else ""
    return known.get(event.name, f"mdadm reports {event.name or 'an event'} of {label}{said}")


def _disk_event(event: AlertEvent) -> str:
    if event.name == "EmailTest":
        return f"this is a test alert of smartd, for {_name(event.device)}"
    said = " ".join(event.detail.split()).rstrip(".")
    return f"smartd reports {event.name or 'a fault'} of {_name(event.device)}" + (
        f": {said}" if said else ""
    )


def _verdict(
    event: AlertEvent,
    snapshot: Snapshot | None,
    concerned: Sequence[Array],
    own: Sequence[Finding],
    unread: str,
) -> list[str]:
    """Return what raidtui says of the array, and what to do, a sentence each."""
    if snapshot is None:
        return [f"raidtui's own verdict is not known: {unread or 'the arrays could not be read'}.", _LOOK]
    shown = [each for each in own if each.severity or not is_test(event)][:_SHOWN]
    words = [f"{each.name} {each.sentence}." for each in shown]
    remedies = list(dict.fromkeys(each.remedy for each in shown if each.remedy))
    if not concerned and not own:
        if is_test(event):
            return ["Nothing to do."]
        lost = event.source != "smartd" and event.device
        return ["No array of that name runs now.", _RESCUE] if lost else [_SMART]
    if not own:
        words = [f"{each.title} is optimal now." for each in concerned[:_SHOWN]]
    if remedies:
        return [*words, *(f"To do: {each}." for each in remedies)]
    if event.source == "smartd":
        return [*words, "Nothing to do." if is_test(event) else _SMART]
    worst = max((each.severity for each in own), default=Severity.INFO)
    return [*words, "Nothing to do." if not worst and not _severity(event) else _LOOK]


_LOOK = "To do: look at it with raidtui, or raidtui status."
_RESCUE = (
    "To do: unless it was stopped on purpose, run raidtui rescue: it shows what happened, and how to bring it"
    " back."
)
_SMART = "To do: check the disk with raidtui wear, and have a replacement ready."


def _cut(text: str, most: int) -> str:
    """Return a text in one line, without control characters: it goes into headers and to other programs."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
