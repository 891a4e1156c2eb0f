"""Rules about who is told, about regular checks, and about controllers. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.model.alert_setup import HOOK
from raidtui.model.array import Array
from raidtui.model.finding import Severity
from raidtui.model.watchers import NextCheck, Smartd, Watchers


def advise_on_watchers(facts: HostFacts) -> Iterator[Advice]:
    """Yield what is missing where arrays run that can lose a member."""
    watchers = facts.watchers
    if watchers is None or not any(_may_fail(each, facts) for each in facts.snapshot.arrays):
        return
    yield from _advise_on_alerts(watchers)
    yield from _advise_on_checks(watchers, facts.next_check)
    if not watchers.kept:
        yield Advice(
            code=AdviceCode.NO_HISTORY,
            severity=Severity.ATTENTION,
            text="the kernel's messages are gone after a restart: there is neither /var/log/journal nor"
            " a kernel log file",
            why="After a crash nothing says which disk failed first (journald.conf(5), Storage=).",
            remedy="mkdir /var/log/journal, then journalctl --flush",
            order=(*_PLAN, "--only", "journal"),
        )
    if watchers.smartd is not None:
        yield from _advise_on_smartd(watchers, watchers.smartd)


_PLAN = ("plan", "alerts")
_CHECKS = ("plan", "checks", "--monthly")


def _may_fail(array: Array, facts: HostFacts) -> bool:
    """Whether an array runs on, with less redundancy, when a member fails."""
    return array.active and array.redundant and not array.is_container and not facts.snapshot.is_trial(array)


def _advise_on_alerts(watchers: Watchers) -> Iterator[Advice]:
    conf = watchers.conf or "/etc/mdadm/mdadm.conf"
    named = watchers.mail_to or watchers.program
    add = "" if named else f"put MAILADDR or PROGRAM in {conf}, then "
    if not watchers.monitors:
        yield Advice(
            code=AdviceCode.NOT_WATCHED,
            severity=Severity.ATTENTION,
            text="a failed member alerts no one: no mdadm --monitor runs"
            + ("" if named else f", and {conf} names no recipient"),
            why="When a member fails, the array continues silently until the next one"
            " fails (mdadm(8), MONITOR MODE).",
            remedy=f"{add}systemctl restart mdmonitor",
            order=_PLAN,
        )
    elif watchers.program == HOOK and not watchers.channels:
        yield Advice(
            code=AdviceCode.NOBODY_TOLD,
            severity=Severity.ATTENTION,
            subject="",
            text="mdadm --monitor calls raidtui's hook, and no channel is configured: alerts are kept,"
            " but reach no one",
            why="Nobody reads a spool; messages sent to people are seen in time.",
            remedy="sudo raidtui alert --add NAME adds one",
        )
    elif watchers.program or any(each.tells for each in watchers.monitors):
        return
    elif not watchers.mail_to:
        yield Advice(
            code=AdviceCode.NOBODY_TOLD,
            severity=Severity.ATTENTION,
            text=f"mdadm --monitor runs, but reports only to the system log: {conf} names no recipient",
            why="It looks for MAILADDR and PROGRAM (mdadm.conf(5)); a log is read when it is too late.",
            remedy=f"{add}systemctl restart mdmonitor",
            order=_PLAN,
        )
    elif not watchers.mailer:
        yield Advice(
            code=AdviceCode.NOBODY_TOLD,
            severity=Severity.ATTENTION,
            text=f"mdadm --monitor mails {watchers.mail_to}, but no mail can be sent: there is no sendmail",
            why="mdadm hands its mail to /usr/lib/sendmail, and does not report that"
            " sending failed (mdadm's Monitor.c).",
            remedy=f"install a mail program, or put PROGRAM in {conf}; mdadm --monitor --scan --oneshot"
            " --test sends a message",
            order=_PLAN,
        )


def _advise_on_smartd(watchers: Watchers, smartd: Smartd) -> Iterator[Advice]:
    """Disks often report what they count long before md has a read error."""
    order = (*_PLAN, "--only", "smartd")
    if not smartd.runs and not smartd.virtual:
        yield Advice(
            code=AdviceCode.DISKS_NOT_WATCHED,
            severity=Severity.ATTENTION,
            subject="",
            text="smartd is installed but does not run: faults that disks report go unnoticed",
            why="Many disks report sectors that they cannot read, or a failed self-test, before md"
            " encounters one (smartd(8)).",
            remedy="systemctl enable --now smartmontools, or smartd",
            order=order,
        )
    elif smartd.runs and not smartd.programs and not (smartd.mails and watchers.mailer):
        said = (
            ("no mail can be sent: there is no sendmail")
            if smartd.mails
            else f"{smartd.conf} names no recipient"
        )
        yield Advice(
            code=AdviceCode.DISKS_NOT_WATCHED,
            severity=Severity.ATTENTION,
            subject="",
            text=f"smartd runs, but reports only to the system log: {said}",
            why="It mails, or calls a program, where a line has -m or -M exec (smartd.conf(5)).",
            remedy=f"put -m ADDRESS or -M exec PROGRAM into {smartd.conf}",
            order=order,
        )


def _advise_on_checks(watchers: Watchers, following: NextCheck | None) -> Iterator[Advice]:
    if not watchers.checks and watchers.all_seen:
        yield Advice(
            code=AdviceCode.NOT_CHECKED,
            severity=Severity.ATTENTION,
            text="no array is checked regularly, neither by cron nor by a timer",
            why="A sector that has become unreadable is found when another disk has failed and its copy is"
            " needed; a check each month finds and rewrites it before (md(4), SCRUBBING AND MISMATCHES).",
            remedy="Debian: AUTOCHECK=true in /etc/default/mdadm, and cron; else systemctl enable --now the"
            " timer mdcheck_start or raid-check",
            order=_CHECKS,
        )
    elif following is not None and following.none and following.by:
        yield Advice(
            code=AdviceCode.NOT_CHECKED,
            severity=Severity.ATTENTION,
            text=f"no check is due: {following.why}",
            why="Until the next start of the system, that timer begins no check (systemd.timer(5)).",
            remedy=f"systemctl start {following.by}",
            order=_CHECKS,
        )
    elif len(watchers.checks) > 1:
        yield Advice(
            code=AdviceCode.CHECKED_TWICE,
            severity=Severity.INFO,
            text=f"arrays are checked by {' and by '.join(watchers.checks)}",
            why="Each reads all members: one of them is enough.",
            remedy="switch one off",
            order=_CHECKS,
        )


def advise_on_controllers(facts: HostFacts) -> Iterator[Advice]:
    """Yield what the firmware's setting of a SATA controller costs."""
    for address, count in facts.hidden_nvme.items():
        disks = "an NVMe SSD" if count == 1 else f"{count} NVMe SSDs"
        yield Advice(
            code=AdviceCode.HIDDEN_NVME,
            severity=Severity.ATTENTION,
            subject=address,
            text=f"the SATA controller {address} hides {disks} from Linux: the firmware has it in RAID mode",
            why="Linux cannot use disks that are remapped this way (drivers/ata/ahci.c, remapped_nvme).",
            remedy="switch the controller to AHCI in the firmware; look first whether another system that is"
            " installed needs RAID mode",
        )
    if facts.ide_disks:
        few = len(facts.ide_disks) == 1
        yield Advice(
            code=AdviceCode.IDE_MODE,
            severity=Severity.ATTENTION,
            text=f"the controller of {', '.join(facts.ide_disks)} is in IDE mode",
            why=f"{'The disk gets' if few else 'The disks get'} one request at a time: that mode has no NCQ.",
            remedy="switch the controller to AHCI in the firmware",
        )
