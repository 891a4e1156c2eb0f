"""Every knob: its file, what it does, what it risks (a sentence each), and how it is kept over reboots.

Sources: Documentation/ABI/stable/sysfs-block, block/blk-wbt.c, Documentation/admin-guide/pm/{cpufreq,
intel_pstate,amd-pstate}.rst, Documentation/admin-guide/{md,bcache}.rst, drivers/md/raid5.c,
Documentation/admin-guide/device-mapper/{cache,cache-policies}.rst, lvmcache(7).
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.knob import KnobScope, Subject

OLD_SCHEDULERS = {"noop": "none", "deadline": "mq-deadline", "cfq": "bfq"}
"""Names up to Linux 4.20, and what replaced them; bfq is not cfq, but shares a disk among processes too."""
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
MOST_REQUESTS = 2048
"""The highest nr_requests with a scheduler (MAX_SCHED_RQ)."""


class Knob(Struct, frozen=True, kw_only=True):
    """One kind of knob.

    Args:
        name: stable; JSON, profiles and the command line use it.
        scopes: the subjects that have it.
        file: below the subject's folder; "" where a tool sets it.
        what: its effect.
        risk: its risk.
        unit: of the number.
        choices: words that can be written, where they are the same everywhere.
        low, high: the range, where it is the same everywhere.
        keep: how it is kept over reboots: udev, sysctl, tmpfiles; "" where raidtui does not keep it.
        no_keep: why raidtui does not keep it, and what does; a phrase.
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
        what="The order in which requests reach the disk: none leaves it to the disk, mq-deadline limits how"
        " long a request waits, kyber keeps latencies low, bfq shares the disk among processes.",
        risk="bfq and kyber cost CPU time per request; bfq can cost a fast SSD much of its IOPS.",
    ),
    Knob(
        name="queue_depth",
        scopes=(KnobScope.DISK,),
        file="device/queue_depth",
        low=1,
        what="How many requests the disk holds at a time (NCQ); 1 turns queuing off.",
        risk="In a published test, a RAID-10 of two SSDs had a quarter of the IOPS at 1 that"
        " it had at 8; a depth that the disk's firmware cannot handle may cause link resets.",
    ),
    Knob(
        name="nr_requests",
        scopes=(KnobScope.DISK,),
        file="queue/nr_requests",
        low=4,
        what="How many requests the kernel queues for the disk, where a scheduler can sort them.",
        risk="With many, a burst of writes delays reads; a change of the scheduler resets it.",
    ),
    Knob(
        name="read_ahead_kb",
        scopes=(KnobScope.DISK, KnobScope.ARRAY),
        file="queue/read_ahead_kb",
        unit="KiB",
        low=0,
        what="How far ahead the kernel reads a file that is read sequentially. The mounted"
        " device's value applies: the array's own, not its members'.",
        risk="A high value reads data that is not needed, and takes memory and IOPS from random reads.",
    ),
    Knob(
        name="rq_affinity",
        scopes=(KnobScope.DISK,),
        file="queue/rq_affinity",
        choices=("0", "1", "2"),
        what="Which CPU completes a request: 0 the one that takes the interrupt, 1 one of the group that"
        " issued the request, 2 the one that issued it.",
        risk="2 spreads the load of very fast disks, and costs one more interrupt per request.",
    ),
    Knob(
        name="wbt_lat_usec",
        scopes=(KnobScope.DISK,),
        file="queue/wbt_lat_usec",
        unit="µs",
        low=0,
        what="Writeback from the page cache is throttled while reads take longer than this; 0 turns that"
        " off.",
        risk="A short time slows large writes; without throttling a burst of writes stalls reads.",
    ),
    Knob(
        name="rotational",
        scopes=(KnobScope.DISK,),
        file="queue/rotational",
        choices=("0", "1"),
        what="Whether the disk counts as a hard disk (1) or an SSD (0); md, file systems and bfq use it.",
        risk="An SSD that counts as a hard disk, as behind some controllers, gets the wrong read balancing"
        " in RAID-1 and RAID-10.",
    ),
    Knob(
        name="discard_max_bytes",
        scopes=(KnobScope.DISK,),
        file="queue/discard_max_bytes",
        unit="bytes",
        low=0,
        what="The largest range that is discarded (TRIM) at once; 0 turns discards off for this disk.",
        risk="Large discards can delay other requests; without discards an SSD wears faster.",
    ),
    Knob(
        name="timeout",
        scopes=(KnobScope.DISK,),
        file="device/timeout",
        unit="s",
        low=1,
        high=3600,
        what="How long the kernel waits for the disk before it resets the link.",
        risk="A disk that retries a bad sector for longer than this (for minutes without SCT ERC) is reset,"
        " and its array drops it for one sector.",
    ),
)
_CPU = (
    Knob(
        name="driver_mode",
        scopes=(KnobScope.CPU,),
        file="status",
        keep="",
        no_keep="the driver's mode is kept on the kernel command line: intel_pstate=MODE or amd_pstate=MODE",
        what="Whether the processor chooses its frequency (active) or the kernel's governors do (passive,"
        " guided).",
        risk="A change replaces driver, governors and limits of all processors at once.",
    ),
    Knob(
        name="hwp_dynamic_boost",
        scopes=(KnobScope.CPU,),
        file="hwp_dynamic_boost",
        choices=("0", "1"),
        keep="tmpfiles",
        what="Whether intel_pstate raises the frequency for a moment when a program wakes up from I/O.",
        risk="1 costs some power, and helps programs that wait for many small requests.",
    ),
    Knob(
        name="governor",
        scopes=(KnobScope.POLICY,),
        file="scaling_governor",
        keep="tmpfiles",
        what="The policy that decides how fast the processors run.",
        risk="Under powersave the processors run at their lowest frequency; performance costs power and"
        " heat.",
    ),
    Knob(
        name="energy_performance_preference",
        scopes=(KnobScope.POLICY,),
        file="energy_performance_preference",
        keep="tmpfiles",
        what="What the processor favours, from performance to power, where it chooses its frequency itself.",
        risk="power makes it wake up slowly for each request; under the governor performance it has no"
        " effect.",
    ),
    Knob(
        name="min_freq_khz",
        scopes=(KnobScope.POLICY,),
        file="scaling_min_freq",
        unit="kHz",
        keep="tmpfiles",
        what="The lowest frequency that the governor may choose.",
        risk="A high limit costs power all the time, and helps only where latency matters.",
    ),
    Knob(
        name="max_freq_khz",
        scopes=(KnobScope.POLICY,),
        file="scaling_max_freq",
        unit="kHz",
        keep="tmpfiles",
        what="The highest frequency that the governor may choose.",
        risk="A low limit slows parity, checksums and every request.",
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
        what="RAID 4, 5 and 6 hold at least this many stripes in memory, to gather writes"
        " into full stripes; since Linux 4.1 the cache grows beyond that by itself, and shrinks back.",
        risk="Each stripe takes 4 KiB of memory per member: 32768 of them take 512 MiB with four members.",
    ),
    Knob(
        name="group_thread_cnt",
        scopes=(KnobScope.ARRAY,),
        file="md/group_thread_cnt",
        low=0,
        high=8192,
        what="How many threads per processor group compute parity besides the array's own; 0 is none.",
        risk="A few help fast SSDs, too many contend for locks; a change suspends the array for a moment.",
    ),
    Knob(
        name="preread_bypass_threshold",
        scopes=(KnobScope.ARRAY,),
        file="md/preread_bypass_threshold",
        low=0,
        what="How often full-stripe writes may bypass a stripe that must be read first;"
        " at 0 that stripe waits until all full stripes are written.",
        risk="At 0 small writes wait longest and large writes gain; from 1 up, small writes wait"
        " longer the higher it is.",
    ),
    Knob(
        name="bitmap",
        scopes=(KnobScope.ARRAY,),
        choices=("none", "internal"),
        keep="",
        no_keep="the bitmap is part of the array's superblock, which keeps it",
        what="Regions are marked before they are written, so that a crash costs a short resync.",
        risk="It can cost fast SSDs most of their random writes (a published RAID-5 of three NVMe disks: 174"
        " IOPS with it, 20,600 without it), and hard disks less: measure it. Without it a crash costs a"
        " resync of the whole array.",
    ),
    Knob(
        name="sync_speed_min",
        scopes=(KnobScope.ARRAY,),
        file="md/sync_speed_min",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        what="Below this speed the array's resync does not yield to other I/O; the word system restores the"
        " system's limit.",
        risk="A high limit slows the programs that use the disks.",
    ),
    Knob(
        name="sync_speed_max",
        scopes=(KnobScope.ARRAY,),
        file="md/sync_speed_max",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        what="The array's resync is never faster than this; the word system restores the system's limit.",
        risk="A low limit leaves the array without redundancy for longer.",
    ),
)
_CACHE = (
    Knob(
        name="cache_mode",
        scopes=(KnobScope.CACHE,),
        file="bcache/cache_mode",
        keep="",
        no_keep="the cache stores its mode in its own metadata, which survives reboots",
        what="Where writes go: writethrough to both devices, writeback to the cache first, writearound only"
        " to the device below; passthrough and none serve nothing from the cache.",
        risk="In writeback mode the cache device alone holds data until it is written back: losing the"
        " device loses that data, and with it the file system.",
    ),
    Knob(
        name="cache_policy",
        scopes=(KnobScope.CACHE,),
        choices=("smq", "cleaner"),
        keep="",
        no_keep="LVM stores the policy in its metadata, which survives reboots",
        what="What is promoted into the cache: smq promotes what is used often; cleaner promotes nothing and"
        " writes back dirty blocks.",
        risk="Under cleaner the cache no longer fills.",
    ),
    Knob(
        name="migration_threshold",
        scopes=(KnobScope.CACHE,),
        unit="sectors",
        keep="",
        no_keep="LVM stores the threshold in its metadata, which survives reboots",
        low=0,
        what="How many sectors may migrate between cache and origin at a time.",
        risk="A high value lets promotions and writeback delay other requests; a low one"
        " fills the cache slowly.",
    ),
    Knob(
        name="writeback_percent",
        scopes=(KnobScope.CACHE,),
        file="bcache/writeback_percent",
        unit="%",
        low=0,
        high=40,
        what="How much of the cache bcache allows to be dirty in writeback mode; 0 writes back as fast as"
        " possible.",
        risk="A high value leaves more data on the cache device alone; a low one writes back more often.",
    ),
    Knob(
        name="sequential_cutoff",
        scopes=(KnobScope.CACHE,),
        file="bcache/sequential_cutoff",
        unit="bytes",
        low=0,
        high=2**32 - 1,
        what="Sequential I/O longer than this bypasses the cache; 0 caches everything.",
        risk="At 0, a backup or a copy of large files evicts what is used often, and wears the SSD.",
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
        what="Below this speed a resync does not yield to other I/O, unless its array has a limit of its"
        " own.",
        risk="A high limit slows the programs that use the disks.",
    ),
    Knob(
        name="speed_limit_max",
        scopes=(KnobScope.SYSTEM,),
        file="speed_limit_max",
        unit="KiB/s",
        low=1,
        high=2**31 - 1,
        keep="sysctl",
        what="No resync is faster than this, unless its array has a limit of its own.",
        risk="A low limit leaves arrays without redundancy for longer.",
    ),
)
KNOBS = {knob.name: knob for knob in (*_DISK, *_CPU, *_ARRAY, *_CACHE, *_SYSTEM)}
"""By name, in the order in which they are written: a new scheduler sets nr_requests again."""

OUR_FILES = {
    "udev": "/etc/udev/rules.d/60-raidtui-io.rules",
    "sysctl": "/etc/sysctl.d/90-raidtui.conf",
    "tmpfiles": "/etc/tmpfiles.d/raidtui.conf",
}
"""raidtui's own files, by how a value is kept."""

_RISKS = {
    ("governor", "intel_pstate"): (
        "Under powersave of intel_pstate a published RAID-10 of SSDs lost 14 to 19 % of its random throughput"
        " (Linux 4.4); performance costs power and heat."
    ),
    ("governor", "amd-pstate-epp"): (
        "Under powersave the processor chooses its frequency itself; performance costs power and heat."
    ),
}
"""What is known of one driver, and says nothing about others."""

ALIASES = {"epp": "energy_performance_preference"}
PLACES = {name: place for place, name in enumerate(KNOBS)}


def knobs_of(scope: KnobScope) -> tuple[Knob, ...]:
    """Return the knobs of one kind of subject."""
    return tuple(knob for knob in KNOBS.values() if scope in knob.scopes)


def risk_of(name: str, subject: Subject) -> str:
    """Return what a knob may cost on this subject. What was measured with one driver holds for it alone."""
    return _RISKS.get((name, subject.kind), KNOBS[name].risk)
