"""What a piece of advice is, and what it is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from raidtui.host.md.configured import ConfiguredArray
from raidtui.model.drive_cache import DriveCache
from raidtui.model.finding import Severity
from raidtui.model.knob import Tuning
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import Stack
from raidtui.model.watchers import NextCheck, Watchers
from raidtui.monitor.boot.boot_reasons import DiskVerdict
from raidtui.monitor.stack.stack_findings import StackFinding
from raidtui.monitor.wear.ledger_entries import LedgerEntry
from raidtui.plans.tune.findings import TuneFinding


class AdviceCode(StrEnum):
    """What a piece of advice says, for programs; docs/advice.md documents each."""

    NO_BITMAP = "no-bitmap"
    CONF_LINE_MISSING = "conf-line-missing"
    CONF_LINE_STALE = "conf-line-stale"
    CONF_LINE_REFUSES = "conf-line-refuses"
    CONF_LINE_DOUBLED = "conf-line-doubled"
    CONF_LINE_RENAMES = "conf-line-renames"
    CONF_LINE_IGNORES = "conf-line-ignores"
    CONF_LINE_UNKNOWN = "conf-line-unknown"
    CONF_DEVICES = "conf-devices"
    KERNEL_BUG = "kernel-bug"
    FILE_SYSTEM_FULL = "file-system-full"
    NO_WEEKLY_TRIM = "no-weekly-trim"
    SWAP_ON_STRIPES = "swap-on-stripes"
    NOT_WATCHED = "not-watched"
    NOBODY_TOLD = "nobody-told"
    NOT_CHECKED = "not-checked"
    CHECKED_TWICE = "checked-twice"
    NO_HISTORY = "no-history"
    DISKS_NOT_WATCHED = "disks-not-watched"
    HIDDEN_NVME = "hidden-nvme"
    IDE_MODE = "ide-mode"
    AGED_ALIKE = "aged-alike"
    NO_SPARE = "no-spare"
    FINE_BITMAP = "fine-bitmap"
    BFQ_ON_NVME = "bfq-on-nvme"
    NO_FLUSHES = "no-flushes"


class Advice(Struct, frozen=True, kw_only=True):
    """One piece of advice.

    Args:
        code: an ``AdviceCode``, ``TuneCode``, ``StackCode`` or ``BootCode``.
        severity: how much it matters.
        subject: what it is about: an array's name, a device; "" for the host.
        text: what is the case, a sentence without its full stop.
        why: why it matters, and by which source; a sentence.
        remedy: what to do, for people.
        detail: what tells it apart from others with this code and subject: a knob, a bug's number.
        key: what it is about, by what does not change over boots; "" for the host.
        order: the words after ``raidtui`` that print the plan which fixes it; () where there is none.
    """

    code: str
    severity: Severity
    subject: str = ""
    text: str
    why: str
    remedy: str = ""
    detail: str = ""
    key: str = ""
    order: tuple[str, ...] = ()


class HostFacts(Struct, frozen=True, kw_only=True):
    """What advice is made from.

    Args:
        snapshot: the arrays.
        stack: the layers.
        stack_findings: about them.
        tune_findings: about knobs.
        configured: what mdadm.conf, fstab and crypttab name.
        device_words: of DEVICE lines in mdadm.conf; () where all devices are looked at.
        left_out: members of arrays that these leave out, by kernel name.
        not_listed: members that ``devices=`` leaves out, by the ARRAY line's place.
        unknown_words: of lines in mdadm.conf that name an array in vain, by the line's place.
        trim_timer: the state of fstrim.timer; "" where it is not known, or there is none.
        options: the mount options by place; without places where they are not known.
        watchers: who is told, and what checks; None where that cannot be seen.
        next_check: when arrays are checked next; None where that was not read.
        hidden_nvme: how many NVMe devices a SATA controller hides, by its PCI address.
        ide_disks: disks whose SATA controller is in IDE mode.
        tuning: the knobs; None where they were not read.
        ages: the last reading of each disk that raidtui's history has, by its serial number or WWN.
        drive_caches: of the disks below arrays.
        boot: whether the machine comes up without each disk.
    """

    snapshot: Snapshot
    stack: Stack
    stack_findings: Sequence[StackFinding] = ()
    tune_findings: Sequence[TuneFinding] = ()
    configured: Sequence[ConfiguredArray] = ()
    device_words: Sequence[str] = ()
    left_out: Sequence[str] = ()
    not_listed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unknown_words: Mapping[str, str] = field(default_factory=dict)
    trim_timer: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    watchers: Watchers | None = None
    next_check: NextCheck | None = None
    hidden_nvme: Mapping[str, int] = field(default_factory=dict)
    ide_disks: Sequence[str] = ()
    tuning: Tuning | None = None
    ages: Mapping[str, LedgerEntry] = field(default_factory=dict)
    drive_caches: Sequence[DriveCache] = ()
    boot: Sequence[DiskVerdict] = ()
