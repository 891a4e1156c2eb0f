"""The rows of pane 4's table: which subjects share one, and which knobs have a column at a width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.knob import KnobScope, Subject, Tuning, Value
from raidtui.model.knob_table import KNOBS
from raidtui.view.text import cell_width

WIDE = 100
"""The window's width from which on more knobs have a column."""
NAME_CELLS = 10
KHZ = 1_000_000
"""In a GHz."""
_SLACK_KHZ = 50_000


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


def disk_columns(width: int) -> tuple[KnobColumn, ...]:
    """Return the columns that disks have at a width."""
    return _that_fit((*_DISK, *(_DISK_WIDE if width >= WIDE else ())), width, titled=False)


def _narrowed(row: KnobRow, width: int) -> KnobRow:
    """Return a row with the columns that fit entirely; the others are shown while it is chosen."""
    scope = row.subject.scope
    used = cell_width(speed_words(row.subjects)) + 1 if scope is KnobScope.POLICY else 0
    kept = _that_fit(row.columns, width - used, titled=scope is not KnobScope.DISK)
    moved = tuple(replace(column, room=0) for column in row.columns[len(kept) :])
    return replace(row, columns=kept, more=(*moved, *row.more)) if moved else row


def _that_fit(columns: tuple[KnobColumn, ...], width: int, *, titled: bool) -> tuple[KnobColumn, ...]:
    """Return the first columns that fit beside the name and a scroll bar."""
    room, count = width - 1 - NAME_CELLS, 0
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


def speed_words(policies: Sequence[Subject]) -> str:
    """Return the processors' present and highest frequency: ``1.2 of 4.2 GHz``, ``0.8-1.9 of 4.2 GHz``."""
    running = [policy.now_khz for policy in policies if policy.now_khz is not None]
    top = policies[0].top_khz
    if not running:
        return f"up to {top / KHZ:.1f} GHz" if top is not None else ""
    low, high = min(running), max(running)
    now = f"{high / KHZ:.1f}" if high - low <= _SLACK_KHZ else f"{low / KHZ:.1f}-{high / KHZ:.1f}"
    return f"{now} of {top / KHZ:.1f} GHz" if top is not None else f"{now} GHz"
