"""What a host has for regular checks of its arrays, and which of these are on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from raidtui.host.on_top import runs_systemd
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.system_units import SYSTEM_UNITS, UNIT_FOLDERS, started_by, unit_state, unit_text
from raidtui.host.watch_facts import read_watchers
from raidtui.model.answer import Answer
from raidtui.model.watchers import Watchers

START, CONTINUE, RAID_CHECK = "mdcheck_start.timer", "mdcheck_continue.timer", "raid-check.timer"
BOOT_TARGET = "timers.target"
_MDCHECK = re.compile(r"ExecStart=(/\S*/mdcheck)(?:\s|$)")


class Rhythm(StrEnum):
    """How often checks begin."""

    MONTHLY = "monthly"
    WEEKLY = "weekly"


class CronCheck(Struct, frozen=True, kw_only=True):
    """A check that a distribution's crontab starts.

    Args:
        crontab: its file.
        script: the program in it.
        config: the shell file that switches it on and off.
        key: the variable there.
        on: its value where the script works.
        off: its value where it does nothing.
        rhythm: that of the crontab.
    """

    crontab: str
    script: str
    config: str
    key: str
    on: str
    off: str
    rhythm: Rhythm


CHECKARRAY = CronCheck(
    crontab="/etc/cron.d/mdadm",
    script="/usr/share/mdadm/checkarray",
    config="/etc/default/mdadm",
    key="AUTOCHECK",
    on="true",
    off="false",
    rhythm=Rhythm.MONTHLY,
)
RAID_CHECK_CRON = CronCheck(
    crontab="/etc/cron.d/raid-check",
    script="/usr/sbin/raid-check",
    config="/etc/sysconfig/raid-check",
    key="ENABLED",
    on="yes",
    off="no",
    rhythm=Rhythm.WEEKLY,
)
CRON_CHECKS = (CHECKARRAY, RAID_CHECK_CRON)


class CheckSetup(Struct, frozen=True, kw_only=True):
    """What the plan of the checks is made from.

    Args:
        systemd: whether systemd is PID 1.
        mdcheck: whether mdadm's pair of timers, their services and mdcheck are there.
        restarts: whether mdcheck_start.service only allows a new check; mdcheck_continue.service begins it.
        raid_check: whether there is a timer for raid-check.
        crons: the crontabs' checks that are there.
        cron: whether a cron runs.
        checks: what has arrays checked now, see ``Watchers``.
        enabled: by timer the word of systemctl is-enabled.
        active: by timer the word of systemctl is-active.
        linked: the timers that start at boot by themselves, not only with mdmonitor.service.
        texts: the files that the plan may change, as far as they exist, by path; bytes as characters.
        folders: the folders of drop-ins that are there.
    """

    systemd: bool
    mdcheck: bool
    restarts: bool
    raid_check: bool
    crons: tuple[CronCheck, ...]
    cron: bool
    checks: tuple[str, ...]
    enabled: Mapping[str, Answer[str]]
    active: Mapping[str, Answer[str]]
    linked: frozenset[str]
    texts: Mapping[str, str]
    folders: frozenset[str]


def drop_in(unit: str) -> str:
    """Return the path of raidtui's drop-in of a unit."""
    return f"{SYSTEM_UNITS}/{unit}.d/raidtui.conf"


def service_of(timer: str) -> str:
    """Return the service that a timer starts."""
    return f"{timer.removesuffix('.timer')}.service"


def read_check_setup(reader: HostReader) -> CheckSetup:
    """Return what is there."""
    watchers = read_watchers(reader) or Watchers()
    systemd = runs_systemd(reader)
    started = {each: started_by(unit_text(reader, service_of(each)) or "") for each in (START, CONTINUE)}
    mdcheck = all(_has_mdcheck(reader, timer, words) for timer, words in started.items())
    raid_check = unit_text(reader, RAID_CHECK) is not None and reader.is_there(RAID_CHECK_CRON.script)
    timers = (*((START, CONTINUE) if mdcheck else ()), *((RAID_CHECK,) if raid_check else ()))
    asked = timers if systemd else ()
    units = (*timers, *map(service_of, timers))
    paths = (*map(drop_in, units), *(each.config for each in CRON_CHECKS))
    linked = {name for folder in UNIT_FOLDERS for name in reader.names(f"{folder}/{BOOT_TARGET}.wants")}
    return CheckSetup(
        systemd=systemd,
        mdcheck=mdcheck,
        restarts="--restart" in started[START],
        raid_check=raid_check,
        crons=tuple(
            each for each in CRON_CHECKS if reader.is_there(each.crontab) and reader.is_there(each.script)
        ),
        cron=watchers.cron,
        checks=watchers.checks,
        enabled={timer: unit_state(reader, "is-enabled", timer) for timer in asked},
        active={timer: unit_state(reader, "is-active", timer) for timer in asked},
        linked=frozenset(linked & set(timers)),
        texts={path: text for path in paths if (text := reader.byte_text(path)) is not None},
        folders=frozenset(
            folder for unit in units if reader.is_there(folder := drop_in(unit).rpartition("/")[0])
        ),
    )


def _has_mdcheck(reader: HostReader, timer: str, started: str) -> bool:
    """Whether a timer is there, with its service and the program that this starts."""
    program = _MDCHECK.search(started)
    return unit_text(reader, timer) is not None and program is not None and reader.is_there(program[1])
