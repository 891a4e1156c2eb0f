"""Who has set a value and what a reboot leaves: concluded from what is known, never guessed."""

from __future__ import annotations

import pytest

from raidtui.model.attribution import attributed, who_set, who_set_words
from raidtui.model.knob import By, ChangedValue, Setting, Value

UDEV = Setting(by=By.UDEV, where="/etc/udev/rules.d/60-ssd.rules:3", value="none")
KEPT = Setting(by=By.UDEV, where="/etc/udev/rules.d/60-raidtui-io.rules:3", value="none", ours=True)
TUNED = Setting(by=By.TUNED, where="profile fast", value="bfq")
UNKNOWN = Setting(by=By.POWER_PROFILES)
UNSURE = Setting(by=By.UDEV, where="/x/9.rules:1", value="bfq", sure=False)
NOW = ChangedValue(path="p", before="mq-deadline", value="none", by=By.NOW)
KERNELS = Value(text="1", default="1")
UNTOLD_VALUE = attributed(Value(text="powersave"), ())
BY_RULE = attributed(Value(text="none"), (UDEV,))


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
        ("kyber", "mq-deadline", (UNKNOWN, UDEV), None, ("power-profiles-daemon", None)),
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
    ("values", "words"),
    [
        ({"a": KERNELS, "b": KERNELS}, "kernel"),
        ({"a": BY_RULE, "b": BY_RULE}, "60-ssd.rules:3"),
        ({"a": KERNELS, "b": BY_RULE}, "kernel; b: 60-ssd.rules:3"),
        ({"a": KERNELS, "other": BY_RULE}, "kernel; other: 60-ssd.rules:3"),
        ({"a": KERNELS, "b": UNTOLD_VALUE}, "kernel; b: not known"),
        ({"a": UNTOLD_VALUE, "other": KERNELS}, "not known"),
        ({"a": UNTOLD_VALUE, "b": BY_RULE}, "b: 60-ssd.rules:3; a: not known"),
        ({}, "kernel"),
    ],
)
def test_who_has_set_the_knobs_of_a_row(values: dict[str, Value], words: str) -> None:
    """Each knob with its own: that one rule sets one of them does not make it the setter of all."""
    assert who_set_words(who_set(values.items(), {"a", "b"})) == words
