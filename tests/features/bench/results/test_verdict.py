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
from raidtui.features.bench.results.comparison_verdict import (
    Best,
    NoVerdict,
    Pairing,
    Verdict,
    VerdictOutcome,
    compare_family,
    decided_best,
    family_words,
    fewest_runs,
    sentence,
)
from raidtui.features.bench.results.run_statistics import (
    Block,
    Steadiness,
    effect,
    interval,
    p_value,
    smallest_effect,
    steadiness,
)
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


def paired(first: Sequence[float], second: Sequence[float]) -> Pairing:
    """Two series whose runs were drawn in blocks of two each."""
    blocks: list[Block] = [
        (tuple(first[start : start + 2]), tuple(second[start : start + 2]))
        for start in range(0, len(first), 2)
    ]
    return Pairing(first=first, second=second, blocks=tuple(blocks))


def alone(first: Sequence[float], second: Sequence[float]) -> Verdict:
    """Return the verdict over two series by themselves."""
    return compare_family([paired(first, second)])[0]


@pytest.mark.parametrize(
    ("first", "second", "outcome", "words"),
    [
        (
            [100, 101, 102, 100, 101, 102],
            [110, 112, 113, 111, 112, 113],
            VerdictOutcome.HIGHER,
            "b is faster than a by 10.7 % (+8.8 % to +12.5 %, 97 % interval)",
        ),
        (
            [110, 112, 113, 111, 112, 113],
            [100, 101, 102, 100, 101, 102],
            VerdictOutcome.LOWER,
            "b is slower than a by 9.7 % (-11.1 % to -8.1 %, 97 % interval)",
        ),
        (
            [100, 101, 102, 100, 101, 102],
            [101, 100, 102, 100, 102, 101],
            VerdictOutcome.SAME,
            "no difference: b against a is -1.6 % to +1.6 %, 97 % interval",
        ),
        (
            [100, 101, 102, 100, 101, 102],
            [90, 120, 102, 100, 95, 99],
            VerdictOutcome.OPEN,
            (
                "not decided: b against a is -8.9 % to +10.7 %, 97 % interval; these runs find differences"
                " above about 7 %: for smaller ones start a new benchmark with more repeats"
            ),
        ),
        (
            [100, 100, 100, 100],
            [200, 200, 200, 200],
            VerdictOutcome.OPEN,
            "not decided: b against a: 4 and 4 runs cannot decide; at least 5 of each are needed",
        ),
        (
            [0, 0, 0, 0, 0],
            [1, 1, 1, 1, 1],
            VerdictOutcome.OPEN,
            "not decided: b against a: a run that measured 0 has no ratio",
        ),
    ],
)
def test_outcomes(first: list[float], second: list[float], outcome: VerdictOutcome, words: str) -> None:
    verdict = alone(first, second)
    assert sentence(verdict, "a", "b") == words
    assert verdict.outcome is outcome


def test_a_latency_that_is_higher_is_slower() -> None:
    verdict = alone([1.0] * 6, [2.0] * 6)
    reported = sentence(verdict, "a", "b", what="slower", less="faster")
    assert reported == "b is slower than a by 100.0 % (+99.9 % to +100.1 %, 97 % interval)"


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (NoVerdict.APART, "measured at different times; one sweep or A/B measures both in a random order"),
        (NoVerdict.ORDER, "their order was not drawn at random; a sweep or an A/B draws it"),
        (NoVerdict.ROUNDS, "rounds until they are steady follow one another; compare with repeats instead"),
    ],
)
def test_what_was_not_drawn_is_not_judged(why: NoVerdict, words: str) -> None:
    """However far apart two series are: what drifted between them looks the same."""
    (verdict,) = compare_family([Pairing(first=[1.0] * 20, second=[9.0] * 20, why=why)])
    assert sentence(verdict, "a", "b") == f"not decided: b against a: {words}"
    assert (verdict.outcome, verdict.low, verdict.too_few) == (VerdictOutcome.OPEN, None, False)


# -- families


def test_holm_by_hand() -> None:
    """Three blocks: p is 2/216, or with one value that goes the other way 4/216 and more.

    0.0093 <= 0.03/3; 0.0185 > 0.03/2: what comes after it is not decided either, though 0.0185 <= 0.03.
    """
    low = [10.0] * 6
    clear, less = paired(low, [20.0] * 6), paired(low, [20.0, 20.0, 20.0, 20.0, 20.0, 9.9])
    verdicts = compare_family([less, clear, less])
    assert [each.outcome for each in verdicts] == [
        VerdictOutcome.OPEN,
        VerdictOutcome.HIGHER,
        VerdictOutcome.OPEN,
    ]
    assert verdicts[1].confidence == pytest.approx(1 - 0.01)
    assert 0.015 < verdicts[0].p <= 0.03
    assert compare_family([less])[0].outcome is VerdictOutcome.HIGHER


def test_an_interval_leaves_out_zero_just_where_it_is_decided() -> None:
    dice = random.Random(3)  # noqa: S311
    for _ in range(40):
        pairs = [
            paired(
                [dice.gauss(100, 10) for _ in range(8)], [dice.gauss(100 + 8 * place, 10) for _ in range(8)]
            )
            for place in range(5)
        ]
        for verdict in compare_family(pairs, margin=0.0):
            assert verdict.low is not None
            assert verdict.high is not None
            assert verdict.low <= verdict.shift <= verdict.high
            decided = verdict.outcome in {VerdictOutcome.HIGHER, VerdictOutcome.LOWER}
            assert decided == (verdict.p <= 1 - verdict.confidence)


def test_a_family_errs_no_more_often_than_it_says() -> None:
    """Twelve comparisons of what is all alike, 300 times: some verdict is wrong in 3 of 100 at most."""
    dice = random.Random(11)  # noqa: S311
    rounds, wrong, uncorrected = 300, 0, 0
    for _ in range(rounds):
        first = [dice.gauss(100, 10) for _ in range(8)]
        pairs = [paired(first, [dice.gauss(100, 10) for _ in range(8)]) for _ in range(12)]
        verdicts = compare_family(pairs)
        wrong += any(each.outcome in {VerdictOutcome.HIGHER, VerdictOutcome.LOWER} for each in verdicts)
        uncorrected += any(each.p <= 0.03 for each in verdicts)
    assert wrong / rounds <= 0.03
    assert uncorrected / rounds > 0.12, "which is what the correction is for"


@pytest.mark.parametrize(
    ("of", "small", "fewest"),
    [(1, False, 5), (2, False, 6), (3, False, 6), (4, False, 7), (1, True, 7), (2, True, 8)],
)
def test_the_fewest_runs_that_could_decide(of: int, small: bool, fewest: int) -> None:  # noqa: FBT001
    """So many, each of the one series above each of the other, decide; one less does not."""
    assert fewest_runs(of, small=small) == fewest
    for runs in (fewest, fewest - 1):
        low = [100.0] * runs
        pair = paired(low, [200.0] * runs)
        if small:
            pair = Pairing(
                first=low, second=pair.second, blocks=tuple(((100.0,), (200.0,)) for _ in low), small=True
            )
        verdicts = compare_family([pair] * of)
        assert {each.outcome for each in verdicts} == {
            VerdictOutcome.HIGHER if runs == fewest else VerdictOutcome.OPEN
        }
        assert {each.too_few for each in verdicts} == {runs < fewest}


def test_too_few_runs_of_a_family_in_words() -> None:
    verdicts = compare_family([paired([1.0] * 3, [2.0] * 3)] * 6)
    assert sentence(verdicts[0], "a", "b") == (
        "not decided: b against a: 3 and 3 runs cannot decide among 6 comparisons;"
        " at least 7 of each are needed"
    )
    assert family_words(verdicts[0]) == (
        "6 comparisons, corrected together (Holm): the chance of a wrong verdict among them is at most 3 %."
        " At least 7 runs of each are needed to decide."
    )
    assert family_words(alone([1.0], [2.0])) == ""


# -- the best of several


def best_of(columns: Sequence[Sequence[list[float]]]) -> Best:
    return decided_best([[row or None for row in rows] for rows in columns], lambda row: row, paired)


def test_the_best_is_marked_where_it_is_decided() -> None:
    slow, fast = [100.0 + value for value in range(8)], [200.0 + value for value in range(8)]
    like = [200.5 + value for value in range(8)]
    best = best_of([[slow, fast, slow], [slow, fast, like], [slow, [], []], [[], [], []]])
    assert best == Best(places=(1, None, None, None), runs=8, of=4, fewest=7)
    three = best_of([[slow[:3], fast[:3], slow[:3]]])
    assert three == Best(places=(None,), runs=3, of=2, fewest=6)


def test_the_best_of_what_is_alike_is_seldom_marked() -> None:
    """Four rows and seven columns of noise, 200 times: a mark in 3 of 100 at most."""
    dice = random.Random(5)  # noqa: S311
    marked = 0
    for _ in range(200):
        columns = [[[dice.gauss(100, 10) for _ in range(8)] for _ in range(4)] for _ in range(7)]
        marked += any(place is not None for place in best_of(columns).places)
    assert marked / 200 <= 0.03


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
