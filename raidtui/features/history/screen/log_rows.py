"""The rows of pane 6: incidents of the history, and events that this console has seen, by their time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.history.history_report import named
from raidtui.features.history.identity import SubjectToday, Today, subject_of
from raidtui.features.history.incidents import Incident
from raidtui.features.history.patterns import Weight
from raidtui.features.history.session import HostHistory
from raidtui.model.finding import Event, EventKind, Tone

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
