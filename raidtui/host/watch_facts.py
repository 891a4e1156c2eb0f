"""Who would be told of a failed member, and what checks arrays: from processes, mdadm.conf, cron, systemd."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from raidtui.host.md.configured import conf_entries
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.system_units import UNIT_FOLDERS, started_by, unit_text
from raidtui.model.alert_setup import CHANNELS
from raidtui.model.watchers import Monitor, Smartd, Watchers

NO_MAILER = "<nomailer>"
SMARTD_RUN = "/etc/smartmontools/run.d"
_SMARTD_CONFS = ("/etc/smartd.conf", "/etc/smartmontools/smartd.conf")

_MODES = frozenset({"--monitor", "--follow", "-F"})
_ONCE = frozenset({"--oneshot", "-1"})
_TELLING = ("--mail", "--program", "--alert", "-m", "-p")
_MAILERS = ("/usr/sbin/sendmail", "/usr/lib/sendmail")  # mdadm.h: "/usr/lib/sendmail -t"
_CRONS = frozenset({"cron", "crond", "fcron", "dcron"})
_CRON_UNITS = "/run/systemd/generator"  # systemd-cron makes timers of crontabs, and no cron runs
_CRONTABS = ("/etc/crontab", "/var/spool/cron/crontabs/root", "/var/spool/cron/root")
_CRON_FOLDERS = ("/etc/cron.d", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly")
_SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_CHECKER = re.compile(r"checkarray|raid-check|mdcheck|sync_action")
_CONTINUES = "mdcheck_continue.timer"
"""It continues what mdcheck_start.timer has begun or, since mdadm 4.5, has allowed to begin."""
_ONLY_WITH_MONITOR = "mdmonitor.service.wants"
_HISTORIES = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
_JOURNALD = "/etc/systemd/journald.conf"
_JOURNALD_FOLDERS = ("/usr/lib/systemd/journald.conf.d", "/run/systemd/journald.conf.d", f"{_JOURNALD}.d")
_STORAGE = re.compile(r"^\s*Storage\s*=\s*(\w+)", re.MULTILINE)
_TRUE = frozenset({"true", "yes", "1", "t", "y"})  # is_true of checkarray
_SWITCHES = {
    "checkarray": ("/etc/default/mdadm", "AUTOCHECK"),
    "raid-check": ("/etc/sysconfig/raid-check", "ENABLED"),
}
"""Distributions' scripts do nothing unless this file says so."""


def read_watchers(reader: HostReader) -> Watchers | None:
    """Return who watches a host's arrays; None where its processes cannot be seen."""
    if reader.text("/proc/1/comm") is None or reader.text("/proc/1/cmdline") is None:
        return None
    processes = tuple(_processes(reader))
    monitors = tuple(_monitors(processes))
    file, words = conf_entries(reader)
    return Watchers(
        monitors=monitors,
        conf=file,
        mail_to=conf_word(words, "mailaddr"),
        program=conf_word(words, "program"),
        mailer=any(reader.is_there(path) for path in _MAILERS),
        channels=reader.is_there(CHANNELS),
        smartd=read_smartd(reader),
        cron=_runs_cron(reader, processes),
        checks=(*_cron_checks(reader, processes), *_timers(reader, monitored=bool(monitors))),
        all_seen=_all_seen(reader),
        kept=_kept(reader),
    )


def read_smartd(reader: HostReader) -> Smartd | None:
    """Return what smartd does; None where it is not installed."""
    conf = next((path for path in _SMARTD_CONFS if reader.text(path) is not None), "")
    if not conf:
        return None
    lines = [words for _, words in smartd_lines(reader.text(conf) or "")]
    execs = [word for words in lines for flag, word in pairwise(words) if flag == "exec"]
    mails = any(flag == "-m" and word != NO_MAILER for words in lines for flag, word in pairwise(words))
    others = [name for name in reader.names(SMARTD_RUN) if name != "10mail"]
    runner = any(each.endswith("/smartd-runner") for each in execs)
    return Smartd(
        conf=conf,
        runs=any(_called(words) == "smartd" for _, words in _processes(reader)),
        programs=tuple(each for each in execs if not each.endswith("/smartd-runner"))
        or tuple(f"{SMARTD_RUN}/{name}" for name in others if runner),
        mails=mails,
        virtual="hypervisor" in (reader.text("/proc/cpuinfo") or "").split(),
    )


def smartd_lines(text: str) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
    """Return the entries of smartd.conf: the places of their lines, from 0, and their words.

    A line goes on after a backslash; # begins a comment (smartd.conf(5)).
    """
    found, places, words = [], list[int](), list[str]()
    for number, line in enumerate(text.split("\n")):
        body = line.partition("#")[0].rstrip()
        places.append(number)
        words += body.removesuffix("\\").split()
        if body.endswith("\\"):
            continue
        if words:
            found.append((tuple(places), tuple(words)))
        places, words = [], []
    return tuple(found)


def _processes(reader: HostReader) -> Iterator[tuple[int, tuple[str, ...]]]:
    for folder in reader.names("/proc"):
        if folder.isdigit() and (words := (reader.text(f"/proc/{folder}/cmdline") or "").split("\0"))[0]:
            yield int(folder), tuple(words)


def _called(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2]


def _monitors(processes: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[Monitor]:
    for pid, words in processes:
        if _called(words) == "mdadm" and not _MODES.isdisjoint(words) and _ONCE.isdisjoint(words):
            yield Monitor(pid=pid, tells=any(word.startswith(_TELLING) for word in words[1:]))


def conf_word(entries: Sequence[Sequence[str]], keyword: str) -> str:
    """Return the first word after a keyword, which may be shortened to three letters (mdadm.conf(5))."""
    return next(
        (
            words[1]
            for words in entries
            if len(words) > 1 and len(words[0]) > 2 and keyword.startswith(words[0].lower())
        ),
        "",
    )


def _runs_cron(reader: HostReader, processes: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    return any(_called(words) in _CRONS for _, words in processes) or any(
        name.startswith("cron-") for name in reader.names(_CRON_UNITS)
    )


def _cron_checks(reader: HostReader, processes: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[str]:
    if not _runs_cron(reader, processes):
        return
    for path in (*_CRONTABS, *_in_folders(reader, _CRON_FOLDERS)):
        if check_line(reader, path):
            yield path


def check_line(reader: HostReader, path: str) -> str:
    """Return the first line of a crontab or script that has arrays checked; "" where none has."""
    for line in (reader.text(path) or "").split("\n"):
        if not line.lstrip().startswith("#") and _CHECKER.search(line) and _is_on(reader, line):
            return line
    return ""


def _in_folders(reader: HostReader, folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        for name in sorted(reader.names(folder)):
            yield f"{folder}/{name}"


def _is_on(reader: HostReader, line: str) -> bool:
    """Whether the file that switches a distribution's script says that it works; others need none."""
    for script, (path, key) in _SWITCHES.items():
        if script in line:
            value = re.search(rf"^\s*{key}\s*=\s*[\"']?(\w+)", reader.text(path) or "", re.MULTILINE)
            return value is not None and value[1].lower() in _TRUE
    return True


def _timers(reader: HostReader, *, monitored: bool) -> Iterator[str]:
    """Yield the timers that are enabled, and whose service checks arrays."""
    found = set()
    for folder in UNIT_FOLDERS:
        for wants in reader.names(folder):
            if not wants.endswith(".wants") or (wants == _ONLY_WITH_MONITOR and not monitored):
                continue
            found |= {name for name in reader.names(f"{folder}/{wants}") if name.endswith(".timer")}
    for timer in sorted(found - {_CONTINUES}):
        started = started_by(unit_text(reader, f"{timer.removesuffix('.timer')}.service") or "")
        if _CHECKER.search(started) and "--continue" not in started and _is_on(reader, started):
            yield timer


def _all_seen(reader: HostReader) -> bool:
    """Whether root's own crontab could be read, if there is one: only root may."""
    return not reader.live or reader.writable or not any(reader.is_there(folder) for folder in _SPOOLS)


def journal_storage(reader: HostReader) -> str:
    """Return what journald is to do: auto, persistent, volatile or none (journald.conf(5))."""
    paths = [path for path in _in_folders(reader, _JOURNALD_FOLDERS) if path.endswith(".conf")]
    texts = (reader.text(path) or "" for path in (_JOURNALD, *paths))
    words = [str(word) for text in texts for word in _STORAGE.findall(text)]
    return words[-1].lower() if words else "auto"


def _kept(reader: HostReader) -> str:
    if journal_storage(reader) in {"auto", "persistent"} and reader.names("/var/log/journal"):
        return "/var/log/journal"
    return next((path for path in _HISTORIES if reader.is_there(path)), "")
