"""Knobs of the kernel that decide how fast an array is: their values, who set them, what a reboot leaves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from raidtui.model.fact import Fact
from raidtui.model.smart import ErrorRecovery
from raidtui.model.stack import CacheState


class KnobScope(StrEnum):
    """What a knob belongs to."""

    DISK = "disk"
    POLICY = "policy"  # the processors that share a frequency: cpufreq's policy0, policy1, ...
    CPU = "cpu"  # the driver of all of them
    ARRAY = "array"
    CACHE = "cache"  # a bcache, or a volume of LVM with a cache
    SYSTEM = "system"


class By(StrEnum):
    """What sets a knob, in the order of a boot: the last one wins."""

    KERNEL = "kernel"
    COMMAND_LINE = "command-line"
    MODPROBE = "modprobe"
    MDADM = "mdadm.conf"
    METADATA = "metadata"  # of the cache itself: it lasts
    UDEV = "udev"
    SYSCTL = "sysctl"
    TMPFILES = "tmpfiles"
    SYSFSUTILS = "sysfsutils"
    CPUFREQUTILS = "cpufrequtils"
    CPUPOWER = "cpupower"
    RC_LOCAL = "rc.local"
    TUNED = "tuned"
    TLP = "tlp"
    AUTO_CPUFREQ = "auto-cpufreq"
    POWER_PROFILES = "power-profiles-daemon"
    NOW = "now"  # raidtui, since the boot, in another run
    RUN = "run"  # raidtui, in this run
    UNKNOWN = "unknown"


_RANKS = {by: rank for rank, by in enumerate(By)}
_WORDS = {By.RUN: "this run", By.NOW: "raidtui, for now", By.UNKNOWN: "not known", By.TLP: "TLP"}
_BY_FILE = frozenset({By.UDEV, By.SYSCTL, By.TMPFILES, By.MDADM, By.MODPROBE, By.SYSFSUTILS, By.RC_LOCAL})


class Setting(Struct, frozen=True, kw_only=True):
    """Something on this host that sets a knob, or has set it.

    Args:
        by: the setter.
        where: the place: "/etc/udev/rules.d/60-ssd.rules:3", "profile balanced".
        value: the value that it sets; None if not known.
        path: the file that is written to; parts may have wildcards.
        ours: whether raidtui wrote it, to keep a value.
        sure: whether it applies for certain; a udev rule may match on what only udev knows.
        only: the kind of disks it is for; "" for all.
        running: of a daemon, whether it runs now; None for other setters.
    """

    by: By
    where: str = ""
    value: str | None = None
    path: str = ""
    ours: bool = False
    sure: bool = True
    only: str = ""
    running: bool | None = None

    @property
    def words(self) -> str:
        """A few words for a column."""
        if self.ours:
            return "raidtui (kept)"
        if self.by in _BY_FILE and self.where:
            return self.where.rpartition("/")[2]
        return _WORDS.get(self.by, "kernel command line" if self.by is By.COMMAND_LINE else str(self.by))

    @property
    def sentence(self) -> str:
        """Who sets it and where, a phrase: ``tuned (profile mine)``."""
        if self.by is By.METADATA:
            return "the cache's own metadata"
        if self.by in _BY_FILE and self.where:
            return f"{self.where}, kept by raidtui" if self.ours else self.where
        return f"{self.words} ({self.where})" if self.where else self.words

    @property
    def boot_sentence(self) -> str:
        """What it does at boot: "At boot /etc/rc.local:3 sets none."."""
        what = f"sets {self.value}" if self.value is not None else "sets it"
        sure = "" if self.sure else ", or may not apply"
        now = {None: "", True: "; it is running", False: "; it is not running"}[self.running]
        return f"At boot {self.sentence} {what}{sure}{now}."

    @property
    def rank(self) -> int:
        """Its place in the order of a boot; the highest wins."""
        return _RANKS[self.by]


KERNEL = Setting(by=By.KERNEL)
NOBODY = Setting(by=By.UNKNOWN)


class ChangedValue(Struct, frozen=True, kw_only=True):
    """A value that raidtui wrote for now.

    Args:
        path: the file.
        before: the value before the first of these writes.
        value: the value written last.
        by: NOW or RUN.
    """

    path: str
    before: str
    value: str
    by: By = By.RUN


class Value(Struct, frozen=True, kw_only=True):
    """One knob of one subject.

    Args:
        text: the kernel's value, as it would be written.
        path: the file that it is read from and written to; "" where a tool does that. Of a setting of LVM,
            a path below that of its map that only names it.
        choices: the words that can be written; empty for numbers.
        low, high: the range, where it is a number; None where the kernel shows no bound.
        multiple: numbers are multiples of this.
        step: the next number is the next multiple of this; with 0, half of the number and twice the number.
        default: the kernel's initial value; None where it is not known.
        set_by: the setter of the present value, as far as known.
        others: everything that sets it, in the order of a boot.
        at_boot: the value after a reboot; None where it is not known.
        kept: the value that raidtui keeps it at; None where it does not keep it.
    """

    text: str
    path: str = ""
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    multiple: int = 1
    step: int = 0
    default: str | None = None
    set_by: Setting = KERNEL
    others: tuple[Setting, ...] = ()
    at_boot: str | None = None
    kept: str | None = None

    @property
    def unexplained(self) -> bool:
        """Whether nothing that sets it was found, and the kernel's initial value is not known."""
        return self.set_by.by is By.UNKNOWN and self.default is None and not self.others

    @property
    def survives(self) -> bool | None:
        """Whether a reboot leaves the present value; None where that is not known."""
        return None if self.at_boot is None else same_value(self.at_boot, self.text)


class Subject(Struct, frozen=True, kw_only=True):
    """What has knobs: a whole disk, a cpufreq policy, the processors' driver, an array, the system.

    Args:
        name: the kernel's: sda, policy0, md127, bcache0, dm-1; or cpu, system.
        title: the name to show.
        kind: of a disk sata, scsi, usb, nvme, virtio or other; of a policy its driver; of an array its level;
            of a cache bcache, lvm-cache, lvm-writecache.
        key: an array's key.
        arrays: the keys of the arrays that a disk is a member of.
        cpus: the processors of a policy: "0-7".
        identity: a disk's serial number or WWN, to show.
        model: a disk's.
        needs: facts to check right before a write.
        guard: (path, text) that must hold right before a write: an array's UUID.
        match: how a udev rule identifies it: ("ENV{ID_SERIAL}", "..."); None where none can.
        no_match: why none can.
        members: of an array, how many disks have a share in each stripe.
        tags: how many requests a disk's driver takes at a time.
        now_khz, top_khz: how fast a policy's processors run, and could.
        erc: how long a disk retries before it gives up; None where it has none, or was not asked.
        erc_asked: whether the disk was asked.
        values: by the knob's name.
        absent: why a knob is missing, by its name, a phrase each.
        map: of a cache of LVM, the name of its map: vc-slow.
        volume: of a cache of LVM, the volume that the cache is on: vc/fast; "" where it is not known.
        pooled: of a cache of LVM, whether that is a cache pool.
        cache: of a cache, what it says of itself.
        alone: of a cache, why writeback endangers data, a clause; "" where it does not.
    """

    scope: KnobScope
    name: str
    title: str
    kind: str = ""
    key: str = ""
    arrays: tuple[str, ...] = ()
    cpus: str = ""
    identity: str = ""
    model: str = ""
    needs: tuple[Fact, ...] = ()
    guard: tuple[str, str] | None = None
    match: tuple[str, str] | None = None
    no_match: str = ""
    members: int = 0
    tags: int | None = None
    now_khz: int | None = None
    top_khz: int | None = None
    erc: ErrorRecovery | None = None
    erc_asked: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    map: str = ""
    volume: str = ""
    pooled: bool = False
    cache: CacheState | None = None
    alone: str = ""


class Tuning(Struct, frozen=True, kw_only=True):
    """All knobs of a host.

    Args:
        subjects: the disks (members first, by array), the policies, "cpu", the arrays, the caches, "system".
        lacks: what the host does not have, a sentence each.
        no_cpufreq: why nothing is known of the processors; "" if it is known.
        texts: raidtui's own files, by path; without missing ones. Bytes as characters, as in Survey.texts.
        folders: folders of configuration that are there.
        systemd: whether systemd is PID 1.
    """

    subjects: tuple[Subject, ...]
    lacks: tuple[str, ...] = ()
    no_cpufreq: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    systemd: bool = False

    def of(self, scope: KnobScope) -> tuple[Subject, ...]:
        """Return the subjects of one kind."""
        return tuple(subject for subject in self.subjects if subject.scope is scope)

    def subject(self, name: str) -> Subject | None:
        """Return the subject with this name."""
        return next((subject for subject in self.subjects if subject.name == name), None)

    def members(self, key: str) -> tuple[Subject, ...]:
        """Return the disks of an array."""
        return tuple(disk for disk in self.of(KnobScope.DISK) if key in disk.arrays)

    def array(self, key: str) -> Subject | None:
        """Return the array with this key."""
        return next((array for array in self.of(KnobScope.ARRAY) if array.key == key), None)

    def at(self, path: str) -> tuple[Subject, str, Value] | None:
        """Return subject, knob and value that a file belongs to."""
        for subject in self.subjects:
            for knob, value in subject.values.items():
                if value.path == path and path:
                    return subject, knob, value
        return None


def chosen(text: str) -> str:
    """Return the value in what the kernel shows: ``mq-deadline`` of ``[mq-deadline] none``, else the text."""
    if "[" in text and "]" in text:
        return text.partition("[")[2].partition("]")[0]
    return text.strip().removesuffix(" (local)").removesuffix(" (system)")


def same_value(one: str, other: str) -> bool:
    """Whether two texts are the same value: 032 is 32; words are compared as they are."""
    one, other = one.strip(), other.strip()
    if one.isascii() and other.isascii() and one.isdigit() and other.isdigit():
        return one.lstrip("0") == other.lstrip("0")
    return one == other


def neighbours(value: Value) -> tuple[str | None, str | None]:
    """Return the values below and above one: the neighbouring words, or numbers by ``Value.step``."""
    if value.choices and value.text.isdigit() and value.text not in value.choices:
        numbers = [each for each in value.choices if each.isdigit()]
        low = max((each for each in numbers if int(each) < int(value.text)), key=int, default=None)
        return low, min((each for each in numbers if int(each) > int(value.text)), key=int, default=None)
    if value.choices:
        place = value.choices.index(value.text) if value.text in value.choices else 0
        low = value.choices[place - 1] if place > 0 else None
        return low, value.choices[place + 1] if place + 1 < len(value.choices) else None
    if not value.text.isdigit():
        return None, None
    number, step = int(value.text), value.multiple
    down, up = number // 2 // step * step, max(step, 1, number * 2)
    if value.step:
        down, up = (number - 1) // value.step * value.step, (number // value.step + 1) * value.step
    down = max(down, value.low if value.low is not None else 0)
    up = up if value.high is None else min(up, value.high)
    return str(down) if down < number else None, str(up) if up > number else None
