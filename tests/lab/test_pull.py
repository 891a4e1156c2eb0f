"""A disk is exchanged: real disks leave and come, the wrong one among them, and all is killed on the way.

In User Mode Linux, disks of scsi_debug have serial numbers, and are unplugged and plugged in as SCSI does it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.extent import later
from tests.lab.guests.arrays import make_array
from tests.lab.guests.console import kernel_text, open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.inside import pull_step
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.qemu.guest import QemuGuest

SCSI = "/sys/bus/pseudo/drivers/scsi_debug"
RECORD = "/var/lib/raidtui/pull.json"
SETTLE_S = 30.0
FURTHER_OUT, FURTHER_IN = (2, 3, 4, 6, 7, 9), (0, 2, 3, 5, 6, 7, 8)
"""The other entries of the jobs' journals: docs/pull.md has the table of all points."""
TABLE = (
    r"label: gpt\nsize=2M, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, name=EFI\n"
    r"type=A19D880F-05FC-4D3B-A006-743F0F84911E\n"
)


class Bays:
    """Disks of scsi_debug. A disk is named by the serial number on its label."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        options = "per_host_store=1 add_host=3 num_tgts=1 dev_size_mb=48 ndelay=0 lbpu=1"
        self.run(f"modprobe scsi_debug {options} && udevadm settle")
        self.serials = tuple(sorted(self.names()))
        self._scans: dict[str, str] = {}

    def run(self, script: str) -> str:
        done = self.guest.run(script)
        assert done.status == 0, done.output
        return done.stdout

    def names(self) -> dict[str, str]:
        """The kernel's names, by serial number."""
        rows = json.loads(self.run("lsblk --json --nodeps -o NAME,SERIAL"))["blockdevices"]
        return {row["serial"]: row["name"] for row in rows if row["name"].startswith("sd")}

    def name(self, serial: str) -> str:
        return self.names()[serial]

    def part(self, serial: str) -> str:
        """Its second partition, which is the member."""
        return f"{self.name(serial)}2"

    def partition(self) -> None:
        for name in self.names().values():
            self.run(f"printf '{TABLE}' | sfdisk --quiet /dev/{name} && udevadm settle")

    def pull(self, serial: str) -> None:
        """A disk leaves, and udev has heard of it."""
        name = self.name(serial)
        self._scans[serial] = self.run(
            f"host=$(readlink -f /sys/block/{name}/device); host=${{host#*/host}}; echo ${{host%%/*}};"
            f" echo 1 >/sys/block/{name}/device/delete; udevadm settle"
        ).strip()

    def push(self, serial: str) -> None:
        """It comes back, with its data."""
        self.run(f"echo - - - >/sys/class/scsi_host/host{self._scans.pop(serial)}/scan; udevadm settle")
        wait_until(lambda: serial in self.names(), SETTLE_S, f"{serial} is there")
        self.run("udevadm settle")  # the kernel scans in the background: udev may have heard of it only now

    def push_new(self) -> str:
        """An empty disk that was never there comes; its serial number."""
        before = set(self.names()) | set(self._scans)
        self.run(f"echo 1 >{SCSI}/add_host; udevadm settle")
        wait_until(lambda: set(self.names()) - before, SETTLE_S, "a new disk is there")
        self.run("udevadm settle")
        (new,) = set(self.names()) - before
        return new

    def end(self) -> None:
        self.run(f"rm -f {RECORD}; mdadm --stop --scan; udevadm settle; modprobe -r scsi_debug")


@pytest.fixture
def bays(guest: Guest) -> Iterator[Bays]:
    """Three disks with a partition for the firmware and one for the array "data", a mirror with a bitmap."""
    made = Bays(guest)
    try:
        made.partition()
        members = [made.part(serial) for serial in made.serials]
        make_array(guest, "data", 1, members, bitmap="internal", extra=["--assume-clean"])
        yield made
    finally:
        made.end()


def pull(guest: Guest, *words: str, status: int = 0) -> str:
    done = raidtui(guest, "pull", *words)
    assert done.status == status, done.output
    return done.output


def now(guest: Guest) -> Any:
    """Where the exchange stands."""
    return json.loads(raidtui(guest, "pull", "--json").stdout)["pull"]


def data(guest: Guest) -> str:
    """The kernel's name of the array."""
    return guest.run("readlink -f /dev/md/data").stdout.strip().removeprefix("/dev/")


def degraded(guest: Guest) -> str:
    return kernel_text(guest, f"/sys/block/{data(guest)}/md/degraded")


def test_from_the_first_key_to_the_new_disk(guest: Guest, bays: Bays) -> None:
    """The new disk gets the kernel's name of the one that was pulled; in between md copies by the bitmap."""
    right, wrong, third = bays.serials
    begun = pull(guest, "data", bays.part(right), "--start")
    assert f"Pull this disk: {bays.name(right)} · serial {right}" in begun
    assert f"Not this one:   {bays.name(wrong)} · serial {wrong}" in begun
    assert (now(guest)["stage"], degraded(guest)) == ("pull it", "1")

    bays.pull(wrong)
    said = pull(guest, status=1)
    assert "WRONG DISK: push it back." in said
    assert f"serial {wrong}, left: push it back into its bay now" in said
    assert f"The disk to pull is serial {right}." in said
    assert "by the bitmap, only what was written meanwhile is copied" in said
    bays.push(wrong)
    assert "out of its array" in pull(guest, status=1)
    again = pull(guest, "--next", "--start")
    assert f"--re-add /dev/{bays.part(wrong)}" in again
    assert (now(guest)["stage"], degraded(guest)) == ("pull it", "1")

    former = bays.name(right)
    bays.pull(right)
    assert "The right disk left." in pull(guest, status=1)
    new = bays.push_new()
    assert bays.name(new) == former
    said = pull(guest, "--next", "--start")
    assert f"sfdisk --quiet --wipe always --wipe-partitions always /dev/{former}" in said
    assert f"/dev/{former}1 is an EFI system partition, and empty" in said
    assert "At the end a boot check says whether the machine boots without any one of its disks." in said
    assert "It is not known whether the machine boots without any one disk" in said
    found = now(guest)
    assert (found["stage"], found["complete"], degraded(guest)) == ("done", True, "0")
    assert found["boot"]["disks"] == []
    dumps = [bays.run(f"sfdisk --dump /dev/{bays.name(serial)}") for serial in (new, third)]
    assert _shape(dumps[0]) == _shape(dumps[1])
    assert not _guids(dumps[0]) & _guids(dumps[1])
    pull(guest, "--cancel")
    assert now(guest) is None


def _shape(dump: str) -> list[tuple[str, ...]]:
    """Start, size, type and name of each partition."""
    lines = [line.partition(" : ")[2].split(", ") for line in dump.split("\n") if " : " in line]
    return [tuple(word for word in words if not word.startswith("uuid")) for words in lines]


def _guids(dump: str) -> set[str]:
    return set(re.findall(r"(?:uuid=|label-id: )(\S+?)(?:,|\s|$)", dump))


@pytest.fixture
def uefi(guest: Guest) -> Iterator[None]:
    """UEFI, whose variables cannot be read: this guest has no firmware."""
    done = guest.run("mount -t tmpfs none /sys/firmware && mkdir -p /sys/firmware/efi/efivars")
    assert done.status == 0, done.output
    yield
    guest.run("umount -q /tmp/esp /run/raidtui/esp /run/raidtui/esp-from; umount /sys/firmware")


@pytest.mark.later
@pytest.mark.usefixtures("uefi")
def test_the_new_disk_gets_the_boot_loaders_of_its_neighbour(guest: Guest, bays: Bays) -> None:
    """And what else is in that EFI system partition; then a boot check closes the exchange."""
    right = bays.serials[0]
    for serial in bays.serials:
        esp = f"/dev/{bays.name(serial)}1"
        bays.run(
            f"mkfs.vfat {esp} && mkdir -p /tmp/esp && mount {esp} /tmp/esp && mkdir -p /tmp/esp/EFI/BOOT"
            " && printf 'MZ a loader' >/tmp/esp/EFI/BOOT/BOOTX64.EFI && echo one >/tmp/esp/other"
            " && umount /tmp/esp && udevadm settle"
        )
    pull(guest, "data", bays.part(right), "--start")
    bays.pull(right)
    new = bays.push_new()
    said = pull(guest, "--next", "--start")
    esp = f"/dev/{bays.name(new)}1"
    assert f"mkfs.vfat {esp}" in said
    assert "cp --recursive --force --no-target-directory -- /run/raidtui/esp-from /run/raidtui/esp" in said
    assert "the plan continues" not in said, said
    found = now(guest)
    assert (found["stage"], degraded(guest)) == ("done", "0")
    shown = f"mount {esp} /tmp/esp && cat /tmp/esp/EFI/BOOT/BOOTX64.EFI /tmp/esp/other && umount /tmp/esp"
    assert bays.run(shown) == "MZ a loaderone\n"
    assert guest.run("grep /run/raidtui /proc/mounts").stdout == ""
    boot = {disk["name"]: disk for disk in found["boot"]["disks"]}
    assert bays.name(new) in boot
    codes = {reason["code"] for disk in boot.values() for reason in disk["reasons"]}
    assert "root-unknown" in codes  # the root file system of this guest is the host's
    assert {disk["boots_without"] for disk in boot.values()} == {None}


@pytest.mark.later
def test_a_boot_loader_that_fails_does_not_keep_the_arrays_from_their_end(guest: Guest, bays: Bays) -> None:
    """A boot sector of GRUB on each disk; this guest has no GRUB to install."""
    for serial in bays.serials:
        put = f"dd of=/dev/{bays.name(serial)} bs=1 conv=notrunc status=none"
        bays.run(f"printf 'GRUB \\000Geom\\000' | {put} seek=384 && printf '\\125\\252' | {put} seek=510")
    right = bays.serials[0]
    pull(guest, "data", bays.part(right), "--start")
    bays.pull(right)
    new = bays.push_new()
    said = pull(guest, "--next", "--start")
    assert f"grub-install --target=i386-pc /dev/{bays.name(new)}" in said
    assert "the plan continues, since this step may fail" in said
    found = now(guest)
    assert (found["stage"], found["job"], degraded(guest)) == ("done", None, "0")


@pytest.mark.later
@pytest.mark.parametrize("mounted", [False, True])
def test_a_mirror_of_two_without_both_says_that_it_has_stopped(
    guest: Guest, bays: Bays, *, mounted: bool
) -> None:
    """Where nothing holds the array, udev stops it, and starts it with the disk; else it is broken."""
    right, wrong, third = bays.serials
    kernel = data(guest)
    for verb in ("--fail", "--remove"):
        bays.run(f"mdadm /dev/{kernel} {verb} /dev/{bays.part(third)}")
    bays.run(f"mdadm --grow /dev/{kernel} --raid-devices=2 && udevadm settle")
    if mounted:
        bays.run(f"mkfs.ext4 -q /dev/{kernel} && mkdir -p /tmp/data && mount /dev/{kernel} /tmp/data")
    try:
        pull(guest, "data", bays.part(right), "--start")
        bays.pull(wrong)
        found = now(guest)
        assert (found["head"], found["lost"]) == ("WRONG DISK: push it back", ["data"])
        bays.push(wrong)
        if mounted:
            assert "It is back, and its array does not work." in pull(guest, status=1)
        else:
            wait_until(lambda: now(guest)["stage"] == "pull it", SETTLE_S, "the array runs again")
            assert now(guest)["lost"] == []
    finally:
        if mounted:
            guest.run("umount /tmp/data")


@pytest.mark.later
def test_it_is_refused_where_a_wrong_disk_would_be_lost_data(guest: Guest, bays: Bays) -> None:
    right, wrong, third = bays.serials
    kernel = data(guest)
    for verb in ("--fail", "--remove"):
        bays.run(f"mdadm /dev/{kernel} {verb} /dev/{bays.part(third)}")
    said = pull(guest, "data", bays.part(right), "--start", status=2)
    assert "data misses another member already; add a disk and wait for the recovery first" in said
    bays.run(f"mdadm /dev/{kernel} --re-add /dev/{bays.part(third)} && mdadm --wait /dev/{kernel} || true")
    esp = f"/dev/{bays.name(right)}1"
    bays.run(f"mkfs.vfat -F 12 {esp} && mkdir -p /tmp/esp && mount {esp} /tmp/esp")
    try:
        said = pull(guest, "data", bays.part(right), "--start", status=2)
    finally:
        bays.run("umount /tmp/esp")
    assert "1 is in use: vfat mounted at /tmp/esp; end that first: umount, or swapoff" in said
    assert (now(guest), degraded(guest)) == (None, "0")
    assert wrong in bays.names()


@pytest.mark.later
def test_ledctl_finds_no_enclosure_which_is_said(guest: Guest, bays: Bays) -> None:
    """Then no step has ledctl, and the disk blinks by reads. For such a disk ledctl ends with 33."""
    right, name = bays.serials[0], bays.name(bays.serials[0])
    begun = pull(guest, "data", bays.part(right), "--start")
    assert "ledctl --" not in begun
    assert "Its bay has no light: ledctl finds no enclosure that it controls." in pull(guest, status=1)
    switched = guest.run(f"ledctl --listed-only locate=/dev/{name}")
    assert (switched.status, f"/dev/{name}: device not supported" in switched.output) == (33, True)
    assert guest.run("ledctl --listed-only locate=/dev/sdzz").status == 8


# -- killed on the way


def step(guest: Guest, number: int, member: str = "") -> None:
    """Do the next step of an exchange in a process that SIGKILL ends.

    Args:
        guest: the guest.
        number: -1 before there is a record, 0 before there is a job, 1 before the record knows it, else
            before that entry of its journal.
        member: to begin with.
    """
    done = guest.run(pull_step.words("kill", number, member), timeout=120)
    assert done.status == -9, done.output


def until(guest: Guest, stage: str) -> None:
    """Go on, as a person does who opens raidtui again. md ends a copy by itself, at any moment."""
    for _ in range(3):
        if now(guest)["stage"] == stage:
            return
        raidtui(guest, "pull", "--next", "--start")
    assert now(guest)["stage"] == stage


@pytest.mark.parametrize("points", [(0, 8), later((1, 5, *FURTHER_OUT))])
def test_killed_while_it_is_taken_out(guest: Guest, bays: Bays, points: tuple[int, ...]) -> None:
    """Before there is a job, before the record knows it, and when md has failed or let go of the member."""
    right = bays.serials[0]
    for number in points:
        step(guest, number, bays.part(right))
        until(guest, "pull it")
        assert degraded(guest) == "1", number
        assert bays.part(right) not in bays.run("cat /proc/mdstat"), number
        pull(guest, "--cancel")
        bays.run(f"mdadm /dev/{data(guest)} --re-add /dev/{bays.part(right)}")
        wait_until(lambda: degraded(guest) == "0", SETTLE_S, "it is in again")


@pytest.mark.later
def test_killed_before_it_is_noted(guest: Guest, bays: Bays) -> None:
    """Nothing has been done then, and nothing is left over: it begins anew."""
    right = bays.serials[0]
    step(guest, -1, bays.part(right))
    assert (now(guest), degraded(guest)) == (None, "0")
    assert guest.run(f"ls {RECORD}*").status != 0
    pull(guest, "data", bays.part(right), "--start")
    assert (now(guest)["stage"], degraded(guest)) == ("pull it", "1")


@pytest.mark.later
@pytest.mark.parametrize("points", [(4, 9), (1, 10, *FURTHER_IN)])
def test_killed_while_the_new_disk_is_put_in(guest: Guest, bays: Bays, points: tuple[int, ...]) -> None:
    """Before the record knows the job, after the table, after the new member, and while md copies.

    Each new disk is the next one to go.
    """
    target = bays.serials[0]
    for number in points:
        pull(guest, "data", bays.part(target), "--start")
        bays.pull(target)
        assert now(guest)["stage"] == "left", number
        target = bays.push_new()
        step(guest, number)
        until(guest, "done")
        assert degraded(guest) == "0", number
        pull(guest, "--cancel")


# -- the screen


@pytest.mark.later
def test_the_screen_says_at_once_which_one_left_and_is_killed(guest: Guest, bays: Bays) -> None:
    """By its real keys. After SIGKILL, another console opens with what is not finished."""
    right, wrong, _ = bays.serials
    with open_console(guest) as terminal:
        terminal.wait_for(lambda text: "data" in text)
        terminal.press("i")
        terminal.wait_for("Which disk of data?")
        terminal.wait_for(bays.part(right))
        terminal.press("enter")
        terminal.wait_for("Do not pull it yet")
        terminal.wait_for(f"serial {right}")
        terminal.press("enter")
        terminal.wait_for("--remove")
        terminal.press("y")
        wait_until(lambda: degraded(guest) == "1", SETTLE_S, "it is out")
        terminal.wait_for("Esc back")
        terminal.press("escape")
        terminal.wait_for("Pull it now")
        terminal.wait_for("blinks once a second")
        reads = f"/sys/block/{bays.name(right)}/stat"
        before = int(kernel_text(guest, reads).split()[0])
        wait_until(lambda: int(kernel_text(guest, reads).split()[0]) > before, SETTLE_S, "a burst of reads")
        bays.pull(wrong)
        terminal.wait_for("WRONG DISK: push it back")
        terminal.wait_for(f"serial {wrong}, left")
        assert guest.run("pkill -KILL -f -- '-m raidtui$'").status == 0
    bays.push(wrong)
    with open_console(guest) as terminal:
        terminal.wait_for(f"serial {right}, is not finished; i shows it")
        terminal.press("i")
        terminal.wait_for("It is there, and out of its array")


# -- NVMe that is unplugged and plugged in, as a PCIe slot does it


@pytest.mark.later
def test_nvme(qemu: QemuGuest) -> None:
    """The wrong one, the right one, and a new one in its slot.

    What is written while the wrong one is out is copied to it when it is back, by the bitmap, and no more.
    """
    right, wrong = qemu.nvme
    guard = qemu.sata[0]
    members = [right.path, wrong.path, guard.path]
    kernel = make_array(qemu, "data", 1, members, bitmap="internal", extra=["--assume-clean"]).kernel
    md = f"/sys/block/{kernel}/md"
    noise = f"dd if=/dev/urandom of=/dev/{kernel} bs=1M oflag=direct status=none"
    assert "No space left" in qemu.run(noise, timeout=120).output
    try:
        pull(qemu, "data", qemu.kernel_name(right), "--start")
        qemu.pull(wrong)
        said = pull(qemu, status=1)
        assert "WRONG DISK: push it back." in said
        assert f"serial {wrong.serial}, left: push it back into its bay now" in said
        assert f"The disk to pull is serial {right.serial}." in said
        assert "re-added to data: by the bitmap, only what was written meanwhile is copied" in said
        assert qemu.run(f"{noise} count=4").status == 0
        qemu.plug(wrong)
        assert "out of its array" in pull(qemu, status=1)
        assert f"re-added /dev/{qemu.kernel_name(wrong)}" in pull(qemu, "--next", "--start")
        assert kernel_text(qemu, f"{md}/degraded") == "1"  # the right one is out
        written = int(kernel_text(qemu, f"/sys/block/{qemu.kernel_name(wrong)}/stat").split()[6]) * 512
        assert 4 << 20 <= written <= 96 << 20, written  # one of the bitmap's two chunks of 64 MiB
        qemu.pull(right)
        assert now(qemu)["stage"] == "left"
        new = qemu.plug_new(right, "LAB-NVME-0009")
        assert [disk["serial"] for disk in now(qemu)["new"]] == ["LAB-NVME-0009"]
        pull(qemu, "--next", "--start")
        assert (now(qemu)["stage"], kernel_text(qemu, f"/sys/block/{kernel}/md/degraded")) == ("done", "0")
        assert f" {new}[" in qemu.run("cat /proc/mdstat").stdout
        qemu.run(f"echo check >{md}/sync_action; mdadm --wait /dev/{kernel}", timeout=120)
        assert kernel_text(qemu, f"{md}/mismatch_cnt") == "0"
    finally:
        qemu.run(f"rm -f {RECORD}")
