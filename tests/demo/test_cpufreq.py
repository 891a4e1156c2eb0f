"""The demo's processors: governors that can be set and read back, as drivers/cpufreq/cpufreq.c takes them."""

from __future__ import annotations

import errno

import pytest

from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.sensors import policy_words, read_mhz
from raidtui.model.knob import KnobScope
from tests.demo.scene import Scene

_POLICY = "/sys/devices/system/cpu/cpufreq/policy0"


def test_a_governor_is_set_and_read_back(scene: Scene) -> None:
    found = KnobReader(scene.reader).read(scene.sampler.sample())
    policies = [each for each in found.subjects if each.scope is KnobScope.POLICY]
    assert [each.name for each in policies] == ["policy0", "policy1", "policy2", "policy3"]
    assert policies[0].values["governor"].text == "schedutil"
    assert "performance" in policies[0].values["governor"].choices
    scene.reader.take_value(f"{_POLICY}/scaling_governor", "performance")
    assert policy_words(scene.reader, "scaling_governor") == ("performance", *["schedutil"] * 3)
    assert scene.reader.text(f"{_POLICY}/scaling_cur_freq") == "2100000"
    for number in range(4):
        scene.reader.take_value(
            _POLICY.replace("policy0", f"policy{number}") + "/scaling_governor", "powersave"
        )
    scene.go(1)
    assert read_mhz(scene.reader) == (1400, 1400)


def test_limits_hold(scene: Scene) -> None:
    scene.reader.take_value(f"{_POLICY}/scaling_governor", "performance")
    scene.reader.take_value(f"{_POLICY}/scaling_max_freq", "1700000")
    scene.go(1)
    assert scene.reader.text(f"{_POLICY}/scaling_cur_freq") == "1700000"
    scene.reader.take_value(f"{_POLICY}/scaling_max_freq", "9900000")
    assert scene.reader.text(f"{_POLICY}/scaling_max_freq") == "2100000"


@pytest.mark.parametrize(
    ("file", "word", "code"),
    [
        ("scaling_governor", "turbo", errno.EINVAL),
        ("scaling_max_freq", "fast", errno.EINVAL),
        ("scaling_driver", "x", errno.EACCES),
    ],
)
def test_refusals(scene: Scene, file: str, word: str, code: int) -> None:
    with pytest.raises(OSError, match=f"{_POLICY}/{file}") as caught:
        scene.reader.take_value(f"{_POLICY}/{file}", word)
    assert caught.value.errno == code
