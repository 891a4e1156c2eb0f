"""The report in sentences, as a whole."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.arrays.cli import event_line, report_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.finding import Event, EventKind
from raidtui.watch.watch import HostWatch
from tests.hosts.members import TWO
from tests.hosts.trees import (
    ArraySpec,
    Stage,
    Syncing,
    Tree,
    container,
    host_tree,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)

RAID5 = "raid5, left-symmetric, chunk 512K, 420 GiB"
RAID6 = "raid6, left-symmetric, chunk 512K, 420 GiB"


def sentences(root: HostReader) -> list[str]:
    return list(report_lines(HostWatch(root).refresh()))


def test_nothing_is_wrong() -> None:
    assert sentences(host_tree(raid10(), raid1(), raid0()).root()) == [
        "nas: 3 arrays.",
        "data (/dev/md127) is optimal: raid10, near=2, chunk 32K, 420 GiB, 4 of 4 members in sync.",
        "root (/dev/md126) is optimal: raid1, 210 GiB, 2 of 2 members in sync.",
        "scratch (/dev/md123) is optimal: raid0, chunk 512K, 420 GiB.",
    ]


RESCUE = "raidtui rescue (a in the console) says what happened and how it comes back"
FIND = f"find the missing members, and never re-create it; {RESCUE}"


def test_an_array_that_does_not_run() -> None:
    root = host_tree(raid1()).root()
    for path, text in TWO.items():
        root.put(path, text)
    assert sentences(root) == [
        "nas: 1 array runs, 1 does not.",
        "root (/dev/md126) is optimal: raid1, 210 GiB, 2 of 2 members in sync.",
        "old (/dev/md/old) does not run and is failed: raid5, 2 of 3 members present.",
        f"  Failed: old is not started: 2 of 3 members present (sda, sdc). To do: {FIND}.",
    ]


ONE_ARRAY = {
    "a resync at its limit": (
        raid10(
            sync=Syncing(action="resync", done_kib=238_723_250, speed_kib_s=489_146), limits=(1000, 488_281)
        ),
        [
            "data (/dev/md127) is optimal: raid10, near=2, chunk 32K, 420 GiB, 4 of 4 members in sync.",
            "  Resync at 54.2 %, 501 MB/s of the array, about 7 min left, held back by: max limit.",
        ],
    ),
    "a recovery": (
        raid5(rebuilding=("sdi",), sync=Syncing(action="recover", done_kib=55_050_240, speed_kib_s=100_000)),
        [
            f"media (/dev/md125) is degraded: {RAID5}, 2 of 3 members in sync.",
            "  Recover at 25.0 %, 102 MB/s, about 28 min left at this speed.",
            (
                "  Degraded: media is degraded: 1 of 3 members missing (slot 2), sdi being rebuilt; no "
                "redundancy is left. To do: a recovery runs; leave the other members alone until it "
                "is done."
            ),
        ],
    ),
    "a member failed": (
        raid10(failed=("sdb",)),
        [
            "data (/dev/md127) is degraded: raid10, near=2, chunk 32K, 420 GiB, 3 of 4 members in sync.",
            (
                "  Degraded: data is degraded: 1 of 4 members missing (slot 1), sdb failed; "
                "slot 0 holds the last copy. To do: add a disk: mdadm /dev/md127 --add DEVICE."
            ),
        ],
    ),
    "a disk has left": (
        raid1(pulled=("sdf",)),
        [
            "root (/dev/md126) is degraded: raid1, 210 GiB, 1 of 2 members in sync.",
            (
                "  Degraded: root - md has not noticed yet: sdf left the machine. To do: raidtui plan fail"
                " root sdf marks it as failed (F in the console); then remove it, and add a disk."
            ),
            (
                "  Degraded: root is degraded: 1 of 2 members missing (slot 1), sdf left the machine;"
                " no redundancy is left."
            ),
        ],
    ),
    "all members failed": (
        raid1(failed=("sde", "sdf")),
        [
            "root (/dev/md126) is failed: raid1, 210 GiB, 0 of 2 members in sync.",
            (
                "  Failed: root has failed: 2 of 2 members missing (slots 0, 1), sde and sdf failed. To do: "
                f"do not write to it and never re-create it; {RESCUE}."
            ),
        ],
    ),
    "a resync that waits": (
        raid6(sync=Syncing(action="resync", waiting="PENDING"), read_only="auto-read-only"),
        [
            f"backup (/dev/md124) is optimal: {RAID6}, 4 of 4 members in sync.",
            "  Resync pending: auto-read-only until the first write.",
            (
                "  Note: backup is auto-read-only: the first write makes it writable."
                " To do: raidtui plan read-write backup makes it writable."
            ),
        ],
    ),
    "not started": (
        inactive(raid6(members=("sdj", "sdk", "sdl"), attributes={"raid_disks": "4"})),
        [
            "md124 is not started: raid6, left-symmetric, chunk 512K.",
            (
                "  Failed: md124 is inactive: not started, with 3 of 4 members. To do: find the missing "
                "members; raidtui plan assemble (a in the console) says whether it can start without them; "
                "never re-create it."
            ),
        ],
    ),
    "not started, with all members": (
        inactive(raid6()),
        [
            "md124 is not started: raid6, left-symmetric, chunk 512K.",
            (
                "  Failed: md124 is inactive: not started, with 4 of 4 members. "
                "To do: raidtui plan assemble (a in the console) starts it, or says what keeps it from "
                "starting; never re-create it."
            ),
        ],
    ),
    "attention": (
        raid1(failed=("sdz",)),
        [
            "root (/dev/md126) needs attention: raid1, 210 GiB, 2 of 2 members in sync.",
            (
                "  Attention: root - sdz has failed; all slots are filled without it. "
                "To do: mdadm /dev/md126 --remove failed, then replace the disk."
            ),
        ],
    ),
    "a resync that is frozen": (
        raid1(frozen=True, resync_start="20224"),
        [
            "root (/dev/md126) is degraded: raid1, 210 GiB, 2 of 2 members in sync.",
            "  Resync frozen: until it is resumed.",
            (
                "  Degraded: root is frozen while a resync waits: it does not resume by itself. "
                "To do: resume it: p in the console, or mdadm --action=idle /dev/md126."
            ),
        ],
    ),
    "escape sequences in a name": (
        raid1(label="a\x1b[31mb"),
        [r"a\x1b[31mb (/dev/md126) is optimal: raid1, 210 GiB, 2 of 2 members in sync."],
    ),
}


@pytest.mark.parametrize("name", ONE_ARRAY)
def test_one_array(name: str) -> None:
    spec: ArraySpec
    spec, expected = ONE_ARRAY[name]
    assert sentences(host_tree(spec).root()) == ["nas: 1 array.", *expected]


CONTAINER = container("md127", members=("sda", "sdb"))
VOLUME = replace(raid1("md126", "vol", members=("sda", "sdb")), metadata="external:/md127/0")


def test_containers_and_their_volumes() -> None:
    assert sentences(host_tree(VOLUME, CONTAINER).root()) == [
        "nas: 2 arrays.",
        "vol (/dev/md126) is optimal: raid1, 210 GiB, 2 of 2 members in sync.",
        "md127 is a container: imsm on 2 disks, with the volume vol.",
    ]
    assert sentences(host_tree(CONTAINER).root())[1:] == [
        "md127 is a container: imsm on 2 disks; none of its volumes runs.",
    ]


def test_lines_that_are_not_understood() -> None:
    tree = host_tree(raid1())
    text = tree.files["/proc/mdstat"].replace("md126 : active", "md126 : resting")
    reported = sentences(Tree(files=tree.files | {"/proc/mdstat": text}, links=tree.links).root())
    assert reported[:3] == [
        "nas: 1 array.",
        "root (/dev/md126) is unknown: raid1.",
        (
            "  Note: root exists, but its lines in /proc/mdstat cannot be parsed: unknown state"
            " 'resting'. To do: mdadm --detail /dev/md126 shows its state; please report it:"
            " raidtui capture FILE."
        ),
    ]
    odd = MemoryReader({"/proc/mdstat": "Personalities : [raid1]\n? what is this\n"}, source="mdstat.txt")
    assert sentences(odd)[0] == "this host (mdstat.txt): the state of the arrays is not known."


def test_a_lone_mdstat_text() -> None:
    tree = host_tree(raid1(), sysfs=False, udev=False)
    root = MemoryReader({"/proc/mdstat": tree.files["/proc/mdstat"]}, source="mdstat.txt")
    assert sentences(root) == [
        "this host (mdstat.txt): 1 array.",
        "md126 is optimal: raid1, 210 GiB, 2 of 2 members in sync.",
        "Not known: /sys/class/block/md*/md: not there: slots, limits, counters and UUIDs are unknown.",
        "Not known: udev: no database: serial numbers and labels may be missing.",
    ]


def test_a_kernel_without_md() -> None:
    stage: Stage = host_tree(limits=None).root(source="capture.tar.gz")
    assert sentences(stage) == [
        "nas (capture.tar.gz): no md array.",
        (
            "Not known: /proc/mdstat: not there: the kernel has no md loaded; "
            "load it with modprobe md_mod; mdadm loads it itself."
        ),
        "Not known: udev: no database: serial numbers and labels may be missing.",
    ]


def test_an_event() -> None:
    event = Event(at_s=0.0, kind=EventKind.KERNEL, subject="da\x07ta", text="member sdb failed")
    assert event_line(event, "2026-11-21 14:02:00") == r"2026-11-21 14:02:00 da\x07ta: member sdb failed"
