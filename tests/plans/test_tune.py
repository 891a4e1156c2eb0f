"""Values for now: whole plans, with what puts them back, and refusals with the range."""

from __future__ import annotations

import pytest

from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import Tuning
from raidtui.model.plan import Harm, Plan, Refusal, Step, Write
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.now import AskedValue, plan_same, plan_set
from tests.hosts.specs import raid0, raid1, raid5
from tests.hosts.tune_host import ACPI, BLOCK, CPUS, FOUR, INTEL, POLICIES, RULES, TuneHost, parity
from tests.plans.running import planned, refused


def asked(*words: str) -> list[AskedValue]:
    """Of "sda scheduler=none"."""
    found = []
    for word in words:
        subject, _, rest = word.partition(" ")
        knob, _, value = rest.partition("=")
        found.append(AskedValue(subject=subject, knob=knob, value=value))
    return found


def setting(host: TuneHost, *words: str) -> Plan | Refusal:
    """The plan of some words."""
    return plan_set(host.snapshot(), host.tuning(), asked(*words))


def disk_step(path: str, text: str, why: str, *undo: Step) -> Step:
    """A write to a disk's file."""
    name = path.partition("/")[0]
    need = Fact(kind=FactKind.SERIAL, subject=name, value=f"S{name.upper()}0001")
    return Write(path=f"{BLOCK}/{path}", text=text, why=why, needs=(need,), undo=undo)


def writes(plan: Plan | Refusal) -> list[tuple[str, str]]:
    """(path, text) of a plan's steps."""
    found = planned(plan)
    return [(step.path.rpartition("/")[2] or step.command, step.text) for step in found.steps]


def undone(plan: Plan | Refusal) -> list[tuple[str, str]]:
    """(path, text) of what undoes it."""
    return [(step.path.rpartition("/")[2], step.text) for step in planned(plan).undo]


def test_a_scheduler() -> None:
    back = (
        disk_step("sda/queue/scheduler", "mq-deadline", "scheduler back to mq-deadline"),
        disk_step("sda/queue/nr_requests", "64", "nr_requests back to 64"),
    )
    assert setting(TuneHost(), "sda scheduler=none") == Plan(
        title="scheduler mq-deadline → none (sda)",
        subject="sda",
        steps=(disk_step("sda/queue/scheduler", "none", "scheduler mq-deadline → none", *back),),
        undo=back,
        notes=("With a new scheduler the kernel resets nr_requests.",),
        harm=Harm.HARMLESS,
    )


def test_a_scheduler_comes_before_the_requests_that_it_sets_anew() -> None:
    plan = setting(TuneHost(), "sda queue_depth=8", "sda nr_requests=32", "sda scheduler=none")
    assert writes(plan) == [("scheduler", "none"), ("queue_depth", "8"), ("nr_requests", "32")]
    assert undone(plan) == [("scheduler", "mq-deadline"), ("queue_depth", "32"), ("nr_requests", "64")]
    assert planned(plan).notes == ()


def test_several_disks() -> None:
    host = TuneHost(nodes={"sdd": {"device/queue_depth": "8"}})
    plan = planned(setting(host, *(f"{name} queue_depth=8" for name in ("sda", "sdb", "sdc", "sdd"))))
    assert (plan.title, plan.subject) == ("queue_depth 32 → 8 (sda, sdb, sdc)", "data")
    assert [step.path for step in plan.steps] == [
        f"{BLOCK}/{name}/device/queue_depth" for name in ("sda", "sdb", "sdc")
    ]


def test_same_for_all_members() -> None:
    host = TuneHost(nodes={"sdc": {"device/queue_depth": "1"}, "sdd": {"device/queue_depth": "16"}})
    plan = planned(plan_same(host.snapshot(), host.tuning(), "sda", "queue_depth"))
    assert plan.title == "queue_depth → 32 (sdc, sdd)"
    assert plan.subject == "data"
    assert refused(plan_same(host.snapshot(), host.tuning(), "sda", "timeout")) == "all values are already so"
    lone = TuneHost(FOUR, nodes={"sdz": {}})
    found = plan_same(lone.snapshot(), lone.tuning(), "sdz", "timeout")
    assert refused(found) == "sdz is not a member of an array with other disks"
    assert refused(plan_same(host.snapshot(), host.tuning(), "sda", "governor")) == "sda has no governor"


def test_processors_their_driver_first() -> None:
    host = TuneHost(cpus={**ACPI, "scaling_driver": "intel_cpufreq"}, mode="passive")
    plan = planned(
        setting(
            host, "policy0 governor=performance", "policy2 governor=performance", "cpu driver_mode=active"
        )
    )
    assert [(step.path, step.text) for step in plan.steps] == [
        (f"{CPUS}/intel_pstate/status", "active"),
        (f"{POLICIES}/policy0/scaling_governor", "performance"),
        (f"{POLICIES}/policy2/scaling_governor", "performance"),
    ]
    assert [(step.path, step.text) for step in plan.undo] == [
        (f"{CPUS}/intel_pstate/status", "passive"),
        (f"{POLICIES}/policy0/scaling_governor", "schedutil"),
        (f"{POLICIES}/policy2/scaling_governor", "schedutil"),
    ]
    assert plan.subject == "cpu"
    assert (
        plan.title
        == "driver_mode passive → active (cpu), governor schedutil → performance (policy0, policy2)"
    )
    assert plan.notes == ("Another mode resets the processors' governors and limits.",)


def test_frequencies_never_cross() -> None:
    host = TuneHost(cpus={**ACPI, "scaling_max_freq": "1000000"})
    plan = setting(host, "policy0 min_freq_khz=2000000", "policy0 max_freq_khz=2600000")
    assert writes(plan) == [("scaling_max_freq", "2600000"), ("scaling_min_freq", "2000000")]
    assert undone(plan) == [("scaling_min_freq", "800000"), ("scaling_max_freq", "1000000")]
    assert refused(setting(host, "policy0 min_freq_khz=2000000")) == (
        "min_freq_khz 2000000 of policy0 would be above max_freq_khz 1000000;"
        " lower min_freq_khz or raise max_freq_khz"
    )


def test_a_preference_needs_a_governor_that_asks_for_it() -> None:
    host = TuneHost(cpus={**INTEL, "scaling_governor": "performance"})
    words = "policy0 energy_performance_preference=power"
    assert refused(setting(host, words)) == (
        "under the governor performance intel_pstate accepts no other preference than performance;"
        " add governor=powersave"
    )
    plan = setting(host, words, "policy0 governor=powersave")
    assert writes(plan) == [("scaling_governor", "powersave"), ("energy_performance_preference", "power")]
    assert writes(setting(TuneHost(cpus=INTEL), "policy0 epp=128")) == [
        ("energy_performance_preference", "128")
    ]


def test_a_raid5() -> None:
    host = TuneHost(raid5(attributes=parity()))
    plan = planned(setting(host, "md125 preread_bypass_threshold=512", "md125 stripe_cache_size=4096"))
    array = host.snapshot().arrays[0]
    guard = (f"{BLOCK}/md125/md/uuid", array.uuid or "")

    def step(knob: str, before: str, after: str) -> Step:
        path = f"{BLOCK}/md125/md/{knob}"
        back = Write(path=path, text=before, why=f"{knob} back to {before}", identity=guard)
        return Write(path=path, text=after, why=f"{knob} {before} → {after}", identity=guard, undo=(back,))

    assert plan.steps == (
        step("stripe_cache_size", "256", "4096"),
        step("preread_bypass_threshold", "1", "512"),
    )
    assert plan.undo == tuple(each.undo[0] for each in plan.steps)
    assert plan.notes == ("The stripe cache of media takes 48 MiB of memory.",)
    assert refused(setting(host, "md125 preread_bypass_threshold=512")) == (
        "preread_bypass_threshold of media must be from 0 to 256, not 512"
    )


def test_limits_are_planned_where_limits_are() -> None:
    host = TuneHost(limits=(1000, 200_000))
    plan = planned(setting(host, "md127 sync_speed_min=300000", "md127 sync_speed_max=400000"))
    assert writes(plan) == [("sync_speed_max", "400000"), ("sync_speed_min", "300000")]
    assert undone(plan) == [("sync_speed_min", "system"), ("sync_speed_max", "system")]
    assert refused(setting(host, "md127 sync_speed_min=300000")) == (
        "min 307 MB/s would exceed max 205 MB/s, and the kernel lets min win; lower min or raise max"
    )
    plan = planned(setting(host, "system speed_limit_max=500000", "sda timeout=180"))
    assert [(step.path, step.text) for step in plan.steps] == [
        (f"{BLOCK}/sda/device/timeout", "180"),
        ("/proc/sys/dev/raid/speed_limit_max", "500000"),
    ]


def test_limits_are_given_back() -> None:
    host = TuneHost(raid1(members=("sda", "sdb"), limits=(2000, 300_000)))
    plan = planned(setting(host, "md126 sync_speed_max=system"))
    assert [(step.path, step.text) for step in plan.steps] == [(f"{BLOCK}/md126/md/sync_speed_max", "system")]
    assert undone(plan) == [("sync_speed_max", "300000")]


def test_the_bitmap_is_mdadms() -> None:
    host = TuneHost(raid1(members=("sda", "sdb")))
    plan = planned(setting(host, "md126 bitmap=internal"))
    assert [step.argv for step in plan.steps] == [("mdadm", "--grow", "/dev/md126", "--bitmap=internal")]
    assert plan.harm is Harm.HARMLESS
    words = ("md126 bitmap=internal", "sda timeout=180")
    assert refused(setting(host, *words)) == "mdadm changes the bitmap, not a write; change the bitmap alone"
    host = TuneHost(raid1(members=("sda", "sdb"), bitmap=(0, 1)))
    assert refused(setting(host, "md126 bitmap=none")) == (
        "bitmap internal → none on root makes the resync after a crash longer;"
        " raidtui plan bitmap root none --json | raidtui apply -"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sda queue_depth=0", "queue_depth of sda must be from 1 to 32, not 0"),
        ("sda queue_depth=33", "queue_depth of sda must be from 1 to 32, not 33"),
        ("sda queue_depth=-1", "queue_depth of sda must be a whole number, from 1 to 32, not '-1'"),
        ("sda queue_depth=", "queue_depth of sda must be a whole number, from 1 to 32, not ''"),
        ("sda timeout=99999", "timeout of sda must be from 1 to 3600 s, not 99999"),
        (
            "sda read_ahead_kb=130",
            "read_ahead_kb of sda must be a multiple of 4, not 130; give 128 or 132",
        ),
        ("sda wbt_lat_usec=x", "wbt_lat_usec of sda must be a whole number, 0 or more µs, not 'x'"),
        ("sda rq_affinity=3", "rq_affinity of sda cannot be '3'; choose one of: 0, 1, 2"),
        ("sda scheduler=bfq", "scheduler of sda cannot be 'bfq'; choose one of: none, mq-deadline"),
        (
            "sda scheduler=noop",
            "noop is the old name of none, gone since Linux 5.0; give scheduler=none",
        ),
        (
            "sda scheduler=deadline",
            "deadline is the old name of mq-deadline, gone since Linux 5.0; give scheduler=mq-deadline",
        ),
        ("sda scheduler=cfq", "Linux 5.0 removed cfq; bfq is the closest to it; give scheduler=bfq"),
        ("sda nr_requests=2049", "nr_requests of sda must be from 4 to 2048, not 2049"),
        ("sda stripe_cache_size=256", "sda has no stripe_cache_size"),
        ("sdz scheduler=none", "there is no sdz here"),
        ("sda scheduler=mq-deadline", "scheduler of sda is already mq-deadline"),
        (
            "md127 stripe_cache_size=512",
            "raid10 has no stripe_cache_size: only RAID 4, 5 and 6 have a stripe cache",
        ),
        ("system speed_limit_max=0", "speed_limit_max of system must be from 1 to 2147483647 KiB/s, not 0"),
    ],
)
def test_refused(words: str, sentence: str) -> None:
    assert refused(setting(TuneHost(), words)) == sentence


def test_an_unknown_knob_lists_all_that_there_are() -> None:
    sentence = refused(setting(TuneHost(), "sda colour=blue"))
    assert sentence.startswith("there is no knob 'colour'; there are: scheduler, queue_depth, nr_requests, ")


def test_the_requests_that_go_with_a_new_scheduler() -> None:
    host = TuneHost()
    assert refused(setting(host, "sda scheduler=none", "sda nr_requests=64")) == (
        "nr_requests of sda must be from 4 to 32, not 64"
    )
    bare = TuneHost(nodes={"sda": {"queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "32"}})
    assert refused(setting(bare, "sda nr_requests=64")) == "nr_requests of sda must be from 4 to 32, not 64"
    plan = setting(bare, "sda nr_requests=64", "sda scheduler=mq-deadline")
    assert writes(plan) == [("scheduler", "mq-deadline"), ("nr_requests", "64")]


def test_who_may() -> None:
    assert refused(setting(TuneHost(writable=False), "sda timeout=60")) == (
        "needs root; run it as: sudo raidtui"
    )


def test_what_others_say_of_it() -> None:
    """What is kept comes back; a service may set it again."""
    rule = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"'
    files = {
        RULES: rule,
        "/etc/tuned/active_profile": "mine",
        "/etc/tuned/mine/tuned.conf": "[disk]\nreadahead=4096",
        "/proc/77/comm": "tuned",
    }
    host = TuneHost(files=files, nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}})
    plan = planned(setting(host, "sda scheduler=mq-deadline", "sda read_ahead_kb=256", "sda queue_depth=1"))
    assert plan.notes == (
        "With a new scheduler the kernel resets nr_requests.",
        "A queue depth of 1 turns NCQ off.",
        (
            "raidtui keeps scheduler of sda at none, and a reboot restores that: keep the new value too if"
            " it is to stay."
        ),
        "tuned (profile mine) sets read_ahead_kb too, and may set it again at any time.",
    )


def test_nothing_is_taken_twice() -> None:
    host = TuneHost(raid0(members=("sda", "sdb")))
    snapshot: Snapshot = host.snapshot()
    tuning: Tuning = host.tuning()
    plan = planned(plan_set(snapshot, tuning, asked("sda timeout=60", "sda timeout=90")))
    assert [step.text for step in plan.steps] == ["90"]
