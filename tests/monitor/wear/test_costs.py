"""What something cost, in bytes and in per cent of a life, as whole sentences."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.monitor.wear.bytes_written import Written
from raidtui.monitor.wear.costs import (
    Share,
    Spent,
    life_share,
    most_bytes,
    rebuild_cost,
    share_figure,
    share_words,
    sync_words,
)
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.endurance import Percent
from raidtui.monitor.wear.ledger_entries import LedgerEntry, stretch_bytes
from raidtui.monitor.wear.survey_wear import life_bytes

TB, GB = 10**12, 10**9
COMPONENT_KIB = 219_726_562  # 225 GB


def disk(
    name: str = "sdd", used: int | None = 3, written: int | None = 12 * TB, rated: int | None = None
) -> DiskWear:
    return DiskWear(
        name=name, percent=Percent(percent=used), written=Written(size_bytes=written), rated_bytes=rated
    )


def array(level: str = "raid10", **more: Any) -> Array:
    return Array(name="md127", path="/dev/md127", level=level, component_kib=COMPONENT_KIB, **more)


@pytest.mark.parametrize(
    ("of", "share"),
    [
        (disk(rated=150 * TB), Share(percent=1.0)),
        (disk(), Share(percent=0.4375)),  # 3.5 % for 12 TB: the figure is cut, not rounded
        (disk(used=0), Share(percent=0.125, at_most=True)),
        (disk(used=None), None),
        (disk(written=None), None),
        (disk(written=0), None),
        (disk(used=104, written=120 * TB), Share(percent=1.30625)),
        (None, None),
    ],
)
def test_a_share_of_a_life(of: DiskWear | None, share: Share | None) -> None:
    assert life_share(of, 1500 * GB) == share


def test_what_a_disk_takes_over_its_life() -> None:
    assert life_bytes(disk()) == 400 * TB
    assert life_bytes(disk(used=0)) is life_bytes(disk(used=None)) is life_bytes(disk(written=None)) is None


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([Share(percent=0.4375)], "0.44 % of its life"),
        ([Share(percent=0.4)], "0.4 % of its life"),
        ([Share(percent=12.34)], "12 % of its life"),
        ([Share(percent=0.0042)], "less than 0.01 % of its life"),
        ([Share(percent=0.0)], "less than 0.01 % of its life"),
        ([Share(percent=0.125, at_most=True)], "less than 0.12 % of its life"),
        ([Share(percent=0.1), Share(percent=0.4)], "0.1 to 0.4 % of its life"),
        ([Share(percent=0.1), Share(percent=0.101)], "0.1 % of its life"),
        ([Share(percent=0.1), None], ""),
        ([], ""),
    ],
)
def test_shares_in_words(shares: list[Share | None], words: str) -> None:
    assert share_words(shares) == words


@pytest.mark.parametrize(
    ("shares", "figure"),
    [
        ([Share(percent=0.4)], "~0.4 %"),
        ([Share(percent=0.0042)], "<0.01 %"),
        ([Share(percent=0.1), Share(percent=0.4)], "~0.1 to 0.4 %"),
        ([None], ""),
    ],
)
def test_figures_of_shares(shares: list[Share | None], figure: str) -> None:
    assert share_figure(shares, less="<", about="~") == figure


FIRST = LedgerEntry(
    disk="S", at_s=0.0, source="attribute 241 X", count=100, size_bytes=100 << 30, since="boot/1",
    low_bytes=1000, high_bytes=1200,
)  # fmt: skip
LAST = replace(FIRST, at_s=9.0, count=107, size_bytes=107 << 30, low_bytes=9000, high_bytes=9200)


@pytest.mark.parametrize(
    ("last", "size"),
    [
        (LAST, 8000),
        (replace(LAST, since="other/1"), 7 << 30),
        (replace(LAST, low_bytes=None), 7 << 30),
        (replace(LAST, since="", source="NVMe health log"), None),
    ],
)
def test_the_kernels_count_is_finer_than_a_disks_own(last: LedgerEntry, size: int | None) -> None:
    assert stretch_bytes(FIRST, last) == size


def test_a_measured_unit_counts_where_the_kernel_cannot() -> None:
    assert stretch_bytes(FIRST, replace(LAST, since="other/1"), 1 << 20) == 7 << 20


def spent(**sizes: int) -> list[Spent]:
    return [
        Spent(name=name, size_bytes=size, share=life_share(disk(name), size)) for name, size in sizes.items()
    ]


ONE = COMPONENT_KIB * 1024
COSTS = (
    ("recover", spent(sda=10**5, sdd=ONE), "recover wrote 225 GB to sdd (0.066 % of its life)"),
    (
        "recover",
        spent(sda=3 * GB, sdd=ONE + 3 * GB),
        "recover wrote 228 GB to sdd (0.066 % of its life), 3 GB to sda (less than 0.01 % of its life)",
    ),
    (
        "recover",
        spent(sdd=1618 * GB),
        "1.62 TB to sdd (0.47 % of its life) were written while recover ran, at most 225 GB of it by recover",
    ),
    (
        "resync",
        spent(sda=200 * GB, sdb=201 * GB, sdc=199 * GB),
        "resync wrote 200 GB to each of sda, sdb and sdc (0.058 to 0.059 % of each disk's life)",
    ),
    ("check", spent(sda=400_000, sdb=0), "check wrote almost nothing"),
    (
        "check",
        spent(sda=40 * GB, sdb=41 * GB),
        (
            "check itself wrote nothing; other writes meanwhile: 40.5 GB to each of sda and sdb"
            " (0.012 % of each disk's life)"
        ),
    ),
    ("repair", spent(sda=0, sdb=12_000_000), "repair wrote 12 MB to sdb (less than 0.01 % of its life)"),
    ("reshape", spent(sda=5 * TB, sdb=1), "reshape wrote 5 TB to sda (1.5 % of its life)"),
)


@pytest.mark.parametrize(("action", "of", "words"), COSTS)
def test_what_a_sync_cost(action: str, of: list[Spent], words: str) -> None:
    assert sync_words(action, of, most_bytes(array(), action)) == words


def test_a_sync_that_had_begun_before() -> None:
    of = [Spent(name="sdd", size_bytes=ONE // 2)]
    assert (
        sync_words("recover", of, ONE, partly=True) == "recover wrote 112 GB to sdd since raidtui was opened"
    )


def test_nobody_knows_the_size_of_a_member() -> None:
    assert most_bytes(replace(array(), component_kib=None), "recover") is None


TWO = {"sda": disk("sda"), "sdd": disk("sdd", used=11, written=61 * TB)}
LIFE = "about 0.042 to 0.066 % of its life"
ESTIMATES = (
    ("raid10", "recover", f"recover writes 225 GB to one disk, {LIFE}"),
    ("raid1", "resync", f"resync writes 225 GB to each member but the first, {LIFE}"),
    ("raid10", "resync", f"resync writes only where copies differ: at most 225 GB to a member, {LIFE}"),
    (
        "raid6",
        "repair",
        f"repair writes only where parity does not match: at most 225 GB to a member, {LIFE}",
    ),
    ("raid5", "reshape", f"reshape rewrites all data: about 225 GB to each member, {LIFE}"),
    ("raid1", "check", "check reads everything and writes nothing"),
    ("raid0", "recover", "raid0 has no redundancy: nothing is synced"),
)


@pytest.mark.parametrize(("level", "action", "words"), ESTIMATES)
def test_what_a_sync_will_cost(level: str, action: str, words: str) -> None:
    assert rebuild_cost(array(level), TWO, action) == words


def test_what_is_not_known_is_left_out() -> None:
    assert rebuild_cost(array(), {"sda": disk(used=None)}) == "recover writes 225 GB to one disk"
    assert rebuild_cost(array(), {}) == "recover writes 225 GB to one disk"
    assert rebuild_cost(replace(array(), component_kib=None), TWO) == ""
    young = {"sda": disk(used=0, written=900 * GB)}
    assert rebuild_cost(array(), young) == "recover writes 225 GB to one disk, less than 0.25 % of its life"
