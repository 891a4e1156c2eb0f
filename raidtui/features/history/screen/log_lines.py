"""The rows of pane 6, incidents and events by their time; a line each, and the card of the chosen one."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.history.entries import words_of
from raidtui.features.history.history_report import collapsed, named
from raidtui.features.history.identity import SubjectToday, Today, subject_of
from raidtui.features.history.incidents import Incident
from raidtui.features.history.patterns import Weight
from raidtui.features.history.session import HistoryRun, HostHistory
from raidtui.frame.list_pane import Rows, rows_of
from raidtui.frame.pages import stamp
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.view.line import Line, rule_line
from raidtui.view.text import cell_width, fit, fit_words, visible
from raidtui.view.units import counted, duration
from raidtui.view.wrapping import labelled, wrap, wrapped

_WEIGHTS = {
    Tone.PLAIN: Weight.NOTE,
    Tone.GOOD: Weight.NOTE,
    Tone.WARN: Weight.WARNING,
    Tone.BAD: Weight.ERROR,
}


class LogRow(Struct, frozen=True, kw_only=True):
    """A row.

    Args:
        at_s: its time, epoch seconds.
        about: what it is about, as people call it now.
        text: what happened.
        weight: how much it weighs.
        event: what this console has seen; None for an incident.
        incident: of the history; None for an event.
        subject: what the incident is about, as it is now.
        searched: all that the filter looks at, in lower case.
    """

    at_s: float
    about: str
    text: str
    weight: Weight
    event: Event | None = None
    incident: Incident | None = None
    subject: SubjectToday = SubjectToday()
    searched: str = ""

    @property
    def key(self) -> tuple[float, str, str]:
        """What it is found by after another reading."""
        return self.at_s, self.about, self.text


def event_row(event: Event) -> LogRow:
    """Return the row of an event."""
    return LogRow(
        at_s=event.at_s,
        about=event.subject,
        text=event.text,
        weight=_WEIGHTS[event.tone],
        event=event,
        searched=f"{event.text}\n{event.subject}\n{event.kind.value}".lower(),
    )


def incident_row(incident: Incident, today: Today) -> LogRow:
    """Return the row of an incident."""
    subject = subject_of(incident, today)
    about = named(incident, subject)
    return LogRow(
        at_s=incident.head.at_s,
        about=about,
        text=incident.title,
        weight=incident.weight,
        incident=incident,
        subject=subject,
        searched=f"{about}\n{incident.search_text()}".lower(),
    )


class LogRows:
    """All rows, and those that are wanted."""

    def __init__(self) -> None:
        self._of_history: list[LogRow] = []
        self._of_events: dict[int, LogRow] = {}

    def take(self, history: HostHistory | None) -> None:
        """Take the history; None for none."""
        incidents = history.incidents if history is not None else ()
        today = history.today if history is not None else Today()
        self._of_history = [incident_row(each, today) for each in incidents]

    def shown(self, events: Sequence[Event], wanted: str, *, troubles: bool) -> list[LogRow]:
        """Return the rows, oldest first.

        Args:
            events: what this console has seen.
            wanted: a text that they hold, in lower case; "" for all.
            troubles: only warnings and worse.
        """
        known = self._of_events
        self._of_events = {id(event): known.get(id(event)) or event_row(event) for event in events}
        rows = [*self._of_history, *self._of_events.values()]
        rows.sort(key=lambda row: row.at_s)
        return [
            row
            for row in rows
            if (not wanted or wanted in row.searched) and (not troubles or row.weight >= Weight.WARNING)
        ]


def is_action(row: LogRow) -> bool:
    """Whether it is something that raidtui did."""
    if row.event is not None:
        return row.event.kind is EventKind.ACTION
    return row.incident is not None and row.incident.head.code in {
        "job-started",
        "job-ended",
        "change",
        "bench",
    }


_ROLES = {
    Weight.DETAIL: "dim", Weight.NOTE: "plain", Weight.WARNING: "warn", Weight.ERROR: "bad",
    Weight.CRITICAL: "bad",
}  # fmt: skip
_MARKS = {
    Weight.DETAIL: " ", Weight.NOTE: " ", Weight.WARNING: "▲", Weight.ERROR: "✖", Weight.CRITICAL: "✖",
}  # fmt: skip
_STAMP, _ABOUT, _DAY = 12, 10, 25
_LABEL = 9
_MOST = 400
"""Of an incident, so many lines are shown; an export has all."""


def row_line(row: LogRow, width: int, now_s: float) -> Line:
    """Return a row in ``width`` cells; its card has all of it.

    Args:
        row: the row.
        width: of the window.
        now_s: the host's time: what is not of this day has its date.
    """
    mark, role = _sign(row)
    text, more = visible(row.text), _more(row)
    room = max(1, width - _STAMP - _ABOUT - 6 - len(more))
    return [
        (f" {fit(_when(row.at_s, now_s), _STAMP)} ", "dim"),
        (fit(visible(row.about), _ABOUT) + " ", "strong"),
        (f"{mark} ", role),
        (fit_words(text, min(room, cell_width(text))), role),
        (more, "dim"),
    ]


def _sign(row: LogRow) -> tuple[str, str]:
    """Return a row's mark and the role of its words."""
    role, mark = _ROLES[row.weight], _MARKS[row.weight]
    if row.event is not None and row.event.tone is Tone.GOOD:
        role, mark = "ok", "●"
    return "›" if is_action(row) else mark, role


def _more(row: LogRow) -> str:
    """Return how many lines an incident has; "" for one."""
    lines = len(row.incident.entries) if row.incident is not None else 1
    return f" ({lines})" if lines > 1 else ""


def rows_by_day(rows: Sequence[LogRow], width: int) -> Rows:
    """Return rows with all of their words, those of a day below a rule with its date."""
    days = [time.strftime("%a %-d %b %Y", time.localtime(row.at_s)) for row in rows]
    firsts = [number for number, day in enumerate(days) if not number or day != days[number - 1]]
    rules = {number: rule_line(_DAY, "", (days[number],)) for number in firsts}
    return rows_of([_whole(row, width) for row in rows], rules)


def _whole(row: LogRow, width: int) -> list[Line]:
    mark, role = _sign(row)
    about = fit(visible(row.about), max(_ABOUT, cell_width(visible(row.about))))
    start = f" {time.strftime('%H:%M:%S', time.localtime(row.at_s))} "
    indent = cell_width(start) + cell_width(about) + 3
    first, *further = wrap(row.text + _more(row), max(20, width - indent - 1))
    line: Line = [(start, "dim"), (f"{about} ", "strong"), (f"{mark} ", role), (first, role)]
    return [line, *([(" " * indent, "plain"), (part, role)] for part in further)]


class DrawnRows:
    """Rows as lines; those that were made before, in the same width on the same day, are kept."""

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[LogRow, Line]] = {}  # with its row, whose number nothing else has then
        self._drawn_for: tuple[int, tuple[int, ...]] = (0, ())

    def lines(self, rows: Sequence[LogRow], width: int, now_s: float) -> list[Line]:
        """Return the lines of rows, see ``row_line``."""
        drawn_for = (width, time.localtime(now_s)[:3])
        known = self._drawn if drawn_for == self._drawn_for else {}
        self._drawn_for = drawn_for
        self._drawn = {id(row): known.get(id(row)) or (row, row_line(row, width, now_s)) for row in rows}
        return [line for _, line in self._drawn.values()]


def _when(at_s: float, now_s: float) -> str:
    same_day = time.localtime(at_s)[:3] == time.localtime(now_s)[:3]
    return time.strftime("%H:%M:%S", time.localtime(at_s)) if same_day else stamp(at_s, now_s)


def read_words(history: HostHistory | None, run: HistoryRun | None, *, troubles: bool) -> tuple[str, ...]:
    """Return what the rule says: how far the reading is, or what was read.

    Args:
        history: what was read; None before.
        run: the reading that is under way; None without one.
        troubles: whether only warnings and worse are shown.
    """
    if run is not None:
        back = f", back to {time.strftime('%Y-%m-%d', time.localtime(run.at_s))}" if run.at_s else ""
        return (f"reading: {run.lines:,} line{'' if run.lines == 1 else 's'}{back}; x ends it",)
    if history is None:
        return ()
    words = [_read_words(history), "only troubles: t shows all" if troubles else ""]
    words += [f"▲ {counted(len(history.troubles), 'gap')}"] if history.troubles else []
    return tuple(each for each in words if each)


def _read_words(history: HostHistory) -> str:
    if history.first_s is None:
        return "no history"
    since = time.strftime("%Y-%m-%d", time.localtime(history.first_s))
    return f"{counted(len(history.boots), 'boot')} since {since}"


def card_lines(row: LogRow, width: int, *, raw: bool) -> list[Line]:
    """Return all of a row in at most ``width`` cells.

    Args:
        row: the chosen one.
        width: of the window.
        raw: whether lines are shown as they were written, instead of in our words.
    """
    title = f"{visible(row.about)}: {visible(row.text)}" if row.about else visible(row.text)
    lines = wrapped(f" {title}", width - 1, "strong", hang=1)
    if row.incident is None:
        return lines
    incident = row.incident
    span_s = incident.last_s - incident.first_s
    lasting = f", {duration(span_s)}" if span_s >= 1 else ""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(incident.first_s))
    lines += _labelled("When", f"{when}{lasting}", width)
    if incident.hint is not None:
        lines += _labelled("Hint", incident.hint.sentence, width)
    if row.subject.unknown:
        names = ", ".join(row.subject.unknown)
        lines += _labelled("Then", f"{names}: names of that boot; nothing matches them with today's", width)
    lines.append([])
    shown = list(collapsed(incident.entries))
    for entry, others in shown[:_MOST]:
        about = entry.port or entry.device or entry.array
        at = time.strftime("%H:%M:%S", time.localtime(entry.at_s))
        text = visible(entry.text if raw else words_of(entry)) + others
        head: Line = [(f" {at} ", "dim"), (fit(visible(about), _ABOUT) + " ", "plain")]
        first, *rest = wrapped(text, width - _ABOUT - 13, _ROLES[entry.weight]) or [[]]
        lines.append([*head, *first])
        lines += [[(" " * (_ABOUT + 11), "plain"), *line] for line in rest]
    if len(shown) > _MOST:
        lines.append([(f" {len(shown) - _MOST} further lines: e exports them", "dim")])
    return lines


def trouble_lines(history: HostHistory, width: int) -> list[Line]:
    """Return what could not be read, or does not reach back."""
    lines: list[Line] = []
    for each in history.troubles:
        remedy = f": {each.remedy}" if each.remedy else ""
        lines += _labelled("▲ Gap", f"{each.sentence}{remedy}", width)
    return lines


def _labelled(label: str, text: str, width: int) -> list[Line]:
    return labelled(f" {fit(label, _LABEL)} ", text, width - _LABEL - 3)
