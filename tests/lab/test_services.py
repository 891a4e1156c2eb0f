"""Each unit does its work with the little that it may do: a real systemd on a real kernel."""

import json
import shlex
import sys
from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import disk_names, make_array, slow
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.qemu.guest import QemuGuest
from tests.lab.guests.systemd import inside, install_units, run_unit, start_systemd
from tests.lab.guests.uml import UmlGuest
from tests.lab.test_pace import READER

BEFORE = ["1000 (system)", "2000 (system)"]
# A program of a group of its own, as the sendmail of Postfix is. It notes who it is and what it may write.
SENDMAIL = """\
groupadd --force labmail && install --directory --group=labmail --mode=1730 /var/spool/labmail
install --group=labmail --mode=2755 $(readlink -f /usr/bin/python3) /usr/lib/labmail
cat >/usr/sbin/sendmail <<'END'
#!/usr/lib/labmail -I
import grp, os, sys
try:
    open("/etc/labmail", "w")
except OSError as error:
    etc = error.strerror
with open("/var/spool/labmail/got", "w") as file:
    file.write(f"{grp.getgrgid(os.getegid()).gr_name}\\n{etc}\\n{sys.stdin.read()}")
END
chmod 755 /usr/sbin/sendmail
"""
KEPT = """
from raidtui.jobs.alert_spool import AlertSpool, new_alert, spool_folder
from raidtui.model.alert import AlertEvent
event = AlertEvent(source="mdadm", name="DegradedArray", device="/dev/md/data", detail="")
AlertSpool(spool_folder()).keep(new_alert(event, "lab"))
"""


@pytest.fixture(scope="module")
def served(bytecode: None) -> Iterator[Guest]:
    """A guest with an array and systemd."""
    holder = Laboratory(UmlGuest.boot)
    guest = holder.guest()
    slow(guest, 2000)
    guest.run("echo 1000 >/proc/sys/dev/raid/speed_limit_min; modprobe scsi_debug dev_size_mb=64")
    make_array(guest, "data", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    start_systemd(guest)
    install_units(guest)
    yield guest
    holder.close()


@pytest.mark.later
def test_wear_is_recorded(served: Guest) -> None:
    bare = json.loads(inside(served, shlex.join((*RAIDTUI, "wear", "--json"))).stdout)
    run_unit(served, "raidtui-wear.service")
    counted = (
        "import sqlite3; ledger = sqlite3.connect('/var/lib/raidtui/wear.sqlite')\n"
        "print(*ledger.execute('select count(distinct disk) from entry').fetchone())"
    )
    assert bare["disks"]
    assert served.run(counted, interpreter="python").stdout.split() == [str(len(bare["disks"]))]


def test_advice_is_the_same(served: Guest) -> None:
    """The unit sees what root sees: it comes to the same advice, with nothing that it could not read."""
    on_top = "pvcreate -q /dev/md/data && vgcreate -q top /dev/md/data && lvcreate -q -L 8m -n one top"
    assert inside(served, on_top).status == 0
    bare = inside(served, shlex.join((*RAIDTUI, "advice"))).stdout
    assert "Code: " in bare
    said = run_unit(served, "raidtui-advice.service")
    assert [line for line in bare.splitlines() if line not in said.splitlines()] == []
    count = json.loads(served.run("cat /var/lib/raidtui/advice.json").stdout)
    assert count["attention"] == bare.count("attention: ")
    assert inside(served, "vgremove -q -f top && pvremove -q /dev/md/data").status == 0


@pytest.mark.later
def test_an_array_is_paced_and_its_limits_come_back(served: Guest) -> None:
    """After a stop, and after a kill, by what systemd starts then; the queues of a member with them."""
    md = served.run("basename $(readlink /dev/md/data)").stdout.strip()
    folder = f"/sys/block/{md}/md"

    def limits() -> list[str]:
        return served.run(f"cat {folder}/sync_speed_min {folder}/sync_speed_max").stdout.splitlines()

    served.run("echo 'PACE=--latency 200' >/etc/default/raidtui-pace")
    served.spawn(READER.format(md), interpreter="python")
    assert served.run(f"echo check >{folder}/sync_action").status == 0
    assert limits() == BEFORE
    unit = "raidtui-pace@data.service"
    assert inside(served, f"systemctl start {unit}").status == 0
    wait_until(lambda: limits()[1].endswith("(local)"), 120, "it paces")
    killed = inside(served, f"systemctl kill --signal=KILL {unit} && systemctl stop {unit}")
    assert killed.status == 0, killed.output
    assert limits() == BEFORE
    assert inside(served, f"systemctl start {unit}").status == 0
    wait_until(lambda: limits()[1].endswith("(local)"), 120, "it paces again")
    assert inside(served, f"systemctl stop {unit}").status == 0
    assert limits() == BEFORE
    served.run(f"pkill -f mmap.mma[p]; echo idle >{folder}/sync_action")


@pytest.mark.later
def test_an_alert_goes_out_by_a_setgid_sendmail(served: Guest) -> None:
    assert served.run(SENDMAIL).status == 0
    added = inside(served, f"echo root | {shlex.join((*RAIDTUI, 'alert', '--add', 'mail'))}")
    assert added.status == 0, added.output
    disk = disk_names(served)[1]
    assert served.run(f"mdadm /dev/md/data --fail /dev/{disk}").status == 0
    kept = inside(served, shlex.join((sys.executable, "-P", "-c", KEPT)))
    assert kept.status == 0, kept.output
    run_unit(served, "raidtui-alert.service")
    group, etc, *mail = served.run("cat /var/spool/labmail/got").stdout.splitlines()
    assert (group, etc) == ("labmail", "Read-only file system")
    assert "Subject: [degraded] lab: data is degraded" in mail


@pytest.mark.later
def test_smartctl_of_sata_and_nvme(bytecode: None) -> None:
    """In the unit it answers as it does without; what the unit may not do is refused."""
    holder = Laboratory(QemuGuest.boot)
    try:
        guest = holder.guest()
        disks = (guest.sata[0].path, guest.nvme[0].path)
        guest.run(
            f"cat >/root/smart <<'END'\n#!/bin/bash\nfor disk in {shlex.join(disks)}; do\n"
            "smartctl --json=c -n standby,3 -H -i $disk >/dev/null; echo $disk $?; done\n"
            f"exec 3>{disks[0]}\nEND\nchmod 755 /root/smart"
        )
        bare = guest.run("/root/smart").stdout.splitlines()
        start_systemd(guest, timeout=420)
        install_units(guest, "[Service]\nExecStart=\nExecStart=-/root/smart\n")
        said = run_unit(guest, "raidtui-wear.service")
        assert [line for line in said.splitlines() if line.startswith("/dev/")] == bare
        assert f"{disks[0]}: Operation not permitted" in said
    finally:
        holder.close()
