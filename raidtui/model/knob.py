"""Knobs of the kernel that decide how fast an array is: their values, who set them, what a reboot leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.model.plan import Fact
from raidtui.model.smart import ErrorRecovery

SetBy = tuple[str, tuple[str, ...]]
"""Who has set knobs, in a few words, and which."""


class KnobScope(StrEnum):
    """What a knob belongs to."""

    DISK = "disk"
    POLICY = "policy"  # the processors that share a frequency: cpufreq's policy0, policy1, ...
    CPU = "cpu"  # the driver of all of them
    ARRAY = "array"
    SYSTEM = "system"


class By(StrEnum):
    """What sets a knob. The order is that of a boot: what comes later wins."""

    KERNEL = "kernel"
    COMMAND_LINE = "command-line"
    MODPROBE = "modprobe"
    MDADM = "mdadm.conf"
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
        by: what does.
        where: the place: "/etc/udev/rules.d/60-ssd.rules:3", "profile balanced".
        value: what it sets; None where that cannot be told.
        path: the file that is written to; parts may have wildcards.
        ours: whether raidtui wrote it, to keep a value.
        sure: whether it applies for certain; an udev rule may ask what only udev can answer.
        only: the kind of disks it is for; "" for all.
        running: of a daemon, whether it runs now; None for what is no daemon.
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
        """Who and where, as a phrase."""
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
        """When at boot it is done; what is done later wins."""
        return _RANKS[self.by]


KERNEL = Setting(by=By.KERNEL)
NOBODY = Setting(by=By.UNKNOWN)


class ChangedValue(Struct, frozen=True, kw_only=True):
    """A value that raidtui wrote for now.

    Args:
        path: the file.
        before: what it was before the first of these writes.
        value: what was written last.
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
        path: the file that it is read from and written to; "" where another way leads to it.
        choices: what can be written, where these are words.
        low, high: the range, where it is a number; None where the kernel tells no bound.
        multiple: numbers are multiples of this.
        step: what comes beside a number is the next multiple of this; 0: half of it, and twice.
        default: what the kernel begins with; None where that cannot be told.
        set_by: what has set it, as far as can be told.
        others: all that sets it, in the order of a boot.
        at_boot: what it will be after a reboot; None where that cannot be told.
        kept: what raidtui keeps it at.
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
    def untold(self) -> bool:
        """Whether nothing that sets it was found, and the kernel does not tell what it begins with."""
        return self.set_by.by is By.UNKNOWN and self.default is None and not self.others

    @property
    def survives(self) -> bool | None:
        """Whether the value of now will be there after a reboot; None where that cannot be told."""
        return None if self.at_boot is None else same_value(self.at_boot, self.text)


class Subject(Struct, frozen=True, kw_only=True):
    """What has knobs: a whole disk, a cpufreq policy, the processors' driver, an array, the system.

    Args:
        name: the kernel's: sda, policy0, md127; or cpu, system.
        title: for the eye.
        kind: of a disk sata, scsi, usb, nvme, virtio or other; of a policy its driver; of an array its level.
        key: an array's key.
        arrays: the keys of the arrays that a disk is a member of.
        cpus: the processors of a policy: "0-7".
        identity: what tells a disk from all others; for the eye.
        model: a disk's.
        needs: what must hold right before something is written.
        guard: (path, text) that must read so right before a write: an array's UUID.
        match: how an udev rule tells it from all others: ("ENV{ID_SERIAL}", "..."); None where it cannot.
        no_match: why it cannot.
        members: of an array, how many disks have a share in each stripe.
        tags: how many requests a disk's driver takes at a time.
        now_khz, top_khz: how fast a policy's processors run, and could.
        erc: how long a disk tries before it gives up; None where it has none, or was not asked.
        erc_asked: whether the disk was asked.
        values: by the knob's name.
        absent: why there is no such knob, by its name, a sentence each.
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


class Tuning(Struct, frozen=True, kw_only=True):
    """All knobs of a host.

    Args:
        subjects: the disks (members first, by array), the policies, "cpu", the arrays, "system".
        lacks: what the host has not, a sentence each.
        no_cpufreq: why nothing can be said of the processors; "" where it can.
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
    """Return the value in what the kernel shows: ``mq-deadline`` of ``[mq-deadline] none``, else the word."""
    if "[" in text and "]" in text:
        return text.partition("[")[2].partition("]")[0]
    return text.strip().removesuffix(" (local)").removesuffix(" (system)")


def same_value(one: str, other: str) -> bool:
    """Whether two texts are the same value: 032 is 32, and the words are compared as they are."""
    one, other = one.strip(), other.strip()
    if one.isascii() and other.isascii() and one.isdigit() and other.isdigit():
        return one.lstrip("0") == other.lstrip("0")
    return one == other


def neighbours(value: Value) -> tuple[str | None, str | None]:
    """Return what comes below and above a value: the words beside it, or numbers as ``Value.step`` says."""
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


def attributed(value: Value, settings: Sequence[Setting], changed: ChangedValue | None = None) -> Value:
    """Return a value with what can be told of who set it and what a reboot will leave.

    Args:
        value: as it was read.
        settings: all that sets this knob of this subject.
        changed: what raidtui wrote to it since the boot.
    """
    ordered = tuple(
        _resolved(each, value) for each in sorted(settings, key=lambda each: each.rank)
    )  # stable: the later of two files stays behind the earlier
    kept = next((each.value for each in reversed(ordered) if each.ours), None)
    return replace(
        value,
        set_by=_set_by(value, ordered, changed),
        others=ordered,
        at_boot=_at_boot(value, ordered),
        kept=kept,
    )


def _resolved(setting: Setting, value: Value) -> Setting:
    """Of tuned, "schedutil|ondemand" is the first that is there, and ">4096" a least value."""
    text = setting.value
    if text is None or setting.by is not By.TUNED:
        return setting
    if "|" in text:
        text = next((word for word in text.split("|") if word in value.choices), None)
    elif text.startswith(">"):
        least = text[1:].strip()
        met = least.isdigit() and value.text.isdigit() and int(value.text) >= int(least)
        text = value.text if met else least
    return replace(setting, value=text)


def _set_by(value: Value, settings: tuple[Setting, ...], changed: ChangedValue | None) -> Setting:
    def says_so(setting: Setting) -> bool:
        return setting.value is not None and same_value(setting.value, value.text)

    if changed is not None and same_value(changed.value, value.text):
        kept = next((each for each in settings if each.ours and says_so(each)), None)
        return kept or Setting(by=changed.by, value=changed.value, path=value.path)
    for setting in reversed(settings):
        if says_so(setting):
            return setting
    if value.default is not None and same_value(value.default, value.text):
        return KERNEL
    untold = next((each for each in reversed(settings) if each.value is None), None)
    if untold is not None:
        return untold
    return NOBODY  # what the kernel began with, or what somebody wrote by hand: both look the same


def _at_boot(value: Value, settings: tuple[Setting, ...]) -> str | None:
    if not settings:
        return value.default
    last = settings[-1]
    if last.sure or last.value is None:
        return last.value
    rest = _at_boot(value, settings[:-1])
    agrees = rest is not None and last.value is not None and same_value(rest, last.value)
    return rest if agrees else None


def who_set(values: Iterable[tuple[str, Value]], main: Collection[str]) -> tuple[SetBy, ...]:
    """Return who has set the knobs of a row, a few words each, with the knobs; the kernel first.

    Args:
        values: the knobs and their values.
        main: the knobs that the row is about. Of the others those count that something has set. What cannot
            be told counts where nothing of the row is told to be the kernel's.
    """
    found: dict[str, dict[str, None]] = {}
    untold: dict[str, None] = {}
    for knob, value in values:
        by = value.set_by.by
        if by is By.UNKNOWN and value.default is None:
            if knob in main:
                untold[knob] = None
        elif knob in main or by is not By.KERNEL:
            found.setdefault(value.set_by.words, {})[knob] = None
    if untold and KERNEL.words not in found:
        found[NOBODY.words] = {**found.get(NOBODY.words, {}), **untold}
    found = found or {KERNEL.words: {}}
    first = sorted(found, key=lambda words: words != KERNEL.words)
    return tuple((words, tuple(found[words])) for words in first)


def who_set_words(setters: Sequence[SetBy]) -> str:
    """Return that in words: ``kernel``, ``kernel; queue_depth: 60-ssd.rules:1``."""
    if len(setters) == 1:
        return setters[0][0]
    parts = (words if words == KERNEL.words else f"{', '.join(knobs)}: {words}" for words, knobs in setters)
    return "; ".join(parts)
