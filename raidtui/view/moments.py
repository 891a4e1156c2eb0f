"""Moments as text."""

from __future__ import annotations

import time


def moment(at_s: float | None) -> str:
    """Return a time in UTC, so that a capture says the same elsewhere."""
    return "at an unknown time" if at_s is None else time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at_s))
