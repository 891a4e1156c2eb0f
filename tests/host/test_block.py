"""Disks: identity, what uses them, counters; and the system's limits."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.host.block import DiskReader, map_candidates
from raidtui.host.diskstats import read_io
from raidtui.host.md.array_attributes import read_limits
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.disk import Disk, DiskIo, Use, disk_number
from raidtui.model.snapshot import SystemLimits
from tests.hosts.trees import host_tree, raid1

RAID_MEMBER = Use(kind="signature", what="linux_raid_member")
GIB_240 = 468_862_128 * 512
WWN = "5000c500a0b0d001"


def test_whole_disk_and_partition() -> None:
    tree = host_tree(
        raid1(members=("sda2", "nvme0n1p3")),
        disks={
            "sda": {
                "model": "INTEL SSDSC2BB24",
                "serial": "PHWL5184",
                "wwn": "0x55cd2e404b6f",
                "size": "1000",
            },
            "nvme0n1": {"serial": "S3EVNX0J", "wwn": "eui.0025385", "rotational": "1"},
        },
    )
    found = DiskReader(tree.root()).read(["sda2", "nvme0n1p3"])
    sda = Disk(
        name="sda",
        disk="sda",
        dev="8:0",
        size_bytes=512_000,
        model="INTEL SSDSC2BB24",
        serial="PHWL5184",
        wwn="0x55cd2e404b6f",
        rotational=False,
        uses=(Use(kind="partition", what="sda2"),),
    )
    nvme = Disk(
        name="nvme0n1",
        disk="nvme0n1",
        dev=tree.files["/sys/class/block/nvme0n1/dev"].strip(),
        size_bytes=GIB_240,
        model="SSDSC2BB240G4",
        serial="S3EVNX0J",
        wwn="eui.0025385",
        rotational=True,
        uses=(Use(kind="partition", what="nvme0n1p3"),),
    )
    size_bytes, dev = 440401920 * 512, tree.files["/sys/class/block/nvme0n1p3/dev"].strip()
    assert found == {
        "sda": sda,
        "sda2": replace(sda, name="sda2", dev="8:2", size_bytes=size_bytes, uses=(RAID_MEMBER,)),
        "nvme0n1": nvme,
        "nvme0n1p3": replace(nvme, name="nvme0n1p3", dev=dev, size_bytes=size_bytes, uses=(RAID_MEMBER,)),
    }


def test_partition_without_links() -> None:
    """A capture may hold no links: the disk is the one with a folder of the partition's name."""
    tree = host_tree(raid1(members=("sda2", "sdb2")))
    root = MemoryReader(tree.files)
    assert {name: disk.disk for name, disk in DiskReader(root).read(["sda2", "sdb2"]).items()} == {
        "sda2": "sda",
        "sda": "sda",
        "sdb2": "sdb",
        "sdb": "sdb",
    }


def test_without_udev() -> None:
    tree = host_tree(raid1(members=("sda", "sdb")), udev=False)
    root = tree.root()
    root.put("/sys/class/block/sda/device/serial", b"VB12 \0\n")
    root.put("/sys/class/block/sda/wwid", "t10.ATA\n")
    found = DiskReader(root).read(["sda"])
    assert found == {
        "sda": Disk(
            name="sda",
            disk="sda",
            dev="8:0",
            size_bytes=GIB_240,
            model="SSDSC2BB240G4",
            serial="VB12",
            wwn="t10.ATA",
            rotational=False,
        )
    }


@pytest.mark.parametrize(
    ("lines", "serial"),
    [
        ("E:ID_SERIAL_SHORT=A\nE:ID_SCSI_SERIAL=C\n", "A"),
        ("E:SCSI_IDENT_SERIAL=B\nE:ID_SCSI_SERIAL=C\n", "B"),
        ("E:ID_SCSI_SERIAL=C\n", "C"),
        ("E:ID_SERIAL_SHORT=\n", None),
        ("E:ID_SERIAL_SHORT=(null)\nE:ID_SCSI_SERIAL=C\n", "C"),
        ("E:ID_BUS=ata\nE:ID_SERIAL_SHORT=A\nE:SCSI_IDENT_SERIAL=A\n", "A"),
        # of a SCSI disk the short form is what identifies it, page 0x83, as a rule the WWN
        (f"E:ID_BUS=scsi\nE:ID_SERIAL=3{WWN}\nE:ID_SERIAL_SHORT={WWN}\nE:ID_SCSI_SERIAL=Z1Z0\n", "Z1Z0"),
        (f"E:ID_BUS=scsi\nE:ID_SERIAL=3{WWN}\nE:ID_SERIAL_SHORT={WWN}\nE:SCSI_IDENT_SERIAL=Z1Z0\n", "Z1Z0"),
        (f"E:ID_BUS=scsi\nE:ID_SERIAL=3{WWN}\nE:ID_SERIAL_SHORT={WWN}\n", None),
        ("E:ID_BUS=scsi\nE:ID_SERIAL=0QEMU_QEMU_HARDDISK_drive-scsi0\nE:ID_SERIAL_SHORT=drive-scsi0\n", None),
        # without page 0x83, scsi_id takes page 0x80
        ("E:ID_BUS=scsi\nE:ID_SERIAL=SSEAGATE_ST4000_Z1Z0\nE:ID_SERIAL_SHORT=Z1Z0\n", "Z1Z0"),
    ],
)
def test_serial(lines: str, serial: str | None) -> None:
    root = host_tree(raid1(members=("sda", "sdb"))).root()
    root.put("/run/udev/data/b8:0", lines)
    assert DiskReader(root).read(["sda"])["sda"].serial == serial


@pytest.mark.parametrize(
    ("page", "serial"),
    [
        (b"\0\x80\0\x08  Z1Z0  ", "Z1Z0"),
        (b"\0\x80\0\x04Z1Z0\0\0garbage", "Z1Z0"),
        (b"\0\x83\0\x04Z1Z0", None),
        (b"\0\x80\0\x04    ", None),
        (b"\0\x80", None),
    ],
)
def test_serial_of_page_80(page: bytes, serial: str | None) -> None:
    """What udev has not of a SCSI disk the kernel may have; its WWN stays its WWN, and identifies it."""
    root = host_tree(raid1(members=("sda", "sdb"))).root()
    root.put(
        "/run/udev/data/b8:0",
        f"E:ID_BUS=scsi\nE:ID_SERIAL=3{WWN}\nE:ID_SERIAL_SHORT={WWN}\nE:ID_WWN=0x{WWN}\n",
    )
    root.put("/sys/class/block/sda/device/vpd_pg80", page)
    disk = DiskReader(root).read(["sda"])["sda"]
    assert (disk.serial, disk.identity) == (serial, serial or f"0x{WWN}")


def test_what_has_no_serial_number_and_no_wwn_is_identified_by_what_udev_knows() -> None:
    root = host_tree(raid1(members=("sda", "sdb"))).root()
    known = "0QEMU_QEMU_HARDDISK_drive-scsi0"
    root.put("/run/udev/data/b8:0", f"E:ID_BUS=scsi\nE:ID_SERIAL={known}\nE:ID_SERIAL_SHORT=drive-scsi0\n")
    disk = DiskReader(root).read(["sda"])["sda"]
    assert (disk.serial, disk.wwn, disk.identity) == (None, None, known)


@pytest.mark.parametrize(
    ("serial", "identity", "number"),
    [
        ("Z1Z0", "Z1Z0", "serial Z1Z0"),
        ("", f"0x{WWN}", f"WWN 0x{WWN}"),
        ("", "eui.0025385", "WWN eui.0025385"),
        ("", "0QEMU_drive-scsi0", "identifier 0QEMU_drive-scsi0"),
        ("", "", ""),
    ],
)
def test_the_number_that_a_disk_is_found_by(serial: str, identity: str, number: str) -> None:
    assert disk_number(serial, identity) == number


@pytest.mark.parametrize(
    ("in_device", "beside_it", "serial"),
    [("VB12", "X", "VB12"), ("(null)", "X", "X"), ("(null)", "(null)", None), ("", " \0", None)],
)
def test_serial_of_sysfs(in_device: str, beside_it: str, serial: str | None) -> None:
    """A driver that has none may print "(null)"."""
    root = host_tree(raid1(members=("sda", "sdb")), udev=False).root()
    root.put("/sys/class/block/sda/device/serial", f"{in_device}\n")
    root.put("/sys/class/block/sda/serial", f"{beside_it}\n")
    assert DiskReader(root).read(["sda"])["sda"].serial == serial


def test_gone_and_odd_devices() -> None:
    root = host_tree(raid1(members=("cciss/c0d0", "sdb"))).root()
    root.put("/sys/class/block/sdb/size", "²\n")
    found = DiskReader(root).read(["cciss/c0d0", "sdb", "sdz"])
    assert set(found) == {"cciss/c0d0", "sdb"}
    assert (found["cciss/c0d0"].size_bytes, found["sdb"].size_bytes) == (GIB_240, None)
    root.put("/sys/class/block/sdb/size", "9" * 5000)
    assert DiskReader(root).read(["sdb"])["sdb"].size_bytes is None


def test_uses() -> None:
    tree = host_tree(
        raid1(),
        mounts={"md126": "/srv/my data"},
        swaps=("md126",),
        holders={"md126": ("dm-0=vg-lv", "md7")},
    )
    found = DiskReader(tree.root()).read(["md126"])["md126"]
    assert found.uses == (
        Use(kind="mount", what="/srv/my data", detail="ext4"),
        Use(kind="swap", what="md126"),
        Use(kind="holder", what="dm-0", detail="vg-lv"),
        Use(kind="holder", what="md7"),
    )


def test_mounts_by_link_and_by_path() -> None:
    root = host_tree(raid1()).root()
    root.put(
        "/proc/self/mountinfo",
        "31 1 0:44 / /data rw shared:1 - btrfs /dev/md/root rw\n"
        "32 1 0:45 / /tmp rw - tmpfs tmpfs rw\n"
        "33 1 9:126 /sub /mnt\\0111\\134\\777\\351\\09 rw master:3 - xfs /dev/elsewhere rw\n"
        "34 1 9:126 /sub /mnt\\0111\\134\\777\\351\\09 rw - xfs /dev/elsewhere rw\n"
        "short line\n35 1 9:126 / /none\n",
    )
    root.put("/proc/swaps", "Filename\tType\n/dev/md/root partition 1 0 -2\n\n")
    assert DiskReader(root).read(["md126"])["md126"].uses == (
        Use(kind="mount", what="/mnt\t1\\\\777é\\09", detail="xfs"),
        Use(kind="mount", what="/data", detail="btrfs"),
        Use(kind="swap", what="md126"),
    )


def test_signatures() -> None:
    root = host_tree(raid1(members=("sda", "sdb"))).root()
    root.put("/run/udev/data/b8:0", "E:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=home\nE:ID_PART_TABLE_TYPE=gpt\n")
    assert DiskReader(root).read(["sda"])["sda"].uses == (
        Use(kind="signature", what="ext4", detail="home"),
        Use(kind="signature", what="gpt"),
    )


def test_remembered_until_notified_or_mounts_change() -> None:
    stage = host_tree(raid1()).root()
    reader = DiskReader(stage)
    before = reader.read(["md126", "sde"])
    stage.put("/run/udev/data/b8:64", "E:ID_SERIAL_SHORT=NEW\n")
    assert reader.read(["md126", "sde"]) == before
    reader.forget("sde")
    assert reader.read(["md126", "sde"])["sde"].serial == "NEW"
    stage.put("/run/udev/data/b8:64", "E:ID_SERIAL_SHORT=NEWER\n")
    stage.put("/proc/self/mountinfo", "30 1 9:126 / /srv rw - ext4 /dev/md126 rw\n")
    after = reader.read(["md126", "sde"])
    assert (after["sde"].serial, after["md126"].uses) == (
        "NEWER",
        (Use(kind="mount", what="/srv", detail="ext4"),),
    )


def test_io() -> None:
    text = (
        "   8       0 sda 10 1 2000 30 40 2 5000 60 3 70 90 0 0 0 0 0 0\n"
        "   8      16 sdb 1 2 3 4 5 6 7 8 9 10 11\n"
        "   8      32 sdc 1 2 3\n"
        "   8      48 sdd x 2 3 4 5 6 7 8 9 10 11\n"
        f"   8      64 sde {'9' * 5000} 2 3 4 5 6 7 8 9 10 11\n"
    )
    root = MemoryReader({"/proc/diskstats": text})
    assert read_io(root, ["sda", "sdc", "sdd", "sde", "sdf"]) == {
        "sda": DiskIo(
            reads=10,
            read_sectors=2000,
            read_ms=30,
            writes=40,
            written_sectors=5000,
            write_ms=60,
            busy_ms=70,
            discarded_sectors=0,
            in_flight=3,
            queued_ms=90,
        )
    }
    assert read_io(MemoryReader({}), ["sda"]) == {}


@pytest.mark.parametrize(
    ("low", "high", "limits"),
    [
        ("1000\n", "200000\n", SystemLimits(min_kib_s=1000, max_kib_s=200_000)),
        ("-1\n", "0\n", SystemLimits(min_kib_s=-1, max_kib_s=0)),
        ("", "many", SystemLimits()),
        ("1_000", "²", SystemLimits()),
        ("9" * 5000, "-", SystemLimits()),
    ],
)
def test_limits(low: str, high: str, limits: SystemLimits) -> None:
    folder = "/proc/sys/dev/raid"
    assert (
        read_limits(MemoryReader({f"{folder}/speed_limit_min": low, f"{folder}/speed_limit_max": high}))
        == limits
    )


def test_limits_without_md() -> None:
    assert read_limits(MemoryReader({})) == SystemLimits()


def test_maps_that_may_be_members() -> None:
    """Not those of a trial, of nothing, under another map, or that udev keeps to the device mapper."""
    maps = {
        "dm-0": ("vg0-data", ""),
        "dm-1": ("raidtui-rescue-abc123-sda", ""),
        "dm-2": ("vg0-data-real", "dm-0"),
        "dm-3": ("vg0-home_rimage_0", ""),
        "dm-4": ("vg0-member", "md127"),
    }
    files: dict[str, str] = {}
    for number, (name, (label, holder)) in enumerate(maps.items()):
        node = f"/sys/class/block/{name}"
        files |= {f"{node}/size": "4096\n", f"{node}/dev": f"254:{number}\n", f"{node}/dm/name": f"{label}\n"}
        files |= {f"{node}/holders/{holder}/dev": "9:127\n"} if holder else {}
    files["/run/udev/data/b254:3"] = "E:DM_UDEV_DISABLE_OTHER_RULES_FLAG=1\n"
    files |= {"/sys/class/block/dm-5/size": "0\n", "/sys/class/block/sda/size": "4096\n"}
    assert map_candidates(MemoryReader(files)) == ("dm-0", "dm-4")
