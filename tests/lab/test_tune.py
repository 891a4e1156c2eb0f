"""Knobs of real disks and arrays: set, refused by the kernel, kept by a real udevd, undone by another run."""

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from raidtui.plans.tune.keep_files import tmpfiles_text
from tests.lab.guests.arrays import make_array
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.qemu.guest import QemuGuest

RULES = "/etc/udev/rules.d/60-raidtui-io.rules"
SYSCTL = "/etc/sysctl.d/90-raidtui.conf"
_LOAD = (
    "modprobe scsi_debug num_tgts=1 add_host={0} per_host_store=1 dev_size_mb=16 ndelay=0 && udevadm settle"
    " && ls /sys/block | grep ^sd"
)
_CLEAN = f"""
mount -o remount,rw /sys
mdadm --stop --scan
rm -rf {RULES} {SYSCTL} /etc/modprobe.d/lab.conf /run/raidtui /tmp/root
udevadm control --reload; udevadm settle
! lsmod | grep -q ^scsi_debug || modprobe -r scsi_debug
"""
# Subcommands one after the other in one process: a start takes seconds here. Each reads the host afresh.
_SUBCOMMANDS = """
import contextlib, io, json, shlex
from raidtui.app.cli import run

printed = []
for words in {subcommands!r}:
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = run(["tune", *shlex.split(words)])
    printed.append((status, said.buffer.getvalue().decode()))
print(json.dumps(printed))
"""

_CAPTURE = """
import contextlib, io, json, pathlib
from raidtui.app.cli import run

def said(*words):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)) as out:
        run(list(words))
    return json.loads(out.buffer.getvalue())

file = "/run/lab-capture.tar.gz"
pathlib.Path(file).unlink(missing_ok=True)
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    run(["capture", file])
print(json.dumps([said("tune", "show", "--json"), said("--root", file, "tune", "show", "--json")]))
pathlib.Path(file).unlink()
"""

Scsi = Callable[[int], AbstractContextManager[tuple[str, ...]]]


@contextmanager
def scsi_disks(guest: Guest, count: int) -> Any:
    """SCSI disks with queues, schedulers and serial numbers: sda, sdb, ..."""
    try:
        made = guest.run(_LOAD.format(count) if count else "true")
        assert made.status == 0, made.output
        yield tuple(made.stdout.split())
    finally:
        done = guest.run(_CLEAN)
        assert done.status == 0, done.output


@pytest.fixture
def scsi(guest: Guest) -> Scsi:
    """Makes disks in the guest, for as long as they are needed."""
    return lambda count: scsi_disks(guest, count)


def read(guest: Guest, *paths: str) -> list[str]:
    """Files below /sys/block; of those with choices the chosen one."""
    lines = guest.run("cat " + " ".join(f"/sys/block/{path}" for path in paths)).stdout.splitlines()
    return [line.partition("[")[2].partition("]")[0] if "[" in line else line for line in lines]


def serial_of(guest: Guest, disk: str) -> str:
    """The serial number in udev's record of a disk; "" where udev has none."""
    return guest.run(f"sed -n s/^E:ID_SERIAL=//p /run/udev/data/b$(cat /sys/block/{disk}/dev)").stdout.strip()


def tune(guest: Guest, *subcommands: str) -> list[tuple[int, str]]:
    """Exit status and words of each ``raidtui tune ...``."""
    done = guest.run(_SUBCOMMANDS.format(subcommands=subcommands), interpreter="python", timeout=120)
    assert done.status == 0, done.output
    return [(status, said) for status, said in json.loads(done.stdout)]


def arrows(said: str) -> list[str]:
    """What became of values."""
    return [line for line in said.split("\n") if "→" in line]


def knob(said: str, subject: str, name: str) -> dict[str, Any]:
    """A knob, as ``tune show --json`` reports it."""
    subjects = json.loads(said)["subjects"]
    value: dict[str, Any] = next(each for each in subjects if each["name"] == subject)["knobs"][name]
    return value


def appear_again(guest: Guest, *disks: str) -> None:
    """Take disks away, and let the kernel find them again.

    udev ignores about one of two hundred reloads, and then looks at its rules up to 3 s later (see
    raidtui/features/rescue/trial/trial_rules.py): of a rule that was written just now, it hears twice.
    """
    assert guest.run("udevadm control --reload").status == 0
    for disk in disks:
        done = guest.run(
            f"host=$(readlink -f /sys/block/{disk} | sed 's#.*/\\(host[0-9]*\\)/.*#\\1#')"
            f" && echo 1 >/sys/block/{disk}/device/delete && udevadm settle && [ ! -e /sys/block/{disk} ]"
            " && echo '- - -' >/sys/class/scsi_host/$host/scan && udevadm settle"
        )
        assert done.status == 0, done.output
        # udevd writes its record of a disk when it has carried out the rules.
        here = f"udevadm settle && [ -e /run/udev/data/b$(cat /sys/block/{disk}/dev) ]"
        wait_until(lambda here=here: guest.run(here).status == 0, what=f"{disk} again")  # type: ignore[misc]


@pytest.mark.later
def test_set_and_undone_by_another_run(guest: Guest, scsi: Scsi) -> None:
    with scsi(1) as (disk,):
        scheduler, depth, requests = (
            f"{disk}/queue/scheduler", f"{disk}/device/queue_depth", f"{disk}/queue/nr_requests"
        )  # fmt: skip
        assert read(guest, scheduler, depth, requests) == ["mq-deadline", "192", "256"]
        reported = tune(guest, *(f"set {disk} scheduler={name}" for name in ("kyber", "bfq", "none")))
        assert [arrows(said) for _, said in reported] == [
            [f"scheduler of {disk}: mq-deadline → kyber"],
            [f"scheduler of {disk}: kyber → bfq"],
            [f"scheduler of {disk}: bfq → none"],
        ]
        assert read(guest, scheduler, requests) == ["none", "192"]
        changed, shown = tune(
            guest, f"set {disk} queue_depth=8 scheduler=mq-deadline nr_requests=64", f"show {disk} --json"
        )
        assert changed[1] == (
            f"scheduler of {disk}: none → mq-deadline\n"
            f"queue_depth of {disk}: 192 → 8\n"
            f"nr_requests of {disk}: 192 → 64\n"
        )
        assert read(guest, scheduler, depth, requests) == ["mq-deadline", "8", "64"]
        found = knob(shown[1], disk, "queue_depth")
        # What it is after a reboot is not known: nothing on the host sets it, and who set 192 is not known.
        assert (found["value"], found["set_by"]["by"], found["at_boot"]) == ("8", "now", None)
        assert (found["low"], found["high"], found["survives"]) == (1, 192, None)
        last = raidtui(guest, "tune", "undo")
        assert last.stdout == (
            f"scheduler of {disk}: mq-deadline → none\n"
            f"queue_depth of {disk}: 8 → 192\n"
            f"nr_requests of {disk}: 64 → 192\n"
        ), last.output
        assert read(guest, scheduler, depth, requests) == ["none", "192", "192"]
        reported = tune(guest, "undo", "undo", "undo", "undo")
        assert [arrows(said)[0] for _, said in reported[:3]] == [
            f"scheduler of {disk}: none → bfq",
            f"scheduler of {disk}: bfq → kyber",
            f"scheduler of {disk}: kyber → mq-deadline",
        ]
        assert reported[3] == (
            2, "raidtui: not possible: nothing was changed since the boot that could be undone\n"
        )  # fmt: skip
        assert read(guest, scheduler, depth, requests) == ["mq-deadline", "192", "256"]


def test_what_the_kernel_refuses(guest: Guest, scsi: Scsi) -> None:
    """A module that cannot be loaded; a /sys that is read-only. What was done until then can be undone."""
    with scsi(2) as (first, second):
        blocked = guest.run("modprobe -r bfq; echo 'install bfq /bin/false' >/etc/modprobe.d/lab.conf")
        assert blocked.status == 0, blocked.output
        refused, undone, beyond, none = tune(
            guest,
            f"set {first} scheduler=none {second} scheduler=bfq",
            "undo",
            f"set {first} queue_depth=193",
            "set governor=performance",
        )
        assert refused[0] == 1
        assert refused[1].startswith(
            f"scheduler of {first}: mq-deadline → none\nscheduler of {second} is not set to bfq:"
            " the kernel refuses this value; it is mq-deadline\n"
        )
        assert undone == (0, f"scheduler of {first}: none → mq-deadline\nnr_requests of {first}: 192 → 256\n")
        why = f"queue_depth of {first} must be from 1 to 192, not 193"
        assert beyond == (2, f"raidtui: not possible: {why}\n")
        why = "this host has no cpufreq: the hypervisor or the firmware decides how fast the processors run"
        assert none == (2, f"raidtui: not possible: {why}\n")
        assert guest.run("mount -o remount,ro /sys").status == 0
        (refused,) = tune(guest, f"set {first} queue_depth=4")
        assert refused[0] == 1
        assert refused[1] == (
            f"queue_depth of {first} is not set to 4: /sys is mounted read-only here, as in a container;"
            " it is 192\n"
        )


def test_kept_by_udev(guest: Guest, scsi: Scsi) -> None:
    """The disk goes and comes back: udevd writes what is kept, by serial number, to no other disk."""
    with scsi(2) as (first, second):
        paths = [f"{first}/queue/scheduler", f"{first}/device/queue_depth", f"{first}/queue/nr_requests"]
        ((status, said),) = tune(guest, f"keep {first} scheduler=bfq queue_depth=8 nr_requests=100")
        assert (status, f"\nwrite {RULES}\n" in said) == (0, True), said
        serial = serial_of(guest, first)
        assert guest.run(f"cat {RULES}").stdout.endswith(
            'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk",'
            f' ENV{{ID_SERIAL}}=="{serial}", ATTR{{queue/scheduler}}="bfq",'
            ' ATTR{device/queue_depth}="8", ATTR{queue/nr_requests}="100"\n'
        )
        appear_again(guest, first, second)
        assert serial_of(guest, first) == serial, "udev has not identified the disk"
        wanted = ["bfq", "8", "100", "mq-deadline"]
        values = [*paths, f"{second}/queue/scheduler"]
        try:
            wait_until(lambda: read(guest, *values) == wanted, what="udev's writes")
        except TimeoutError as error:
            now = read(guest, *values)
            record = guest.run(
                f"udevadm info /sys/block/{first}; ls -la --full-time /etc/udev/rules.d /run/udev/data;"
                f" date; udevadm test --action=add /sys/block/{first} 2>&1 | grep -i -e raidtui -e serial"
            )
            raise AssertionError(f"{error}: {now}\n{said}\n{record.output}") from error
        # Another's hand is a finding. A "change" of the disk does not put back what is set for now.
        by_hand = guest.run(
            f"echo none >/sys/block/{first}/queue/scheduler"
            f" && udevadm trigger --settle --action=change /sys/block/{first}"
        )
        assert by_hand.status == 0, by_hand.output
        shown, part, rest = tune(guest, "show --json", f"forget {first} scheduler", "show --json")
        found = knob(shown[1], first, "queue_depth")
        assert (found["kept"], found["at_boot"], found["survives"]) == ("8", "8", True)
        assert found["set_by"] == {
            "by": "udev", "where": f"{RULES}:4", "value": "8", "raidtui": True, "sure": True, "running": None,
        }  # fmt: skip
        findings = json.loads(shown[1])["findings"]
        assert [each["sentence"] for each in findings if each["code"] == "tune-drift"] == [
            f"scheduler of {first} is none; raidtui keeps it at bfq.",
            f"nr_requests of {first} is 192; raidtui keeps it at 100.",
        ]
        assert part == (
            0,
            f"write {RULES}\nudevadm control --reload\nThe present values stay until a reboot.\n",
        )
        assert knob(rest[1], first, "scheduler")["kept"] is None
        assert knob(rest[1], first, "queue_depth")["kept"] == "8"
        gone, again = tune(guest, "forget", "forget")
        assert gone[1].startswith(f"rm --force -- {RULES}\n")
        assert again == (2, "raidtui: not possible: raidtui keeps nothing here\n")
        appear_again(guest, first)
        assert read(guest, *paths) == ["mq-deadline", "192", "256"]


@pytest.mark.later
def test_what_a_job_keeps_is_undone_by_tune_undo(guest: Guest, scsi: Scsi) -> None:
    """Pane 4's k begins a job; the rule goes, and so does the value that was set with it."""
    with scsi(1) as (first,):
        made = raidtui(guest, "tune", "keep", first, "scheduler=none", "--dry-run", "--json")
        assert made.status == 0, made.output
        job = raidtui(guest, "apply", guest.put("kept.json", made.stdout.encode()))
        assert job.status == 0, job.output
        assert read(guest, f"{first}/queue/scheduler") == ["none"]
        assert guest.run(f"grep -c none {RULES}").stdout == "1\n"
        undone, again = tune(guest, "undo", "undo")
        assert undone[0] == 0, undone
        assert f"scheduler of {first}: none → mq-deadline" in undone[1]
        assert guest.run(f"[ ! -e {RULES} ]").status == 0
        assert read(guest, f"{first}/queue/scheduler") == ["mq-deadline"]
        assert again == (
            2, "raidtui: not possible: nothing was changed since the boot that could be undone\n"
        )  # fmt: skip


@pytest.mark.later
def test_so_already_is_done(guest: Guest, scsi: Scsi) -> None:
    with scsi(1) as (first,):
        done, again, kept = tune(
            guest,
            f"set {first} scheduler=none",
            f"set {first} scheduler=none",
            f"keep {first} scheduler=none",
        )
        assert (done[0], kept[0]) == (0, 0)
        assert again == (0, f"nothing to change: scheduler of {first} is already none\n")
        made = raidtui(guest, "tune", "set", first, "scheduler=none", "--dry-run", "--json")
        job = raidtui(guest, "apply", guest.put("nothing.json", made.stdout.encode()))
        assert (made.status, job.status) == (0, 0), job.output
        (once_more,) = tune(guest, f"keep {first} scheduler=none")
        assert once_more == (0, "nothing to change: everything is already kept\n")


@pytest.mark.later
def test_a_raid5(guest: Guest, scsi: Scsi) -> None:
    """Its stripe cache, and its members all at once; kept, it is written when the array starts, and once."""
    with scsi(4) as disks:
        made = make_array(guest, "125", 5, disks[:3], extra=["--assume-clean"])
        cache = f"{made.kernel}/md/stripe_cache_size"
        changed, kept = tune(
            guest,
            "set @125 stripe_cache_size=1024 queue_depth=16",
            "keep 125 stripe_cache_size sync_speed_max=12345",
        )
        assert arrows(changed[1]) == [
            *(f"queue_depth of {name}: 192 → 16" for name in disks[:3]),
            "stripe_cache_size of 125: 256 → 1024",
        ]
        assert read(guest, cache, *(f"{name}/device/queue_depth" for name in disks)) == [
            "1024", "16", "16", "16", "192",
        ]  # fmt: skip
        assert (kept[0], f"\nwrite {RULES}\n" in kept[1]) == (0, True), kept
        # For now means for now: whoever closes the array makes udev look at it again, which changes nothing.
        look = (
            f"dd if=/dev/zero of={made.path} bs=4k count=1 conv=fsync && udevadm settle"
            f" && udevadm trigger --settle --action=change /sys/block/{made.kernel}"
        )
        changed, shown = tune(guest, "set 125 stripe_cache_size=512", f"show {made.kernel} --json")
        assert arrows(changed[1]) == ["stripe_cache_size of 125: 1024 → 512"]
        looked = guest.run(look)
        assert looked.status == 0, looked.output
        assert read(guest, cache) == ["512"]
        found = knob(shown[1], made.kernel, "stripe_cache_size")
        assert (found["kept"], found["at_boot"], found["set_by"]["by"]) == ("1024", "1024", "now")
        members = " ".join(f"/dev/{name}" for name in disks[:3])
        again = guest.run(
            f"mdadm --stop {made.path} && udevadm settle"
            f" && mdadm --assemble {made.path} --homehost=lab {members} && udevadm settle"
        )
        assert again.status == 0, again.output
        wait_until(lambda: read(guest, cache) == ["1024"], what="udev has written what is kept")
        assert read(guest, f"{made.kernel}/md/sync_speed_max") == ["12345 (local)"]
        looked = guest.run(f"echo 512 >/sys/block/{cache} && {look}")
        assert looked.status == 0, looked.output
        assert read(guest, cache) == ["512"]


@pytest.mark.later
def test_files_that_others_read(guest: Guest, scsi: Scsi) -> None:
    """What sysctl and systemd-tmpfiles read is as they want it."""
    with scsi(0):
        limit = "/proc/sys/dev/raid/speed_limit_max"
        (kept,) = tune(guest, "keep speed_limit_max=12345")
        assert kept == (0, f"speed_limit_max of system: 200000 → 12345\nwrite {SYSCTL}\n")
        done = guest.run(f"echo 200000 >{limit}; sysctl -q -p {SYSCTL}; cat {limit}")
        assert done.stdout == "12345\n", done.output
        (undone,) = tune(guest, "undo")
        assert undone[1].split("\n")[0] == "speed_limit_max of system: 12345 → 200000"
        assert guest.run(f"[ ! -e {SYSCTL} ]").status == 0
        base = "/sys/devices/system/cpu/cpufreq"
        paths = [f"{base}/policy{number}/scaling_governor" for number in (0, 1)]
        text = tmpfiles_text(dict.fromkeys(paths, "performance"), (), paths)
        assert text.endswith(f"\nw {base}/policy*/scaling_governor - - - - performance\n")
        place = guest.put("raidtui.conf", text.encode())
        first, second = (f"/tmp/root{path}" for path in paths)
        done = guest.run(
            f"mkdir -p /tmp/root/etc/tmpfiles.d $(dirname {first}) $(dirname {second})"
            f" && cp {place} /tmp/root/etc/tmpfiles.d/ && touch {first} {second}"
            f" && systemd-tmpfiles --create --root=/tmp/root; head -v {first} {second}"
        )
        assert done.stdout == f"==> {first} <==\nperformance\n==> {second} <==\nperformance", done.output


@pytest.mark.later
def test_a_capture_says_the_same(qemu: QemuGuest) -> None:
    """Of real SATA and NVMe disks, governors, and a rule that matches a disk by its serial number."""
    first, second = qemu.sata[0], qemu.nvme[0]
    make_array(qemu, "data", 1, [first.path, second.path], extra=["--assume-clean"])
    disk = qemu.kernel_name(first)
    rule = f'ENV{{ID_SERIAL_SHORT}}=="{first.serial}", ATTR{{queue/scheduler}}="none"'
    made = qemu.run(f"mkdir -p /etc/udev/rules.d && echo '{rule}' >/etc/udev/rules.d/60-lab.rules")
    assert made.status == 0, made.output
    try:
        done = qemu.run(_CAPTURE, interpreter="python", timeout=120)
    finally:
        assert qemu.run("rm /etc/udev/rules.d/60-lab.rules").status == 0
    assert done.status == 0, done.output
    live, opened = json.loads(done.stdout)
    for each in (*live["subjects"], *opened["subjects"]):
        each["now_khz"] = None
    serials = {each["name"]: each.pop("serial") for each in live["subjects"]}
    hashed = {each["name"]: each.pop("serial") for each in opened["subjects"]}
    assert opened == live
    assert serials[disk] == first.serial
    assert re.fullmatch("h[0-9a-f]{12}", hashed[disk])
    found = next(each for each in opened["subjects"] if each["name"] == disk)
    assert (found["kind"], found["knobs"]["queue_depth"]["default"]) == ("sata", "32")
    assert found["knobs"]["scheduler"]["setters"][0]["where"] == "/etc/udev/rules.d/60-lab.rules:1"
    assert any(each["scope"] == "policy" and each["kind"] == "acpi-cpufreq" for each in opened["subjects"])
