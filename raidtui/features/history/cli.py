"""``raidtui history``: what happened on this host, over all boots that its logs have, grouped into incidents.

Exit status: 0 all was read, 2 what was asked for is not there, 3 something could not be read, or does not
reach back.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from raidtui.command.streams import UsageError, print_json
from raidtui.features.history.history_report import HistoryReport, history_dict, html_page, text_lines
from raidtui.features.history.narrowing import Narrowing, SubjectError, narrowed
from raidtui.features.history.session import read_history
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.features.history.session import HostHistory

Moment = Callable[[float], float]
"""Returns a time by the present one, both in epoch seconds."""
_READ, _REFUSED, _UNREAD = 0, 2, 3
_AGO = re.compile(r"(\d{1,5})\s*([hdw])(?:\s+ago)?\Z")
_UNITS_S = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d")
_EPOCH = re.compile(r"@\d{1,11}\Z")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``history`` takes."""
    parser.description = (
        "Print what happened to arrays and disks, over all boots in the journal"
        " (or kern.log, or the kernel's ring buffer): related lines are one incident, with what they"
        " point to. raidtui's jobs, changes and benchmarks are included. Nothing is changed."
    )
    parser.add_argument(
        "--since", type=_moment, metavar="WHEN",
        help="only what began then or later: 2026-11-20, '2026-11-20 03:00', @SECONDS, 12h, 7d or 3w ago",
    )  # fmt: skip
    parser.add_argument("--until", type=_moment, metavar="WHEN", help="only what was before that")
    parser.add_argument("--array", metavar="ARRAY", help="only what is about this array: a name, a UUID, mdN")
    parser.add_argument(
        "--disk", metavar="DISK", help="only what is about this disk: a name or serial number"
    )
    parser.add_argument("--match", metavar="TEXT", default="", help="only what contains this text")
    parser.add_argument("--troubles", action="store_true", help="only warnings and worse")
    parser.add_argument(
        "--all", action="store_true", help="also print each line of an incident, as it was written"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON (docs/history.md)")
    form.add_argument("--html", action="store_true", help="as one HTML page")


def _moment(text: str) -> Moment:
    """Return a time; one that is given as a span is before now, which for a capture is when it was made."""
    word = text.strip()
    if (ago := _AGO.fullmatch(word)) is not None:
        span_s = int(ago[1]) * _UNITS_S[ago[2]]
        return lambda now_s: now_s - span_s
    at_s = float(word[1:]) if _EPOCH.fullmatch(word) else None
    for form in _FORMS:
        with suppress(ValueError, OverflowError):
            at_s = time.mktime(time.strptime(word, form))
    if at_s is not None:
        return lambda _: at_s
    raise argparse.ArgumentTypeError(
        f"invalid time {text!r}; use 2026-11-20, '2026-11-20 03:00', @1764000000, 12h, 7d or 3w"
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the history; return the exit status, see the module."""
    now_s = reader.now_s()
    since_s = arguments.since(now_s) if arguments.since is not None else None
    until_s = arguments.until(now_s) if arguments.until is not None else None
    if since_s is not None and until_s is not None and since_s > until_s:
        raise UsageError("--since is after --until")
    history = read_history(reader, since_s=since_s, until_s=until_s)
    wanted = Narrowing(
        array=arguments.array or "",
        disk=arguments.disk or "",
        text=arguments.match,
        troubles=arguments.troubles,
    )
    try:
        incidents = narrowed(history.incidents, wanted, history.today)
    except SubjectError as error:
        print(visible(f"raidtui: {error}"), file=sys.stderr)
        return _REFUSED
    report = HistoryReport(
        incidents=incidents,
        troubles=history.troubles,
        today=history.today,
        host=reader.hostname or "",
        at_s=history.at_s,
    )
    if arguments.json:
        print_json(history_dict(report))
    elif arguments.html:
        print(html_page(report), end="")
    else:
        if not incidents:
            print(_nothing(history))
        for line in text_lines(report, whole=arguments.all):
            print(line)
    return _UNREAD if history.troubles else _READ


def _nothing(history: HostHistory) -> str:
    if history.incidents:
        return "Nothing of what happened matches."
    return f"Nothing that matters in {history.lines:,} lines." if history.lines else "No log could be read."
