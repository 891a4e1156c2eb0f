"""Units held against the kernel's count: the published SATA DOM, and that no honest disk is accused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtui.monitor.wear.counter_units import (
    CANDIDATES,
    GIB,
    MIB,
    CounterSample,
    UnitState,
    is_impossible,
    unit_words,
    verdict_words,
    verify_unit,
)

TRIES = settings(max_examples=300, deadline=None)


def _sample(
    count: int, kernel_bytes: int, *, at_s: float = 0.0, since: str = "boot/1", skew: int = 0
) -> CounterSample:
    return CounterSample(
        at_s=at_s, since=since, count=count, low_bytes=kernel_bytes, high_bytes=kernel_bytes + skew
    )


# The published readings: attribute 241, and KiB written by /proc/diskstats, of two SATA DOMs.
DOM = {
    "sda": ((16737, 3930090), (16835, 4030760), (16932, 4130460)),
    "sdb": ((17221, 3930090), (17318, 4030760), (17416, 4130460)),
}


@pytest.mark.parametrize("disk", ["sda", "sdb"])
@pytest.mark.parametrize("promised", [512, GIB])
def test_the_published_sata_dom_counts_mib(disk: str, promised: int) -> None:
    samples = [_sample(count, kib * 1024, at_s=at) for at, (count, kib) in enumerate(DOM[disk])]
    verdict = verify_unit(samples, promised)
    assert (verdict.kind, verdict.unit_bytes) == (UnitState.WRONG, MIB)
    assert (verdict.growth, verdict.size_bytes) == (195, 200370 * 1024)


@pytest.mark.parametrize("disk", ["sda", "sdb"])
@pytest.mark.parametrize("promised", [512, GIB])
def test_its_last_hundred_megabytes_alone_show_it(disk: str, promised: int) -> None:
    samples = [_sample(count, kib * 1024) for count, kib in DOM[disk][1:]]
    verdict = verify_unit(samples, promised)
    assert (verdict.kind, verdict.unit_bytes) == (UnitState.WRONG, MIB)
    assert verdict_words(verdict, "attribute 241 Lifetime_Writes_GiB", promised) == (
        f"counts MiB in attribute 241 Lifetime_Writes_GiB, not {unit_words(promised)}: "
        f"it rose by {verdict.growth} while 97.4 MiB were written"
    )


def test_its_first_reading_is_impossible_in_sectors() -> None:
    count, kib = DOM["sda"][0]
    assert is_impossible(count, 512, kib * 1024)
    assert not is_impossible(count, MIB, kib * 1024)
    assert not is_impossible(count, GIB, kib * 1024)


def test_a_counter_without_a_promise_is_measured() -> None:
    samples = [_sample(count, kib * 1024) for count, kib in DOM["sda"]]
    verdict = verify_unit(samples, None)
    assert (verdict.kind, verdict.unit_bytes) == (UnitState.MEASURED, MIB)
    assert verdict_words(verdict, "attribute 241 Host_Writes", None) == (
        "counts MiB in attribute 241 Host_Writes: it rose by 195 while 196 MiB were written"
    )


def test_an_honest_disk_is_confirmed() -> None:
    verdict = verify_unit([_sample(1000, 0), _sample(1000 + 200_000, 200_000 * 512)], 512)
    assert (verdict.kind, verdict.unit_bytes) == (UnitState.CONFIRMED, 512)
    assert not verdict_words(verdict, "attribute 241", 512)


@pytest.mark.parametrize("promised", [*CANDIDATES, None])
def test_too_little_growth_is_no_verdict(promised: int | None) -> None:
    assert verify_unit([], promised).kind is UnitState.OPEN
    assert verify_unit([_sample(5, 10**9)], promised).kind is UnitState.OPEN
    assert verify_unit([_sample(5, 0), _sample(5 + 63, 63 * MIB)], promised).kind is UnitState.OPEN
    assert verify_unit([_sample(5, 0), _sample(5 + 63, 63 * GIB)], promised).kind is UnitState.OPEN
    assert verify_unit([_sample(5, 0), _sample(5 + 10**5, 63 * MIB)], promised).kind is UnitState.OPEN


def test_another_boot_and_a_counter_that_fell_are_not_compared() -> None:
    assert verify_unit([_sample(0, 0), _sample(1000, 1000 * MIB, since="boot/2")], 512).kind is UnitState.OPEN
    assert verify_unit([_sample(9000, 0), _sample(1000, 1000 * MIB)], 512).kind is UnitState.OPEN
    assert verify_unit([_sample(0, 9000 * MIB), _sample(1000, 1000 * MIB)], 512).kind is UnitState.OPEN


def test_a_unit_that_would_make_less_than_was_written_is_not_taken() -> None:
    samples = [_sample(10, 10**12), _sample(110, 10**12 + 100 * MIB)]
    assert verify_unit(samples, None).kind is UnitState.UNSTEADY


def test_growth_that_goes_with_no_unit_accuses_nobody() -> None:
    verdict = verify_unit([_sample(0, 0), _sample(1000, 1000 * 100_000)], 512)
    assert (verdict.kind, verdict.unit_bytes) == (UnitState.UNSTEADY, 512)


def test_one_stretch_that_fits_the_promise_acquits() -> None:
    samples = [_sample(0, 0), _sample(200_000, 200_000 * 512), _sample(200_100, 200_000 * 512 + 100 * MIB)]
    assert verify_unit(samples, 512).kind is UnitState.CONFIRMED


def test_two_stretches_of_two_units_accuse_nobody() -> None:
    samples = [_sample(0, 0), _sample(100, 100 * MIB), _sample(200, 100 * MIB + 100 * GIB)]
    assert verify_unit(samples, 512).kind is UnitState.UNSTEADY


def test_one_odd_stretch_among_many_does_not_bring_the_wrong_unit_back() -> None:
    samples = [_sample(100 * at, 100 * at * MIB) for at in range(5)]
    odd = [*samples, _sample(550, 500 * MIB)]
    assert (verify_unit(odd, 512).kind, verify_unit(odd, 512).unit_bytes) == (UnitState.WRONG, MIB)
    few = [*samples[:3], _sample(350, 300 * MIB)]
    assert verify_unit(few, 512).kind is UnitState.UNSTEADY


def test_gb_that_are_gib_take_long_to_recognize() -> None:
    short = [_sample(0, 0), _sample(200, 200 * GIB)]
    assert verify_unit(short, 10**9).kind is UnitState.OPEN
    long = [_sample(0, 0), _sample(300, 300 * GIB)]
    assert verify_unit(long, 10**9) == verify_unit([*long, _sample(301, 301 * GIB)], 10**9)
    assert (verify_unit(long, 10**9).kind, verify_unit(long, 10**9).unit_bytes) == (UnitState.WRONG, GIB)
    assert verify_unit([_sample(0, 0), _sample(3000, 3000 * 10**9)], GIB).kind is not UnitState.WRONG


class Disk:
    """A disk that counts in one unit, brings its counter up to date late, and is read while it is written."""

    def __init__(self, seed: int, unit_bytes: int, most_late: int, foreign: float) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._unit = unit_bytes
        self._late = most_late
        self._foreign = foreign
        self._before = self._random.randrange(10**12)
        self._kernel = self._random.randrange(10**9)

    def samples(self, readings: int, most_written: int) -> list[CounterSample]:
        """Return readings of it; each after up to ``most_written`` bytes more."""
        total = float(self._before + self._kernel)
        shown, found = 0.0, []
        for at in range(readings):
            size = self._random.randrange(most_written + 1)
            self._kernel += size
            total += size * (1 + self._foreign * self._random.random())
            shown = max(shown, total - self._random.randrange(self._late + 1))
            found.append(
                _sample(
                    int(shown // self._unit), self._kernel, at_s=float(at), skew=self._random.randrange(10**6)
                )
            )
        return found


@TRIES
@given(
    seed=st.integers(0, 2**32),
    unit=st.sampled_from(CANDIDATES),
    late=st.sampled_from([0, MIB, 32 * MIB, 64 * MIB]),
    readings=st.integers(2, 8),
    written=st.sampled_from([10**6, 10**8, 10**9, 10**10, 10**12]),
    foreign=st.sampled_from([0.0, 0.02]),
)
def test_an_honest_disk_is_never_accused(  # noqa: PLR0917
    seed: int, unit: int, late: int, readings: int, written: int, foreign: float
) -> None:
    disk = Disk(seed, unit, late, foreign)
    verdict = verify_unit(disk.samples(readings, written), unit)
    assert verdict.kind is not UnitState.WRONG
    assert verdict.unit_bytes == unit


@TRIES
@given(
    seed=st.integers(0, 2**32),
    unit=st.sampled_from([512, 4096, MIB, 32 * MIB, GIB]),
    promised=st.sampled_from([512, 4096, MIB, 32 * MIB, GIB]),
)
def test_a_wrong_unit_is_found_once_enough_is_written(seed: int, unit: int, promised: int) -> None:
    disk = Disk(seed, unit, 0, 0.0)
    samples = disk.samples(2, 10**5)
    first, last = samples[0], samples[-1]
    more = 100 * max(unit, MIB)
    samples.append(
        CounterSample(
            at_s=9.0,
            since=last.since,
            count=first.count + (last.count - first.count) + more // unit,
            low_bytes=last.low_bytes + more,
            high_bytes=last.low_bytes + more,
        )
    )
    verdict = verify_unit(samples, promised)
    assert verdict.unit_bytes == unit
    assert verdict.kind is (UnitState.CONFIRMED if unit == promised else UnitState.WRONG)
