"""The slider's arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.arrays.screen.slider import (
    _COARSE,
    _FINE,
    HIGHEST_KIB_S,
    LOWEST_KIB_S,
    nearest_step,
    next_step,
    position,
    typed_kib_s,
)
from raidtui.view.units import rate_mb_s

VALUES = st.integers(min_value=1, max_value=2**31 - 1)
INSIDE = st.integers(min_value=LOWEST_KIB_S + 1, max_value=HIGHEST_KIB_S - 1)
SCALES = st.sampled_from([_FINE, _COARSE])
WIDTHS = st.integers(min_value=2, max_value=300)


@given(INSIDE, SCALES)
def test_a_step_takes_its_direction(value: int, scale: tuple[float, ...]) -> None:
    assert next_step(value, scale, -1) < value < next_step(value, scale, 1)


@given(VALUES, VALUES, SCALES, st.sampled_from([-1, 1]))
def test_steps_keep_the_order(one: int, other: int, scale: tuple[float, ...], direction: int) -> None:
    low, high = sorted((one, other))
    assert next_step(low, scale, direction) <= next_step(high, scale, direction)


@given(VALUES, SCALES, st.sampled_from([-1, 1]))
def test_a_step_stays_within_the_track(value: int, scale: tuple[float, ...], direction: int) -> None:
    assert LOWEST_KIB_S <= next_step(value, scale, direction) <= HIGHEST_KIB_S


@given(VALUES, SCALES)
def test_steps_reach_the_end(value: int, scale: tuple[float, ...]) -> None:
    for _ in range(80):
        value = next_step(value, scale, 1)
    assert value == HIGHEST_KIB_S


@given(st.sampled_from(_FINE), st.integers(min_value=0, max_value=3))
def test_there_and_back(digit: float, power: int) -> None:
    value = round(digit * 10**power * 1e6 / 1024)
    if LOWEST_KIB_S < value < HIGHEST_KIB_S:
        assert next_step(next_step(value, _FINE, 1), _FINE, -1) == value


def test_the_coarse_steps() -> None:
    value, words = LOWEST_KIB_S, []
    for _ in range(15):
        words.append(rate_mb_s(value))
        value = next_step(value, _COARSE, 1)
    assert words == [
        "100 KB/s", "200 KB/s", "500 KB/s", "1.0 MB/s", "2.0 MB/s", "5.0 MB/s", "10.0 MB/s", "20.0 MB/s",
        "50.0 MB/s", "100 MB/s", "200 MB/s", "500 MB/s", "1000 MB/s", "2000 MB/s", "5000 MB/s",
    ]  # fmt: skip


@given(VALUES, WIDTHS)
def test_the_knob_is_on_the_track(value: int, width: int) -> None:
    cell = position(value, width)
    assert cell is not None
    assert 0 <= cell < width


@given(VALUES, VALUES, WIDTHS)
def test_the_knob_keeps_the_order(one: int, other: int, width: int) -> None:
    cells = [position(value, width) for value in sorted((one, other))]
    assert cells[0] is not None
    assert cells[1] is not None
    assert cells[0] <= cells[1]


def test_the_ends_of_the_track() -> None:
    assert position(None, 40) is None
    assert [position(value, 40) for value in (0, 1, LOWEST_KIB_S)] == [0, 0, 0]
    assert [position(value, 40) for value in (HIGHEST_KIB_S, 2**31 - 1)] == [39, 39]


@given(INSIDE)
def test_the_nearest_step_is_a_neighbour(value: int) -> None:
    assert next_step(value, _FINE, -1) <= nearest_step(value) <= next_step(value, _FINE, 1)


@pytest.mark.parametrize(
    ("text", "kib_s"),
    [
        ("500", 488_281),
        ("0.1", 98),
        ("1.5", 1465),
        (".5", 488),
        ("200000k", 200_000),
        ("200000K", 200_000),
        ("1k", 1),
        ("999999999999", 2**31 - 1),
        ("", None),
        ("k", None),
        (".", None),
        ("1.2.3", None),
        ("1k2", None),
        ("0", None),
        ("0.0k", None),
        ("0.0000001", None),
    ],
)
def test_typed(text: str, kib_s: int | None) -> None:
    assert typed_kib_s(text) == kib_s


@given(st.text(alphabet="0123456789.kK²٣", max_size=12))
def test_whatever_is_typed(text: str) -> None:
    value = typed_kib_s(text)
    assert value is None or 1 <= value < 2**31


@given(st.integers(min_value=1, max_value=9_999_999))
def test_what_is_shown_can_be_typed(value: int) -> None:
    assert typed_kib_s(f"{value}k") == value
