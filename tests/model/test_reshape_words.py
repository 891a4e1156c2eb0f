"""What is said of a reshape that is not finished."""

from __future__ import annotations

import pytest

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Reshape, Sync
from raidtui.model.reshape_words import change_words, progress_words

RUNS = Sync(action="reshape", phase=Phase.RUNNING)
KIB = 1024


def array(reshape: Reshape, **more: object) -> Array:
    """Return a RAID 5 of four with chunks of 64 KiB, whose reshape runs."""
    words: dict[str, object] = {
        "level": "raid5", "layout": 2, "chunk_bytes": 64 * KIB, "raid_disks": 4, "sync": RUNS,
        "component_kib": 23552, "size_bytes": 47104 * KIB,
    }  # fmt: skip
    return Array(name="md9", path="/dev/md9", reshape=reshape, **(words | more))  # type: ignore[arg-type]


SHIFT = "The data of each member move by 192 KiB towards its start"
MOVES = f"{SHIFT}: there is no critical section."
SINCE = "Unless the array was restarted since the reshape began"
LOSES = f"{SINCE}, a power cut can lose what was moved in the last ten seconds."
HALTED = Reshape(position_sectors=1920, layout=0, shift_sectors=-384)
PLACE = "The first 960 KiB of the array have the new shape."
CUT = (
    "It stopped within a stripe: until it continues, a read between 960 KiB and 1 MiB of"
    " the array hangs, and the reader cannot be killed (Linux 6.0 and newer)."
)
CASES = {
    "more devices": (
        array(Reshape(position_sectors=1920, shift_sectors=-384), old_raid_disks=3),
        "3 → 4 devices; 46 MiB → 69 MiB when it ends",
        (PLACE, MOVES),
    ),
    "a RAID 0 with more devices": (
        array(
            Reshape(position_sectors=1920, shift_sectors=-384),
            level="raid4",
            layout=5,
            old_raid_disks=3,
            up="UU__",
            awaited_slots=(2, 3),
        ),
        "2 → 3 devices; 46 MiB → 69 MiB when it ends",
        (PLACE, MOVES),
    ),
    "another chunk and layout, in place": (
        array(
            Reshape(position_sectors=0, layout=0, chunk_bytes=128 * KIB, shift_sectors=0, backup="/root/b"),
            raid_disks=3,
        ),
        "chunk 64 KiB → 128 KiB, layout left-symmetric → left-asymmetric",
        (
            "The first 0 B of the array have the new shape.",
            "It moves data in place: the whole reshape is a critical section; the backup file is /root/b.",
        ),
    ),
    "more devices, in place": (
        array(Reshape(position_sectors=1920, shift_sectors=0), old_raid_disks=3),
        "3 → 4 devices; 46 MiB → 69 MiB when it ends",
        (PLACE, "It moves data in place: its beginning is a critical section; mdadm notes no backup file."),
    ),
    "fewer devices": (
        array(
            Reshape(position_sectors=81920, shift_sectors=256, backwards=True), raid_disks=3, old_raid_disks=4
        ),
        "4 → 3 devices",
        (
            "The array has its new shape from 40 MiB on; the reshape moves towards the start.",
            "The data of each member move by 128 KiB towards its end: there is no critical section.",
        ),
    ),
    "another layout, halted": (
        array(
            Reshape(position_sectors=1920, layout=0, shift_sectors=-384), sync_max_sectors=2048, raid_disks=3
        ),
        "layout left-symmetric → left-asymmetric",
        (
            PLACE,
            f"{SHIFT}, and md halts where its place is not recorded.",
        ),
    ),
    "another layout, as mdadm alone begins it": (
        array(Reshape(position_sectors=1920, layout=0, shift_sectors=-384), raid_disks=3),
        "layout left-symmetric → left-asymmetric",
        (
            PLACE,
            f"{SHIFT}. {LOSES}",
        ),
    ),
    "it waits within a stripe": (
        array(Reshape(position_sectors=1920), old_raid_disks=3, sync=None),
        "3 → 4 devices; 46 MiB → 69 MiB when it ends",
        (
            PLACE,
            CUT,
        ),
    ),
    "it waits within a stripe far from the start": (
        array(Reshape(position_sectors=88_082_304), old_raid_disks=3, sync=None),
        "3 → 4 devices; 46 MiB → 69 MiB when it ends",
        (
            "The first 42.0 GiB of the array have the new shape.",
            CUT.replace("between 960 KiB and 1 MiB", "of the 64 KiB at 42.0 GiB"),
        ),
    ),
    "not known": (array(Reshape()), "", ()),
}


@pytest.mark.parametrize("name", CASES)
def test_words(name: str) -> None:
    found, change, progress = CASES[name]
    assert (change_words(found), progress_words(found)) == (change, progress)
