"""Profiles: what differs is set, what is as good stays, and the evidence is reported."""

from __future__ import annotations

import tomllib

import pytest

from raidtui.model.plan import Plan, Refusal
from raidtui.plans.tune.profiles import DEFAULTS, SSD_ARRAY, Profile, parse_profiles, plan_profile
from tests.hosts.specs import raid1, raid5
from tests.hosts.tune_host import ACPI, INTEL, RULES, TMPFILES, TuneHost, parity
from tests.plans.running import planned, refused

MINE = """
[mine]
description = "for the mail spool"
disk.scheduler = ["mq-deadline", "kyber"]
disk.queue_depth = 16
cpu.epp = "performance"
array.read_ahead_kb = 4096
system.speed_limit_max = 500000
"""


def applying(
    host: TuneHost, profile: Profile, only: tuple[str, ...] | None = None, *, keep: bool = False
) -> Plan | Refusal:
    """The plan of a profile."""
    return plan_profile(host.snapshot(), host.tuning(), profile, only, keep=keep)


def writes(plan: Plan | Refusal) -> list[str]:
    """What is written, shortened."""
    return [f"{'/'.join(step.path.split('/')[-3:])} {step.text}" for step in planned(plan).steps if step.text]


def test_the_ssd_array() -> None:
    host = TuneHost(
        cpus=INTEL,
        nodes={"sda": {"device/queue_depth": "1"}, "sdb": {"device/queue_depth": "31"}, "nvme0n1": {}},
    )
    plan = planned(applying(host, SSD_ARRAY))
    assert plan.title == (
        "profile ssd-array: governor powersave → performance (policy0, policy2), queue_depth 1 → 32 (sda)"
    )
    assert writes(plan) == [
        "cpufreq/policy0/scaling_governor performance",
        "cpufreq/policy2/scaling_governor performance",
        "sda/device/queue_depth 32",
    ]
    assert plan.notes == (*SSD_ARRAY.of_drivers["intel_pstate"], *SSD_ARRAY.evidence)
    other = planned(applying(TuneHost(cpus=ACPI), SSD_ARRAY))
    assert (other.title, other.notes) == (
        "profile ssd-array: governor schedutil → performance (policy0, policy2)",
        SSD_ARRAY.evidence,
    )


def test_hard_disks_stay_as_they_are_and_a_missing_cpufreq_is_reported() -> None:
    host = TuneHost(
        nodes={
            "sda": {"queue/scheduler": "none [bfq]", "queue/rotational": "1"},
            "sdb": {"queue/scheduler": "none [bfq]"},
        }
    )
    plan = planned(applying(host, SSD_ARRAY))
    assert writes(plan) == ["sdb/queue/scheduler none"]
    assert plan.notes[:2] == (
        "sda is a hard disk and stays as it is.",
        "This host has no cpufreq: the hypervisor or the firmware decides how fast the processors run.",
    )


def test_a_knob_that_a_disk_has_not_is_reported() -> None:
    host = TuneHost(raid1(members=("sda", "nvme0n1")), nodes={"nvme0n1": {"queue/scheduler": "none [kyber]"}})
    plan = planned(applying(host, SSD_ARRAY))
    assert writes(plan) == ["nvme0n1/queue/scheduler none"]
    assert plan.notes[0].startswith("nvme0n1: an NVMe disk has no queue_depth: it has its own queues")


def test_an_adapters_own_queue_depth_stays() -> None:
    link = "../../devices/pci0000:00/0000:00:06.0/host0/port-0:0/block/sda"
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sda": {"device/queue_depth": "254"}})
    host._links["/sys/class/block/sda"] = link
    assert refused(applying(host, SSD_ARRAY)) == "everything is already as ssd-array sets it"


def test_for_some_alone() -> None:
    host = TuneHost(
        cpus=INTEL, nodes={"sda": {"device/queue_depth": "1"}, "sdb": {"device/queue_depth": "1"}}
    )
    assert writes(applying(host, SSD_ARRAY, ("sda",))) == ["sda/device/queue_depth 32"]


def test_a_disk_outside_of_arrays_is_left_out() -> None:
    host = TuneHost(nodes={"sdx": {"device/queue_depth": "1"}})
    assert refused(applying(host, SSD_ARRAY)) == "everything is already as ssd-array sets it"


def test_kept() -> None:
    host = TuneHost(cpus=INTEL, nodes={"sda": {"device/queue_depth": "1"}})
    plan = planned(applying(host, SSD_ARRAY, keep=True))
    assert [step.command for step in plan.steps if not step.text] == [
        "mkdir --parents /etc/udev/rules.d",
        f"write {RULES}",
        "udevadm control --reload",
        "mkdir --parents /etc/tmpfiles.d",
        f"write {TMPFILES}",
    ]
    assert plan.title == (
        "profile ssd-array: kept: queue_depth 32 (sda), governor performance (policy0, policy2)"
    )


def test_the_kernels_defaults() -> None:
    """A new scheduler brings its own nr_requests along; what has no known default stays."""
    host = TuneHost(
        raid5(members=("sda", "sdb", "sdc"), attributes=parity(group_thread_cnt="8")),
        nodes={
            "sda": {"queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "16"},
            "sdb": {"queue/nr_requests": "128", "device/timeout": "180"},
        },
    )
    plan = planned(applying(host, DEFAULTS))
    assert writes(plan) == [
        "sda/queue/scheduler mq-deadline",
        "sdb/queue/nr_requests 64",
        "sdb/device/timeout 30",
        "md125/md/group_thread_cnt 0",
    ]
    assert plan.notes[0] == "The default queue_depth of sda is not known: it stays."


def test_the_users_own() -> None:
    (profile,), troubles = parse_profiles(tomllib.loads(MINE), "/home/me/profiles.toml")
    assert troubles == ()
    assert profile == Profile(
        name="mine",
        description="for the mail spool",
        values={
            "disk": {"scheduler": ("mq-deadline", "kyber"), "queue_depth": ("16",)},
            "cpu": {"energy_performance_preference": ("performance",)},
            "array": {"read_ahead_kb": ("4096",)},
            "system": {"speed_limit_max": ("500000",)},
        },
        where="/home/me/profiles.toml",
    )
    host = TuneHost(
        cpus=INTEL,
        files={"/sys/class/block/md127/queue/read_ahead_kb": "512"},
        nodes={"sdb": {"queue/scheduler": "none mq-deadline [kyber]"}},
        limits=(1000, 200_000),
    )
    assert writes(applying(host, profile, ("sdb", "md127", "system", "policy0"))) == [
        "cpufreq/policy0/energy_performance_preference performance",
        "sdb/device/queue_depth 16",
        "md127/queue/read_ahead_kb 4096",
        "dev/raid/speed_limit_max 500000",
    ]


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("mine = 3", "x.toml: 'mine' must be a table: [mine]"),
        (
            "[mine]\nscheduler = 'none'",
            (
                "x.toml: [mine] has an unknown entry 'scheduler';"
                " there are: [mine.disk], [mine.cpu], [mine.array], [mine.system]"
            ),
        ),
        ("[mine.disk]\ncolour = 1", "x.toml: [mine.disk] has no knob 'colour'"),
        ("[mine.cpu]\nscheduler = 'none'", "x.toml: [mine.cpu] has no knob 'scheduler'"),
        (
            "[mine.disk]\nscheduler = true",
            "x.toml: [mine.disk] scheduler must be a number, a word in quotes, or a list of them",
        ),
        (
            "[mine.disk]\nscheduler = []",
            "x.toml: [mine.disk] scheduler must be a number, a word in quotes, or a list of them",
        ),
    ],
)
def test_what_cannot_be_taken_is_reported(text: str, trouble: str) -> None:
    assert parse_profiles(tomllib.loads(text), "x.toml")[1] == (trouble,)


def test_a_value_that_is_out_of_range_is_refused_as_ever() -> None:
    (profile,), _ = parse_profiles({"mine": {"disk": {"queue_depth": 99}}}, "x.toml")
    assert refused(applying(TuneHost(), profile)) == "queue_depth of sda must be from 1 to 32, not 99"
