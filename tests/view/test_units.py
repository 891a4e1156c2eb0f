"""Quantities in words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.view.units import (
    binary_change,
    binary_size,
    counted,
    duration,
    rate_mb_s,
    short_binary,
    short_size,
    three_digits,
)


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1.0 KiB"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (409600 * 1024, "400 MiB"),
        (420 << 30, "420 GiB"),
        (1 << 40, "1 TiB"),
        (3 << 39, "1.5 TiB"),
        (5000 << 60, "5000 EiB"),
    ],
)
def test_binary_size(size_bytes: int, words: str) -> None:
    assert binary_size(size_bytes) == words


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (210 << 30, 214 << 30, "210 GiB → 214 GiB"),
        (210 << 30, (210 << 30) - 65536, "220200960 KiB → 220200896 KiB"),
        (210 << 30, 210 << 30, "210 GiB → 210 GiB"),
    ],
)
def test_binary_change(before: int, after: int, words: str) -> None:
    assert binary_change(before, after) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (32768, "32K"),
        (524288, "512K"),
        (1 << 20, "1M"),
        (3 << 30, "3G"),
        (512, "512B"),
        (1536, "1536B"),
        (0, "0B"),
    ],
)
def test_short_binary(size_bytes: int, words: str) -> None:
    assert short_binary(size_bytes) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (480103981056, "447G"),
        (4000787030016, "3.6T"),
        (256 << 20, "256M"),
        (1099511627776 - 1, "1.0T"),
        (0, "0B"),
    ],
)
def test_short_size(size_bytes: int, words: str) -> None:
    """Disks are no round number of GiB."""
    assert short_size(size_bytes) == words


@pytest.mark.parametrize(
    ("speed_kib_s", "words"),
    [
        (0, "0 MB/s"),
        (1, "1.0 KB/s"),
        (100, "102 KB/s"),
        (900, "922 KB/s"),
        (971.7, "1.0 MB/s"),
        (1000, "1.0 MB/s"),
        (8203, "8.4 MB/s"),
        (84_000, "86.0 MB/s"),
        (200_000, "205 MB/s"),
        (525_478, "538 MB/s"),
        (0.0000001, "0 KB/s"),
    ],
)
def test_rate(speed_kib_s: float, words: str) -> None:
    assert rate_mb_s(speed_kib_s) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (8.4, "8 s"),
        (59.4, "59 s"),
        (59.5, "1 min"),
        (200, "3 min"),
        (3569, "59 min"),
        (3570, "1 h 00"),
        (7500, "2 h 05"),
        (172_769, "47 h 59"),
        (172_770, "2 d 0 h"),
        (273_600, "3 d 4 h"),
        (math.inf, "?"),
        (math.nan, "?"),
        (-1, "?"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@given(st.floats(0, 9_999))
def test_three_digits_are_near_and_plain(value: float) -> None:
    text = three_digits(value)
    assert set(text) <= set("0123456789.")
    assert math.isclose(float(text), value, rel_tol=0.055, abs_tol=0.0005)
    assert len(text.replace(".", "").lstrip("0")) <= 4


def test_counted() -> None:
    assert [counted(number, "disk") for number in (0, 1, 3)] == ["0 disks", "1 disk", "3 disks"]
