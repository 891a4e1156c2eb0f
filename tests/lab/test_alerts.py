"""Alerts on a real kernel: mdadm --monitor calls the hook, and a web server in the guest receives them."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import apply, last_job, plan, started

SERVER = Path(__file__).parent / "guests" / "inside" / "alert_server.py"
GOT, PORT = "/tmp/alerts/got", 8917
SECRET = "hunter2secret"
CHANNEL = f"json://admin:{SECRET}@127.0.0.1:{PORT}/alerts"
HOOK = "/etc/raidtui/alert-hook"
WARNING = "/usr/share/smartmontools/smartd_warning.sh"


@pytest.fixture
def heard(guest: Guest) -> Iterator[Guest]:
    """A guest with a channel, and mdadm.conf as it was afterwards."""
    try:
        guest.run("cp /etc/mdadm/mdadm.conf /tmp/mdadm.conf.before; mkdir -p /tmp/alerts /run/mdadm")
        serve(guest)
        added = guest.run(f"echo '{CHANNEL}' | {shlex.join((*RAIDTUI, 'alert', '--add', 'hook'))}")
        assert (added.status, added.stderr) == (0, "")
        assert added.stdout == (
            "channel hook (json) is in /etc/raidtui/alerts.toml; raidtui alert --test tries it\n"
        )
        yield guest
    finally:
        guest.run(
            "[ -e /run/alerts.pid ] && kill -9 $(cat /run/alerts.pid); kill -9 $(cat /tmp/alerts/pid)\n"
            "cp /tmp/mdadm.conf.before /etc/mdadm/mdadm.conf; rm -f /etc/mdadm/mdadm.conf.*\n"
            "rm -rf /etc/raidtui /var/lib/raidtui/alerts /tmp/alerts /run/alerts.pid\n"
            "rm -f /etc/smartmontools/run.d/20raidtui"
        )


def serve(guest: Guest) -> None:
    argv = shlex.join((sys.executable, str(SERVER), str(PORT), GOT))
    guest.run(f"{argv} </dev/null >/dev/null 2>&1 & echo $! >/tmp/alerts/pid")
    wait_until(lambda: guest.run(f"echo >/dev/tcp/127.0.0.1/{PORT}").status == 0, what="the server answers")


def messages(guest: Guest) -> list[dict[str, Any]]:
    return [json.loads(line) for line in guest.run(f"cat {GOT}").stdout.splitlines()]


def titles(guest: Guest) -> list[str]:
    return [message["title"] for message in messages(guest)]


def listed(guest: Guest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(started(guest, "alert", "--list", "--json").stdout)
    return found


def set_up(guest: Guest) -> None:
    made = plan(guest, "alerts")
    assert SECRET not in json.dumps(made)
    apply(guest)
    assert f"PROGRAM {HOOK}\n" in guest.run("cat /etc/mdadm/mdadm.conf").stdout


def monitor(guest: Guest) -> None:
    """Start it, and wait until it knows the arrays: its first message says so."""
    done = guest.run("mdadm --monitor --scan --test --delay=1 --daemonise --pid-file=/run/alerts.pid")
    assert done.status == 0, done.output
    wait_until(lambda: any("test alert, for" in title for title in titles(guest)), what="its first message")


def mirror(guest: Guest) -> Made:
    return make_array(guest, "mirror", 1, disk_names(guest)[:2], extra=["--assume-clean"])


def rebuilt(guest: Guest) -> list[dict[str, Any]]:
    return [each for each in listed(guest)["waiting"] if each["event"] == "SpareActive"]


def test_a_member_fails_and_the_monitor_calls_the_hook(heard: Guest) -> None:
    """The message names the array and what to do; while the server is down, nothing is lost."""
    guest, made, disk = heard, mirror(heard), disk_names(heard)[1]
    set_up(guest)
    monitor(guest)
    guest.run(f"mdadm {made.path} --fail /dev/{disk}")
    wait_until(lambda: f"lab: {disk} of mirror has failed" in titles(guest), what="the alert")
    found = next(each for each in messages(guest) if each["title"].endswith("has failed"))
    assert "mirror is degraded: 1 of 2 members missing (slot 1)" in found["message"]
    assert f"To do: add a disk: mdadm /dev/{made.kernel} --add DEVICE." in found["message"]
    wait_until(lambda: not listed(guest)["waiting"], what="nothing waits")

    guest.run("kill -9 $(cat /tmp/alerts/pid)")
    guest.run(f"mdadm {made.path} --remove /dev/{disk} && mdadm {made.path} --add /dev/{disk}")
    wait_until(lambda: rebuilt(guest) and rebuilt(guest)[0]["channels"], what="one that waits")
    [waits] = rebuilt(guest)  # where the copy takes longer than the monitor sleeps, it reports that, too
    assert waits["channels"]["hook"]["accepted"] is None
    assert SECRET not in json.dumps(listed(guest))
    serve(guest)
    assert guest.run(f"{HOOK} DegradedArray {made.path}").status == 0  # by its link, as mdadm may call it
    wait_until(lambda: not listed(guest)["waiting"], what="nothing waits")
    assert titles(guest)[-1] == "lab: mirror is degraded"
    assert titles(guest).count(f"lab: {disk} is rebuilt, and serves in mirror") == 1


@pytest.mark.later
def test_the_test_goes_through_mdadm(heard: Guest) -> None:
    """Beside a monitor that runs, too."""
    mirror(heard)
    direct = json.loads(started(heard, "alert", "--test", "--json").stdout)
    assert (direct["way"], direct["alerts"]) == ("direct", 1)
    assert direct["why_way"] == f"there is no {HOOK}: raidtui plan alerts sets it up"
    set_up(heard)
    monitor(heard)
    result = started(heard, "alert", "--test")
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "Sent through mdadm --monitor, which called the PROGRAM of mdadm.conf, as at a real failure.",
        "  hook (json): accepted",
        "A channel accepting it does not mean that it was read: ask the recipients.",
    ]
    assert titles(heard) == ["lab: this is a test alert", *["lab: this is a test alert, for mirror"] * 2]

    heard.run(f"touch {GOT}.refuses")
    result = started(heard, "alert", "--test", "--json")
    found = json.loads(result.stdout)
    assert (result.status, found["way"], found["channels"][0]["outcome"]) == (1, "mdadm", "failed")
    assert "503" in found["channels"][0]["why"]
    assert SECRET not in result.stdout
    assert len(listed(heard)["waiting"]) == 1


@pytest.mark.later
def test_smartd_calls_it(heard: Guest) -> None:
    """By its own script, and the runner of this distribution, which its configuration names."""
    mirror(heard)
    disk = disk_names(heard)[0]
    plan(heard, "alerts", "--only", "smartd")
    apply(heard)
    heard.run(
        f"{WARNING} >/dev/null 2>&1",
        env={
            "SMARTD_MAILER": "/usr/share/smartmontools/smartd-runner",
            "SMARTD_ADDRESS": "root",
            "SMARTD_DEVICE": f"/dev/{disk}",
            "SMARTD_DEVICETYPE": "ata",
            "SMARTD_DEVICESTRING": f"/dev/{disk}",
            "SMARTD_FAILTYPE": "CurrentPendingSector",
            "SMARTD_MESSAGE": f"Device: /dev/{disk}, 8 Currently unreadable (pending) sectors",
            "SMARTD_TFIRST": "now",
            "SMARTD_PREVCNT": "0",
        },
    )
    wait_until(lambda: bool(titles(heard)), what="the alert")
    [found] = messages(heard)
    assert found["type"] == "warning"
    assert "8 Currently unreadable (pending) sectors. It is a member of mirror." in found["message"]


@pytest.mark.later
def test_it_is_undone(heard: Guest) -> None:
    mirror(heard)
    before = heard.run("cat /etc/mdadm/mdadm.conf").stdout
    set_up(heard)
    again = started(heard, "plan", "alerts")
    assert (again.status, again.stdout) == (
        0, "already so: everything is already set up; raidtui alert --test tries it\n",
    )  # fmt: skip
    assert started(heard, "jobs", "rollback", last_job(heard)).status == 0
    assert heard.run("cat /etc/mdadm/mdadm.conf").stdout == before
    assert heard.run(f"ls {HOOK} /etc/smartmontools/run.d/20raidtui").stdout == ""
    assert heard.run("cat /etc/raidtui/alerts.toml").status == 0


@pytest.mark.later
def test_another_program_is_not_replaced(heard: Guest) -> None:
    heard.run("echo 'PROGRAM /root/mine' >>/etc/mdadm/mdadm.conf")
    refused = started(heard, "plan", "alerts")
    assert (refused.status, refused.stdout) == (2, "")
    assert "/etc/mdadm/mdadm.conf has PROGRAM /root/mine, which raidtui did not write" in refused.stderr
    assert started(heard, "plan", "alerts", "--replace").status == 0


@pytest.mark.later
def test_a_capture_has_no_address(heard: Guest) -> None:
    set_up(heard)
    assert started(heard, "capture", "/tmp/alerts/c.tar.gz").status == 0
    found = heard.run(
        "cd /tmp/alerts && mkdir c && tar -xzf c.tar.gz -C c && find c | grep -c alerts.toml\n"
        f"grep -r {SECRET} c /var/lib/raidtui; stat -c '%a %U' /etc/raidtui/alerts.toml"
    )
    assert found.stdout == "0\n600 root\n"
