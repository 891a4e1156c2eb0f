"""The plan of regular checks with a real systemd and mdadm's own mdcheck, in a guest of its own."""

import json
import shlex
from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Result
from tests.lab.guests.systemd import inside, start_systemd
from tests.lab.guests.uml import UmlGuest

pytestmark = pytest.mark.later

TIMERS = "mdcheck_start.timer mdcheck_continue.timer"
MD = "/sys/block/md127/md"


@pytest.fixture(scope="module")
def booted(bytecode: None) -> Iterator[Guest]:
    """A guest at noon with an array that takes long to check, and systemd; mdadm's timers are off."""
    holder = Laboratory(UmlGuest.boot)
    guest = holder.guest()
    made = make_array(guest, "mirror", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    assert made.kernel == "md127"
    guest.run(f"date --set=12:00; echo 100 >{MD}/sync_speed_max; echo 50 >{MD}/sync_speed_min")
    start_systemd(guest)
    inside(guest, f"systemctl disable --now {TIMERS}; rm -rf /var/lib/mdcheck")
    yield guest
    holder.close()


def raidtui(guest: Guest, *words: str) -> Result:
    return inside(guest, shlex.join((*RAIDTUI, *words)))


def carried_out(guest: Guest, window: str) -> str:
    """Carry the plan out; return the job."""
    own = shlex.join(RAIDTUI)
    done = inside(
        guest, f"{own} plan checks --weekly --window {window} --json >/root/p && {own} apply /root/p"
    )
    assert done.status == 0, done.output
    job: str = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    return job


def taken_back(guest: Guest, job: str) -> None:
    done = raidtui(guest, "jobs", "rollback", job)
    assert done.status == 0, done.output


def arranged(guest: Guest) -> str:
    """What the plan changes, without the copies of what it overwrites."""
    return inside(
        guest,
        "grep . /etc/systemd/system/mdcheck*/*.conf /etc/default/mdadm; ls /etc/systemd/system/*.wants;"
        f" systemctl is-enabled {TIMERS}; systemctl is-active {TIMERS}",
    ).stdout


def due(guest: Guest, timer: str) -> str:
    """When a timer elapses: the day of the week and the time."""
    words = inside(guest, f"systemctl show --value --property=NextElapseUSecRealtime {timer}").stdout.split()
    return f"{words[0]} {words[2]}"


def action(guest: Guest) -> str:
    return guest.run(f"cat {MD}/sync_action").stdout.strip()


def test_checks_keep_the_hours_and_all_is_taken_back(booted: Guest) -> None:
    """Outside of them mdcheck pauses what it has begun; inside it continues there."""
    before = arranged(booted)
    first = carried_out(booted, "09:00-10:00")
    assert due(booted, "mdcheck_start.timer") == "Sun 09:05:00"
    assert due(booted, "mdcheck_continue.timer").endswith(" 09:00:00")
    states = inside(booted, f"systemctl is-enabled {TIMERS}; systemctl is-active {TIMERS}")
    assert states.stdout.split() == ["enabled", "enabled", "active", "active"]
    run = inside(booted, "systemctl start mdcheck_start.service")
    assert run.status == 0, run.output
    assert action(booted) == "idle"
    assert int(booted.run("cat /var/lib/mdcheck/MD_UUID_*").stdout) >= 0

    between = arranged(booted)
    second = carried_out(booted, "11:00-15:00")
    assert due(booted, "mdcheck_start.timer") == "Sun 11:05:00"
    again = raidtui(booted, "plan", "checks", "--weekly", "--window", "11:00-15:00")
    assert (again.status, "already" in again.output) == (0, True), again.output
    inside(booted, "systemctl start --no-block mdcheck_continue.service")
    wait_until(lambda: action(booted) == "check", what="the check continues")
    inside(booted, "systemctl stop mdcheck_continue.service")
    booted.run(f"echo idle >{MD}/sync_action")

    taken_back(booted, second)
    assert arranged(booted) == between
    assert due(booted, "mdcheck_start.timer") == "Sun 09:05:00"
    taken_back(booted, first)
    assert arranged(booted) == before
