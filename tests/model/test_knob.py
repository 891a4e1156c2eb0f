"""Who has set a value and what a reboot leaves: concluded from what is known, never guessed."""

from __future__ import annotations

import pytest

from raidtui.model.knob import (
    By,
    ChangedValue,
    Setting,
    Value,
    attributed,
    chosen,
    neighbours,
    same_value,
    who_set,
    who_set_words,
)
from raidtui.model.knob_table import ALIASES, KNOBS, OLD_SCHEDULERS, SCHEDULERS, knobs_of

UDEV = Setting(by=By.UDEV, where="/etc/udev/rules.d/60-ssd.rules:3", value="none")
KEPT = Setting(by=By.UDEV, where="/etc/udev/rules.d/60-raidtui-io.rules:3", value="none", ours=True)
TUNED = Setting(by=By.TUNED, where="profile fast", value="bfq")
UNTOLD = Setting(by=By.POWER_PROFILES)
UNSURE = Setting(by=By.UDEV, where="/x/9.rules:1", value="bfq", sure=False)
NOW = ChangedValue(path="p", before="mq-deadline", value="none", by=By.NOW)


@pytest.mark.parametrize(
    ("text", "default", "settings", "changed", "expected"),
    [
        ("none", "none", (), None, ("kernel", "none")),
        ("none", "mq-deadline", (), None, ("not known", "mq-deadline")),
        ("none", None, (), None, ("not known", None)),  # or by hand: that looks the same
        ("none", None, (UDEV,), None, ("60-ssd.rules:3", "none")),
        ("none", "mq-deadline", (KEPT,), None, ("raidtui (kept)", "none")),
        ("none", "mq-deadline", (TUNED, UDEV), None, ("60-ssd.rules:3", "bfq")),
        ("bfq", "mq-deadline", (TUNED, UDEV), None, ("tuned", "bfq")),
        ("kyber", "mq-deadline", (UDEV,), None, ("not known", "none")),
        ("mq-deadline", "mq-deadline", (UDEV,), None, ("kernel", "none")),
        ("kyber", "mq-deadline", (UNTOLD, UDEV), None, ("power-profiles-daemon", None)),
        ("none", "mq-deadline", (UDEV, UNSURE), None, ("60-ssd.rules:3", None)),
        ("bfq", "bfq", (UNSURE,), None, ("9.rules:1", "bfq")),
        ("none", None, (), NOW, ("raidtui, for now", None)),
        ("none", "bfq", (), NOW, ("raidtui, for now", "bfq")),
        ("none", "bfq", (KEPT,), NOW, ("raidtui (kept)", "none")),
        ("kyber", "bfq", (), NOW, ("not known", "bfq")),
    ],
)
def test_who_and_what_a_reboot_leaves(
    text: str,
    default: str | None,
    settings: tuple[Setting, ...],
    changed: ChangedValue | None,
    expected: tuple[str, str | None],
) -> None:
    value = attributed(Value(text=text, default=default), settings, changed)
    assert (value.set_by.words, value.at_boot) == expected
    assert value.survives == (None if value.at_boot is None else value.at_boot == text)


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


KERNELS = Value(text="1", default="1")
UNTOLD_VALUE = attributed(Value(text="powersave"), ())
BY_RULE = attributed(Value(text="none"), (UDEV,))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": KERNELS, "b": KERNELS}, "kernel"),
        ({"a": BY_RULE, "b": BY_RULE}, "60-ssd.rules:3"),
        ({"a": KERNELS, "b": BY_RULE}, "kernel; b: 60-ssd.rules:3"),
        ({"a": KERNELS, "other": BY_RULE}, "kernel; other: 60-ssd.rules:3"),
        ({"a": KERNELS, "b": UNTOLD_VALUE}, "kernel"),
        ({"a": UNTOLD_VALUE, "other": KERNELS}, "not known"),
        ({"a": UNTOLD_VALUE, "b": BY_RULE}, "b: 60-ssd.rules:3; a: not known"),
        ({}, "kernel"),
    ],
)
def test_who_has_set_the_knobs_of_a_row(values: dict[str, Value], words: str) -> None:
    """Each knob with its own: that one rule sets one of them does not make it the setter of all."""
    assert who_set_words(who_set(values.items(), {"a", "b"})) == words
