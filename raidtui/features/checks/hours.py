"""The hours in which arrays are checked, and the drop-ins of systemd's units that keep them. Pure.

The ``--duration`` of mdcheck "is passed to date --date" and says when it pauses (misc/mdcheck): here a time
of day, so a check that begins late ends on time. The services of mdadm 4.2 to 4.6 pass MDADM_CHECK_DURATION
(systemd/mdcheck_start.service, systemd/mdcheck_continue.service), which SUSE overrides by an EnvironmentFile.
At the end mdcheck writes idle to sync_action and keeps sync_min in /var/lib/mdcheck, from where the next run
continues.

Until mdadm 4.4 mdcheck_start begins at 0 whatever was checked before, unless the array is being checked
already: so mdcheck_continue has to begin first (commit 8aa4ea9). Since 4.5 mdcheck_start only allows a new
check (``mdcheck --restart``), and mdcheck_continue begins it: so it has to come second.
"""

from __future__ import annotations

import re

from msgspec import Struct

from raidtui.features.checks.check_setup import CONTINUE, RAID_CHECK, START, Rhythm, drop_in, service_of

_DAY_MIN = 24 * 60
_APART_MIN = 5
"""Between the two timers, as mdadm has them."""
SHORTEST_MIN = 30
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]):([0-5]\d)")
_DAYS = {Rhythm.MONTHLY: "Sun *-*-1..7", Rhythm.WEEKLY: "Sun *-*-*"}
_HEAD = "# Written by raidtui plan checks.\n"


class CheckHours(Struct, frozen=True, kw_only=True):
    """From when to when arrays are checked, each day.

    Args:
        begin_min: minutes after midnight.
        end_min: minutes after midnight; before ``begin_min`` it is the next day.
    """

    begin_min: int
    end_min: int

    @property
    def length_min(self) -> int:
        """How long it is, in minutes."""
        return (self.end_min - self.begin_min) % _DAY_MIN

    @property
    def words(self) -> str:
        """The window for a reader."""
        return f"from {clock(self.begin_min)} to {clock(self.end_min)}"


USUAL = CheckHours(begin_min=60, end_min=7 * 60)
"""The hours of mdcheck's own units: six from one o'clock."""


def parse_window(text: str) -> CheckHours | None:
    """Return the window that is written as 01:00-05:00; None where it is none."""
    found = _HOURS.fullmatch(text)
    if found is None:
        return None
    begin_h, begin_min, end_h, end_min = map(int, found.groups())
    return CheckHours(begin_min=begin_h * 60 + begin_min, end_min=end_h * 60 + end_min)


def clock(minutes: int) -> str:
    """Return a time of day as 01:05, of minutes after midnight."""
    hour, minute = divmod(minutes % _DAY_MIN, 60)
    return f"{hour:02}:{minute:02}"


def beginnings(window: CheckHours, *, restarts: bool) -> tuple[int, int]:
    """Return when mdcheck_start and when mdcheck_continue begin, in minutes after midnight.

    Args:
        window: the hours.
        restarts: see ``CheckSetup``.
    """
    first, second = window.begin_min, (window.begin_min + _APART_MIN) % _DAY_MIN
    return (first, second) if restarts else (second, first)


def mdcheck_files(rhythm: Rhythm, window: CheckHours, *, restarts: bool) -> dict[str, str]:
    """Return the drop-ins of mdadm's timers and services, by path.

    Args:
        rhythm: how often a check begins.
        window: the hours.
        restarts: see ``CheckSetup``.
    """
    start_min, continue_min = beginnings(window, restarts=restarts)
    found = {
        drop_in(START): _timer(f"{_DAYS[rhythm]} {clock(start_min)}:00"),
        drop_in(CONTINUE): _timer(f"*-*-* {clock(continue_min)}:00"),
    }
    for timer, begin_min in ((START, start_min), (CONTINUE, continue_min)):
        if not (restarts and timer == START):
            found[drop_in(service_of(timer))] = _service(begin_min, window.end_min)
    return found


def raid_check_files(rhythm: Rhythm) -> dict[str, str]:
    """Return the drop-in of raid-check's timer, by its path."""
    day = f"{_DAYS[rhythm]} {clock(USUAL.begin_min)}:00"
    return {drop_in(RAID_CHECK): f"{_HEAD}[Timer]\nOnCalendar=\nOnCalendar={day}\n"}


def _timer(day: str) -> str:
    """Some distributions delay it by up to a day, or make up for a time when the machine was off."""
    return (
        f"{_HEAD}[Timer]\nOnCalendar=\nOnCalendar={day}\nAccuracySec=1s\nRandomizedDelaySec=0\n"
        "Persistent=false\n"
    )


def _service(begin_min: int, end_min: int) -> str:
    end = f"{'tomorrow ' if end_min < begin_min else ''}{clock(end_min)}"
    return f'{_HEAD}[Service]\nEnvironmentFile=\nEnvironment="MDADM_CHECK_DURATION={end}"\n'
