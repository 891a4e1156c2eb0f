"""The report as JSON; docs/status-json.md describes it. What the kernel did not say is null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import raidtui
from raidtui.config import read_config
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array, Member
from raidtui.model.bad_blocks import bad_sectors
from raidtui.model.finding import Finding
from raidtui.model.geometry import set_letters
from raidtui.model.levels import layout_words
from raidtui.model.sync_record import LastCheck
from raidtui.monitor.wear.ledger import LedgerError
from raidtui.monitor.wear.readings import WearReader
from raidtui.view.units import SECTOR_BYTES
from raidtui.watch.watch import Report

FORMAT_VERSION = 1
_MONTH_S = 31 * 86_400.0


def known_wear(reader: HostReader) -> list[dict[str, Any]] | None:
    """Return what the history says of the end of the disks' rated life; None where it cannot be read.

    No disk is asked. A disk that was not read for a month is no longer there.
    """
    try:
        found = WearReader(reader, read_config().rated_bytes).forecasts(reader.now_s() - _MONTH_S)
    except LedgerError:
        return None
    return [
        {
            "disk": entry.disk,
            "name": entry.name,
            "model": entry.model or None,
            "read_s": round(entry.at_s, 3),
            "percent_used": entry.percent,
            "ends_s": None if end is None or end.ends_s is None else round(end.ends_s),
            "over": end is not None and end.over,
        }
        for entry, end in found
    ]


def report_dict(report: Report, wear: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return the whole report as a dict that ``json`` takes; ``wear`` is that of ``known_wear``."""
    snapshot = report.snapshot
    return {
        "format_version": FORMAT_VERSION,
        "raidtui_version": raidtui.__version__,
        "taken_s": round(snapshot.taken_s, 3),
        "exit_status": report.exit_status,
        "host": {
            "name": snapshot.host.name,
            "kernel": snapshot.host.kernel,
            "md_loaded": snapshot.md_loaded,
            "readable": snapshot.readable,
            "source": snapshot.host.source or None,
            "speed_limit_min_kib_s": snapshot.limits.min_kib_s,
            "speed_limit_max_kib_s": snapshot.limits.max_kib_s,
        },
        "arrays": [_array(report, array) for array in snapshot.arrays],
        "absent": [_absent(report, absent) for absent in snapshot.absent],
        "findings": [_finding(report, finding) for finding in report.findings],
        "advice": None
        if report.advice is None
        else {
            "at_s": round(report.advice.at_s, 3),
            "attention": report.advice.attention,
            "degraded": report.advice.degraded,
            "failed": report.advice.failed,
        },
        "wear": wear,
        "lacks": [
            {"part": lack.part, "reason": lack.reason, "remedy": lack.remedy or None}
            for lack in snapshot.lacks
        ],
    }


def _array(report: Report, array: Array) -> dict[str, Any]:
    limit = array.speed_limit
    bitmap = array.bitmap
    letters = set_letters(array.level, array.layout, array.raid_disks or 0)
    return {
        "name": array.name,
        "path": array.path,
        "uuid": array.uuid,
        "label": array.label,
        "level": array.level,
        "layout": layout_words(array.level, array.layout),
        "chunk_bytes": array.chunk_bytes,
        "metadata": array.metadata,
        "size_bytes": array.size_bytes,
        "array_state": array.array_state,
        "health": report.healths[array.key].word,
        "raid_disks": array.raid_disks,
        "degraded": array.degraded,
        "consistency_policy": array.consistency_policy,
        "bitmap": None
        if bitmap is None
        else {
            "location": bitmap.location,
            "chunk_bytes": bitmap.chunk_bytes,
            "used_pages": bitmap.used_pages,
            "pages": bitmap.pages,
            "marked_at_most_bytes": bitmap.marked_at_most_bytes,
        },
        "mismatch_count": array.mismatch_count,
        "last_check": _last_check(report.snapshot.checks.get(array.key)),
        "sync": _sync(report, array),
        "reshape": _reshape(array),
        "speed_limit": None
        if limit is None
        else {
            "min_kib_s": limit.min_kib_s,
            "max_kib_s": limit.max_kib_s,
            "min_scope": limit.min_scope,
            "max_scope": limit.max_scope,
        },
        "members": [_member(report, member, letters) for member in array.members],
        "read_only": array.read_only or None,
        "active": array.active,
        "container": array.container,
        "stale_since_s": array.stale.since_s if array.stale else None,
    }


def _reshape(array: Array) -> dict[str, Any] | None:
    reshape = array.reshape
    if reshape is None:
        return None
    place, shift = reshape.position_sectors, reshape.shift_sectors
    return {
        "old_raid_disks": array.old_raid_disks,
        "position_bytes": None if place is None else place * SECTOR_BYTES,
        "backwards": reshape.backwards,
        "new_layout": layout_words(array.level, reshape.layout),
        "new_chunk_bytes": reshape.chunk_bytes,
        "shift_bytes": None if shift is None else shift * SECTOR_BYTES,
        "backup_file": reshape.backup or None,
    }


def _last_check(check: LastCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    known = check.complete is not None and check.total_kib > 0
    return {
        "action": check.action,
        "complete": check.complete,
        "read_fraction": round(min(1.0, check.read_kib / check.total_kib), 6) if known else None,
        "mismatch_count": check.mismatches,
        "begun_s": check.begun_s,
        "ended_s": check.ended_s,
        "took_s": check.took_s,
        "paused": check.paused,
        "stopped_by": check.stopped_by or None,
    }


def _sync(report: Report, array: Array) -> dict[str, Any] | None:
    sync = array.sync
    if sync is None:
        return None
    estimate = report.estimates.get(array.key)
    held, turn = report.brakes.get(array.key), report.turns.get(array.key)
    return {
        "action": sync.action,
        "phase": sync.phase.value,
        "fraction": None if sync.fraction is None else round(sync.fraction, 6),
        "done_kib": sync.done_kib,
        "total_kib": sync.total_kib,
        "speed_kib_s": None if estimate is None else round(estimate.speed_kib_s),
        "kernel_speed_kib_s": sync.kernel_speed_kib_s,
        "eta_s": _rounded(estimate.left_s if estimate else None),
        "eta_low_s": _rounded(estimate.left_low_s if estimate else None),
        "eta_high_s": _rounded(estimate.left_high_s if estimate else None),
        "eta_if_as_fast": estimate is not None and estimate.if_as_fast,
        "waits_for": [] if turn is None else [name for _, name in turn.waits_for],
        "begins_in_s": _rounded(turn.begins_in_s if turn else None),
        "takes_s": _rounded(turn.takes_s if turn else None),
        "limited_by": held.brake.value if held else None,
        "limited_by_words": held.words if held else None,
    }


def _rounded(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


def _member(report: Report, member: Member, letters: Mapping[int, str]) -> dict[str, Any]:
    disk = report.snapshot.disks.get(member.name)
    return {
        "name": member.name,
        "path": f"/dev/{member.name}",
        "slot": member.slot,
        "set": letters.get(member.slot) if member.slot is not None else None,
        "state": None if member.states is None else ",".join(member.states),
        "present": member.present,
        "errors": member.errors,
        "bad_sectors": None if member.bad_blocks is None else bad_sectors(member),
        "bad_blocks": None if member.bad_blocks is None else [list(span) for span in member.bad_blocks],
        "serial": disk.serial if disk else None,
        "model": disk.model if disk else None,
    }


def _absent(report: Report, absent: AbsentArray) -> dict[str, Any]:
    return {
        "state": absent.absence.value,
        "health": report.healths[absent.key].word,
        "path": absent.path,
        "uuid": absent.uuid,
        "label": absent.label,
        "level": absent.level,
        "raid_disks": absent.raid_disks,
        "filled": absent.filled,
        "members": [
            {
                "name": member.name,
                "present": member.present,
                "slot": member.slot,
                "events_behind": member.events_behind,
                "serial": member.serial,
            }
            for member in absent.members
        ],
        "named_by": list(absent.named_by),
        "seen_s": None if absent.seen_s is None else round(absent.seen_s, 3),
    }


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    array = report.snapshot.array(finding.subject)
    absent = report.snapshot.absent_array(finding.subject)
    return {
        "severity": finding.severity.word,
        "code": finding.code,
        "array": array.name if array else None,
        "uuid": array.uuid if array else absent.uuid if absent else None,
        "sentence": f"{finding.name} {finding.sentence}",
        "remedy": finding.remedy or None,
    }
