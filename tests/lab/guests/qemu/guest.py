"""QEMU's guest: what can be done to its hardware while it runs."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from tests.lab.guests.guest import Guest
from tests.lab.guests.link import LabError
from tests.lab.guests.qemu.boot import command_line, find_parts, furnish
from tests.lab.guests.qemu.disks import Bus, Disk, Io, throttle_words
from tests.lab.guests.qemu.qmp import Qmp

BOOT_TIMEOUT_S = 120.0
PLUG_TIMEOUT_S = 30.0
UNRELIABLE = 4  # the bit of an NVMe's critical warnings: "NVM subsystem reliability has been degraded"

# The settings that tests change: those of the disks in `links`, whatever their names are now, and governors.
KNOBS = "queue/scheduler queue/read_ahead_kb queue/nr_requests device/queue_depth device/timeout"
CHOSEN = 'read -r now <"$file"; case $now in *"["*) now=${now#*"["}; now=${now%%"]"*} ;; esac'
SAVE = f"""
names=($(readlink -e "${{links[@]}}"))
for number in "${{!names[@]}}"; do
    for knob in {KNOBS}; do
        file=/sys/block/${{names[number]##*/}}/$knob
        [ -e "$file" ] && {{ {CHOSEN}; echo "$number $knob $now"; }}
    done
done >/run/settings
for file in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do
    [ -e "$file" ] && {{ {CHOSEN}; echo "$file $now"; }}
done >/run/governors
true
"""
RESTORE = f"""
names=($(readlink -e "${{links[@]}}"))
change() {{ {CHOSEN}; [ "$now" = "$was" ] || echo "$was" >"$file"; }}
while read -r number knob was; do file=/sys/block/${{names[number]##*/}}/$knob; change; done </run/settings
while read -r file was; do change; done </run/governors
"""


class QemuGuest(Guest):
    """A guest with SATA, NVMe and SCSI disks. `reset` also restores its hardware."""

    agent_line = "agent"
    consoles: ClassVar[Mapping[str, str]] = {"/dev/hvc0": "con1", "/dev/hvc1": "con2"}
    other_lines = ("qmp",)

    def __init__(self, folder: Path, size_mib: int) -> None:
        super().__init__(folder, size_mib)
        self.hardware: tuple[Disk, ...] = ()
        self.qmp: Qmp
        self._pulled: dict[Disk, str] = {}  # and the file that makes its port look again
        self._replaced: set[Disk] = set()  # another one is plugged in instead
        self._failing: set[Disk] = set()
        self._throttled: set[Disk] = set()
        self._warning: set[Disk] = set()

    @classmethod
    def boot(
        cls,
        *,
        sata: int = 4,
        nvme: int = 2,
        scsi: int = 0,
        size_mib: int = 128,
        mem_mib: int = 1024,
        cpufreq: bool = True,
    ) -> Self:
        """Start a guest, wait until it takes jobs and has its disks; without `cpufreq` it has no governors.

        Raises:
            LabMissingError: this machine lacks something.
            GuestDiedError: the guest did not come up; the text says what its console said.
        """
        parts = find_parts()
        guest = cls(Path(tempfile.mkdtemp(prefix="raidtui-lab.")), size_mib)
        counts: dict[Bus, int] = {"sata": sata, "nvme": nvme, "scsi": scsi}
        disks = tuple(
            Disk(bus=bus, number=number, file=guest.folder / f"{bus}{number}")
            for bus, count in counts.items()
            for number in range(1, count + 1)
        )
        try:
            guest.hardware = disks
            guest.disks = tuple(disk.path.removeprefix("/dev/") for disk in disks)
            guest._files = tuple(disk.file for disk in disks)
            furnish(guest.folder, parts, disks=disks, size_mib=size_mib)
            guest._launch(
                lambda lines: command_line(
                    guest.folder, parts, disks=disks, mem_mib=mem_mib, cpufreq=cpufreq, lines=lines
                )
            )
            guest.qmp = Qmp(guest._ours["qmp"])
            guest._link.wait_ready(BOOT_TIMEOUT_S)
            guest._wait_for(disks)
            guest._do(SAVE)
        except BaseException:
            guest.shutdown()
            raise
        return guest

    @property
    def sata(self) -> tuple[Disk, ...]:
        """The SATA disks, with NCQ, which are SSDs."""
        return tuple(disk for disk in self.hardware if disk.bus == "sata")

    @property
    def nvme(self) -> tuple[Disk, ...]:
        """The NVMe disks."""
        return tuple(disk for disk in self.hardware if disk.bus == "nvme")

    @property
    def scsi(self) -> tuple[Disk, ...]:
        """The SCSI disks."""
        return tuple(disk for disk in self.hardware if disk.bus == "scsi")

    def kernel_name(self, disk: Disk) -> str:
        """Return the kernel's name of a disk, which may change at each boot: sda, nvme0n1.

        Raises:
            LabError: the disk is not there.
        """
        result = self.run(f"readlink -e {disk.path}")
        if result.status != 0:
            raise LabError(f"{disk.name} is not there")
        return Path(result.stdout.strip()).name

    def pull(self, disk: Disk) -> None:
        """Take a disk away while the guest runs, and wait until its device is gone.

        NVMe and SCSI are unplugged. QEMU cannot unplug SATA: there the kernel is asked to forget the disk.
        """
        rescan = ""
        if disk.bus == "sata":
            rescan = self._do(
                f"device=$(readlink -f /sys/block/{self.kernel_name(disk)}/device)"
                " && host=${device#*/host} && echo /sys/class/scsi_host/host${host%%/*}/scan"
                ' && echo 1 >"$device/delete"'
            )
        self._pulled[disk] = rescan
        if disk.bus != "sata":
            self.qmp.command("device_del", {"id": disk.name})
            self.qmp.wait_event("DEVICE_DELETED", device=disk.name)
            self._throttled.discard(disk)  # gone with the device
            self._warning.discard(disk)
        self.run(f"while [ -e {disk.path} ]; do sleep 0.05; done", timeout=PLUG_TIMEOUT_S)

    def plug_new(self, disk: Disk, serial: str) -> str:
        """Plug an empty NVMe with another serial number in where one was pulled; return the kernel's name.

        ``reset`` takes it away again, and gives the one that was pulled back, empty.
        """
        assert disk in self._pulled
        assert disk.bus == "nvme"
        size = disk.file.stat().st_size
        for length in (0, size):
            os.truncate(disk.file, length)
        self.qmp.command("device_add", disk.device | {"serial": serial})
        self._replaced.add(disk)
        link = disk.path.replace(disk.serial, serial)
        done = self.run(
            f"while [ ! -e {link} ]; do sleep 0.05; done; readlink -e {link}", timeout=PLUG_TIMEOUT_S
        )
        return Path(done.stdout.strip()).name

    def _unplug_new(self, disk: Disk) -> None:
        self.qmp.command("device_del", {"id": disk.name})
        self.qmp.wait_event("DEVICE_DELETED", device=disk.name)
        self._replaced.remove(disk)

    def plug(self, disk: Disk) -> None:
        """Give a pulled disk back, with its data, and wait until its device is there."""
        rescan = self._pulled.pop(disk)
        if rescan:
            self._do(f"echo - - - >{rescan}")
        else:
            self.qmp.command("device_add", disk.device)
        self._wait_for((disk,))

    def break_io(self, disk: Disk, io: Io, *, sector: int | None = None) -> None:
        """Let every read or write of a disk fail, or those of one sector (512 bytes), until `heal`."""
        self.heal(disk)
        self.qmp.command("blockdev-add", disk.faults_node(io, sector))
        self._failing.add(disk)
        self.qmp.command("blockdev-reopen", {"options": [disk.raw_node("faults")]})

    def heal(self, disk: Disk) -> None:
        """Let a disk read and write again."""
        if disk in self._failing:
            self.qmp.command("blockdev-reopen", {"options": [disk.raw_node()]})
            self.qmp.command("blockdev-del", {"node-name": f"{disk.name}-faults"})
            self._failing.remove(disk)

    def throttle(self, disk: Disk, bytes_s: int) -> None:
        """Slow a disk down, reads and writes together; 0 is no limit."""
        self.qmp.command("block_set_io_throttle", throttle_words(disk, bytes_s))
        self._throttled.add(disk)

    def warn(self, disk: Disk, bits: int = UNRELIABLE) -> None:
        """Set an NVMe's critical warnings, as its SMART log reports them; 0 is none."""
        path = f"/machine/peripheral/{disk.name}"
        self.qmp.command("qom-set", {"path": path, "property": "smart_critical_warning", "value": bits})
        self._warning.add(disk)

    def reset(self) -> None:
        """The state as after booting, the hardware's too: disks there and healthy, no limits, old settings.

        Raises:
            LabError: an array could not be stopped.
        """
        for disk in tuple(self._failing):
            self.heal(disk)
        for disk in tuple(self._throttled):
            self.throttle(disk, 0)
        for disk in tuple(self._warning):
            self.warn(disk, 0)
        self._throttled.clear()
        self._warning.clear()
        if self._replaced:
            self.run("mdadm --stop --scan")
        for disk in tuple(self._replaced):
            self._unplug_new(disk)
        for disk in tuple(self._pulled):
            self.plug(disk)
        super().reset()
        self._do(RESTORE)

    def _wait_for(self, disks: tuple[Disk, ...]) -> None:
        links = " ".join(disk.path for disk in disks)
        self.run(
            f"for link in {links}; do while [ ! -e $link ]; do sleep 0.05; done; done", timeout=PLUG_TIMEOUT_S
        )

    def _do(self, script: str) -> str:
        """What a script says, which has the disks' paths in `links`.

        Raises:
            LabError: it failed.
        """
        done = self.run(f"links=({' '.join(disk.path for disk in self.hardware)})\n{script}")
        if done.status != 0:
            raise LabError(f"{script} ended with status {done.status}: {done.output}")
        return done.stdout.strip()
