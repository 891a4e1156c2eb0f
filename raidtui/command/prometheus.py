"""Metrics in Prometheus' text format, under node_exporter's ``node_md_*`` names where it has one.

Source of the names and states: prometheus/node_exporter collector/mdadm_linux.go. Ours are ``raidtui_md_*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidtui.model.array import Array, Member, Phase
from raidtui.model.bad_blocks import bad_sectors
from raidtui.session.watch import Report
from raidtui.view.text import escaped

_STATES = ("active", "inactive", "recovering", "resync", "check")
_OF_ACTION = {
    "recover": "recovering",
    "reshape": "recovering",
    "resync": "resync",
    "repair": "resync",
    "check": "check",
}


_Sample = tuple[Array, dict[str, str], int | None]


def metric_lines(report: Report) -> Iterator[str]:
    """Yield the exposition, family by family."""
    arrays = report.snapshot.arrays
    families: tuple[tuple[str, str, Iterable[_Sample]], ...] = (
        ("node_md_state", "State of the array.", _states(arrays)),
        ("node_md_disks", "Members of the array by state.", _disks(arrays)),
        ("node_md_disks_required", "Slots of the array.", [(a, {}, a.raid_disks) for a in arrays]),
        ("node_md_blocks", "Size of the array in KiB.", [(a, {}, _size_kib(a)) for a in arrays]),
        ("node_md_blocks_synced", "KiB synced; all of them while no sync runs.", _synced(arrays)),
        ("node_md_degraded", "Missing members, from md/degraded.", [(a, {}, a.degraded) for a in arrays]),
        (
            "raidtui_md_health",
            "Verdict: 0 optimal, 1 unknown, 2 attention, 3 degraded, 4 failed.",
            [(a, {}, int(report.healths[a.key])) for a in arrays],
        ),
        (
            "raidtui_md_mismatch_sectors",
            "Mismatches of the last check.",
            [(a, {}, a.mismatch_count) for a in arrays],
        ),
        (
            "raidtui_md_members_detached",
            "Members whose device left the kernel, and that md has not marked as failed.",
            _detached(arrays),
        ),
        ("raidtui_md_bad_sectors", "Sectors of members that md has recorded as bad.", _bad_sectors(arrays)),
        ("raidtui_md_sync_speed_kib", "Speed of the running sync, KiB/s.", _speeds(report)),
        ("raidtui_md_sync_left_seconds", "Estimated time to the end of the sync.", _lefts(report)),
        ("raidtui_md_sync_speed_limit_kib", "Limits in force, KiB/s.", _limits(arrays)),
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
            yield array, {}, round(estimate.speed_kib_s)


def _lefts(report: Report) -> Iterator[_Sample]:
    for array in report.snapshot.arrays:
        estimate = report.estimates.get(array.key)
        if estimate is not None and estimate.left_s is not None:
            yield array, {}, round(estimate.left_s)


def _size_kib(array: Array) -> int | None:
    return None if array.size_bytes is None else array.size_bytes // 1024


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
        down = None if array.up is None else len(array.not_up)
        spare = sum(_is_spare(member) for member in array.members)
        faulty = sum(member.has("faulty") for member in array.members)
        for state, value in (("active", working or 0), ("failed", faulty), ("spare", spare), ("down", down)):
            yield array, {"state": state}, value


def _detached(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        known = any(member.present is not None for member in array.members)
        yield array, {}, len(array.detached) if known else None


def _bad_sectors(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        known = [member for member in array.members if member.bad_blocks is not None]
        yield array, {}, sum(map(bad_sectors, known)) if known else None


def _is_spare(member: Member) -> bool:
    """As mdstat's (S), which node_exporter counts; it is behind every member of an inactive array, too."""
    out = member.has("faulty") or member.has("journal") or member.detached
    return member.has("spare") and member.slot is None and not out


def _synced(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        done_kib = array.sync.done_kib if array.sync is not None else None
        yield array, {}, _size_kib(array) if done_kib is None else done_kib


def _limits(arrays: tuple[Array, ...]) -> Iterator[_Sample]:
    for array in arrays:
        limit = array.speed_limit
        if limit is not None:
            yield array, {"limit": "min", "scope": limit.min_scope or ""}, limit.min_kib_s
            yield array, {"limit": "max", "scope": limit.max_scope or ""}, limit.max_kib_s
