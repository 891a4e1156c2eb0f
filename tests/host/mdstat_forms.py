"""What md prints, and the record that is to come of it."""

from __future__ import annotations

from typing import Any

from raidtui.host.md.mdstat import MdstatArray, MdstatBitmap, MdstatSync

_BLANK: dict[str, Any] = {
    "state": "active", "read_only": "", "personality": "", "members": "", "blocks_kib": None, "super": "",
    "chunk_kib": None, "layout": {}, "raid_disks": None, "working": None, "up": None, "sync": None,
    "bitmap": None,
}  # fmt: skip


def _sync_record(sync: MdstatSync | None) -> tuple[object, ...] | None:
    if sync is None:
        return None
    if sync.waiting:
        return (sync.word, sync.waiting)
    return (
        sync.word, sync.permille, sync.done_kib, sync.total_kib, sync.finish_deciminutes, sync.speed_kib_s
    )  # fmt: skip


def _bitmap_record(bitmap: MdstatBitmap | None) -> tuple[object, ...] | None:
    if bitmap is None:
        return None
    return (bitmap.used_pages, bitmap.pages, bitmap.used_bytes, bitmap.chunk_bytes, bitmap.file)


def record(array: MdstatArray) -> dict[str, Any]:
    """Everything of an array but its source text, members in one string, as they are printed."""
    values = {key: getattr(array, key) for key in _BLANK}
    return {
        "name": array.name,
        **values,
        "members": " ".join(map(repr, array.members)),
        "sync": _sync_record(array.sync),
        "bitmap": _bitmap_record(array.bitmap),
    }


def expected(name: str, **values: Any) -> dict[str, Any]:
    assert values.keys() <= _BLANK.keys()
    return {"name": name, **_BLANK, **values}


_IDLE = "      "
FORMS: dict[str, tuple[list[str], list[dict[str, Any]]]] = {
    "raid0": (
        ["md10 : active raid0 sdd[2] sdc[1] sdb[0]", "      6282240 blocks super 1.2 64k chunks", _IDLE],
        [
            expected(
                "md10",
                personality="raid0",
                members="sdd[2] sdc[1] sdb[0]",
                blocks_kib=6282240,
                super="1.2",
                chunk_kib=64,
            )
        ],
    ),
    "raid0 broken": (
        ["md10 : broken raid0 sdc[1] sdb[0]", "      4188160 blocks super 1.2 512k chunks", _IDLE],
        [
            expected(
                "md10",
                state="broken",
                personality="raid0",
                members="sdc[1] sdb[0]",
                blocks_kib=4188160,
                super="1.2",
                chunk_kib=512,
            )
        ],
    ),
    "raid0 non-persistent": (
        ["md10 : active raid0 sdc[1] sdb[0]", "      4194304 blocks super non-persistent 64k chunks", _IDLE],
        [
            expected(
                "md10",
                personality="raid0",
                members="sdc[1] sdb[0]",
                blocks_kib=4194304,
                super="non-persistent",
                chunk_kib=64,
            )
        ],
    ),
    "linear": (
        ["md10 : active linear sdc[1] sdb[0]", "      4188160 blocks super 1.2 0k rounding", _IDLE],
        [expected("md10", personality="linear", members="sdc[1] sdb[0]", blocks_kib=4188160, super="1.2")],
    ),
    "faulty": (
        [
            "md10 : active faulty sdb[0]",
            "      2094080 blocks super 1.2 WriteTransient=2(5) nfaults=1",
            _IDLE,
        ],
        [expected("md10", personality="faulty", members="sdb[0]", blocks_kib=2094080, super="1.2")],
    ),
    "multipath": (
        ["md3 : active multipath sdb[1] sda[0](F)", "      17 blocks super 1.2 [2/1] [_U]", _IDLE],
        [
            expected(
                "md3",
                personality="multipath",
                members="sdb[1] sda[0](F)",
                blocks_kib=17,
                super="1.2",
                raid_disks=2,
                working=1,
                up="_U",
            )
        ],
    ),
    "raid1 0.90": (
        ["md10 : active raid1 sdc[1] sdb[0]", "      307200 blocks [2/2] [UU]", _IDLE],
        [
            expected(
                "md10",
                personality="raid1",
                members="sdc[1] sdb[0]",
                blocks_kib=307200,
                raid_disks=2,
                working=2,
                up="UU",
            )
        ],
    ),
    "raid1 write-mostly, replacement": (
        [
            "md1 : active raid1 sdc[2](R) sdb[1](W) sda[0]",
            "      261120 blocks super 1.2 [2/2] [UU]",
            "      [>....................]  recovery =  0.7% (2048/261120) finish=2.0min speed=2048K/sec",
            _IDLE,
        ],
        [
            expected(
                "md1",
                personality="raid1",
                members="sdc[2](R) sdb[1](W) sda[0]",
                blocks_kib=261120,
                super="1.2",
                raid_disks=2,
                working=2,
                up="UU",
                sync=("recovery", 7, 2048, 261120, 20, 2048),
            )
        ],
    ),
    "raid1 degraded, write-mostly failed": (
        ["md1 : active raid1 sdb[1](W)(F) sda[0]", "      261120 blocks super 1.2 [2/1] [U_]", _IDLE],
        [
            expected(
                "md1",
                personality="raid1",
                members="sdb[1](W)(F) sda[0]",
                blocks_kib=261120,
                super="1.2",
                raid_disks=2,
                working=1,
                up="U_",
            )
        ],
    ),
    "raid1 spare to be a replacement": (
        ["md1 : active raid1 sdd[3](S)(R) sdb[1] sda[0]", "      261120 blocks super 1.2 [2/2] [UU]", _IDLE],
        [
            expected(
                "md1",
                personality="raid1",
                members="sdd[3](S)(R) sdb[1] sda[0]",
                blocks_kib=261120,
                super="1.2",
                raid_disks=2,
                working=2,
                up="UU",
            )
        ],
    ),
    "raid4": (
        [
            "md4 : active raid4 sdc[3] sdb[1] sda[0]",
            "      520192 blocks super 1.2 level 4, 512k chunk, algorithm 0 [3/2] [UU_]",
            "      \trecover=REMOTE",
            _IDLE,
        ],
        [
            expected(
                "md4",
                personality="raid4",
                members="sdc[3] sdb[1] sda[0]",
                blocks_kib=520192,
                super="1.2",
                chunk_kib=512,
                layout={"algorithm": 0},
                raid_disks=3,
                working=2,
                up="UU_",
                sync=("recover", "REMOTE"),
            )
        ],
    ),
    "raid5 journal failed": (
        [
            "md10 : active raid5 sdd[4] nvme0n1[3](J)(F) sdc[1] sdb[0]",
            "      614400 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]",
            "      [>....................]  recovery =  2.3% (7196/307200) finish=12.0min speed=412K/sec",
            _IDLE,
        ],
        [
            expected(
                "md10",
                personality="raid5",
                members="sdd[4] nvme0n1[3](J)(F) sdc[1] sdb[0]",
                blocks_kib=614400,
                super="1.2",
                chunk_kib=512,
                layout={"algorithm": 2},
                raid_disks=3,
                working=2,
                up="UU_",
                sync=("recovery", 23, 7196, 307200, 120, 412),
            )
        ],
    ),
    "raid5 spare, bitmap": (
        [
            "md0 : active raid5 nvme0n1p3[4](J) sdd[3](S) sdb[1] sda[0]",
            "      522240 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/2] [UU_]",
            "      [>....................]  recovery =  0.3% (1152/261120) finish=3.7min speed=1152K/sec",
            "      bitmap: 1/1 pages [4KB], 65536KB chunk",
            "",
        ],
        [
            expected(
                "md0",
                personality="raid5",
                members="nvme0n1p3[4](J) sdd[3](S) sdb[1] sda[0]",
                blocks_kib=522240,
                super="1.2",
                chunk_kib=64,
                layout={"algorithm": 2},
                raid_disks=3,
                working=2,
                up="UU_",
                sync=("recovery", 3, 1152, 261120, 37, 1152),
                bitmap=(1, 1, 4096, 67108864, ""),
            )
        ],
    ),
    "raid6 reshape at 5 %": (
        [
            "md1 : active raid6 sde[4] sdd[3] sdc[2] sdb[1] sda[0]",
            "      520192 blocks super 1.2 level 6, 512k chunk, algorithm 18 [5/5] [UUUUU]",
            "      [=>...................]  reshape =  5.8% (18048/307200) finish=0.6min speed=7936K/sec",
            _IDLE,
        ],
        [
            expected(
                "md1",
                personality="raid6",
                members="sde[4] sdd[3] sdc[2] sdb[1] sda[0]",
                blocks_kib=520192,
                super="1.2",
                chunk_kib=512,
                layout={"algorithm": 18},
                raid_disks=5,
                working=5,
                up="UUUUU",
                sync=("reshape", 58, 18048, 307200, 6, 7936),
            )
        ],
    ),
    "raid6 reshape elsewhere": (
        [
            "md1 : active raid6 sdd[3] sdc[2] sdb[1] sda[0]",
            "      520192 blocks super 1.2 level 6, 512k chunk, algorithm 2 [4/4] [UUUU]",
            "      \treshape=REMOTE",
            _IDLE,
        ],
        [
            expected(
                "md1",
                personality="raid6",
                members="sdd[3] sdc[2] sdb[1] sda[0]",
                blocks_kib=520192,
                super="1.2",
                chunk_kib=512,
                layout={"algorithm": 2},
                raid_disks=4,
                working=4,
                up="UUUU",
                sync=("reshape", "REMOTE"),
            )
        ],
    ),
    "raid10 near, slots of high numbers": (
        [
            "md127 : active raid10 sdf[5](R) sdc[4] sde[3] sdd[2] sdb[0]",
            "      819200 blocks super 1.2 32K chunks 2 near-copies [4/4] [UUUU]",
            "      [=========>...........]  recovery = 49.9% (205056/409600) finish=0.0min speed=205056K/sec",
            "      bitmap: 0/3 pages [0KB], 512B chunk, file: /var/my bitmap",
            "",
        ],
        [
            expected(
                "md127",
                personality="raid10",
                members="sdf[5](R) sdc[4] sde[3] sdd[2] sdb[0]",
                blocks_kib=819200,
                super="1.2",
                chunk_kib=32,
                layout={"near": 2},
                raid_disks=4,
                working=4,
                up="UUUU",
                sync=("recovery", 499, 205056, 409600, 0, 205056),
                bitmap=(0, 3, 0, 512, "/var/my bitmap"),
            )
        ],
    ),
    "raid10 far, delayed": (
        [
            "md10 : active raid10 sde2[3] sdd2[2] sdc2[1] sdb2[0]",
            "      614400 blocks super 1.2 32K chunks 2 far-copies [4/4] [UUUU]",
            "      \tresync=DELAYED",
            _IDLE,
        ],
        [
            expected(
                "md10",
                personality="raid10",
                members="sde2[3] sdd2[2] sdc2[1] sdb2[0]",
                blocks_kib=614400,
                super="1.2",
                chunk_kib=32,
                layout={"far": 2},
                raid_disks=4,
                working=4,
                up="UUUU",
                sync=("resync", "DELAYED"),
            )
        ],
    ),
    "raid10 offset, whole percentage": (
        [
            "md10 : active raid10 sde[3] sdd[2] sdc[1] sdb[0]",
            "      614400 blocks super 1.2 32K chunks 2 offset-copies [4/4] [UUUU]",
            "      [====================>]  resync =100.0% (614399/614400) finish=0.0min speed=99K/sec",
            _IDLE,
        ],
        [
            expected(
                "md10",
                personality="raid10",
                members="sde[3] sdd[2] sdc[1] sdb[0]",
                blocks_kib=614400,
                super="1.2",
                chunk_kib=32,
                layout={"offset": 2},
                raid_disks=4,
                working=4,
                up="UUUU",
                sync=("resync", 1000, 614399, 614400, 0, 99),
            )
        ],
    ),
    "raid10 near and far in sets, elsewhere": (
        [
            "md10 : active raid10 sde[3] sdd[2] sdc[1] sdb[0]",
            (
                "      614400 blocks super 1.1 1024K chunks 2 near-copies 2 far-copies"
                " 4 devices per set [4/4] [UUUU]"
            ),
            "      \tresync=REMOTE",
            _IDLE,
        ],
        [
            expected(
                "md10",
                personality="raid10",
                members="sde[3] sdd[2] sdc[1] sdb[0]",
                blocks_kib=614400,
                super="1.1",
                chunk_kib=1024,
                layout={"near": 2, "far": 2, "set": 4},
                raid_disks=4,
                working=4,
                up="UUUU",
                sync=("resync", "REMOTE"),
            )
        ],
    ),
    "read-only": (
        ["md1 : active (read-only) raid1 sdb[1] sda[0]", "      261120 blocks super 1.0 [2/2] [UU]", _IDLE],
        [
            expected(
                "md1",
                read_only="read-only",
                personality="raid1",
                members="sdb[1] sda[0]",
                blocks_kib=261120,
                super="1.0",
                raid_disks=2,
                working=2,
                up="UU",
            )
        ],
    ),
    "auto-read-only, pending": (
        [
            "md1 : active (auto-read-only) raid1 sda1[0] sdb1[1]",
            "      101376 blocks super 1.2 [2/2] [UU]",
            "      \tresync=PENDING",
            _IDLE,
        ],
        [
            expected(
                "md1",
                read_only="auto-read-only",
                personality="raid1",
                members="sda1[0] sdb1[1]",
                blocks_kib=101376,
                super="1.2",
                raid_disks=2,
                working=2,
                up="UU",
                sync=("resync", "PENDING"),
            )
        ],
    ),
    "check": (
        [
            "md127 : active raid10 sdb[1] sda[0]",
            "      409600 blocks super 1.2 32K chunks 2 near-copies [2/2] [UU]",
            "      [=====>...............]  check = 27.0% (110592/409600) finish=83218.6min speed=0K/sec",
            _IDLE,
        ],
        [
            expected(
                "md127",
                personality="raid10",
                members="sdb[1] sda[0]",
                blocks_kib=409600,
                super="1.2",
                chunk_kib=32,
                layout={"near": 2},
                raid_disks=2,
                working=2,
                up="UU",
                sync=("check", 270, 110592, 409600, 832186, 0),
            )
        ],
    ),
    "container and volume": (
        [
            "md126 : active raid5 sdc[2] sdb[1] sdd[0]",
            "      614400 blocks super external:/md127/0 level 5, 128k chunk, algorithm 0 [3/3] [UUU]",
            _IDLE,
            "md127 : inactive sdd[2](S) sdc[1](S) sdb[0](S)",
            "      3315 blocks super external:imsm",
            "       ",
        ],
        [
            expected(
                "md126",
                personality="raid5",
                members="sdc[2] sdb[1] sdd[0]",
                blocks_kib=614400,
                super="external:/md127/0",
                chunk_kib=128,
                layout={"algorithm": 0},
                raid_disks=3,
                working=3,
                up="UUU",
            ),
            expected(
                "md127",
                state="inactive",
                members="sdd[2](S) sdc[1](S) sdb[0](S)",
                blocks_kib=3315,
                super="external:imsm",
            ),
        ],
    ),
    "inactive 0.90": (
        ["md10 : inactive sdc[1](S)", "      2097088 blocks", "       "],
        [expected("md10", state="inactive", members="sdc[1](S)", blocks_kib=2097088)],
    ),
    "inactive of an old kernel": (
        ["md0 : inactive sda1[0] sdb1[1]", "      1465143808 blocks super non-persistent", "       "],
        [
            expected(
                "md0",
                state="inactive",
                members="sda1[0] sdb1[1]",
                blocks_kib=1465143808,
                super="non-persistent",
            )
        ],
    ),
    "inactive, with the level": (
        [
            "md0 : inactive raid5 sdd1[3] sdb1[1]",
            "      64 blocks",
            "       ",
            "md4 : inactive raid1 sda3[0](F)",
            "       ",
        ],
        [
            expected("md0", state="inactive", personality="raid5", members="sdd1[3] sdb1[1]", blocks_kib=64),
            expected("md4", state="inactive", personality="raid1", members="sda3[0](F)"),
        ],
    ),
    "no members: no line of blocks": (
        ["md127 : inactive super 1.2", "       ", "md126 : inactive", "       "],
        [expected("md127", state="inactive", super="1.2"), expected("md126", state="inactive")],
    ),
    "no members, active": (
        [
            "md7 : active raid1 super 1.2 [2/0] [__]",
            _IDLE,
            "md6 : active raid1 [2/0] [__]",
            _IDLE,
            "md5 : active raid6 level 6, 64k chunk, algorithm 2 [4/0] [____]",
            _IDLE,
        ],
        [
            expected("md7", personality="raid1", super="1.2", raid_disks=2, working=0, up="__"),
            expected("md6", personality="raid1", raid_disks=2, working=0, up="__"),
            expected(
                "md5",
                personality="raid6",
                chunk_kib=64,
                layout={"algorithm": 2},
                raid_disks=4,
                working=0,
                up="____",
            ),
        ],
    ),
    "named arrays, controllers of old, device mapper": (
        [
            "md_d0 : active raid1 cciss/c0d1p2[1] cciss/c0d0p2[0]",
            "      17 blocks [2/2] [UU]",
            _IDLE,
            "md_home : active raid1 dm-3[1] mmcblk0p1[0]",
            "      18 blocks super 1.2 [2/2] [UU]",
            _IDLE,
        ],
        [
            expected(
                "md_d0",
                personality="raid1",
                members="cciss/c0d1p2[1] cciss/c0d0p2[0]",
                blocks_kib=17,
                raid_disks=2,
                working=2,
                up="UU",
            ),
            expected(
                "md_home",
                personality="raid1",
                members="dm-3[1] mmcblk0p1[0]",
                blocks_kib=18,
                super="1.2",
                raid_disks=2,
                working=2,
                up="UU",
            ),
        ],
    ),
    "flags and lines of a kernel to come": (
        [
            "md1 : active raid1 sdb[1](W)(Q) sda[0]   ",
            "      261120 blocks super 1.2 [2/2] [UU] cosy",
            "      [>....................]  polish =  0.7% (2048/261120) finish=2.0min speed=2048K/sec",
            "      weather: fine",
            _IDLE,
        ],
        [
            expected(
                "md1",
                personality="raid1",
                members="sdb[1](W)(Q) sda[0]",
                blocks_kib=261120,
                super="1.2",
                raid_disks=2,
                working=2,
                up="UU",
            )
        ],
    ),
}
