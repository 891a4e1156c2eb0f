"""Moments as text."""

from __future__ import annotations

import time


def clock_words(now_s: float, then_s: float) -> str:
    """Return a time to come as this host's clock shows it: with the day, or the date, where it is further."""
    form = "%H:%M" if then_s - now_s < 20 * 3600 else "%a %H:%M" if then_s - now_s < 6 * 86400 else "%d %b"
    return time.strftime(form, time.localtime(then_s))


def day_words(at_s: float) -> str:
    """Return a day and a time as this host's clock shows it: ``Sun 06 Dec 01:00``."""
    return time.strftime("%a %d %b %H:%M", time.localtime(at_s))


def moment(at_s: float | None) -> str:
    """Return a time in UTC, so that a capture says the same elsewhere."""
    return "at an unknown time" if at_s is None else time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at_s))
