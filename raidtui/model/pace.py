"""What a pacing of resyncs is asked for, and what it reports."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

MINUTES_A_DAY = 24 * 60


class PaceWhy(StrEnum):
    """Why a limit is as it is."""

    TRIAL = "trial"  # the limit is raised until the latency shows it
    LATENCY = "latency"  # the highest limit that holds the target
    UNUSED = "unused"  # no one uses the array: all the speed
    WINDOW = "window"  # an hour at which the sync may have all the speed
    DEADLINE = "deadline"  # else it would not end in time

    @property
    def words(self) -> str:
        """The reason, a clause."""
        return _WORDS[self]


_WORDS = {
    PaceWhy.TRIAL: "raised until the latency shows it",
    PaceWhy.LATENCY: "as much as holds the target",
    PaceWhy.UNUSED: "the array is idle",
    PaceWhy.WINDOW: "an hour of full speed",
    PaceWhy.DEADLINE: "needed to end in time",
}


class DayWindow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hours of each day, local time, at which a sync may have all the speed.

    Args:
        first_minute: of the day, 0 to 1439.
        last_minute: the first one after it; not later than ``first_minute``: it spans midnight.
    """

    first_minute: int
    last_minute: int

    def has(self, minute: int) -> bool:
        """Whether a minute of the day is in it."""
        if self.first_minute < self.last_minute:
            return self.first_minute <= minute < self.last_minute
        return minute >= self.first_minute or minute < self.last_minute


class PacedArray(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An array that is paced.

    Args:
        name: the kernel's, when it was asked for.
        uuid: "" where the kernel knows none.
        title: what it is called.
    """

    name: str
    uuid: str
    title: str


class PaceRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be held.

    Args:
        arrays: the arrays.
        latency_ms: what 99 of 100 requests are to take at most.
        by_s: when the sync is to have ended, epoch seconds; None: whenever that is.
        windows: hours of full speed.
        devices: kernel names of devices on the arrays whose mean latency counts, too.
        stays: whether it waits for further syncs after an end.
    """

    arrays: tuple[PacedArray, ...]
    latency_ms: float
    by_s: float | None = None
    windows: tuple[DayWindow, ...] = ()
    devices: tuple[str, ...] = ()
    stays: bool = False


class PaceNews(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an array is paced now. It is kept for whoever shows it.

    Args:
        boot: the boot's id.
        pid: the process that paces it.
        started_s: when that was started, seconds after the boot.
        at_s: when this was written, epoch seconds.
        array: what is paced.
        latency_ms: the worst request of the last seconds; None where none was sent.
        target_ms: what is to be held.
        limit_kib_s: ``sync_speed_max``.
        floor_kib_s: ``sync_speed_min``.
        full_kib_s: the limit that comes back.
        queue: ``nr_requests`` of the members' disks; None where they have none.
        why: what decided; None while nothing is synced.
        speed_kib_s: of the sync; None where it is not known.
        left_s: how long the rest takes at the mean speed so far; None where that is not known.
        by_s: when it is to have ended, epoch seconds.
        job: the job's id; "" without one.
        trouble: what prevents it from reading the latency; "" where nothing does.
    """

    boot: str
    pid: int
    started_s: float
    at_s: float
    array: PacedArray
    target_ms: float
    latency_ms: float | None = None
    limit_kib_s: int | None = None
    floor_kib_s: int | None = None
    full_kib_s: int | None = None
    queue: int | None = None
    why: PaceWhy | None = None
    speed_kib_s: float | None = None
    left_s: float | None = None
    by_s: float | None = None
    job: str = ""
    trouble: str = ""
