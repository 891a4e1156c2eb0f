"""The history for others: text, JSON (docs/history.md), and one HTML page that loads nothing. Pure."""

from __future__ import annotations

import html
import textwrap
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from raidtui.features.history.entries import Entry, words_of
from raidtui.features.history.identity import SubjectToday, Today, subject_of
from raidtui.features.history.incidents import Incident
from raidtui.features.history.patterns import Weight
from raidtui.model.log_line import LogTrouble
from raidtui.view.text import visible
from raidtui.view.units import counted, duration

_WIDTH = 100
_INDENT = " " * 6
_SIGNS = {Weight.WARNING: "!", Weight.ERROR: "X", Weight.CRITICAL: "X"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
details { border-bottom: 1px solid #8884; padding: 0.3rem 0; }
summary { cursor: pointer; } time { opacity: 0.8; font-variant-numeric: tabular-nums; }
.warning b { color: #b36b00; } .error b, .critical b { color: #c62828; }
p.hint { margin: 0.2rem 0 0.2rem 1.2rem; }
table { margin: 0.3rem 0 0.6rem 1.2rem; border-collapse: collapse; }
td { padding: 0 0.9rem 0 0; vertical-align: top; }
td.raw { font-family: ui-monospace, monospace; font-size: 12px; }
"""


class HistoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is written down.

    Args:
        incidents: those that were asked for, by their time.
        troubles: what could not be read.
        today: the host as it is.
        host: its name; "" where that is not known.
        at_s: when it was read, epoch seconds.
    """

    incidents: tuple[Incident, ...]
    troubles: tuple[LogTrouble, ...]
    today: Today
    host: str
    at_s: float


def report_bytes(form: str, report: HistoryReport) -> bytes:
    """Return the contents of a file of these forms: text, html, json."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(history_dict(report)), indent=1) + b"\n"
    if form == "html":
        return html_page(report).encode("utf-8", "replace")
    return "".join(f"{line}\n" for line in text_lines(report, whole=True)).encode("utf-8", "replace")


# -- for programs


def history_dict(report: HistoryReport) -> dict[str, Any]:
    """Return the form for programs."""
    return {
        "raidtui_history": 1,
        "host": report.host or None,
        "at": report.at_s,
        "boot": report.today.boot or None,
        "incidents": [_incident_dict(each, subject_of(each, report.today)) for each in report.incidents],
        "unknown": [
            {"code": str(each.code), "text": each.sentence, "remedy": each.remedy or None}
            for each in report.troubles
        ],
    }


def _incident_dict(incident: Incident, subject: SubjectToday) -> dict[str, Any]:
    hint = incident.hint
    return {
        "at": incident.first_s,
        "until": incident.last_s,
        "boot": incident.boot or None,
        "weight": incident.weight.word,
        "code": incident.head.code,
        "title": incident.title,
        "hint": None
        if hint is None
        else {"cause": str(hint.cause), "text": hint.sentence, "basis": list(hint.basis)},
        "then": {
            "arrays": list(incident.arrays),
            "disks": [{"name": name, "serial": incident.serials.get(name)} for name in incident.disks],
            "ports": list(incident.ports),
        },
        "now": {
            "arrays": [{"title": array.title, "key": array.key} for array in subject.arrays],
            "disks": list(subject.disks),
        },
        "entries": [_entry_dict(entry) for entry in incident.entries],
    }


def _entry_dict(entry: Entry) -> dict[str, Any]:
    return {
        "at": entry.at_s,
        "origin": str(entry.origin),
        "code": entry.code,
        "weight": entry.weight.word,
        "array": entry.array or None,
        "device": entry.device or None,
        "port": entry.port or None,
        "words": words_of(entry),
        "text": entry.text,
    }


# -- for people


def named(incident: Incident, subject: SubjectToday) -> str:
    """Return what an incident is about, as people call it today; "" for the host."""
    if subject.arrays:
        return subject.arrays[0].title
    return incident.subject


def moment(at_s: float) -> str:
    """Return a time: ``2026-11-24 03:12:07``."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))


def collapsed(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Yield entries; those in a row of one kind about the same are one.

    Yields:
        The first of them, and what is to be said of the others: "" where there is none, `` (x3)`` where all
        say the same, `` (and 2 further)`` where they do not.
    """
    for _, rows in groupby(entries, key=_kind):
        first, *others = rows
        if not others:
            yield first, ""
        elif all(each.text == first.text or words_of(each) == words_of(first) for each in others):
            yield first, f" (x{len(others) + 1})"
        else:
            yield first, f" (and {len(others)} further)"


def _kind(entry: Entry) -> tuple[str, ...]:
    about = (entry.array, entry.device, entry.port)
    return (entry.code, *about) if any(about) else (entry.code, entry.text)


def text_lines(report: HistoryReport, *, whole: bool) -> Iterator[str]:
    """Yield the text.

    Args:
        report: what is written down.
        whole: whether each entry is printed, too.
    """
    for incident in report.incidents:
        yield from _incident_lines(incident, named(incident, subject_of(incident, report.today)), whole=whole)
    for trouble in report.troubles:
        remedy = f"; {trouble.remedy}" if trouble.remedy else ""
        yield from _wrapped(f"not known: {trouble.sentence}{remedy}", "  ")


def _incident_lines(incident: Incident, name: str, *, whole: bool) -> Iterator[str]:
    sign = _SIGNS.get(incident.weight, " ")
    further = len(incident.entries) - 1
    more = "" if whole or not further else f" ({counted(further, 'further line')})"
    spans = incident.last_s - incident.first_s
    lasting = f", {duration(spans)}" if spans >= 1 else ""
    subject = f"{visible(name)}: " if name else ""
    yield from _wrapped(
        f"{moment(incident.head.at_s)} {sign} {subject}{visible(incident.title)}{lasting}{more}", _INDENT
    )
    if incident.hint is not None:
        yield from _wrapped(f"{_INDENT}Hint: {visible(incident.hint.sentence)}", _INDENT)
    if whole:
        for entry, others in collapsed(incident.entries):
            about = entry.port or entry.device or entry.array
            stamp = time.strftime("%H:%M:%S", time.localtime(entry.at_s))
            yield f"{_INDENT}{stamp} {visible(about):<10} {visible(words_of(entry))}{others}"
            if visible(words_of(entry)) != visible(entry.text):
                yield f"{_INDENT}{' ' * 20}| {visible(entry.text)}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def html_page(report: HistoryReport) -> str:
    """Return one page; it loads nothing, and runs no script."""
    title = f"What happened{f' on {report.host}' if report.host else ''}"
    parts = [_html_incident(each, named(each, subject_of(each, report.today))) for each in report.incidents]
    notes = [
        f"<p>Not known: {_html(each.sentence)}{f'; {_html(each.remedy)}' if each.remedy else ''}</p>"
        for each in report.troubles
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{_html(title)}</title><style>{_STYLE}</style></head><body><h1>{_html(title)}</h1>"
        f"<p>Read by raidtui at <time>{moment(report.at_s)}</time>: {counted(len(parts), 'incident')}.</p>"
        f"{''.join(notes)}{''.join(parts)}</body></html>\n"
    )


def _html_incident(incident: Incident, name: str) -> str:
    rows = "".join(
        f"<tr><td><time>{moment(entry.at_s)}</time></td>"
        f"<td>{_html(entry.port or entry.device or entry.array)}</td>"
        f"<td>{_html(words_of(entry))}{others}</td>"
        f'<td class="raw">{_html(entry.text)}</td></tr>'
        for entry, others in collapsed(incident.entries)
    )
    hint = f'<p class="hint">Hint: {_html(incident.hint.sentence)}</p>' if incident.hint else ""
    return (
        f'<details class="{incident.weight.word}"><summary><time>{moment(incident.head.at_s)}</time> '
        f"<b>{_html(name)}</b> {_html(incident.title)}</summary>{hint}<table>{rows}</table></details>\n"
    )


def _html(text: str) -> str:
    return html.escape(visible(text))
