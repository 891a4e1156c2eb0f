"""What an alert needs on a host, as it is: mdadm.conf's PROGRAM, smartd, systemd's units, the journal."""

from __future__ import annotations

from raidtui.host.md.configured import conf_entries, conf_files
from raidtui.host.on_top import runs_systemd
from raidtui.host.own_units import read_enabled, read_timer_state
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.system_units import SYSTEM_UNITS, unit_text
from raidtui.host.watch_facts import SMARTD_RUN, conf_word, journal_storage, read_watchers
from raidtui.model.alert_setup import CHANNELS, HOOK, AlertSetup
from raidtui.model.answer import known
from raidtui.model.watchers import Watchers

_MONITOR = "mdmonitor.service"
ALERT_TIMER = "raidtui-alert.timer"
_SMARTDS = ("smartmontools.service", "smartd.service")
_FOLDERS = ("/etc/raidtui", "/etc/mdadm", SMARTD_RUN, "/var/log/journal")


def program_of(reader: HostReader) -> str:
    """Return what mdadm.conf names as PROGRAM; "" for nothing."""
    _, words = conf_entries(reader)
    return conf_word(words, "program")


def read_alert_setup(
    reader: HostReader, *, hook: str, units: dict[str, str], owned_by: int = 0
) -> AlertSetup:
    """Return what is there.

    Args:
        reader: the host.
        hook: the text that the hook is to have.
        units: the texts that raidtui's units are to have, by name.
        owned_by: see ``AlertSetup``.
    """
    watchers = read_watchers(reader) or Watchers()
    confs = conf_files(reader)
    smartd = watchers.smartd
    wanted = {f"{SYSTEM_UNITS}/{name}": text for name, text in units.items()}
    paths = (*confs, HOOK, f"{SMARTD_RUN}/{SMARTD_SCRIPT}", *wanted, *((smartd.conf,) if smartd else ()))
    texts = {path: text for path in paths if (text := reader.byte_text(path)) is not None}
    enabled, active = read_timer_state(reader, ALERT_TIMER, is_there=all(path in texts for path in wanted))
    systemd = runs_systemd(reader)
    monitor = unit_text(reader, _MONITOR) if systemd else None
    installs = monitor is not None and "[Install]" in monitor
    return AlertSetup(
        texts=texts,
        folders=frozenset(folder for folder in _FOLDERS if reader.is_there(folder)),
        confs=confs,
        channels=reader.is_there(CHANNELS),
        systemd=systemd,
        monitor_unit=_MONITOR if monitor is not None else "",
        monitor_names=any(each.tells for each in watchers.monitors),
        monitor_installs=installs,
        monitor_enabled=read_enabled(reader, _MONITOR) if installs else known(False),
        smartd=smartd,
        smartd_unit=next((each for each in _SMARTDS if systemd and unit_text(reader, each) is not None), ""),
        storage=journal_storage(reader),
        kept=watchers.kept,
        hook=hook,
        units=wanted,
        timer_enabled=enabled,
        timer_active=active,
        owned_by=owned_by,
    )


SMARTD_SCRIPT = "20raidtui"
"""Debian's smartd-runner runs what is in its folder, in this form of name (run-parts --lsbsysinit)."""
