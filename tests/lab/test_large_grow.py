"""Grow and shrink what needs larger disks: XFS, btrfs, the geometry of ext4, LVM."""

import re
from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory, clean
from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.filled import CHECKS, filled, intact, room_kib
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import apply, do, plan, refusal
from tests.lab.guests.uml import UmlGuest

pytestmark = pytest.mark.later


@pytest.fixture(scope="module")
def large_laboratory(bytecode: None) -> Iterator[Laboratory[UmlGuest]]:
    """The holder of a guest with four disks of 512 MiB, nothing booted yet."""
    holder = Laboratory(lambda: UmlGuest.boot(disks=4, size_mib=512))
    yield holder
    holder.close()


@pytest.fixture
def large_guest(large_laboratory: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """The guest, all of its disks empty; cleaned after the test."""
    yield from clean(large_laboratory)


def made_of(guest: Guest, count: int) -> Made:
    """A RAID 5 of the first disks, nothing on it."""
    names = disk_names(guest)[:count]
    return make_array(guest, "125", 5, names, chunk=64, bitmap="internal", extra=("--assume-clean",))


@pytest.mark.parametrize("kind", CHECKS)
def test_a_file_system_takes_the_room(large_guest: Guest, kind: str) -> None:
    """Mounted, when the reshape has ended; ext4 also takes the new geometry."""
    guest = large_guest
    made = made_of(guest, 3)
    filled(guest, str(made.path), kind, mib=32)
    before = room_kib(guest)
    assert do(guest, "grow", "125", "--add", disk_names(guest)[3]).endswith("done\n")
    assert room_kib(guest) > before * 1.4
    if kind == "ext4":
        listed = guest.run(f"tune2fs -l {made.path} | grep RAID").stdout.split()
        assert listed == ["RAID", "stride:", "16", "RAID", "stripe", "width:", "48"]
    intact(guest, str(made.path), kind)


def test_btrfs_is_made_smaller_first(large_guest: Guest) -> None:
    guest = large_guest
    made = made_of(guest, 4)
    filled(guest, str(made.path), "btrfs", mib=32)
    before = room_kib(guest)
    assert do(guest, "shrink", "125", "--devices=3").endswith("done\n")
    assert room_kib(guest) < before
    intact(guest, str(made.path), "btrfs")


@pytest.mark.parametrize(("geometry", "taken"), [("su=64k,sw=2", True), ("sunit=0,swidth=0", False)])
def test_the_mount_options_that_are_advised_for_xfs_are_taken(
    large_guest: Guest, geometry: str, *, taken: bool
) -> None:
    """Where it was made with a geometry; where it was not, the kernel takes none, as the plan says."""
    guest = large_guest
    made = made_of(guest, 3)
    done = guest.run(f"mkfs.xfs -q -f -d {geometry} {made.path} && mount {made.path} /mnt")
    assert done.status == 0, done.output
    notes = " ".join(plan(guest, "grow", "125", "--add", disk_names(guest)[3])["notes"])
    options = re.search(r"sunit=\d+,swidth=\d+", notes)
    assert options is not None, notes
    assert "else such a mount fails" in notes
    assert apply(guest).endswith("done\n")
    shows = guest.run("xfs_info /mnt | grep sunit").stdout
    again = guest.run(f"umount /mnt && mount -o {options[0]} {made.path} /mnt")
    assert (again.status == 0) is taken, f"{shows}{again.output}"
    assert ("swidth=0 " not in shows) is taken


def test_xfs_is_never_made_smaller(large_guest: Guest) -> None:
    guest = large_guest
    made = made_of(guest, 4)
    filled(guest, str(made.path), "xfs", mib=32)
    assert "XFS cannot shrink" in refusal(guest, "shrink", "125", "--devices=3")
    intact(guest, str(made.path), "xfs")


@pytest.mark.parametrize("words", [("--devices=3",), ("--size=262144",)])
def test_lvm_is_made_smaller_first(large_guest: Guest, words: tuple[str, ...]) -> None:
    """The physical volume, where its volumes fit; then the array, in service."""
    guest = large_guest
    made = made_of(guest, 4)
    built = guest.run(
        f"pvcreate -q --yes {made.path} && vgcreate -q vglab {made.path}"
        " && lvcreate -q --yes -L 256M -n home vglab"
    )
    assert built.status == 0, built.output
    filled(guest, "/dev/vglab/home", mib=32)
    assert do(guest, "shrink", "125", *words).endswith("done\n")
    intact(guest, "/dev/vglab/home", "ext4")
    sizes = guest.run(
        f"pvs --noheadings --units b --nosuffix -o pv_size {made.path}; blockdev --getsize64 {made.path}"
    )
    volume, array = (float(word) for word in sizes.stdout.split())
    assert volume <= array, sizes.output
    assert guest.run("vgremove -q --force --yes vglab && pvremove -q --yes /dev/md/125").status == 0
