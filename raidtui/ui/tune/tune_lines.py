"""Pane 4's table: a row for each disk, processors with equal values, each array and cache, the system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.attribution import who_set, who_set_words
from raidtui.model.knob import By, KnobScope, Subject, Tuning, Value, same_value
from raidtui.model.knob_table import KNOBS
from raidtui.plans.tune.findings import judge_tuning
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import binary_size

WIDE, MARK = 100, "▲"
_NAME, _KHZ = 10, 1_000_000
_SLACK_KHZ, _DIGITS = 50_000, 4


class KnobColumn(Struct, frozen=True, kw_only=True):
    """A knob in a row.

    Args:
        knob: its name.
        title: at the head of the column, or before the value.
        room: width of the value in cells, without brackets and mark; 0 is as wide as needed, below the rule.
        left: whether values are aligned left, as words are; figures are aligned right.
        unit: after the value.
    """

    knob: str
    title: str
    room: int = 0
    left: bool = False
    unit: str = ""


_DISK = (
    KnobColumn(knob="scheduler", title="scheduler", room=12, left=True),
    KnobColumn(knob="queue_depth", title="NCQ", room=4),
    KnobColumn(knob="nr_requests", title="requests", room=7),
    KnobColumn(knob="read_ahead_kb", title="ahead", room=6, unit="K"),
    KnobColumn(knob="timeout", title="timeout/ERC", room=11),
)
_DISK_WIDE = (
    KnobColumn(knob="rq_affinity", title="affinity", room=7),
    KnobColumn(knob="wbt_lat_usec", title="wbt", room=7, unit="µs"),
)
_DISK_MORE = (
    KnobColumn(knob="rotational", title="rotational"),
    KnobColumn(knob="discard_max_bytes", title="discard"),
)
_POLICY = (
    KnobColumn(knob="governor", title="", room=12, left=True),
    KnobColumn(knob="energy_performance_preference", title="EPP", room=19, left=True),
)
_POLICY_MORE = (KnobColumn(knob="min_freq_khz", title="min"), KnobColumn(knob="max_freq_khz", title="max"))
_DRIVER = (KnobColumn(knob="driver_mode", title="mode"), KnobColumn(knob="hwp_dynamic_boost", title="boost"))
_ARRAY = (
    KnobColumn(knob="read_ahead_kb", title="ahead", room=5, unit="K"),
    KnobColumn(knob="bitmap", title="bitmap", room=8, left=True),
    KnobColumn(knob="stripe_cache_size", title="cache", room=5),
    KnobColumn(knob="group_thread_cnt", title="threads", room=2),
)
_ARRAY_WIDE = (*_ARRAY[:2], replace(_ARRAY[2], title="stripe cache"), _ARRAY[3])
_ARRAY_MORE = (
    KnobColumn(knob="preread_bypass_threshold", title="preread"),
    KnobColumn(knob="sync_speed_min", title="sync min"),
    KnobColumn(knob="sync_speed_max", title="sync max"),
)
_CACHE = (
    KnobColumn(knob="cache_mode", title="mode", room=12, left=True),
    KnobColumn(knob="cache_policy", title="policy", room=7, left=True),
    KnobColumn(knob="migration_threshold", title="threshold", room=6),
    KnobColumn(knob="writeback_percent", title="dirty", room=3, unit="%"),
    KnobColumn(knob="sequential_cutoff", title="cutoff", room=8),
)
_SYSTEM = (
    KnobColumn(knob="speed_limit_min", title="sync min", room=10),
    KnobColumn(knob="speed_limit_max", title="sync max", room=10),
)


class KnobRow(Struct, frozen=True, kw_only=True):
    """A row of the table.

    Args:
        subjects: one subject, or cpufreq policies with equal values.
        columns: its knobs with a column, in the order of Tab.
        more: its further knobs, shown while the row is chosen.
        driver: of a row of processors, their driver, which has knobs of its own.
    """

    subjects: tuple[Subject, ...]
    columns: tuple[KnobColumn, ...]
    more: tuple[KnobColumn, ...] = ()
    driver: Subject | None = None

    @property
    def subject(self) -> Subject:
        """The first subject; the others have the same values."""
        return self.subjects[0]

    @property
    def knobs(self) -> tuple[str, ...]:
        """The names of its knobs."""
        return tuple(column.knob for column in (*self.columns, *self.more))

    def of(self, knob: str) -> tuple[Subject, ...]:
        """Return the subjects that have this knob: those of the row, or the driver."""
        if self.driver is not None and KnobScope.CPU in KNOBS[knob].scopes:
            return (self.driver,)
        return self.subjects

    def value(self, knob: str) -> Value | None:
        """Return a knob's value on the first subject; None where it has no such knob."""
        return self.of(knob)[0].values.get(knob)

    def why_not(self, knob: str) -> str:
        """Return why a knob is missing, a phrase."""
        subject = self.of(knob)[0]
        return subject.absent.get(knob) or f"{subject.title} has no {knob}"

    @property
    def cpus(self) -> str:
        """The processors of these policies: ``0-3``, ``0-3,8-11``."""
        return _joined([policy.cpus for policy in self.subjects])


class KnobCell(Struct, frozen=True, kw_only=True):
    """The chosen knob.

    Args:
        row: which row.
        knob: the knob's name.
        asked: the requested value that is not written yet; "" for none.
    """

    row: int
    knob: str
    asked: str = ""


def rows_of(tuning: Tuning, width: int, *, apart: bool = False) -> tuple[KnobRow, ...]:
    """Return the rows: disks, processors, arrays and caches with something to set, the system.

    Args:
        tuning: all values.
        width: of the window.
        apart: whether each cpufreq policy has a row of its own, even where all values are equal.
    """
    wide = width >= WIDE
    disks = (*_DISK, *(_DISK_WIDE if wide else ()))
    more = (*(() if wide else (replace(column, room=0) for column in _DISK_WIDE)), *_DISK_MORE)
    rows = [KnobRow(subjects=(disk,), columns=disks, more=more) for disk in tuning.of(KnobScope.DISK)]
    driver = tuning.subject("cpu")
    rows += [_of_processors(group, driver) for group in _alike(tuning, apart=apart)]
    of_arrays = _ARRAY_WIDE if wide else _ARRAY
    lower = {KnobScope.ARRAY: of_arrays, KnobScope.CACHE: _CACHE, KnobScope.SYSTEM: _SYSTEM}
    for scope, columns in lower.items():
        more = _ARRAY_MORE if scope is KnobScope.ARRAY else ()
        rows += [_row(each, columns, more) for each in tuning.of(scope)]
    return tuple(_narrowed(row, width) for row in rows if row.columns)


def _narrowed(row: KnobRow, width: int) -> KnobRow:
    """Return a row with the columns that fit entirely; the others are shown while it is chosen."""
    scope = row.subject.scope
    used = cell_width(speed_words(row.subjects)) + 1 if scope is KnobScope.POLICY else 0
    kept = _that_fit(row.columns, width - used, titled=scope is not KnobScope.DISK)
    moved = tuple(replace(column, room=0) for column in row.columns[len(kept) :])
    return replace(row, columns=kept, more=(*moved, *row.more)) if moved else row


def _that_fit(columns: tuple[KnobColumn, ...], width: int, *, titled: bool) -> tuple[KnobColumn, ...]:
    """Return the first columns that fit beside the name and a scroll bar."""
    room, count = width - 1 - _NAME, 0
    for column in columns:
        room -= column.room + 3 + (cell_width(column.title) + 2 if titled and column.title else 0)
        if room < 0 and count:
            break
        count += 1
    return columns[:count]


def _row(subject: Subject, columns: Sequence[KnobColumn], more: Sequence[KnobColumn]) -> KnobRow:
    return KnobRow(subjects=(subject,), columns=_there(subject, columns), more=_there(subject, more))


def _there(subject: Subject, columns: Sequence[KnobColumn]) -> tuple[KnobColumn, ...]:
    return tuple(column for column in columns if column.knob in subject.values)


def _of_processors(group: tuple[Subject, ...], driver: Subject | None) -> KnobRow:
    """Knobs that some drivers lack are shown too: the details say why they are missing."""
    first = group[0]
    more = tuple(column for column in _POLICY if column.knob not in first.values)
    boost = (*_DRIVER,) if driver is not None and _DRIVER[1].knob in driver.values else _DRIVER[:1]
    return KnobRow(
        subjects=group,
        columns=_there(first, _POLICY),
        more=(*_there(first, _POLICY_MORE), *boost, *more),
        driver=driver,
    )


def _alike(tuning: Tuning, *, apart: bool) -> Iterator[tuple[Subject, ...]]:
    """Group policies with equal driver, top frequency and values: many hosts have a policy per processor."""
    groups: dict[tuple[object, ...], list[Subject]] = {}
    for policy in tuning.of(KnobScope.POLICY):
        values = tuple((knob, each.text, each.set_by.words) for knob, each in policy.values.items())
        own = policy.name if apart else ""
        groups.setdefault((policy.kind, policy.top_khz, own, *values), []).append(policy)
    return (tuple(group) for group in groups.values())


def _joined(spans: Sequence[str]) -> str:
    """Return ``0-3`` for ``0-1`` and ``2-3``."""
    numbers: set[int] = set()
    for part in ",".join(spans).split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers.update(range(int(first), int(last or first) + 1))
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def marks_of(tuning: Tuning) -> frozenset[tuple[str, str]]:
    """Return the (subject, knob) pairs that the findings below the table are about."""
    found = {pair for finding in judge_tuning(tuning) for pair in finding.about}
    for subject in tuning.subjects:
        for knob, value in subject.values.items():
            if value.kept is not None and not same_value(value.kept, value.text):
                found.add((subject.name, knob))
    return frozenset(found)


def head_line(width: int) -> Line:
    """Return the names of the disks' columns."""
    text = f" {'disk':<{_NAME - 1}}"
    for column in _that_fit((*_DISK, *(_DISK_WIDE if width >= WIDE else ())), width, titled=False):
        text += (
            f" {column.title:<{column.room + 2}}" if column.left else f"{column.title:>{column.room + 1}}  "
        )
    return [(fit(f"{text} set by", width), "dim")]


def row_line(
    row: KnobRow, marks: frozenset[tuple[str, str]], width: int, cell: KnobCell | None = None
) -> Line:
    """Return a row in ``width`` cells.

    Args:
        row: the row.
        marks: of ``marks_of``.
        width: of the window.
        cell: the chosen knob, if it is in this row.
    """
    scope = row.subject.scope
    name = f"cpu {row.cpus}" if scope is KnobScope.POLICY else row.subject.title
    line: Line = [(f" {fit(visible(name), _NAME - 2)} ", "plain")]
    for column in row.columns:
        if scope is not KnobScope.DISK and column.title:
            line.append((f" {column.title} ", "dim"))
        line += _cell(row, column, marks, _of_cell(cell, column))
    if scope is KnobScope.POLICY:
        line.append((f"{speed_words(row.subjects)} ", "plain"))
    used = sum(cell_width(text) for text, _ in line)
    gap = "" if scope is KnobScope.ARRAY else " "  # four knobs leave no room for it at 80 columns
    room = max(0, width - used)
    by = _set_by(row, cell.knob if cell is not None else "", room - len(gap))
    return [*line, (fit(f"{gap}{visible(by)}", room), "dim")]


def _cell(
    row: KnobRow,
    column: KnobColumn,
    marks: frozenset[tuple[str, str]] = frozenset(),
    chosen: KnobCell | None = None,
) -> Line:
    value = row.value(column.knob)
    text, role = _words(row.subject, column, value), "plain" if value is not None else "dim"
    if chosen is not None and chosen.asked:
        text, role = _figure(column, chosen.asked), "asked"
    text = visible(text)
    if not column.room:
        column = replace(column, room=cell_width(text))
    if cell_width(text) > column.room:
        text = fit(text, column.room)
    gap = " " * (column.room - cell_width(text))
    before, after = ("", gap) if column.left else (gap, "")
    left, right = ("[", "]") if chosen is not None else (" ", " ")
    marked = any((each.name, column.knob) in marks for each in row.of(column.knob))
    mark = (MARK, "warn") if marked else (" ", "plain")
    value_role = "warn" if marked and role == "plain" else role
    return [(before + left, "key"), (text, value_role), (right, "key"), mark, (after, "plain")]


def _words(subject: Subject, column: KnobColumn, value: Value | None) -> str:
    if value is None:
        return "–"
    if column.knob == "timeout":
        return f"{value.text} / {erc_words(subject)}"
    return _figure(column, value.text)


def _figure(column: KnobColumn, text: str) -> str:
    """Return a value as the table shows it; the details show it exactly."""
    unit = KNOBS[column.knob].unit
    if text.isdigit() and unit == "kHz":
        return f"{int(text) / _KHZ:.1f} GHz"
    if text.isdigit() and unit == "bytes":
        return binary_size(int(text))
    if text.isdigit() and column.unit == "K" and len(text) > _DIGITS and not int(text) % 1024:
        return f"{int(text) // 1024}M"
    return f"{text}{column.unit}"


def erc_words(disk: Subject) -> str:
    """Return a disk's SCT ERC for reading: ``7.0 s``, ``off``, ``–`` without it, ``? s`` if not asked."""
    if not disk.erc_asked:
        return "? s"
    if disk.erc is None or disk.erc.read_ds is None:
        return "–"
    return f"{disk.erc.read_ds / 10:.1f} s" if disk.erc.read_ds else "off"


def speed_words(policies: Sequence[Subject]) -> str:
    """Return the processors' present and highest frequency: ``1.2 of 4.2 GHz``, ``0.8-1.9 of 4.2 GHz``."""
    running = [policy.now_khz for policy in policies if policy.now_khz is not None]
    top = policies[0].top_khz
    if not running:
        return f"up to {top / _KHZ:.1f} GHz" if top is not None else ""
    low, high = min(running), max(running)
    now = f"{high / _KHZ:.1f}" if high - low <= _SLACK_KHZ else f"{low / _KHZ:.1f}-{high / _KHZ:.1f}"
    return f"{now} of {top / _KHZ:.1f} GHz" if top is not None else f"{now} GHz"


def _set_by(row: KnobRow, chosen: str, room: int) -> str:
    """Return who has set the chosen knob, or the knobs of a row, as far as it fits."""
    knobs = (chosen,) if chosen in row.knobs and row.value(chosen) is not None else row.knobs
    values = [
        (knob, value)
        for knob in knobs
        for each in row.of(knob)
        if (value := each.values.get(knob)) is not None
    ]
    setters = who_set(values, knobs if len(knobs) == 1 else {column.knob for column in row.columns})
    words = who_set_words(setters)
    if cell_width(words) <= room or (len(setters) == 1 and setters[0].by is not By.UNKNOWN):
        return words
    if len(setters) > 1 and {each.by for each in setters} != {By.KERNEL, By.UNKNOWN}:
        return "several"
    return "kernel, ?" if len(setters) > 1 and room >= len("kernel, ?") else "?"


def more_line(row: KnobRow, marks: frozenset[tuple[str, str]], width: int, cell: KnobCell) -> Line:
    """Return the line of a chosen row's knobs that have no column."""
    if not row.more:
        return []
    line: Line = [(f" {'more':<{_NAME - 1}}", "dim")]
    for column in row.more:
        shown = [(f" {column.title} ", "dim"), *_cell(row, column, marks, _of_cell(cell, column))]
        if sum(cell_width(text) for text, _ in (*line, *shown)) > width:
            break
        line += shown
    return line


def more_at(row: KnobRow, x: int) -> str:
    """Return the knob at a cell of ``more_line``, or ""."""
    at = _NAME
    for column in row.more:
        end = at + cell_width(column.title) + 2 + sum(cell_width(text) for text, _ in _cell(row, column))
        if at < x < end:
            return column.knob
        at = end
    return ""


def _of_cell(cell: KnobCell | None, column: KnobColumn) -> KnobCell | None:
    return cell if cell is not None and cell.knob == column.knob else None


def column_at(row: KnobRow, x: int) -> str:
    """Return the knob at a cell of a row, or ""."""
    at = _NAME
    for column in row.columns:
        if row.subject.scope is not KnobScope.DISK and column.title:
            at += cell_width(column.title) + 2
        if at <= x < at + column.room + 3:
            return column.knob
        at += column.room + 3
    return ""
