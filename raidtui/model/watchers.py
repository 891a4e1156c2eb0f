"""Who would be told that a member fails, and what reads arrays before one does."""

from __future__ import annotations

from msgspec import Struct


class Monitor(Struct, frozen=True, kw_only=True):
    """An ``mdadm --monitor`` that runs.

    Args:
        pid: its process.
        tells: whether its own command line names an address or a program.
    """

    pid: int
    tells: bool = False


class Smartd(Struct, frozen=True, kw_only=True):
    """What smartd does about disks that fail.

    Args:
        conf: its configuration file.
        runs: whether it runs.
        programs: what it calls at a fault, instead of a mail program.
        mails: whether it is to send mail.
        virtual: whether the machine is, so that its disks may report nothing.
    """

    conf: str
    runs: bool = False
    programs: tuple[str, ...] = ()
    mails: bool = False
    virtual: bool = False


class Watchers(Struct, frozen=True, kw_only=True):
    """What runs and what is arranged on a host, by its processes and files.

    Args:
        monitors: each mdadm that monitors.
        conf: the configuration file that they read; "" for none.
        mail_to: the address in it; "" for none.
        program: the program in it; "" for none.
        mailer: whether there is a sendmail, by which mdadm sends mail.
        channels: whether raidtui's channels are configured, which its hook sends alerts on.
        smartd: None where it is not installed.
        cron: whether a cron runs.
        checks: what has arrays checked regularly, by its name: "/etc/cron.d/mdadm", "raid-check.timer".
        all_seen: whether all places where such a check may be arranged could be read.
        kept: where the kernel's messages outlive a restart: "/var/log/journal"; "" for nowhere.
    """

    monitors: tuple[Monitor, ...] = ()
    conf: str = ""
    mail_to: str = ""
    program: str = ""
    mailer: bool = False
    channels: bool = False
    smartd: Smartd | None = None
    cron: bool = False
    checks: tuple[str, ...] = ()
    all_seen: bool = True
    kept: str = ""


class NextCheck(Struct, frozen=True, kw_only=True):
    """When all arrays are checked next.

    Args:
        at_s: epoch seconds; None where that is not known, or none is due.
        by: what begins it: "/etc/cron.d/mdadm", "raid-check.timer"; "" for nothing that is known.
        why: why there is no time, a clause.
        none: whether it is known that none is due.
    """

    at_s: float | None = None
    by: str = ""
    why: str = ""
    none: bool = False
