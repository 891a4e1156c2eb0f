"""Profiles: what differs is set, what is as good stays, and the evidence is reported."""

from __future__ import annotations

import tomllib

import pytest

from raidtui.model.plan import Plan, Refusal
from raidtui.plans.tune.profiles import DEFAULTS, SSD_ARRAY, Profile, parse_profiles, plan_profile
from tests.hosts.specs import raid1, raid5
from tests.hosts.tune_host import ACPI, INTEL, TuneHost, parity
from tests.plans.goldens import accepted, brief

MINE = """
[mine]
description = "for the mail spool"
disk.scheduler = ["mq-deadline", "kyber"]
disk.queue_depth = 16
cpu.epp = "performance"
array.read_ahead_kb = 4096
system.speed_limit_max = 500000
"""
HARD_DISK = {"queue/scheduler": "none [bfq]", "queue/rotational": "1"}
SHALLOW = {"device/queue_depth": "1"}


def applying(
    host: TuneHost, profile: Profile = SSD_ARRAY, only: tuple[str, ...] | None = None, *, keep: bool = False
) -> Plan | Refusal:
    """The plan of a profile."""
    return brief(plan_profile(host.snapshot(), host.tuning(), profile, only, keep=keep))


def shallow(*disks: str, cpus: dict[str, str] | None = None) -> TuneHost:
    return TuneHost(cpus=cpus, nodes=dict.fromkeys(disks, SHALLOW))


def depths() -> TuneHost:
    """One is too low, one is as good as the advice."""
    nodes = {"sda": SHALLOW, "sdb": {"device/queue_depth": "31"}, "nvme0n1": {}}
    return TuneHost(cpus=INTEL, nodes=nodes)


def adapter() -> TuneHost:
    """A disk behind an adapter with a queue depth of its own."""
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sda": {"device/queue_depth": "254"}})
    host._links["/sys/class/block/sda"] = "../../devices/pci0000:00/0000:00:06.0/host0/port-0:0/block/sda"
    return host


def odd() -> TuneHost:
    """A new scheduler brings its own nr_requests along; what has no known default stays."""
    return TuneHost(
        raid5(members=("sda", "sdb", "sdc"), attributes=parity(group_thread_cnt="8")),
        nodes={
            "sda": {"queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "16"},
            "sdb": {"queue/nr_requests": "128", "device/timeout": "180"},
        },
    )


def mine() -> Profile:
    (profile,), troubles = parse_profiles(tomllib.loads(MINE), "/home/me/profiles.toml")
    assert troubles == ()
    return profile


def my_host() -> TuneHost:
    return TuneHost(
        cpus=INTEL,
        files={"/sys/class/block/md127/queue/read_ahead_kb": "512"},
        nodes={"sdb": {"queue/scheduler": "none mq-deadline [kyber]"}},
        limits=(1000, 200_000),
    )


def too_deep() -> Profile:
    (profile,), _ = parse_profiles({"mine": {"disk": {"queue_depth": 99}}}, "x.toml")
    return profile


NVME = TuneHost(raid1(members=("sda", "nvme0n1")), nodes={"nvme0n1": {"queue/scheduler": "none [kyber]"}})

test_plans = accepted(
    {
        "ssd-array": lambda: applying(depths()),
        "ssd-array: another driver": lambda: applying(TuneHost(cpus=ACPI)),
        "ssd-array: a hard disk, no cpufreq": lambda: applying(
            TuneHost(nodes={"sda": HARD_DISK, "sdb": {"queue/scheduler": "none [bfq]"}})
        ),
        "ssd-array: a knob that NVMe has not": lambda: applying(NVME),
        "ssd-array: an adapter": lambda: applying(adapter()),
        "ssd-array: for some": lambda: applying(shallow("sda", "sdb", cpus=INTEL), only=("sda",)),
        "ssd-array: a disk of no array": lambda: applying(shallow("sdx")),
        "ssd-array: kept": lambda: applying(shallow("sda", cpus=INTEL), keep=True),
        "defaults": lambda: applying(odd(), DEFAULTS),
        "mine": lambda: applying(my_host(), mine(), ("sdb", "md127", "system", "policy0")),
        "mine: out of range": lambda: applying(TuneHost(), too_deep()),
    }
)


def test_the_users_own() -> None:
    assert mine() == Profile(
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


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("mine = 3", "'mine' must be a table: [mine]"),
        (
            "[mine]\nscheduler = 'none'",
            (
                "[mine] has an unknown entry 'scheduler';"
                " there are: [mine.disk], [mine.cpu], [mine.array], [mine.system]"
            ),
        ),
        ("[mine.disk]\ncolour = 1", "[mine.disk] has no knob 'colour'"),
        ("[mine.cpu]\nscheduler = 'none'", "[mine.cpu] has no knob 'scheduler'"),
        *(
            (
                f"[mine.disk]\nscheduler = {value}",
                "[mine.disk] scheduler must be a number, a word in quotes, or a list of them",
            )
            for value in ("true", "[]")
        ),
    ],
)
def test_what_cannot_be_taken_is_reported(text: str, trouble: str) -> None:
    assert parse_profiles(tomllib.loads(text), "x.toml")[1] == (f"x.toml: {trouble}",)
