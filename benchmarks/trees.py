"""Synthetic hosts below a directory: four arrays at rest, one resyncing, five hundred.

`python -m benchmarks.trees idle|resync|big DIR` writes a tree; `... move DIR` lets the resync of a `resync`
tree continue until its standard input is closed.
"""

import argparse
import contextlib
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.hostfiles import Array, Sync, disk_name, mdstat, replace_text, sync_attributes, write_host

CHECKOUT = Path(__file__).resolve().parent.parent
MOVE_EVERY_S = 0.25
DISK_KIB = 234_431_064  # a 240 GB SSD
COMPONENT_KIB = 220_200_960  # 210 GiB of it
RESYNC_START_PERMILLE = 542
RESYNC_KIB_S = 512_000


def idle_arrays() -> tuple[Array, ...]:
    """Four arrays at rest on ten disks, newest first."""
    disks = [disk_name(index) for index in range(12)]
    return (
        Array(
            number=127,
            level="raid10",
            members=tuple(disks[0:4]),
            raid_disks=4,
            component_kib=COMPONENT_KIB,
            chunk_kib=32,
        ),
        Array(
            number=126,
            level="raid1",
            members=tuple(disks[4:6]),
            raid_disks=2,
            component_kib=COMPONENT_KIB,
            bitmap=True,
        ),
        Array(
            number=125,
            level="raid5",
            members=tuple(disks[6:9]),
            raid_disks=3,
            component_kib=COMPONENT_KIB,
            chunk_kib=64,
            bitmap=True,
        ),
        Array(
            number=124, level="raid1", members=tuple(disks[9:11]), raid_disks=2, component_kib=COMPONENT_KIB
        ),
    )


def resync_arrays(*, moved_s: float = 0.0) -> tuple[Array, ...]:
    """The arrays of `idle_arrays`, the RAID-10 resyncing: 54.2 % at the start, `moved_s` further on.

    The speed varies by a few percent, as a real one does, so that its digits change too.  Past 99.9 % the
    resync begins again from the start.
    """
    first, *rest = idle_arrays()
    total = first.size_kib
    start = total * RESYNC_START_PERMILLE // 1000 + 1
    done = (start + int(moved_s * RESYNC_KIB_S)) % (total * 999 // 1000)
    speed = RESYNC_KIB_S + (int(moved_s * 4) * 7919) % 24_000 - 12_000
    return (replace(first, sync=Sync(done_kib=done, total_kib=total, speed_kib_s=speed)), *rest)


def big_arrays(arrays: int = 512, disks: int = 1000) -> tuple[Array, ...]:
    """Exactly `arrays` arrays on exactly `disks` whole disks.

    A few RAID-10 of four, the most RAID-1; where the disks run out, RAID-1 with one of two members
    (degraded); where disks are left over, arrays grow to RAID-5 and RAID-6.
    """
    if disks < arrays:
        raise ValueError(f"{arrays} arrays need at least as many disks, not {disks}")
    members = [4 if index < arrays // 64 else 2 for index in range(arrays)]
    index = arrays
    while sum(members) > disks:
        index -= 1
        members[index] = 1
    grow = 0
    while sum(members) < disks:
        members[grow % arrays] += 1
        grow += 1
    made: list[Array] = []
    used = 0
    for number, count in zip(range(arrays - 1, -1, -1), members, strict=True):
        level = {1: "raid1", 2: "raid1", 3: "raid5", 4: "raid10"}.get(count, "raid6")
        names = tuple(disk_name(used + slot) for slot in range(count))
        used += count
        made.append(
            Array(
                number=number,
                level=level,
                members=names,
                raid_disks=max(2, count),
                component_kib=COMPONENT_KIB,
                chunk_kib=0 if level == "raid1" else 64,
            )
        )
    return tuple(made)


def idle(directory: Path) -> None:
    """Write the host at rest."""
    write_host(directory, idle_arrays(), disk_kib=DISK_KIB)


def resync(directory: Path) -> None:
    """Write the host whose md127 resyncs, at 54.2 %; it does not progress until `moving` moves it."""
    write_host(directory, resync_arrays(), disk_kib=DISK_KIB)


def big(directory: Path, arrays: int = 512, disks: int = 1000) -> None:
    """Write the host with many arrays."""
    write_host(directory, big_arrays(arrays, disks), disk_kib=DISK_KIB)


def move_once(directory: Path, moved_s: float) -> None:
    """Set a `resync` tree to its state `moved_s` after its start."""
    arrays = resync_arrays(moved_s=moved_s)
    for name, text in sync_attributes(arrays[0]).items():
        replace_text(directory / "sys/class/block" / arrays[0].name / "md" / name, text + "\n")
    replace_text(directory / "proc/mdstat", mdstat(arrays))


def move(directory: Path) -> None:
    """Move the tree every 250 ms until standard input is closed."""
    start_s = time.monotonic()
    steps = 0
    while True:
        steps += 1
        pause_s = start_s + steps * MOVE_EVERY_S - time.monotonic()
        if select.select([sys.stdin], [], [], max(0.0, pause_s))[0]:
            return
        move_once(directory, time.monotonic() - start_s)


@contextlib.contextmanager
def moving(directory: Path) -> Iterator[None]:
    """Write the resyncing host and keep it moving, from a process of its own, while the block runs."""
    resync(directory)
    command = (sys.executable, "-m", "benchmarks.trees", "move", str(directory))
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=CHECKOUT) as mover:
        try:
            yield
        finally:
            if mover.stdin is not None:
                mover.stdin.close()
            mover.wait(timeout=10)


def main() -> int:
    """Write, or move, one tree."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trees",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("idle", "resync", "big", "move"))
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    {"idle": idle, "resync": resync, "big": big, "move": move}[arguments.what](arguments.directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
