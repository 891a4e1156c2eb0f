"""A fleet in lines: a row for each host, what is wrong below it where there is room. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from raidtui.features.fleet.answers import FleetRow, FleetState, FleetSync
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, fit_words, visible
from raidtui.view.units import duration
from raidtui.view.wrapping import wrapped

FORMAT_VERSION = 1
ROLES = {
    FleetState.OPTIMAL: "ok",
    FleetState.UNKNOWN: "unknown",
    FleetState.ATTENTION: "warn",
    FleetState.NO_ANSWER: "unknown",
    FleetState.DEGRADED: "warn",
    FleetState.FAILED: "bad",
}
_MOST_NAME, _STATE = 28, 9


def name_width(names: Sequence[str]) -> int:
    """Return the cells of the column of names."""
    return min(_MOST_NAME, max((cell_width(visible(name)) for name in names), default=4))


def host_line(row: FleetRow, width: int, names: int) -> Line:
    """Return one host in a line of at most ``width`` cells; ``names`` is the width of the names' column."""
    role = ROLES[row.state]
    left: Line = [
        (f" {GLYPHS[role]} ", role),
        (fit(visible(row.host.name), names), "plain"),
        ("  ", "plain"),
        (fit(row.state.word, _STATE), role),
        ("  ", "plain"),
    ]
    room = width - sum(cell_width(text) for text, _ in left)
    return [*left, (fit_words("; ".join(_what(row)), max(0, room)), "plain")]


def waiting_line(name: str, names: int) -> Line:
    """Return the line of a host that has not answered yet."""
    return [("   ", "plain"), (fit(visible(name), names), "dim"), ("  ", "plain"), ("asked", "dim")]


def _what(row: FleetRow) -> list[str]:
    """Return what is to be said of a host, the most urgent first."""
    said = [*row.problems, *(sync_words(sync, row.at_s) for sync in row.syncs)]
    if said or row.answer is None:
        return said
    number = len(row.answer.arrays)
    return [f"{number} array{'' if number == 1 else 's'}" if number else "no md array"]


def sync_words(sync: FleetSync, now_s: float) -> str:
    """Return a sync and its end: ``resync of data 54.2 %, ends at 14:32 (in 7 min)``."""
    place = "" if sync.fraction is None else f" {sync.fraction * 100:.1f} %"
    if sync.phase != "running":
        return visible(f"{sync.action} of {sync.array}{place}, {sync.phase}")
    if sync.ends_s is None:
        return visible(f"{sync.action} of {sync.array}{place}, end not known")
    left_s = sync.ends_s - now_s
    form = "%H:%M" if left_s < 20 * 3600 else "%a %H:%M"
    stamp = time.strftime(form, time.localtime(sync.ends_s))
    return visible(f"{sync.action} of {sync.array}{place}, ends at {stamp} (in {duration(left_s)})")


def text_lines(rows: Sequence[FleetRow]) -> list[str]:
    """Return the fleet as plain text, all of it."""
    names = name_width([row.host.name for row in rows])
    lines = []
    for row in rows:
        said = _what(row)
        head = (
            f"{GLYPHS[ROLES[row.state]]} {fit(visible(row.host.name), names)}  {fit(row.state.word, _STATE)}"
        )
        lines.append(f"{head}  {said[0] if said else ''}".rstrip())
        lines += [" " * (names + _STATE + 6) + text for text in said[1:]]
    return [*lines, counts_words(rows)]


def counts_words(rows: Sequence[FleetRow], of: int = 0) -> str:
    """Return ``100 hosts: 1 failed, 3 no answer, 96 optimal``; ``of`` is how many there are in all."""
    number, every = len(rows), max(of, len(rows))
    counts = {state: sum(row.state is state for row in rows) for state in sorted(FleetState, reverse=True)}
    parts = [f"{count} {state.word}" for state, count in counts.items() if count]
    said = str(number) if number == every else f"{number} of {every}"
    return f"{said} host{'' if every == 1 else 's'}{': ' * bool(parts)}{', '.join(parts)}"


def fleet_dict(rows: Sequence[FleetRow], *, at_s: float, status: int) -> dict[str, Any]:
    """Return the whole as a dict that ``json`` takes (docs/fleet.md)."""
    return {
        "format_version": FORMAT_VERSION,
        "at_s": round(at_s, 3),
        "exit_status": status,
        "hosts": [_host(row) for row in rows],
    }


def _host(row: FleetRow) -> dict[str, Any]:
    return {
        "name": row.host.name,
        "destination": row.host.destination,
        "state": row.state.word,
        "at_s": round(row.at_s, 3),
        "took_s": round(row.took_s, 3),
        "no_answer": None if row.none is None else msgspec.structs.asdict(row.none),
        "problems": list(row.problems),
        "syncs": [
            {
                "array": sync.array,
                "action": sync.action,
                "phase": sync.phase,
                "fraction": sync.fraction,
                "ends_s": None if sync.ends_s is None else round(sync.ends_s),
            }
            for sync in row.syncs
        ],
        "worn": [
            {
                "disk": each.disk,
                "name": each.name,
                "percent_used": each.percent_used,
                "ends_s": each.ends_s,
                "over": each.over,
            }
            for each in row.worn
        ],
        "status": row.status,
    }


def detail_lines(row: FleetRow, width: int) -> list[Line]:
    """Return all that is to be said of one host, in lines of ``width`` cells."""
    took = f"asked at {time.strftime('%H:%M:%S', time.localtime(row.at_s))}, {row.took_s:.1f} s"
    role = ROLES[row.state]
    lines: list[Line] = [
        [(visible(row.host.name), "strong"), (f"  {row.state.word}", role), (f"  {took}", "dim")]
    ]
    for text in _what(row):
        lines += wrapped(text, width, hang=2)
    return lines
