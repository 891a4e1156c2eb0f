"""How long a sync takes at least: what md counts, at the speed limit (Documentation/admin-guide/md.rst)."""

from __future__ import annotations

from raidtui.model.geometry import capacity_kib
from raidtui.model.survey import Survey
from raidtui.plans.create.request import MISSING, CreateRequest
from raidtui.plans.create.shape import Shape
from raidtui.view.units import duration, rate_mb_s

_DEFAULT_KIB_S = 200_000
"""The kernel's own limit, where md is not loaded yet."""


def at_least(survey: Survey, kib: int) -> str:
    """Return "at least 12 min (200 MB/s is the limit)" for so many KiB as md counts them."""
    limits = survey.snapshot.limits
    limit = max(limits.max_kib_s or _DEFAULT_KIB_S, limits.min_kib_s or 0)
    return f"at least {duration(kib / limit)} ({rate_mb_s(limit)} is the limit)"


def first_sync_kib(request: CreateRequest, shape: Shape, component_kib: int) -> int:
    """Return what md counts in the first sync of a new array; 0 where there is none.

    RAID-10 counts the array, all others count a member (md.c, md_do_sync).
    """
    count, holes = len(request.devices), len(request.holes)
    if shape.level == "raid0" or request.assume_clean:
        return 0
    if shape.level in {"raid4", "raid5"} and holes:
        return 0
    if (shape.level == "raid6" and holes == 2) or count - holes < 2:
        return 0
    if shape.level == "raid10":
        return capacity_kib(shape.level, shape.layout_number, component_kib, count)
    return component_kib


def sync_time_note(
    request: CreateRequest, shape: Shape, survey: Survey, component_kib: int
) -> tuple[str, ...]:
    """Return the time that a new array takes, as a note."""
    kib = first_sync_kib(request, shape, component_kib)
    if not kib or all(name == MISSING for name in request.devices):
        return ("The commands take seconds.",)
    return (f"The commands take seconds, the first sync behind them {at_least(survey, kib)}.",)
