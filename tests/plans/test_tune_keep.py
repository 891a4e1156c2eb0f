"""Values for good: values put in and taken out of the files, and who else sets them."""

from __future__ import annotations

import pytest

from raidtui.model.knob import By, ChangedValue, KnobScope, Setting, Subject, Tuning, Value
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.tune.keep import KeepItem, items_for_now, kept_items, plan_forget, plan_keep
from raidtui.plans.tune.keep_files import (
    UDEV_HEAD,
    KeptEntry,
    rule_match,
    udev_entries,
    udev_text,
)
from tests.hosts.specs import raid5
from tests.hosts.tune_host import (
    BLOCK,
    CPUS,
    INTEL,
    POLICIES,
    RULES,
    SYSCTL,
    TMPFILES,
    TuneHost,
    parity,
    udev,
)
from tests.plans.goldens import accepted, brief
from tests.plans.running import planned

DATABASE = {
    udev("sda"): "E:ID_SERIAL=Samsung_SSD_S1\nE:ID_SERIAL_SHORT=S1",
    udev("sdb"): "E:ID_SERIAL=Samsung_SSD_S2\nE:ID_SERIAL_SHORT=S2",
}
SDA = (
    'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="Samsung_SSD_S1",'
    ' ATTR{queue/scheduler}="none", ATTR{device/queue_depth}="8"'
)
HEAD_SDA = "# SSDSC2BB240G4, S1"
ELSEWHERE = (
    'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="Gone_S9",'
    ' ATTR{queue/scheduler}="bfq"'
)
KEPT = {**DATABASE, RULES: f"{UDEV_HEAD}{HEAD_SDA}\n{SDA}"}
FOREIGN = 'KERNEL=="sdx", ATTR{queue/nomerges}="2"'
ARRAY = raid5(attributes=parity())
TWIN = "E:ID_SERIAL=Bridge_0000"
BOOST = f"{CPUS}/intel_pstate/hwp_dynamic_boost"
PERFORMANCE = f"w {POLICIES}/policy*/scaling_governor - - - - performance"
ANONYMOUS = {**DATABASE, udev("sdc"): "E:ID_MODEL=none"}


def items(*words: str) -> list[KeepItem]:
    """Of "sda scheduler=none"."""
    found = []
    for word in words:
        subject, _, rest = word.partition(" ")
        knob, _, value = rest.partition("=")
        found.append(KeepItem(subject=subject, knob=knob, value=value))
    return found


def keeping(host: TuneHost, *words: str) -> Plan | Refusal:
    """The plan that keeps."""
    return plan_keep(host.snapshot(), host.tuning(), items(*words))


def forgetting(host: TuneHost, *words: str) -> Plan | Refusal:
    """The plan that forgets; without words all."""
    return plan_forget(host.snapshot(), host.tuning(), items(*words) if words else None)


def odd(*words: str) -> Plan | Refusal:
    """On a host with a disk that has no serial number."""
    return keeping(TuneHost(cpus=INTEL, files=ANONYMOUS), *words)


def kept_for_now() -> Plan | Refusal:
    host = TuneHost(
        files=ANONYMOUS, nodes={"sda": {"device/queue_depth": "8"}, "sdc": {"device/queue_depth": "8"}}
    )
    paths = [f"{BLOCK}/{name}/device/queue_depth" for name in ("sda", "sdc")]
    tuning = host.tuning({path: ChangedValue(path=path, before="32", value="8") for path in paths})
    return plan_keep(host.snapshot(), tuning, items_for_now(tuning))


def array_kept() -> Plan | Refusal:
    return keeping(TuneHost(ARRAY), "md125 stripe_cache_size=4096", "md125 sync_speed_max=500000")


def array_host_after() -> TuneHost:
    """With the rules that were written for it."""
    [text] = [step.content or "" for step in planned(array_kept()).steps if step.path == RULES]
    return TuneHost(ARRAY, files={RULES: text.rstrip("\n")})


def everything_forgotten() -> Plan | Refusal:
    files = {
        **DATABASE,
        RULES: f"{UDEV_HEAD}{FOREIGN}\n# Elsewhere, S9\n{ELSEWHERE}",
        SYSCTL: "dev.raid.speed_limit_max = 500000",
        TMPFILES: f"{PERFORMANCE}\n# mine",
    }
    return forgetting(TuneHost(cpus=INTEL, files=files))


def overruled() -> Plan | Refusal:
    files = {
        **DATABASE,
        "/etc/udev/rules.d/99-late.rules": 'KERNEL=="sda", ATTR{queue/scheduler}="bfq"',
        "/etc/udev/rules.d/10-early.rules": 'KERNEL=="sda", ATTR{device/timeout}="60"',
    }
    return keeping(TuneHost(files=files), "sda scheduler=none", "sda timeout=180")


BESIDE = "\n".join((UDEV_HEAD + FOREIGN, HEAD_SDA, SDA, "# Elsewhere, S9", ELSEWHERE))
test_plans = accepted(
    {
        # The kernel is asked first; then the file; then udev reads it.
        "keep: of a disk, for the first time": lambda: keeping(
            TuneHost(files=DATABASE), "sda queue_depth=8", "sda scheduler=none"
        ),
        # It is matched by its UUID, and written once.
        "keep: of an array": array_kept,
        "forget: the last of a disk": lambda: forgetting(
            TuneHost(files=KEPT), "sda scheduler", "sda queue_depth"
        ),
        "forget: all but what others wrote": everything_forgotten,
    }
)
test_plans_in_brief = accepted(
    {
        "keep: the value of now": lambda: keeping(
            TuneHost(files={**DATABASE, "/etc/udev/rules.d/README": "x"}), "sda scheduler"
        ),
        # Of another disk, of one that is not here, and what somebody else wrote.
        "keep: beside what is there": lambda: keeping(
            TuneHost(files={**DATABASE, RULES: BESIDE}), "sdb timeout=180", "sda queue_depth=16"
        ),
        "keep: of the system": lambda: keeping(
            TuneHost(limits=(1000, 200_000), files={SYSCTL: "# mine\ndev.raid.speed_limit_min = 2000"}),
            "system speed_limit_max=500000",
        ),
        "keep: processors alike": lambda: keeping(
            TuneHost(cpus=INTEL), "policy0 governor=performance", "policy2 governor=performance"
        ),
        "keep: one of processors alike": lambda: keeping(
            TuneHost(cpus=INTEL, files={TMPFILES: PERFORMANCE}),
            "policy0 governor=powersave",
            "policy0 max_freq_khz=3000000",
        ),
        "keep: a driver before its governors": lambda: keeping(
            TuneHost(cpus=INTEL, files={BOOST: "0"}),
            "policy0 governor=performance",
            "cpu hwp_dynamic_boost=1",
        ),
        # One disk without a serial number, and one knob that no file sets, are no reason to keep nothing.
        "keep: what can be kept": lambda: odd(
            "sda timeout=60", "sdc timeout=60", "cpu driver_mode", "md127 bitmap"
        ),
        "keep: what was set for now, as far as it can be": kept_for_now,
        "keep: another rule wins": overruled,
        "forget: the one of an array": lambda: forgetting(array_host_after(), "md125 sync_speed_max"),
        "forget: one of a disk": lambda: forgetting(TuneHost(files=KEPT), "sda scheduler"),
        "forget: one of processors alike": lambda: forgetting(
            TuneHost(cpus=INTEL, files={TMPFILES: PERFORMANCE}), "policy2 governor"
        ),
    },
    brief,
)
test_refused = accepted(
    {
        "refused: keep no knob": lambda: odd("sda"),
        "refused: keep a value out of range": lambda: odd("sda queue_depth=64"),
        "refused: keep of a disk that is not there": lambda: odd("sdz timeout=60"),
        "refused: keep of a disk without a serial number": lambda: odd("sdc timeout=60"),
        "refused: keep a bitmap": lambda: odd("md127 bitmap"),
        "refused: keep the system's limit of an array": lambda: odd("md127 sync_speed_max"),
        "refused: keep the driver's mode": lambda: odd("cpu driver_mode"),
        "refused: keep without systemd": lambda: keeping(
            TuneHost(cpus=INTEL, systemd=False), "policy0 governor=performance"
        ),
        "refused: keep what is kept": lambda: keeping(
            TuneHost(files=KEPT, nodes={"sda": {"queue/scheduler": "[none]", "device/queue_depth": "8"}}),
            "sda scheduler=none",
            "sda queue_depth",
        ),
        "refused: keep nothing named": lambda: keeping(TuneHost(files=DATABASE)),
        "refused: keep of two disks of one serial number": lambda: keeping(
            TuneHost(files={udev("sda"): TWIN, udev("sdb"): TWIN}), "sda timeout=60"
        ),
        "refused: keep, not root": lambda: keeping(TuneHost(writable=False), "sda timeout=60"),
        "refused: forget what is not kept": lambda: forgetting(TuneHost(files=KEPT), "sda timeout"),
        "refused: forget of a disk that is not there": lambda: forgetting(
            TuneHost(files=KEPT), "sdz timeout"
        ),
        "refused: forget where nothing is kept": lambda: forgetting(TuneHost()),
        "refused: forget, not root": lambda: forgetting(TuneHost(writable=False)),
    }
)


def test_what_is_kept_is_read_again() -> None:
    array = array_host_after()
    assert array.knob("md125", "stripe_cache_size").kept == "4096"
    assert array.knob("md125", "sync_speed_max").kept == "500000"
    assert kept_items(TuneHost(files=KEPT).tuning()) == (
        KeepItem(subject="sda", knob="scheduler", value="none"),
        KeepItem(subject="sda", knob="queue_depth", value="8"),
    )


def test_what_was_changed_for_now_is_what_is_kept_without_a_name() -> None:
    path = f"{BLOCK}/sda/device/queue_depth"
    host = TuneHost(files=DATABASE, nodes={"sda": {"device/queue_depth": "8"}})
    changed = {path: ChangedValue(path=path, before="32", value="8", by=By.NOW)}
    assert items_for_now(host.tuning(changed)) == (KeepItem(subject="sda", knob="queue_depth"),)
    assert items_for_now(host.tuning()) == ()


def test_what_lasts_by_itself_was_not_set_for_now() -> None:
    """A cache's mode and the driver's are both kept by no file; the mode lasts, and the driver's does not."""
    run = Setting(by=By.RUN, value="writeback")
    lasting = Value(text="writeback", set_by=run, at_boot="writeback")
    cache = Subject(scope=KnobScope.CACHE, name="bcache0", title="bcache0", values={"cache_mode": lasting})
    passing = Value(text="passive", set_by=run, at_boot="active")
    cpu = Subject(scope=KnobScope.CPU, name="cpu", title="cpu", values={"driver_mode": passing})
    assert items_for_now(Tuning(subjects=(cache, cpu))) == (KeepItem(subject="cpu", knob="driver_mode"),)


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("Samsung_SSD_S1", "Samsung_SSD_S1"),
        ('a"b\\c*d[e]f|g', "a?b?c?d?e?f?g"),
        ("$kernel%k", "?kernel?k"),
        ("Grün S1", "Gr?n S1"),
    ],
)
def test_signs_that_mean_something_to_udev(text: str, matched: str) -> None:
    assert rule_match(("ENV{ID_SERIAL}", text)) == ("ENV{ID_SERIAL}", matched)


def test_a_file_reads_as_it_was_written() -> None:
    entries = [
        KeptEntry(match=("ATTR{wwid}", "naa.1"), comment="one", values={"queue/scheduler": "none"}),
        KeptEntry(match=("ATTR{md/uuid}", "a-b"), comment="array two", values={"md/group_thread_cnt": "4"}),
    ]
    others = ["# mine", 'KERNEL=="sdx", ATTR{queue/nomerges}="2"']
    text = udev_text(entries, others)
    assert udev_entries(text) == (entries, others)
    assert udev_text(*udev_entries(text)) == text
    assert udev_text([KeptEntry(match=("ATTR{wwid}", "naa.1"), comment="one", values={})]) == ""
