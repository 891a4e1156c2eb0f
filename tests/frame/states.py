"""Hosts in every state that the screen has a picture of."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec.structs import replace

from tests.hosts.specs import (
    COMPONENT_KIB,
    ArraySpec,
    Syncing,
    container,
    growing_raid0,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)
from tests.hosts.trees import Tree, host_tree

ARRAY_KIB = 2 * COMPONENT_KIB
SATA = {
    f"sd{letter}": {"model": "Samsung SSD 850", "serial": f"S21PNX0H8{number}"}
    for number, letter in enumerate("abcdefghijklmno", 12345)
}
ROOT = raid1(component_kib=97_517_568, bitmap=(0, 1))
VM = raid5(label="vm", chunk_kib=64, bitmap=(1, 2))
REST = (ROOT, VM)


def resyncing(done_kib: int, speed_kib_s: int = 482_000) -> ArraySpec:
    """The RAID-10 of the drawings, somewhere in its resync."""
    sync = Syncing(action="resync", done_kib=done_kib, speed_kib_s=speed_kib_s)
    return raid10(sync=sync, resync_start=str(done_kib * 2), limits=(195_313, 488_281))


def resync_life(seconds: int = 150) -> list[Tree]:
    """A resync of which the speed is known, up to 54.2 %; other I/O slowed it for a while."""
    speeds = [
        400_000 + round(70_000 * math.sin(second / 9)) - (150_000 if 55 < second < 75 else 0)
        for second in range(seconds - 20)
    ]
    speeds += [482_000] * 20
    done_kib = ARRAY_KIB * 542 // 1000 + 1 - sum(speeds)
    requests, trees = 0, []
    for speed in speeds:
        done_kib += speed
        requests += speed // 512
        io = {
            f"sd{letter}": (requests, 0, 0, round(requests * slowness), 0, 0, 0, 0, 0, requests // 9)
            for letter, slowness in zip("abcd", (0.41, 0.44, 0.52, 0.93), strict=True)
        }
        trees.append(host_tree(resyncing(done_kib, speed), *REST, disks=SATA, mounts=MOUNTS, io=io))
    return trees


MOUNTS = {"md127": "/srv/data", "md126": "/", "md125": "/var/lib/libvirt"}
CHECK = Syncing(action="check", done_kib=ARRAY_KIB // 3, speed_kib_s=198_000)
RECOVER = Syncing(action="recover", done_kib=COMPONENT_KIB // 4, speed_kib_s=180_000)
LINEAR = replace(raid0("md122", "archive", members=("sdn", "sdo")), level="linear", chunk_kib=0)
RAID4 = replace(raid5("md121", "four"), level="raid4", layout="")

ARRAYS: Mapping[str, tuple[ArraySpec, ...]] = {
    "optimal": (raid10(), *REST),
    "levels": (
        raid10(),
        raid10("md120", "far", layout="f2", members=("sda1", "sdb1", "sdc1", "sdd1")),
        raid10("md119", "offset", layout="o2", members=("sda3", "sdb3", "sdc3", "sdd3"), chunk_kib=512),
        raid6(),
        raid5(),
        RAID4,
        LINEAR,
        raid0(),
        raid1(),
    ),
    "raid0": (raid0(),),
    "raid4": (RAID4,),
    "raid5": (raid5(),),
    "raid6-degraded": (raid6(failed=("sdk",)),),
    "far": (raid10(layout="f2"),),
    "offset": (raid10(layout="o2"),),
    "linear": (LINEAR,),
    "degraded": (raid5(failed=("sdh",)), raid10(), ROOT),
    "at-the-edge": (raid10(members=("sda", None, "sdc", "sdd")), ROOT),
    "failed": (raid10(members=(None, None, "sdc", "sdd"), failed=()), ROOT),
    "inactive": (ROOT, inactive(raid5(members=("sdg", "sdh")))),
    "auto-read-only": (
        raid10(
            read_only="auto-read-only",
            sync=Syncing(action="resync", waiting="PENDING"),
            resync_start="0",
        ),
        ROOT,
    ),
    "read-only": (raid10(read_only="read-only"), ROOT),
    "journal": (raid5(journal="nvme0n1p1"),),
    "journal-failed": (raid5(journal="nvme0n1p1", failed=("nvme0n1p1",)),),
    "spares": (raid5(spares=("sdp", "sdq")),),
    "write-mostly": (raid1(states={"sdf": "in_sync,write_mostly"}), raid10()),
    "faulty-still-listed": (raid10(failed=("sdb",), numbers={"sdb": 1}), ROOT),
    "detached": (raid1(pulled=("sdf",)), raid5(spares=("sdp",), pulled=("sdp",)), raid10()),
    "detached-too-many": (raid5(pulled=("sdg", "sdi")), raid10()),
    "replacement": (raid10(replacements={"sdp": 1}, sync=RECOVER), ROOT),
    "recover": (raid5(rebuilding=("sdi",), sync=RECOVER), ROOT),
    "check": (raid10(sync=CHECK), ROOT),
    "check-paused": (raid10(sync_min=ARRAY_KIB // 2), ROOT),
    "mismatches": (raid5(mismatches=384, last_sync_action="check"), raid10(mismatches=128)),
    "read-errors": (raid10(errors={"sdc": 17}), ROOT),
    "reshape": (
        raid5(
            members=("sdg", "sdh", "sdi", "sdj"),
            old_raid_disks=3,
            sync=Syncing(action="reshape", done_kib=COMPONENT_KIB // 5, speed_kib_s=60_000),
            reshape_position="88080384",
            shift=-3072,
        ),
        ROOT,
    ),
    "reshape-of-a-raid0": (growing_raid0(), ROOT),
    "reshape-after-a-crash": (
        raid5(
            members=("sdg", "sdh", "sdi", "sdj"),
            old_raid_disks=3,
            chunk_kib=64,
            reshape_position="88082304",
            shift=-3072,
            read_only="auto-read-only",
        ),
        ROOT,
    ),
    "delayed": (
        raid10(
            members=("sda1", "sdb1", "sdc1", "sdd1"),
            sync=Syncing(action="resync", done_kib=ARRAY_KIB // 4, speed_kib_s=198_000),
        ),
        raid10(
            "md126",
            "home",
            members=("sda2", "sdb2", "sdc2", "sdd2"),
            sync=Syncing(action="resync", waiting="DELAYED"),
            resync_start="0",
        ),
    ),
    "frozen-with-work": (raid10(frozen=True, resync_start="477626368"), ROOT),
    "frozen-idle": (raid10(frozen=True), ROOT),
    "container": (
        replace(raid1("md126", "Volume0", members=("sda", "sdb")), metadata="external:/md127/0"),
        container("md127"),
    ),
    "bad-blocks": (raid10(bad_blocks={"sda": "", "sdb": "264292 8\n"}), ROOT),
    "odd-names": (
        raid10(label="[bold red]data[/] \x1b[31mred\x1b[2J"),
        raid1(label="a very long name that somebody typed into a form"),
        raid5(label="写真と音楽"),
        raid6(label="بيانات"),
        raid0(label="[UU_]"),
    ),
}


def not_understood(tree: Tree, name: str) -> Tree:
    """Return a host whose kernel writes of one array what nobody has seen before."""
    text = tree.files["/proc/mdstat"].replace(f"{name} : active", f"{name} : resting")
    return Tree(files=tree.files | {"/proc/mdstat": text}, links=tree.links)


STATES: Mapping[str, Tree] = {
    **{name: host_tree(*arrays, disks=SATA, mounts=MOUNTS) for name, arrays in ARRAYS.items()},
    "not-understood": not_understood(host_tree(raid10(), ROOT, disks=SATA, mounts=MOUNTS), "md127"),
    "no-arrays": host_tree(),
    "no-md": host_tree(limits=None),
    "mdstat-only": host_tree(resyncing(ARRAY_KIB // 2), ROOT, sysfs=False, udev=False),
    "many": host_tree(
        *(
            raid1(
                f"md{number}",
                f"vol{number:03}",
                members=(f"sd{chr(97 + number % 26)}{number}", f"sd{chr(97 + (number + 1) % 26)}{number}"),
                **({"failed": (f"sd{chr(97 + number % 26)}{number}",)} if number == 300 else {}),
            )
            for number in range(512)
        )
    ),
}
WIDE_STATES = (
    "optimal",
    "levels",
    "at-the-edge",
    "check",
    "odd-names",
    "recover",
    "many",
    "no-md",
    "detached",
)
