"""When arrays are checked next, as the host's timers and crontabs have it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.watch_facts import check_line
from raidtui.model.answer import AnswerKind
from raidtui.model.watchers import NextCheck, Watchers

_TOOL_S = 10.0
_PROPERTIES = ("--property=ActiveState", "--property=NextElapseUSecRealtime")
_ELAPSES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_TEST = re.compile(r"\[ (.+?) \]")
_FIRST_DAYS = re.compile(r"\$\(date \+\\?%d\) -le (\d+)")
"""Debian's crontab goes each Sunday and looks whether that is the month's first."""
_MOST_DAYS = 366


def read_next_check(reader: HostReader, watchers: Watchers | None) -> NextCheck:
    """Return when all arrays are checked next, and by what; where that is not known, why.

    Args:
        reader: the host.
        watchers: what ``read_watchers`` returns for it.
    """
    if watchers is None:
        return NextCheck(why="processes cannot be seen")
    if not watchers.checks:
        why = (
            "neither cron nor a timer has arrays checked" if watchers.all_seen else "only root sees crontabs"
        )
        return NextCheck(why=why, none=watchers.all_seen)
    now = datetime.fromtimestamp(reader.now_s())  # noqa: DTZ006  (cron and timers go by this clock)
    found = [
        _by_timer(reader, by, now) if by.endswith(".timer") else _by_crontab(reader, by, now)
        for by in watchers.checks
    ]
    known = [each for each in found if each.at_s is not None]
    return min(known, key=lambda each: each.at_s or 0.0) if known else found[0]


def _by_timer(reader: HostReader, timer: str, now: datetime) -> NextCheck:
    """Return when a timer elapses; while what it has started runs, systemd shows a time that has passed."""
    output = reader.ask("systemctl", "show", *_PROPERTIES, timer, timeout_s=_TOOL_S)
    if output.kind is not AnswerKind.ANSWER:
        return NextCheck(by=timer, why=output.why_not or f"systemctl show {timer} failed")
    values = dict(line.split("=", 1) for line in output.stdout.splitlines() if "=" in line)
    if values.get("ActiveState") in {"inactive", "failed"}:
        return NextCheck(by=timer, why=f"{timer} is enabled, and not started", none=True)
    elapses = _ELAPSES.search(values.get("NextElapseUSecRealtime", ""))
    at = datetime.strptime(elapses[0], "%Y-%m-%d %H:%M") if elapses is not None else None  # noqa: DTZ007
    if at is None or at < now:
        return NextCheck(by=timer, why=f"systemd shows no time of {timer} that is to come")
    return NextCheck(by=timer, at_s=at.timestamp())


def _by_crontab(reader: HostReader, path: str, now: datetime) -> NextCheck:
    at = next_of_crontab(check_line(reader, path), now)
    if at is None:
        return NextCheck(by=path, why=f"the times in {path} cannot be parsed")
    return NextCheck(by=path, at_s=at.timestamp())


def next_of_crontab(line: str, now: datetime) -> datetime | None:
    """Return when a line of a crontab is due next; None where its times or tests are not understood.

    Args:
        line: minute, hour, day of the month, month, day of the week, and the rest (crontab(5)).
        now: by the host's clock.
    """
    words = line.split(None, 5)
    if len(words) < 6 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    minute, hour = int(words[0]), int(words[1])
    if minute > 59 or hour > 23:
        return None
    days, months = _numbers(words[2]), _numbers(words[3])
    week, most = _numbers(words[4]), _last_day(words[5])
    if days is None or months is None or week is None or most is None:
        return None
    for ahead in range(_MOST_DAYS):
        day = now.date() + timedelta(days=ahead)
        at = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001
        if at > now and day.day <= most and _fits(day, days, months, week):
            return at
    return None


def _numbers(field: str) -> frozenset[int] | None:
    """Return the numbers of a field, none of them for ``*``; None for what is not understood."""
    if field == "*":
        return frozenset()
    names = [str(_DAYS.index(word.lower())) if word.lower() in _DAYS else word for word in field.split(",")]
    return frozenset(map(int, names)) if all(name.isdecimal() for name in names) else None


def _last_day(command: str) -> int | None:
    """Return the last day of a month on which a command does something; None where that is not known."""
    most = 31
    for test in _TEST.findall(command):
        first = _FIRST_DAYS.fullmatch(test)
        if first is None and not test.startswith("-x "):
            return None
        most = int(first[1]) if first is not None else most
    return most


def _fits(day: date, days: frozenset[int], months: frozenset[int], week: frozenset[int]) -> bool:
    """Whether a day is one of a line; where both kinds of days are named, either is enough (crontab(5))."""
    in_month, in_week = day.day in days, bool({day.isoweekday() % 7, day.isoweekday()} & week)
    of_days = in_month or in_week if days and week else (in_month or not days) and (in_week or not week)
    return of_days and (not months or day.month in months)
