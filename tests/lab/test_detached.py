"""Disks that leave the machine while md has nothing to write to them: no array with such a member is optimal.

mdadm's udev rule would mark them as failed, where udev knew them as members in time; here it does not run.
"""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.arrays import make_array, make_ram_disks
from tests.lab.guests.console import kernel_text
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, plan, raidtui, refusal
from tests.lab.guests.pulled import await_idle, without_mdadm
from tests.lab.guests.watching import watch


@pytest.fixture
def disks(guest: Guest) -> Iterator[tuple[str, ...]]:
    """Four disks that can be pulled, and of which udev says nothing to mdadm."""
    before = set(guest.run("ls /sys/block").stdout.split())
    options = "per_host_store=1 add_host=4 num_tgts=1 dev_size_mb=32 ndelay=0"
    with without_mdadm(guest):
        made = guest.run(f"modprobe scsi_debug {options} && udevadm settle && ls /sys/block")
        assert made.status == 0, made.output
        yield tuple(sorted(each for each in set(made.stdout.split()) - before if each.startswith("sd")))
        stop = 'for md in /dev/md[0-9]*; do [ -e "$md" ] && mdadm --quiet --stop "$md"; done'
        left = guest.run(f"{stop}; udevadm settle; modprobe -r scsi_debug")
        assert left.status == 0, left.output


def pull(guest: Guest, disk: str) -> None:
    """Let the kernel forget a disk, as when it is pulled."""
    gone = guest.run(f"echo 1 >/sys/block/{disk}/device/delete; udevadm settle; [ ! -e /sys/block/{disk} ]")
    assert gone.status == 0, gone.output


def pull_and_push(guest: Guest, disk: str) -> str:
    """Pull a disk and push it back; return the name that it has then."""
    address = guest.run(f"basename $(readlink -f /sys/block/{disk}/device)").stdout
    pull(guest, disk)
    before = set(guest.run("ls /sys/block").stdout.split())
    scan = f"/sys/class/scsi_host/host{address.partition(':')[0]}/scan"
    (back,) = set(guest.run(f"echo - - - >{scan}; udevadm settle; ls /sys/block").stdout.split()) - before
    return back


def status(guest: Guest, exit_status: int) -> dict[str, Any]:
    """``raidtui status --json``."""
    found = raidtui(guest, "status", "--json")
    assert found.status == exit_status, found.output
    report: dict[str, Any] = json.loads(found.stdout)
    return report


def test_a_mirror_is_degraded_at_once_and_its_member_can_be_failed_and_removed(
    guest: Guest, disks: tuple[str, ...]
) -> None:
    one, other = disks[:2]
    md = make_array(guest, "data", 1, (one, other), extra=("--assume-clean",)).kernel
    await_idle(guest, md)
    pull(guest, other)
    base = f"/sys/block/{md}/md"
    assert kernel_text(guest, f"{base}/dev-{other}/state") == "in_sync"
    assert kernel_text(guest, f"{base}/degraded") == "0"

    report = status(guest, 1)
    (array,) = report["arrays"]
    assert (array["health"], array["degraded"]) == ("degraded", 0)
    assert [(each["name"], each["state"], each["present"]) for each in array["members"]] == [
        (one, "in_sync", True),
        (other, "in_sync", False),
    ]
    assert [(each["code"], each["sentence"]) for each in report["findings"]] == [
        ("member-detached", f"data md has not noticed yet: {other} left the machine"),
        (
            "degraded",
            (
                f"data is degraded: 1 of 2 members missing (slot 1), {other} left the machine;"
                " no redundancy is left"
            ),
        ),
    ]
    assert refusal(guest, "fail", "data", one) == (
        f"{one} holds the last copy of part of data; add a disk, or replace it"
    )
    assert refusal(guest, "remove", "data", other) == (
        f"{other} left the machine, and md has not noticed yet; fail it first"
    )
    assert plan(guest, "fail", "data", other)["steps"][0]["argv"] == [
        "mdadm", "--manage", f"/dev/{md}", "--fail", other,
    ]  # fmt: skip
    do(guest, "fail", "data", other)
    assert kernel_text(guest, f"{base}/dev-{other}/state") == "faulty"
    assert kernel_text(guest, f"{base}/degraded") == "1"
    do(guest, "remove", "data", other)
    assert guest.run(f"[ -e {base}/dev-{other} ]").status != 0
    assert [each["name"] for each in status(guest, 1)["arrays"][0]["members"]] == [one]


@pytest.mark.later
def test_a_disk_that_is_pushed_back_has_another_name_and_is_no_member(
    guest: Guest, disks: tuple[str, ...]
) -> None:
    """Md holds the device that is gone, and with it its name."""
    one, other = disks[:2]
    md = make_array(guest, "data", 1, (one, other), extra=("--assume-clean",)).kernel
    await_idle(guest, md)
    back = pull_and_push(guest, other)
    assert back != other
    (array,) = status(guest, 1)["arrays"]
    assert [(each["name"], each["present"]) for each in array["members"]] == [(one, True), (other, False)]
    do(guest, "fail", "data", other)
    do(guest, "remove", "data", other)
    again = guest.run(f"mdadm /dev/{md} --add /dev/{back}")
    assert again.status == 0, again.output
    wait_until(lambda: kernel_text(guest, f"/sys/block/{md}/md/degraded") == "0", what="the recovery")
    assert status(guest, 0)["findings"] == []


@pytest.mark.later
def test_a_disk_that_is_pushed_back_is_taken_back_by_the_bitmap(guest: Guest, disks: tuple[str, ...]) -> None:
    """Md takes it back only when it has let go of the device that is gone: both have one number."""
    one, other = disks[:2]
    made = make_array(guest, "data", 1, (one, other), bitmap="internal", extra=("--assume-clean",))
    md = made.kernel
    await_idle(guest, md)
    back = pull_and_push(guest, other)
    alone = guest.run(f"mdadm /dev/{md} --re-add /dev/{back}")
    assert alone.status == 1
    assert f"--re-add for /dev/{back} to /dev/{md} is not possible" in alone.output
    do(guest, "re-add", "data", back)
    wait_until(lambda: kernel_text(guest, f"/sys/block/{md}/md/degraded") == "0", what="the recovery")
    assert status(guest, 0)["findings"] == []


@pytest.mark.later
def test_a_write_makes_md_notice_and_each_is_an_event_once(guest: Guest, disks: tuple[str, ...]) -> None:
    one, other = disks[:2]
    md = make_array(guest, "data", 1, (one, other), extra=("--assume-clean",)).kernel
    await_idle(guest, md)
    serial = status(guest, 0)["arrays"][0]["members"][1]["serial"]
    said = watch(
        guest,
        f"""
from raidtui.monitor.kernel_watch import KernelWatch
kernel = KernelWatch(console.reader)
assert kernel.start_udev() is None
sh("echo 1 >/sys/block/{other}/device/delete; udevadm settle")
console.take_uevents(kernel.drain()[1])
show(console.refresh())
print(last.exit_status, counts_of(last))
show(console.refresh())
print("now it is written to")
sh("dd if=/dev/urandom of=/dev/{md} bs=64k count=1 oflag=direct status=none")
until(lambda: "data: member {other} failed" in said, "md notices")
print(last.exit_status, counts_of(last))
""",
    )
    assert said == [
        "data: optimal",
        f"{other}: is gone",
        f"data: member {other} (serial {serial}) left the machine; md has not noticed yet",
        f"data: degraded: md has not noticed yet: {other} left the machine",
        "1 {('bad', 'degraded'): 1}",
        "now it is written to",
        f"data: member {other} failed",
        "1 {('bad', 'degraded'): 1}",
    ]


@pytest.mark.later
def test_a_spare_then_members_of_a_raid5_beyond_its_redundancy(guest: Guest, disks: tuple[str, ...]) -> None:
    a, b, _, spare = disks
    md = make_array(guest, "five", 5, disks, spares=1, extra=("--assume-clean",)).kernel
    await_idle(guest, md)
    pull(guest, spare)
    (finding,) = status(guest, 1)["findings"]
    assert (finding["severity"], finding["code"], finding["sentence"]) == (
        "attention",
        "member-detached",
        f"five md has not noticed yet: the spare {spare} left the machine",
    )
    do(guest, "remove", "five", spare)
    assert status(guest, 0)["findings"] == []

    pull(guest, a)
    assert [each["code"] for each in status(guest, 1)["findings"]] == ["member-detached", "degraded"]
    pull(guest, b)
    report = status(guest, 2)
    assert [(each["code"], each["sentence"]) for each in report["findings"]] == [
        (
            "failed",
            f"five has failed: 2 of 3 members missing (slots 0, 1), {a} and {b} left the machine",
        )
    ]
    assert [each["state"] for each in report["arrays"][0]["members"]] == ["in_sync"] * 3
    assert refusal(guest, "fail", "five", b) == (
        f"too few members of five are there: {a} and {b} left the machine;"
        " reconnect what left, stop the array, and assemble it again"
    )
    assert "[3/3] [UUU]" in guest.run("cat /proc/mdstat").stdout


@pytest.mark.later
@pytest.mark.parametrize("level", [0, "linear"])
def test_an_array_without_redundancy_has_failed(
    guest: Guest, disks: tuple[str, ...], level: int | str
) -> None:
    md = make_array(guest, "scratch", level, disks[:2]).kernel
    await_idle(guest, md)
    pull(guest, disks[1])
    report = status(guest, 2)
    assert report["arrays"][0]["array_state"] == "clean"
    assert [(each["code"], each["sentence"]) for each in report["findings"]] == [
        ("failed", f"scratch has failed: {disks[1]} left the machine")
    ]


@pytest.mark.later
def test_a_journal_is_taken_out_and_another_one_added(guest: Guest, disks: tuple[str, ...]) -> None:
    journal = disks[3]
    extra = ("--assume-clean", "--write-journal", f"/dev/{journal}")
    md = make_array(guest, "j", 5, disks[:3], extra=extra).kernel
    await_idle(guest, md)
    pull(guest, journal)
    (finding,) = status(guest, 1)["findings"]
    assert (finding["code"], finding["remedy"]) == (
        "journal-missing",
        (
            f"raidtui plan fail j {journal} and plan remove take it out; then mdadm --readonly /dev/{md},"
            f" then mdadm /dev/{md} --add-journal DEVICE"
        ),
    )
    do(guest, "fail", "j", journal)
    do(guest, "remove", "j", journal)
    new = make_ram_disks(guest, 1)[0]
    added = guest.run(f"mdadm --readonly /dev/{md} && mdadm /dev/{md} --add-journal /dev/{new}")
    assert added.status == 0, added.output
    assert [each["code"] for each in status(guest, 0)["findings"] if each["severity"] != "info"] == []


@pytest.mark.later
def test_an_array_that_is_stopped_comes_back_without_the_disk(guest: Guest, disks: tuple[str, ...]) -> None:
    """Its superblocks say that the disk is there: without --run, mdadm would not start it."""
    one, other = disks[:2]
    md = make_array(guest, "data", 1, (one, other), extra=("--assume-clean",)).kernel
    await_idle(guest, md)
    pull(guest, other)
    assert refusal(guest, "rename", "data", "--to=new") == (
        f"{other} left the machine, and md has not noticed yet; mark it as failed first"
    )
    (back,) = plan(guest, "stop", "data")["undo"]
    do(guest, "stop", "data")
    again = guest.run(shlex.join(back["argv"]))
    assert again.status == 0, again.output
    assert "[2/1]" in guest.run("cat /proc/mdstat").stdout
