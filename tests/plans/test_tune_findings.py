"""What is out of line: members that differ, values that drifted, timeouts that lose disks."""

from __future__ import annotations

from raidtui.model.knob import By, ChangedValue, Tuning
from raidtui.model.smart import ErrorRecovery
from raidtui.plans.tune.findings import UnevenMembers, judge_tuning, odd_members
from tests.hosts.specs import raid0, raid1, raid10
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, RULES, TMPFILES, TuneHost
from tests.plans.goldens import accepted

DISKS = ("sda", "sdb", "sdc", "sdd")
SCHEDULER = f"{BLOCK}/sda/queue/scheduler"
SET_NOW = {SCHEDULER: ChangedValue(path=SCHEDULER, before="none", value="mq-deadline", by=By.NOW)}
OFF = {"device/queue_depth": "1", "device/timeout": "20", "queue/rotational": "1"}
ODD = {**OFF, "queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "32"}
FAST = {**INTEL, "scaling_governor": "performance"}
ERC_OFF, ERC_70 = ErrorRecovery(read_ds=0, write_ds=0), ErrorRecovery(read_ds=70, write_ds=70)


def one_is_shallow() -> TuneHost:
    return TuneHost(nodes={"sdc": {"device/queue_depth": "16"}})


def halves() -> TuneHost:
    return TuneHost(raid1(members=("sda", "sdb")), nodes={"sdb": {"queue/read_ahead_kb": "4096"}})


def drifted() -> TuneHost:
    kept = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"'
    return TuneHost(raid0(members=("sda", "sdb")), files={RULES: kept})


def overruled() -> Tuning:
    files = {
        TMPFILES: "w /sys/devices/system/cpu/cpufreq/policy0/scaling_governor - - - - performance",
        "/etc/tlp.conf": "CPU_SCALING_GOVERNOR_ON_AC=powersave",
        "/proc/5/comm": "tlp",
    }
    return TuneHost(cpus=FAST, files=files).tuning()


def all_off() -> Tuning:
    """Four disks, each of them with half a dozen things to say of it."""
    host = TuneHost(nodes={**dict.fromkeys(DISKS[:3], OFF), "sdd": ODD})
    return host.tuning(erc=dict.fromkeys(DISKS))


def of_two_arrays() -> Tuning:
    """A disk that is the odd one out in one array, and in the other a half, where nothing is usual."""
    specs = raid10(members=("sda1", "sdb1", "sdc1", "sdd1")), raid0(members=("sdc2", "sdd2"))
    return TuneHost(*specs, nodes={"sdd": {"device/queue_depth": "16"}}).tuning()


def timeouts(timeout: str, rotational: str, erc: ErrorRecovery | None) -> Tuning:
    both = {"device/timeout": timeout, "queue/rotational": rotational}
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sda": both, "sdb": both})
    return host.tuning(erc={"sda": erc})


test_findings = accepted(
    {
        "a member that differs": lambda: one_is_shallow().tuning(),
        "two members that differ": lambda: halves().tuning(),
        "several members and knobs": all_off,
        "a disk of two arrays": of_two_arrays,
        "NCQ that is off": lambda: TuneHost(nodes={"sda": {"device/queue_depth": "1"}}).tuning(),
        "kept, and not so": lambda: drifted().tuning(),
        "kept, and set otherwise for now": lambda: drifted().tuning(SET_NOW),
        "kept, and overruled": overruled,
        "timeout: a hard disk without ERC": lambda: timeouts("30", "1", None),
        "timeout: an SSD without ERC": lambda: timeouts("30", "0", None),
        "timeout: ERC is off": lambda: timeouts("30", "0", ERC_OFF),
        "timeout: below ERC": lambda: timeouts("5", "0", ERC_70),
        "processors that save power": lambda: TuneHost(cpus=INTEL).tuning(),
        "another driver that saves power": lambda: TuneHost(
            cpus={**INTEL, "scaling_driver": "acpi-cpufreq"}
        ).tuning(),
    },
    judge_tuning,
)


def test_what_is_in_line() -> None:
    spinning = {disk: {"queue/rotational": "1"} for disk in DISKS}
    for tuning in (
        TuneHost(cpus=FAST).tuning(),
        TuneHost(FOUR).tuning(),  # nobody asked for the disks' ERC
        TuneHost(raid0(members=("sda", "sdb"))).tuning(erc={"sda": None, "sdb": None}),  # lost anyway
        TuneHost(cpus=INTEL, nodes=spinning).tuning(),
        TuneHost(cpus={**INTEL, "scaling_driver": "amd-pstate-epp"}).tuning(),  # nobody measured that
        timeouts("30", "0", ERC_70),
        timeouts("180", "1", None),
        timeouts("180", "1", ERC_OFF),
    ):
        assert judge_tuning(tuning) == ()


def test_members_that_differ() -> None:
    array = one_is_shallow().snapshot().arrays[0]
    assert odd_members(one_is_shallow().tuning()) == (
        UnevenMembers(array=array.key, knob="queue_depth", usual="32", values={"sdc": "16"}),
    )
    (odd,) = odd_members(halves().tuning())
    assert (odd.usual, odd.values) == ("", {"sda": "128", "sdb": "4096"})
    of_two_kinds = TuneHost(raid1(members=("sda", "nvme0n1")))
    assert odd_members(of_two_kinds.tuning()) == ()
