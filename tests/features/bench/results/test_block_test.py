"""The test within blocks: against all orders counted out, and on machines that drift."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.bench.place import Place
from raidtui.features.bench.results.block_test import Block, effect, interval, p_value, smallest_effect
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule

Noise = Callable[[random.Random, int], list[float]]
"""What a machine does to the logarithms of so many runs, one after the other."""

_SIZES = st.tuples(st.integers(1, 2), st.integers(1, 2))


def counted_out(blocks: Sequence[Block]) -> float:
    """How often an order that could have been drawn is as far from the middle as this one."""
    each, seen = [], 0
    for first, second in blocks:
        values = [round(math.log(value) / 1e-3) for value in (*first, *second)]
        whole, count = len(values), len(second)
        middle = count * sum(values)
        each.append([sum(some) * whole - middle for some in itertools.combinations(values, count)])
        seen += sum(values[len(first) :]) * whole - middle
    sums = [sum(some) for some in itertools.product(*each)]
    return sum(abs(value) >= abs(seen) for value in sums) / len(sums)


@given(st.lists(_SIZES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_p_is_that_of_all_orders(sizes: list[tuple[int, int]], dice: random.Random) -> None:
    blocks = [
        (
            tuple(dice.uniform(50, 200) for _ in range(first)),
            tuple(dice.uniform(50, 200) for _ in range(second)),
        )
        for first, second in sizes
    ]
    assert p_value(blocks) == pytest.approx(counted_out(blocks))


def test_twice_as_fast_is_half_as_fast_the_other_way_round() -> None:
    blocks: list[Block] = [((100.0, 104.0), (203.0, 196.0)), ((98.0, 101.0), (199.0, 207.0))] * 2
    back: list[Block] = [(second, first) for first, second in blocks]
    assert p_value(blocks) == p_value(back)
    assert effect(blocks) == pytest.approx(-effect(back))
    there, again = interval(blocks, 0.03), interval(back, 0.03)
    assert there is not None
    assert again is not None
    assert there == pytest.approx((-again[1], -again[0]), abs=2e-3)
    assert math.exp(there[0]) < 2 < math.exp(there[1])
    assert interval(blocks[:2], 0.03) is None
    assert smallest_effect(blocks[:1]) is None


# -- machines that drift


def _white(dice: random.Random, count: int) -> list[float]:
    return [dice.gauss(0, 0.05) for _ in range(count)]


def _drift(dice: random.Random, count: int) -> list[float]:
    return [value - 0.22 * place / count for place, value in enumerate(_white(dice, count))]


def _step(dice: random.Random, count: int) -> list[float]:
    at, height = dice.randrange(count), dice.choice((-0.2, 0.2))
    return [value + height * (place >= at) for place, value in enumerate(_white(dice, count))]


def _bursts(dice: random.Random, count: int) -> list[float]:
    found = _white(dice, count)
    for start in range(0, count, 3):
        if dice.random() < 0.2:
            found[start : start + 3] = [value - 0.29 for value in found[start : start + 3]]
    return found


def _beat(dice: random.Random, count: int) -> list[float]:
    """Garbage is collected in every second run."""
    return [value + 0.05 * (-1) ** place for place, value in enumerate(_white(dice, count))]


def _cliff(dice: random.Random, count: int) -> list[float]:
    return [value + 0.34 * math.exp(-place / 6) for place, value in enumerate(_white(dice, count))]


def session(dice: random.Random, noise: Noise, repeats: int, effect_of_b: float) -> list[Block]:
    """Return what an A/B in the order of a schedule measures on such a machine."""
    axis = Axis(kind=AxisKind.KNOB, name="scheduler", values=("none", "bfq"))
    drawn = Schedule(
        title="", place=Place(), axes=(axis,), repeats=repeats, seed=dice.randrange(1, 1 << 31)
    ).runs()
    blocks: dict[int, tuple[list[float], list[float]]] = {}
    for run, value in zip(drawn, noise(dice, len(drawn)), strict=True):
        second = run.point["scheduler"] == "bfq"
        found = math.exp(value + effect_of_b * second) * 50_000
        blocks.setdefault(run.block, ([], []))[second].append(found)
    return [(tuple(first), tuple(second)) for first, second in blocks.values()]


@pytest.mark.parametrize("noise", [_white, _drift, _step, _bursts, _beat, _cliff])
@pytest.mark.parametrize("repeats", [6, 10])
def test_what_is_alike_is_seldom_called_different(noise: Noise, repeats: int) -> None:
    """1,000 sessions that compare a setting with itself: wrong in one of 20 at most, whatever drifts."""
    dice = random.Random(repeats)  # noqa: S311
    wrong = sum(p_value(session(dice, noise, repeats, 0.0)) <= 0.03 for _ in range(1000))
    assert wrong / 1000 <= 0.05


def test_a_difference_is_found_on_a_machine_that_drifts() -> None:
    dice = random.Random(1)  # noqa: S311
    found = sum(p_value(session(dice, _drift, 10, math.log(1.1))) <= 0.03 for _ in range(200))
    assert found / 200 > 0.85
