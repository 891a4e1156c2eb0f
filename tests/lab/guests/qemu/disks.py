"""The disks of QEMU's guest, in QEMU's words: what is behind each, and what it is plugged into.

A disk's data are two nodes, the file and `raw` on top of it; between them, while it is to fail, `blkdebug`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Bus = Literal["sata", "nvme", "scsi"]
Io = Literal["read", "write"]
Words = dict[str, object]
EIO = 5
SATA_PORTS = 6  # of q35
BUS_ID = "scsi-bus"
SATA_WWN, SCSI_WWN = 0x5000C500A0B0C000, 0x5000C500A0B0D000


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """One disk. `number` counts from 1 on each bus."""

    bus: Bus
    number: int
    file: Path

    @property
    def name(self) -> str:
        """Its name in QEMU: `sata1`."""
        return f"{self.bus}{self.number}"

    @property
    def serial(self) -> str:
        """`LAB-SATA-0001`."""
        return f"LAB-{self.bus.upper()}-{self.number:04}"

    @property
    def model(self) -> str:
        """The model of the disk."""
        return {"sata": "Laboratory SSD", "nvme": "QEMU NVMe Ctrl", "scsi": "Laboratory SCSI"}[self.bus]

    @property
    def path(self) -> str:
        """The link to it, the same after every boot: `/dev/disk/by-id/ata-Laboratory_SSD_LAB-SATA-0001`."""
        if self.bus == "scsi":
            return f"/dev/disk/by-id/scsi-3{SCSI_WWN + self.number:x}"
        bus = "ata" if self.bus == "sata" else self.bus
        return f"/dev/disk/by-id/{bus}-{self.model.replace(' ', '_')}_{self.serial}"

    @property
    def device(self) -> Words:
        """The device, for -device and device_add."""
        common: Words = {"id": self.name, "drive": f"{self.name}-raw", "serial": self.serial}
        match self.bus:
            case "sata":
                own: Words = {
                    "driver": "ide-hd",
                    "bus": f"ide.{self.number - 1}",
                    "model": self.model,
                    "rotation_rate": 1,
                    "wwn": SATA_WWN + self.number,
                }
            case "nvme":
                own = {"driver": "nvme", "bus": f"port-{self.name}"}
            case "scsi":
                own = {
                    "driver": "scsi-hd",
                    "bus": f"{BUS_ID}.0",
                    "scsi-id": self.number,
                    "product": self.model,
                    "rotation_rate": 1,
                    "wwn": SCSI_WWN + self.number,
                }
        return common | own

    @property
    def port(self) -> Words | None:
        """What it is plugged into, when that is its own: a port from which NVMe can be pulled."""
        if self.bus != "nvme":
            return None
        return {
            "driver": "pcie-root-port",
            "id": f"port-{self.name}",
            "chassis": self.number,
            "slot": self.number,
        }

    @property
    def file_node(self) -> Words:
        """Its data as QEMU reaches them."""
        return {
            "driver": "file",
            "node-name": f"{self.name}-file",
            "filename": str(self.file),
            "discard": "unmap",
            "cache": {"no-flush": True},
        }

    def raw_node(self, below: str = "file") -> Words:
        """What the device is connected to, on top of the node `file` or `faults`."""
        return {
            "driver": "raw",
            "node-name": f"{self.name}-raw",
            "file": f"{self.name}-{below}",
            "discard": "unmap",
            "cache": {"no-flush": True},
        }

    def faults_node(self, io: Io, sector: int | None) -> Words:
        """A node that answers reads or writes, all or those of one sector, with an I/O error."""
        rule: Words = {"event": "none", "iotype": io, "errno": EIO, "once": False}
        if sector is not None:
            rule["sector"] = sector
        return {
            "driver": "blkdebug",
            "node-name": f"{self.name}-faults",
            "image": f"{self.name}-file",
            "inject-error": [rule],
        }


def throttle_words(disk: Disk, bytes_s: int) -> Words:
    """The arguments of block_set_io_throttle; 0 is no limit."""
    return {
        "id": disk.name,
        "bps": bytes_s,
        **dict.fromkeys(("bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0),
    }
