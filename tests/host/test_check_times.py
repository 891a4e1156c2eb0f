"""When arrays are checked next, by what the host has for it."""

from __future__ import annotations

from datetime import datetime

import pytest

from raidtui.host.check_times import next_of_crontab, read_next_check
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.host.watch_facts import read_watchers
from raidtui.model.check_words import next_check_words
from raidtui.model.watchers import NextCheck, Watchers
from raidtui.view.moments import day_words

TIMER = "mdcheck_start.timer"
SHOW = output_path(
    ("systemctl", "show", "--property=ActiveState", "--property=NextElapseUSecRealtime", TIMER)
)
DEBIAN = (
    "57 0 * * 0 root if [ -x /usr/share/mdadm/checkarray ] && [ $(date +\\%d) -le 7 ]; then"
    " /usr/share/mdadm/checkarray --cron --all --idle --quiet; fi"
)
RAID_CHECK = "0 1 * * Sun root /usr/sbin/raid-check"
FRIDAY = datetime(2026, 11, 27, 12, 0)  # noqa: DTZ001


class At(MemoryReader):
    """A host whose clock says Friday noon."""

    def now_s(self) -> float:
        return FRIDAY.timestamp()


def told(check: NextCheck) -> str:
    return next_check_words(check, "" if check.at_s is None else day_words(check.at_s))


def following(files: dict[str, str], *checks: str) -> NextCheck:
    return read_next_check(At(dict(files)), Watchers(checks=checks))


def at(month: int, day: int, hour: int, minute: int, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("line", "due"),
    [
        (DEBIAN, at(12, 6, 0, 57)),  # the 29th is a Sunday, too, but not among the first seven days
        (RAID_CHECK, at(11, 29, 1, 0)),
        ("30 12 27 * * root raid-check", at(11, 27, 12, 30)),
        ("0 12 27 * * root raid-check", at(12, 27, 12, 0)),  # it is noon: this one has begun
        ("0 3 1 1,7 * root raid-check", at(1, 1, 3, 0, 2027)),
        ("0 3 13 * 7 root raid-check", at(11, 29, 3, 0)),  # either kind of day is enough
        ("*/5 * * * 0 root raid-check", None),
        ("0 1-3 * * 0 root raid-check", None),
        ("0 1 * * 1-5 root raid-check", None),
        ("0 1 * * Sunday root raid-check", None),
        ("0 1 * * 0 root [ -e /run/flag ] && raid-check", None),
        ("60 1 * * 0 root raid-check", None),
        ("0 24 * * 0 root raid-check", None),
        ("@monthly root raid-check", None),
        ("exec /usr/sbin/raid-check", None),
    ],
)
def test_crontab(line: str, due: datetime | None) -> None:
    assert next_of_crontab(line, FRIDAY) == due


def test_a_timer() -> None:
    shown = "exit 0\nNextElapseUSecRealtime=Sun 2026-12-06 01:00:00 UTC\nActiveState=active\n"
    found = following({SHOW: shown}, TIMER)
    assert found == NextCheck(at_s=at(12, 6, 1, 0).timestamp(), by=TIMER)
    assert told(found) == "next check: Sun 06 Dec 01:00, by mdcheck_start.timer"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (
            "exit 0\nNextElapseUSecRealtime=Sun 2026-12-06 01:00:00 UTC\nActiveState=inactive\n",
            "next check: none: mdcheck_start.timer is enabled, and not started",
        ),
        (
            "exit 0\nNextElapseUSecRealtime=Fri 2026-11-27 01:00:00 UTC\nActiveState=active\n",
            "next check: not known: systemd shows no time of mdcheck_start.timer that is to come",
        ),
        (
            "exit 0\nNextElapseUSecRealtime=\nActiveState=active\n",
            "next check: not known: systemd shows no time of mdcheck_start.timer that is to come",
        ),
        ("timed-out\nno answer in 10 s", "next check: not known: no answer in 10 s"),
        ("exit 1\n", "next check: not known: systemctl show mdcheck_start.timer failed"),
    ],
)
def test_a_timer_without_a_time(shown: str, words: str) -> None:
    assert told(following({SHOW: shown}, TIMER)) == words


def test_the_first_of_two() -> None:
    shown = "exit 0\nNextElapseUSecRealtime=Sun 2026-12-06 01:00:00 UTC\nActiveState=active\n"
    crontab = "/etc/cron.d/raid-check"
    files = {SHOW: shown, crontab: f"{RAID_CHECK}\n", "/etc/sysconfig/raid-check": "ENABLED=yes\n"}
    assert following(files, TIMER, crontab) == NextCheck(at_s=at(11, 29, 1, 0).timestamp(), by=crontab)
    assert following({**files, crontab: "@weekly root raid-check\n"}, TIMER, crontab).by == TIMER


def test_what_is_not_known() -> None:
    assert told(read_next_check(At({}), None)) == "next check: not known: processes cannot be seen"
    weekly = "/etc/cron.weekly/raid-check"
    assert told(following({weekly: "#!/bin/sh\nexec raid-check\n"}, weekly)) == (
        "next check: not known: the times in /etc/cron.weekly/raid-check cannot be parsed"
    )
    assert told(following({})) == ("next check: none: neither cron nor a timer has arrays checked")
    unseen = read_next_check(At({}), Watchers(all_seen=False))
    assert told(unseen) == "next check: not known: only root sees crontabs"


def test_debians_crontab_as_it_is_found() -> None:
    files = {
        "/proc/1/comm": "init\n",
        "/proc/1/cmdline": "/sbin/init\0",
        "/proc/500/cmdline": "/usr/sbin/cron\0",
        "/etc/cron.d/mdadm": f"# by Debian\n\n{DEBIAN}\n",
        "/etc/default/mdadm": "AUTOCHECK=true\n",
    }
    reader = At(dict(files))
    found = read_next_check(reader, read_watchers(reader))
    assert found == NextCheck(at_s=at(12, 6, 0, 57).timestamp(), by="/etc/cron.d/mdadm")
