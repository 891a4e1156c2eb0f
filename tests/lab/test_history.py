"""What happened, as a real kernel, a real journald and real tools write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.arrays import make_array, make_ram_disks
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.qemu.guest import QemuGuest

JOURNALD = "/usr/lib/systemd/systemd-journald"
SETTLE_S = 30.0


def history(guest: Guest, *words: str) -> dict[str, Any]:
    """What raidtui says of what happened."""
    result = raidtui(guest, "history", "--json", *words)
    assert result.stderr == "", result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def about(found: dict[str, Any], array: str) -> list[dict[str, Any]]:
    """The incidents about an array."""
    return [each for each in found["incidents"] if array in each["then"]["arrays"]]


def idle(guest: Guest, kernel: str) -> None:
    """Wait until an array syncs no more."""
    file = f"/sys/block/{kernel}/md/sync_action"
    wait_until(lambda: guest.run(f"cat {file}").stdout.strip() == "idle", SETTLE_S, f"{kernel} is idle")


def live_through(guest: Guest) -> str:
    """Fail a member of a mirror, let another one recover, check; return the kernel's name of the array."""
    disks = make_ram_disks(guest, 4)
    one = make_array(guest, "one", 1, disks[:2], extra=("--assume-clean",)).kernel
    for words in (
        f"/dev/{one} --fail /dev/ram1",
        f"/dev/{one} --remove /dev/ram1",
        f"/dev/{one} --add /dev/ram2",
    ):
        wait_until(lambda words=words: guest.run(f"mdadm {words}").status == 0, SETTLE_S, words)  # type: ignore[misc]
    idle(guest, one)
    assert guest.run(f"echo check >/sys/block/{one}/md/sync_action").status == 0
    idle(guest, one)
    return one


@pytest.mark.later
def test_the_ring_buffer(guest: Guest) -> None:
    """Without a journal and log files there is this boot alone, which is said; and what md did."""
    one = live_through(guest)
    found = history(guest)
    assert [each["code"] for each in found["unknown"]][-1] == "ring-only"
    incident = about(found, one)[-1]
    codes = [entry["code"] for entry in incident["entries"]]
    for code in ("member-failed", "works-on", "sync-started", "sync-done"):
        assert code in codes
    words = [entry["words"] for entry in incident["entries"] if entry["code"] == "sync-done"]
    assert words[-2:] == ["recover done", "check done"]
    assert incident["hint"]["cause"] == "no-disk-error"
    assert [array["title"] for array in incident["now"]["arrays"]] == ["one"]
    narrowed = history(guest, "--array", "one", "--troubles")
    assert [each["code"] for each in narrowed["incidents"]][-1] == "member-failed"


@pytest.fixture
def journal(guest: Guest) -> Iterator[Guest]:
    """The guest with a journald that keeps its journal; afterwards, both are gone."""
    started = guest.run(
        "mkdir -p /sys/fs/cgroup /run/systemd/journal /var/log/journal && touch /run/systemd/journal/flushed"
        " && mount -t cgroup2 none /sys/fs/cgroup"
        f" && ({JOURNALD} >/dev/null 2>&1 & echo $! >/run/lab-journald)"
    )
    assert started.status == 0, started.output
    try:
        wait_until(
            lambda: guest.run("test -S /run/systemd/journal/socket").status == 0, SETTLE_S, "journald runs"
        )
        wait_until(
            lambda: guest.run("journalctl --quiet -n 1 _TRANSPORT=kernel").stdout, SETTLE_S, "its journal"
        )
        yield guest
    finally:
        ended = guest.run(
            "pid=$(cat /run/lab-journald); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.05; done;"
            " umount /sys/fs/cgroup; rm -rf /var/log/journal /run/log/journal /run/systemd/journal;"
            " rm -f /run/lab-journald; test ! -L /dev/log || rm /dev/log"
        )
        assert ended.status == 0, ended.output


def test_a_real_journal(journal: Guest) -> None:
    """Lines of the kernel and of daemons that root wrote; others may use their names, and do not count."""
    one = live_through(journal)
    say = "import syslog, sys; syslog.openlog('mdadm'); syslog.syslog(sys.argv[1])"
    real = f"Fail event detected on md device /dev/{one}, component device /dev/ram1"
    forged = f"Fail event detected on md device /dev/{one}, component device /dev/forged"
    journal.run("test -S /dev/log || ln -s /run/systemd/journal/dev-log /dev/log")
    assert journal.run(f'python3 -c "{say}" "{real}"').status == 0
    assert journal.run(f'setpriv --reuid=65534 --clear-groups python3 -c "{say}" "{forged}"').status == 0
    both = "journalctl --quiet --output=cat SYSLOG_IDENTIFIER=mdadm"
    wait_until(
        lambda: len(journal.run(both).stdout.splitlines()) == 2, SETTLE_S, "both lines are in the journal"
    )

    found = history(journal)
    assert found["unknown"] == []
    incident = about(found, one)[-1]
    codes = {entry["code"] for entry in incident["entries"]}
    assert {"member-failed", "works-on", "sync-started", "sync-done", "mdadm-failed"} <= codes
    texts = [entry["text"] for entry in incident["entries"]]
    assert real in texts
    assert forged not in texts
    assert incident["boot"] == found["boot"]

    nobody = journal.run(
        "setpriv --reuid=65534 --regid=65534 --clear-groups test -r /var/log/journal/*/system.journal"
    )
    assert nobody.status == 1


@pytest.mark.later
def test_a_journal_that_was_stopped(journal: Guest) -> None:
    """Its last line is the shutdown."""
    live_through(journal)
    assert journal.run("kill $(cat /run/lab-journald)").status == 0
    stopped = "journalctl --quiet --output=cat MESSAGE_ID=d93fb3c9c24d451a97cea615ce59c00b"
    wait_until(lambda: "Journal stopped" in journal.run(stopped).stdout, SETTLE_S, "it is stopped")
    assert "shutdown" in [each["code"] for each in history(journal)["incidents"]]


OTHER = "/tmp/other"


@pytest.mark.later
def test_the_journal_of_another_host_in_a_folder_and_in_a_capture(journal: Guest) -> None:
    """As from a rescue system: a root file system that is mounted; and a capture, opened elsewhere.

    What this host does afterwards is in neither.
    """
    one = live_through(journal)
    wait_until(
        lambda: "check done" in [entry["words"] for entry in about(history(journal), one)[-1]["entries"]],
        SETTLE_S,
        "the check is in the journal",
    )
    made = journal.run(
        f"journalctl --sync; mkdir -p {OTHER}/proc {OTHER}/var/log && cp -a /var/log/journal {OTHER}/var/log/"
        f" && cp /proc/mdstat {OTHER}/proc/"
    )
    assert made.status == 0, made.output
    captured = raidtui(journal, "capture", "/tmp/host.tar.gz")
    assert "lines of its logs, those that raidtui history uses, since 20" in captured.stdout
    assert "not in it" not in captured.stdout
    before = about(history(journal), one)
    failures = json.dumps(before).count("Disk failure on ram0")
    failing = f"mdadm /dev/{one} --fail /dev/ram0"
    wait_until(lambda: journal.run(failing).status == 0, SETTLE_S, failing)
    wait_until(
        lambda: json.dumps(about(history(journal), one)).count("Disk failure on ram0") > failures,
        SETTLE_S,
        "it is in the journal",
    )
    try:
        for root in (OTHER, "/tmp/host.tar.gz"):
            found = history(journal, "--root", root)
            assert found["unknown"] == [], root
            there = about(found, one)
            assert [each["title"] for each in there] == [each["title"] for each in before], root
            assert [each["hint"] for each in there] == [each["hint"] for each in before], root
            assert json.dumps(there).count("Disk failure on ram0") == failures, root
        for stray in (f"ln -s /var/log/journal {OTHER}/var/log/journal", f"ln -s /var/log {OTHER}/var/log"):
            journal.run(f"rm -rf {OTHER}/var/log/journal; {stray.replace('ln', 'ln -T')}")
            assert history(journal, "--root", OTHER)["incidents"] == []
            journal.run(f"rm -rf {OTHER}/var/log")
    finally:
        journal.run(f"rm -rf {OTHER} /tmp/host.tar.gz")


@pytest.mark.later
def test_a_sata_disk_that_cannot_write(qemu: QemuGuest) -> None:
    """Its link is well: the disk is named, and no cable, whether libata resets it or not."""
    disk = qemu.sata[1]
    kernel = make_array(qemu, "data", 1, [qemu.sata[0].path, disk.path], extra=["--assume-clean"]).kernel
    name = qemu.kernel_name(disk)
    qemu.break_io(disk, "write")
    write = f"dd if=/dev/urandom of=/dev/{kernel} bs=64k count=1 oflag=direct status=none"
    assert qemu.run(write).status == 0
    wait_until(
        lambda: qemu.run(f"cat /sys/block/{kernel}/md/dev-{name}/state").stdout.strip() == "faulty",
        SETTLE_S,
        "the member has failed",
    )
    qemu.heal(disk)
    found = history(qemu, "--array", "data", "--troubles")
    incident = found["incidents"][-1]
    assert incident["code"] == "member-failed"
    assert incident["hint"]["cause"] == "disk"
    assert incident["hint"]["text"].startswith(f"{name} itself reported the errors")
    codes = {entry["code"] for entry in incident["entries"]}
    assert {"ata-exception", "ata-result", "ata-error", "io-error", "member-failed"} <= codes
    assert incident["then"]["ports"] == []
    assert incident["now"]["disks"] == [name]
    by_serial = history(qemu, "--disk", disk.serial)
    assert by_serial["incidents"][-1]["code"] == "member-failed"
