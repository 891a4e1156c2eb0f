"""Who would be told of a failed member, and what checks arrays: from processes, mdadm.conf, cron, systemd."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from raidtui.host.md.configured import conf_entries
from raidtui.host.roots.root import Root
from raidtui.model.watchers import Monitor, Watchers

_MODES = frozenset({"--monitor", "--follow", "-F"})
_ONCE = frozenset({"--oneshot", "-1"})
_TELLING = ("--mail", "--program", "--alert", "-m", "-p")
_MAILERS = ("/usr/sbin/sendmail", "/usr/lib/sendmail")  # mdadm.h: "/usr/lib/sendmail -t"
_CRONS = frozenset({"cron", "crond", "fcron", "dcron"})
_CRON_UNITS = "/run/systemd/generator"  # systemd-cron makes timers of crontabs, and no cron runs
_CRONTABS = ("/etc/crontab", "/var/spool/cron/crontabs/root", "/var/spool/cron/root")
_CRON_FOLDERS = ("/etc/cron.d", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly")
_SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_UNITS = ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
_CHECKER = re.compile(r"checkarray|raid-check|mdcheck|sync_action")
_ONLY_WITH_MONITOR = "mdmonitor.service.wants"
_HISTORIES = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
_STORAGE = re.compile(r"^\s*Storage\s*=\s*(\w+)", re.MULTILINE)
_TRUE = frozenset({"true", "yes", "1", "t", "y"})  # is_true of checkarray
_SWITCHES = {
    "checkarray": ("/etc/default/mdadm", "AUTOCHECK"),
    "raid-check": ("/etc/sysconfig/raid-check", "ENABLED"),
}
"""Distributions' scripts do nothing unless this file says so."""


def read_watchers(root: Root) -> Watchers | None:
    """Return who watches a host's arrays; None where its processes cannot be seen."""
    if root.text("/proc/1/comm") is None or root.text("/proc/1/cmdline") is None:
        return None
    processes = tuple(_processes(root))
    monitors = tuple(_monitors(processes))
    file, words = conf_entries(root)
    return Watchers(
        monitors=monitors,
        conf=file,
        mail_to=_first(words, "mailaddr"),
        program=_first(words, "program"),
        mailer=any(root.is_there(path) for path in _MAILERS),
        checks=(*_cron_checks(root, processes), *_timers(root, monitored=bool(monitors))),
        all_seen=_all_seen(root),
        kept=_kept(root),
    )


def _processes(root: Root) -> Iterator[tuple[int, tuple[str, ...]]]:
    for folder in root.names("/proc"):
        if folder.isdigit() and (words := (root.text(f"/proc/{folder}/cmdline") or "").split("\0"))[0]:
            yield int(folder), tuple(words)


def _called(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2]


def _monitors(processes: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[Monitor]:
    for pid, words in processes:
        if _called(words) == "mdadm" and not _MODES.isdisjoint(words) and _ONCE.isdisjoint(words):
            yield Monitor(pid=pid, tells=any(word.startswith(_TELLING) for word in words[1:]))


def _first(entries: Sequence[Sequence[str]], keyword: str) -> str:
    """Return the first word after a keyword, which may be shortened to three letters (mdadm.conf(5))."""
    return next(
        (
            words[1]
            for words in entries
            if len(words) > 1 and len(words[0]) > 2 and keyword.startswith(words[0].lower())
        ),
        "",
    )


def _cron_checks(root: Root, processes: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[str]:
    runs = any(_called(words) in _CRONS for _, words in processes)
    if not runs and not any(name.startswith("cron-") for name in root.names(_CRON_UNITS)):
        return
    for path in (*_CRONTABS, *_in_folders(root, _CRON_FOLDERS)):
        for line in (root.text(path) or "").split("\n"):
            if not line.lstrip().startswith("#") and _CHECKER.search(line) and _is_on(root, line):
                yield path
                break


def _in_folders(root: Root, folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        for name in sorted(root.names(folder)):
            yield f"{folder}/{name}"


def _is_on(root: Root, line: str) -> bool:
    """Whether the file that switches a distribution's script says that it works; others need none."""
    for script, (path, key) in _SWITCHES.items():
        if script in line:
            value = re.search(rf"^\s*{key}\s*=\s*[\"']?(\w+)", root.text(path) or "", re.MULTILINE)
            return value is not None and value[1].lower() in _TRUE
    return True


def _timers(root: Root, *, monitored: bool) -> Iterator[str]:
    """Yield the timers that are enabled, and whose service checks arrays."""
    found = set()
    for folder in _UNITS:
        for wants in root.names(folder):
            if not wants.endswith(".wants") or (wants == _ONLY_WITH_MONITOR and not monitored):
                continue
            found |= {name for name in root.names(f"{folder}/{wants}") if name.endswith(".timer")}
    for timer in sorted(found):
        service = f"{timer.removesuffix('.timer')}.service"
        texts = (root.text(f"{folder}/{service}") for folder in _UNITS)
        started = _started(next((text for text in texts if text is not None), ""))
        if _CHECKER.search(started) and "--continue" not in started:
            yield timer


def _started(service: str) -> str:
    """Return what a service starts, in one line; mdcheck_continue goes on with what mdcheck_start began."""
    lines = (line.strip() for line in service.split("\n"))
    return " ".join(line for line in lines if line.startswith("ExecStart"))


def _all_seen(root: Root) -> bool:
    """Whether root's own crontab could be read, if there is one: only root may."""
    return not root.live or root.writable or not any(root.is_there(folder) for folder in _SPOOLS)


def _kept(root: Root) -> str:
    conf = root.text("/etc/systemd/journald.conf") or ""
    stored = (_STORAGE.findall(conf) or ["auto"])[-1].lower()
    if stored in {"auto", "persistent"} and root.names("/var/log/journal"):
        return "/var/log/journal"
    return next((path for path in _HISTORIES if root.is_there(path)), "")
