"""The command line on real arrays in the guest; a capture from there is opened here."""

import json
import re
import shlex
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.lab.guests.arrays import Made, disk_names, make_array, slow
from tests.lab.guests.boot import REPOSITORY, serial_of
from tests.lab.guests.console import NOBODY, RAIDTUI, let_anyone_in
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Result

SAMPLE = re.compile(r'(\w+)\{(\w+="[^"]*"(?:,\w+="[^"]*")*)\} (-?[\d.]+(?:e[+-]?\d+)?)')


def status(guest: Guest, *options: str, before: tuple[str, ...] = ()) -> Result:
    """`raidtui status` in the guest."""
    return guest.run(shlex.join((*before, *RAIDTUI, "status", *options)))


def make_three(guest: Guest) -> tuple[Made, Made, Made]:
    """A RAID-10 under resync, a degraded RAID-1, a RAID-0."""
    slow(guest, 500)
    disks = disk_names(guest)
    data = make_array(guest, "data", 10, disks[:4], layout="n2", chunk=64)
    mirror = make_array(guest, "mirror", 1, disks[4:6], extra=["--assume-clean"])
    plain = make_array(guest, "plain", 0, disks[6:8])
    assert guest.run(f"mdadm {mirror.path} --fail /dev/{disks[5]}").status == 0
    return data, mirror, plain


def test_each_form_of_the_report(guest: Guest) -> None:
    data, mirror, plain = make_three(guest)

    result = status(guest)
    assert (result.status, result.stderr) == (1, "")
    assert "lab: 3 arrays.\n" in result.stdout
    assert (
        f"data (/dev/{data.kernel}) is optimal: raid10, near=2, chunk 64K, 254 MiB, 4 of 4 members in sync.\n"
        in result.stdout
    )
    assert re.search(r"^  Resync at \d+\.\d %", result.stdout, re.MULTILINE)
    assert (
        f"mirror (/dev/{mirror.kernel}) is degraded: raid1, 127 MiB, 1 of 2 members in sync.\n"
        in result.stdout
    )
    assert "1 of 2 members missing (slot 1), ubdf failed" in result.stdout
    assert f"To do: add a disk: mdadm /dev/{mirror.kernel} --add DEVICE." in result.stdout
    assert f"plain (/dev/{plain.kernel}) is optimal: raid0, chunk 512K, 252 MiB.\n" in result.stdout

    result = status(guest, "--json")
    report = json.loads(result.stdout)
    arrays = {array["label"]: array for array in report["arrays"]}
    assert (result.status, report["exit_status"], result.stderr) == (1, 1, "")
    assert {name: array["health"] for name, array in arrays.items()} == {
        "data": "optimal",
        "mirror": "degraded",
        "plain": "optimal",
    }
    assert arrays["data"]["sync"]["action"] == "resync"
    assert arrays["data"]["speed_limit"]["max_kib_s"] == report["host"]["speed_limit_max_kib_s"] == 500
    assert [member["serial"] for member in arrays["plain"]["members"]] == [
        serial_of("ubdg"),
        serial_of("ubdh"),
    ]
    assert [(each["code"], each["array"]) for each in report["findings"]] == [("degraded", mirror.kernel)]

    result = status(guest, "--prometheus")
    assert result.status == 1
    samples = dict(read_sample(line) for line in result.stdout.splitlines() if not line.startswith("#"))
    assert samples["raidtui_md_state", data.kernel, "resync"] == 1
    assert samples["raidtui_md_state", data.kernel, "active"] == 0
    assert samples["raidtui_md_degraded", mirror.kernel] == 1
    assert samples["raidtui_md_disks", mirror.kernel, "failed"] == 1
    assert (
        samples["raidtui_md_disks", data.kernel, "active"]
        == samples["raidtui_md_disks_required", data.kernel]
        == 4
    )
    assert samples["raidtui_md_health", mirror.kernel] == 3
    assert 0 < samples["raidtui_md_synced_bytes", data.kernel] < samples["raidtui_md_size_bytes", data.kernel]
    assert samples["raidtui_md_sync_speed_limit_bytes_per_second", data.kernel, "max", "system"] == 500 << 10


def read_sample(line: str) -> tuple[tuple[str, ...], float]:
    """A metric's name and its labels' values, and its value."""
    found = SAMPLE.fullmatch(line)
    assert found is not None, line
    return (found[1], *re.findall(r'="([^"]*)"', found[2])), float(found[3])


@pytest.mark.later
def test_the_exit_status_says_how_it_is(guest: Guest) -> None:
    disks = disk_names(guest)
    assert status(guest).status == 0
    made = make_array(guest, "data", 5, disks[:3], extra=["--assume-clean"])
    assert status(guest).status == 0
    guest.run(f"mdadm {made.path} --fail /dev/{disks[0]}")
    assert status(guest).status == 1
    guest.run(f"mdadm {made.path} --fail /dev/{disks[1]}")
    result = status(guest)
    assert result.status == 2
    assert "has failed" in result.stdout
    assert status(guest, "--colour").status == 64
    # What cannot be read is not "all well".
    let_anyone_in(guest)
    result = guest.run(
        "touch /run/closed; chmod 600 /run/closed; mount --bind /run/closed /proc/mdstat\n"
        f"{shlex.join((*NOBODY, *RAIDTUI, 'status'))}; status=$?; umount /proc/mdstat; exit $status"
    )
    assert result.status == 3
    assert "the state of the arrays is not known" in result.stdout


@pytest.mark.later
def test_everyone_may_look(guest: Guest) -> None:
    let_anyone_in(guest)
    make_three(guest)
    mine = status(guest, "--json")
    theirs = status(guest, "--json", before=NOBODY)
    assert theirs.status == mine.status == 1
    assert [at_rest(each) for each in json.loads(theirs.stdout)["arrays"]] == [
        at_rest(each) for each in json.loads(mine.stdout)["arrays"]
    ]
    assert "changes: need root" in status(guest, before=NOBODY).stdout


def at_rest(array: dict[str, Any]) -> dict[str, Any]:
    """An array of a report without what moves."""
    return {key: value for key, value in array.items() if key != "sync"}


# The next look that no event brings is an hour away.
_WATCHING = """
import sys
from raidtui.__main__ import main
from raidtui.monitor import sampler

sampler.IDLE_S = 3600.0
sys.argv = ["raidtui", "status", "--watch"]
sys.exit(main())
"""


@pytest.mark.later
def test_watching_reports_a_failure(guest: Guest) -> None:
    made = make_array(guest, "data", 1, ["ubda", "ubdb"], extra=["--assume-clean"])
    argv = (sys.executable, "-c", _WATCHING)
    watching = guest.spawn(f"exec {shlex.join(argv)} >/run/watched 2>&1")

    def watched() -> str:
        return guest.run("cat /run/watched").stdout

    wait_until(lambda: "data: optimal\n" in watched(), what="the first line")
    assert guest.run(f"mdadm {made.path} --fail /dev/ubdb").status == 0
    wait_until(lambda: "data: member ubdb failed\n" in watched(), what="the failure's line")
    assert re.search(
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d data: .*degraded: .*ubdb failed", watched(), re.MULTILINE
    )
    watching.kill(signal.SIGINT)
    assert watching.wait(60).status == 1


@pytest.mark.later
def test_a_capture_says_the_same_elsewhere(guest: Guest, tmp_path: Path) -> None:
    make_three(guest)
    serials = {serial_of(disk) for disk in disk_names(guest)}
    live = json.loads(status(guest, "--json").stdout)
    for options, known in (((), set()), (("--with-serials",), serials)):
        name = f"capture{len(options)}.tar.gz"
        made = guest.run(shlex.join((*RAIDTUI, "capture", f"/run/lab/{name}", *options)))
        assert made.status == 0, made.output
        file = tmp_path / name
        file.write_bytes(guest.get(name))
        here = subprocess.run(
            (*RAIDTUI, "--root", str(file), "status", "--json"),
            capture_output=True,
            text=True,
            check=False,
            cwd=REPOSITORY,
        )
        assert (here.returncode, here.stderr) == (1, "")
        report = json.loads(here.stdout)
        assert [without_serials(each) for each in report["arrays"]] == [
            without_serials(each) for each in live["arrays"]
        ]
        assert report["findings"] == live["findings"]
        assert report["host"]["name"] == "lab"
        found = {member["serial"] for array in report["arrays"] for member in array["members"]}
        assert len(found) == len(serials)  # hashed or not, they distinguish the disks
        assert found & serials == known
        with tarfile.open(file) as archive:
            files = [archive.extractfile(entry) for entry in archive if entry.isfile()]
            parts = [part.read().decode(errors="replace") for part in files if part is not None]
        unpacked = "\n".join(parts)
        assert {serial for serial in serials if serial in unpacked} == known


def without_serials(array: dict[str, Any]) -> dict[str, Any]:
    """An array of a report without what moves or is hashed."""
    members = [{**member, "serial": None} for member in array["members"]]
    return {**at_rest(array), "members": members}
