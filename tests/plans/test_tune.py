"""Values for now: plans, with what puts them back, and refusals with the range."""

from __future__ import annotations

from raidtui.model.plan import Plan, Refusal
from raidtui.plans.tune.now import AskedValue, plan_same, plan_set
from tests.hosts.specs import raid0, raid1, raid5
from tests.hosts.tune_host import ACPI, FOUR, INTEL, RULES, TuneHost, parity
from tests.plans.goldens import accepted


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


def same(host: TuneHost, subject: str, knob: str) -> Plan | Refusal:
    """The plan of one value for all members."""
    return plan_same(host.snapshot(), host.tuning(), subject, knob)


UNLIKE = {"sdc": {"device/queue_depth": "1"}, "sdd": {"device/queue_depth": "16"}}
NO_SCHEDULER = {"sda": {"queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "32"}}
OTHERS = {
    RULES: 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"',
    "/etc/tuned/active_profile": "mine",
    "/etc/tuned/mine/tuned.conf": "[disk]\nreadahead=4096",
    "/proc/77/comm": "tuned",
}
PASSIVE = {**ACPI, "scaling_driver": "intel_cpufreq"}
LOW = {**ACPI, "scaling_max_freq": "1000000"}
PARITY, LIMITS = raid5(attributes=parity()), (1000, 200_000)
MIRROR = raid1(members=("sda", "sdb"))
test_plans = accepted(
    {
        "a scheduler": lambda: setting(TuneHost(), "sda scheduler=none"),
        # It comes before the requests that it sets anew.
        "a scheduler, and what goes with it": lambda: setting(
            TuneHost(), "sda queue_depth=8", "sda nr_requests=32", "sda scheduler=none"
        ),
        "requests that a new scheduler allows": lambda: setting(
            TuneHost(nodes=NO_SCHEDULER), "sda nr_requests=64", "sda scheduler=mq-deadline"
        ),
        "several disks, one of which has it": lambda: setting(
            TuneHost(nodes={"sdd": {"device/queue_depth": "8"}}),
            *(f"{name} queue_depth=8" for name in ("sda", "sdb", "sdc", "sdd")),
        ),
        "the same for all members": lambda: same(TuneHost(nodes=UNLIKE), "sda", "queue_depth"),
        "processors, their driver first": lambda: setting(
            TuneHost(cpus=PASSIVE, mode="passive"),
            "policy0 governor=performance",
            "policy2 governor=performance",
            "cpu driver_mode=active",
        ),
        "frequencies that never cross": lambda: setting(
            TuneHost(cpus=LOW), "policy0 min_freq_khz=2000000", "policy0 max_freq_khz=2600000"
        ),
        "a preference, and a governor that asks for it": lambda: setting(
            TuneHost(cpus={**INTEL, "scaling_governor": "performance"}),
            "policy0 energy_performance_preference=power",
            "policy0 governor=powersave",
        ),
        "a preference as a number": lambda: setting(TuneHost(cpus=INTEL), "policy0 epp=128"),
        "of a raid5": lambda: setting(
            TuneHost(PARITY), "md125 preread_bypass_threshold=512", "md125 stripe_cache_size=4096"
        ),
        "limits that never cross": lambda: setting(
            TuneHost(limits=LIMITS), "md127 sync_speed_min=300000", "md127 sync_speed_max=400000"
        ),
        "a limit of the system, and of a disk": lambda: setting(
            TuneHost(limits=LIMITS), "system speed_limit_max=500000", "sda timeout=180"
        ),
        "a limit given back to the system": lambda: setting(
            TuneHost(raid1(members=("sda", "sdb"), limits=(2000, 300_000))), "md126 sync_speed_max=system"
        ),
        "a bitmap, which is mdadm's": lambda: setting(TuneHost(MIRROR), "md126 bitmap=internal"),
        # What is kept comes back; a service may set it again.
        "what others say of it": lambda: setting(
            TuneHost(files=OTHERS, nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}}),
            "sda scheduler=mq-deadline",
            "sda read_ahead_kb=256",
            "sda queue_depth=1",
        ),
        "one value twice": lambda: setting(
            TuneHost(raid0(members=("sda", "sdb"))), "sda timeout=60", "sda timeout=90"
        ),
    }
)
test_refused = accepted(
    {
        f"refused: {words}": words
        for words in (
            "sda queue_depth=0",
            "sda queue_depth=33",
            "sda queue_depth=-1",
            "sda queue_depth=",
            "sda timeout=99999",
            "sda read_ahead_kb=130",
            "sda wbt_lat_usec=x",
            "sda rq_affinity=3",
            "sda scheduler=bfq",
            "sda scheduler=noop",
            "sda scheduler=deadline",
            "sda scheduler=cfq",
            "sda nr_requests=2049",
            "sda stripe_cache_size=256",
            "sdz scheduler=none",
            "sda scheduler=mq-deadline",
            "sda colour=blue",
            "md127 stripe_cache_size=512",
            "system speed_limit_max=0",
        )
    },
    lambda words: setting(TuneHost(), words),
)
test_refused_here = accepted(
    {
        "refused: requests that a new scheduler does not allow": lambda: setting(
            TuneHost(), "sda scheduler=none", "sda nr_requests=64"
        ),
        "refused: requests that no scheduler allows": lambda: setting(
            TuneHost(nodes=NO_SCHEDULER), "sda nr_requests=64"
        ),
        "refused: the same, all are": lambda: same(TuneHost(nodes=UNLIKE), "sda", "timeout"),
        "refused: the same, of no member": lambda: same(TuneHost(FOUR, nodes={"sdz": {}}), "sdz", "timeout"),
        "refused: the same, no knob of a disk": lambda: same(TuneHost(nodes=UNLIKE), "sda", "governor"),
        "refused: a lowest frequency above the highest": lambda: setting(
            TuneHost(cpus=LOW), "policy0 min_freq_khz=2000000"
        ),
        "refused: a preference that the governor does not ask for": lambda: setting(
            TuneHost(cpus={**INTEL, "scaling_governor": "performance"}),
            "policy0 energy_performance_preference=power",
        ),
        "refused: a threshold above the stripe cache": lambda: setting(
            TuneHost(PARITY), "md125 preread_bypass_threshold=512"
        ),
        "refused: a lowest limit above the highest": lambda: setting(
            TuneHost(limits=LIMITS), "md127 sync_speed_min=300000"
        ),
        "refused: a bitmap with something else": lambda: setting(
            TuneHost(MIRROR), "md126 bitmap=internal", "sda timeout=180"
        ),
        "refused: a bitmap taken away": lambda: setting(
            TuneHost(raid1(members=("sda", "sdb"), bitmap=(0, 1))), "md126 bitmap=none"
        ),
        "refused: not root": lambda: setting(TuneHost(writable=False), "sda timeout=60"),
    }
)
