"""Recorded syncs: a row each 0.2 s of what md's files, /proc/mdstat and the counters of the members held.

They were made in User Mode Linux guests (Linux 6.1, mdadm 4.2) with sparse disks. ``#`` lines say what was
done, ``ev`` is what was done just before a row; sizes are KiB, but for ``sync_max``, which is in sectors.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import deque
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from raidtui.monitor.brakes import DeviceLoad
from raidtui.monitor.sync_end import Estimate, SyncEnd
from raidtui.monitor.sync_track import SyncSample, SyncTrack
from tests.places import FIXTURES

FOLDER = FIXTURES / "syncs"
NAMES = sorted(path.name.removesuffix(".tsv.gz") for path in FOLDER.glob("*.tsv.gz"))
_BUSY_MS, _BLOCK_S = 7, 5.0


class Row(Struct, kw_only=True):
    """One row; ``sample`` is None while nothing is synced."""

    clock_s: float
    deed: str
    action: str
    word: str
    finish_s: float
    sample: SyncSample | None
    stats: dict[str, list[int]]
    own: list[int]
    kept_sectors: int
    start_sectors: int
    mismatches: int


def rows_of(name: str) -> list[Row]:
    """Return the rows of a recording."""
    lines = gzip.decompress((FOLDER / f"{name}.tsv.gz").read_bytes()).decode().splitlines()
    body = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [_row(dict(zip(body[0], cells, strict=True))) for cells in body[1:]]


def _row(cells: dict[str, str]) -> Row:
    runs = cells["done_kib"] != "-"
    parts = (part.split(":") for part in cells["members"].split(";") if ":" in part)
    halt = cells["sync_max"]
    sample = (
        SyncSample(
            clock_s=float(cells["t"]),
            done_kib=int(cells["done_kib"]),
            total_kib=int(cells["total_kib"]),
            mean_kib_s=int(cells["speed_kib"]),
            ceiling_kib_s=_figure(cells["max"]),
            halt_kib=int(halt) // 2 if halt.isdigit() else None,
        )
        if runs
        else None
    )
    return Row(
        clock_s=float(cells["t"]),
        deed="" if cells["ev"] == "-" else cells["ev"],
        action=cells["action"],
        word=cells["word"],
        finish_s=float(cells["finish_min"]) * 60 if runs else 0.0,
        sample=sample,
        kept_sectors=_figure(cells["completed"]) or 0,
        start_sectors=int(cells["sync_min"]),
        mismatches=int(cells["mismatch"]),
        own=[int(each) for each in cells["md_stat"].split(",")],
        stats={name: [int(each) for each in rest.split(",")] for name, rest in parts if rest != "-"},
    )


def _figure(text: str) -> int | None:
    found = re.match(r"\d+", text)
    return int(found.group()) if found else None


class Scored(Struct, kw_only=True):
    """An estimate, and how long it really took; ``None`` is what could not be told."""

    true_s: float
    finish_s: float
    estimate: Estimate


class Ending(Struct, kw_only=True):
    """An end that no later deed has moved: estimates count from ``from_s`` on."""

    from_s: float
    end_s: float
    target_kib: int


def endings(rows: list[Row]) -> list[Ending]:
    """Return the ends to score against."""
    run = [row for row in rows if row.sample is not None]
    last = run[-1].sample
    assert last is not None
    end_s = run[-1].clock_s
    further = next((row.clock_s for row in rows if row.clock_s > end_s), end_s)
    deeds = [row.clock_s for row in rows if row.deed and row.clock_s <= end_s]
    left = last.total_kib - last.done_kib
    whole = left < 0.1 * last.total_kib or left < 8 * max(last.mean_kib_s, 1)
    stopped = any(row.deed == "idle" and abs(row.clock_s - end_s) < 1.5 for row in rows)
    found = []
    if whole and not stopped:
        start = deeds[-1] if deeds else run[0].clock_s
        found.append(Ending(from_s=start, end_s=(end_s + further) / 2, target_kib=last.total_kib))
    halts = next((row for row in run if row.sample is not None and row.sample.halted), None)
    if halts is not None and halts.sample is not None and halts.sample.halt_kib is not None:
        before = [at_s for at_s in deeds if at_s < halts.clock_s]
        start = before[-1] if before else run[0].clock_s
        found.append(Ending(from_s=start, end_s=halts.clock_s, target_kib=halts.sample.halt_kib))
    return found


def played(rows: list[Row], every_s: float = 1.0) -> Iterator[tuple[Row, SyncEnd | None]]:
    """Yield each row that a watcher would read, and the estimator after it; None while nothing runs."""
    following: SyncEnd | None = None
    before: Row | None = None
    for row in rows:
        if before is not None and row.clock_s - before.clock_s < every_s - 0.05 and not row.deed:
            continue
        sample = row.sample
        if sample is None:
            following = None
        elif following is None or not following.track.continues(sample):
            following = SyncEnd(sample)
        else:
            assert before is not None
            busy = [row.stats[name][_BUSY_MS] - before.stats[name][_BUSY_MS] for name in row.stats]
            further = {
                "busy_s": max(busy, default=0) / 1000,
                "requests": _requests(row.own) - _requests(before.own),
            }
            following.add(replace(sample, **further))
        before = row
        yield row, following


def _requests(stat: list[int]) -> int:
    return stat[0] + stat[3]


def scored(name: str, every_s: float = 1.0) -> Iterator[Scored]:
    """Yield the estimates of a recording, once a second, up to 4 s before the end."""
    rows = rows_of(name)
    ends, due_s = endings(rows), 0.0
    for row, following in played(rows, every_s):
        sample = row.sample
        if sample is None or following is None or following.estimate is None or row.clock_s < due_s:
            continue
        due_s = math.floor(row.clock_s) + 1
        for end in ends:
            if end.from_s <= row.clock_s <= end.end_s - 4 and end.target_kib == sample.target_kib:
                yield Scored(
                    true_s=end.end_s - row.clock_s, finish_s=row.finish_s, estimate=following.estimate
                )


def tracks(name: str, every_s: float = 1.0) -> Iterator[tuple[Row, SyncTrack]]:
    """Yield each row while something runs, and its track."""
    for row, following in played(rows_of(name), every_s):
        if following is not None:
            yield row, following.track


def loaded(name: str) -> Iterator[tuple[Row, SyncTrack, dict[str, DeviceLoad]]]:
    """Yield each row while something runs, its track, and the loads of the last 5 s; the array is ``md0``."""
    past: deque[Row] = deque()
    for row, track in tracks(name):
        past.append(row)
        while len(past) > 2 and past[1].clock_s <= row.clock_s - _BLOCK_S:
            past.popleft()
        before, took_s = past[0], row.clock_s - past[0].clock_s
        if took_s > 0:
            pairs = {device: (before.stats[device], stat) for device, stat in row.stats.items()}
            loads = {device: _load(*pair, took_s) for device, pair in pairs.items()}
            yield row, track, loads | {"md0": _load(before.own, row.own, took_s)}


def _load(before: list[int], now: list[int], took_s: float) -> DeviceLoad:
    done = _requests(now) - _requests(before)
    spent_ms = now[2] + now[5] - before[2] - before[5]
    return DeviceLoad(
        busy=min(1.0, (now[_BUSY_MS] - before[_BUSY_MS]) / 1000 / took_s),
        wait_ms=spent_ms / done if done else None,
        requests_a_s=done / took_s,
    )
