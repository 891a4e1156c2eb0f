"""Metrics in Prometheus' text format: a prefix of their own, base units (docs/metrics.md).

The states and counts are those of node_exporter's mdadm collector (collector/mdadm_linux.go), which has other
names: what two exporters of one host have under one name, the scrape fails with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase
from raidtui.model.bad_blocks import bad_sectors
from raidtui.view.text import escaped
from raidtui.view.units import KIB, SECTOR_BYTES
from raidtui.watch.watch import Report

_STATES = ("active", "inactive", "recovering", "resync", "check")
_OF_ACTION = {
    "recover": "recovering",
    "reshape": "recovering",
    "resync": "resync",
    "repair": "resync",
    "check": "check",
}


_Sample = tuple[Array, dict[str, str], float | None]


def metric_lines(report: Report) -> Iterator[str]:
    """Yield the exposition, family by family."""
    arrays = report.snapshot.arrays
    families: tuple[tuple[str, str, Iterable[_Sample]], ...] = (
        ("raidtui_md_info", "Name, UUID and level of the array.", _infos(arrays)),
        ("raidtui_md_state", "State of the array.", _states(arrays)),
        ("raidtui_md_disks", "Members of the array by state.", _disks(arrays)),
        ("raidtui_md_disks_required", "Slots of the array.", [(a, {}, a.raid_disks) for a in arrays]),
        ("raidtui_md_size_bytes", "Size of the array.", [(a, {}, a.size_bytes) for a in arrays]),
        ("raidtui_md_synced_bytes", "Done part of the sync; all while none runs.", _synced(arrays)),
        ("raidtui_md_degraded", "Missing members, from md/degraded.", [(a, {}, a.degraded) for a in arrays]),
        (
            "raidtui_md_health",
            "Verdict: 0 optimal, 1 unknown, 2 attention, 3 degraded, 4 failed.",
            [(a, {}, int(report.healths[a.key])) for a in arrays],
        ),
        (
            "raidtui_md_mismatch_bytes",
            "Mismatches of the last check.",
            [(a, {}, _bytes(_mismatches(report, a), SECTOR_BYTES)) for a in arrays],
        ),
        (
            "raidtui_md_members_detached",
            "Members whose device left the kernel, and that md has not marked as failed.",
            _detached(arrays),
        ),
        ("raidtui_md_bad_bytes", "What md has recorded as bad on members.", _bad(arrays)),
        ("raidtui_md_sync_done_ratio", "Done part of the sync, 0 to 1.", _fractions(arrays)),
        ("raidtui_md_sync_speed_bytes_per_second", "Speed of the running sync.", _speeds(report)),
        ("raidtui_md_sync_left_seconds", "Estimated time to the end of the sync.", _lefts(report)),
        ("raidtui_md_sync_speed_limit_bytes_per_second", "Limits in force.", _limits(arrays)),
    )
    for name, text, samples in families:
        yield from _family(name, text, samples)
    yield from _absent_lines(report)
    yield from _advice_lines(report)


def _absent_lines(report: Report) -> Iterator[str]:
    """Yield the families of the arrays that should run and do not: they have no device name."""
    absent = report.snapshot.absent
    families = (
        (
            "raidtui_md_absent_health",
            "Verdict on an array that does not run, as raidtui_md_health.",
            [(each, int(report.healths[each.key])) for each in absent],
        ),
        (
            "raidtui_md_absent_members_present",
            "Slots that members which are there fill.",
            [(each, each.filled) for each in absent],
        ),
        (
            "raidtui_md_absent_members_required",
            "Slots of an array that does not run.",
            [(each, each.raid_disks) for each in absent],
        ),
    )
    for name, text, samples in families:
        lines = [
            f'{name}{{array="{escaped(each.title)}",uuid="{escaped(each.uuid or "")}",'
            f'state="{each.absence.value}"}} {value}'
            for each, value in samples
            if value is not None
        ]
        if lines:
            yield f"# HELP {name} {text}"
            yield f"# TYPE {name} gauge"
            yield from lines


def _advice_lines(report: Report) -> Iterator[str]:
    """Yield how much advice there was when the host was last looked at."""
    count = report.advice
    if count is None:
        return
    name = "raidtui_advice"
    yield f"# HELP {name} Pieces of advice that are not ignored, when the host was last looked at."
    yield f"# TYPE {name} gauge"
    for severity in ("attention", "degraded", "failed"):
        yield f'{name}{{severity="{severity}"}} {getattr(count, severity)}'
    yield f"# HELP {name}_time_seconds When that was, seconds since 1970."
    yield f"# TYPE {name}_time_seconds gauge"
    yield f"{name}_time_seconds {count.at_s:.0f}"


def _speeds(report: Report) -> Iterator[_Sample]:
    for array in report.snapshot.arrays:
        if (estimate := report.estimates.get(array.key)) is not None:
            yield array, {}, round(estimate.speed_kib_s * KIB)


def _lefts(report: Report) -> Iterator[_Sample]:
    for array in report.snapshot.arrays:
        estimate = report.estimates.get(array.key)
        if estimate is not None and estimate.left_s is not None:
            yield array, {}, round(estimate.left_s)


def _mismatches(report: Report, array: Array) -> int | None:
    """Return what the last check has found; without a record, the kernel's counter."""
    check = report.snapshot.checks.get(array.key)
    return array.mismatch_count if check is None else check.mismatches


def _bytes(number: int | None, unit_bytes: int) -> int | None:
    return None if number is None else number * unit_bytes


def _infos(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        yield array, {"array": array.title, "uuid": array.uuid or "", "level": array.level or ""}, 1


def _family(name: str, text: str, samples: Iterable[_Sample]) -> Iterator[str]:
    lines = [
        f"{name}{{{_labels(array, labels)}}} {value}" for array, labels, value in samples if value is not None
    ]
    if lines:
        yield f"# HELP {name} {text}"
        yield f"# TYPE {name} gauge"
        yield from lines


def _labels(array: Array, extra: dict[str, str]) -> str:
    return ",".join(f'{key}="{escaped(value)}"' for key, value in {"device": array.name, **extra}.items())


def _states(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        state = "active" if array.active else "inactive"
        if array.sync is not None and array.sync.phase in {Phase.RUNNING, Phase.DELAYED, Phase.PENDING}:
            state = _OF_ACTION.get(array.sync.action, state)
        for each in _STATES:
            yield array, {"state": each}, int(each == state)


def _disks(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        working = None if array.up is None else len(array.up) - len(array.not_up)
        if working is None and array.active:
            working = sum(not (member.has("faulty") or member.detached) for member in array.members)
        down = None if array.up is None else len(array.not_up) - len(array.unfilled_slots)
        spare = sum(_is_spare(member) for member in array.members)
        faulty = sum(member.has("faulty") for member in array.members)
        for state, value in (("active", working or 0), ("failed", faulty), ("spare", spare), ("down", down)):
            yield array, {"state": state}, value


def _detached(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        known = any(member.present is not None for member in array.members)
        yield array, {}, len(array.detached) if known else None


def _bad(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        known = [member for member in array.members if member.bad_blocks is not None]
        yield array, {}, sum(map(bad_sectors, known)) * SECTOR_BYTES if known else None


def _is_spare(member: Member) -> bool:
    """As mdstat's (S), which node_exporter counts; it is behind every member of an inactive array, too."""
    out = member.has("faulty") or member.has("journal") or member.detached
    return member.has("spare") and member.slot is None and not out


def _fractions(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        fraction = array.sync.fraction if array.sync is not None else None
        yield array, {}, None if fraction is None else round(fraction, 6)


def _synced(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        done_kib = array.sync.done_kib if array.sync is not None else None
        yield array, {}, array.size_bytes if done_kib is None else done_kib * KIB


def _limits(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        limit = array.speed_limit
        if limit is not None:
            yield array, {"limit": "min", "scope": limit.min_scope or ""}, _bytes(limit.min_kib_s, KIB)
            yield array, {"limit": "max", "scope": limit.max_scope or ""}, _bytes(limit.max_kib_s, KIB)
