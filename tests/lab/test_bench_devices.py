"""Raw devices: what is overwritten, and what is not; who may; what is discarded."""

import re

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import begun, bench, digests, done, kept, refused, stat, titles
from tests.lab.guests.boot import serial_of
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum

pytestmark = [pytest.mark.later, pytest.mark.usefixtures("no_benchmarks")]
MIB = 1 << 20
SECTORS = 32 * MIB // 512  # of the disk in memory
WRITE = ("run", "--rw=randwrite", "--size=2m", "--bs=64k")


def noise(guest: Guest, name: str, mib: int = 8) -> None:
    """Fill the beginning of a disk with noise, but for its first MiB: it may be a partition table (ADFS)."""
    fill = f"dd if=/dev/urandom of=/dev/{name} bs=1M seek=1 count={mib - 1} conv=fsync status=none"
    assert guest.run(f"{fill} && udevadm settle").status == 0


def test_a_device_is_overwritten_by_whoever_knows_it(guest: Guest) -> None:
    disk, member, mounted = disk_names(guest)[:3]
    noise(guest, disk)
    first, rest = digests(guest, disk, first_mib=2, mib=8)
    device, own = f"--device={disk}", f"--confirm={serial_of(disk)}"
    lost = (
        f"it destroys what is on the devices ({disk}: nothing known); if that is what you want, give"
        f" their serial numbers: {own}"
    )
    assert refused(guest, *WRITE, device) == (
        f"/dev/{disk} is only read: random write 64K would overwrite its contents; if that is what you"
        " want, give --write, and its serial number with --confirm"
    )
    assert refused(guest, *WRITE, device, "--write") == lost
    assert refused(guest, *WRITE, device, "--write", f"--confirm={serial_of(member)}") == lost
    assert digests(guest, disk, first_mib=2, mib=8) == (first, rest)

    make_array(guest, "data", 1, [member, disk_names(guest)[3]], extra=["--assume-clean"])
    assert refused(guest, *WRITE, f"--device={member}", "--write", f"--confirm={serial_of(member)}") == (
        f"{member} is a member of data; choose a free device"
    )
    assert guest.run(f"mkfs.ext4 -q /dev/{mounted} && mount /dev/{mounted} /mnt").status == 0
    result = refused(guest, *WRITE, f"--device={mounted}", "--write", f"--confirm={serial_of(mounted)}")
    assert result == f"{mounted} is in use: ext4 mounted at /mnt; choose a free device"

    done(guest, *WRITE, device, "--write", own)
    (run,) = kept(guest)
    assert (run["state"], run["write"]["ios"], run["written"]) == ("whole", 32, {disk: 2 * MIB})
    now, still = digests(guest, disk, first_mib=2, mib=8)
    assert (now != first, still) == (True, rest)


def test_nobody_comes_to_use_the_device_meanwhile(guest: Guest) -> None:
    """It is held while it is written to, also between the runs: mount and mkfs get EBUSY."""
    disk = disk_names(guest)[0]
    assert guest.run(f"mkfs.ext4 -q -E nodiscard /dev/{disk}").status == 0
    words = (*WRITE, f"--device={disk}", "--write", f"--confirm={serial_of(disk)}", "--runtime=2", "--cool=2")
    begun(guest, *words, "--repeats=2")
    for what in (f"mount /dev/{disk} /mnt", f"mkfs.ext4 -q /dev/{disk}", f"wipefs --all /dev/{disk}"):
        result = guest.run(what)
        assert (result.status != 0, "busy" in result.stderr or "in use" in result.stderr) == (True, True), (
            result.output
        )
    assert bench(guest, "attach").status == 0
    assert [run["state"] for run in kept(guest)] == ["whole", "whole"]
    known = f"udevadm settle; udevadm info --query=property /dev/{disk} | grep ID_FS_TYPE"
    wait_until(lambda: guest.run(known).stdout == "", 30, "udev to see that the file system is gone")
    assert guest.run(f"mkfs.ext4 -q -F /dev/{disk} && mount /dev/{disk} /mnt").status == 0, "it is free again"


def test_a_device_that_is_only_read_is_not_written_to(guest: Guest) -> None:
    disk = disk_names(guest)[0]
    noise(guest, disk)
    before, counted = checksum(guest, [disk]), stat(guest, disk)
    asked = ("--rw=randread", "--size=4m", f"--device={disk}", "--depth=4", "--runtime=1")
    done(guest, "sweep", *asked, "--bs=4k,64k", "--repeats=1", "--trim", "--precondition=1")
    after = stat(guest, disk)
    assert {name: after[name] for name in ("writes", "written_sectors", "discards")} == {
        name: counted[name] for name in ("writes", "written_sectors", "discards")
    }
    assert after["reads"] > counted["reads"]
    assert checksum(guest, [disk]) == before
    assert [(run["state"], run["written"]) for run in kept(guest)] == [("whole", {disk: 0})] * 2
    assert titles(guest) == []


def test_a_device_is_trimmed_before_each_run(guest: Guest, sd: str) -> None:
    noise(guest, sd, mib=4)
    result = refused(guest, *WRITE, f"--device={sd}", "--write")
    serial = re.search(r"--confirm=(\S+)$", result)
    assert serial is not None, result
    before = stat(guest, sd)
    done(guest, *WRITE, f"--device={sd}", "--write", f"--confirm={serial[1]}", "--trim", "--repeats=2")
    after = stat(guest, sd)
    assert after["discarded_sectors"] - before["discarded_sectors"] == 2 * SECTORS
    assert titles(guest) == [f"blkdiscard --verbose /dev/{sd}"] * 2
    # What was written before is gone: beyond the part that was measured all reads as zeros.
    assert guest.run(f"cmp --bytes={2 * MIB} --ignore-initial={2 * MIB}:0 /dev/{sd} /dev/zero").status == 0
    assert [run["write"]["ios"] for run in kept(guest)] == [32, 32]
