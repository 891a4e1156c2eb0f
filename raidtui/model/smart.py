"""SMART readings, in smartctl's terms. Records only: nothing is judged here."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from raidtui.model.self_test import SelfTests


def smart_node(name: str) -> str:
    """Return the kernel's name in a disk's name: ``sdb`` of ``sdb megaraid,3``, behind a controller."""
    return name.partition(" ")[0]


def smart_type(name: str) -> str:
    """Return the device type in a disk's name: ``megaraid,3`` of ``sdb megaraid,3``; "" for most."""
    return name.partition(" ")[2]


def smart_words(name: str) -> str:
    """Return how smartctl's command line names a disk: ``-d megaraid,3 /dev/sdb``, ``/dev/sda``."""
    kind = smart_type(name)
    return f"{f'-d {kind} ' if kind else ''}/dev/{smart_node(name)}"


class Attribute(Struct, frozen=True, kw_only=True):
    """One row of an ATA disk's attribute table.

    Args:
        id: 1 to 254. The same id means other things on other disks: see ``name``.
        name: smartctl's, from its drive database or, for a disk that is not in it, a default.
        value, worst, threshold: normalized; None where the disk gives none.
        when_failed: "now", "past" or "".
        prefailure: whether reaching the threshold means that the disk is about to fail.
        raw: the undecoded number.
        raw_text: as smartctl decodes it, "23 (Min/Max 20/29)".
    """

    id: int
    name: str
    value: int | None = None
    worst: int | None = None
    threshold: int | None = None
    when_failed: str = ""
    prefailure: bool = False
    raw: int | None = None
    raw_text: str = ""

    @property
    def count(self) -> int | None:
        """The raw value as a count: the number that the decoded text begins with, else the raw number."""
        digits = self.raw_text[: len(self.raw_text) - len(self.raw_text.lstrip("0123456789"))]
        if digits and len(digits) < 20 and not self.raw_text.startswith("0x"):
            return int(digits)
        return self.raw


class Counted(Struct, frozen=True, kw_only=True):
    """A counter of written data, with its unit by the standard.

    Args:
        count: in units.
        unit_bytes: bytes of one unit.
        text: the counter as it was printed.
        size_bytes: the count in bytes.
    """

    count: int
    unit_bytes: int
    text: str
    size_bytes: int


class ErrorRecovery(Struct, frozen=True, kw_only=True):
    """How long an ATA disk tries before it gives up (SCT ERC), in tenths of a second; 0: without limit."""

    read_ds: int | None
    write_ds: int | None


PATIENT_S = 180
"""The timeout for a disk without SCT ERC, which may retry that long (advice of mdadm and smartmontools)."""


def retry_words(erc: ErrorRecovery | None, waits_s: int, *, several: bool = False) -> str:
    """Return for how long a disk may retry a bad sector; "" where it gives up before the kernel does.

    Args:
        erc: None where the disk has no SCT ERC.
        waits_s: ``/sys/block/*/device/timeout``.
        several: whether it is said of several disks.
    """
    retries_ds = erc.read_ds if erc is not None else None
    if retries_ds:
        words = f"{'retry' if several else 'retries'} a bad sector for {retries_ds / 10:g} s (SCT ERC)"
        return words if retries_ds >= waits_s * 10 else ""
    if waits_s >= PATIENT_S:
        return ""
    return f"may retry a bad sector for minutes (SCT ERC is {'missing' if erc is None else 'off'})"


class SmartReading(Struct, frozen=True, kw_only=True):
    """The parts of ``smartctl --json -x`` that raidtui uses; None: not reported.

    Args:
        name: the kernel's name of the disk.
        protocol: ATA, NVMe or SCSI; "" where smartctl named none.
        kind: the type that smartctl asked it by: sat, nvme, scsi.
        sector_bytes: the logical sector size.
        rotation_rpm: 0 for an SSD; NVMe disks give none.
        in_database: whether smartctl's drive database knows the disk, and so the names of its attributes.
        smart_available, smart_enabled: whether the disk has SMART at all, and whether it is turned on.
        passed: the disk's own verdict; None where all that smartctl has is SCSI's warning or test message.
        exception, exception_code: SCSI's informational exception: its words, and its ASC and ASCQ.
        exit_status: smartctl's, a mask of bits (smartctl(8), EXIT STATUS).
        messages, errors: what smartctl says, and that part of it that it calls errors.
        power_on_hours: age in service.
        crc_errors: transfers between disk and controller that failed (ATA attribute 199): the link's fault.
        reallocated, pending, uncorrectable: ATA's and SCSI's counts of bad sectors.
        media_errors: NVMe's and SCSI's count of data that could not be corrected.
        nonmedium_errors: SCSI's errors of the link, the enclosure, or aborted commands.
        defects_printed: SCSI's grown defects as smartctl printed them, where it is not known whether these
            are elements or, before smartctl 7.2, bytes; ``reallocated`` is then the least that they can be.
        spin_retries, end_to_end_errors, command_timeouts, reallocation_events: ATA's attributes 10, 184, 188
            and 196.
        temperature_limit_c: the highest that the disk is made for (ATA: in continuous operation; SCSI: its
            trip temperature; NVMe: from where on it warns).
        temperature_critical_c: from where on it may be damaged or lose data (NVMe), or the highest that it is
            made for at all (ATA).
        critical_minutes: how long it was above its critical temperature (NVMe), or above the highest that it
            is made for (ATA device statistics page 5).
        spare_percent, spare_threshold_percent: reserve left, and the limit below which it is too little.
        critical_warning: NVMe's bits: 1 spare, 2 temperature, 4 reliability, 8 read-only, 16 backup, 32 PMR.
        endurance_percent: smartctl 7.5's ``endurance_used``.
        statistics_percent: ATA device statistics page 7.
        nvme_percent, scsi_percent: NVMe's ``percentage_used``, SCSI's endurance indicator. May exceed 100.
        host_writes: smartctl 8's figure.
        statistics_written: ATA device statistics page 1, logical sectors.
        nvme_written: data units of 512,000 bytes, rounded up by the disk.
        scsi_written: the error counter log's gigabytes (10^9 bytes).
        write_commands: how many commands these writes took (NVMe, ATA device statistics page 1).
        all_counters_zero: whether its log of transfers has nothing but zeros, reads too: it keeps none.
        trim_zeroed: whether trimmed sectors read as zeroes.
        erc: None where the disk has none, or did not say.
        self_tests: None where smartctl printed nothing of them.
        taken_s: epoch seconds of smartctl's run.
    """

    name: str
    protocol: str = ""
    kind: str = ""
    model: str | None = None
    family: str | None = None
    serial: str | None = None
    wwn: str | None = None
    firmware: str | None = None
    capacity_bytes: int | None = None
    sector_bytes: int | None = None
    rotation_rpm: int | None = None
    in_database: bool | None = None
    smart_available: bool | None = None
    smart_enabled: bool | None = None
    passed: bool | None = None
    exception: str = ""
    exception_code: tuple[int, int] | None = None
    exit_status: int = 0
    messages: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    power_on_hours: int | None = None
    power_cycles: int | None = None
    temperature_c: int | None = None
    temperature_limit_c: int | None = None
    temperature_critical_c: int | None = None
    crc_errors: int | None = None
    reallocated: int | None = None
    pending: int | None = None
    uncorrectable: int | None = None
    media_errors: int | None = None
    nonmedium_errors: int | None = None
    defects_printed: int | None = None
    spin_retries: int | None = None
    end_to_end_errors: int | None = None
    command_timeouts: int | None = None
    reallocation_events: int | None = None
    critical_minutes: int | None = None
    spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    critical_warning: int | None = None
    endurance_percent: int | None = None
    statistics_percent: int | None = None
    nvme_percent: int | None = None
    scsi_percent: int | None = None
    host_writes: Counted | None = None
    statistics_written: Counted | None = None
    nvme_written: Counted | None = None
    scsi_written: Counted | None = None
    write_commands: int | None = None
    all_counters_zero: bool = False
    trim_supported: bool | None = None
    trim_zeroed: bool | None = None
    erc: ErrorRecovery | None = None
    attributes: tuple[Attribute, ...] = ()
    self_tests: SelfTests | None = None
    taken_s: float | None = None

    @property
    def identity(self) -> str:
        """The serial number, or else the WWN, as ``Disk.identity``."""
        return self.serial or self.wwn or ""

    @property
    def rotates(self) -> bool:
        """Whether it reports that it is a hard disk."""
        return bool(self.rotation_rpm)

    @property
    def health_known(self) -> bool:
        """Whether it has said anything of its health: a verdict, attributes, or a log of errors."""
        figures = (self.passed, self.critical_warning, self.media_errors, self.statistics_percent)
        return bool(self.attributes or self.exception_code) or any(each is not None for each in figures)

    @property
    def shingled(self) -> bool:
        """Whether smartctl's drive database says that it records shingled (SMR)."""
        return "(SMR)" in (self.family or "")


class Unread(StrEnum):
    """Why a disk was not read."""

    STANDBY = "standby"
    POWER_UNKNOWN = "untold"
    NO_TOOL = "no tool"
    NO_PERMISSION = "no permission"
    TIMEOUT = "timeout"
    NO_DEVICE = "no device"
    BROKEN = "broken"


class NoReading(Struct, frozen=True, kw_only=True):
    """Why a disk was not read, and what helps.

    Args:
        name: the kernel's name of the disk.
        why: for machines.
        reason: for people, without the disk's name.
        remedy: "" where nothing is to be done.
    """

    name: str
    why: Unread
    reason: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """All in one line."""
        return f"{self.name}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class SmartMeasurement(Struct, frozen=True, kw_only=True):
    """A reading between two readings of the kernel's count of writes to the disk.

    Args:
        result: the reading, or why there is none.
        since: identifies the period over which the kernel counts: the boot and the disk's appearance.
        low_bytes, high_bytes: the kernel's count right before and right after; None without /proc/diskstats.
    """

    result: SmartReading | NoReading
    since: str = ""
    low_bytes: int | None = None
    high_bytes: int | None = None


class ScannedDevice(Struct, frozen=True, kw_only=True):
    """A device that smartctl finds: "/dev/sda" and the type to ask it by, "sat"."""

    path: str
    kind: str
