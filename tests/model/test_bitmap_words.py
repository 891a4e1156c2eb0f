"""What a bitmap says of a re-add."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.array import Array, Bitmap
from raidtui.model.array_sync import Phase, Sync
from raidtui.model.bitmap_words import bitmap_words

CHUNK = 64 << 20
TWO = Bitmap(location="internal", chunk_bytes=CHUNK, used_pages=2, pages=31, used_bytes=8192)
WHOLE = Array(
    name="md0",
    path="/dev/md0",
    level="raid1",
    up="UU",
    bitmap=TWO,
    component_kib=4 << 30,
    raid_disks=2,
)
LEFT = replace(WHOLE, up="U_")
ALL = replace(TWO, used_pages=31, used_bytes=31 * 4096)
NOT_KNOWN = "how much a re-add copies is not known: all pages are in use. Its plan asks mdadm"
HEAD = "bitmap: 2 of 31 pages in use, 64M chunks"


@pytest.mark.parametrize(
    ("bitmap", "most"),
    [
        (TWO, 2 * 2048 * CHUNK),  # 2048 counters of 16 bits in a page of 4 KiB
        (replace(TWO, used_bytes=2 * 65536), 2 * 32768 * CHUNK),  # pages of 64 KiB
        (replace(TWO, used_pages=0, used_bytes=0), 0),
        (ALL, None),
        (replace(TWO, used_bytes=None), None),
        (replace(TWO, chunk_bytes=None), None),
    ],
)
def test_what_can_be_marked(bitmap: Bitmap, most: int | None) -> None:
    assert bitmap.marked_at_most_bytes == most


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (WHOLE, HEAD),
        (LEFT, f"{HEAD}; a re-add copies at most 256 GiB of 4 TiB"),
        (replace(LEFT, component_kib=None), f"{HEAD}; a re-add copies at most 256 GiB"),
        (
            replace(LEFT, component_kib=100 << 20),
            f"{HEAD}; a re-add copies at most all 100 GiB: its plan asks mdadm how much",
        ),
        (
            replace(LEFT, bitmap=ALL),
            f"{HEAD.replace('2', '31', 1)}; {NOT_KNOWN}",
        ),
        (replace(LEFT, sync=Sync(action="recover", phase=Phase.RUNNING)), HEAD),
        (replace(LEFT, bitmap=None), ""),
        (replace(LEFT, bitmap=replace(TWO, pages=None, used_pages=None)), ""),
    ],
)
def test_words(array: Array, words: str) -> None:
    assert bitmap_words(array) == words
