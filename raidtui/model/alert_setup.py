"""What a host has already of what alerts need, and what raidtui would add to it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.watchers import Smartd


class AlertSetup(Struct, frozen=True, kw_only=True):
    """What the plan of the alerts is made from.

    Args:
        texts: the files that it may change, as far as they exist, by path; bytes as characters.
        folders: the folders that it may need and that are there.
        confs: mdadm.conf, then the files in its folder.
        channels: whether channels are configured.
        systemd: whether systemd is PID 1.
        monitor_unit: the unit of mdadm --monitor; "" where there is none.
        monitor_names: whether the command line of one that runs names an address or a program itself.
        monitor_installs: whether that is enabled by hand, and not by udev.
        monitor_enabled: whether it is enabled, by systemctl.
        smartd: None where it is not installed.
        smartd_unit: its unit; "" where there is none.
        storage: what journald is to do: auto, persistent, volatile, none.
        kept: where the kernel's messages outlive a restart; "" for nowhere.
        hook: the text that the hook is to have.
        units: the texts that raidtui's units are to have, by path.
        timer_enabled, timer_active: whether the timer of them starts with the host, and runs now.
        owned_by: the user who may change the raidtui that is called, by number; 0 for root alone.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    confs: tuple[str, ...] = ()
    channels: bool = False
    systemd: bool = False
    monitor_unit: str = ""
    monitor_names: bool = False
    monitor_installs: bool = False
    monitor_enabled: Answer[bool] = field(default_factory=lambda: known(False))
    smartd: Smartd | None = None
    smartd_unit: str = ""
    storage: str = "auto"
    kept: str = ""
    hook: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    timer_enabled: Answer[bool] = Answer(kind=AnswerKind.NOT_ASKED, why="systemctl was not asked")
    timer_active: Answer[bool] = Answer(kind=AnswerKind.NOT_ASKED, why="systemctl was not asked")
    owned_by: int = 0


class AlertRequest(Struct, frozen=True, kw_only=True):
    """What was asked for.

    Args:
        parts: those of mdadm, smartd, journal and retries; () for all that are not there yet.
        replaces: whether what another has written as PROGRAM or -M exec may be replaced.
    """

    parts: tuple[str, ...] = ()
    replaces: bool = False


PARTS = ("mdadm", "retries", "smartd", "journal")
HOOK = "/etc/raidtui/alert-hook"
"""What mdadm and smartd call."""
CHANNELS = "/etc/raidtui/alerts.toml"
"""Raidtui's channels, which root alone can read."""
