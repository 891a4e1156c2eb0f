"""Verdicts: the exact distribution against counting it out, intervals, words; and steadiness."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.bench.steady import Steadiness, steadiness
from raidtui.bench.verdict import Outcome, Spread, compare, interval_rank, sentence


def counted_out(first: int, second: int) -> list[int]:
    """In how many orders of all values U comes to 0, 1, 2 ..."""
    found = Counter(
        sum(place - rank for rank, place in enumerate(places))
        for places in itertools.combinations(range(first + second), first)
    )
    return [found[value] for value in range(first * second + 1)]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 3), (4, 4), (5, 3), (6, 5), (7, 7)])
def test_the_interval_is_exact(first: int, second: int) -> None:
    ways, total = counted_out(first, second), math.comb(first + second, first)
    rank, confidence = interval_rank(first, second)
    if rank == 0:
        assert 1 - 2 * ways[0] / total < 0.9
        return
    assert confidence == pytest.approx(1 - 2 * sum(ways[:rank]) / total)
    if rank > 1:
        assert confidence >= 0.95
        assert 1 - 2 * sum(ways[: rank + 1]) / total < 0.95


def test_how_many_runs_say_how_much() -> None:
    assert interval_rank(1, 1) == (0, 0.0)
    assert interval_rank(2, 2) == (0, 0.0)
    assert interval_rank(3, 3) == (1, 0.9)
    for runs, expected in ((4, (1, 0.971)), (8, (14, 0.950))):
        rank, confidence = interval_rank(runs, runs)
        assert (rank, round(confidence, 3)) == expected


def test_it_holds_as_often_as_it_says() -> None:
    """4 against 4 of one kind: the interval of 97 % leaves out the truth, none, about 3 times in 100."""
    dice = random.Random(7)  # noqa: S311
    missed = 0
    for _ in range(3000):
        verdict = compare([dice.gauss(100, 10) for _ in range(4)], [dice.gauss(100, 10) for _ in range(4)])
        assert verdict.low is not None
        assert verdict.high is not None
        missed += not verdict.low <= 0 <= verdict.high
    assert 50 < missed < 125


@pytest.mark.parametrize(
    ("first", "second", "outcome", "words"),
    [
        (
            [100, 101, 102],
            [110, 112, 113],
            Outcome.HIGHER,
            "b is faster than a by 10.9 % (+7.9 % to +12.9 %, 90 % interval)",
        ),
        (
            [110, 112, 113],
            [100, 101, 102],
            Outcome.LOWER,
            "b is slower than a by 9.8 % (-11.6 % to -7.1 %, 90 % interval)",
        ),
        (
            [100, 101, 102],
            [101, 100, 102],
            Outcome.SAME,
            "no difference: b against a is -2.0 % to +2.0 %, 90 % interval",
        ),
        (
            [100, 101, 102],
            [90, 120, 102],
            Outcome.OPEN,
            "not decided: b against a is -11.9 % to +19.8 %, 90 % interval; more repeats may tell",
        ),
        ([100], [200], Outcome.OPEN, "not decided: 1 and 1 runs decide nothing; three of each are the least"),
        ([0, 0, 0], [1, 1, 1], Outcome.OPEN, "not decided: a has nothing to compare with"),
    ],
)  # fmt: skip
def test_outcomes(first: list[float], second: list[float], outcome: Outcome, words: str) -> None:
    verdict = compare(first, second)
    assert verdict.outcome is outcome
    assert sentence(verdict, "a", "b") == words


def test_a_latency_that_is_higher_is_slower() -> None:
    verdict = compare([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    told = sentence(verdict, "a", "b", what="slower", less="faster")
    assert told == "b is slower than a by 100.0 % (+100.0 % to +100.0 %, 90 % interval)"


@given(
    st.lists(st.floats(1, 1e6), min_size=1, max_size=8), st.lists(st.floats(1, 1e6), min_size=1, max_size=8)
)
def test_always_in_order(first: list[float], second: list[float]) -> None:
    verdict = compare(first, second)
    assert verdict.first == Spread(
        count=len(first), median=verdict.first.median, low=min(first), high=max(first)
    )
    if verdict.low is not None and verdict.high is not None:
        assert verdict.low <= verdict.shift <= verdict.high
        assert verdict.confidence >= 0.9
    else:
        assert verdict.outcome is Outcome.OPEN


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        ([100.0] * 4, False),
        ([100.0] * 5, True),
        ([500.0, 300.0, 100.0, 101.0, 99.0, 100.0, 100.0], True),
        ([100.0, 100.0, 100.0, 100.0, 121.0], False),  # over 20 % apart
        ([94.0, 97.0, 100.0, 103.0, 107.0], False),  # drifts by over 10 %
        ([96.0, 98.0, 100.0, 102.0, 104.0], True),
        ([0.0] * 5, False),
    ],
)
def test_steadiness(values: list[float], steady: bool) -> None:  # noqa: FBT001
    assert steadiness(values).steady is steady


def test_steadiness_in_words() -> None:
    assert steadiness([1.0]).sentence == "not steady yet: fewer than 5 rounds"
    assert Steadiness(steady=True, range=0.08, slope=0.04).sentence == (
        "steady: over the last 5 rounds values lie within 8.0 % of their mean (20 % may be), and drift by"
        " 4.0 % (10 % may be)"
    )
