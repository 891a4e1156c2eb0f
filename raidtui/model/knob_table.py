"""Every knob: where it is, what it does, what it risks, how it is kept. Two sentences each.

Sources: Documentation/ABI/stable/sysfs-block, block/blk-wbt.c, Documentation/admin-guide/pm/{cpufreq,
intel_pstate,amd-pstate}.rst, Documentation/admin-guide/md.rst, drivers/md/raid5.c.
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.knob import KnobScope, Subject

OLD_SCHEDULERS = {"noop": "none", "deadline": "mq-deadline", "cfq": "bfq"}
"""Names up to Linux 4.20, and what took their place (bfq is not cfq, but shares a disk out as it did)."""
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")


class Knob(Struct, frozen=True, kw_only=True):
    """One kind of knob.

    Args:
        name: stable; what JSON, profiles and the command line call it.
        scopes: what it belongs to.
        file: below the subject's folder; "" where another way leads to it.
        what: what it does.
        risk: what it may cost.
        unit: of the number.
        choices: words that can be written, where these are always the same.
        low, high: the range, where it is always the same.
        keep: how it is kept for good: udev, sysctl, tmpfiles; "" where it is not.
        no_keep: why not, and what does it instead.
    """

    name: str
    scopes: tuple[KnobScope, ...]
    what: str
    risk: str
    file: str = ""
    unit: str = ""
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    keep: str = "udev"
    no_keep: str = ""


_DISK = (
    Knob(
        name="scheduler",
        scopes=(KnobScope.DISK,),
        file="queue/scheduler",
        what="The order in which requests go to the disk: none leaves it to the disk, mq-deadline lets none"
        " wait too long, kyber holds latencies down, bfq shares the disk out between programs.",
        risk="bfq and kyber cost processor time for each request; bfq may cost a fast SSD much of its IOPS.",
    ),
    Knob(
        name="queue_depth",
        scopes=(KnobScope.DISK,),
        file="device/queue_depth",
        low=1,
        what="How many requests the disk is given at a time (NCQ); 1 turns queuing off.",
        risk="At 1 a published test on a RAID-10 of two SSDs gave a quarter of the IOPS that it gave at 8;"
        " more than a disk's firmware bears may end in link resets.",
    ),
    Knob(
        name="nr_requests",
        scopes=(KnobScope.DISK,),
        file="queue/nr_requests",
        low=4,
        what="How many requests the kernel holds for the disk, where a scheduler can sort them.",
        risk="Many let a burst of writes get in the way of reads; every new scheduler sets it anew.",
    ),
    Knob(
        name="read_ahead_kb",
        scopes=(KnobScope.DISK, KnobScope.ARRAY),
        file="queue/read_ahead_kb",
        unit="KiB",
        low=0,
        what="How far ahead of a file that is read in order the kernel reads. What is mounted counts: the"
        " array's own value, not that of its members.",
        risk="Too much reads what nobody wants, and takes memory and IOPS from random reads.",
    ),
    Knob(
        name="rq_affinity",
        scopes=(KnobScope.DISK,),
        file="queue/rq_affinity",
        choices=("0", "1", "2"),
        what="On which processor a request ends: 0 wherever, 1 near the one that began it, 2 on that one.",
        risk="2 spreads the load of very fast disks, and costs an interrupt more for each request.",
    ),
    Knob(
        name="wbt_lat_usec",
        scopes=(KnobScope.DISK,),
        file="queue/wbt_lat_usec",
        unit="µs",
        low=0,
        what="Writes from the page cache are throttled while reads take longer than this; 0 turns that off.",
        risk="A short time holds large writes back; without it a burst of writes stalls reads.",
    ),
    Knob(
        name="rotational",
        scopes=(KnobScope.DISK,),
        file="queue/rotational",
        choices=("0", "1"),
        what="Whether the disk counts as a hard disk (1) or an SSD (0): md, file systems and bfq ask for it.",
        risk="An SSD that counts as a hard disk, as behind some controllers, is read from in the wrong way by"
        " RAID-1 and RAID-10.",
    ),
    Knob(
        name="discard_max_bytes",
        scopes=(KnobScope.DISK,),
        file="queue/discard_max_bytes",
        unit="bytes",
        low=0,
        what="The largest piece that is discarded (TRIM) at once; 0 turns discards off for this disk.",
        risk="Large pieces may hold up other requests for long; without discards an SSD wears faster.",
    ),
    Knob(
        name="timeout",
        scopes=(KnobScope.DISK,),
        file="device/timeout",
        unit="s",
        low=1,
        high=3600,
        what="How long the kernel waits for the disk before it resets the link.",
        risk="A disk that tries longer than this to read a bad sector (without SCT ERC up to some minutes) is"
        " reset, and thrown out of its array for one sector.",
    ),
)
_CPU = (
    Knob(
        name="driver_mode",
        scopes=(KnobScope.CPU,),
        file="status",
        keep="",
        no_keep="the driver's mode is kept on the kernel command line: intel_pstate=MODE or amd_pstate=MODE",
        what="Whether the driver lets the processor choose (active), or the kernel's governors (passive,"
        " guided).",
        risk="Changing it replaces driver, governors and limits of all processors at once.",
    ),
    Knob(
        name="hwp_dynamic_boost",
        scopes=(KnobScope.CPU,),
        file="hwp_dynamic_boost",
        choices=("0", "1"),
        keep="tmpfiles",
        what="Whether intel_pstate lifts the frequency for a moment when a program wakes up from I/O.",
        risk="1 costs some power, and helps where many small requests are waited for.",
    ),
    Knob(
        name="governor",
        scopes=(KnobScope.POLICY,),
        file="scaling_governor",
        keep="tmpfiles",
        what="What decides how fast the processors run.",
        risk="Under powersave throughput is lost: with most drivers it is the lowest frequency, and with"
        " intel_pstate a published RAID-10 of SSDs lost 14 to 19 % (Linux 4.4); performance costs power.",
    ),
    Knob(
        name="energy_performance_preference",
        scopes=(KnobScope.POLICY,),
        file="energy_performance_preference",
        keep="tmpfiles",
        what="What the processor itself leans to, from performance to power, where it picks its frequency.",
        risk="power lets it wake up slowly for each request; under the governor performance it is not asked.",
    ),
    Knob(
        name="min_freq_khz",
        scopes=(KnobScope.POLICY,),
        file="scaling_min_freq",
        unit="kHz",
        keep="tmpfiles",
        what="The lowest frequency that the governor may choose.",
        risk="A high one costs power all the time, and gains only where latency counts.",
    ),
    Knob(
        name="max_freq_khz",
        scopes=(KnobScope.POLICY,),
        file="scaling_max_freq",
        unit="kHz",
        keep="tmpfiles",
        what="The highest frequency that the governor may choose.",
        risk="A low one slows parity, checksums and every request.",
    ),
)
_ARRAY = (
    Knob(
        name="stripe_cache_size",
        scopes=(KnobScope.ARRAY,),
        file="md/stripe_cache_size",
        unit="pages per member",
        low=17,
        high=32768,
        what="How many stripes RAID 4, 5 and 6 hold in memory, so that writes can be gathered to whole ones.",
        risk="Each takes 4 KiB of memory for every member: 32768 are 512 MiB on four.",
    ),
    Knob(
        name="group_thread_cnt",
        scopes=(KnobScope.ARRAY,),
        file="md/group_thread_cnt",
        low=0,
        high=8192,
        what="How many threads of each processor group compute parity beside the array's own; 0 is none.",
        risk="A few help fast SSDs, many get in each other's way; a change holds the array up for a moment.",
    ),
    Knob(
        name="preread_bypass_threshold",
        scopes=(KnobScope.ARRAY,),
        file="md/preread_bypass_threshold",
        low=0,
        what="How often a stripe that must be read first lets whole stripes go before it; 0 keeps the order.",
        risk="A high one makes small writes wait while large ones go on.",
    ),
    Knob(
        name="bitmap",
        scopes=(KnobScope.ARRAY,),
        choices=("none", "internal"),
        keep="",
        no_keep="the bitmap is in the array's superblock, and stays by itself",
        what="What may be out of sync is noted before it is written, so that a crash costs a short resync.",
        risk="It costs a little of every write; without it everything is synced again after a crash.",
    ),
    Knob(
        name="sync_speed_min",
        scopes=(KnobScope.ARRAY,),
        file="md/sync_speed_min",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        what="Below this speed the array's resync never yields to others; the word system gives it back.",
        risk="A high one takes the disks from the programs that use them.",
    ),
    Knob(
        name="sync_speed_max",
        scopes=(KnobScope.ARRAY,),
        file="md/sync_speed_max",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        what="The array's resync is never faster than this; the word system gives it back.",
        risk="A low one leaves the array without its redundancy for longer.",
    ),
)
_SYSTEM = (
    Knob(
        name="speed_limit_min",
        scopes=(KnobScope.SYSTEM,),
        file="speed_limit_min",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        keep="sysctl",
        what="Below this speed no resync yields to others, where an array has no limit of its own.",
        risk="A high one takes the disks from the programs that use them.",
    ),
    Knob(
        name="speed_limit_max",
        scopes=(KnobScope.SYSTEM,),
        file="speed_limit_max",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        keep="sysctl",
        what="No resync is faster than this, where an array has no limit of its own.",
        risk="A low one leaves arrays without their redundancy for longer.",
    ),
)
KNOBS = {knob.name: knob for knob in (*_DISK, *_CPU, *_ARRAY, *_SYSTEM)}
"""By name, in the order in which they are written: a new scheduler sets nr_requests anew."""

OUR_FILES = {
    "udev": "/etc/udev/rules.d/60-raidtui-io.rules",
    "sysctl": "/etc/sysctl.d/90-raidtui.conf",
    "tmpfiles": "/etc/tmpfiles.d/raidtui.conf",
}
"""raidtui's own files, by the way of keeping a value."""

_RISKS = {
    ("governor", "intel_pstate"): (
        "Under powersave of intel_pstate a published RAID-10 of SSDs lost 14 to 19 % of its random throughput"
        " (Linux 4.4); performance costs power and heat."
    ),
    ("governor", "amd-pstate-epp"): (
        "Under powersave the processor picks its frequency itself; performance costs power and heat."
    ),
}
"""What is known of one driver alone, and says nothing of others."""
_LOWEST = "Under powersave processors run at their lowest frequency; performance costs power and heat."

ALIASES = {"epp": "energy_performance_preference"}
PLACES = {name: place for place, name in enumerate(KNOBS)}


def knobs_of(scope: KnobScope) -> tuple[Knob, ...]:
    """Return the knobs of one kind of subject."""
    return tuple(knob for knob in KNOBS.values() if scope in knob.scopes)


def risk_of(name: str, subject: Subject) -> str:
    """Return what a knob may cost on this subject: what was measured with one driver holds for that one."""
    others = _LOWEST if name == "governor" else KNOBS[name].risk
    return _RISKS.get((name, subject.kind), others)
