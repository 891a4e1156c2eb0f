"""What is out of line: members that differ, values that drifted, timeouts that lose disks."""

from __future__ import annotations

import pytest

from raidtui.model.finding import Severity
from raidtui.model.knob import By, ChangedValue, Tuning
from raidtui.model.smart import ErrorRecovery
from raidtui.plans.tune.findings import TuneFinding, UnevenMembers, judge_tuning, odd_members
from tests.hosts.specs import raid0, raid1, raid10
from tests.hosts.tune_host import BLOCK, FOUR, INTEL, RULES, TMPFILES, TuneHost

KEPT = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"'
TIMEOUTS = (
    "for d in /dev/sda /dev/sdb /dev/sdc /dev/sdd; do smartctl -l scterc,70,70 $d; done, or:"
    " raidtui tune keep @data timeout=180"
)
NO_NCQ = (
    "queue_depth of sda is 1: NCQ is off. A published test on a RAID-10 of two SSDs had a quarter"
    " of the IOPS at 1 that it had at 8; a depth that the disk's firmware cannot take may end in link resets."
)
LOWEST = (
    "governor of policy0, policy2 is powersave. Under powersave the processors run at their lowest frequency;"
    " performance costs power and heat."
)
SCHEDULER = f"{BLOCK}/sda/queue/scheduler"


def reported(tuning: Tuning) -> list[tuple[str, str]]:
    """Code and sentence of each finding."""
    return [(each.code, each.sentence) for each in judge_tuning(tuning)]


def test_nothing_is_out_of_line() -> None:
    assert reported(TuneHost(cpus={**INTEL, "scaling_governor": "performance"}).tuning()) == []


def test_a_member_that_differs() -> None:
    host = TuneHost(nodes={"sdc": {"device/queue_depth": "16"}})
    key = host.snapshot().arrays[0].key
    assert odd_members(host.tuning()) == (
        UnevenMembers(array=key, knob="queue_depth", usual="32", values={"sdc": "16"}),
    )
    assert judge_tuning(host.tuning()) == (
        TuneFinding(
            severity=Severity.INFO,
            code="tune-uneven",
            subject=key,
            name="data",
            sentence="queue_depth differs: sdc 16; the others of data have 32.",
            remedy="raidtui tune set @data queue_depth=32",
            about=(("sdc", "queue_depth"),),
        ),
    )


def test_two_members_that_differ_from_each_other() -> None:
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sdb": {"queue/read_ahead_kb": "4096"}})
    (odd,) = odd_members(host.tuning())
    assert (odd.usual, odd.values) == ("", {"sda": "128", "sdb": "4096"})
    assert reported(host.tuning()) == [("tune-uneven", "read_ahead_kb differs: sda 128, sdb 4096 in root.")]


def test_disks_of_different_kinds_are_not_compared() -> None:
    host = TuneHost(raid1(members=("sda", "nvme0n1")))
    assert odd_members(host.tuning()) == ()


def test_where_no_value_is_the_usual_one_none_is_advised() -> None:
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sdb": {"queue/read_ahead_kb": "4096"}})
    (finding,) = judge_tuning(host.tuning())
    assert finding.remedy == "choose one: raidtui tune set @root read_ahead_kb=VALUE (128 or 4096)"


def test_what_several_members_have_is_one_finding() -> None:
    """Four disks, each of them with half a dozen things to say of it."""
    off = {"device/queue_depth": "1", "device/timeout": "20", "queue/rotational": "1"}
    odd = {**off, "queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "32"}
    host = TuneHost(nodes={**dict.fromkeys(("sda", "sdb", "sdc"), off), "sdd": odd})
    disks = ("sda", "sdb", "sdc", "sdd")
    found = judge_tuning(host.tuning(erc=dict.fromkeys(disks)))
    assert [(each.code, each.name, each.remedy) for each in found] == [
        ("tune-timeout", "data", TIMEOUTS),
        ("tune-uneven", "data", "raidtui tune set @data scheduler=mq-deadline nr_requests=64"),
        ("tune-no-ncq", "data", "raidtui tune set @data queue_depth=32"),
    ]
    assert [each.sentence.partition(". ")[0] for each in found] == [
        (
            "sda, sdb, sdc, sdd may retry a bad sector for minutes (SCT ERC is missing), "
            "and the kernel waits 20 s: the array then drops the disk."
        ),
        (
            "members of data differ: scheduler (sdd none, the others mq-deadline); "
            "nr_requests (sdd 32, the others 64)."
        ),
        "queue_depth of sda, sdb, sdc, sdd is 1: NCQ is off",
    ]
    assert found[2].about == tuple((disk, "queue_depth") for disk in disks)


def test_a_disk_of_two_arrays_gets_one_piece_of_advice() -> None:
    """In one array it is the odd one out; of the other it is a half, where nothing is usual."""
    host = TuneHost(
        raid10(members=("sda1", "sdb1", "sdc1", "sdd1")),
        raid0(members=("sdc2", "sdd2")),
        nodes={"sdd": {"device/queue_depth": "16"}},
    )
    (finding,) = judge_tuning(host.tuning())
    assert (finding.name, finding.sentence, finding.remedy) == (
        "data, scratch",
        "queue_depth differs: sdd 16; the others of data, scratch have 32.",
        "raidtui tune set @data queue_depth=32",
    )


def test_ncq_that_is_off() -> None:
    host = TuneHost(nodes={"sda": {"device/queue_depth": "1"}})
    code, sentence = reported(host.tuning())[1]
    assert (code, sentence) == ("tune-no-ncq", NO_NCQ)


def test_what_is_kept_and_is_not_so() -> None:
    host = TuneHost(raid0(members=("sda", "sdb")), files={RULES: KEPT})
    (finding, *_) = judge_tuning(host.tuning())
    assert finding == TuneFinding(
        severity=Severity.ATTENTION,
        code="tune-drift",
        subject=host.snapshot().arrays[0].key,
        name="sda",
        sentence="scheduler of sda is mq-deadline; raidtui keeps it at none.",
        remedy="raidtui tune set sda scheduler=none, or: raidtui tune keep sda scheduler",
        about=(("sda", "scheduler"),),
    )
    changed = {SCHEDULER: ChangedValue(path=SCHEDULER, before="none", value="mq-deadline", by=By.NOW)}
    (finding, *_) = judge_tuning(host.tuning(changed))
    assert (finding.severity, finding.sentence) == (
        Severity.INFO,
        "scheduler of sda is mq-deadline, set by raidtui, for now; raidtui keeps it at none.",
    )


def test_what_is_kept_and_overruled_later_at_boot() -> None:
    host = TuneHost(
        cpus={**INTEL, "scaling_governor": "performance"},
        files={
            TMPFILES: "w /sys/devices/system/cpu/cpufreq/policy0/scaling_governor - - - - performance",
            "/etc/tlp.conf": "CPU_SCALING_GOVERNOR_ON_AC=powersave",
            "/proc/5/comm": "tlp",
        },
    )
    (finding,) = judge_tuning(host.tuning())
    assert (finding.code, finding.severity, finding.name) == (
        "tune-overruled", Severity.ATTENTION, "policy0"
    )  # fmt: skip
    assert finding.sentence == (
        "raidtui keeps governor of policy0 at performance, but TLP (/etc/tlp.conf:1) sets it to powersave"
        " later at boot."
    )
    assert finding.remedy == "change it there, or: raidtui tune forget policy0 governor"


@pytest.mark.parametrize(
    ("timeout", "rotational", "erc", "severity", "sentence"),
    [
        ("30", "0", ErrorRecovery(read_ds=70, write_ds=70), None, ""),
        ("180", "1", None, None, ""),
        ("180", "1", ErrorRecovery(read_ds=0, write_ds=0), None, ""),
        (
            "30",
            "1",
            None,
            Severity.ATTENTION,
            (
                "sda may retry a bad sector for minutes (SCT ERC is missing), and the kernel waits"
                " 30 s: the array then drops the disk."
            ),
        ),
        (
            "30",
            "0",
            None,
            Severity.INFO,
            (
                "sda may retry a bad sector for minutes (SCT ERC is missing), and the kernel waits"
                " 30 s: the array then drops the disk."
            ),
        ),
        (
            "30",
            "0",
            ErrorRecovery(read_ds=0, write_ds=0),
            Severity.ATTENTION,
            (
                "sda may retry a bad sector for minutes (SCT ERC is off), and the kernel waits 30 s:"
                " the array then drops the disk."
            ),
        ),
        (
            "5",
            "0",
            ErrorRecovery(read_ds=70, write_ds=70),
            Severity.ATTENTION,
            (
                "sda retries a bad sector for 7 s (SCT ERC), and the kernel waits 5 s:"
                " the array then drops the disk."
            ),
        ),
    ],
)
def test_timeouts(
    timeout: str, rotational: str, erc: ErrorRecovery | None, severity: Severity | None, sentence: str
) -> None:
    both = {"device/timeout": timeout, "queue/rotational": rotational}
    host = TuneHost(raid1(members=("sda", "sdb")), nodes={"sda": both, "sdb": both})
    found = [each for each in judge_tuning(host.tuning(erc={"sda": erc})) if each.code == "tune-timeout"]
    assert [(each.severity, each.sentence) for each in found] == (
        [] if severity is None else [(severity, sentence)]
    )
    if found:
        assert found[0].remedy == ("smartctl -l scterc,70,70 /dev/sda, or: raidtui tune keep sda timeout=180")


def test_a_disk_that_was_not_asked_or_whose_array_is_lost_anyway_says_nothing() -> None:
    assert reported(TuneHost(FOUR).tuning()) == []
    assert reported(TuneHost(raid0(members=("sda", "sdb"))).tuning(erc={"sda": None, "sdb": None})) == []


def test_processors_of_ssds_that_save_power() -> None:
    (finding,) = judge_tuning(TuneHost(cpus=INTEL).tuning())
    assert (finding.severity, finding.code, finding.name) == (Severity.INFO, "tune-powersave", "cpu")
    assert finding.sentence == (
        "governor of policy0, policy2 is powersave. Under powersave of intel_pstate a published RAID-10 of"
        " SSDs lost 14 to 19 % of its random throughput (Linux 4.4); performance costs power and heat."
    )
    assert finding.remedy == "raidtui tune set governor=performance"
    spinning = {name: {"queue/rotational": "1"} for name in ("sda", "sdb", "sdc", "sdd")}
    assert reported(TuneHost(cpus=INTEL, nodes=spinning).tuning()) == []


@pytest.mark.parametrize(("driver", "sentence"), [("acpi-cpufreq", LOWEST), ("amd-pstate-epp", None)])
def test_what_was_measured_with_one_driver_is_not_claimed_of_another(
    driver: str, sentence: str | None
) -> None:
    host = TuneHost(cpus={**INTEL, "scaling_driver": driver})
    assert reported(host.tuning()) == ([] if sentence is None else [("tune-powersave", sentence)])
