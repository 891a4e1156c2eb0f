"""Knobs: the words for what sets them, their values and neighbours, the table."""

from __future__ import annotations

import pytest

from raidtui.model.knob import By, Setting, Value, chosen, neighbours, same_value
from raidtui.model.knob_table import ALIASES, KNOBS, OLD_SCHEDULERS, SCHEDULERS, knobs_of
from tests.model.test_attribution import KEPT, TUNED, UDEV


@pytest.mark.parametrize(
    ("setting", "words", "sentence"),
    [
        (UDEV, "60-ssd.rules:3", "/etc/udev/rules.d/60-ssd.rules:3"),
        (KEPT, "raidtui (kept)", "/etc/udev/rules.d/60-raidtui-io.rules:3, kept by raidtui"),
        (TUNED, "tuned", "tuned (profile fast)"),
        (
            Setting(by=By.COMMAND_LINE, where="libata.force=noncq"),
            "kernel command line",
            "kernel command line (libata.force=noncq)",
        ),
        (Setting(by=By.RUN), "this run", "this run"),
    ],
)
def test_words(setting: Setting, words: str, sentence: str) -> None:
    assert (setting.words, setting.sentence) == (words, sentence)


def test_what_comes_later_at_boot() -> None:
    ranks = [Setting(by=by).rank for by in (By.COMMAND_LINE, By.UDEV, By.SYSCTL, By.TMPFILES, By.TUNED)]
    assert ranks == sorted(set(ranks))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none [mq-deadline] kyber", "mq-deadline"),
        ("[none] ", "none"),
        ("32\n", "32"),
        ("12345 (local)", "12345"),
        ("200000 (system)", "200000"),
    ],
)
def test_the_chosen_one(text: str, value: str) -> None:
    assert chosen(text) == value


def test_the_same_value() -> None:
    assert same_value("32", "032\n")
    assert same_value("0", "000")
    assert not same_value("32", "33")
    assert not same_value("none", "None")


@pytest.mark.parametrize(
    ("value", "beside"),
    [
        (Value(text="none", choices=SCHEDULERS), (None, "mq-deadline")),
        (Value(text="bfq", choices=SCHEDULERS), ("kyber", None)),
        (Value(text="32", low=1, high=32), ("16", None)),
        (Value(text="1", low=1, high=32), (None, "2")),
        (Value(text="24", low=1, high=32), ("12", "32")),
        (Value(text="0", low=0, multiple=4), (None, "4")),
        (Value(text="128", low=0, multiple=4), ("64", "256")),
        (Value(text="4", low=0, multiple=4), ("0", "8")),
        (Value(text="system"), (None, None)),
        (Value(text="2000", choices=("800", "1600", "2600")), ("1600", "2600")),
        (Value(text="2600", choices=("800", "1600", "2600")), ("1600", None)),
        (Value(text="500", choices=("800", "1600", "2600")), (None, "800")),
        (Value(text="128", choices=("performance", "power")), (None, None)),
        (Value(text="4200000", low=800_000, high=4_200_000, step=100_000), ("4100000", None)),
        (Value(text="4200000", low=800_000, high=4_250_000, step=100_000), ("4100000", "4250000")),
        (Value(text="850000", low=820_000, high=4_250_000, step=100_000), ("820000", "900000")),
        (Value(text="800000", low=800_000, step=100_000), (None, "900000")),
    ],
)
def test_what_comes_below_and_above(value: Value, beside: tuple[str | None, str | None]) -> None:
    assert neighbours(value) == beside


def test_every_knob_says_what_it_does_and_what_it_risks() -> None:
    for name, knob in KNOBS.items():
        assert name == knob.name
        for sentence in (knob.what, knob.risk):
            assert not sentence[0].islower() or sentence.split()[0] in {"bfq", "power"}, name
            assert sentence.endswith("."), name
        assert bool(knob.no_keep) == (not knob.keep), name
        assert knob in knobs_of(knob.scopes[0])
    assert set(ALIASES.values()) <= set(KNOBS)
    assert set(OLD_SCHEDULERS.values()) <= set(SCHEDULERS)


def test_what_the_texts_of_knobs_claim() -> None:
    """Documentation/admin-guide/md.rst, and measurements on NVMe disks."""
    bypass, cache, bitmap = (
        KNOBS[name] for name in ("preread_bypass_threshold", "stripe_cache_size", "bitmap")
    )
    assert "at 0 that stripe waits until all full stripes are written" in bypass.what
    assert bypass.risk.startswith("At 0 small writes wait longest")
    assert "at least" in cache.what
    assert "grows beyond that by itself" in cache.what
    assert "most of their random writes" in bitmap.risk
