"""A host whose disks are pulled and pushed in, with bays and serial numbers, in memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec.structs import replace

from raidtui.features.pull.bays import read_bays
from raidtui.features.pull.record import PullRecord
from raidtui.features.pull.take_out import record_of
from raidtui.host.boot.boot_reader import KEPT
from raidtui.model.answer import known
from raidtui.model.boot import (
    BootEntry,
    BootFacts,
    BootKernel,
    BootSector,
    FoundIn,
    GrubCore,
    Initramfs,
    SectorState,
    TableLine,
)
from raidtui.model.survey import Survey
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, Syncing, raid5
from tests.hosts.trees import device_number, host_tree

BOOT_ID = "11111111-2222-3333-4444-555555555555"
MEDIA = raid5(members=("sda", "sdb", "sdc", "sdd"), bitmap=(0, 1), component_kib=3_906_886_144)
SERIALS = {"sda": "S5Y1NX0R100871", "sdb": "S5Y1NX0R100872", "sdc": "S5Y1NX0R103364", "sdd": "S5Y1NX0R104410"}
NEW = "S6PXNM0T551902"
_SECTORS = {"sde": "976773168"}


TO_SDE = TableLine(file="/etc/fstab", line=4, spec="UUID=9", place="/backup", kind="ext4", devices=("sde",))
"""A line of fstab that wants the disk beside the array."""


class BayHost(Kernel):
    """Four disks of a RAID-5 and one beside them; ``pull`` and ``push`` change what is plugged in.

    Args:
        *arrays: what is there first; the RAID-5 "media" of sda to sdd where none is given.
    """

    def __init__(self, *arrays: ArraySpec) -> None:
        self._boot = ""
        self.plugged = {**SERIALS, "sde": "20214A2B3C4D"}
        self.bays = {name: number for number, name in enumerate(self.plugged, start=1)}
        self.seqs = {name: number for number, name in enumerate(self.plugged, start=17)}
        super().__init__(*(arrays or (MEDIA,)))

    def _tree(self) -> object:
        kinds = {
            name: {
                "serial": serial,
                "model": "Samsung SSD 870",
                "size": _SECTORS.get(name, "7814037168"),
            }
            for name, serial in self.plugged.items()
        }
        tree = host_tree(*self.arrays.values(), **{**self.more, "disks": kinds})
        if self._boot:
            tree.files[KEPT] = self._boot
            below = {
                f"/sys/class/block/{array.name}/slaves/{member}": ""
                for array in self.arrays.values()
                for member in filter(None, array.members)
            }
            tree.files.update(below)
        tree.files["/proc/sys/kernel/random/boot_id"] = f"{BOOT_ID}\n"
        for name in self.plugged:
            tree.files[f"/sys/class/block/{name}/diskseq"] = f"{self.seqs[name]}\n"
            tree.files[f"/sys/class/block/{name}/queue/logical_block_size"] = "512\n"
            path = f"/run/udev/data/b{device_number(name)}"
            tree.files[path] += f"S:disk/by-path/pci-0000:00:17.0-ata-{self.bays[name]}\n"
        return tree

    def _shown(self, *arrays: ArraySpec, pulled: tuple[str, ...] = ()) -> None:
        if arrays:
            self.arrays = {array.name: array for array in arrays}
        self.show(self._tree(), pulled=pulled)  # type: ignore[arg-type]
        for name in pulled:
            self.drop(f"/sys/class/block/{name}")

    def now(self, *arrays: ArraySpec) -> None:
        """Show these arrays."""
        self._shown(*arrays)

    def pull(self, name: str, *arrays: ArraySpec) -> None:
        """A disk leaves; what md makes of that."""
        del self.plugged[name]
        self._shown(*arrays, pulled=(name,))

    def push(self, name: str, serial: str, *arrays: ArraySpec, bay: int | None = None) -> None:
        """A disk comes."""
        self.plugged[name] = serial
        self.bays[name] = bay or self.bays.get(name, len(self.bays) + 1)
        self.seqs[name] = max(self.seqs.values()) + 1
        self._shown(*arrays)

    def keep_boot(self, *, without_loader: Collection[str] = (), **more: Any) -> None:
        """Let it boot by BIOS, from the array: what a capture keeps of that.

        Args:
            without_loader: disks that have no boot code.
            **more: facts instead.
        """
        core = GrubCore(prefix=f"(mduuid/{MEDIA.array_uuid.replace(':', '')})/boot/grub")
        disks = ("sda", "sdb", "sdc", "sdd")
        image = Initramfs(
            path="/boot/initrd.img-6.1.0-50-amd64",
            maker="initramfs-tools",
            modules=("md_mod", "raid456", "ext4"),
            programs=("mdadm",),
            starts_degraded=True,
        )
        place = FoundIn(device="md125", kind="ext4", uuid="11111111-2222-4333-8444-555555555555")
        facts = {
            "firmware": "bios",
            "root": place,
            "boot": place,
            "sectors": tuple(
                BootSector(disk=name, table="gpt", marked=True, state=SectorState.NO_CODE)
                if name in without_loader
                else BootSector(disk=name, table="gpt", marked=True, grub=True, core=core)
                for name in disks
            ),
            "start": BootEntry(
                title="Debian",
                kernel="vmlinuz-6.1.0-50-amd64",
                initrd="initrd.img-6.1.0-50-amd64",
                words=(f"root=UUID={place.uuid}",),
            ),
            "kernels": (BootKernel(version="6.1.0-50-amd64", initramfs=image),),
            **more,
        }
        self._boot = msgspec.json.encode(BootFacts(**facts)).decode()
        self._shown()

    def survey(self) -> Survey:
        """What a plan is made from, as far as memory has it."""
        return Survey(snapshot=self.sampler().sample(), mdadm=known((4, 2)))

    def record(self, name: str = "sdc") -> PullRecord:
        """The record of an exchange that begins now."""
        return record_of(self.survey(), name, read_bays(self), light=False, who="ada", now_s=self.now_s())


def without(*names: str, array: ArraySpec = MEDIA) -> ArraySpec:
    """The array with these members gone."""
    return replace(array, members=tuple(None if each in names else each for each in array.members))


def filled(name: str, slot: int, permille: int = 342) -> ArraySpec:
    """The array while md recovers a member."""
    members = list(MEDIA.members)
    members[slot] = name
    sync = Syncing(action="recover", done_kib=MEDIA.component_kib * permille // 1000, speed_kib_s=180_000)
    return replace(MEDIA, members=tuple(members), rebuilding=(name,), sync=sync)
