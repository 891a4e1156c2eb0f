"""Who is told, what checks, which controllers: each rule on a sick host and on a well one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import Advice, HostFacts
from raidtui.features.advice.advice_rules import advise
from raidtui.model.alert_setup import HOOK
from raidtui.model.finding import Severity
from raidtui.model.watchers import Monitor, NextCheck, Smartd, Watchers
from tests.features.advice.test_advice_rules import codes, facts, snapshot
from tests.hosts.specs import raid0, raid1

WELL = Watchers(
    monitors=(Monitor(pid=700),),
    conf="/etc/mdadm/mdadm.conf",
    mail_to="root",
    mailer=True,
    checks=("/etc/cron.d/mdadm",),
    kept="/var/log/journal",
)


def found(host: HostFacts | None = None, **more: Any) -> tuple[Advice, ...]:
    return advise(replace(host or facts(), watchers=replace(WELL, **more)))


def test_a_host_that_is_watched() -> None:
    assert found() == ()
    assert found(monitors=(Monitor(pid=700, tells=True),), mail_to="", mailer=False) == ()
    assert found(mail_to="", program="/usr/local/sbin/tell", mailer=False) == ()


@pytest.mark.parametrize(
    ("more", "code", "words", "remedy"),
    [
        (
            {"monitors": ()},
            "not-watched",
            "a failed member alerts no one: no mdadm --monitor runs",
            "systemctl restart mdmonitor",
        ),
        (
            {"monitors": (), "mail_to": "", "conf": ""},
            "not-watched",
            "no mdadm --monitor runs, and /etc/mdadm/mdadm.conf names no recipient",
            "put MAILADDR or PROGRAM in /etc/mdadm/mdadm.conf, then systemctl restart mdmonitor",
        ),
        (
            {"mail_to": "", "conf": "/etc/mdadm.conf"},
            "nobody-told",
            "reports only to the system log: /etc/mdadm.conf names no recipient",
            "put MAILADDR or PROGRAM in /etc/mdadm.conf",
        ),
        ({"mailer": False}, "nobody-told", "mails root, but no mail can be sent", "install a mail"),
        ({"checks": ()}, "not-checked", "no array is checked regularly", "AUTOCHECK=true"),
        ({"kept": ""}, "no-history", "the kernel's messages are gone after a restart", "/var/log/journal"),
    ],
)
def test_nobody_would_know(more: dict[str, Any], code: str, words: str, remedy: str) -> None:
    (each,) = found(**more)
    assert (each.code, each.severity, each.subject) == (code, Severity.ATTENTION, "")
    assert words in each.text
    assert remedy in each.remedy


ALERTS = ("plan", "alerts")
CHECKS = ("plan", "checks", "--monthly")


@pytest.mark.parametrize(
    ("more", "order"),
    [
        ({"monitors": ()}, ALERTS),
        ({"mail_to": ""}, ALERTS),
        ({"mailer": False}, ALERTS),
        ({"program": HOOK}, ()),
        ({"kept": ""}, (*ALERTS, "--only", "journal")),
        ({"smartd": Smartd(conf="/etc/smartd.conf")}, (*ALERTS, "--only", "smartd")),
        ({"checks": ()}, CHECKS),
        ({"checks": ("/etc/cron.d/mdadm", "mdcheck_start.timer")}, CHECKS),
    ],
)
def test_the_plan_that_mends_it(more: dict[str, Any], order: tuple[str, ...]) -> None:
    """Where only a channel is missing there is none: its address is for no plan."""
    (each,) = found(**more)
    assert each.order == order


def test_raidtuis_hook_without_a_channel() -> None:
    (each,) = found(program=HOOK)
    assert (each.code, each.remedy) == ("nobody-told", "sudo raidtui alert --add NAME adds one")
    assert found(program=HOOK, channels=True, mail_to="") == ()


@pytest.mark.parametrize(
    ("smartd", "mailer", "words"),
    [
        (Smartd(conf="/etc/smartd.conf"), True, "smartd is installed but does not run"),
        (Smartd(conf="/etc/smartd.conf", runs=True), True, "system log: /etc/smartd.conf names no recipient"),
        (Smartd(conf="/etc/smartd.conf", runs=True, mails=True), False, "no mail can be sent"),
        (Smartd(conf="/etc/smartd.conf", runs=True, mails=True), True, ""),
        (Smartd(conf="/etc/smartd.conf", runs=True, programs=("/bin/tell",)), False, ""),
        (Smartd(conf="/etc/smartd.conf", virtual=True), True, ""),
    ],
)
def test_smartd(smartd: Smartd, mailer: bool, words: str) -> None:  # noqa: FBT001
    advice = [each for each in found(smartd=smartd, mailer=mailer) if each.code == "disks-not-watched"]
    assert [words in each.text for each in advice] == ([True] if words else [])


def test_a_timer_that_is_not_started() -> None:
    timer = "mdcheck_start.timer"
    stopped = NextCheck(by=timer, why=f"{timer} is enabled, and not started", none=True)
    (each,) = found(facts(next_check=stopped), checks=(timer,))
    assert (each.code, each.severity) == ("not-checked", Severity.ATTENTION)
    assert each.text == "no check is due: mdcheck_start.timer is enabled, and not started"
    assert (each.remedy, each.order) == ("systemctl start mdcheck_start.timer", CHECKS)
    assert (
        found(facts(next_check=NextCheck(by=timer, why="systemctl has not answered")), checks=(timer,)) == ()
    )


def test_two_checks_are_a_note() -> None:
    (each,) = found(checks=("/etc/cron.d/mdadm", "mdcheck_start.timer"))
    assert (each.code, each.severity) == ("checked-twice", Severity.INFO)
    assert each.text == "arrays are checked by /etc/cron.d/mdadm and by mdcheck_start.timer"


def test_what_cannot_be_seen_is_not_said() -> None:
    assert found(checks=(), all_seen=False) == ()
    assert advise(facts(watchers=None)) == ()


def test_without_redundancy_nobody_has_to_watch() -> None:
    """Of a RAID 0 the monitor says nothing but that it is gone."""
    host = facts(snapshot=snapshot(raid0()))
    assert found(host, monitors=(), checks=(), kept="") == ()


def test_controllers() -> None:
    assert codes(advise(facts(hidden_nvme={"0000:00:17.0": 2}, ide_disks=("sda",)))) == [
        "hidden-nvme",
        "ide-mode",
    ]
    (hides,) = advise(facts(hidden_nvme={"0000:00:17.0": 1}))
    assert hides.text.startswith("the SATA controller 0000:00:17.0 hides an NVMe SSD from Linux")
    (slow,) = advise(facts(ide_disks=("sda", "sdb"), snapshot=snapshot(raid1())))
    assert (slow.text, slow.why) == (
        "the controller of sda, sdb is in IDE mode",
        "The disks get one request at a time: that mode has no NCQ.",
    )
