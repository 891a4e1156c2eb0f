"""The plan of the alerts with a real systemd, in a PID namespace of a guest of its own."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Result
from tests.lab.guests.systemd import inside, start_systemd
from tests.lab.guests.uml import UmlGuest

pytestmark = pytest.mark.later

SERVER = Path(__file__).parent / "guests" / "inside" / "alert_server.py"
GOT, PORT = "/root/got", 8918
RETRIED_S = 240.0
"""A minute until it is due, a minute until the timer looks."""


@pytest.fixture(scope="module")
def booted(bytecode: None) -> Iterator[Guest]:
    """A guest with an array, a web server, and systemd."""
    holder = Laboratory(UmlGuest.boot)
    guest = holder.guest()
    make_array(guest, "mirror", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    start_systemd(guest)
    argv = shlex.join((sys.executable, str(SERVER), str(PORT), GOT))
    guest.run(f"{argv} </dev/null >/dev/null 2>&1 &")
    wait_until(lambda: guest.run(f"echo >/dev/tcp/127.0.0.1/{PORT}").status == 0, what="the server answers")
    yield guest
    holder.close()


def raidtui(guest: Guest, *words: str) -> Result:
    return inside(guest, shlex.join((*RAIDTUI, *words)))


def titles(guest: Guest) -> list[str]:
    return [json.loads(line)["title"] for line in guest.run(f"cat {GOT}").stdout.splitlines()]


def waiting(guest: Guest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(raidtui(guest, "alert", "--list", "--json").stdout)["waiting"]
    return found


def tried(guest: Guest) -> bool:
    return any(each["channels"] for each in waiting(guest))


def own_files(guest: Guest) -> str:
    """What the plan changes."""
    return inside(
        guest, "systemctl list-unit-files --no-legend 'raidtui*'; cat /etc/mdadm/mdadm.conf; ls /etc/raidtui"
    ).stdout


@pytest.fixture(scope="module")
def planned(booted: Guest) -> Iterator[Guest]:
    """The same with a channel and the plan carried out; all is taken back."""
    address = f"json://127.0.0.1:{PORT}/x"
    added = inside(booted, f"echo {address} | {shlex.join((*RAIDTUI, 'alert', '--add', 'hook'))}")
    assert added.status == 0, added.output
    before, own = own_files(booted), shlex.join(RAIDTUI)
    done = inside(booted, f"{own} plan alerts --json >/root/plan.json && {own} apply /root/plan.json")
    assert done.status == 0, done.output
    yield booted
    job = json.loads(raidtui(booted, "jobs", "--json").stdout)["jobs"][-1]["id"]
    back = raidtui(booted, "jobs", "rollback", job)
    assert back.status == 0, back.output
    assert own_files(booted) == before
    assert inside(booted, "systemctl is-active raidtui-alert.timer").stdout == "inactive\n"


def test_the_units_run_and_the_journal_is_kept(planned: Guest) -> None:
    states = (
        "systemctl is-active mdmonitor.service raidtui-alert.timer; systemctl is-enabled raidtui-alert.timer"
    )
    assert inside(planned, states).stdout.split() == ["active", "active", "enabled"]
    assert "/var/log/journal/" in inside(planned, "journalctl --header").stdout
    result = raidtui(planned, "alert", "--test")
    assert result.status == 0, result.output
    assert result.stdout.startswith("Sent through mdadm --monitor, which called the PROGRAM of mdadm.conf")
    assert "No mdadm --monitor runs" not in result.stdout
    codes = {each["code"] for each in json.loads(raidtui(planned, "advice", "--json").stdout)["advice"]}
    assert codes.isdisjoint({"not-watched", "nobody-told", "no-history"})


def test_the_timer_tries_again(planned: Guest) -> None:
    disk = disk_names(planned)[1]
    planned.run(f"touch {GOT}.refuses; mdadm /dev/md/mirror --fail /dev/{disk}")
    wait_until(lambda: tried(planned), what="the alert of the monitor was refused, and waits")
    planned.run(f"rm {GOT}.refuses")
    wait_until(lambda: not waiting(planned), RETRIED_S, what="the timer has sent it")
    assert titles(planned)[-1] == f"lab: {disk} of mirror has failed"
    shown = inside(
        planned, "systemctl show raidtui-alert.service --property=ExecMainStatus,ExecMainPID"
    ).stdout
    assert "ExecMainStatus=0\n" in shown
    assert "ExecMainPID=0\n" not in shown
    said = inside(planned, "journalctl --no-pager").stdout
    assert "raidtui-alert.service - Send alerts" not in said  # it has nothing to do most of the time
