"""How much fits, against what mdadm and the kernel made in the laboratory."""

from __future__ import annotations

import pytest

from raidtui.model.geometry import capacity_kib, data_disks, raid10_layout, usable_kib
from raidtui.model.levels import Raid10Layout

GIB = 1 << 30
KIB = 1 << 10


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("n2", 0x102),
        ("n3", 0x103),
        ("f2", 0x201),
        ("f3", 0x301),
        ("o2", 0x10201),
        ("o3", 0x10301),
        ("n1", 0x101),
    ],
)
def test_layouts_of_raid10(text: str, number: int) -> None:
    assert raid10_layout(text) == number
    decoded = Raid10Layout.decode(number)
    assert decoded is not None
    assert decoded.short == text


@pytest.mark.parametrize(
    "text", ["", "n", "2", "n0", "n201", "n2f2", "x2", "N2", "n-2", "n٢", "near=2", "n0000002"]
)
def test_what_is_no_layout_of_raid10(text: str) -> None:
    assert raid10_layout(text) is None


@pytest.mark.parametrize(
    ("level", "layout", "disks", "expected"),
    [
        ("raid0", None, 4, 4),
        ("raid1", None, 2, 1),
        ("raid4", None, 4, 3),
        ("raid5", 2, 4, 3),
        ("raid6", 2, 4, 2),
        ("raid10", 0x102, 4, 2),  # measured: io_opt of chunk 32K was 65536
        ("raid10", 0x201, 4, 4),  # 131072
        ("raid10", 0x10201, 4, 4),  # 131072
        ("raid10", 0x103, 4, 4),  # 131072
        ("raid10", 0x102, 5, 5),  # 163840
        ("raid10", 0x103, 6, 2),
        ("raid10", None, 4, 4),
    ],
)
def test_disks_of_a_full_stripe(level: str, layout: int | None, disks: int, expected: int) -> None:
    assert data_disks(level, layout, disks) == expected


@pytest.mark.parametrize(
    ("level", "layout", "disks", "expected"),
    [
        ("raid0", None, 4, 4000),
        ("raid1", None, 3, 1000),
        ("raid4", None, 4, 3000),
        ("raid5", 2, 4, 3000),
        ("raid6", 2, 5, 3000),
        ("raid10", 0x102, 4, 2000),
        ("raid10", 0x102, 5, 2500),
        ("raid10", 0x103, 6, 2000),
        ("raid10", 0x201, 4, 2000),
        ("raid10", 0x10301, 3, 999),  # a third of each member at a time
        ("raid10", None, 4, 0),
    ],
)
def test_capacity(level: str, layout: int | None, disks: int, expected: int) -> None:
    assert capacity_kib(level, layout, 1000, disks) == expected


@pytest.mark.parametrize(
    ("size_bytes", "offset_sectors"),
    [
        (2 * GIB, 6144),  # as mdadm 4.2 and 4.6 chose it
        (128 * GIB, 264192),
        (4000 * GIB, 264192),
        (16 << 20, 2048),
    ],
)
@pytest.mark.parametrize("metadata", ["1.1", "1.2"])
def test_where_data_begin(size_bytes: int, offset_sectors: int, metadata: str) -> None:
    assert usable_kib([size_bytes], metadata=metadata) == (size_bytes // KIB - offset_sectors // 2,)


def test_what_can_be_used() -> None:
    assert usable_kib([]) == ()
    three = usable_kib([2 * GIB] * 3, chunk_kib=64)
    assert sum(three) == 6282240  # RAID-0 of three disks of 2 GiB, mdadm 4.2 and 4.6
    large, small = usable_kib([2 * GIB, GIB], chunk_kib=512)
    assert (large, small) == (2 * 1024**2 - 3072, 1024**2 - 3072)  # the first device's offset holds for all
    assert usable_kib([2 * GIB + 300 * KIB], chunk_kib=512) == (large,)  # whole chunks
    assert usable_kib([2 * GIB + 300 * KIB]) == (large + 256,)  # mirrors: 64 KiB, so that they may get chunks
    assert usable_kib([2 * GIB], metadata="1.0", chunk_kib=64) == (2 * 1024**2 - 64,)
    assert usable_kib([2 * GIB], chunk_kib=64, ppl=True) == (2 * 1024**2 - 4096,)
    assert usable_kib([1 << 20], chunk_kib=512) == (0,)
    assert usable_kib([64 << 20], chunk_kib=65536) == (0,)
