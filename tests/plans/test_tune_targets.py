"""What is typed: disks, arrays, their members, processors, and knobs with and without values."""

from __future__ import annotations

import pytest

from raidtui.model.plan import Refusal
from raidtui.plans.tune.targets import NamedKnob, TargetReader
from tests.hosts.specs import raid5
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, TuneHost, parity

VM = raid5(label="vm", members=("sde1", "sdf1", "sdg1"), attributes=parity())


def reader(**more: object) -> TargetReader:
    """A host with a RAID-10 of disks and a RAID-5 of partitions."""
    files = {f"{BLOCK}/{name}/queue/read_ahead_kb": "512" for name in ("md127", "md125")}
    host = TuneHost(FOUR, VM, cpus=INTEL, files=files, **more)  # type: ignore[arg-type]
    names = {"/dev/disk/by-id/ata-S1": "sda"}
    return TargetReader(
        host.snapshot(), host.tuning(), lambda word: names.get(word, word.removeprefix("/dev/"))
    )


def read(*words: str, bare: bool = False) -> list[str]:
    """What words mean, as "sda scheduler=none"."""
    found = reader().read(words, bare=bare)
    assert not isinstance(found, Refusal), found.sentence
    return [
        f"{word.subject} {word.knob}" + (f"={word.value}" if word.value is not None else "") for word in found
    ]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("sda scheduler=none", ["sda scheduler=none"]),
        ("/dev/sda scheduler=none", ["sda scheduler=none"]),
        ("/dev/disk/by-id/ata-S1 scheduler=none", ["sda scheduler=none"]),
        ("sde1 timeout=60", ["sde timeout=60"]),
        ("sda sdb timeout=60 scheduler=none", ["sda timeout=60", "sdb timeout=60", "sda scheduler=none",
                                               "sdb scheduler=none"]),
        ("sda timeout=60 sdb timeout=90", ["sda timeout=60", "sdb timeout=90"]),
        ("@data timeout=60", ["sda timeout=60", "sdb timeout=60", "sdc timeout=60", "sdd timeout=60"]),
        ("@vm timeout=60 stripe_cache_size=512", ["sde timeout=60", "sdf timeout=60", "sdg timeout=60",
                                                  "md125 stripe_cache_size=512"]),
        ("vm stripe_cache_size=512", ["md125 stripe_cache_size=512"]),
        ("/dev/md125 read_ahead_kb=512", ["md125 read_ahead_kb=512"]),
        ("@vm read_ahead_kb=8", ["sde read_ahead_kb=8", "sdf read_ahead_kb=8", "sdg read_ahead_kb=8"]),
        ("governor=performance", ["policy0 governor=performance", "policy2 governor=performance"]),
        ("cpu epp=power driver_mode=passive", ["policy0 energy_performance_preference=power",
                                               "policy2 energy_performance_preference=power",
                                               "cpu driver_mode=passive"]),
        ("policy2 governor=performance", ["policy2 governor=performance"]),
        ("speed_limit_max=5 system speed_limit_min=4", ["system speed_limit_max=5",
                                                        "system speed_limit_min=4"]),
    ],
)  # fmt: skip
def test_what_is_meant(words: str, meant: list[str]) -> None:
    assert read(*words.split()) == meant


def test_knobs_without_values() -> None:
    assert read("sda", "scheduler", "timeout=60", bare=True) == ["sda scheduler", "sda timeout=60"]
    found = reader().read(["policy0"], bare=True)
    assert found == tuple(
        NamedKnob(subject="policy0", knob=knob, named=False)
        for knob in ("governor", "energy_performance_preference", "min_freq_khz", "max_freq_khz")
    )


def test_names() -> None:
    assert reader().names(["@data", "sda", "system"]) == ("md127", "sda", "sdb", "sdc", "sdd", "system")
    assert reader().names(["cpu"]) == ("cpu", "policy0", "policy2")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "sdz scheduler=none",
            "there is no disk or array 'sdz'; disks: sda, sdb, sdc, sdd, sde, sdf, sdg; arrays: @data, @vm",
        ),
        ("@nas scheduler=none", "there is no array 'nas'; known arrays: data, vm"),
        ("sda", "no knob is named; give KNOB=VALUE: scheduler=none"),
        ("sda timeout=60 sdb", "no knob is named; give KNOB=VALUE: scheduler=none"),
        (
            "scheduler=none",
            "scheduler belongs to a disk; name one before it, or @ARRAY for all members of an array",
        ),
        (
            "read_ahead_kb=8",
            (
                "read_ahead_kb belongs to a disk or an array;"
                " name one before it, or @ARRAY for all members of an array"
            ),
        ),
        (
            "data scheduler=none",
            "scheduler belongs to disks, not to the array data; give @data for all of its members",
        ),
        ("sda governor=performance", "sda has no governor; it belongs to the processors (cpu)"),
        ("sda stripe_cache_size=9", "sda has no stripe_cache_size; it belongs to an array"),
        ("@vm speed_limit_max=9", "@vm has no speed_limit_max; it belongs to the system"),
    ],
)
def test_refused(words: str, sentence: str) -> None:
    found = reader().read(words.split())
    assert isinstance(found, Refusal)
    assert found.sentence == sentence


def test_an_unknown_knob() -> None:
    found = reader().read(["sda", "colour=blue"])
    assert isinstance(found, Refusal)
    assert found.why == "there is no knob 'colour'"


def test_a_host_without_cpufreq() -> None:
    host = TuneHost(FOUR)
    words = TargetReader(host.snapshot(), host.tuning(), lambda word: word)
    why = "this host has no cpufreq: the hypervisor or the firmware decides how fast the processors run"
    for typed in (["governor=performance"], ["cpu", "governor=performance"]):
        found = words.read(typed)
        assert isinstance(found, Refusal)
        assert found.sentence == why


def test_members_without_a_knob_are_left_out_and_all_without_it_say_why() -> None:
    mixed = raid5(members=("sde", "nvme0n1", "nvme1n1"), attributes=parity())
    host = TuneHost(mixed)
    words = TargetReader(host.snapshot(), host.tuning(), lambda word: word)
    assert words.read(["@media", "queue_depth=8"]) == (
        NamedKnob(subject="sde", knob="queue_depth", value="8"),
    )
    host = TuneHost(raid5(members=("nvme0n1", "nvme1n1", "nvme2n1"), attributes=parity()))
    words = TargetReader(host.snapshot(), host.tuning(), lambda word: word)
    assert words.read(["@media", "queue_depth=8"]) == (
        NamedKnob(subject="nvme0n1", knob="queue_depth", value="8"),
    )
