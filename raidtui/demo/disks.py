"""Simulated disks: identity, speed and counters."""

from __future__ import annotations

from msgspec import Struct

SECTOR_BYTES = 512


class SimPartition(Struct, frozen=True, kw_only=True):
    """A partition: its number, start and length, in sectors."""

    number: int
    start: int
    sectors: int


class SimDisk(Struct, frozen=True, kw_only=True):
    """A whole disk.

    Args:
        dev: major and minor number; a partition's minor is that plus its number.
        read_kib_s, write_kib_s: its sequential speed.
        request_ms: mean time of one request.
        fresh: whether it was put in during the story, and has no past.
    """

    name: str
    dev: tuple[int, int]
    model: str
    serial: str
    wwn: str
    sectors: int
    read_kib_s: int
    write_kib_s: int
    request_ms: float
    rotates: bool = False
    fresh: bool = False
    partitions: tuple[SimPartition, ...] = ()

    @property
    def is_nvme(self) -> bool:
        """Whether it is an NVMe namespace, with other files in sysfs and other partition names."""
        return self.name.startswith("nvme")

    @property
    def path(self) -> str:
        """Its path in sysfs, relative to /sys/class/block."""
        if self.is_nvme:
            controller = self.name.removesuffix("n1")
            bus = f"pci0000:40/0000:40:0{controller[-1]}.1/nvme/{controller}"
            return f"../../devices/{bus}/{self.name}"
        port = ord(self.name[-1]) - ord("a") + 1
        bus = f"pci0000:00/0000:00:17.0/ata{port}/host{port - 1}/target{port - 1}:0:0/{port - 1}:0:0:0"
        return f"../../devices/{bus}/block/{self.name}"

    def partition_name(self, number: int) -> str:
        """Return the kernel's name of a partition: sda2, nvme0n1p1."""
        return f"{self.name}{'p' if self.name[-1].isdigit() else ''}{number}"


class SimCounters(Struct, kw_only=True):
    """The counters of one line of /proc/diskstats, with fractions; sectors and milliseconds."""

    reads: float = 0.0
    read_sectors: float = 0.0
    read_ms: float = 0.0
    writes: float = 0.0
    written_sectors: float = 0.0
    write_ms: float = 0.0
    busy_ms: float = 0.0
    discards: float = 0.0
    discarded_sectors: float = 0.0

    def add(self, *, read_kib: float, write_kib: float, request_kib: float, request_ms: float) -> None:
        """Count requests of one size."""
        reads, writes = read_kib / request_kib, write_kib / request_kib
        self.reads += reads
        self.read_sectors += read_kib * 2
        self.read_ms += reads * request_ms
        self.writes += writes
        self.written_sectors += write_kib * 2
        self.write_ms += writes * request_ms

    def line(self, dev: tuple[int, int], name: str) -> str:
        """Return the line as block/genhd.c diskstats_show prints it (kernel 5.5 and later)."""
        queue_ms = int(self.read_ms) + int(self.write_ms)
        return (
            f"{dev[0]:4d} {dev[1]:7d} {name} {int(self.reads)} 0 {int(self.read_sectors)} {int(self.read_ms)}"
            f" {int(self.writes)} 0 {int(self.written_sectors)} {int(self.write_ms)}"
            f" 0 {int(self.busy_ms)} {queue_ms} {int(self.discards)} 0 {int(self.discarded_sectors)} 0 0 0"
        )


class SimSelfTest(Struct, kw_only=True):
    """A self-test that was started in the story.

    Args:
        long: whether it is a long one; else it is a short one.
        began_s: on the kernel's clock.
        hours: power-on hours of the disk at that time.
        aborted: whether it was aborted.
    """

    long: bool
    began_s: float
    hours: int
    aborted: bool = False

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return 54 if self.long else 2

    def left_percent(self, now_s: float) -> int:
        """Return how much is left to do, in steps of ten as ATA disks report it; 0: it has ended."""
        done = (now_s - self.began_s) / (60 * self.minutes)
        return 0 if self.aborted or done >= 1 else 10 * max(1, 10 - int(10 * done))
