"""The story of the demo: its disks and arrays, and what happens when.

A step does nothing if the user has changed the state that it needs (failed, frozen or removed something).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from raidtui.demo.control import add_member, fail_member, remove_member
from raidtui.demo.disks import SECTOR_BYTES, SimDisk, SimPartition
from raidtui.demo.kernel import SimKernel, SimMount
from raidtui.demo.sim_array import Load, SimArray, SimMember, SimSync
from raidtui.demo.sim_smart import written_since_boot

_GIB_KIB = 1 << 20
_START_PERMILLE = 542
_SATA_SECTORS = 976_773_168
_NVME_SECTORS = 1_875_385_008
_FIRST_SECTORS = 195_299_328
_DATA_KIB = 210 * _GIB_KIB
_ROOT_KIB = 93 * _GIB_KIB
_VM_KIB = 751_616_000
_THIRD = SimPartition(number=3, start=635_969_536, sectors=293_601_280)
_SERIALS = ("S2R5NX0H812345", "S2R5NX0H812346", "S2R5NX0H912001", "S2R5NX0H912002")
SYSTEM_MIN_KIB_S, SYSTEM_MAX_KIB_S = 1000, 781_250
LOCAL_MIN_KIB_S, LOCAL_MAX_KIB_S = 195_313, 488_281
_LONG_GAP_S = 1800.0
_MOUNTS = (
    SimMount(device="md126", source="md126", dev=(9, 126), where="/", kind="ext4"),
    SimMount(device="dm-1", source="mapper/vg0-data", dev=(253, 1), where="/srv/data", kind="ext4"),
    SimMount(device="dm-0", source="mapper/vg0-images", dev=(253, 0), where="/var/lib/libvirt", kind="xfs"),
    SimMount(device="dm-6", source="mapper/vg0-logs", dev=(253, 6), where="/var/log/vm", kind="ext4"),
    SimMount(device="dm-12", source="mapper/vault", dev=(253, 12), where="/srv/vault", kind="ext4"),
    SimMount(device="dm-13", source="mapper/vg0-mail", dev=(253, 13), where="/var/mail", kind="xfs"),
    SimMount(device="bcache0", source="bcache0", dev=(252, 0), where="/srv/backup", kind="ext4"),
)


def disks() -> tuple[SimDisk, ...]:
    """Return the disks at the start: four SATA SSDs, four NVMe disks, and six that no array uses."""
    table = (
        SimPartition(number=1, start=2048, sectors=_FIRST_SECTORS),
        SimPartition(number=2, start=195_301_376, sectors=(_DATA_KIB + 132_096) * 2),
    )
    sata = tuple(
        SimDisk(
            name=f"sd{letter}",
            dev=(8, 16 * index),
            model="Samsung SSD 850 EVO 500GB",
            serial=_SERIALS[index],
            wwn=f"0x5002538d4{0x12A3F0 + index:07x}",
            sectors=_SATA_SECTORS,
            read_kib_s=527_000 if letter != "d" else 498_000,
            write_kib_s=505_000 if letter != "d" else 430_000,
            request_ms=(0.4, 0.4, 0.5, 0.9)[index],
            partitions=(*table, _THIRD) if letter == "d" else table,
        )
        for index, letter in enumerate("abcd")
    )
    nvme = tuple(
        SimDisk(
            name=f"nvme{index}n1",
            dev=(259, 2 * index),
            model="Micron_7400_MTFDKBA960TDZ",
            serial=f"2142330F7A{0x1C + 5 * index:02X}",
            wwn=f"eui.00000000000000{index + 1:02x}00a0752330f7a1c",
            sectors=_NVME_SECTORS,
            read_kib_s=4_100_000,
            write_kib_s=960_000,
            request_ms=0.08,
            partitions=(
                SimPartition(number=1, start=2048, sectors=1_503_496_192),
                *((SimPartition(number=2, start=1_503_498_240, sectors=335_544_320),) if index == 3 else ()),
            ),
        )
        for index in range(4)
    )
    return (*sata, *nvme, *_others(), *_free())


def _free() -> tuple[SimDisk, ...]:
    """Return the disks that are kept to replace others with: two SATA SSDs and two NVMe disks, empty."""
    sata = tuple(
        replace(
            newcomer(),
            name=f"sd{letter}",
            dev=(8, 112 + 16 * index),
            serial=f"S62ANX0R2044{31 + 7 * index}",
            wwn=f"0x5002538f4{0x112A402 + index:07x}",
        )
        for index, letter in enumerate("hi")
    )
    nvme = tuple(
        SimDisk(
            name=f"nvme{index}n1",
            dev=(259, 2 * index + 2),
            model="Micron_7400_MTFDKBA960TDZ",
            serial=f"22513D8E6B{0x40 + 3 * index:02X}",
            wwn=f"eui.00000000000000{index + 1:02x}00a075223d8e6b1",
            sectors=_NVME_SECTORS,
            read_kib_s=4_100_000,
            write_kib_s=960_000,
            request_ms=0.08,
        )
        for index in (4, 5)
    )
    return (*sata, *nvme)


def _others() -> tuple[SimDisk, ...]:
    """Return a flash module on the board and a hard disk in standby."""
    flash = SimDisk(
        name="sdf",
        dev=(8, 80),
        model="SATA SSD",
        serial="B6A10731170200241533",
        wwn="0x5000000000000241",
        sectors=31_277_232,
        read_kib_s=480_000,
        write_kib_s=42_000,
        request_ms=0.6,
    )
    turning = SimDisk(
        name="sdg",
        dev=(8, 96),
        model="WDC WD40EFRX-68N32N0",
        serial="WD-WCC7K5LP2V31",
        wwn="0x50014ee2bb2c9a17",
        sectors=7_814_037_168,
        read_kib_s=150_000,
        write_kib_s=150_000,
        request_ms=9.0,
        rotates=True,
    )
    return flash, turning


def newcomer() -> SimDisk:
    """Return the disk that is plugged in later."""
    return SimDisk(
        name="sde",
        dev=(8, 64),
        model="Samsung SSD 870 EVO 500GB",
        serial="S62ANX0R204417",
        wwn="0x5002538f4112a3f4",
        sectors=_SATA_SECTORS,
        read_kib_s=540_000,
        write_kib_s=515_000,
        request_ms=0.4,
    )


def arrays() -> tuple[SimArray, ...]:
    """Return the arrays, newest first; ``data`` is being resynced."""
    data = SimArray(
        name="md127",
        label="data",
        uuid="96fc09a41d3e4c07b8a25f60c1e7d934",
        level="raid10",
        layout=0x102,
        chunk_kib=32,
        component_kib=_DATA_KIB,
        raid_disks=4,
        members=_in_sync([(f"sd{letter}2", f"sd{letter}") for letter in "abcd"], (0, 1, 2, 3)),
        load=Load(read_iops=60, write_iops=25, burst_every_s=75, burst_s=9, burst_factor=60),
        low_kib_s=LOCAL_MIN_KIB_S,
        high_kib_s=LOCAL_MAX_KIB_S,
        recovery_cp=0,
        last_action="resync",
    )
    root = SimArray(
        name="md126",
        label="root",
        uuid="5b0e7c2289af4d13a6c4e1907d52f8b6",
        level="raid1",
        layout=0,
        chunk_kib=0,
        component_kib=_ROOT_KIB,
        raid_disks=2,
        members=_in_sync([("sda1", "sda"), ("sdb1", "sdb")], (0, 1)),
        load=Load(read_iops=4, write_iops=6),
        latent_mismatches=128,
    )
    vm = SimArray(
        name="md125",
        label="vm",
        uuid="e41d86f3720b4a95903c6d1f58ab27c0",
        level="raid5",
        layout=2,
        chunk_kib=64,
        component_kib=_VM_KIB,
        raid_disks=3,
        members=[
            *_in_sync([(f"nvme{index}n1p1", f"nvme{index}n1") for index in range(3)], (0, 1, 3)),
            SimMember(device="nvme3n1p1", disk="nvme3n1", number=4, slot=None),
        ],
        bitmap=True,
        load=Load(read_iops=420, write_iops=180),
    )
    scratch = SimArray(
        name="md124",
        label="scratch",
        uuid="0c93f57be2684b1f8d07a2c6394e51da",
        level="raid0",
        layout=0,
        chunk_kib=512,
        component_kib=_ROOT_KIB,
        raid_disks=2,
        members=_in_sync([("sdc1", "sdc"), ("sdd1", "sdd")], (0, 1)),
    )
    return data, root, vm, scratch


def _in_sync(devices: list[tuple[str, str]], numbers: tuple[int, ...]) -> list[SimMember]:
    return [
        SimMember(device=device, disk=disk, number=numbers[slot], slot=slot, in_sync=True)
        for slot, (device, disk) in enumerate(devices)
    ]


def begin(seed: int) -> SimKernel:
    """Return the kernel at the start of the story: ``data`` has been resyncing for minutes."""
    kernel = SimKernel(
        disks=disks(), arrays=(), seed=seed, low_kib_s=SYSTEM_MIN_KIB_S, high_kib_s=SYSTEM_MAX_KIB_S
    )
    for array in arrays():
        kernel.start(array)
    kernel.mounts = list(_MOUNTS)
    for name, size_bytes in written_since_boot().items():
        kernel.counters[name].written_sectors = size_bytes / SECTOR_BYTES
    data = kernel.array("data")
    if data is not None and data.sync is not None:
        _hasten(data.sync, LOCAL_MAX_KIB_S)
    return kernel


def _hasten(sync: SimSync, speed_kib_s: int) -> None:
    """Advance a sync to where it is after minutes, with the marks of its last half minute."""
    done = sync.total_sectors * _START_PERMILLE / 1000 + 4096
    sync.done_sectors = done
    sync.completed_sectors = sync.total_sectors // 2
    sync.marks.clear()
    for index in range(10):
        ago_s = 3.0 * (9 - index)
        sync.marks.append((-ago_s, done - ago_s * speed_kib_s * 2))


Act = Callable[[SimKernel], None]


class StoryStep(Struct, frozen=True, kw_only=True):
    """An action ``at_s`` seconds after the start of its part of the story."""

    at_s: float
    act: Act


def _fail_vm(slot: int) -> Act:
    def act(kernel: SimKernel) -> None:
        vm = kernel.array("vm")
        if vm is None or vm.degraded or vm.reshape or not any(member.is_spare for member in vm.members):
            return
        member = next(member for member in vm.members if member.slot == slot)
        kernel.failing.add(kernel.disks[member.disk].serial)
        fail_member(kernel, vm, member.device)

    return act


def _take_out(kernel: SimKernel) -> None:
    """Take failed disks out of ``vm``, and of the host, as the service does that has waited long enough."""
    vm = kernel.array("vm")
    if vm is not None:
        for member in [member for member in vm.members if member.faulty]:
            remove_member(kernel, vm, member.device)
    for disk in [disk for disk in kernel.disks.values() if disk.serial in kernel.failing]:
        if len(disk.partitions) == 1:
            kernel.unplug(disk.name)


def _put_in(kernel: SimKernel) -> None:
    """Put new disks in place of those that are gone; ``vm`` gets one as a spare, if it has none."""
    vm = kernel.array("vm")
    for disk in [disk for disk in disks() if disk.is_nvme and disk.name not in kernel.disks]:
        number = kernel.sequences[disk.name]
        kernel.plug(replace(disk, serial=f"23044F1C90{number:02X}", fresh=True))
        if vm is not None and vm.level == "raid5" and not any(member.is_spare for member in vm.members):
            add_member(kernel, vm, disk.partition_name(1), disk.name)


def _check(label: str) -> Act:
    def act(kernel: SimKernel) -> None:
        array = kernel.array(label)
        if array is not None and array.sync is None and not array.frozen and not array.degraded:
            array.sync_min, array.requested = 0, "check"
            kernel.settle(array)

    return act


def _plug(kernel: SimKernel) -> None:
    kernel.plug(newcomer())


def _unplug(kernel: SimKernel) -> None:
    kernel.unplug(newcomer().name)


OPENING = (
    StoryStep(at_s=40, act=_fail_vm(1)),
    StoryStep(at_s=90, act=_plug),
    StoryStep(at_s=240, act=_check("root")),
    StoryStep(at_s=900, act=_take_out),
    StoryStep(at_s=903, act=_put_in),
)
"""Played once. The check of ``root`` waits (DELAYED) for the resync of ``data``: both use sda and sdb.

A failed disk stays in the host for a quarter of an hour, so that the user can replace it.
"""

CYCLE_FROM_S, CYCLE_S = 1200.0, 2400.0
CYCLE = (
    StoryStep(at_s=0, act=_check("root")),
    StoryStep(at_s=60, act=_check("data")),
    StoryStep(at_s=300, act=_unplug),
    StoryStep(at_s=330, act=_plug),
    StoryStep(at_s=780, act=_fail_vm(2)),
    StoryStep(at_s=1680, act=_take_out),
    StoryStep(at_s=1683, act=_put_in),
)
"""Repeated: what is put in for the failed disk is the spare of the next turn."""


class Story:
    """Plays the steps on a kernel when they are due."""

    def __init__(self) -> None:
        self._next = 0

    @property
    def next_at_s(self) -> float:
        """When the next step is due, in the kernel's time."""
        return self._at(self._next)[0]

    def _at(self, index: int) -> tuple[float, StoryStep]:
        if index < len(OPENING):
            return OPENING[index].at_s, OPENING[index]
        turn, place = divmod(index - len(OPENING), len(CYCLE))
        return CYCLE_FROM_S + turn * CYCLE_S + CYCLE[place].at_s, CYCLE[place]

    def play(self, kernel: SimKernel, until_s: float) -> None:
        """Advance the kernel to ``until_s``, and play the steps that are due meanwhile."""
        tick_s = 1.0 if until_s - kernel.now_s < _LONG_GAP_S else 30.0
        while True:
            at_s, step = self._at(self._next)
            if at_s > until_s:
                break
            kernel.advance(at_s - kernel.now_s, tick_s=tick_s)
            self._next += 1
            with contextlib.suppress(OSError):  # md refused it: the user has changed the state
                step.act(kernel)
        kernel.advance(until_s - kernel.now_s, tick_s=tick_s)
