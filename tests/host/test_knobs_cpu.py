"""The processors' knobs: intel_pstate, amd-pstate, acpi-cpufreq."""

from __future__ import annotations

import pytest

from raidtui.host.knobs.cpufreq import ranges
from raidtui.model.knob import KnobScope, neighbours
from tests.hosts.tune_host import ACPI, AMD, CPUS, INTEL, POLICIES, TuneHost

pytestmark = pytest.mark.usefixtures("host_or_capture")


def test_intel_pstate() -> None:
    host = TuneHost(cpus=INTEL, files={f"{CPUS}/intel_pstate/hwp_dynamic_boost": "0"})
    policies = host.tuning().of(KnobScope.POLICY)
    assert [(policy.name, policy.cpus, policy.kind) for policy in policies] == [
        ("policy0", "0-1", "intel_pstate"),
        ("policy2", "2-3", "intel_pstate"),
    ]
    assert (policies[0].now_khz, policies[0].top_khz) == (1_200_000, 4_200_000)
    governor = policies[0].values["governor"]
    assert (governor.text, governor.choices, governor.default) == (
        "powersave", ("performance", "powersave"), None
    )  # fmt: skip
    assert governor.path == f"{POLICIES}/policy0/scaling_governor"
    preference = policies[0].values["energy_performance_preference"]
    assert preference.choices == ("default", "performance", "balance_performance", "balance_power", "power")
    assert (preference.low, preference.high) == (0, 255)
    low, high = policies[0].values["min_freq_khz"], policies[0].values["max_freq_khz"]
    assert (low.text, low.default, low.low, low.high) == ("800000", "800000", 800_000, 4_200_000)
    assert (high.text, high.default) == ("4200000", "4200000")
    cpu = host.subject("cpu")
    assert (cpu.values["driver_mode"].text, cpu.values["driver_mode"].choices) == (
        "active", ("active", "passive")
    )  # fmt: skip
    assert cpu.values["hwp_dynamic_boost"].default == "0"


def test_amd_pstate() -> None:
    host = TuneHost(cpus=AMD)
    policy = host.subject("policy0")
    assert policy.kind == "amd-pstate-epp"
    assert policy.values["energy_performance_preference"].high is None
    assert policy.values["min_freq_khz"].default is None
    cpu = host.subject("cpu")
    assert cpu.values["driver_mode"].choices == ("active", "passive", "guided")
    why = "only intel_pstate has hwp_dynamic_boost, on processors with HWP in its active mode"
    assert cpu.absent == {"hwp_dynamic_boost": why}


def test_acpi_cpufreq() -> None:
    host = TuneHost(cpus=ACPI)
    policy = host.subject("policy2")
    assert policy.values["governor"].choices[-1] == "schedutil"
    assert policy.absent == {
        "energy_performance_preference": "the driver acpi-cpufreq has no energy_performance_preference"
    }
    assert host.subject("cpu").values == {}


def test_a_driver_with_a_table_of_frequencies() -> None:
    """What lies between them becomes the next lower one: they are what can be chosen."""
    policy = TuneHost(cpus={**ACPI, "scaling_available_frequencies": "2600000 1600000 800000 "}).subject(
        "policy0"
    )
    value = policy.values["max_freq_khz"]
    assert value.choices == ("800000", "1600000", "2600000")
    assert neighbours(value) == ("1600000", None)


def test_policies_go_by_their_number() -> None:
    files = {f"{POLICIES}/policy10/{file}": text for file, text in ACPI.items()}
    names = [policy.name for policy in TuneHost(cpus=ACPI, files=files).tuning().of(KnobScope.POLICY)]
    assert names == ["policy0", "policy2", "policy10"]


def test_lists_of_processors() -> None:
    assert ranges([3, 0, 1, 2, 8]) == "0-3,8"
    assert ranges([]) == ""
