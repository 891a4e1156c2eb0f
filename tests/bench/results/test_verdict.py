"""Verdicts: the exact distribution against counting it out, intervals, words; and steadiness."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.bench.results.comparison_verdict import (
    Best,
    Spread,
    Verdict,
    VerdictOutcome,
    compare_family,
    decided_best,
    family_words,
    fewest_runs,
    interval_rank,
    p_value,
    sentence,
)
from raidtui.bench.results.steady import Steadiness, steadiness


def alone(first: Sequence[float], second: Sequence[float]) -> Verdict:
    """Return the verdict over two series by themselves."""
    return compare_family([(first, second)])[0]


def counted_out(first: int, second: int) -> list[int]:
    """In how many orders of all values U is 0, 1, 2 ..."""
    found = Counter(
        sum(place - rank for rank, place in enumerate(places))
        for places in itertools.combinations(range(first + second), first)
    )
    return [found[value] for value in range(first * second + 1)]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 3), (4, 4), (5, 3), (6, 5), (7, 7)])
def test_the_interval_is_exact(first: int, second: int) -> None:
    counts, total = counted_out(first, second), math.comb(first + second, first)
    rank, confidence = interval_rank(first, second)
    if rank == 0:
        assert 1 - 2 * counts[0] / total < 0.95
        return
    assert confidence == pytest.approx(1 - 2 * sum(counts[:rank]) / total)
    assert confidence >= 0.95
    assert 1 - 2 * sum(counts[: rank + 1]) / total < 0.95


def test_how_many_runs_say_how_much() -> None:
    assert interval_rank(1, 1) == (0, 0.0)
    assert interval_rank(2, 2) == (0, 0.0)
    assert interval_rank(3, 3) == (0, 0.0)
    assert interval_rank(3, 3, 0.10) == (1, 0.9)
    for runs, expected in ((4, (1, 0.971)), (8, (14, 0.950))):
        rank, confidence = interval_rank(runs, runs)
        assert (rank, round(confidence, 3)) == expected


def test_it_holds_as_often_as_it_says() -> None:
    """4 against 4 of one kind: the interval of 97 % leaves out the truth, none, about 3 times in 100."""
    dice = random.Random(7)  # noqa: S311
    missed = 0
    for _ in range(3000):
        verdict = alone([dice.gauss(100, 10) for _ in range(4)], [dice.gauss(100, 10) for _ in range(4)])
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
            VerdictOutcome.HIGHER,
            "b is faster than a by 10.8 % (+7.8 % to +13.0 %, 90 % interval)",
        ),
        (
            [110, 112, 113],
            [100, 101, 102],
            VerdictOutcome.LOWER,
            "b is slower than a by 9.7 % (-11.5 % to -7.3 %, 90 % interval)",
        ),
        (
            [100, 101, 102],
            [101, 100, 102],
            VerdictOutcome.SAME,
            "no difference: b against a is -2.0 % to +2.0 %, 90 % interval",
        ),
        (
            [100, 101, 102],
            [90, 120, 102],
            VerdictOutcome.OPEN,
            "not decided: b against a is -11.8 % to +20.0 %, 90 % interval; more repeats may decide",
        ),
        (
            [100],
            [200],
            VerdictOutcome.OPEN,
            "not decided: b against a: 1 and 1 runs cannot decide; at least 3 of each are needed",
        ),
        (
            [0, 0, 0],
            [1, 1, 1],
            VerdictOutcome.OPEN,
            "not decided: b against a: a run that measured 0 has no ratio",
        ),
    ],
)  # fmt: skip
def test_outcomes(first: list[float], second: list[float], outcome: VerdictOutcome, words: str) -> None:
    verdict = alone(first, second)
    assert verdict.outcome is outcome
    assert sentence(verdict, "a", "b") == words


def test_a_latency_that_is_higher_is_slower() -> None:
    verdict = alone([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    reported = sentence(verdict, "a", "b", what="slower", less="faster")
    assert reported == "b is slower than a by 100.0 % (+100.0 % to +100.0 %, 90 % interval)"


@given(
    st.lists(st.floats(1, 1e6), min_size=1, max_size=8), st.lists(st.floats(1, 1e6), min_size=1, max_size=8)
)
def test_always_in_order(first: list[float], second: list[float]) -> None:
    verdict = alone(first, second)
    assert verdict.first == Spread(
        count=len(first), median=verdict.first.median, low=min(first), high=max(first)
    )
    if verdict.low is not None and verdict.high is not None:
        assert -1 < verdict.low <= verdict.shift + 1e-9
        assert verdict.shift <= verdict.high + 1e-9
        assert verdict.confidence >= 0.9
    else:
        assert verdict.outcome is VerdictOutcome.OPEN


@given(
    st.lists(st.floats(1, 1e6), min_size=3, max_size=7), st.lists(st.floats(1, 1e6), min_size=3, max_size=7)
)
def test_the_reverse_is_the_inverse_ratio(first: list[float], second: list[float]) -> None:
    """Twice as fast is half as fast the other way round, and no interval ends below -100 %."""
    there, back = alone(first, second), alone(second, first)
    assert (1 + there.shift) * (1 + back.shift) == pytest.approx(1)
    if there.low is not None and there.high is not None and back.low is not None and back.high is not None:
        assert (1 + there.low) * (1 + back.high) == pytest.approx(1)
        assert min(there.low, back.low) > -1


def test_a_wide_spread_stays_above_minus_100_percent() -> None:
    """By differences of the values this was -109.0 % to +48.5 %."""
    verdict = alone([100.0, 40.0, 160.0, 90.0], [20.0, 148.0, 51.0, 130.0])
    assert sentence(verdict, "a", "b") == (
        "not decided: b against a is -87.5 % to +270.0 %, 97 % interval; more repeats may decide"
    )


# -- p, counted out: every way in which the values could have fallen to the two series


def shuffled(first: list[float], second: list[float]) -> float:
    """How often an order of the same values is as far from the middle as this one: Mann and Whitney's p."""
    values = first + second

    def u_of(places: tuple[int, ...]) -> int:
        rest = [values[place] for place in range(len(values)) if place not in places]
        return sum(values[place] < other for place in places for other in rest)

    middle = len(first) * len(second) / 2
    all_places = list(itertools.combinations(range(len(values)), len(first)))
    far = abs(u_of(tuple(range(len(first)))) - middle)
    return sum(abs(u_of(places) - middle) >= far for places in all_places) / len(all_places)


@pytest.mark.parametrize(("one", "two"), [(3, 3), (4, 4), (5, 4), (6, 6), (3, 7)])
def test_p_is_that_of_all_shuffles(one: int, two: int) -> None:
    dice = random.Random(one * 10 + two)  # noqa: S311
    for _ in range(20):
        first, second = ([dice.random() + 0.5 for _ in range(count)] for count in (one, two))
        assert p_value(first, second) == pytest.approx(shuffled(first, second))


def test_p_of_printed_tables() -> None:
    """Critical values of U, two-sided 0.05 (Mann and Whitney 1947): 5 against 5 has 2, 8 against 8 has 13."""
    for runs, critical in ((5, 2), (8, 13)):
        counts, total = counted_out(runs, runs), math.comb(2 * runs, runs)
        assert 2 * sum(counts[: critical + 1]) / total <= 0.05 < 2 * sum(counts[: critical + 2]) / total
        low = [float(value) for value in range(1, runs + 1)]
        assert p_value(low, [value + 100 for value in low]) == pytest.approx(2 / total)


def test_equal_values_count_against_a_difference() -> None:
    assert p_value([1.0] * 5, [1.0] * 5) == 1.0
    assert p_value([1.0, 1.0, 1.0], [1.0, 2.0, 2.0]) > p_value([1.0, 1.0, 1.0], [1.5, 2.0, 2.0])


# -- families


def pairs_with(chances: Sequence[int]) -> list[tuple[list[float], list[float]]]:
    """Pairs of five against five, so many of whose 25 comparisons go the other way."""
    found = []
    for wrong in chances:
        first = [10.0, 20.0, 30.0, 40.0, 50.0]
        second = [61.0, 62.0, 63.0, 64.0, 55.0 - 10 * wrong + 0.5]
        found.append((first, second))
    return found


def test_holm_by_hand() -> None:
    """Of 5 against 5 p is 2/252, 4/252, 8/252 ...: 0.0079 <= 0.05/3, 0.0159 <= 0.05/2, 0.0317 <= 0.05/1."""
    verdicts = compare_family(pairs_with([2, 0, 1]))
    assert [round(each.p, 4) for each in verdicts] == [0.0317, 0.0079, 0.0159]
    assert [each.outcome for each in verdicts] == [VerdictOutcome.HIGHER] * 3
    assert [each.confidence for each in verdicts] == pytest.approx([1 - 8 / 252, 1 - 4 / 252, 1 - 4 / 252])
    # 0.0317 > 0.05/2: what comes after the first one that is not decided is not decided either.
    verdicts = compare_family(pairs_with([2, 0, 2]))
    assert [each.outcome for each in verdicts] == [
        VerdictOutcome.OPEN,
        VerdictOutcome.HIGHER,
        VerdictOutcome.OPEN,
    ]
    alone = compare_family(pairs_with([2]))
    assert alone[0].outcome is VerdictOutcome.HIGHER


def test_an_interval_leaves_out_zero_just_where_it_is_decided() -> None:
    dice = random.Random(3)  # noqa: S311
    for _ in range(200):
        pairs = [
            ([dice.gauss(100, 10) for _ in range(6)], [dice.gauss(100 + 8 * place, 10) for _ in range(6)])
            for place in range(5)
        ]
        for verdict in compare_family(pairs, margin=0.0):
            assert verdict.low is not None
            assert verdict.high is not None
            decided = verdict.outcome in {VerdictOutcome.HIGHER, VerdictOutcome.LOWER}
            assert decided == (not verdict.low <= 0 <= verdict.high)


def test_a_family_errs_no_more_often_than_it_says() -> None:
    """Twelve comparisons of what is all alike, 2,000 times: some verdict is wrong in 5 of 100 at most."""
    dice = random.Random(11)  # noqa: S311
    rounds, wrong, uncorrected = 2000, 0, 0
    for _ in range(rounds):
        first = [dice.gauss(100, 10) for _ in range(6)]
        pairs = [(first, [dice.gauss(100, 10) for _ in range(6)]) for _ in range(12)]
        verdicts = compare_family(pairs)
        assert {each.error for each in verdicts} == {0.05}
        wrong += any(each.outcome in {VerdictOutcome.HIGHER, VerdictOutcome.LOWER} for each in verdicts)
        uncorrected += any(p_value(*pair) <= 0.05 for pair in pairs)
    assert wrong / rounds <= 0.05
    assert uncorrected / rounds > 0.15, "which is what the correction is for"


@pytest.mark.parametrize(
    ("of", "fewest"), [(1, 3), (2, 4), (3, 4), (4, 5), (12, 5), (13, 6), (46, 6), (47, 7)]
)
def test_the_fewest_runs_that_could_decide(of: int, fewest: int) -> None:
    """So many, each of the one series above each of the other, decide; one less does not."""
    assert fewest_runs(of) == fewest
    for runs in (fewest, fewest - 1):
        low = [100.0 + value for value in range(runs)]
        verdicts = compare_family([(low, [value * 2 for value in low])] * of)
        assert {each.outcome for each in verdicts} == {
            VerdictOutcome.HIGHER if runs == fewest else VerdictOutcome.OPEN
        }
        assert {each.too_few for each in verdicts} == {runs < fewest}


def test_too_few_runs_of_a_family_in_words() -> None:
    verdicts = compare_family([([1.0] * 3, [2.0] * 3)] * 6)
    assert sentence(verdicts[0], "a", "b") == (
        "not decided: b against a: 3 and 3 runs cannot decide among 6 comparisons;"
        " at least 5 of each are needed"
    )
    assert family_words(verdicts[0]) == (
        "6 comparisons, corrected together (Holm): the chance of a wrong verdict among them is at most 10 %."
        " At least 5 runs of each are needed to decide."
    )
    assert family_words(alone([1.0], [2.0])) == ""


# -- the best of several


def test_the_best_is_marked_where_it_is_decided() -> None:
    slow, fast = [100.0 + value for value in range(6)], [200.0 + value for value in range(6)]
    like = [200.5 + value for value in range(6)]
    best = decided_best([[slow, fast, slow], [slow, fast, like], [slow, [], []], [[], [], []]])
    assert best == Best(places=(1, None, None, None), runs=6, of=4, fewest=5)
    three = decided_best([[slow[:3], fast[:3], slow[:3]]])
    assert three == Best(places=(None,), runs=3, of=2, fewest=4)


def test_the_best_of_what_is_alike_is_seldom_marked() -> None:
    """Four rows and seven columns of noise, 600 times: a mark in 5 of 100 at most."""
    dice = random.Random(5)  # noqa: S311
    marked = 0
    for _ in range(600):
        columns = [[[dice.gauss(100, 10) for _ in range(7)] for _ in range(4)] for _ in range(7)]
        marked += any(place is not None for place in decided_best(columns).places)
    assert marked / 600 <= 0.05


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
        "steady: over the last 5 rounds values lie within 8.0 % of their mean (limit 20 %), and drift by"
        " 4.0 % (limit 10 %)"
    )
