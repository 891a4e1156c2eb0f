"""Published figures beside one's own: the heat map of chunk and block sizes, and what caches mean. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.environment import DiskSettings
from raidtui.features.bench.option_texts import ONE
from raidtui.features.bench.results.compare import METRICS, Series, pairing, series_of, table, table_lines
from raidtui.features.bench.results.comparison_verdict import Best, decided_best, spread
from raidtui.features.bench.results.run_record import NOT_STEADY, RunRecord
from raidtui.features.bench.schedule import AxisKind, point_words
from raidtui.features.bench.workload import HOT_SPOTS, KINDS_OF_IO, Workload, find_preset
from raidtui.plans.wizard.evidence import (
    BLOCKS_KIB,
    RANDOM_READ,
    RANDOM_WRITE,
    SOURCE,
    STREAM_READ,
    STREAM_WRITE,
)
from raidtui.view.units import KIB, counted, short_binary, three_digits

_PUBLISHED = {
    "randread": RANDOM_READ,
    "randwrite": RANDOM_WRITE,
    "read": STREAM_READ,
    "write": STREAM_WRITE,
}


_MEASURE = METRICS["mb/s"]
_OF_MAP = frozenset({AxisKind.CHUNK, AxisKind.BLOCK})


class HeatMap(Struct, frozen=True, kw_only=True):
    """Rows are chunks, columns blocks.

    Args:
        title: random read, MB/s.
        what: random read.
        rows: "one" for a single device, else the chunk in KiB.
        columns: bytes of a request.
        yours: median MB/s (10^6 bytes), by row and column; None where nothing was measured.
        published: the same, figures published for other disks.
        source: whose.
        best: by column, the row that is faster than all others, where that is decided.
        left_out: points that were not steady in the end, and have no figure.
    """

    title: str
    what: str
    rows: tuple[str, ...]
    columns: tuple[int, ...]
    yours: tuple[tuple[float | None, ...], ...]
    published: tuple[tuple[float | None, ...], ...]
    source: str = SOURCE
    best: Best = Best(places=())
    left_out: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether a row is decidedly the fastest of some column."""
        return any(place is not None for place in self.best.places)

    @property
    def has_published(self) -> bool:
        """Whether there is any published figure."""
        return any(value is not None for row in self.published for value in row)


def heat_maps(records: Sequence[RunRecord]) -> tuple[HeatMap, ...]:
    """Return a map for each kind of I/O with several chunks or block sizes, with published figures.

    A run on an existing array is in the row of that array's chunk. A map holds one workload on the same disks
    with the same settings: only chunk and block size differ.
    """
    known = [(series, chunk_of(series.runs[0])) for series in series_of(records)]
    known.sort(key=lambda each: each[1] == ONE)  # it belongs to the arrays that its disk is in
    cells: dict[_Kind, dict[tuple[str, int], Series]] = {}
    left_out: dict[_Kind, list[str]] = {}
    for series, row in known:
        first = series.runs[0]
        if first.work is None or not row:
            continue
        kind = _kind_of(first, first.work)
        if row == ONE:
            kind = next((each for each in cells if kind.belongs_to(each)), kind)
        if series.unsteady:
            left_out.setdefault(kind, []).append(series.label or first.words)
        elif series.values(_MEASURE):
            cells.setdefault(kind, {})[row, first.work.block_bytes] = series
    return tuple(
        _map(kind, found, tuple(left_out.get(kind, ()))) for kind, found in cells.items() if len(found) > 1
    )


class _Kind(Struct, frozen=True, kw_only=True):
    """What all figures of a map have in common.

    Args:
        work: the workload, without its block size.
        rest: what their points say besides chunk and block.
        disks: the disks, each with its settings.
        governor: of the CPUs.
    """

    work: Workload
    rest: str
    disks: frozenset[DiskSettings]
    governor: str

    def belongs_to(self, other: _Kind) -> bool:
        """Whether this is the same on some of the other's disks."""
        return self.disks <= other.disks and replace(self, disks=other.disks) == other


def _kind_of(record: RunRecord, work: Workload) -> _Kind:
    rest = {label: value for label, value in record.point.items() if label not in _OF_MAP}
    disks = (
        replace(disk, worn_percent=(None, None), written_bytes=(None, None))
        for disk in record.environment.disks
    )
    return _Kind(
        work=replace(work, block_bytes=0),
        rest=point_words(rest),
        disks=frozenset(disks),
        governor=record.environment.cpu.governor,
    )


def chunk_of(record: RunRecord) -> str:
    """Return the chunk that a run was measured on, KiB; "one" for a single device, "" where it has none."""
    if AxisKind.CHUNK in record.point:
        return record.point[AxisKind.CHUNK]
    arrays = record.environment.arrays
    if not arrays:
        return ONE if len(record.environment.disks) == 1 else ""
    return str(arrays[-1].chunk_kib) if arrays[-1].chunk_kib else ""


def _map(kind: _Kind, cells: dict[tuple[str, int], Series], left_out: tuple[str, ...]) -> HeatMap:
    rw = kind.work.rw
    what = KINDS_OF_IO[rw] + (f", {kind.rest}" if kind.rest else "")
    rows = tuple(sorted({row for row, _ in cells}, key=_row_order))
    columns = tuple(sorted({block for _, block in cells}))
    published = {
        (row, block): value
        for row in rows
        for block in columns
        if (value := published_mb_s(rw, row, block)) is not None
    }
    return HeatMap(
        title=f"{what}, MB/s",
        what=what,
        rows=rows,
        columns=columns,
        yours=tuple(tuple(_median(cells.get((row, block))) for block in columns) for row in rows),
        published=tuple(tuple(published.get((row, block)) for block in columns) for row in rows),
        best=decided_best(
            [[cells.get((row, block)) for row in rows] for block in columns],
            lambda series: series.values(_MEASURE),
            lambda first, second: pairing(first, second, _MEASURE),
        ),
        left_out=left_out,
    )


def _median(series: Series | None) -> float | None:
    return spread(series.values(_MEASURE)).median / 1e6 if series is not None else None


def best_words(heat: HeatMap) -> str:
    """Return the meaning of the mark of the fastest chunk, or why there is none; "" without a choice."""
    best = heat.best
    if not best.of:
        return ""
    if heat.decided:
        return "the fastest chunk of a block size, where that is decided"
    runs = f"{best.runs} run{'s'[: best.runs != 1]} of each"
    if best.runs < best.fewest:
        return (
            f"no chunk is decidedly the fastest: {runs}, but"
            f" {counted(best.of, 'comparison')} need{'s'[: best.of == 1]} at least {best.fewest}"
        )
    return f"no chunk is decidedly the fastest ({runs}, {counted(best.of, 'comparison')})"


def left_out_words(heat: HeatMap) -> str:
    """Return the points without a figure because they were not steady; "" if all were."""
    return f"{NOT_STEADY}, so without a figure: {', '.join(heat.left_out)}" if heat.left_out else ""


def _row_order(row: str) -> int:
    return -1 if row == ONE else int(row)


def published_mb_s(rw: str, row: str, block_bytes: int) -> float | None:
    """Return a published figure in MB/s (10^6 bytes), or None."""
    known = _PUBLISHED.get(rw)
    kib = block_bytes // KIB
    if known is None or kib not in BLOCKS_KIB or block_bytes % KIB:
        return None
    values = known.one if row == ONE else known.chunks.get(int(row))
    value = values[BLOCKS_KIB.index(kib)] if values else None
    return None if value is None else float(value)


def heat_lines(heat: HeatMap) -> list[str]:
    """Return a map as lines of text: yours, and the published figures in brackets."""
    cells = [
        [
            _cell(mine, theirs) + ("*" if place in best_of(heat, number) else "")
            for place, (mine, theirs) in enumerate(zip(row, other, strict=True))
        ]
        for number, (row, other) in enumerate(zip(heat.yours, heat.published, strict=True))
    ]
    heads = [short_binary(block) for block in heat.columns]
    widths = [max(len(head), *(len(row[place]) for row in cells)) for place, head in enumerate(heads)]
    lines = [f"chunk x block size, {heat.title}: yours (published)"]
    lines.append(" " * 6 + "".join(f"  {head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    for row, texts in zip(heat.rows, cells, strict=True):
        name = row if row == ONE else f"{row}K"
        lines.append(
            f"{name:<6}" + "".join(f"  {text:>{width}}" for text, width in zip(texts, widths, strict=True))
        )
    if words := best_words(heat):
        lines.append(f"*: {words}" if heat.decided else words)
    if words := left_out_words(heat):
        lines.append(words)
    if heat.has_published:
        lines.append(f"published: {heat.source}")
    return lines


def best_of(heat: HeatMap, row: int) -> frozenset[int]:
    """Return the columns in which a row is decidedly the fastest."""
    return frozenset(column for column, place in enumerate(heat.best.places) if place == row)


def _cell(mine: float | None, theirs: float | None) -> str:
    own = "–" if mine is None else three_digits(mine)
    return own if theirs is None else f"{own} ({theirs:.0f})"


SSD_IOPS = {"4.9": 102_325, "4.11": 102_742, "4.12": 104_352}
"""The mean of an SSD without a cache, by kernel: the only figures of the study that are numbers."""
_STUDY = (
    "strugglers.net, July 2017, in a virtual machine: 4 GiB of data, a cache of 4 GiB on an SSD over hard"
    " disks, 20 min"
)
_IN_WORDS = (
    "Published in words and curves only: lvmcache was fast with an empty cache; with a full one it was about"
    " as slow as the hard disks before Linux 4.12, and about as fast as the SSD since. bcache came close to"
    " the SSD quickly with sequential_cutoff 0, and slowly with its default of 4 MiB."
)
_LATEST = "4.12"


def cache_remarks(series: Sequence[Series]) -> tuple[str, ...]:
    """Return what has to be known about the caches of these series, a sentence each.

    Args:
        series: those side by side.
    """
    return (*_cold(series), *_published(series))


def _cold(series: Sequence[Series]) -> list[str]:
    states = [[run.cold for run in each.runs if run.cold is not None] for each in series]
    found = []
    for each, cold in zip(series, states, strict=True):
        if any(cold) and not all(cold):
            found.append(
                f"{_name(each)}: {sum(cold)} of {len(cold)} runs began with a cold cache, so its values are"
                " not of one kind."
            )
    colds = [_name(each) for each, cold in zip(series, states, strict=True) if cold and all(cold)]
    filled = [_name(each) for each, cold in zip(series, states, strict=True) if cold and not any(cold)]
    if colds and filled:
        found.append(
            f"{', '.join(colds)} began with a cold cache, {', '.join(filled)} did not: what differs between"
            " them may be what was in the cache."
        )
    elif colds and not filled and len(colds) == len(series):
        found.append(
            "It began with a cold cache: the next run may be faster."
            if len(colds) == 1
            else "All of them began with a cold cache."
        )
    return found


def _name(series: Series) -> str:
    return series.label or series.runs[0].words


def _published(series: Sequence[Series]) -> list[str]:
    known = [each for each in series if each.runs[0].preset == HOT_SPOTS]
    if not known:
        return []
    ssd = ", ".join(f"{iops:,} IOPS (Linux {kernel})" for kernel, iops in SSD_IOPS.items())
    found = [f"Published for {HOT_SPOTS} ({_STUDY}): an SSD alone {ssd}.", _IN_WORDS]
    for each in known:
        values = [] if each.unsteady else each.values(METRICS["iops"])
        if values:
            median = spread(values).median
            share = median / SSD_IOPS[_LATEST] * 100
            other = "" if _as_published(each.runs[0]) else ", with other options than the published ones"
            found.append(
                f"{_name(each)}: {median:,.0f} IOPS, {share:.{0 if share >= 10 else 1}f} % of that SSD's on"
                f" Linux {_LATEST}{other}."
            )
    return found


def _as_published(record: RunRecord) -> bool:
    """Whether a run did what was published, if for a shorter time."""
    preset, work = find_preset(HOT_SPOTS), record.work
    if preset is None or work is None:
        return False
    names = ("rw", "block_bytes", "size_bytes", "depth", "jobs", "engine", "direct", "distribution")
    return all(getattr(work, name) == getattr(preset.work, name) for name in names)


def comparison_text(records: Sequence[RunRecord], by: str) -> list[str]:
    """Return runs side by side as lines of text: a table, the verdicts, remarks and heat maps.

    Args:
        records: the runs.
        by: one of ``METRICS``.
    """
    series = series_of(records)
    lines = table_lines(table(series, METRICS[by]), METRICS[by])
    lines += cache_remarks(series)
    for heat in heat_maps(records):
        lines += ["", *heat_lines(heat)]
    return lines
